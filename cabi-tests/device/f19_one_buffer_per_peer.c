/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f19_one_buffer_per_peer.c -- the buffer that a flush reads into is registered once for a peer,
 * not for each of its connections, and is gone with the peer
 *
 * Fault F19: one page and one memory region for each connection.
 */

#include "common.h"

#define CONNECTIONS	10

static void
flush(struct rpma_conn *conn, struct rpma_mr_remote *remote)
{
	OK(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
			conn));
	expect_completion(cq_of(conn), conn, flush_opcode(), conn);
}

int
main(void)
{
	test_begin();
	struct pair pair[CONNECTIONS];

	pair_listen(&pair[0]);
	struct rpma_mr_local *mr = registered(pair[0].peer, memory(8), 8,
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	struct rpma_mr_remote *remote = as_remote(mr);
	CHECK(count_resources("mr") == 1);

	for (int i = 0; i < CONNECTIONS; i++) {
		pair[i] = pair[0];
		pair_connect(&pair[i], NULL, NULL);
	}
	int more = count_resources("mr") - 1;
	printf("%d connections have %d memory regions\n", 2 * CONNECTIONS, more);
	if (more > 1)
		fault("F19", "%d connections of one peer have %d memory regions", 2 * CONNECTIONS,
				more);
	CHECK(more == 1);

	/* it serves every connection, also when others have gone */
	for (int i = 0; i < CONNECTIONS; i++) {
		flush(pair[i].client, remote);
		flush(pair[i].server, remote);
		if (i + 1 < CONNECTIONS)
			pair_disconnect(&pair[i]);
	}
	pair_disconnect(&pair[CONNECTIONS - 1]);

	/* and the next */
	pair_connect(&pair[0], NULL, NULL);
	flush(pair[0].client, remote);
	pair_disconnect(&pair[0]);

	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair[0]);
	CHECK(count_resources("mr") == 0);
	return test_end();
}
