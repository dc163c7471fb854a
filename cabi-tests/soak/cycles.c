/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cycles.c -- connect, exchange, disconnect, again and again: what the process holds at the end is
 * what it held after the first rounds
 *
 *	cycles COUNT
 */

#include "soak.h"

#define WARM	100		/* rounds until librdmacm and malloc have what they keep */
#define SIZE	1024

struct side {
	uint8_t *memory;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
};

static void
make_side(struct pair *pair, struct side *side)
{
	side->mr = registered(pair->peer, side->memory, SIZE, RPMA_MR_USAGE_READ_SRC |
			RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	side->remote = as_remote(side->mr);
}

static void
unmake_side(struct side *side)
{
	OK(rpma_mr_remote_delete(&side->remote));
	OK(rpma_mr_dereg(&side->mr));
}

/* a write, a flush and a message */
static void
exchange(struct pair *pair, struct side *client, struct side *server, unsigned round)
{
	void *context = (void *)(uintptr_t)(round + 1);

	fill(client->memory, SIZE, round);
	memset(server->memory, 0, SIZE);
	OK(rpma_write(pair->client, server->remote, 0, client->mr, 0, SIZE / 2,
			RPMA_F_COMPLETION_ON_ERROR, NULL));
	OK(rpma_flush(pair->client, server->remote, 0, SIZE / 2,
			RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, context));
	expect_completion(cq_of(pair->client), pair->client, flush_opcode(), context);
	check_filled(server->memory, SIZE / 2, round);

	OK(rpma_recv(pair->server, server->mr, SIZE / 2, SIZE / 2, context));
	OK(rpma_send(pair->client, client->mr, 0, SIZE / 2, RPMA_F_COMPLETION_ALWAYS, context));
	expect_received(cq_of(pair->server), pair->server, context, SIZE / 2);
	expect_completion(cq_of(pair->client), pair->client, IBV_WC_SEND, context);
	check_filled(server->memory + SIZE / 2, SIZE / 2, round);
}

int
main(int argc, char *argv[])
{
	unsigned count = argument(argc, argv, 1);
	unsigned warm = count / 2 < WARM ? count / 2 : WARM;
	struct side client = { 0 }, server = { 0 };
	struct holdings before, after;
	struct pair pair;
	long long began;

	test_begin();
	client.memory = memory(SIZE);
	server.memory = memory(SIZE);
	pair_listen(&pair);
	began = now_ms();
	for (unsigned round = 0; round < count; round++) {
		if (round == warm)
			before = holdings();
		progress();
		make_side(&pair, &client);
		make_side(&pair, &server);
		pair_connect(&pair, NULL, NULL);
		exchange(&pair, &client, &server, round);
		pair_disconnect(&pair);
		unmake_side(&server);
		unmake_side(&client);
	}
	after = holdings();
	printf("%u cycles in %lld ms\n", count, now_ms() - began);
	check_same_holdings(&before, &after);
	pair_delete(&pair);
	return test_end();
}
