/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* A shared receive queue, and a configuration that uses it. */
int make_srq(struct rpma_peer *peer, struct rpma_srq **srq,
		struct rpma_conn_cfg **conn_cfg)
{
	struct rpma_srq_cfg *cfg;
	int ret;

	ret = rpma_srq_cfg_new(&cfg);
	if (ret != 0)
		return ret;
	rpma_srq_cfg_set_rq_size(cfg, 1000);
	rpma_srq_cfg_set_rcq_size(cfg, 1000);
	ret = rpma_srq_new(peer, cfg, srq);
	rpma_srq_cfg_delete(&cfg);
	if (ret != 0)
		return ret;
	ret = rpma_conn_cfg_new(conn_cfg);
	if (ret != 0) {
		rpma_srq_delete(srq);
		return ret;
	}
	return rpma_conn_cfg_set_srq(*conn_cfg, *srq);
}
