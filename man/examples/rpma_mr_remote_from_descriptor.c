/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* Makes a region from the descriptor in the private data. */
int take_region(struct rpma_conn *conn, struct rpma_mr_remote **mr)
{
	struct rpma_conn_private_data pdata;
	int ret;

	ret = rpma_conn_get_private_data(conn, &pdata);
	if (ret != 0)
		return ret;
	/* Zeros after it do not matter; without data: RPMA_E_INVAL. */
	return rpma_mr_remote_from_descriptor(pdata.ptr, pdata.len, mr);
}
