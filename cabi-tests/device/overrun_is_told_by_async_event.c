/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overrun_is_told_by_async_event.c -- a CQ that is too small loses completions, and the device
 * tells of it by an asynchronous event; on soft-RoCE by nothing else
 *
 * Deleting the connection waits until the program has acknowledged the event.
 */

#include "common.h"

#include <pthread.h>
#include <time.h>

#define WRITES	200
#define CQ_SIZE	4
#define HELD_MS	500	/* how long a deletion is watched that has to wait */

/* the first event of a CQ: others are not about this program */
static void
next_cq_event(struct ibv_context *device, struct ibv_async_event *event)
{
	for (;;) {
		CHECK(readable(device->async_fd, WAIT_MS));
		CHECK(ibv_get_async_event(device, event) == 0);
		if (event->event_type == IBV_EVENT_CQ_ERR)
			return;
		ibv_ack_async_event(event);
	}
}

static void
acknowledge_the_rest(struct ibv_context *device)
{
	struct ibv_async_event event;

	while (readable(device->async_fd, 0)) {
		CHECK(ibv_get_async_event(device, &event) == 0);
		ibv_ack_async_event(&event);
	}
}

static void *
delete_connection(void *conn)
{
	OK(rpma_conn_delete(conn));
	return NULL;
}

static int
join_within(pthread_t thread, int ms)
{
	struct timespec end;

	CHECK(clock_gettime(CLOCK_REALTIME, &end) == 0);
	end.tv_sec += ms / 1000;
	end.tv_nsec += ms % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
	return pthread_timedjoin_np(thread, NULL, &end);
}

int
main(void)
{
	test_begin();
	struct ibv_context *device = NULL;
	struct ibv_async_event event;
	struct rpma_conn_cfg *cfg = NULL;
	struct pair pair;
	struct ibv_wc wc;
	pthread_t deleter;
	unsigned arrived = 0, failed = 0;
	int cq_fd = -1;

	OK(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_cq_size(cfg, CQ_SIZE));
	OK(rpma_conn_cfg_set_sq_size(cfg, WRITES));
	pair_listen(&pair);
	pair_connect(&pair, NULL, cfg);
	OK(rpma_conn_cfg_delete(&cfg));
	uint8_t *buf = memory(2);
	struct rpma_mr_local *mr = registered(pair.peer, buf, 2,
			RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST);
	struct rpma_mr_remote *remote = as_remote(mr);
	struct rpma_cq *cq = cq_of(pair.client);
	OK(rpma_cq_get_fd(cq, &cq_fd));

	for (int i = 0; i < WRITES; i++)
		OK(rpma_write(pair.client, remote, 1, mr, 0, 1, RPMA_F_COMPLETION_ALWAYS, buf));
	next_cq_event(device, &event);
	CHECK(event.element.cq->channel->fd == cq_fd);

	while (rpma_cq_get_wc(cq, 1, &wc, NULL) == 0) {
		arrived++;
		failed += wc.status != IBV_WC_SUCCESS;
	}
	printf("%d writes, %u completions, %u of them failed\n", WRITES, arrived, failed);
	CHECK(arrived - failed < WRITES);
	if (is_soft_roce(device)) {
		/* the rest has vanished, and all looks well */
		CHECK(failed == 0);
		CHECK(!event_pending(pair.client, 0) && !event_pending(pair.server, 0));
	}

	CHECK(pthread_create(&deleter, NULL, delete_connection, &pair.client) == 0);
	CHECK(join_within(deleter, HELD_MS) == ETIMEDOUT);
	ibv_ack_async_event(&event);
	CHECK(join_within(deleter, WAIT_MS) == 0);
	CHECK(pair.client == NULL);
	acknowledge_the_rest(device);

	expect_event(pair.server, RPMA_CONN_CLOSED);
	OK(rpma_conn_delete(&pair.server));
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	return test_end();
}
