/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <librpma.h>

/* example */
/* Waits for an event; after a time limit: RPMA_E_NO_EVENT. */
int next_event(struct rpma_conn *conn, int timeout_ms,
		enum rpma_conn_event *event)
{
	struct pollfd pollfd = {.events = POLLIN};
	int ret;

	ret = rpma_conn_get_event_fd(conn, &pollfd.fd);
	if (ret != 0)
		return ret;
	fcntl(pollfd.fd, F_SETFL,
			fcntl(pollfd.fd, F_GETFL) | O_NONBLOCK);
	if (poll(&pollfd, 1, timeout_ms) < 0 && errno != EINTR)
		return RPMA_E_UNKNOWN;
	ret = rpma_conn_next_event(conn, event);
	if (ret == 0)
		printf("%s\n", rpma_utils_conn_event_2str(*event));
	return ret;
}
