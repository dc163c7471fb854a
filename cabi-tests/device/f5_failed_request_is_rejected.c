/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f5_failed_request_is_rejected.c -- rpma_ep_next_conn_req() that fails for a client, here
 * for a CQ larger than the device has, rejects that client at once
 *
 * Fault F5: the client hears nothing until it gives up.
 */

#include "common.h"

#include <limits.h>

#define AT_ONCE_MS	2000

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;
	int fd = -1;

	pair_listen(&pair);
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_cq_size(cfg, INT_MAX));
	OK(rpma_ep_get_fd(pair.ep, &fd));
	int before = count_resources("cm_id");

	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair.client));
	CHECK(readable(fd, WAIT_MS));
	RETURNS(rpma_ep_next_conn_req(pair.ep, cfg, &req), RPMA_E_PROVIDER);
	CHECK(errno != 0 && req == NULL);

	if (!event_pending(pair.client, AT_ONCE_MS))
		fault("F5", "the client heard nothing for %d ms", AT_ONCE_MS);
	expect_event(pair.client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&pair.client));
	CHECK(count_resources("cm_id") == before);

	/* with a CQ that the device has, the next request works */
	OK(rpma_conn_cfg_set_cq_size(cfg, 10));
	pair_connect(&pair, cfg, NULL);
	pair_disconnect(&pair);
	OK(rpma_conn_cfg_delete(&cfg));
	pair_delete(&pair);
	return test_end();
}
