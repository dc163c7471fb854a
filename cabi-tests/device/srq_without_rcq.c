/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq_without_rcq.c -- an SRQ with no CQ of its own (rpma_srq_cfg_set_rcq_size() of 0): what
 * a connection receives comes on that connection's CQ, or on its CQ for receives
 *
 * The first client's connection has one CQ for everything, the second client's has two,
 * on one completion channel; an SRQ with its own CQ would not allow that channel.
 */

#include "common.h"

#define LEN	256
#define ROUNDS	4	/* messages of each client */

static struct rpma_srq *
srq_of_sizes(struct rpma_peer *peer, uint32_t rq_size, uint32_t rcq_size)
{
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	uint32_t size = 0;

	OK(rpma_srq_cfg_new(&cfg));
	OK(rpma_srq_cfg_set_rq_size(cfg, rq_size));
	OK(rpma_srq_cfg_set_rcq_size(cfg, rcq_size));
	OK(rpma_srq_cfg_get_rq_size(cfg, &size));
	CHECK(size == rq_size);
	OK(rpma_srq_cfg_get_rcq_size(cfg, &size));
	CHECK(size == rcq_size);
	OK(rpma_srq_new(peer, cfg, &srq));
	OK(rpma_srq_cfg_delete(&cfg));
	return srq;
}

/* a shared completion channel cannot serve an SRQ's own CQ */
static void
own_rcq_and_shared_channel(struct rpma_peer *peer, const char *address, const char *port)
{
	struct rpma_srq *srq = srq_of_sizes(peer, 10, 10);
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_srq(cfg, srq));
	OK(rpma_conn_cfg_set_compl_channel(cfg, true));
	RETURNS(rpma_conn_req_new(peer, address, port, cfg, &req), RPMA_E_INVAL);
	CHECK(req == NULL);
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_srq_delete(&srq));
}

static void
receive_on(struct rpma_cq *cq, struct rpma_conn *conn, uint8_t *buf, unsigned rounds,
		unsigned seed)
{
	for (unsigned i = 0; i < rounds; i++) {
		expect_received(cq, conn, buf, LEN);
		check_filled(buf, LEN, seed + i);
		buf += LEN;
	}
}

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(2 * ROUNDS * LEN);
	struct rpma_mr_local *mr = registered(peer, buf, 2 * ROUNDS * LEN, RPMA_MR_USAGE_RECV);
	struct rpma_srq *srq = srq_of_sizes(peer, 2 * ROUNDS, 0);
	struct rpma_cq *rcq = NULL, *cq = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *cfg_srq = NULL;
	struct rpma_conn *first, *second;
	struct ibv_wc wc;
	bool is_rcq = false;
	int fd = -1;

	OK(rpma_srq_get_rcq(srq, &rcq));
	CHECK(rcq == NULL);
	for (unsigned i = 0; i < 2 * ROUNDS; i++)
		OK(rpma_srq_recv(srq, mr, i * LEN, LEN, &buf[i * LEN]));

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_srq(cfg, srq));
	OK(rpma_conn_cfg_get_srq(cfg, &cfg_srq));
	CHECK(cfg_srq == srq);

	struct rpma_ep *ep = listening(peer, address, port);
	first = accepted(ep, cfg, NULL);
	OK(rpma_conn_get_rcq(first, &rcq));
	CHECK(rcq == NULL);
	receive_on(cq_of(first), first, buf, ROUNDS, 0);

	OK(rpma_conn_cfg_set_rcq_size(cfg, 10));
	OK(rpma_conn_cfg_set_compl_channel(cfg, true));
	second = accepted(ep, cfg, NULL);
	OK(rpma_conn_get_compl_fd(second, &fd));
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint8_t *message = buf + (ROUNDS + i) * LEN;
		int ret;

		while ((ret = rpma_cq_get_wc(rcq_of(second), 1, &wc, NULL)) ==
				RPMA_E_NO_COMPLETION) {
			CHECK(readable(fd, WAIT_MS));
			OK(rpma_conn_wait(second, 0, &cq, &is_rcq));
			CHECK(is_rcq && cq == rcq_of(second));
		}
		RETURNS(ret, 0);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
		CHECK(wc.qp_num == qp_num_of(second));
		CHECK(wc.wr_id == (uintptr_t)message && wc.byte_len == LEN);
		check_filled(message, LEN, ROUNDS + i);
	}
	RETURNS(rpma_cq_get_wc(cq_of(second), 1, &wc, NULL), RPMA_E_NO_COMPLETION);

	close_second(&first);
	close_second(&second);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_srq_delete(&srq));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static struct rpma_conn *
connect_and_send(struct rpma_peer *peer, const char *address, const char *port,
		struct rpma_mr_local *mr, uint8_t *buf, unsigned seed)
{
	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);

	for (unsigned i = 0; i < ROUNDS; i++) {
		fill(buf, LEN, seed + i);
		OK(rpma_send(conn, mr, 0, LEN, RPMA_F_COMPLETION_ALWAYS, buf));
		expect_completion(cq_of(conn), conn, IBV_WC_SEND, buf);
	}
	return conn;
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(LEN);
	struct rpma_mr_local *mr = registered(peer, buf, LEN, RPMA_MR_USAGE_SEND);

	own_rcq_and_shared_channel(peer, address, port);
	struct rpma_conn *first = connect_and_send(peer, address, port, mr, buf, 0);
	struct rpma_conn *second = connect_and_send(peer, address, port, mr, buf, ROUNDS);

	close_first(&first);
	close_first(&second);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
