/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * private_data.c -- bytes that travel with the request (client to server) and with its
 * acceptance (server to client)
 *
 * The network pads them with zeros: a receiver has to know from the bytes themselves how many
 * were meant. What does not fit, 56 bytes to the server and 196 to the client on RoCE, is
 * refused.
 */

#include "common.h"

#define TO_SERVER	56
#define TO_CLIENT	196

static uint8_t bytes[255];

static struct rpma_conn_private_data
of_length(int len)
{
	return (struct rpma_conn_private_data) { .ptr = bytes, .len = (uint8_t)len };
}

/* the first `len` bytes of the pattern, then zeros up to what the network carries */
static void
check_arrived(const struct rpma_conn_private_data *pdata, int len, int padded)
{
	CHECK(pdata->ptr != NULL);
	CHECK(pdata->len == padded);
	check_filled(pdata->ptr, (size_t)len, 1);
	check_zero((uint8_t *)pdata->ptr + len, (size_t)(padded - len));
}

static struct rpma_conn_req *
new_request(struct pair *pair)
{
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_req_new(pair->peer, test_address(), test_port(0), NULL, &req));
	return req;
}

/* a connection with this much to the server and this much to the client */
static void
both_ways(struct pair *pair, int to_server, int to_client)
{
	struct rpma_conn_private_data out = of_length(to_server), in = { NULL, 0 };
	struct rpma_conn_private_data of_request = { NULL, 0 };
	struct rpma_conn_req *req = new_request(pair);

	OK(rpma_conn_req_connect(&req, to_server > 0 ? &out : NULL, &pair->client));
	OK(rpma_conn_get_private_data(pair->client, &in));
	CHECK(in.ptr == NULL && in.len == 0);

	/* the server has it with the request already */
	req = next_request(pair->ep, NULL);
	OK(rpma_conn_req_get_private_data(req, &of_request));
	check_arrived(&of_request, to_server, TO_SERVER);

	out = of_length(to_client);
	OK(rpma_conn_req_connect(&req, to_client > 0 ? &out : NULL, &pair->server));
	expect_event(pair->client, RPMA_CONN_ESTABLISHED);
	expect_event(pair->server, RPMA_CONN_ESTABLISHED);

	/* and keeps it with the connection; what was taken from the request stays valid */
	OK(rpma_conn_get_private_data(pair->server, &in));
	check_arrived(&in, to_server, TO_SERVER);
	check_arrived(&of_request, to_server, TO_SERVER);

	OK(rpma_conn_get_private_data(pair->client, &in));
	check_arrived(&in, to_client, TO_CLIENT);

	pair_disconnect(pair);
}

/* too much, or none where some is promised: refused, and the request is gone */
static void
refused_to_server(struct pair *pair, int len)
{
	struct rpma_conn_private_data out = of_length(len);
	struct rpma_conn_req *req = new_request(pair);
	int ep_fd = -1;

	if (len == 0)
		RETURNS(rpma_conn_req_connect(&req, &out, &pair->client), RPMA_E_INVAL);
	else
		RETURNS(rpma_conn_req_connect(&req, &out, &pair->client), RPMA_E_PROVIDER);
	CHECK(req == NULL && pair->client == NULL);
	OK(rpma_ep_get_fd(pair->ep, &ep_fd));
	CHECK(!readable(ep_fd, 0));
}

/* the same by the server: the client is told */
static void
refused_to_client(struct pair *pair, int len)
{
	struct rpma_conn_private_data out = of_length(len);
	struct rpma_conn_req *req = new_request(pair);

	OK(rpma_conn_req_connect(&req, NULL, &pair->client));
	req = next_request(pair->ep, NULL);
	if (len == 0)
		RETURNS(rpma_conn_req_connect(&req, &out, &pair->server), RPMA_E_INVAL);
	else
		RETURNS(rpma_conn_req_connect(&req, &out, &pair->server), RPMA_E_PROVIDER);
	CHECK(req == NULL && pair->server == NULL);
	expect_event(pair->client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&pair->client));
}

/* no pointer, but a length */
static void
refused_without_pointer(struct pair *pair)
{
	struct rpma_conn_private_data out = { NULL, 1 };
	struct rpma_conn_req *req = new_request(pair);

	RETURNS(rpma_conn_req_connect(&req, &out, &pair->client), RPMA_E_INVAL);
	CHECK(req == NULL && pair->client == NULL);
}

int
main(void)
{
	test_begin();
	struct pair pair;

	fill(bytes, sizeof(bytes), 1);
	pair_listen(&pair);

	both_ways(&pair, 0, 0);
	both_ways(&pair, 1, 1);
	both_ways(&pair, 56, 56);
	both_ways(&pair, 1, 57);
	both_ways(&pair, 56, 196);

	int ids = count_resources("cm_id");
	static const int too_much_to_server[] = { 0, 57, 196, 197, 255 };
	for (size_t i = 0; i < sizeof(too_much_to_server) / sizeof(too_much_to_server[0]); i++)
		refused_to_server(&pair, too_much_to_server[i]);
	refused_without_pointer(&pair);
	CHECK(count_resources("cm_id") == ids);

	static const int too_much_to_client[] = { 0, 197, 255 };
	for (size_t i = 0; i < sizeof(too_much_to_client) / sizeof(too_much_to_client[0]); i++)
		refused_to_client(&pair, too_much_to_client[i]);

	both_ways(&pair, 56, 196);
	pair_delete(&pair);
	return test_end();
}
