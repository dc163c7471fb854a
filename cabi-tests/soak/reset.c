/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reset.c -- the other host is gone from one moment to the next: who writes to it is told so, frees
 * everything, and connects again when the host is back
 *
 *	reset server ADDRESS PORT ROUNDS
 *	reset client ADDRESS PORT wait|leave
 *
 * The server writes into the client's memory. A client that waits does so until its host is reset; one
 * that leaves disconnects after a while. Before each round the server says "ready", with traffic
 * running "busy", and in the end how it got to know.
 *
 * How it gets to know is up to the program. What is not acknowledged is sent again every
 * 4.096 us * 2^timeout, retry_count times, and then the write ends with IBV_WC_RETRY_EXC_ERR. The
 * kernel's CM chooses the timeout, with RoCE on Linux 6.1 it is 19: 2.1 s. librpma, the C library as
 * well as this one, asks for seven retries, the most there are. But soft-RoCE takes seven for "without
 * end" and does not count it down: nothing came in 120 s and 53 retries, where with six the error came
 * after 15 s. No setting changes that: rpma_conn_cfg_set_timeout() is for resolving addresses and
 * routes. So here the program's own patience ends, and it disconnects: what was posted is flushed at
 * once, and everything can be deleted. Who waits for CLOSED gets it after 69 s, when the kernel has
 * repeated its request to disconnect 15 times, every 4.3 s.
 */

#include "soak.h"

#include <poll.h>
#include <unistd.h>

#define SIZE		4096
#define SILENCE_MS	10000	/* what the program does not wait longer for */
#define BOUND_MS	60000
#define LEAVE_MS	500

static struct rpma_peer *peer;
static struct rpma_mr_local *mr;

/* what ended the connection, in words */
static const char *
write_to_the_end(struct rpma_conn *conn, struct rpma_mr_remote *remote)
{
	struct rpma_cq *cq = cq_of(conn);
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	unsigned long written = 0;
	bool patient = true;

	OK(rpma_cq_get_fd(cq, &fds[0].fd));
	OK(rpma_conn_get_event_fd(conn, &fds[1].fd));
	for (;;) {
		struct ibv_wc wc;
		int ret = rpma_write(conn, remote, 0, mr, 0, SIZE, RPMA_F_COMPLETION_ALWAYS,
				NULL);

		if (ret != 0)
			return rpma_err_2str(ret);
		while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION) {
			alarm(BOUND_MS / 1000 + 10);
			int ready = poll(fds, 2, patient ? SILENCE_MS : BOUND_MS);

			CHECK(ready > 0 || (ready == 0 && patient));
			if (ready == 0) {
				printf("silence: disconnecting\n");
				patient = false;
				OK(rpma_conn_disconnect(conn));
				continue;
			}
			if (fds[1].revents & POLLIN) {
				OK(rpma_conn_next_event(conn, &event));
				CHECK(event == RPMA_CONN_CLOSED || event == RPMA_CONN_LOST);
				return rpma_utils_conn_event_2str(event);
			}
			OK(rpma_cq_wait(cq));
		}
		RETURNS(ret, 0);
		if (wc.status != IBV_WC_SUCCESS)
			return ibv_wc_status_str(wc.status);
		if (++written == 20)
			printf("busy\n");
	}
}

static void
serve(struct rpma_ep *ep)
{
	struct rpma_conn *conn;
	struct rpma_mr_remote *remote;
	struct rpma_conn_private_data data;
	struct rpma_conn_req *req = NULL;
	const char *why;

	/* a host needs a while to come back */
	alarm(BOUND_MS / 1000 + 10);
	OK(rpma_ep_next_conn_req(ep, NULL, &req));
	OK(rpma_conn_req_get_private_data(req, &data));
	CHECK(data.len >= MR_DESCRIPTOR_SIZE);
	OK(rpma_mr_remote_from_descriptor(data.ptr, MR_DESCRIPTOR_SIZE, &remote));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);

	why = write_to_the_end(conn, remote);
	long long began = now_ms();
	int ret = rpma_conn_disconnect(conn);

	CHECK(ret == 0 || ret == RPMA_E_PROVIDER);
	OK(rpma_conn_delete(&conn));
	OK(rpma_mr_remote_delete(&remote));
	printf("ended: %s; deleted in %lld ms\n", why, now_ms() - began);
}

static void
server(const char *address, const char *port, unsigned rounds)
{
	struct rpma_ep *ep;
	struct holdings before, after;
	/* librdmacm and malloc keep something of each way that a connection can end */
	const unsigned warm = 3;

	peer = peer_of_local(address);
	mr = registered(peer, memory(SIZE), SIZE, RPMA_MR_USAGE_WRITE_SRC);
	OK(rpma_ep_listen(peer, address, port, &ep));
	for (unsigned round = 0; round < rounds; round++) {
		/* the peer's buffer for flushing comes with its first connection */
		if (round == 1 || round == warm)
			before = holdings();
		printf("ready\n");
		serve(ep);
	}
	after = holdings();
	if (rounds <= warm) {
		before.heap = after.heap;
		before.resident = after.resident;
	}
	check_same_holdings(&before, &after);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port, bool waits)
{
	struct rpma_conn *conn;
	uint8_t descriptor[MR_DESCRIPTOR_SIZE];
	struct rpma_conn_private_data data = { descriptor, sizeof(descriptor) };

	peer = peer_of_remote(address);
	mr = registered(peer, memory(SIZE), SIZE, RPMA_MR_USAGE_WRITE_DST);
	OK(rpma_mr_get_descriptor(mr, descriptor));
	conn = connected(peer, address, port, NULL, &data);
	if (waits) {
		alarm(0);
		pause();
	}
	sleep_us(LEAVE_MS * 1000);
	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	if (argc != 5)
		return 2;
	test_begin();
	count_errors();
	if (strcmp(argv[1], "server") == 0)
		server(argv[2], argv[3], argument(argc, argv, 4));
	else
		client(argv[2], argv[3], strcmp(argv[4], "wait") == 0);
	return test_end();
}
