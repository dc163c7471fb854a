/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <librpma.h>

/* example */
/* At the receiving side; imm is the number of a slot. */
int written_slot(const struct ibv_wc *wc, uint32_t *slot)
{
	if (wc->status != IBV_WC_SUCCESS ||
	    wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM)
		return -1;
	*slot = ntohl(wc->imm_data);
	return 0;
}
