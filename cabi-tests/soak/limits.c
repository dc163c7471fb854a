/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits.c -- the process reaches its limits: file descriptors, locked memory (without
 * CAP_IPC_LOCK), address space. Calls fail with the errors that are documented, nothing stays behind,
 * and with the limit lifted all works again.
 *
 *	limits ROUNDS
 */

#include "soak.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE	(1u << 20)

static unsigned failed_provider, failed_memory;

/* documented: it succeeds, or the provider or memory is the reason */
static bool
works(int ret)
{
	CHECK(ret == 0 || ret == RPMA_E_PROVIDER || ret == RPMA_E_NOMEM);
	failed_provider += ret == RPMA_E_PROVIDER;
	failed_memory += ret == RPMA_E_NOMEM;
	return ret == 0;
}

/* all that can fail, as far as it comes; true when it came to the end */
static bool
everything(void *buffer)
{
	struct ibv_context *device = NULL;
	struct rpma_peer *peer = NULL;
	struct rpma_mr_local *mr = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_ep *ep = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *client = NULL, *server = NULL;
	enum rpma_conn_event event;
	bool all = false;

	if (works(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL,
			&device)) &&
	    works(rpma_peer_new(device, &peer)) &&
	    works(rpma_mr_reg(peer, buffer, SIZE, RPMA_MR_USAGE_RECV, &mr)) &&
	    works(rpma_srq_new(peer, NULL, &srq)) &&
	    works(rpma_ep_listen(peer, test_address(), test_port(0), &ep)) &&
	    works(rpma_conn_req_new(peer, test_address(), test_port(0), NULL, &req)) &&
	    works(rpma_conn_req_connect(&req, NULL, &client))) {
		int fd = -1;

		OK(rpma_ep_get_fd(ep, &fd));
		CHECK(readable(fd, WAIT_MS));
		if (works(rpma_ep_next_conn_req(ep, NULL, &req)) &&
				works(rpma_conn_req_connect(&req, NULL, &server))) {
			expect_event(client, RPMA_CONN_ESTABLISHED);
			expect_event(server, RPMA_CONN_ESTABLISHED);
			all = true;
		} else {
			/* refused at once, not left alone */
			CHECK(event_pending(client, WAIT_MS));
			OK(rpma_conn_next_event(client, &event));
			CHECK(event == RPMA_CONN_REJECTED);
		}
	}
	CHECK(req == NULL || client == NULL);
	OK(rpma_conn_delete(&server));
	OK(rpma_conn_delete(&client));
	OK(rpma_conn_req_delete(&req));
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_srq_delete(&srq));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	return all;
}

static rlim_t
lower(int resource, rlim_t to)
{
	struct rlimit limit;
	rlim_t old;

	CHECK(getrlimit(resource, &limit) == 0);
	old = limit.rlim_cur;
	limit.rlim_cur = to;
	CHECK(setrlimit(resource, &limit) == 0);
	return old;
}

static void
lift(int resource, rlim_t old)
{
	struct rlimit limit;

	CHECK(getrlimit(resource, &limit) == 0);
	limit.rlim_cur = old;
	CHECK(setrlimit(resource, &limit) == 0);
}

static size_t
address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void
set_ipc_lock(bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	CHECK(syscall(SYS_capget, &header, data) == 0);
	if (on)
		data[0].effective |= 1u << CAP_IPC_LOCK;
	else
		data[0].effective &= ~(1u << CAP_IPC_LOCK);
	CHECK(syscall(SYS_capset, &header, data) == 0);
}

/* one step more room each time, until everything fits */
static void
climb(int resource, rlim_t from, rlim_t step, unsigned steps, void *buffer)
{
	unsigned provider_before = failed_provider, memory_before = failed_memory;
	unsigned tries = 0;
	bool all = false;

	while (!all && tries < steps) {
		progress();
		rlim_t old = lower(resource, from + step * tries);

		all = everything(buffer);
		lift(resource, old);
		tries++;
	}
	CHECK(all && tries > 1);
	printf("  %u tries: %u times RPMA_E_PROVIDER, %u times RPMA_E_NOMEM, then everything\n",
			tries, failed_provider - provider_before, failed_memory - memory_before);
	CHECK(everything(buffer));
}

static void
all_limits(int fds, void *buffer)
{
	printf("file descriptors\n");
	climb(RLIMIT_NOFILE, (rlim_t)fds - 3, 1, 40, buffer);
	printf("locked memory\n");
	set_ipc_lock(false);
	climb(RLIMIT_MEMLOCK, 0, 256 << 10, 40, buffer);
	set_ipc_lock(true);
	printf("address space\n");
	climb(RLIMIT_AS, address_space(), 8 << 10, 400, buffer);
}

int
main(int argc, char *argv[])
{
	unsigned rounds = argument(argc, argv, 1);
	struct holdings before, after;
	void *buffer = memory(SIZE);

	test_begin();
	count_errors();
	/* what librdmacm and malloc keep for good, they have from here on */
	CHECK(everything(buffer));
	all_limits(holdings().fds, buffer);
	before = holdings();
	for (unsigned round = 0; round < rounds; round++)
		all_limits(before.fds, buffer);
	after = holdings();
	check_same_holdings(&before, &after);
	return test_end();
}
