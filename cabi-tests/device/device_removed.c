/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_removed.c -- the device goes while connections are open: they are told so, by LOST or
 * CLOSED, and everything can still be deleted
 *
 * The device is a second soft-RoCE device, made for this purpose on another network interface
 * than the first one's. Its removal ends when the process that has it open ends; that one is
 * a child.
 */

#include "common.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE	"rpma_removed"

static char address[INET_ADDRSTRLEN];

/* an interface, and its address, beside the one of the device that the tests use */
static void
make_device(void)
{
	struct ifaddrs *all = NULL, *entry;
	char command[128] = "";

	CHECK(getifaddrs(&all) == 0);
	for (entry = all; entry != NULL; entry = entry->ifa_next) {
		if (entry->ifa_addr == NULL || entry->ifa_addr->sa_family != AF_INET ||
				(entry->ifa_flags & IFF_LOOPBACK) != 0 ||
				(entry->ifa_flags & IFF_RUNNING) == 0)
			continue;
		const struct sockaddr_in *in = (const void *)entry->ifa_addr;
		CHECK(inet_ntop(AF_INET, &in->sin_addr, address, sizeof(address)) != NULL);
		if (strcmp(address, test_address()) == 0)
			continue;
		snprintf(command, sizeof(command), "rdma link add " DEVICE " type rxe netdev %s",
				entry->ifa_name);
		break;
	}
	freeifaddrs(all);
	/* there has to be such an interface, and soft-RoCE */
	CHECK(command[0] != '\0');
	CHECK(system(command) == 0);
}

static void
lost_or_closed(struct rpma_conn *conn, const char *side)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	CHECK(event_pending(conn, WAIT_MS));
	OK(rpma_conn_next_event(conn, &event));
	printf("%s: %s\n", side, rpma_utils_conn_event_2str(event));
	CHECK(event == RPMA_CONN_LOST || event == RPMA_CONN_CLOSED);
}

/* it may fail, but it returns, and the handle is gone */
#define RETURNS_AT_ALL(call, handle)				\
	do {							\
		int ret_ = call(&(handle));			\
		printf("%s: %s\n", #call, rpma_err_2str(ret_));	\
		CHECK(ret_ == 0 || ret_ == RPMA_E_PROVIDER);	\
		CHECK((handle) == NULL);			\
	} while (0)

static void
use_device(int connected_fd)
{
	struct rpma_peer *peer = peer_of_local(address);
	struct rpma_mr_local *mr = registered(peer, memory(4096), 4096, RPMA_MR_USAGE_RECV);
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *client = NULL, *server = NULL;
	struct rpma_ep *ep = NULL;
	struct rpma_srq *srq = NULL;

	OK(rpma_srq_new(peer, NULL, &srq));
	OK(rpma_ep_listen(peer, address, test_port(0), &ep));
	OK(rpma_conn_req_new(peer, address, test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &client));
	req = next_request(ep, NULL);
	OK(rpma_conn_req_connect(&req, NULL, &server));
	expect_event(client, RPMA_CONN_ESTABLISHED);
	expect_event(server, RPMA_CONN_ESTABLISHED);
	CHECK(write(connected_fd, "", 1) == 1);

	lost_or_closed(client, "client");
	lost_or_closed(server, "server");
	RETURNS_AT_ALL(rpma_conn_delete, client);
	RETURNS_AT_ALL(rpma_conn_delete, server);
	RETURNS_AT_ALL(rpma_ep_shutdown, ep);
	RETURNS_AT_ALL(rpma_srq_delete, srq);
	RETURNS_AT_ALL(rpma_mr_dereg, mr);
	RETURNS_AT_ALL(rpma_peer_delete, peer);
}

static pid_t
remove_device(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		execlp("rdma", "rdma", "link", "delete", DEVICE, (char *)NULL);
		_exit(127);
	}
	return pid;
}

int
main(void)
{
	test_begin();
	int connected_pipe[2], user_status = -1, remover_status = -1;
	pid_t user, remover;

	CHECK(pipe(connected_pipe) == 0);
	make_device();

	user = fork();
	if (user == 0) {
		alarm(PROGRAM_SECONDS / 2);
		use_device(connected_pipe[1]);
		_exit(0);
	}
	/* whatever becomes of the child, the device goes */
	CHECK(close(connected_pipe[1]) == 0);
	bool is_connected = readable(connected_pipe[0], WAIT_MS);
	remover = remove_device();
	CHECK(waitpid(user, &user_status, 0) == user);
	CHECK(waitpid(remover, &remover_status, 0) == remover);

	CHECK(WIFEXITED(user_status) && WEXITSTATUS(user_status) == 0);
	CHECK(is_connected);
	CHECK(remover_status == 0);
	return test_end();
}
