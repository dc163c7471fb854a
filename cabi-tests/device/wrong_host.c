/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrong_host.c -- addresses that lead nowhere: the call that needs them fails, within the
 * timeout of the connection configuration
 */

#include "common.h"

#define TIMEOUT_MS	300

/* an address reserved for documentation: no host has it, no route leads there */
#define NO_HOST		"192.0.2.1"

/* longer than any part of a name may be, so that no name server is asked */
#define NO_NAME		"a-host-name-has-parts-of-63-characters-at-most-" \
			"and-this-one-is-longer-than-that"

int
main(void)
{
	test_begin();
	struct rpma_peer *peer = peer_of_local(test_address());
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;
	struct ibv_context *device = NULL;
	struct rpma_ep *ep = NULL;
	int timeout = 0;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_get_timeout(cfg, &timeout));
	CHECK(timeout == RPMA_DEFAULT_TIMEOUT_MS);
	OK(rpma_conn_cfg_set_timeout(cfg, TIMEOUT_MS));

	long long start = now_ms();
	RETURNS(rpma_conn_req_new(peer, NO_HOST, test_port(0), cfg, &req), RPMA_E_PROVIDER);
	CHECK(req == NULL);
	CHECK(now_ms() - start < WAIT_MS);

	/* not an address or a port at all */
	RETURNS(rpma_conn_req_new(peer, NO_NAME, test_port(0), cfg, &req), RPMA_E_PROVIDER);
	RETURNS(rpma_conn_req_new(peer, test_address(), "no such port", cfg, &req),
			RPMA_E_PROVIDER);
	CHECK(req == NULL);
	RETURNS(rpma_ep_listen(peer, NO_NAME, test_port(0), &ep), RPMA_E_PROVIDER);
	RETURNS(rpma_utils_get_ibv_context(NO_NAME, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device),
			RPMA_E_PROVIDER);

	/* an address of somebody else is none to listen on */
	RETURNS(rpma_ep_listen(peer, NO_HOST, test_port(0), &ep), RPMA_E_PROVIDER);
	CHECK(ep == NULL);
	RETURNS(rpma_utils_get_ibv_context(NO_HOST, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device),
			RPMA_E_PROVIDER);
	RETURNS(rpma_utils_get_ibv_context(NO_HOST, RPMA_UTIL_IBV_CONTEXT_REMOTE, &device),
			RPMA_E_PROVIDER);
	CHECK(device == NULL);

	/* the peer is none the worse for it */
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_peer_delete(&peer));
	return test_end();
}
