/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* Writes persistently. Only the flush gives a completion. */
int store(struct rpma_conn *conn, struct rpma_mr_remote *dst,
		size_t dst_offset, const struct rpma_mr_local *src,
		size_t len, const void *op_context)
{
	int ret;

	ret = rpma_write(conn, dst, dst_offset, src, 0, len,
			RPMA_F_COMPLETION_ON_ERROR, op_context);
	if (ret != 0)
		return ret;
	return rpma_flush(conn, dst, dst_offset, len,
			RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS,
			op_context);
}
