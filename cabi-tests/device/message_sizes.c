/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_sizes.c -- rpma_send() and rpma_recv(): messages of 1 byte to 1 MiB, there and
 * back, every byte of each compared
 *
 * The receive for the answer is posted before the question is sent; that is all the flow
 * control that a ping-pong needs.
 */

#include "common.h"

#define MAX	(1 << 20)

/* around the sizes at which something changes: words, inline data, pages, path MTUs */
static const size_t sizes[] = {
	1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097,
	65535, 65536, 65537, MAX - 1, MAX,
};

#define SIZES	(sizeof(sizes) / sizeof(sizes[0]))

/* so that sends and receives need not be told apart */
static struct rpma_conn_cfg *
two_cqs(void)
{
	struct rpma_conn_cfg *cfg = NULL;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_rcq_size(cfg, 2));
	return cfg;
}

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *in = memory(MAX), *out = memory(MAX);
	struct rpma_mr_local *dst = registered(peer, in, MAX, RPMA_MR_USAGE_RECV);
	struct rpma_mr_local *src = registered(peer, out, MAX, RPMA_MR_USAGE_SEND);

	struct rpma_conn_cfg *cfg = two_cqs();

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn_req *req = next_request(ep, cfg);
	struct rpma_conn *conn = NULL;
	OK(rpma_conn_req_recv(req, dst, 0, MAX, in));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);

	for (unsigned i = 0; i < SIZES; i++) {
		bool last = i + 1 == SIZES;

		expect_received(rcq_of(conn), conn, in, (uint32_t)sizes[i]);
		check_filled(in, sizes[i], i);
		fill(out, sizes[i], i + 1000);
		if (!last)
			OK(rpma_recv(conn, dst, 0, MAX, in));
		/* the client disconnects when it has the last answer: nobody waits for that */
		OK(rpma_send(conn, src, 0, sizes[i], last ? RPMA_F_COMPLETION_ON_ERROR :
				RPMA_F_COMPLETION_ALWAYS, out));
		if (!last)
			expect_completion(cq_of(conn), conn, IBV_WC_SEND, out);
	}

	close_second(&conn);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_mr_dereg(&dst));
	OK(rpma_mr_dereg(&src));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *in = memory(MAX), *out = memory(MAX);
	struct rpma_mr_local *dst = registered(peer, in, MAX, RPMA_MR_USAGE_RECV);
	struct rpma_mr_local *src = registered(peer, out, MAX, RPMA_MR_USAGE_SEND);
	struct rpma_conn_cfg *cfg = two_cqs();

	struct rpma_conn *conn = connected(peer, address, port, cfg, NULL);

	for (unsigned i = 0; i < SIZES; i++) {
		OK(rpma_recv(conn, dst, 0, sizes[i], in));
		fill(out, sizes[i], i);
		OK(rpma_send(conn, src, 0, sizes[i], RPMA_F_COMPLETION_ALWAYS, out));
		expect_completion(cq_of(conn), conn, IBV_WC_SEND, out);
		expect_received(rcq_of(conn), conn, in, (uint32_t)sizes[i]);
		check_filled(in, sizes[i], i + 1000);
	}

	close_first(&conn);
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_mr_dereg(&dst));
	OK(rpma_mr_dereg(&src));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
