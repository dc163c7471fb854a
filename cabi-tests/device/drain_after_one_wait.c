/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drain_after_one_wait.c -- many completions at a time: one rpma_cq_wait(), then
 * rpma_cq_get_wc() until there are no more, then the next rpma_cq_wait()
 *
 * That is the only loop that loses nothing and blocks on nothing: a wait is for
 * completions to come, not for those that are in the queue already.
 */

#include "common.h"

#define LEN	128
#define WRITES	64
#define AT_ONCE	10	/* entries taken by one call */

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(WRITES * LEN);
	struct rpma_mr_local *mr = registered(peer, buf, WRITES * LEN, RPMA_MR_USAGE_WRITE_DST);

	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn *conn = accepted(ep, NULL, &pdata);
	close_second(&conn);
	for (unsigned i = 0; i < WRITES; i++)
		check_filled(buf + i * LEN, LEN, i);

	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(WRITES * LEN);
	struct rpma_mr_local *mr = registered(peer, buf, WRITES * LEN, RPMA_MR_USAGE_WRITE_SRC);
	struct rpma_conn_cfg *cfg = NULL;
	uint32_t size = 0;

	/* room for all the writes, and for all their completions */
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_sq_size(cfg, WRITES));
	OK(rpma_conn_cfg_set_cq_size(cfg, WRITES));
	OK(rpma_conn_cfg_get_sq_size(cfg, &size));
	CHECK(size == WRITES);
	struct rpma_conn *conn = connected(peer, address, port, cfg, NULL);
	OK(rpma_conn_cfg_delete(&cfg));

	struct rpma_mr_remote *dst = offered_region(conn, 0);
	struct rpma_cq *cq = cq_of(conn);
	int fd = -1;
	OK(rpma_cq_get_fd(cq, &fd));

	for (unsigned i = 0; i < WRITES; i++) {
		fill(buf + i * LEN, LEN, i);
		OK(rpma_write(conn, dst, i * LEN, mr, i * LEN, LEN, RPMA_F_COMPLETION_ALWAYS,
				buf + i));
	}

	unsigned done = 0;
	while (done < WRITES) {
		struct ibv_wc wc[AT_ONCE];
		int got = -1, ret;

		CHECK(readable(fd, WAIT_MS));
		OK(rpma_cq_wait(cq));
		while ((ret = rpma_cq_get_wc(cq, AT_ONCE, wc, &got)) == 0) {
			CHECK(got >= 1 && got <= AT_ONCE);
			for (int i = 0; i < got; i++) {
				CHECK(wc[i].status == IBV_WC_SUCCESS);
				CHECK(wc[i].opcode == IBV_WC_RDMA_WRITE);
				CHECK(wc[i].qp_num == qp_num_of(conn));
				/* in the order in which they were posted */
				CHECK(wc[i].wr_id == (uintptr_t)(buf + done));
				done++;
			}
		}
		RETURNS(ret, RPMA_E_NO_COMPLETION);
	}
	CHECK(done == WRITES);

	OK(rpma_mr_remote_delete(&dst));
	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
