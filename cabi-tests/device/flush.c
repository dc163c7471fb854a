/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flush.c -- rpma_flush(): after its completion what was written before it is
 * visible, or persistent, in the server's memory
 *
 * Visibility can be had of any region registered for it. Persistence needs a server
 * whose writes go directly to persistent memory: it says so in its peer
 * configuration, which the client applies to the connection.
 */

#include "common.h"

#define SIZE	4096
#define BOTH	0	/* the region registered for both types of flush */
#define VISIBLE	1	/* the region registered for visibility only */
#define NEITHER	2	/* the region registered for no flush */

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	const int usage[3] = {
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
				RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
		RPMA_MR_USAGE_WRITE_DST,
	};
	uint8_t *buf[3];
	struct rpma_mr_local *mr[3];
	struct offer offer = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		buf[i] = memory(SIZE);
		mr[i] = registered(peer, buf[i], SIZE, usage[i]);
		offer_region(&offer, i, mr[i]);
	}
	offer_direct_write_to_pmem(&offer, true);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn *conn = accepted(ep, NULL, &pdata);
	close_second(&conn);

	check_filled(buf[BOTH], SIZE, 1);
	check_filled(buf[VISIBLE], SIZE, 1);
	check_zero(buf[NEITHER], SIZE);

	for (unsigned i = 0; i < 3; i++)
		OK(rpma_mr_dereg(&mr[i]));
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_peer_delete(&peer));
}

/* write the whole region, flush it, wait for the flush alone */
static void
write_and_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, struct rpma_mr_local *src,
		enum rpma_flush_type type)
{
	struct rpma_cq *cq = cq_of(conn);
	struct ibv_wc wc;

	OK(rpma_write(conn, dst, 0, src, 0, SIZE, RPMA_F_COMPLETION_ON_ERROR, NULL));
	OK(rpma_flush(conn, dst, 0, SIZE, type, RPMA_F_COMPLETION_ALWAYS, dst));
	expect_completion(cq, conn, flush_opcode(), dst);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);
}

/* a flush that is not supported is refused before it is posted */
static void
refused(struct rpma_conn *conn, struct rpma_mr_remote *dst, enum rpma_flush_type type)
{
	struct ibv_wc wc;

	RETURNS(rpma_flush(conn, dst, 0, SIZE, type, RPMA_F_COMPLETION_ALWAYS, NULL),
			RPMA_E_NOSUPP);
	RETURNS(rpma_cq_get_wc(cq_of(conn), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
}

static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *src = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_SRC);
	fill(buf, SIZE, 1);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *dst[3];
	for (unsigned i = 0; i < 3; i++)
		dst[i] = offered_region(conn, i);

	int types = 0;
	OK(rpma_mr_remote_get_flush_type(dst[BOTH], &types));
	CHECK(types == (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
			RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT));
	OK(rpma_mr_remote_get_flush_type(dst[VISIBLE], &types));
	CHECK(types == RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	OK(rpma_mr_remote_get_flush_type(dst[NEITHER], &types));
	CHECK(types == 0);

	/* of a server of which nothing is known: visibility, but not persistence */
	write_and_flush(conn, dst[BOTH], src, RPMA_FLUSH_TYPE_VISIBILITY);
	refused(conn, dst[BOTH], RPMA_FLUSH_TYPE_PERSISTENT);

	struct rpma_peer_cfg *pcfg = offered_peer_cfg(conn);
	bool direct_write_to_pmem = false;
	OK(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct_write_to_pmem));
	CHECK(direct_write_to_pmem);
	OK(rpma_conn_apply_remote_peer_cfg(conn, pcfg));

	/* now both; each only of a region that is registered for it */
	write_and_flush(conn, dst[BOTH], src, RPMA_FLUSH_TYPE_PERSISTENT);
	write_and_flush(conn, dst[BOTH], src, RPMA_FLUSH_TYPE_VISIBILITY);
	write_and_flush(conn, dst[VISIBLE], src, RPMA_FLUSH_TYPE_VISIBILITY);
	refused(conn, dst[VISIBLE], RPMA_FLUSH_TYPE_PERSISTENT);
	refused(conn, dst[NEITHER], RPMA_FLUSH_TYPE_PERSISTENT);
	refused(conn, dst[NEITHER], RPMA_FLUSH_TYPE_VISIBILITY);

	/* and it can be taken back */
	OK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, false));
	OK(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
	refused(conn, dst[BOTH], RPMA_FLUSH_TYPE_PERSISTENT);
	OK(rpma_peer_cfg_delete(&pcfg));

	for (unsigned i = 0; i < 3; i++)
		OK(rpma_mr_remote_delete(&dst[i]));
	close_first(&conn);
	OK(rpma_mr_dereg(&src));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
