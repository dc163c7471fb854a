/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* One thread serves both CQs, until done() says to stop. */
int serve_connection(struct rpma_conn *conn,
		bool (*done)(const struct ibv_wc *wc, bool is_rcq))
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	bool is_rcq;
	int ret;

	for (;;) {
		ret = rpma_conn_wait(conn, RPMA_W_WAIT_FOR_COMPLETION,
				&cq, &is_rcq);
		if (ret == RPMA_E_NO_COMPLETION)	/* a signal came */
			continue;
		if (ret != 0)
			return ret;
		while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == 0)
			if (done(&wc, is_rcq))
				return 0;
		if (ret != RPMA_E_NO_COMPLETION)
			return ret;
	}
}
