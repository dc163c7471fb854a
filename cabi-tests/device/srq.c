/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq.c -- rpma_srq_new(): one receive queue, and one CQ for what is received, shared by
 * several connections of a server
 *
 * Two clients send; the server takes every message from the SRQ's CQ and knows by
 * the QP number of the completion whose it is.
 */

#include "common.h"

#define CLIENTS	2
#define LEN	256
#define ROUNDS	8	/* messages of each client */

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(CLIENTS * ROUNDS * LEN);
	struct rpma_mr_local *mr = registered(peer, buf, CLIENTS * ROUNDS * LEN,
			RPMA_MR_USAGE_RECV);
	struct rpma_srq *srq = NULL;
	struct rpma_cq *rcq = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn[CLIENTS];
	unsigned received[CLIENTS] = { 0 };

	/* the defaults: room for 20 receives, and a CQ of its own */
	OK(rpma_srq_new(peer, NULL, &srq));
	OK(rpma_srq_get_rcq(srq, &rcq));
	CHECK(rcq != NULL);
	for (unsigned i = 0; i < CLIENTS * ROUNDS; i++)
		OK(rpma_srq_recv(srq, mr, i * LEN, LEN, &buf[i * LEN]));

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_srq(cfg, srq));

	struct rpma_ep *ep = listening(peer, address, port);
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct rpma_cq *conn_rcq = rcq;
		conn[i] = accepted(ep, cfg, NULL);
		/* the CQ is the SRQ's, not the connection's */
		OK(rpma_conn_get_rcq(conn[i], &conn_rcq));
		CHECK(conn_rcq == NULL);
	}

	for (unsigned i = 0; i < CLIENTS * ROUNDS; i++) {
		struct ibv_wc wc;
		unsigned n;

		next_completion(rcq, &wc);
		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(wc.opcode == IBV_WC_RECV);
		CHECK(wc.byte_len == LEN);
		for (n = 0; n < CLIENTS && wc.qp_num != qp_num_of(conn[n]); n++)
			;
		CHECK(n < CLIENTS);
		CHECK(wc.wr_id >= (uintptr_t)buf);
		CHECK(wc.wr_id < (uintptr_t)buf + CLIENTS * ROUNDS * LEN);
		check_filled((void *)(uintptr_t)wc.wr_id, LEN, n * ROUNDS + received[n]);
		received[n]++;
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct ibv_wc wc;

		CHECK(received[i] == ROUNDS);
		RETURNS(rpma_cq_get_wc(cq_of(conn[i]), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
		close_second(&conn[i]);
	}

	OK(rpma_ep_shutdown(&ep));
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_srq_delete(&srq));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(CLIENTS * LEN);
	struct rpma_mr_local *mr = registered(peer, buf, CLIENTS * LEN, RPMA_MR_USAGE_SEND);
	struct rpma_conn *conn[CLIENTS];

	for (unsigned i = 0; i < CLIENTS; i++)
		conn[i] = connected(peer, address, port, NULL, NULL);

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < CLIENTS; i++) {
			fill(buf + i * LEN, LEN, i * ROUNDS + round);
			OK(rpma_send(conn[i], mr, i * LEN, LEN, RPMA_F_COMPLETION_ALWAYS, conn[i]));
		}
		for (unsigned i = 0; i < CLIENTS; i++)
			expect_completion(cq_of(conn[i]), conn[i], IBV_WC_SEND, conn[i]);
	}

	for (unsigned i = 0; i < CLIENTS; i++)
		close_first(&conn[i]);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
