/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_with_imm.c -- rpma_send_with_imm(): a message with 32 bits beside it
 */

#include "common.h"

#define SIZE	4096
#define LEN	2000
#define IMM	0x87654321u

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_RECV);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn_req *req = next_request(ep, NULL);
	struct rpma_conn *conn = NULL;
	OK(rpma_conn_req_recv(req, mr, 0, LEN, &buf[0]));
	OK(rpma_conn_req_recv(req, mr, LEN, 100, &buf[1]));
	OK(rpma_conn_req_recv(req, mr, LEN + 100, 100, &buf[2]));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);

	/* with immediate data, without any, and with immediate data alone */
	expect_imm(cq_of(conn), conn, IBV_WC_RECV, &buf[0], LEN, IMM);
	expect_received(cq_of(conn), conn, &buf[1], 50);
	expect_imm(cq_of(conn), conn, IBV_WC_RECV, &buf[2], 0, 0);
	check_filled(buf, LEN, 1);
	check_filled(buf + LEN, 50, 1);
	check_zero(buf + LEN + 50, SIZE - LEN - 50);

	close_second(&conn);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_SEND);
	fill(buf, LEN, 1);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);

	OK(rpma_send_with_imm(conn, mr, 0, LEN, RPMA_F_COMPLETION_ALWAYS, IMM, &buf[0]));
	expect_completion(cq_of(conn), conn, IBV_WC_SEND, &buf[0]);
	OK(rpma_send(conn, mr, 0, 50, RPMA_F_COMPLETION_ALWAYS, &buf[1]));
	expect_completion(cq_of(conn), conn, IBV_WC_SEND, &buf[1]);
	OK(rpma_send_with_imm(conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, 0, &buf[2]));
	expect_completion(cq_of(conn), conn, IBV_WC_SEND, &buf[2]);

	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
