/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipv6.c -- the same over an IPv6 address, and over a link-local one, which names its interface
 * after a %
 */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

#define LEN	1000

/* the link-local address of the interface that has the given address, with its scope */
static const char *
link_local_beside(const char *address)
{
	static char text[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE];
	char plain[INET6_ADDRSTRLEN];
	struct ifaddrs *all;
	const char *name = NULL;

	CHECK(getifaddrs(&all) == 0);
	for (int pass = 0; pass < 2; pass++) {
		for (struct ifaddrs *one = all; one; one = one->ifa_next) {
			if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET6)
				continue;
			const struct in6_addr *in6 =
				&((const struct sockaddr_in6 *) one->ifa_addr)->sin6_addr;
			CHECK(inet_ntop(AF_INET6, in6, plain, sizeof(plain)) != NULL);
			if (pass == 0 && !strcmp(plain, address))
				name = one->ifa_name;
			if (pass == 1 && name && !strcmp(one->ifa_name, name) &&
			    IN6_IS_ADDR_LINKLOCAL(in6))
				snprintf(text, sizeof(text), "%s%%%s", plain, name);
		}
	}
	freeifaddrs(all);
	/* the address itself may be link-local and have its scope already */
	return text[0] ? text : address;
}

static void
exchange(const char *address)
{
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
}

int
main(void)
{
	test_begin();
	exchange(test_address6());
	const char *link_local = link_local_beside(test_address6());
	CHECK(strchr(link_local, '%') != NULL);
	exchange(link_local);
	return test_end();
}
