/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * closed_twice.c -- CLOSED can come a second time, when the kernel has forgotten the
 * connection: a program that keeps a closed connection takes it as nothing new
 */

#include "common.h"

int
main(void)
{
	test_begin();
	struct pair pair;

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	OK(rpma_conn_disconnect(pair.client));
	expect_event(pair.server, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair.server));
	expect_event(pair.client, RPMA_CONN_CLOSED);

	expect_event(pair.client, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair.client));
	OK(rpma_conn_delete(&pair.server));
	OK(rpma_conn_delete(&pair.client));
	pair_delete(&pair);
	return test_end();
}
