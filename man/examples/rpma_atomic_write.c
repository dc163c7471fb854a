/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <librpma.h>

/* example */
/* Moves the tail over a record that was written and flushed. */
int publish(struct rpma_conn *conn, struct rpma_mr_remote *log,
		size_t tail_offset, uint64_t tail, const void *op_context)
{
	char word[RPMA_ATOMIC_WRITE_ALIGNMENT];
	int ret;

	memcpy(word, &tail, sizeof(word));
	ret = rpma_atomic_write(conn, log, tail_offset, word,
			RPMA_F_COMPLETION_ON_ERROR, op_context);
	if (ret != 0)
		return ret;
	return rpma_flush(conn, log, tail_offset, sizeof(word),
			RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS,
			op_context);
}
