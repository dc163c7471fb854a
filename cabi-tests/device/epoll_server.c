/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll_server.c -- a server of many clients in one thread: every file descriptor of the
 * library is non-blocking and in one epoll set
 *
 * Of the endpoint it is rpma_ep_get_fd(), of a connection rpma_conn_get_event_fd(), of its
 * CQ rpma_cq_get_fd(). epoll says which one has something; then one call takes it.
 *
 * Eight clients, each a process, send ten messages each; the server echoes them.
 */

#include "common.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLIENTS
#define CLIENTS	8
#endif
#define ROUNDS	10
#define LEN	512

struct client_conn {
	struct rpma_conn *conn;
	struct rpma_mr_local *mr;
	uint8_t *buf;		/* LEN bytes to receive into, LEN bytes to send from */
	unsigned received;
	bool established;
};

struct server {
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	struct client_conn client[CLIENTS];
	unsigned accepted, closed;
	int epoll;
};

/* what an epoll event is about: kind and number of the client */
enum kind { ENDPOINT, EVENT, COMPLETION };

static void
watch(struct server *server, int fd, enum kind kind, unsigned client)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = client << 2 | kind };
	int flags = fcntl(fd, F_GETFL);

	CHECK(flags >= 0);
	CHECK(fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
	CHECK(epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void
unwatch(struct server *server, int fd)
{
	CHECK(epoll_ctl(server->epoll, EPOLL_CTL_DEL, fd, NULL) == 0);
}

static void
take_request(struct server *server)
{
	struct rpma_conn_req *req = NULL;
	struct client_conn *client = &server->client[server->accepted];
	int fd = -1;

	CHECK(server->accepted < CLIENTS);
	OK(rpma_ep_next_conn_req(server->ep, NULL, &req));
	client->buf = memory(2 * LEN);
	client->mr = registered(server->peer, client->buf, 2 * LEN,
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND);
	OK(rpma_conn_req_recv(req, client->mr, 0, LEN, client));
	OK(rpma_conn_req_connect(&req, NULL, &client->conn));

	OK(rpma_conn_get_event_fd(client->conn, &fd));
	watch(server, fd, EVENT, server->accepted);
	OK(rpma_cq_get_fd(cq_of(client->conn), &fd));
	watch(server, fd, COMPLETION, server->accepted);
	server->accepted++;
}

static void
close_client(struct server *server, struct client_conn *client)
{
	int fd = -1;

	CHECK(client->received == ROUNDS);
	OK(rpma_conn_get_event_fd(client->conn, &fd));
	unwatch(server, fd);
	OK(rpma_cq_get_fd(cq_of(client->conn), &fd));
	unwatch(server, fd);
	OK(rpma_conn_disconnect(client->conn));
	OK(rpma_conn_delete(&client->conn));
	OK(rpma_mr_dereg(&client->mr));
	server->closed++;
}

static void
take_event(struct server *server, struct client_conn *client)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	OK(rpma_conn_next_event(client->conn, &event));
	if (!client->established) {
		CHECK(event == RPMA_CONN_ESTABLISHED);
		client->established = true;
		return;
	}
	CHECK(event == RPMA_CONN_CLOSED);
	close_client(server, client);
}

static void
take_completions(struct client_conn *client)
{
	struct rpma_cq *cq = cq_of(client->conn);
	struct ibv_wc wc;
	int ret;

	OK(rpma_cq_wait(cq));
	/* non-blocking: where nothing has come the wait says so */
	ret = rpma_cq_wait(cq);
	CHECK(ret == 0 || ret == RPMA_E_NO_COMPLETION);

	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == 0) {
		/* when it has all answers the client disconnects: the receive is flushed */
		if (client->received == ROUNDS)
			continue;
		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(wc.qp_num == qp_num_of(client->conn));
		CHECK(wc.opcode == IBV_WC_RECV);
		CHECK(wc.wr_id == (uintptr_t)client && wc.byte_len == LEN);

		client->received++;
		memcpy(client->buf + LEN, client->buf, LEN);
		OK(rpma_recv(client->conn, client->mr, 0, LEN, client));
		OK(rpma_send(client->conn, client->mr, LEN, LEN, RPMA_F_COMPLETION_ON_ERROR,
				NULL));
	}
	CHECK(ret == RPMA_E_NO_COMPLETION);
}

static void
server(const char *address, const char *port)
{
	struct server server = { .epoll = epoll_create1(EPOLL_CLOEXEC) };
	int fd = -1;

	CHECK(server.epoll >= 0);
	server.peer = peer_of_local(address);
	server.ep = listening(server.peer, address, port);
	OK(rpma_ep_get_fd(server.ep, &fd));
	watch(&server, fd, ENDPOINT, 0);

	while (server.closed < CLIENTS) {
		struct epoll_event event;

		CHECK(epoll_wait(server.epoll, &event, 1, WAIT_MS) == 1);
		struct client_conn *client = &server.client[event.data.u32 >> 2];
		switch (event.data.u32 & 3) {
		case ENDPOINT:
			take_request(&server);
			break;
		case EVENT:
			take_event(&server, client);
			break;
		case COMPLETION:
			take_completions(client);
			break;
		}
	}

	OK(rpma_ep_shutdown(&server.ep));
	OK(rpma_peer_delete(&server.peer));
	CHECK(close(server.epoll) == 0);
}

static void
one_client(const char *address, const char *port, unsigned n)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(2 * LEN);
	struct rpma_mr_local *mr = registered(peer, buf, 2 * LEN,
			RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND);
	struct rpma_conn_cfg *cfg = NULL;

	/* all come at once: give the server time for the others */
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_timeout(cfg, WAIT_MS));
	OK(rpma_conn_cfg_set_rcq_size(cfg, 2));
	struct rpma_conn *conn = connected(peer, address, port, cfg, NULL);
	OK(rpma_conn_cfg_delete(&cfg));

	for (unsigned i = 0; i < ROUNDS; i++) {
		fill(buf + LEN, LEN, n * ROUNDS + i);
		OK(rpma_recv(conn, mr, 0, LEN, buf));
		OK(rpma_send(conn, mr, LEN, LEN, RPMA_F_COMPLETION_ALWAYS, conn));
		expect_completion(cq_of(conn), conn, IBV_WC_SEND, conn);
		expect_received(rcq_of(conn), conn, buf, LEN);
		check_filled(buf, LEN, n * ROUNDS + i);
	}

	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	pid_t pid[CLIENTS];
	unsigned failed = 0;

	for (unsigned i = 0; i < CLIENTS; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (pid[i] == 0) {
			alarm(PROGRAM_SECONDS);
			one_client(address, port, i);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		int status = -1;

		CHECK(waitpid(pid[i], &status, 0) == pid[i]);
		if (status != 0)
			failed++;
	}
	CHECK(failed == 0);
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
