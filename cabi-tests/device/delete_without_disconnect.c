/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delete_without_disconnect.c -- rpma_conn_delete() alone ends a connection too: the other
 * side sees CLOSED
 */

#include "common.h"

int
main(void)
{
	test_begin();
	struct pair pair;
	pair_listen(&pair);

	pair_connect(&pair, NULL, NULL);
	OK(rpma_conn_delete(&pair.client));
	CHECK(pair.client == NULL);
	expect_event(pair.server, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair.server));
	OK(rpma_conn_delete(&pair.server));

	pair_connect(&pair, NULL, NULL);
	OK(rpma_conn_delete(&pair.server));
	CHECK(pair.server == NULL);
	expect_event(pair.client, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair.client));
	OK(rpma_conn_delete(&pair.client));

	pair_delete(&pair);
	return test_end();
}
