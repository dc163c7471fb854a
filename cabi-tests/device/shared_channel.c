/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_channel.c -- rpma_conn_cfg_set_compl_channel(): one completion channel for both CQs
 * of a connection, so that one rpma_conn_wait() waits for either
 *
 * The client sends messages, the server answers each.
 */

#include "common.h"

#define SIZE	4096
#define LEN	300
#define ROUNDS	5

static struct rpma_conn_cfg *
cfg_shared(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	bool shared = true;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_get_compl_channel(cfg, &shared));
	CHECK(!shared);
	OK(rpma_conn_cfg_set_compl_channel(cfg, true));
	OK(rpma_conn_cfg_set_rcq_size(cfg, 10));
	return cfg;
}

static void
one_channel(struct rpma_conn *conn)
{
	int fd = -1, cq_fd = -1, rcq_fd = -1;

	OK(rpma_conn_get_compl_fd(conn, &fd));
	OK(rpma_cq_get_fd(cq_of(conn), &cq_fd));
	OK(rpma_cq_get_fd(rcq_of(conn), &rcq_fd));
	CHECK(fd >= 0 && cq_fd == fd && rcq_fd == fd);

	/* a CQ cannot be waited for alone: the event might be the other's */
	RETURNS(rpma_cq_wait(cq_of(conn)), RPMA_E_SHARED_CHANNEL);
	RETURNS(rpma_cq_wait(rcq_of(conn)), RPMA_E_SHARED_CHANNEL);
}

/*
 * Wait until `sends` and `receives` completions have come. Each wait tells which CQ to
 * drain.
 */
static void
wait_for(struct rpma_conn *conn, int sends, int receives, uint32_t byte_len)
{
	int fd = -1, ret;

	OK(rpma_conn_get_compl_fd(conn, &fd));
	while (sends > 0 || receives > 0) {
		struct rpma_cq *cq = NULL;
		struct ibv_wc wc;
		bool is_rcq = false;

		CHECK(readable(fd, WAIT_MS));
		/* no flags are defined: any are ignored */
		OK(rpma_conn_wait(conn, sends, &cq, &is_rcq));
		CHECK(cq == (is_rcq ? rcq_of(conn) : cq_of(conn)));
		while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == 0) {
			CHECK(wc.status == IBV_WC_SUCCESS);
			CHECK(wc.qp_num == qp_num_of(conn));
			CHECK(wc.opcode == (is_rcq ? IBV_WC_RECV : IBV_WC_SEND));
			CHECK(wc.wr_id == (is_rcq ? 0 : (uintptr_t)conn));
			if (is_rcq) {
				CHECK(wc.byte_len == byte_len);
				receives--;
			} else {
				sends--;
			}
		}
		CHECK(ret == RPMA_E_NO_COMPLETION);
	}
	CHECK(sends == 0 && receives == 0);
}

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE,
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND);
	struct rpma_conn_cfg *cfg = cfg_shared();

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn_req *req = next_request(ep, cfg);
	struct rpma_conn *conn = NULL;
	OK(rpma_conn_req_recv(req, mr, 0, LEN, NULL));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	one_channel(conn);

	for (unsigned i = 0; i < ROUNDS; i++) {
		wait_for(conn, 0, 1, LEN);
		check_filled(buf, LEN, i);
		memcpy(buf + LEN, buf, LEN);
		if (i + 1 < ROUNDS)
			OK(rpma_recv(conn, mr, 0, LEN, NULL));
		OK(rpma_send(conn, mr, LEN, LEN, RPMA_F_COMPLETION_ON_ERROR, NULL));
	}

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
	struct rpma_conn_cfg *cfg = cfg_shared();

	struct rpma_conn *conn = connected(peer, address, port, cfg, NULL);
	one_channel(conn);

	for (unsigned i = 0; i < ROUNDS; i++) {
		fill(buf, LEN, i);
		OK(rpma_recv(conn, mr, LEN, LEN, NULL));
		OK(rpma_send(conn, mr, 0, LEN, RPMA_F_COMPLETION_ALWAYS, conn));
		wait_for(conn, 1, 1, LEN);
		check_filled(buf + LEN, LEN, i);
	}

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
