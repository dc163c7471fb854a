/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipv6.c -- the same over an IPv6 address; a link-local one names its interface after a %
 */

#include "common.h"

#define LEN	1000

int
main(void)
{
	test_begin();
	const char *address = test_address6();
	struct rpma_peer *peer = peer_of_local(address);
	struct rpma_peer *peer_of_client = peer_of_remote(address);
	struct rpma_ep *ep = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *client = NULL, *server = NULL;

	OK(rpma_ep_listen(peer, address, test_port(0), &ep));
	OK(rpma_conn_req_new(peer_of_client, address, test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &client));
	req = next_request(ep, NULL);
	OK(rpma_conn_req_connect(&req, NULL, &server));
	expect_event(client, RPMA_CONN_ESTABLISHED);
	expect_event(server, RPMA_CONN_ESTABLISHED);

	uint8_t *from = memory(LEN), *to = memory(LEN);
	struct rpma_mr_local *src = registered(peer_of_client, from, LEN, RPMA_MR_USAGE_WRITE_SRC);
	struct rpma_mr_local *dst = registered(peer, to, LEN, RPMA_MR_USAGE_WRITE_DST);
	struct rpma_mr_remote *remote = as_remote(dst);
	fill(from, LEN, 1);
	OK(rpma_write(client, remote, 0, src, 0, LEN, RPMA_F_COMPLETION_ALWAYS, from));
	expect_completion(cq_of(client), client, IBV_WC_RDMA_WRITE, from);
	check_filled(to, LEN, 1);

	OK(rpma_conn_disconnect(client));
	expect_event(server, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(server));
	expect_event(client, RPMA_CONN_CLOSED);
	OK(rpma_conn_delete(&client));
	OK(rpma_conn_delete(&server));
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&src));
	OK(rpma_mr_dereg(&dst));
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_peer_delete(&peer_of_client));
	OK(rpma_peer_delete(&peer));
	return test_end();
}
