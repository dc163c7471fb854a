/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided reading: a client reads a text from the memory of the server, which only waits. */
#define _GNU_SOURCE
#include "common.h"

#define TEXT_MAX	4096

struct side {
	char text[TEXT_MAX];
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
};

static int register_text(struct side *side, size_t size, int usage)
{
	int ret = rpma_mr_reg(side->peer, side->text, size, usage, &side->mr);

	return ret == 0 ? 0 : failed("rpma_mr_reg", ret);
}

static int establish(struct side *side, const struct rpma_conn_private_data *pdata)
{
	int ret = rpma_conn_req_connect(&side->req, pdata, &side->conn);

	if (ret != 0)
		return failed("rpma_conn_req_connect", ret);
	return wait_event(side->conn, RPMA_CONN_ESTABLISHED);
}

/* Send the client the memory's descriptor as private data of the connection. */
static int offer_text(struct side *side)
{
	uint8_t descriptor[UINT8_MAX];
	struct rpma_conn_private_data pdata = {.ptr = descriptor};
	size_t size;
	int ret = rpma_mr_get_descriptor_size(side->mr, &size);

	if (ret == 0 && size > sizeof(descriptor))
		ret = RPMA_E_NOSUPP;
	if (ret != 0)
		return failed("rpma_mr_get_descriptor_size", ret);
	ret = rpma_mr_get_descriptor(side->mr, descriptor);
	if (ret != 0)
		return failed("rpma_mr_get_descriptor", ret);
	pdata.len = (uint8_t)size;
	return establish(side, &pdata);
}

static int serve(struct side *side, const char *address, const char *port, const char *text)
{
	size_t size = (size_t)snprintf(side->text, TEXT_MAX, "%s", text) + 1;

	if (create_peer(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &side->peer) != 0 ||
	    register_text(side, size < TEXT_MAX ? size : TEXT_MAX, RPMA_MR_USAGE_READ_SRC) != 0 ||
	    wait_request(side->peer, address, port, &side->ep, &side->req) != 0 ||
	    offer_text(side) != 0)
		return -1;
	return wait_disconnect(side->conn);
}

/* How much text is there? */
static int take_offer(struct side *side, size_t *size)
{
	struct rpma_conn_private_data pdata;
	int ret = rpma_conn_get_private_data(side->conn, &pdata);

	if (ret != 0)
		return failed("rpma_conn_get_private_data", ret);
	ret = rpma_mr_remote_from_descriptor(pdata.ptr, pdata.len, &side->remote);
	if (ret != 0)
		return failed("rpma_mr_remote_from_descriptor", ret);
	ret = rpma_mr_remote_get_size(side->remote, size);
	if (ret != 0)
		return failed("rpma_mr_remote_get_size", ret);
	if (*size <= TEXT_MAX)
		return 0;
	fputs("the text is too long\n", stderr);
	return -1;
}

static int read_text(struct side *side, size_t size)
{
	static const char operation[] = "rpma_read";
	int ret = rpma_read(side->conn, side->mr, 0, side->remote, 0, size,
			RPMA_F_COMPLETION_ALWAYS, operation);

	if (ret != 0)
		return failed(operation, ret);
	if (wait_completion(side->conn, operation) != 0)
		return -1;
	side->text[TEXT_MAX - 1] = '\0';
	printf("read %zu bytes: %s\n", size, side->text);
	return 0;
}

static int fetch(struct side *side, const char *address, const char *port)
{
	size_t size;
	int ret;

	if (create_peer(address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &side->peer) != 0 ||
	    register_text(side, TEXT_MAX, RPMA_MR_USAGE_READ_DST) != 0)
		return -1;
	ret = rpma_conn_req_new(side->peer, address, port, NULL, &side->req);
	if (ret != 0)
		return failed("rpma_conn_req_new", ret);
	if (establish(side, NULL) != 0 || take_offer(side, &size) != 0 ||
	    read_text(side, size) != 0)
		return -1;
	return disconnect(side->conn);
}

/* Delete the connection and the request before the memory that they use, and the peer last. */
static void release(struct side *side)
{
	rpma_mr_remote_delete(&side->remote);
	rpma_conn_delete(&side->conn);
	rpma_conn_req_delete(&side->req);
	rpma_ep_shutdown(&side->ep);
	rpma_mr_dereg(&side->mr);
	rpma_peer_delete(&side->peer);
}

int main(int argc, char *argv[])
{
	struct side side = {0};
	int result;

	setvbuf(stdout, NULL, _IOLBF, 0);
	print_library();
	if (argc == 5 && strcmp(argv[1], "server") == 0) {
		result = serve(&side, argv[2], argv[3], argv[4]);
	} else if (argc == 4 && strcmp(argv[1], "client") == 0) {
		result = fetch(&side, argv[2], argv[3]);
	} else {
		fprintf(stderr, "usage: %s server ADDRESS PORT TEXT\n"
				"       %s client ADDRESS PORT\n", argv[0], argv[0]);
		return 2;
	}
	release(&side);
	return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
