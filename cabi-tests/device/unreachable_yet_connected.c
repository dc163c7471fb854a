/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unreachable_yet_connected.c -- the MAC address of a connection's neighbour changes: the client
 * gets UNREACHABLE, although it is connected, and both sides work on
 *
 * The neighbour is this machine itself, which needs no such entry.
 */

#include "common.h"

#include <unistd.h>

#define MAC	"02:00:00:00:00:77"

/* `ip neigh ACTION` of the device's own address */
static void
neighbour(const char *action, const char *mac)
{
	char command[256];

	snprintf(command, sizeof(command), "dev=$(ip -o address show to %s | awk '{print $2; exit}') "
			"&& ip neigh %s %s %s dev \"$dev\"",
			test_address(), action, test_address(), mac);
	CHECK(system(command) == 0);
}

static void
write_byte(struct rpma_conn *conn, struct rpma_mr_remote *dst, const struct rpma_mr_local *src)
{
	OK(rpma_write(conn, dst, 0, src, 1, 1, RPMA_F_COMPLETION_ALWAYS, src));
	expect_completion(cq_of(conn), conn, IBV_WC_RDMA_WRITE, src);
}

int
main(void)
{
	test_begin();
	struct pair pair;

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	struct rpma_mr_local *mr = registered(pair.peer, memory(2), 2,
			RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST);
	struct rpma_mr_remote *remote = as_remote(mr);

	neighbour("replace", "lladdr " MAC);
	bool told = event_pending(pair.client, WAIT_MS);
	neighbour("del", "");
	CHECK(told);
	expect_event(pair.client, RPMA_CONN_UNREACHABLE);

	write_byte(pair.client, remote, mr);
	write_byte(pair.server, remote, mr);

	/* it may be told more than once */
	while (event_pending(pair.client, 500))
		expect_event(pair.client, RPMA_CONN_UNREACHABLE);
	write_byte(pair.client, remote, mr);
	pair_disconnect(&pair);
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
	return test_end();
}
