/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic_write.c -- rpma_atomic_write(): 8 bytes, at an offset that is a multiple of 8,
 * which the server sees all or not at all
 *
 * The usual pattern: write the data, flush it, then write the pointer to it atomically.
 */

#include "common.h"

#define SIZE	4096
#define DATA	512	/* where the data goes, and what the pointer says */
#define LEN	1000
#define POINTER	16	/* where the pointer goes */

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE,
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	volatile const uint64_t *pointer = (const void *)(buf + POINTER);

	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn *conn = accepted(ep, NULL, &pdata);

	/* as soon as the pointer is there the data is there */
	long long end = now_ms() + WAIT_MS;
	while (*pointer == 0)
		CHECK(now_ms() < end);
	CHECK(*pointer == DATA);
	check_filled(buf + DATA, LEN, 1);

	close_second(&conn);
	check_zero(buf, POINTER);
	check_zero(buf + POINTER + 8, DATA - POINTER - 8);
	check_filled(buf + SIZE - 8, 8, 2);

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
	fill(buf, LEN, 1);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *dst = offered_region(conn, 0);
	struct rpma_cq *cq = cq_of(conn);
	struct ibv_wc wc;

	/* the 8 bytes are copied by the call: they need no registration */
	uint64_t pointer = DATA;
	char last[8];
	fill(last, sizeof(last), 2);

	OK(rpma_write(conn, dst, DATA, src, 0, LEN, RPMA_F_COMPLETION_ON_ERROR, NULL));
	OK(rpma_flush(conn, dst, DATA, LEN, RPMA_FLUSH_TYPE_VISIBILITY,
			RPMA_F_COMPLETION_ON_ERROR, NULL));
	OK(rpma_atomic_write(conn, dst, POINTER, (const char *)&pointer,
			RPMA_F_COMPLETION_ALWAYS, &pointer));
	pointer = 0;
	expect_completion(cq, conn, atomic_write_opcode(), &pointer);

	/* the last 8 bytes of the region, completion only of an error */
	OK(rpma_atomic_write(conn, dst, SIZE - 8, last, RPMA_F_COMPLETION_ON_ERROR, NULL));
	memset(last, 0, sizeof(last));

	/* any other offset is refused, nothing is posted */
	for (size_t offset = 1; offset < 8; offset++)
		RETURNS(rpma_atomic_write(conn, dst, offset, last, RPMA_F_COMPLETION_ALWAYS,
				NULL), RPMA_E_INVAL);
	OK(rpma_write(conn, dst, DATA, src, 0, LEN, RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq, conn, IBV_WC_RDMA_WRITE, buf);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);

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
