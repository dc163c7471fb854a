/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write.c -- rpma_write(): the client writes into the server's memory, which learns
 * of nothing and looks when the connection has ended
 *
 * A write completes on the client's CQ only when it is asked to
 * (RPMA_F_COMPLETION_ALWAYS) or when it fails (RPMA_F_COMPLETION_ON_ERROR).
 */

#include "common.h"

#define SIZE	8192
#define OFFSET	1000	/* in the server's memory */
#define FROM	24	/* in the client's memory */
#define LEN	5001

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_DST);

	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn *conn = accepted(ep, NULL, &pdata);
	close_second(&conn);

	/* what was written, and nothing around it */
	check_zero(buf, OFFSET);
	check_filled(buf + OFFSET, LEN, 1);
	check_filled(buf + OFFSET + LEN, 1, 2);
	check_zero(buf + OFFSET + LEN + 1, SIZE - OFFSET - LEN - 1);

	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *src = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_SRC);
	fill(buf + FROM, LEN, 1);
	fill(buf, 1, 2);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *dst = offered_region(conn, 0);
	struct rpma_cq *cq = cq_of(conn);
	struct ibv_wc wc;
	size_t size = 0;

	OK(rpma_mr_remote_get_size(dst, &size));
	CHECK(size == SIZE);

	/* three writes, of which only the last one tells that it has completed */
	OK(rpma_write(conn, dst, OFFSET, src, FROM, 1000, RPMA_F_COMPLETION_ON_ERROR, &buf[0]));
	OK(rpma_write(conn, dst, OFFSET + 1000, src, FROM + 1000, LEN - 1000,
			RPMA_F_COMPLETION_ON_ERROR, &buf[1]));
	OK(rpma_write(conn, dst, OFFSET + LEN, src, 0, 1, RPMA_F_COMPLETION_ALWAYS, &buf[2]));
	expect_completion(cq, conn, IBV_WC_RDMA_WRITE, &buf[2]);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);

	/* flags that nobody knows are let through; none at all is a mistake */
	OK(rpma_write(conn, dst, OFFSET + LEN, src, 0, 1, RPMA_F_COMPLETION_ALWAYS | 1 << 6,
			&buf[3]));
	expect_completion(cq, conn, IBV_WC_RDMA_WRITE, &buf[3]);
	RETURNS(rpma_write(conn, dst, 0, src, 0, 1, 0, NULL), RPMA_E_INVAL);

	OK(rpma_mr_remote_delete(&dst));
	close_first(&conn);
	OK(rpma_mr_dereg(&src));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
