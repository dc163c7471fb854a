/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * receive_after_failure.c -- after an operation has failed, a receive is still accepted, but
 * on soft-RoCE never completes; what was posted before it does, and so does an operation
 */

#include "common.h"

#define SIZE	64
#define NEVER_MS 500

static void
expect_status(struct rpma_cq *cq, enum ibv_wc_status status, const void *op_context)
{
	struct ibv_wc wc;

	next_completion(cq, &wc);
	CHECK(wc.status == status);
	CHECK(wc.wr_id == (uintptr_t)op_context);
}

int
main(void)
{
	test_begin();
	struct ibv_context *device = NULL;
	struct pair pair;
	struct ibv_wc wc;

	OK(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(pair.peer, buf, SIZE, RPMA_MR_USAGE_WRITE_SRC |
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_RECV);
	struct rpma_mr_remote *remote = as_remote(mr);
	struct rpma_conn *conn = pair.client;
	struct rpma_cq *cq = cq_of(conn);

	/* a write beyond the remote region fails, and the receive with it */
	OK(rpma_recv(conn, mr, 0, SIZE, &buf[0]));
	OK(rpma_write(conn, remote, SIZE, mr, 0, 1, RPMA_F_COMPLETION_ALWAYS, &buf[1]));
	expect_status(cq, IBV_WC_REM_ACCESS_ERR, &buf[1]);
	expect_status(cq, IBV_WC_WR_FLUSH_ERR, &buf[0]);

	if (is_soft_roce(device)) {
		OK(rpma_recv(conn, mr, 0, SIZE, &buf[2]));
		long long end = now_ms() + NEVER_MS;
		while (now_ms() < end)
			RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	}
	OK(rpma_write(conn, remote, 0, mr, 0, 1, RPMA_F_COMPLETION_ALWAYS, &buf[3]));
	expect_status(cq, IBV_WC_WR_FLUSH_ERR, &buf[3]);

	pair_disconnect(&pair);
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	return test_end();
}
