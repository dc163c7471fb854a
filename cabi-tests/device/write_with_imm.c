/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_with_imm.c -- rpma_write_with_imm(): a write that tells the server that it has
 * happened, with 32 bits of its own
 *
 * The server needs a receive posted for it. Nothing is written into the memory of
 * that receive, so it may have none.
 */

#include "common.h"

#define SIZE	4096
#define OFFSET	64
#define LEN	3000
#define IMM	0x12345678u

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	uint8_t *recv_buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_DST);
	struct rpma_mr_local *recv_mr = registered(peer, recv_buf, SIZE, RPMA_MR_USAGE_RECV);

	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn_req *req = next_request(ep, NULL);
	struct rpma_conn *conn = NULL;
	OK(rpma_conn_req_recv(req, recv_mr, 0, SIZE, &buf[0]));
	OK(rpma_conn_req_connect(&req, &pdata, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	OK(rpma_recv(conn, NULL, 0, 0, &buf[1]));

	/* how many bytes were written comes with the completion, where they are does not */
	expect_imm(cq_of(conn), conn, IBV_WC_RECV_RDMA_WITH_IMM, &buf[0], LEN, IMM);
	check_zero(buf, OFFSET);
	check_filled(buf + OFFSET, LEN, 1);
	check_zero(buf + OFFSET + LEN, SIZE - OFFSET - LEN - 1);
	expect_imm(cq_of(conn), conn, IBV_WC_RECV_RDMA_WITH_IMM, &buf[1], 1, UINT32_MAX);
	check_filled(buf + SIZE - 1, 1, 1);
	check_zero(recv_buf, SIZE);

	close_second(&conn);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_mr_dereg(&recv_mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *src = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_SRC);
	fill(buf, LEN, 1);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *dst = offered_region(conn, 0);

	OK(rpma_write_with_imm(conn, dst, OFFSET, src, 0, LEN, RPMA_F_COMPLETION_ALWAYS, IMM,
			&buf[0]));
	expect_completion(cq_of(conn), conn, IBV_WC_RDMA_WRITE, &buf[0]);
	OK(rpma_write_with_imm(conn, dst, SIZE - 1, src, 0, 1, RPMA_F_COMPLETION_ALWAYS,
			UINT32_MAX, &buf[1]));
	expect_completion(cq_of(conn), conn, IBV_WC_RDMA_WRITE, &buf[1]);

	OK(rpma_mr_remote_delete(&dst));
	close_first(&conn);
	OK(rpma_mr_dereg(&src));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
