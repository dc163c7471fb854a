/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <librpma.h>

/* example */
/* A thread that reports what no completion and no connection does. */
void *watch_device(void *device)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(device, &event) == 0) {
		switch (event.event_type) {
		case IBV_EVENT_CQ_ERR:
			printf("CQ of fd %d overran\n",
				event.element.cq->channel->fd);
			break;
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
			printf("QP %u failed\n",
				event.element.qp->qp_num);
			break;
		case IBV_EVENT_PORT_ERR:
			printf("port %d is down\n",
				event.element.port_num);
			break;
		case IBV_EVENT_DEVICE_FATAL:
			printf("the device is gone\n");
			break;
		default:
			break;
		}
		/* rpma_conn_delete() waits for this. */
		ibv_ack_async_event(&event);
	}
	return NULL;
}
