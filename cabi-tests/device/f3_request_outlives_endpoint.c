/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f3_request_outlives_endpoint.c -- a request that was taken before rpma_ep_shutdown() can still
 * be accepted, and rejected, after it
 *
 * Fault F3: the request uses what went with the endpoint.
 */

#include "common.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS	5

/* a request, its client waiting, its endpoint gone */
static struct rpma_conn_req *
request_without_endpoint(struct pair *pair)
{
	struct rpma_conn_req *req = NULL;

	/* what is freed does not keep its old contents */
	CHECK(mallopt(M_PERTURB, 0x5a) == 1);
	pair_listen(pair);
	OK(rpma_conn_req_new(pair->peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair->client));
	req = next_request(pair->ep, NULL);
	OK(rpma_ep_shutdown(&pair->ep));
	return req;
}

static void
accept_it(void)
{
	struct pair pair;
	struct rpma_conn_req *req = request_without_endpoint(&pair);
	const size_t len = 1000;

	OK(rpma_conn_req_connect(&req, NULL, &pair.server));
	expect_event(pair.client, RPMA_CONN_ESTABLISHED);
	expect_event(pair.server, RPMA_CONN_ESTABLISHED);

	uint8_t *buf = memory(2 * len);
	struct rpma_mr_local *mr = registered(pair.peer, buf, 2 * len,
			RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST);
	struct rpma_mr_remote *remote = as_remote(mr);
	fill(buf, len, 1);
	OK(rpma_write(pair.server, remote, len, mr, 0, len, RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq_of(pair.server), pair.server, IBV_WC_RDMA_WRITE, buf);
	check_filled(buf + len, len, 1);

	pair_disconnect(&pair);
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
}

static void
reject_it(void)
{
	struct pair pair;
	struct rpma_conn_req *req = request_without_endpoint(&pair);

	OK(rpma_conn_req_delete(&req));
	expect_event(pair.client, RPMA_CONN_REJECTED);
	OK(rpma_conn_delete(&pair.client));
	pair_delete(&pair);
}

/* in a process of its own, which may crash or hang */
static void
in_child(void (*step)(void), const char *name)
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(CHILD_SECONDS);
		step();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		fault("F3", "to %s the request after rpma_ep_shutdown() ended with signal %d",
				name, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		fault("F3", "to %s the request after rpma_ep_shutdown() did not work", name);
}

int
main(void)
{
	test_begin();
	in_child(accept_it, "accept");
	in_child(reject_it, "reject");
	return test_end();
}
