/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f4_rejects_leak_nothing.c -- after 50 rejected requests, after accepts that failed and after
 * requests whose client was gone, the kernel keeps no more identifiers than before
 *
 * Fault F4: it keeps one for each until the endpoint is shut down.
 */

#include "common.h"

#define REJECTS	50
#define OTHERS	10

static struct rpma_conn_req *
incoming(struct pair *pair)
{
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_req_new(pair->peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair->client));
	return next_request(pair->ep, NULL);
}

static void
reject(struct pair *pair)
{
	struct rpma_conn_req *req = incoming(pair);

	OK(rpma_conn_req_delete(&req));
	expect_event(pair->client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&pair->client));
}

/* more private data than the network carries */
static void
fail_to_accept(struct pair *pair)
{
	static uint8_t bytes[255];
	struct rpma_conn_private_data pdata = { .ptr = bytes, .len = sizeof(bytes) };
	struct rpma_conn_req *req = incoming(pair);

	FAILS(rpma_conn_req_connect(&req, &pdata, &pair->server), RPMA_E_PROVIDER, EINVAL);
	CHECK(req == NULL && pair->server == NULL);
	expect_event(pair->client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&pair->client));
}

static void
accept_nobody(struct pair *pair)
{
	struct rpma_conn_req *req = incoming(pair);

	OK(rpma_conn_delete(&pair->client));
	int ret = rpma_conn_req_connect(&req, NULL, &pair->server);
	CHECK(req == NULL);
	if (ret == 0)
		OK(rpma_conn_delete(&pair->server));
	else
		RETURNS(ret, RPMA_E_PROVIDER);
}

static void
reject_nobody(struct pair *pair)
{
	struct rpma_conn_req *req = incoming(pair);

	OK(rpma_conn_delete(&pair->client));
	int ret = rpma_conn_req_delete(&req);
	CHECK(ret == 0 || ret == RPMA_E_PROVIDER);
	CHECK(req == NULL);
}

static void
leaks_nothing(struct pair *pair, void (*step)(struct pair *), int times, const char *name)
{
	for (int i = 0; i < times; i++)
		step(pair);

	/* all but the endpoint's own */
	int more = count_resources("cm_id") - 1;
	printf("%d %s: %d identifiers more\n", times, name, more);
	if (more != 0)
		fault("F4", "after %d %s the kernel keeps %d identifiers", times, name, more);
}

int
main(void)
{
	test_begin();
	struct pair pair;

	pair_listen(&pair);
	CHECK(count_resources("cm_id") == 1);
	leaks_nothing(&pair, reject, REJECTS, "rejects");
	leaks_nothing(&pair, fail_to_accept, OTHERS, "failed accepts");
	leaks_nothing(&pair, accept_nobody, OTHERS, "accepts of nobody");
	leaks_nothing(&pair, reject_nobody, OTHERS, "rejects of nobody");

	pair_connect(&pair, NULL, NULL);
	pair_disconnect(&pair);
	pair_delete(&pair);
	CHECK(count_resources("cm_id") == 0);
	return test_end();
}
