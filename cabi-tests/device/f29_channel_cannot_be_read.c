/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f29_channel_cannot_be_read.c -- a completion channel that cannot be read, as that of a device
 * which was taken away, is a failure of the provider, with its errno and one line, each time
 *
 * Fault F29: it is "no completion", at once and every time, so that the usual loop never ends.
 */

#include "common.h"

#include <fcntl.h>
#include <unistd.h>

#define CALLS	3

/* reads of `fd` give EIO from here on: page zero of a process is never mapped */
static void
break_channel(int fd)
{
	int broken = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char byte;

	CHECK(broken >= 0);
	CHECK(dup2(broken, fd) == fd);
	CHECK(close(broken) == 0);
	CHECK(read(fd, &byte, 1) == -1 && errno == EIO);
}

/*
 * rpma_cq_wait(), or rpma_conn_wait() where the connection's CQs share the channel; how many of the
 * calls gave "no completion"
 */
static int
wait_for(struct pair *pair, bool shared)
{
	int faulty = 0;
	const char *name = shared ? "rpma_conn_wait" : "rpma_cq_wait";
	struct rpma_conn_cfg *cfg = NULL;
	int fd = -1;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_rcq_size(cfg, 10));
	OK(rpma_conn_cfg_set_compl_channel(cfg, shared));
	pair_connect(pair, NULL, cfg);
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_cq_get_fd(cq_of(pair->client), &fd));

	count_errors();
	break_channel(fd);
	for (int n = 1; n <= CALLS; n++) {
		struct rpma_cq *cq = NULL;
		bool is_rcq = false;
		long long begin = now_ms();

		errno = 0;
		int ret = shared ? rpma_conn_wait(pair->client, 0, &cq, &is_rcq) :
				rpma_cq_wait(cq_of(pair->client));
		int error = errno;
		printf("%s: %s, errno %d, %d ERROR lines, after %lld ms\n", name,
				rpma_err_2str(ret), error, errors_logged(), now_ms() - begin);
		CHECK(cq == NULL && !is_rcq);
		if (ret == RPMA_E_NO_COMPLETION) {
			faulty++;
			continue;
		}
		CHECK(ret == RPMA_E_PROVIDER);
		CHECK(error == EIO);
		CHECK(errors_logged() == n);
	}

	/* the connection itself works on, and ends as ever */
	OK(rpma_write(pair->client, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, pair));
	struct ibv_wc wc;
	long long end = now_ms() + WAIT_MS;
	int ret;
	while ((ret = rpma_cq_get_wc(cq_of(pair->client), 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		CHECK(now_ms() < end);
	CHECK(ret == 0 && wc.status == IBV_WC_SUCCESS && wc.wr_id == (uintptr_t)pair);
	pair_disconnect(pair);
	CHECK(errors_logged() == CALLS - faulty);
	return faulty;
}

int
main(void)
{
	test_begin();
	struct pair pair;

	pair_listen(&pair);
	int cq_wait = wait_for(&pair, false);
	int conn_wait = wait_for(&pair, true);
	pair_delete(&pair);
	if (cq_wait == CALLS && conn_wait == CALLS)
		fault("F29", "no completion, at once and every time, and no line");
	CHECK(cq_wait == 0 && conn_wait == 0);
	return test_end();
}
