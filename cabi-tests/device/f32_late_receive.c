/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f32_late_receive.c -- a message whose receive is posted a moment too late arrives soon after it:
 * at the accepting side, at the connecting side, and from an SRQ that has run dry
 *
 * Fault F32: the sender is told to wait 655 ms before it tries again.
 */

#include "common.h"

#include <time.h>

#define LEN	64
#define LATE_MS	20	/* how late the receive is */
#define SOON_MS	300	/* less than half of the fault's time, much for a slow machine */
#define FAULT_MS 400	/* so long only if the device waits */
#define ROUNDS	3	/* one message that is soon there shows that the timer is short */

static void
sleep_ms(long ms)
{
	struct timespec time = { .tv_sec = 0, .tv_nsec = ms * 1000000 };

	while (nanosleep(&time, &time) != 0)
		CHECK(errno == EINTR);
}

/* milliseconds from the posting of a late receive to its completion; the least of some rounds */
static long long
delay(struct rpma_conn *from, struct rpma_conn *to, struct rpma_srq *srq, struct rpma_mr_local *mr,
		uint8_t *buf)
{
	struct rpma_cq *cq = cq_of(to);
	long long least = WAIT_MS;

	if (srq != NULL)
		OK(rpma_srq_get_rcq(srq, &cq));
	for (unsigned round = 0; round < ROUNDS; round++) {
		memset(buf, 0, LEN);
		fill(buf + LEN, LEN, round);
		OK(rpma_send(from, mr, LEN, LEN, RPMA_F_COMPLETION_ALWAYS, from));
		sleep_ms(LATE_MS);
		long long begin = now_ms();
		if (srq != NULL)
			OK(rpma_srq_recv(srq, mr, 0, LEN, to));
		else
			OK(rpma_recv(to, mr, 0, LEN, to));
		expect_received(cq, to, to, LEN);
		long long ms = now_ms() - begin;
		check_filled(buf, LEN, round);
		expect_completion(cq_of(from), from, IBV_WC_SEND, from);
		printf("  %lld ms after the receive\n", ms);
		if (ms < least)
			least = ms;
	}
	return least;
}

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_srq *srq = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	long long ms[3];

	pair_listen(&pair);
	uint8_t *buf = memory(2 * LEN);
	struct rpma_mr_local *mr = registered(pair.peer, buf, 2 * LEN,
			RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV);

	pair_connect(&pair, NULL, NULL);
	printf("the accepting side receives late\n");
	ms[0] = delay(pair.client, pair.server, NULL, mr, buf);
	printf("the connecting side receives late\n");
	ms[1] = delay(pair.server, pair.client, NULL, mr, buf);
	pair_disconnect(&pair);

	OK(rpma_srq_new(pair.peer, NULL, &srq));
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_srq(cfg, srq));
	pair_connect(&pair, cfg, NULL);
	printf("the SRQ is empty\n");
	ms[2] = delay(pair.client, pair.server, srq, mr, buf);
	pair_disconnect(&pair);

	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_srq_delete(&srq));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	if (ms[0] >= FAULT_MS && ms[1] >= FAULT_MS && ms[2] >= FAULT_MS)
		fault("F32", "%lld, %lld and %lld ms", ms[0], ms[1], ms[2]);
	CHECK(ms[0] < SOON_MS && ms[1] < SOON_MS && ms[2] < SOON_MS);
	return test_end();
}
