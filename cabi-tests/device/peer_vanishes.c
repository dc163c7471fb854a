/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_vanishes.c -- a client that is gone before the server answers: the server's call fails,
 * or the connection ends with REJECTED or CLOSED; the next client is served
 */

#include "common.h"

/* a request whose client has given up */
static struct rpma_conn_req *
request_of_nobody(struct pair *pair)
{
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_req_new(pair->peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair->client));
	req = next_request(pair->ep, NULL);
	OK(rpma_conn_delete(&pair->client));
	return req;
}

static void
accept_nobody(struct pair *pair)
{
	struct rpma_conn_req *req = request_of_nobody(pair);
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret = rpma_conn_req_connect(&req, NULL, &pair->server);

	CHECK(req == NULL);
	if (ret != 0) {
		RETURNS(ret, RPMA_E_PROVIDER);
		CHECK(pair->server == NULL);
		printf("the accept failed\n");
		return;
	}

	CHECK(event_pending(pair->server, WAIT_MS));
	OK(rpma_conn_next_event(pair->server, &event));
	printf("the connection gave %s\n", rpma_utils_conn_event_2str(event));
	CHECK(event == RPMA_CONN_REJECTED || event == RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair->server));
	OK(rpma_conn_delete(&pair->server));
}

static void
reject_nobody(struct pair *pair)
{
	struct rpma_conn_req *req = request_of_nobody(pair);
	int ret = rpma_conn_req_delete(&req);

	CHECK(ret == 0 || ret == RPMA_E_PROVIDER);
	CHECK(req == NULL);
}

int
main(void)
{
	test_begin();
	struct pair pair;

	pair_listen(&pair);
	accept_nobody(&pair);
	reject_nobody(&pair);

	pair_connect(&pair, NULL, NULL);
	pair_disconnect(&pair);
	pair_delete(&pair);
	return test_end();
}
