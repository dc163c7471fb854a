/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deleted_before_connections.c -- an SRQ and a peer are to be deleted after the connections
 * on them: earlier the device refuses, the handle is gone, the connections go on
 */

#include "common.h"

#define LEN	100

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_srq_cfg *srq_cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_conn_cfg *cfg = NULL;

	pair_listen(&pair);
	uint8_t *buf = memory(3 * LEN);
	struct rpma_mr_local *mr = registered(pair.peer, buf, 3 * LEN,
			RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV);
	fill(buf, LEN, 1);

	OK(rpma_srq_cfg_new(&srq_cfg));
	OK(rpma_srq_cfg_set_rcq_size(srq_cfg, 0));
	OK(rpma_srq_new(pair.peer, srq_cfg, &srq));
	OK(rpma_srq_cfg_delete(&srq_cfg));
	OK(rpma_srq_recv(srq, mr, LEN, LEN, mr));
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_srq(cfg, srq));
	pair_connect(&pair, cfg, NULL);
	OK(rpma_conn_cfg_delete(&cfg));

	FAILS(rpma_srq_delete(&srq), RPMA_E_PROVIDER, EBUSY);
	CHECK(srq == NULL);
	FAILS(rpma_peer_delete(&pair.peer), RPMA_E_PROVIDER, EBUSY);
	CHECK(pair.peer == NULL);

	/* a message to the receive on the SRQ, and an answer */
	OK(rpma_recv(pair.client, mr, 2 * LEN, LEN, &buf[2]));
	OK(rpma_send(pair.client, mr, 0, LEN, RPMA_F_COMPLETION_ALWAYS, &buf[1]));
	expect_completion(cq_of(pair.client), pair.client, IBV_WC_SEND, &buf[1]);
	expect_received(cq_of(pair.server), pair.server, mr, LEN);
	check_filled(buf + LEN, LEN, 1);
	OK(rpma_send(pair.server, mr, LEN, LEN, RPMA_F_COMPLETION_ALWAYS, &buf[3]));
	expect_completion(cq_of(pair.server), pair.server, IBV_WC_SEND, &buf[3]);
	expect_received(cq_of(pair.client), pair.client, &buf[2], LEN);
	check_filled(buf + 2 * LEN, LEN, 1);

	pair_disconnect(&pair);
	OK(rpma_mr_dereg(&mr));
	OK(rpma_ep_shutdown(&pair.ep));
	return test_end();
}
