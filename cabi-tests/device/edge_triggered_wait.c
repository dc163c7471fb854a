/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * edge_triggered_wait.c -- rpma_cq_wait() is for completions to come: those that are in the
 * queue when it returns never wake it again, so they have to be taken first
 *
 * See drain_after_one_wait.c for the loop that does it right.
 */

#include "common.h"

#define LEN	64

int
main(void)
{
	test_begin();
	struct pair pair;
	struct ibv_wc wc[3];
	int got = 0, fd = -1;

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	uint8_t *buf = memory(2 * LEN);
	struct rpma_mr_local *mr = registered(pair.peer, buf, 2 * LEN, RPMA_MR_USAGE_WRITE_SRC |
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST);
	struct rpma_mr_remote *remote = as_remote(mr);
	struct rpma_cq *cq = cq_of(pair.client);
	OK(rpma_cq_get_fd(cq, &fd));
	CHECK(!readable(fd, 0));

	/*
	 * Two completions, the second one before anybody looks: the read of the other side
	 * is answered after both writes were.
	 */
	OK(rpma_write(pair.client, remote, LEN, mr, 0, 1, RPMA_F_COMPLETION_ALWAYS, &buf[0]));
	OK(rpma_write(pair.client, remote, LEN, mr, 0, 1, RPMA_F_COMPLETION_ALWAYS, &buf[1]));
	CHECK(readable(fd, WAIT_MS));
	for (int i = 0; i < 3; i++) {
		OK(rpma_read(pair.server, mr, 0, remote, 0, 1, RPMA_F_COMPLETION_ALWAYS, buf));
		expect_completion(cq_of(pair.server), pair.server, IBV_WC_RDMA_READ, buf);
	}

	/* one wait takes the one notification; one completion taken leaves one */
	OK(rpma_cq_wait(cq));
	OK(rpma_cq_get_wc(cq, 1, wc, NULL));
	CHECK(wc[0].wr_id == (uintptr_t)&buf[0]);
	CHECK(!readable(fd, 50));

	/* the one that is left is there without any wait, and is the last */
	OK(rpma_cq_get_wc(cq, 3, wc, &got));
	CHECK(got == 1 && wc[0].wr_id == (uintptr_t)&buf[1]);
	RETURNS(rpma_cq_get_wc(cq, 3, wc, &got), RPMA_E_NO_COMPLETION);

	/* the next completion is notified again */
	OK(rpma_write(pair.client, remote, LEN, mr, 0, 1, RPMA_F_COMPLETION_ALWAYS, &buf[2]));
	CHECK(readable(fd, WAIT_MS));
	OK(rpma_cq_wait(cq));
	expect_completion(cq, pair.client, IBV_WC_RDMA_WRITE, &buf[2]);

	pair_disconnect(&pair);
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	return test_end();
}
