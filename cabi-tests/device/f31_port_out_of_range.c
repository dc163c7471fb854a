/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f31_port_out_of_range.c -- a number that is no port is refused, and nothing listens; service
 * names and 0 work
 *
 * Fault F31: cut to 16 bits, and it listens there.
 */

#include "common.h"

int
main(void)
{
	static const char *const bad[] = { "73096", " 73096", "+73096", "4294974856", "65536",
		"-57976", "-1", "99999999999999999999" };
	static const char *const good[] = { "0", "-0", "", "http", "65535", "\t65535" };
	test_begin();
	set_etc_file("services", "http 80/tcp\n");
	struct rpma_peer *peer = peer_of_local(test_address());
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = NULL;

	count_errors();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		if (rpma_ep_listen(peer, test_address(), bad[i], &ep) == 0)
			fault("F31", "port \"%s\" is listened at", bad[i]);
		CHECK(errno == EINVAL);
		FAILS(rpma_conn_req_new(peer, test_address(), bad[i], NULL, &req), RPMA_E_PROVIDER,
				EINVAL);
		CHECK(ep == NULL && req == NULL);
		CHECK(errors_logged() == 2 * (int)(i + 1));
	}
	CHECK(count_resources("cm_id") == 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		OK(rpma_ep_listen(peer, test_address(), good[i], &ep));
		if (i == 0)
			CHECK(count_resources("cm_id") == 1);
		OK(rpma_ep_shutdown(&ep));
	}
	OK(rpma_peer_delete(&peer));
	return test_end();
}
