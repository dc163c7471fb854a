/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f7_flush_of_few_bytes.c -- a flush of any part of a region works, also of its last bytes, and
 * of a region of less than 8 bytes
 *
 * Fault F7: 8 bytes are read from where the flush starts, past the end of the region.
 */

#include "common.h"

#define PAGE	4096

static struct pair pair;

static void
flush(struct rpma_mr_remote *remote, size_t size, size_t offset, size_t len,
		enum rpma_flush_type type)
{
	struct rpma_cq *cq = cq_of(pair.client);
	struct ibv_wc wc;

	OK(rpma_flush(pair.client, remote, offset, len, type, RPMA_F_COMPLETION_ALWAYS, remote));
	next_completion(cq, &wc);
	if (wc.status != IBV_WC_SUCCESS)
		fault("F7", "a flush of %zu bytes at %zu of a region of %zu bytes: %s", len, offset,
				size, ibv_wc_status_str(wc.status));
	CHECK(wc.opcode == flush_opcode());
	CHECK(wc.wr_id == (uintptr_t)remote);
	CHECK(wc.qp_num == qp_num_of(pair.client));
}

static void
whole_region(uint8_t *ptr, size_t size, size_t first_offset)
{
	struct rpma_mr_local *mr = registered(pair.peer, ptr, size, RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
	struct rpma_mr_remote *remote = as_remote(mr);

	for (size_t offset = first_offset; offset < size; offset++) {
		for (size_t len = 1; len <= size - offset; len++)
			flush(remote, size, offset, len, RPMA_FLUSH_TYPE_VISIBILITY);
		flush(remote, size, offset, size - offset, RPMA_FLUSH_TYPE_PERSISTENT);
	}
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
}

/* past the end it is the device that refuses */
static void
past_the_end(uint8_t *ptr)
{
	struct rpma_mr_local *mr = registered(pair.peer, ptr, PAGE, RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	struct rpma_mr_remote *remote = as_remote(mr);
	struct ibv_wc wc;

	OK(rpma_flush(pair.client, remote, PAGE, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			RPMA_F_COMPLETION_ALWAYS, remote));
	next_completion(cq_of(pair.client), &wc);
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR);
	CHECK(wc.wr_id == (uintptr_t)remote);
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
}

int
main(void)
{
	test_begin();
	struct rpma_peer_cfg *pcfg = NULL;
	uint8_t *buf = memory(2 * PAGE);

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	OK(rpma_peer_cfg_new(&pcfg));
	OK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	OK(rpma_conn_apply_remote_peer_cfg(pair.client, pcfg));
	OK(rpma_peer_cfg_delete(&pcfg));

	whole_region(buf, PAGE, PAGE - 16);
	for (size_t size = 1; size <= 16; size++) {
		whole_region(buf, size, 0);
		/* at the end of a page: nothing can be read behind it */
		whole_region(buf + PAGE - size, size, 0);
	}
	past_the_end(buf);

	OK(rpma_conn_disconnect(pair.client));
	expect_event(pair.server, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair.server));
	OK(rpma_conn_delete(&pair.server));
	OK(rpma_conn_delete(&pair.client));
	pair_delete(&pair);
	return test_end();
}
