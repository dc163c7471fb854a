/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every one of these programs does: find the device, wait for events and
 * completions with a limit, say what went wrong. Functions return 0, or -1 after they
 * have printed why.
 */
#ifndef COMMON_H
#define COMMON_H

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librpma.h>

#define TIMEOUT_MS		10000	/* for an answer of the other program */
#define CLIENT_TIMEOUT_MS	60000	/* for a client that a person starts */

/* Say which call failed and why. */
static inline int failed(const char *call, int ret)
{
	int provider_errno = errno;

	fprintf(stderr, "%s: %s", call, rpma_err_2str(ret));
	if (ret == RPMA_E_PROVIDER)
		fprintf(stderr, " (%s)", strerror(provider_errno));
	fputc('\n', stderr);
	return -1;
}

/* Which file do the rpma_ functions come from? */
static inline void print_library(void)
{
	void *function = dlsym(RTLD_DEFAULT, "rpma_peer_new");
	char *path = NULL;
	Dl_info info;

	if (function != NULL && dladdr(function, &info) != 0)
		path = realpath(info.dli_fname, NULL);
	printf("library: %s\n", path != NULL ? path : "unknown");
	free(path);
}

/* The peer on the device that has this address (LOCAL) or leads to it (REMOTE). */
static inline int create_peer(const char *address, enum rpma_util_ibv_context_type type,
		struct rpma_peer **peer)
{
	struct ibv_context *context;
	int ret = rpma_utils_get_ibv_context(address, type, &context);

	if (ret != 0)
		return failed("rpma_utils_get_ibv_context", ret);
	ret = rpma_peer_new(context, peer);
	return ret == 0 ? 0 : failed("rpma_peer_new", ret);
}

static inline int wait_readable(int fd, const char *what, int timeout_ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	int ret = poll(&pollfd, 1, timeout_ms);

	if (ret < 0)
		perror("poll");
	if (ret == 0)
		fprintf(stderr, "no %s within %d ms\n", what, timeout_ms);
	return ret == 1 ? 0 : -1;
}

/* Wait for the next event of a connection. It must be the wanted one. */
static inline int wait_event(struct rpma_conn *conn, enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;
	int fd;
	int ret = rpma_conn_get_event_fd(conn, &fd);

	if (ret != 0)
		return failed("rpma_conn_get_event_fd", ret);
	if (wait_readable(fd, rpma_utils_conn_event_2str(wanted), TIMEOUT_MS) != 0)
		return -1;
	ret = rpma_conn_next_event(conn, &event);
	if (ret != 0)
		return failed("rpma_conn_next_event", ret);
	if (event == wanted)
		return 0;
	fprintf(stderr, "expected \"%s\", got \"%s\"\n", rpma_utils_conn_event_2str(wanted),
			rpma_utils_conn_event_2str(event));
	return -1;
}

static inline int check_completion(const struct ibv_wc *wc, const void *operation)
{
	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "%s: %s\n", (const char *)(uintptr_t)wc->wr_id,
				ibv_wc_status_str(wc->status));
		return -1;
	}
	if (wc->wr_id != (uintptr_t)operation) {
		fprintf(stderr, "%s: expected the completion of %s\n",
				(const char *)(uintptr_t)wc->wr_id, (const char *)operation);
		return -1;
	}
	return 0;
}

/* Wait until there may be a completion. An event of the connection means that it has ended. */
static inline int wait_cq_or_end(struct rpma_conn *conn, struct rpma_cq *cq, const char *operation)
{
	struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};
	int ret = rpma_cq_get_fd(cq, &fds[0].fd);

	if (ret == 0)
		ret = rpma_conn_get_event_fd(conn, &fds[1].fd);
	if (ret != 0)
		return failed("getting a file descriptor", ret);
	ret = poll(fds, 2, TIMEOUT_MS);
	if (ret > 0 && fds[0].revents != 0)
		return 0;
	if (ret < 0)
		perror("poll");
	else
		fprintf(stderr, "%s: %s\n", operation, ret == 0 ? "no completion in time" :
				"the connection was closed");
	return -1;
}

/*
 * Wait for the next completion. It must be that of this operation. These programs give
 * each operation its name as op_context, and compare the names.
 *
 * rpma_cq_wait() is edge-triggered: it tells only of completions that arrive after its
 * last call. So take completions until there are none, and only then wait. If you wait
 * while a completion is still in the CQ, the wait may never end.
 */
static inline int wait_completion(struct rpma_conn *conn, const char *operation)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	int ret = rpma_conn_get_cq(conn, &cq);

	if (ret != 0)
		return failed("rpma_conn_get_cq", ret);
	for (;;) {
		ret = rpma_cq_get_wc(cq, 1, &wc, NULL);
		if (ret == 0)
			return check_completion(&wc, operation);
		if (ret != RPMA_E_NO_COMPLETION)
			return failed("rpma_cq_get_wc", ret);
		if (wait_cq_or_end(conn, cq, operation) != 0)
			return -1;
		ret = rpma_cq_wait(cq);
		if (ret != 0 && ret != RPMA_E_NO_COMPLETION)
			return failed("rpma_cq_wait", ret);
	}
}

/* For a server of one client: listen, and wait for the client's request. */
static inline int wait_request(struct rpma_peer *peer, const char *address, const char *port,
		struct rpma_ep **ep, struct rpma_conn_req **req)
{
	int fd;
	int ret = rpma_ep_listen(peer, address, port, ep);

	if (ret != 0)
		return failed("rpma_ep_listen", ret);
	ret = rpma_ep_get_fd(*ep, &fd);
	if (ret != 0)
		return failed("rpma_ep_get_fd", ret);
	printf("listening on %s port %s\n", address, port);
	if (wait_readable(fd, "client", CLIENT_TIMEOUT_MS) != 0)
		return -1;
	ret = rpma_ep_next_conn_req(*ep, NULL, req);
	return ret == 0 ? 0 : failed("rpma_ep_next_conn_req", ret);
}

/* The side that ends the connection disconnects and waits; the other side does the opposite. */
static inline int disconnect(struct rpma_conn *conn)
{
	int ret = rpma_conn_disconnect(conn);

	if (ret != 0)
		return failed("rpma_conn_disconnect", ret);
	return wait_event(conn, RPMA_CONN_CLOSED);
}

static inline int wait_disconnect(struct rpma_conn *conn)
{
	int ret;

	if (wait_event(conn, RPMA_CONN_CLOSED) != 0)
		return -1;
	ret = rpma_conn_disconnect(conn);
	return ret == 0 ? 0 : failed("rpma_conn_disconnect", ret);
}

#endif
