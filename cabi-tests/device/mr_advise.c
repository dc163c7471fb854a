/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr_advise.c -- rpma_mr_advise(): ask the device to have pages ready before they are used
 *
 * It means something with on-demand paging only. A device without refuses, which a program
 * can live with: its pages are there already.
 */

#include "common.h"

#define SIZE	(64 * 1024)

int
main(void)
{
	test_begin();
	struct ibv_context *device = NULL;
	struct rpma_peer *peer = NULL;
	int odp = -1;

	OK(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	OK(rpma_utils_ibv_context_is_odp_capable(device, &odp));
	CHECK(odp == 0 || odp == 1);
	OK(rpma_peer_new(device, &peer));

	void *buf = memory(SIZE);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_DST);
	int expected = odp ? 0 : RPMA_E_NOSUPP;

	RETURNS(rpma_mr_advise(mr, 0, SIZE, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			IBV_ADVISE_MR_FLAG_FLUSH), expected);
	RETURNS(rpma_mr_advise(mr, 4096, 4096, IBV_ADVISE_MR_ADVICE_PREFETCH, 0), expected);

	/* and the region is as good as before */
	void *ptr = NULL;
	size_t size = 0;
	OK(rpma_mr_get_ptr(mr, &ptr));
	OK(rpma_mr_get_size(mr, &size));
	CHECK(ptr == buf && size == SIZE);
	OK(rpma_mr_dereg(&mr));
	CHECK(mr == NULL);
	OK(rpma_peer_delete(&peer));
	return test_end();
}
