/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep_shutdown_after_established.c -- an endpoint is needed for new connections only: a server of
 * one client shuts it down as soon as it has that client
 */

#include "common.h"

#define LEN	1000

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *late = NULL;

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	OK(rpma_ep_shutdown(&pair.ep));

	uint8_t *buf = memory(2 * LEN);
	struct rpma_mr_local *mr = registered(pair.peer, buf, 2 * LEN,
			RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV);
	fill(buf, LEN, 1);
	OK(rpma_recv(pair.client, mr, LEN, LEN, mr));
	OK(rpma_send(pair.server, mr, 0, LEN, RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq_of(pair.server), pair.server, IBV_WC_SEND, buf);
	expect_received(cq_of(pair.client), pair.client, mr, LEN);
	check_filled(buf + LEN, LEN, 1);

	/* nobody else is let in */
	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &late));
	expect_event(late, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&late));

	pair_disconnect(&pair);
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	return test_end();
}
