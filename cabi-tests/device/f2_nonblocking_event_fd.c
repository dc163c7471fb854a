/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f2_nonblocking_event_fd.c -- with O_NONBLOCK on the descriptors of the endpoint and of the
 * connection, nothing pending is NO_EVENT, which is no failure
 *
 * Fault F2: it is reported as a failure of the provider, with an ERROR line.
 */

#include "common.h"

#include <fcntl.h>

static void
set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	CHECK(flags >= 0);
	CHECK(fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}

static void
no_request(struct rpma_ep *ep)
{
	struct rpma_conn_req *req = NULL;
	int ret = rpma_ep_next_conn_req(ep, NULL, &req);

	CHECK(req == NULL);
	if (ret != RPMA_E_NO_EVENT)
		fault("F2", "rpma_ep_next_conn_req() with nothing pending returned %s, "
				"%d ERROR lines", rpma_err_2str(ret), errors_logged());
	CHECK(errors_logged() == 0);
}

static void
no_event(struct rpma_conn *conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret = rpma_conn_next_event(conn, &event);

	CHECK(event == RPMA_CONN_UNDEFINED);
	if (ret != RPMA_E_NO_EVENT)
		fault("F2", "rpma_conn_next_event() with nothing pending returned %s, "
				"%d ERROR lines", rpma_err_2str(ret), errors_logged());
	CHECK(errors_logged() == 0);
}

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_conn_req *req = NULL;
	int fd = -1;

	pair_listen(&pair);
	count_errors();
	OK(rpma_ep_get_fd(pair.ep, &fd));
	set_nonblocking(fd);
	no_request(pair.ep);

	OK(rpma_conn_req_new(pair.peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair.client));
	OK(rpma_conn_get_event_fd(pair.client, &fd));
	set_nonblocking(fd);
	no_event(pair.client);

	/* what is pending is taken as ever, once */
	req = next_request(pair.ep, NULL);
	no_request(pair.ep);
	OK(rpma_conn_req_connect(&req, NULL, &pair.server));
	OK(rpma_conn_get_event_fd(pair.server, &fd));
	set_nonblocking(fd);
	no_event(pair.server);
	expect_event(pair.client, RPMA_CONN_ESTABLISHED);
	no_event(pair.client);
	expect_event(pair.server, RPMA_CONN_ESTABLISHED);
	no_event(pair.server);

	pair_disconnect(&pair);
	pair_delete(&pair);
	CHECK(errors_logged() == 0);
	return test_end();
}
