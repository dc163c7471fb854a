/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* Accepts the next client and tells it about a region. */
int accept_client(struct rpma_ep *ep, struct rpma_mr_local *mr,
		struct rpma_conn **conn)
{
	char descriptor[UINT8_MAX];
	struct rpma_conn_private_data pdata = {.ptr = descriptor};
	struct rpma_conn_req *req;
	size_t size;
	int ret;

	ret = rpma_mr_get_descriptor_size(mr, &size);
	if (ret != 0)
		return ret;
	ret = rpma_mr_get_descriptor(mr, descriptor);	/* 21 bytes */
	if (ret != 0)
		return ret;
	pdata.len = (uint8_t)size;
	ret = rpma_ep_next_conn_req(ep, NULL, &req);	/* blocks */
	if (ret != 0)
		return ret;
	/* Not wanted? rpma_conn_req_delete(&req) rejects it. */
	return rpma_conn_req_connect(&req, &pdata, conn);
}
