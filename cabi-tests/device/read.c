/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read.c -- rpma_read(): the client reads the server's memory, which takes no part
 */

#include "common.h"

#define SIZE	8192
#define FROM	900	/* in the server's memory */
#define OFFSET	16	/* in the client's memory */
#define LEN	6001

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	fill(buf, FROM, 1);
	fill(buf + FROM, LEN, 2);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_READ_SRC);

	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn *conn = accepted(ep, NULL, &pdata);
	close_second(&conn);

	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *dst = registered(peer, buf, SIZE, RPMA_MR_USAGE_READ_DST);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *src = offered_region(conn, 0);
	struct rpma_cq *cq = cq_of(conn);
	struct ibv_wc wc;

	OK(rpma_read(conn, dst, OFFSET, src, FROM, LEN, RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq, conn, IBV_WC_RDMA_READ, buf);
	check_zero(buf, OFFSET);
	check_filled(buf + OFFSET, LEN, 2);
	check_zero(buf + OFFSET + LEN, SIZE - OFFSET - LEN);

	/* two at once, of which the second one tells that both have completed */
	OK(rpma_read(conn, dst, 0, src, 0, 500, RPMA_F_COMPLETION_ON_ERROR, &buf[1]));
	OK(rpma_read(conn, dst, 500, src, 500, FROM - 500, RPMA_F_COMPLETION_ALWAYS, &buf[2]));
	expect_completion(cq, conn, IBV_WC_RDMA_READ, &buf[2]);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	check_filled(buf, FROM, 1);

	OK(rpma_mr_remote_delete(&src));
	close_first(&conn);
	OK(rpma_mr_dereg(&dst));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
