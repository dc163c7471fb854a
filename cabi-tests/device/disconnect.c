/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * disconnect.c -- the two moods of rpma_conn_disconnect(): to start disconnecting, after
 * which CLOSED comes, and after CLOSED, where it is done when it returns
 *
 * Either side can be the one that starts.
 */

#include "common.h"

static void
disconnect(struct rpma_conn *first, struct rpma_conn *second)
{
	/* the start: what is asked for has not happened yet */
	OK(rpma_conn_disconnect(first));

	/* the other side: told by CLOSED, done when the call returns */
	expect_event(second, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(second));

	/* the end of what was started; a call more changes nothing */
	expect_event(first, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(first));
}

int
main(void)
{
	test_begin();
	struct pair pair;
	pair_listen(&pair);

	pair_connect(&pair, NULL, NULL);
	disconnect(pair.client, pair.server);
	OK(rpma_conn_delete(&pair.client));
	OK(rpma_conn_delete(&pair.server));

	pair_connect(&pair, NULL, NULL);
	disconnect(pair.server, pair.client);
	OK(rpma_conn_delete(&pair.client));
	OK(rpma_conn_delete(&pair.server));

	pair_delete(&pair);
	return test_end();
}
