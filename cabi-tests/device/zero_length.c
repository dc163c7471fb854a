/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zero_length.c -- operations that move nothing: with no region at all, and with 0 bytes of
 * a region
 *
 * They complete like any other and keep their place in the order, so they serve as
 * a ping and as a barrier. A region is left out on both sides or on neither.
 */

#include "common.h"

#define SIZE	4096

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_RECV);

	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn_req *req = next_request(ep, NULL);
	struct rpma_conn *conn = NULL;
	OK(rpma_conn_req_recv(req, mr, 0, SIZE, &buf[0]));
	OK(rpma_conn_req_recv(req, mr, 0, 0, &buf[1]));
	OK(rpma_conn_req_connect(&req, &pdata, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	OK(rpma_recv(conn, NULL, 0, 0, &buf[2]));
	OK(rpma_recv(conn, NULL, 0, 0, &buf[3]));
	RETURNS(rpma_recv(conn, NULL, 0, 1, NULL), RPMA_E_INVAL);
	RETURNS(rpma_recv(conn, NULL, 1, 0, NULL), RPMA_E_INVAL);

	/* in the order in which the client sends them */
	expect_received(cq_of(conn), conn, &buf[0], 0);
	expect_received(cq_of(conn), conn, &buf[1], 0);
	expect_imm(cq_of(conn), conn, IBV_WC_RECV, &buf[2], 0, 3);
	expect_imm(cq_of(conn), conn, IBV_WC_RECV_RDMA_WITH_IMM, &buf[3], 0, 4);

	close_second(&conn);
	check_zero(buf, SIZE);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	fill(buf, SIZE, 1);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_SRC |
			RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_SEND);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *remote = offered_region(conn, 0);
	struct rpma_cq *cq = cq_of(conn);
	const int always = RPMA_F_COMPLETION_ALWAYS;

	OK(rpma_read(conn, NULL, 0, NULL, 0, 0, always, &buf[0]));
	expect_completion(cq, conn, IBV_WC_RDMA_READ, &buf[0]);
	OK(rpma_read(conn, mr, 8, remote, 16, 0, always, &buf[1]));
	expect_completion(cq, conn, IBV_WC_RDMA_READ, &buf[1]);

	OK(rpma_write(conn, NULL, 0, NULL, 0, 0, always, &buf[2]));
	expect_completion(cq, conn, IBV_WC_RDMA_WRITE, &buf[2]);
	OK(rpma_write(conn, remote, 8, mr, 16, 0, always, &buf[3]));
	expect_completion(cq, conn, IBV_WC_RDMA_WRITE, &buf[3]);

	/* one side alone, or an offset or a length of nothing, is a mistake */
	RETURNS(rpma_read(conn, mr, 0, NULL, 0, 0, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_read(conn, NULL, 0, remote, 0, 0, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_read(conn, NULL, 0, NULL, 0, 1, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write(conn, remote, 0, NULL, 0, 0, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write(conn, NULL, 0, mr, 0, 0, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write(conn, NULL, 8, NULL, 0, 0, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write(conn, NULL, 0, NULL, 8, 0, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_write_with_imm(conn, NULL, 0, NULL, 0, 1, always, 0, NULL), RPMA_E_INVAL);
	RETURNS(rpma_send(conn, NULL, 0, 1, always, NULL), RPMA_E_INVAL);
	RETURNS(rpma_send(conn, NULL, 1, 0, always, NULL), RPMA_E_INVAL);

	OK(rpma_send(conn, NULL, 0, 0, always, &buf[4]));
	expect_completion(cq, conn, IBV_WC_SEND, &buf[4]);
	OK(rpma_send(conn, mr, 0, 0, always, &buf[5]));
	expect_completion(cq, conn, IBV_WC_SEND, &buf[5]);
	OK(rpma_send_with_imm(conn, NULL, 0, 0, always, 3, &buf[6]));
	expect_completion(cq, conn, IBV_WC_SEND, &buf[6]);
	OK(rpma_write_with_imm(conn, NULL, 0, NULL, 0, 0, always, 4, &buf[7]));
	expect_completion(cq, conn, IBV_WC_RDMA_WRITE, &buf[7]);

	check_filled(buf, SIZE, 1);
	OK(rpma_mr_remote_delete(&remote));
	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
