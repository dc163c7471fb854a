/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* Ends a connection. The other side has to disconnect, too. */
int end(struct rpma_conn **conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret, deleted;

	ret = rpma_conn_disconnect(*conn);
	while (ret == 0 && event != RPMA_CONN_CLOSED &&
	       event != RPMA_CONN_LOST)
		ret = rpma_conn_next_event(*conn, &event);	/* blocks */
	deleted = rpma_conn_delete(conn);
	return ret != 0 ? ret : deleted;
}
