/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f22_offset_over_64_bits.c -- an offset, or an offset and a length, that leads past the end of
 * the address space is refused, and nothing is posted
 *
 * Fault F22: the sum wraps round, to addresses below the region.
 */

#include "common.h"

#define SIZE	4096

static struct pair pair;
static struct rpma_mr_local *mr;
static struct rpma_mr_remote *remote;

/* every operation, with this offset on the local and then on the remote side */
static void
every_operation(size_t offset, size_t len, struct rpma_srq *srq, struct rpma_conn_req *req)
{
	struct rpma_conn *conn = pair.client;
	const int always = RPMA_F_COMPLETION_ALWAYS;

	RETURNS(rpma_read(conn, mr, offset, remote, 0, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write(conn, remote, 0, mr, offset, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write_with_imm(conn, remote, 0, mr, offset, len, always, 1, NULL),
			RPMA_E_INVAL);
	RETURNS(rpma_send(conn, mr, offset, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_send_with_imm(conn, mr, offset, len, always, 1, NULL), RPMA_E_INVAL);
	RETURNS(rpma_recv(pair.server, mr, offset, len, NULL), RPMA_E_INVAL);
	RETURNS(rpma_conn_req_recv(req, mr, offset, len, NULL), RPMA_E_INVAL);
	RETURNS(rpma_srq_recv(srq, mr, offset, len, NULL), RPMA_E_INVAL);

	RETURNS(rpma_read(conn, mr, 0, remote, offset, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write(conn, remote, offset, mr, 0, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write_with_imm(conn, remote, offset, mr, 0, len, always, 1, NULL),
			RPMA_E_INVAL);
	RETURNS(rpma_flush(conn, remote, offset, len, RPMA_FLUSH_TYPE_VISIBILITY, always, NULL),
			RPMA_E_INVAL);
}

int
main(void)
{
	test_begin();
	struct rpma_srq *srq = NULL;
	struct rpma_conn_req *req = NULL;
	struct ibv_wc wc;

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	uint8_t *buf = memory(SIZE);
	fill(buf, SIZE / 2, 1);
	mr = registered(pair.peer, buf, SIZE, RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST |
			RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND |
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	remote = as_remote(mr);
	OK(rpma_srq_new(pair.peer, NULL, &srq));
	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));

	/* 8 bytes below the region, the last 8 bytes of the address space and past them */
	const size_t below = (size_t)-8;
	const size_t end = (size_t)-8 - (uintptr_t)buf;

	int ret = rpma_write(pair.client, remote, 0, mr, below, 8, RPMA_F_COMPLETION_ALWAYS, NULL);
	if (ret == 0)
		fault("F22", "rpma_write() from the region's address + 2^64 - 8 returned 0");
	RETURNS(ret, RPMA_E_INVAL);
	every_operation(below, 8, srq, req);
	every_operation(below, 16, srq, req);
	every_operation(end, 16, srq, req);
	static const char word[8] = "atomic!";
	RETURNS(rpma_atomic_write(pair.client, remote, below, word, RPMA_F_COMPLETION_ALWAYS, NULL),
			RPMA_E_INVAL);

	/* nothing was posted: what is posted now is the first to complete */
	RETURNS(rpma_cq_get_wc(cq_of(pair.client), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	RETURNS(rpma_cq_get_wc(cq_of(pair.server), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	OK(rpma_recv(pair.server, mr, SIZE / 2, SIZE / 2, mr));
	OK(rpma_send(pair.client, mr, 0, SIZE / 2, RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq_of(pair.client), pair.client, IBV_WC_SEND, buf);
	expect_received(cq_of(pair.server), pair.server, mr, SIZE / 2);
	check_filled(buf, SIZE / 2, 1);
	check_filled(buf + SIZE / 2, SIZE / 2, 1);

	pair_disconnect(&pair);
	OK(rpma_conn_req_delete(&req));
	OK(rpma_srq_delete(&srq));
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	return test_end();
}
