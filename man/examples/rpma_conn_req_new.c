/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
int connect_to(struct rpma_peer *peer, const char *address,
		const char *port, struct rpma_conn **conn)
{
	struct rpma_conn_req *req;
	enum rpma_conn_event event;
	int ret;

	ret = rpma_conn_req_new(peer, address, port, NULL, &req);
	if (ret != 0)
		return ret;
	ret = rpma_conn_req_connect(&req, NULL, conn);
	if (ret != 0)
		return ret;
	ret = rpma_conn_next_event(*conn, &event);	/* blocks */
	if (ret == 0 && event == RPMA_CONN_ESTABLISHED)
		return 0;
	rpma_conn_delete(conn);
	return ret != 0 ? ret : RPMA_E_UNKNOWN;
}
