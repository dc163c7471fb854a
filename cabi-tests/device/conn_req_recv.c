/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn_req_recv.c -- rpma_conn_req_recv(): receives posted before the connection is there,
 * so that a message sent in the first moment finds one
 */

#include "common.h"

#define SIZE	4096
#define LEN	1500

/* both sides: one receive posted with a context, one without */
static void
post_receives(struct rpma_conn_req *req, struct rpma_mr_local *mr, uint8_t *buf)
{
	OK(rpma_conn_req_recv(req, mr, 0, LEN, buf));
	OK(rpma_conn_req_recv(req, mr, LEN, LEN, NULL));
	RETURNS(rpma_conn_req_recv(req, NULL, 0, 0, buf), RPMA_E_INVAL);
}

/* both sides: send two messages at once, then look at the two that came */
static void
exchange(struct rpma_conn *conn, struct rpma_mr_local *mr, uint8_t *buf, uint8_t *out,
		unsigned own_seed, unsigned other_seed)
{
	struct ibv_wc wc;
	int sends = 0, receives = 0;

	fill(out, LEN, own_seed);
	OK(rpma_send(conn, mr, SIZE, LEN, RPMA_F_COMPLETION_ALWAYS, out));
	OK(rpma_send(conn, mr, SIZE, 1, RPMA_F_COMPLETION_ALWAYS, out));

	/* one CQ for both: sends and receives come in any order */
	while (sends < 2 || receives < 2) {
		next_completion(cq_of(conn), &wc);
		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(wc.qp_num == qp_num_of(conn));
		if (wc.opcode == IBV_WC_SEND) {
			CHECK(wc.wr_id == (uintptr_t)out);
			sends++;
			continue;
		}
		CHECK(wc.opcode == IBV_WC_RECV);
		CHECK(wc.byte_len == (receives == 0 ? LEN : 1));
		CHECK(wc.wr_id == (receives == 0 ? (uintptr_t)buf : 0));
		receives++;
	}
	check_filled(buf, LEN, other_seed);
	check_filled(buf + LEN, 1, other_seed);
	check_zero(buf + LEN + 1, SIZE - LEN - 1);
}

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(2 * SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, 2 * SIZE,
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn_req *req = next_request(ep, NULL);
	struct rpma_conn *conn = NULL;
	post_receives(req, mr, buf);
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);

	exchange(conn, mr, buf, buf + SIZE, 1, 2);

	/* the client may disconnect now: nothing of ours is on its way any more */
	OK(rpma_send(conn, NULL, 0, 0, RPMA_F_COMPLETION_ON_ERROR, NULL));
	close_second(&conn);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(2 * SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, 2 * SIZE,
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND);

	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	OK(rpma_conn_req_new(peer, address, port, NULL, &req));
	post_receives(req, mr, buf);
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);

	OK(rpma_recv(conn, NULL, 0, 0, conn));
	exchange(conn, mr, buf, buf + SIZE, 2, 1);
	expect_received(cq_of(conn), conn, conn, 0);

	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
