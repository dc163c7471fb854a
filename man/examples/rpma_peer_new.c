/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* Makes a peer on the device that has this local address. */
int open_peer(const char *address, struct rpma_peer **peer)
{
	struct ibv_context *device;
	int ret;

	ret = rpma_utils_get_ibv_context(address,
			RPMA_UTIL_IBV_CONTEXT_LOCAL, &device);
	if (ret != 0)
		return ret;
	return rpma_peer_new(device, peer);
}
