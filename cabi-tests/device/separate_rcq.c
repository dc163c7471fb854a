/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * separate_rcq.c -- rpma_conn_cfg_set_rcq_size(): a CQ for receives alone
 * (rpma_conn_get_rcq()), beside the one for everything else (rpma_conn_get_cq())
 *
 * The client sends a message, the server answers it; each side sees its send on one
 * CQ and its receive on the other.
 */

#include "common.h"

#define SIZE	4096
#define LEN	700

static struct rpma_conn_cfg *
cfg_with_rcq(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	uint32_t rcq_size = 1;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_get_rcq_size(cfg, &rcq_size));
	CHECK(rcq_size == 0);
	OK(rpma_conn_cfg_set_rcq_size(cfg, 10));
	return cfg;
}

static void
two_cqs(struct rpma_conn *conn)
{
	int fd = -1, rfd = -1, shared_fd = -1;
	bool is_rcq = false;
	struct rpma_cq *cq = NULL;

	CHECK(cq_of(conn) != rcq_of(conn));
	OK(rpma_cq_get_fd(cq_of(conn), &fd));
	OK(rpma_cq_get_fd(rcq_of(conn), &rfd));
	CHECK(fd >= 0 && rfd >= 0 && fd != rfd);

	/* each has a channel of its own */
	RETURNS(rpma_conn_get_compl_fd(conn, &shared_fd), RPMA_E_NOT_SHARED_CHNL);
	RETURNS(rpma_conn_wait(conn, 0, &cq, &is_rcq), RPMA_E_NOT_SHARED_CHNL);
}

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE,
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND);
	struct rpma_conn_cfg *cfg = cfg_with_rcq();
	struct ibv_wc wc;

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn_req *req = next_request(ep, cfg);
	struct rpma_conn *conn = NULL;
	OK(rpma_conn_req_recv(req, mr, 0, LEN, &buf[0]));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	two_cqs(conn);

	expect_received(rcq_of(conn), conn, &buf[0], LEN);
	check_filled(buf, LEN, 1);
	RETURNS(rpma_cq_get_wc(cq_of(conn), 1, &wc, NULL), RPMA_E_NO_COMPLETION);

	OK(rpma_send(conn, mr, 0, LEN, RPMA_F_COMPLETION_ON_ERROR, &buf[1]));
	close_second(&conn);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE,
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND);
	struct rpma_conn_cfg *cfg = cfg_with_rcq();
	struct ibv_wc wc;
	fill(buf, LEN, 1);

	struct rpma_conn *conn = connected(peer, address, port, cfg, NULL);
	two_cqs(conn);
	OK(rpma_recv(conn, mr, LEN, LEN, &buf[2]));
	OK(rpma_send(conn, mr, 0, LEN, RPMA_F_COMPLETION_ALWAYS, &buf[3]));

	expect_completion(cq_of(conn), conn, IBV_WC_SEND, &buf[3]);
	expect_received(rcq_of(conn), conn, &buf[2], LEN);
	check_filled(buf + LEN, LEN, 1);
	RETURNS(rpma_cq_get_wc(cq_of(conn), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	RETURNS(rpma_cq_get_wc(rcq_of(conn), 1, &wc, NULL), RPMA_E_NO_COMPLETION);

	close_first(&conn);
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
