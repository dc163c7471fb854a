/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f17_errno_of_what_failed.c -- errno after a failing call is that of the function that failed,
 * whatever was cleaned up and logged after it
 *
 * Fault F17: clean-up and logging overwrite it.
 */

#include "common.h"

static struct pair pair;

/* a log function of a program that does not think of errno */
static void
careless(enum rpma_log_level level, const char *file_name, const int line_no,
		const char *function_name, const char *message_format, ...)
{
	(void) level;
	(void) file_name;
	(void) line_no;
	(void) function_name;
	(void) message_format;
	errno = ENOTTY;
}

static void
check_errno(int ret, int expected, const char *call)
{
	if (ret == RPMA_E_PROVIDER && errno != expected)
		fault("F17", "%s: errno is %s, not %s", call,
				errno == 0 ? "0" : strerrorname_np(errno),
				strerrorname_np(expected));
	RETURNS(ret, RPMA_E_PROVIDER);
}

static void
too_much_private_data(void)
{
	static uint8_t bytes[255];
	struct rpma_conn_private_data pdata = { .ptr = bytes, .len = sizeof(bytes) };
	struct rpma_conn_req *req = NULL;

	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));
	check_errno(rpma_conn_req_connect(&req, &pdata, &pair.client), EINVAL,
			"rpma_conn_req_connect() of the client");

	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair.client));
	req = next_request(pair.ep, NULL);
	check_errno(rpma_conn_req_connect(&req, &pdata, &pair.server), EINVAL,
			"rpma_conn_req_connect() of the server");
	expect_event(pair.client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&pair.client));
}

static void
address_or_port(void)
{
	struct rpma_conn_req *req = NULL;
	struct ibv_context *device = NULL;
	struct rpma_ep *ep = NULL;

	check_errno(rpma_ep_listen(pair.peer, test_address(), test_port(0), &ep), EADDRINUSE,
			"rpma_ep_listen() at a port in use");
	check_errno(rpma_ep_listen(pair.peer, "192.0.2.1", test_port(1), &ep), EADDRNOTAVAIL,
			"rpma_ep_listen() at somebody else's address");
	check_errno(rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &device),
			EADDRNOTAVAIL, "rpma_utils_get_ibv_context() of somebody else's address");
	/* its own errors are no errno: EINVAL stands for them */
	check_errno(rpma_conn_req_new(pair.peer, test_address(), "no such port", NULL, &req),
			EINVAL, "rpma_conn_req_new() to no port");
	CHECK(req == NULL && device == NULL && ep == NULL);
}

static void
region(void)
{
	struct rpma_mr_local *mr = NULL;

	/* no memory is mapped there */
	check_errno(rpma_mr_reg(pair.peer, (void *)4096, 4096, RPMA_MR_USAGE_WRITE_DST, &mr),
			EFAULT, "rpma_mr_reg() of no memory");
	CHECK(mr == NULL);
}

int
main(void)
{
	test_begin();
	pair_listen(&pair);
	too_much_private_data();
	OK(rpma_log_set_function(careless));
	region();
	address_or_port();
	too_much_private_data();
	pair_delete(&pair);
	return test_end();
}
