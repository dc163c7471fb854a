/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many.c -- many connections at once, a thread for each side of each, one listener; every message
 * is checked
 *
 *	many CONNECTIONS MESSAGES
 *	many server ADDRESS PORT CONNECTIONS MESSAGES
 *	many client ADDRESS PORT CONNECTIONS MESSAGES
 *
 * Alone it is both sides; with a role it is one of two hosts.
 */

#include "soak.h"

#include <pthread.h>

#define MOST	256
#define SIZE	512

static struct rpma_peer *peer;
static struct rpma_ep *ep;
static const char *address, *port;
static unsigned connections, messages;
static unsigned long checked;

struct side {
	pthread_t thread;
	unsigned number;		/* told by the client with its first message */
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_mr_local *mr;
	uint8_t *memory;		/* to send from, then to receive into */
};

static struct side servers[MOST], clients[MOST];

static unsigned
seed_of(unsigned number, unsigned message)
{
	return number * 7919 + message * 2;
}

static void
receive_next(struct side *side)
{
	OK(rpma_recv(side->conn, side->mr, SIZE, SIZE, side));
}

static void
send_message(struct side *side)
{
	OK(rpma_send(side->conn, side->mr, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, &side->memory));
}

/* both completions of a step, in whichever order they come */
static void
sent_and_received(struct side *side)
{
	bool sent = false, received = false;

	while (!sent || !received) {
		struct ibv_wc wc;

		next_completion(cq_of(side->conn), &wc);
		CHECK(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_RECV) {
			CHECK(wc.byte_len == SIZE && wc.wr_id == (uintptr_t)side);
			received = true;
		} else {
			CHECK(wc.opcode == IBV_WC_SEND);
			CHECK(wc.wr_id == (uintptr_t)&side->memory);
			sent = true;
		}
	}
}

static void *
client(void *arg)
{
	struct side *side = arg;
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_req_new(peer, address, port, NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &side->conn));
	expect_event(side->conn, RPMA_CONN_ESTABLISHED);
	for (unsigned n = 0; n < messages; n++) {
		progress();
		fill(side->memory, SIZE, seed_of(side->number, n));
		memcpy(side->memory, &side->number, sizeof(side->number));
		receive_next(side);
		send_message(side);
		sent_and_received(side);
		check_filled(side->memory + SIZE, SIZE, seed_of(side->number, n) + 1);
		__atomic_add_fetch(&checked, 1, __ATOMIC_RELAXED);
	}
	close_first(&side->conn);
	return NULL;
}

static void
check_message(struct side *side, unsigned n)
{
	unsigned number = 0;

	memcpy(&number, side->memory + SIZE, sizeof(number));
	if (n == 0)
		side->number = number;
	CHECK(number == side->number && number < connections);
	/* the number took the place of the first bytes */
	fill(side->memory, SIZE, seed_of(number, n));
	memcpy(side->memory + SIZE, side->memory, sizeof(number));
	check_filled(side->memory + SIZE, SIZE, seed_of(number, n));
	__atomic_add_fetch(&checked, 1, __ATOMIC_RELAXED);
}

/* the first receive was posted to the request */
static void *
server(void *arg)
{
	struct side *side = arg;

	OK(rpma_conn_req_connect(&side->req, NULL, &side->conn));
	expect_event(side->conn, RPMA_CONN_ESTABLISHED);
	for (unsigned n = 0; n < messages; n++) {
		struct ibv_wc wc;

		progress();
		if (n == 0) {
			next_completion(cq_of(side->conn), &wc);
			CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
		} else {
			sent_and_received(side);
		}
		check_message(side, n);
		fill(side->memory, SIZE, seed_of(side->number, n) + 1);
		if (n + 1 < messages)
			receive_next(side);
		send_message(side);
	}
	close_second(&side->conn);
	return NULL;
}

static void *
listener(void *unused)
{
	(void) unused;
	for (struct side *side = servers; side < servers + connections; side++) {
		side->req = next_request(ep, NULL);
		OK(rpma_conn_req_recv(side->req, side->mr, SIZE, SIZE, side));
		CHECK(pthread_create(&side->thread, NULL, server, side) == 0);
	}
	return NULL;
}

static void
make(struct side *sides)
{
	for (unsigned n = 0; n < connections; n++) {
		sides[n].memory = memory(2 * SIZE);
		sides[n].mr = registered(peer, sides[n].memory, 2 * SIZE,
				RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV);
		sides[n].number = n;
	}
}

static void
join(struct side *sides)
{
	for (unsigned n = 0; n < connections; n++) {
		CHECK(pthread_join(sides[n].thread, NULL) == 0);
		OK(rpma_mr_dereg(&sides[n].mr));
	}
}

static void
run(bool is_server, bool is_client)
{
	pthread_t listening_thread;

	test_begin();
	peer = is_server ? peer_of_local(address) : peer_of_remote(address);
	if (is_server) {
		make(servers);
		ep = listening(peer, address, port);
		CHECK(pthread_create(&listening_thread, NULL, listener, NULL) == 0);
	}
	if (is_client) {
		make(clients);
		for (unsigned n = 0; n < connections; n++)
			CHECK(pthread_create(&clients[n].thread, NULL, client,
					&clients[n]) == 0);
	}
	if (is_server) {
		CHECK(pthread_join(listening_thread, NULL) == 0);
		join(servers);
		OK(rpma_ep_shutdown(&ep));
	}
	if (is_client)
		join(clients);
	OK(rpma_peer_delete(&peer));
	CHECK(checked == (unsigned long)connections * messages * (is_server + is_client));
	printf("%u connections, %lu messages checked\n", connections, checked);
}

int
main(int argc, char *argv[])
{
	bool both = argc == 3;
	bool is_server = argc == 6 && strcmp(argv[1], "server") == 0;
	bool is_client = argc == 6 && strcmp(argv[1], "client") == 0;

	if (!both && !is_server && !is_client)
		return 2;
	connections = argument(argc, argv, argc - 2);
	messages = argument(argc, argv, argc - 1);
	if (connections > MOST)
		return 2;
	address = both ? test_address() : argv[2];
	port = both ? test_port(0) : argv[3];
	run(both || is_server, both || is_client);
	return test_end();
}
