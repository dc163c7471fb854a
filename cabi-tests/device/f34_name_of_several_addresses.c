/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f34_name_of_several_addresses.c -- the addresses of a host name are tried in turn, in all four
 * places where one is given; the error is that of the last one, and the line names them all
 *
 * Fault F34: the first alone is tried.
 */

#include "common.h"

/* reserved for documentation, so nobody's */
#define NOBODY	"192.0.2.7"
#define NOBODY2	"192.0.2.8"

int
main(void)
{
	test_begin();
	struct ibv_context *device = NULL, *found = NULL;
	struct rpma_peer *peer = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = NULL;
	struct rpma_conn *client = NULL;
	char hosts[1024];

	/* no route leads to the IPv6 one; the resolver's order puts 10.0.0.1 where it likes */
	snprintf(hosts, sizeof(hosts), NOBODY " f34-server\n%s f34-server\n" NOBODY2 " f34-server\n"
			NOBODY " f34-nobody\n" NOBODY2 " f34-nobody\n::1 f34-local\n%s f34-local\n"
			"127.0.1.1 f34-debian\n%s f34-debian\n",
			test_address(), test_address(), test_address());
	set_etc_file("hosts", hosts);
	count_errors();

	OK(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	if (rpma_utils_get_ibv_context("f34-local", RPMA_UTIL_IBV_CONTEXT_LOCAL, &found) != 0 ||
			found == NULL)
		fault("F34", "the second address of the name is not tried");
	CHECK(found == device);
	OK(rpma_utils_get_ibv_context("f34-server", RPMA_UTIL_IBV_CONTEXT_LOCAL, &found));
	OK(rpma_utils_get_ibv_context("f34-server", RPMA_UTIL_IBV_CONTEXT_REMOTE, &found));
	CHECK(found == device);

	/* ::1 resolves, and has no route */
	OK(rpma_peer_new(device, &peer));
	OK(rpma_ep_listen(peer, "f34-server", test_port(0), &ep));
	OK(rpma_conn_req_new(peer, "f34-local", test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &client));
	req = next_request(ep, NULL);
	OK(rpma_conn_req_delete(&req));
	expect_event(client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&client));
	OK(rpma_ep_shutdown(&ep));

	/* 127.0.1.1, as in Debian's /etc/hosts, can be listened at, but no client can come */
	OK(rpma_ep_listen(peer, "f34-debian", test_port(0), &ep));
	OK(rpma_conn_req_new(peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &client));
	req = next_request(ep, NULL);
	OK(rpma_conn_req_delete(&req));
	expect_event(client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&client));
	OK(rpma_ep_shutdown(&ep));
	CHECK(errors_logged() == 0);

	/* none of them: one line, which names them all, and the error of the last one */
	RETURNS(rpma_conn_req_new(peer, "f34-nobody", test_port(0), NULL, &req), RPMA_E_PROVIDER);
	CHECK(errors_logged() == 1);
	CHECK(strstr(last_error_logged(), NOBODY) != NULL);
	CHECK(strstr(last_error_logged(), NOBODY2) != NULL);
	FAILS(rpma_ep_listen(peer, "f34-nobody", test_port(0), &ep), RPMA_E_PROVIDER,
			EADDRNOTAVAIL);
	CHECK(errors_logged() == 2);
	CHECK(strstr(last_error_logged(), NOBODY) != NULL);
	CHECK(strstr(last_error_logged(), NOBODY2) != NULL);
	CHECK(count_resources("cm_id") == 0);
	OK(rpma_peer_delete(&peer));
	return test_end();
}
