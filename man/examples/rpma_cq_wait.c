/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* Takes completions as they arrive, until one is an error. */
int serve_completions(struct rpma_cq *cq,
		void (*done)(const struct ibv_wc *wc))
{
	struct ibv_wc wc[16];
	int ret;

	for (;;) {
		int got = 0;

		/* Drain the CQ first, or the wait may never end. */
		while ((ret = rpma_cq_get_wc(cq, 16, wc, &got)) == 0) {
			for (int i = 0; i < got; i++) {
				if (wc[i].status != IBV_WC_SUCCESS)
					return -1;
				done(&wc[i]);
			}
		}
		if (ret != RPMA_E_NO_COMPLETION)
			return ret;
		/* Then wait. RPMA_E_NO_COMPLETION: a signal came. */
		ret = rpma_cq_wait(cq);
		if (ret != 0 && ret != RPMA_E_NO_COMPLETION)
			return ret;
	}
}
