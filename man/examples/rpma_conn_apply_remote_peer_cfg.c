/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* The server has sent the descriptor of its peer configuration. */
int trust_server(struct rpma_conn *conn, const void *descriptor,
		size_t size)
{
	struct rpma_peer_cfg *pcfg;
	int ret;

	ret = rpma_peer_cfg_from_descriptor(descriptor, size, &pcfg);
	if (ret != 0)
		return ret;
	ret = rpma_conn_apply_remote_peer_cfg(conn, pcfg);
	rpma_peer_cfg_delete(&pcfg);
	return ret;
}
