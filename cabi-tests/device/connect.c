/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect.c -- a connection from its first call to its last, both sides one after the
 * other in one thread, with every call spelled out
 */

#include "common.h"

int
main(void)
{
	test_begin();
	const char *address = test_address();
	const char *port = test_port(0);

	/* the device that has the address, and a peer on it for both sides */
	struct ibv_context *device = NULL;
	struct rpma_peer *peer = NULL;
	OK(rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	OK(rpma_peer_new(device, &peer));

	/* server: listen */
	struct rpma_ep *ep = NULL;
	int ep_fd = -1;
	OK(rpma_ep_listen(peer, address, port, &ep));
	OK(rpma_ep_get_fd(ep, &ep_fd));
	CHECK(!readable(ep_fd, 0));

	/* client: ask for a connection; the request is used up by that */
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *client = NULL;
	OK(rpma_conn_req_new(peer, address, port, NULL, &req));
	CHECK(req != NULL);
	OK(rpma_conn_req_connect(&req, NULL, &client));
	CHECK(req == NULL && client != NULL);

	/* server: take the request and accept it */
	struct rpma_conn *server = NULL;
	CHECK(readable(ep_fd, WAIT_MS));
	OK(rpma_ep_next_conn_req(ep, NULL, &req));
	CHECK(req != NULL);
	OK(rpma_conn_req_connect(&req, NULL, &server));
	CHECK(req == NULL && server != NULL);

	/* both: established; the server is told when the client has taken its event */
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	CHECK(event_pending(client, WAIT_MS));
	OK(rpma_conn_next_event(client, &event));
	CHECK(event == RPMA_CONN_ESTABLISHED);
	CHECK(event_pending(server, WAIT_MS));
	OK(rpma_conn_next_event(server, &event));
	CHECK(event == RPMA_CONN_ESTABLISHED);

	/* what a connection has by default: one CQ, on a channel of its own */
	struct rpma_cq *cq = NULL, *rcq = (void *)&cq;
	uint32_t client_qp = 0, server_qp = 0;
	bool is_rcq = false;
	int fd = -1;
	OK(rpma_conn_get_qp_num(client, &client_qp));
	OK(rpma_conn_get_qp_num(server, &server_qp));
	CHECK(client_qp != 0 && server_qp != 0 && client_qp != server_qp);
	OK(rpma_conn_get_cq(client, &cq));
	CHECK(cq != NULL);
	OK(rpma_conn_get_rcq(client, &rcq));
	CHECK(rcq == NULL);
	OK(rpma_cq_get_fd(cq, &fd));
	CHECK(fd >= 0);
	RETURNS(rpma_conn_get_compl_fd(client, &fd), RPMA_E_NOT_SHARED_CHNL);
	RETURNS(rpma_conn_wait(client, 0, &cq, &is_rcq), RPMA_E_NOT_SHARED_CHNL);
	CHECK(!event_pending(client, 0) && !event_pending(server, 0));

	/* client: end it; server: learn of that and end it too; client: see that */
	OK(rpma_conn_disconnect(client));
	CHECK(event_pending(server, WAIT_MS));
	OK(rpma_conn_next_event(server, &event));
	CHECK(event == RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(server));
	CHECK(event_pending(client, WAIT_MS));
	OK(rpma_conn_next_event(client, &event));
	CHECK(event == RPMA_CONN_CLOSED);

	/* every handle is NULL when it is gone, and a second delete does nothing */
	OK(rpma_conn_delete(&client));
	OK(rpma_conn_delete(&server));
	CHECK(client == NULL && server == NULL);
	OK(rpma_conn_delete(&client));
	OK(rpma_ep_shutdown(&ep));
	CHECK(ep == NULL);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_peer_delete(&peer));
	CHECK(peer == NULL);
	OK(rpma_peer_delete(&peer));
	return test_end();
}
