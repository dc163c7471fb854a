/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reject.c -- a server that does not want a client deletes its request
 */

#include "common.h"

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_conn_private_data pdata = { "no entry", 9 }, seen = { NULL, 0 };
	struct rpma_conn_req *req = NULL;

	pair_listen(&pair);
	for (int i = 0; i < 3; i++) {
		OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));
		OK(rpma_conn_req_connect(&req, &pdata, &pair.client));

		/* the private data is there to decide by */
		req = next_request(pair.ep, NULL);
		OK(rpma_conn_req_get_private_data(req, &seen));
		CHECK(seen.ptr != NULL && strcmp(seen.ptr, "no entry") == 0);
		OK(rpma_conn_req_delete(&req));
		CHECK(req == NULL);

		expect_event(pair.client, RPMA_CONN_REJECTED);
		OK(rpma_conn_delete(&pair.client));
	}

	/* a request of one's own can be deleted too; the server hears nothing of it */
	int ep_fd = -1;
	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_delete(&req));
	CHECK(req == NULL);
	OK(rpma_ep_get_fd(pair.ep, &ep_fd));
	CHECK(!readable(ep_fd, 0));

	/* the next client is welcome */
	pair_connect(&pair, NULL, NULL);
	pair_disconnect(&pair);
	pair_delete(&pair);
	return test_end();
}
