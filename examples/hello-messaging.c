/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: a client says its name, the server says hello to it. */
#define _GNU_SOURCE
#include "common.h"

#define MESSAGE_SIZE	64

static const char recv_operation[] = "rpma_recv";

/* The first two members are registered as one region: one message to send, one to receive. */
struct messenger {
	char sent[MESSAGE_SIZE];
	char received[MESSAGE_SIZE];
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
};

static int register_messages(struct messenger *messenger)
{
	int ret = rpma_mr_reg(messenger->peer, messenger, 2 * MESSAGE_SIZE,
			RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &messenger->mr);

	return ret == 0 ? 0 : failed("rpma_mr_reg", ret);
}

/* Post the receive before the connection is established, so that no message comes too early. */
static int connect_ready_to_receive(struct messenger *messenger)
{
	int ret = rpma_conn_req_recv(messenger->req, messenger->mr, MESSAGE_SIZE, MESSAGE_SIZE,
			recv_operation);

	if (ret != 0)
		return failed("rpma_conn_req_recv", ret);
	ret = rpma_conn_req_connect(&messenger->req, NULL, &messenger->conn);
	if (ret != 0)
		return failed("rpma_conn_req_connect", ret);
	return wait_event(messenger->conn, RPMA_CONN_ESTABLISHED);
}

/*
 * A send that succeeds needs no completion: the other side answers or disconnects next,
 * which shows that the message arrived.
 */
static int send_message(struct messenger *messenger)
{
	static const char operation[] = "rpma_send";
	int ret = rpma_send(messenger->conn, messenger->mr, 0, MESSAGE_SIZE,
			RPMA_F_COMPLETION_ON_ERROR, operation);

	return ret == 0 ? 0 : failed(operation, ret);
}

static int receive_message(struct messenger *messenger)
{
	if (wait_completion(messenger->conn, recv_operation) != 0)
		return -1;
	messenger->received[MESSAGE_SIZE - 1] = '\0';
	printf("received: %s\n", messenger->received);
	return 0;
}

static int serve(struct messenger *messenger, const char *address, const char *port)
{
	if (create_peer(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &messenger->peer) != 0 ||
	    register_messages(messenger) != 0 ||
	    wait_request(messenger->peer, address, port, &messenger->ep, &messenger->req) != 0 ||
	    connect_ready_to_receive(messenger) != 0 || receive_message(messenger) != 0)
		return -1;
	snprintf(messenger->sent, MESSAGE_SIZE, "Hello, %.40s!", messenger->received);
	if (send_message(messenger) != 0)
		return -1;
	return wait_disconnect(messenger->conn);
}

static int greet(struct messenger *messenger, const char *address, const char *port,
		const char *name)
{
	int ret;

	if (create_peer(address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &messenger->peer) != 0 ||
	    register_messages(messenger) != 0)
		return -1;
	ret = rpma_conn_req_new(messenger->peer, address, port, NULL, &messenger->req);
	if (ret != 0)
		return failed("rpma_conn_req_new", ret);
	snprintf(messenger->sent, MESSAGE_SIZE, "%s", name);
	if (connect_ready_to_receive(messenger) != 0 ||
	    send_message(messenger) != 0 ||
	    receive_message(messenger) != 0)
		return -1;
	return disconnect(messenger->conn);
}

/* Delete the connection and the request before the memory that they use, and the peer last. */
static void release(struct messenger *messenger)
{
	rpma_conn_delete(&messenger->conn);
	rpma_conn_req_delete(&messenger->req);
	rpma_ep_shutdown(&messenger->ep);
	rpma_mr_dereg(&messenger->mr);
	rpma_peer_delete(&messenger->peer);
}

int main(int argc, char *argv[])
{
	struct messenger messenger = {0};
	int result;

	setvbuf(stdout, NULL, _IOLBF, 0);
	print_library();
	if (argc == 4 && strcmp(argv[1], "server") == 0) {
		result = serve(&messenger, argv[2], argv[3]);
	} else if (argc == 5 && strcmp(argv[1], "client") == 0) {
		result = greet(&messenger, argv[2], argv[3], argv[4]);
	} else {
		fprintf(stderr, "usage: %s server ADDRESS PORT\n"
				"       %s client ADDRESS PORT NAME\n", argv[0], argv[0]);
		return 2;
	}
	release(&messenger);
	return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
