/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f28_log_lines_say_what_failed.c -- one failure is one ERROR line, which names the function that
 * failed and has no value in it that is not there
 *
 * Fault F28: "(null)" for addresses, two lines for one failure.
 */

#include "common.h"

#define NO_HOST	"192.0.2.1"	/* reserved for documentation */

static int seen;

/* exactly one ERROR line since the last look, which says this */
static void
one_line(const char *what)
{
	const char *line = last_error_logged();

	printf("%s", line);
	if (errors_logged() != seen + 1)
		fault("F28", "%d lines for one failure", errors_logged() - seen);
	if (strstr(line, "(null)") != NULL)
		fault("F28", "a line without its values: %s", line);
	CHECK(strstr(line, what) != NULL);
	CHECK(line[strlen(line) - 1] == '\n');
	seen = errors_logged();
}

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = NULL;
	struct rpma_mr_remote *remote = NULL;
	uint8_t descriptor[MR_DESCRIPTOR_SIZE] = { 0 };
	struct ibv_context *device = NULL;

	pair_listen(&pair);
	count_errors();
	RETURNS(rpma_mr_remote_from_descriptor(descriptor, sizeof(descriptor), &remote),
			RPMA_E_INVAL);
	one_line("usage");
	RETURNS(rpma_ep_listen(pair.peer, test_address(), test_port(0), &ep), RPMA_E_PROVIDER);
	one_line("rdma_bind_addr");
	RETURNS(rpma_utils_get_ibv_context(NO_HOST, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device),
			RPMA_E_PROVIDER);
	one_line("rdma_bind_addr");
	RETURNS(rpma_conn_req_new(pair.peer, NO_HOST, test_port(0), NULL, &req), RPMA_E_PROVIDER);
	one_line("rdma_resolve_addr");
	RETURNS(rpma_conn_req_new(pair.peer, test_address(), "no such port", NULL, &req),
			RPMA_E_PROVIDER);
	one_line("rdma_getaddrinfo");
	CHECK(req == NULL && ep == NULL && device == NULL && remote == NULL);

	pair_delete(&pair);
	return test_end();
}
