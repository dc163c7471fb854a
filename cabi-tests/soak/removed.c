/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * removed.c -- the device goes while data move: both sides are told, everything can be deleted, and
 * with the device back a new process works
 *
 *	removed COUNT
 *
 * The device is a second soft-RoCE device, made for this purpose on another interface than the
 * first one's; its user is a child, since removing it ends when its last user has let go.
 */

#include "soak.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE	"rpma_removed"
#define SIZE	65536

static char address[INET_ADDRSTRLEN], interface[IF_NAMESIZE];

static void
find_interface(void)
{
	struct ifaddrs *all = NULL;

	CHECK(getifaddrs(&all) == 0);
	for (struct ifaddrs *entry = all; entry != NULL; entry = entry->ifa_next) {
		if (entry->ifa_addr == NULL || entry->ifa_addr->sa_family != AF_INET ||
				(entry->ifa_flags & IFF_LOOPBACK) != 0 ||
				(entry->ifa_flags & IFF_RUNNING) == 0)
			continue;
		const struct sockaddr_in *in = (const void *)entry->ifa_addr;
		CHECK(inet_ntop(AF_INET, &in->sin_addr, address, sizeof(address)) != NULL);
		if (strcmp(address, test_address()) == 0)
			continue;
		snprintf(interface, sizeof(interface), "%s", entry->ifa_name);
		break;
	}
	freeifaddrs(all);
	CHECK(interface[0] != '\0');
}

static void
add_device(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rdma link add " DEVICE " type rxe netdev %s",
			interface);
	CHECK(system(command) == 0);
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

/* it may fail, but it returns, and the handle is gone */
#define RETURNS_AT_ALL(call, handle)				\
	do {							\
		int ret_ = call(&(handle));			\
		CHECK(ret_ == 0 || ret_ == RPMA_E_PROVIDER);	\
		CHECK((handle) == NULL);			\
	} while (0)

struct use {
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	struct rpma_conn *client, *server;
	uint8_t *memory;
	unsigned written;
};

static void
begin_use(struct use *use)
{
	struct rpma_conn_req *req = NULL;

	use->peer = peer_of_local(address);
	use->memory = memory(2 * SIZE);
	use->mr = registered(use->peer, use->memory, 2 * SIZE,
			RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST);
	use->remote = as_remote(use->mr);
	OK(rpma_ep_listen(use->peer, address, test_port(0), &use->ep));
	OK(rpma_conn_req_new(use->peer, address, test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &use->client));
	req = next_request(use->ep, NULL);
	OK(rpma_conn_req_connect(&req, NULL, &use->server));
	expect_event(use->client, RPMA_CONN_ESTABLISHED);
	expect_event(use->server, RPMA_CONN_ESTABLISHED);
}

static void
end_use(struct use *use)
{
	OK(rpma_mr_remote_delete(&use->remote));
	RETURNS_AT_ALL(rpma_conn_delete, use->client);
	RETURNS_AT_ALL(rpma_conn_delete, use->server);
	RETURNS_AT_ALL(rpma_ep_shutdown, use->ep);
	RETURNS_AT_ALL(rpma_mr_dereg, use->mr);
	RETURNS_AT_ALL(rpma_peer_delete, use->peer);
}

/* false when it failed, as it may with the device gone */
static bool
write_one(struct use *use)
{
	struct rpma_cq *cq = cq_of(use->client);
	long long end = now_ms() + WAIT_MS;
	struct ibv_wc wc;

	fill(use->memory, SIZE, use->written);
	if (rpma_write(use->client, use->remote, SIZE, use->mr, 0, SIZE,
			RPMA_F_COMPLETION_ALWAYS, NULL) != 0)
		return false;
	for (;;) {
		int ret = rpma_cq_get_wc(cq, 1, &wc, NULL);

		if (ret == 0)
			break;
		RETURNS(ret, RPMA_E_NO_COMPLETION);
		/* a completion of a device that is gone does not come */
		if (event_pending(use->client, 0) || now_ms() > end)
			return false;
	}
	if (wc.status != IBV_WC_SUCCESS)
		return false;
	check_filled(use->memory + SIZE, SIZE, use->written++);
	return true;
}

static void
lost_or_closed(struct rpma_conn *conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	CHECK(event_pending(conn, WAIT_MS));
	OK(rpma_conn_next_event(conn, &event));
	CHECK(event == RPMA_CONN_LOST || event == RPMA_CONN_CLOSED);
}

static void
use_until_removed(int busy_fd)
{
	struct use use = { 0 };

	begin_use(&use);
	CHECK(write_one(&use));
	CHECK(write(busy_fd, "b", 1) == 1);
	while (!event_pending(use.client, 0) && write_one(&use))
		;
	lost_or_closed(use.client);
	lost_or_closed(use.server);
	end_use(&use);
	/* each of them arrived as it was sent */
	CHECK(use.written > 0);
}

static void
one_removal(void)
{
	int busy[2], user_status = -1, remover_status = -1;
	pid_t user, remover;

	CHECK(pipe(busy) == 0);
	add_device();
	user = fork();
	CHECK(user >= 0);
	if (user == 0) {
		progress();
		use_until_removed(busy[1]);
		_exit(0);
	}
	CHECK(close(busy[1]) == 0);
	bool is_busy = told(busy[0]);

	sleep_us(random_below(20000));
	/* whatever becomes of the child, the device goes */
	remover = remove_device();
	CHECK(waitpid(user, &user_status, 0) == user);
	CHECK(waitpid(remover, &remover_status, 0) == remover);
	CHECK(close(busy[0]) == 0);
	CHECK(is_busy);
	CHECK(WIFEXITED(user_status) && WEXITSTATUS(user_status) == 0);
	CHECK(remover_status == 0);
}

int
main(int argc, char *argv[])
{
	unsigned count = argument(argc, argv, 1);

	test_begin();
	/* writes to a device that goes are allowed to fail, and then say so */
	count_errors();
	find_interface();
	for (unsigned round = 0; round < count; round++) {
		progress();
		one_removal();
	}
	printf("%u removals under traffic\n", count);
	return test_end();
}
