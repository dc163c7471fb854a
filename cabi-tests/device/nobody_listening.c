/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nobody_listening.c -- a host that is there, a port at which nobody listens: the request is
 * made and sent, then REJECTED
 */

#include "common.h"

static void
connect_in_vain(struct rpma_peer *peer, const char *port)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	OK(rpma_conn_req_new(peer, test_address(), port, NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&conn));
}

int
main(void)
{
	test_begin();
	struct rpma_peer *peer = peer_of_local(test_address());
	struct rpma_ep *ep = NULL, *second = NULL;

	connect_in_vain(peer, test_port(0));

	/* a port that somebody else listens at, and after that has ended */
	OK(rpma_ep_listen(peer, test_address(), test_port(1), &ep));
	connect_in_vain(peer, test_port(0));
	FAILS(rpma_ep_listen(peer, test_address(), test_port(1), &second), RPMA_E_PROVIDER,
			EADDRINUSE);
	CHECK(second == NULL);
	OK(rpma_ep_shutdown(&ep));
	connect_in_vain(peer, test_port(1));

	OK(rpma_peer_delete(&peer));
	return test_end();
}
