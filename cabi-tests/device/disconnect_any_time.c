/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * disconnect_any_time.c -- rpma_conn_disconnect() succeeds twice, before ESTABLISHED and after
 * REJECTED as well: a program can call it on every way out
 */

#include "common.h"

static void
twice(struct pair *pair)
{
	pair_connect(pair, NULL, NULL);
	OK(rpma_conn_disconnect(pair->client));
	OK(rpma_conn_disconnect(pair->client));
	expect_event(pair->server, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair->server));
	OK(rpma_conn_disconnect(pair->server));
	expect_event(pair->client, RPMA_CONN_CLOSED);
	OK(rpma_conn_delete(&pair->server));
	OK(rpma_conn_delete(&pair->client));
}

static void
before_established(struct pair *pair)
{
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_req_new(pair->peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair->client));
	OK(rpma_conn_disconnect(pair->client));

	req = next_request(pair->ep, NULL);
	OK(rpma_conn_req_connect(&req, NULL, &pair->server));
	OK(rpma_conn_disconnect(pair->server));
	OK(rpma_conn_delete(&pair->server));
	OK(rpma_conn_delete(&pair->client));
}

static void
after_rejected(struct pair *pair)
{
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_req_new(pair->peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair->client));
	req = next_request(pair->ep, NULL);
	OK(rpma_conn_req_delete(&req));
	expect_event(pair->client, RPMA_CONN_REJECTED);
	OK(rpma_conn_disconnect(pair->client));
	OK(rpma_conn_disconnect(pair->client));
	OK(rpma_conn_delete(&pair->client));
}

int
main(void)
{
	test_begin();
	struct pair pair;

	pair_listen(&pair);
	twice(&pair);
	before_established(&pair);
	after_rejected(&pair);

	/* and nothing of that is in the way of the next connection */
	pair_connect(&pair, NULL, NULL);
	pair_disconnect(&pair);
	pair_delete(&pair);
	return test_end();
}
