/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f33_mapped_address.c -- an IPv4 address that is written as IPv6 (::ffff:10.0.0.1) is that IPv4
 * address, in all four places where an address is given
 *
 * Fault F33: it is on no device; a request to it ends after minutes.
 */

#include "common.h"

int
main(void)
{
	test_begin();
	struct ibv_context *device = NULL, *local = NULL, *remote = NULL;
	struct rpma_conn_req *req;
	struct rpma_ep *ep = NULL;
	struct rpma_peer *peer = NULL;
	struct rpma_conn *server = NULL, *client;
	char address[64];

	snprintf(address, sizeof(address), "::ffff:%s", test_address());
	OK(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	if (rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &local) != 0)
		fault("F33", "no device has %s", address);
	OK(rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &remote));
	CHECK(local == device && remote == device);

	OK(rpma_peer_new(device, &peer));
	OK(rpma_ep_listen(peer, address, test_port(0), &ep));
	OK(rpma_conn_req_new(peer, address, test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &client));
	req = next_request(ep, NULL);
	OK(rpma_conn_req_connect(&req, NULL, &server));
	expect_event(client, RPMA_CONN_ESTABLISHED);
	expect_event(server, RPMA_CONN_ESTABLISHED);
	OK(rpma_conn_disconnect(client));
	expect_event(server, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(server));
	expect_event(client, RPMA_CONN_CLOSED);
	OK(rpma_conn_delete(&client));
	OK(rpma_conn_delete(&server));

	/* that endpoint is at the IPv4 address */
	OK(rpma_conn_req_new(peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &client));
	req = next_request(ep, NULL);
	OK(rpma_conn_req_delete(&req));
	expect_event(client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&client));
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_peer_delete(&peer));
	return test_end();
}
