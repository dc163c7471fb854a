/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f6_length_over_4_gib.c -- a length that does not fit into 32 bits is refused, and nothing is
 * posted; only a flush has no such limit
 *
 * Fault F6: the length is cut to its low 32 bits, and what is left is done.
 */

#include "common.h"

#define SIZE	4096
#define GIB_4	((size_t)1 << 32)

static struct pair pair;
static struct rpma_mr_local *mr;
static struct rpma_mr_remote *remote;
static uint8_t *buf;

/* where the fault is, 8 bytes are moved */
static void
write_first(void)
{
	int ret = rpma_write(pair.client, remote, SIZE / 2, mr, 0, GIB_4 + 8,
			RPMA_F_COMPLETION_ALWAYS, NULL);
	struct ibv_wc wc;
	int moved = 0;

	if (ret == 0) {
		next_completion(cq_of(pair.client), &wc);
		for (int i = SIZE / 2; i < SIZE; i++)
			moved += buf[i] != 0;
		fault("F6", "rpma_write() of 4 GiB + 8 bytes returned 0, its completion says %s, "
				"%d bytes were moved", ibv_wc_status_str(wc.status), moved);
	}
	RETURNS(ret, RPMA_E_INVAL);
}

static void
every_operation(size_t len, struct rpma_srq *srq, struct rpma_conn_req *req)
{
	struct rpma_conn *conn = pair.client;
	const int always = RPMA_F_COMPLETION_ALWAYS;

	RETURNS(rpma_read(conn, mr, 0, remote, 0, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write(conn, remote, 0, mr, 0, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write_with_imm(conn, remote, 0, mr, 0, len, always, 1, NULL), RPMA_E_INVAL);
	RETURNS(rpma_send(conn, mr, 0, len, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_send_with_imm(conn, mr, 0, len, always, 1, NULL), RPMA_E_INVAL);
	RETURNS(rpma_recv(pair.server, mr, 0, len, NULL), RPMA_E_INVAL);
	RETURNS(rpma_conn_req_recv(req, mr, 0, len, NULL), RPMA_E_INVAL);
	RETURNS(rpma_srq_recv(srq, mr, 0, len, NULL), RPMA_E_INVAL);
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
	buf = memory(SIZE);
	fill(buf, SIZE / 2, 1);
	mr = registered(pair.peer, buf, SIZE, RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST |
			RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND |
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	remote = as_remote(mr);
	OK(rpma_srq_new(pair.peer, NULL, &srq));
	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));

	/* a flush of as much is one of everything that was written */
	OK(rpma_flush(pair.client, remote, 0, GIB_4 + 8, RPMA_FLUSH_TYPE_VISIBILITY,
			RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq_of(pair.client), pair.client, flush_opcode(), buf);

	write_first();
	every_operation(GIB_4, srq, req);
	every_operation(GIB_4 + 8, srq, req);
	every_operation((size_t)1 << 40, srq, req);

	/* nothing was posted: what is posted now is the first to complete */
	RETURNS(rpma_cq_get_wc(cq_of(pair.client), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	RETURNS(rpma_cq_get_wc(cq_of(pair.server), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	check_zero(buf + SIZE / 2, SIZE / 2);
	OK(rpma_recv(pair.server, mr, SIZE / 2, SIZE / 2, mr));
	OK(rpma_send(pair.client, mr, 0, SIZE / 2, RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq_of(pair.client), pair.client, IBV_WC_SEND, buf);
	expect_received(cq_of(pair.server), pair.server, mr, SIZE / 2);
	check_filled(buf + SIZE / 2, SIZE / 2, 1);

	pair_disconnect(&pair);
	OK(rpma_conn_req_delete(&req));
	OK(rpma_srq_delete(&srq));
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	return test_end();
}
