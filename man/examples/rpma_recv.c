/* SPDX-License-Identifier: BSD-3-Clause */
#include <librpma.h>

/* example */
/* Handles a message and posts the receive again. */
int on_receive(struct rpma_conn *conn, struct rpma_mr_local *buffer,
		size_t size, const struct ibv_wc *wc,
		void (*handle)(const void *message, size_t len))
{
	void *message;
	int ret;

	ret = rpma_mr_get_ptr(buffer, &message);
	if (ret != 0)
		return ret;
	handle(message, wc->byte_len);
	return rpma_recv(conn, buffer, 0, size, buffer);
}
