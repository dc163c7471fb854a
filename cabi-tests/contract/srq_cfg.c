/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_srq_cfg_*: sizes of a shared RQ and of its CQ */
#include "contract.h"

static const uint32_t sizes[] = {0, 1, 21, INT_MAX, (uint32_t)INT_MAX + 1,
	UINT32_MAX};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct rpma_srq_cfg *a_cfg(void)
{
	struct rpma_srq_cfg *cfg = NULL;

	if (rpma_srq_cfg_new(&cfg))
		abort();
	return cfg;
}

TEST(srq_cfg_new, defaults_are_rq_20_and_rcq_20)
{
	struct rpma_srq_cfg *cfg = NULL;
	uint32_t size = 0;

	watch();
	RETURNS(rpma_srq_cfg_new(&cfg), 0);
	RETURNS(rpma_srq_cfg_get_rq_size(cfg, &size), 0);
	EQUAL(size, 20);
	size = 0;
	RETURNS(rpma_srq_cfg_get_rcq_size(cfg, &size), 0);
	EQUAL(size, 20);
	RETURNS(rpma_srq_cfg_delete(&cfg), 0);
	SAME(cfg, NULL);
	NO_CALLS();
	NO_LOG();
}

TEST(srq_cfg_new, null_pointer_is_invalid)
{
	INVALID(rpma_srq_cfg_new(NULL));
}

DIFFERS(srq_cfg_new, out_of_memory_is_not_logged, "OUTPUTS")
{
	struct rpma_srq_cfg *cfg = UNTOUCHED;

	provider_fail_allocation(1);
	watch();
	RETURNS(rpma_srq_cfg_new(&cfg), RPMA_E_NOMEM);
	SAME(cfg, UNTOUCHED);
	NO_LOG();
}

TEST(srq_cfg_delete, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_srq_cfg *cfg = NULL;

	INVALID(rpma_srq_cfg_delete(NULL));
	RETURNS(rpma_srq_cfg_delete(&cfg), 0);
	NO_LOG();
}

TEST(srq_cfg_set_rq_size, any_size_is_kept)
{
	struct rpma_srq_cfg *cfg = a_cfg();

	for (unsigned int n = 0; n < SIZES; n++) {
		uint32_t size = ~sizes[n];

		RETURNS(rpma_srq_cfg_set_rq_size(cfg, sizes[n]), 0);
		RETURNS(rpma_srq_cfg_get_rq_size(cfg, &size), 0);
		EQUAL(size, sizes[n]);
		RETURNS(rpma_srq_cfg_get_rcq_size(cfg, &size), 0);
		EQUAL(size, 20);
	}
	rpma_srq_cfg_delete(&cfg);
}

TEST(srq_cfg_set_rcq_size, any_size_is_kept)
{
	struct rpma_srq_cfg *cfg = a_cfg();

	for (unsigned int n = 0; n < SIZES; n++) {
		uint32_t size = ~sizes[n];

		RETURNS(rpma_srq_cfg_set_rcq_size(cfg, sizes[n]), 0);
		RETURNS(rpma_srq_cfg_get_rcq_size(cfg, &size), 0);
		EQUAL(size, sizes[n]);
		RETURNS(rpma_srq_cfg_get_rq_size(cfg, &size), 0);
		EQUAL(size, 20);
	}
	rpma_srq_cfg_delete(&cfg);
}

TEST(srq_cfg_set_rq_size, and_rcq_size_of_null_are_invalid)
{
	INVALID(rpma_srq_cfg_set_rq_size(NULL, 1));
	INVALID(rpma_srq_cfg_set_rcq_size(NULL, 1));
}

TEST(srq_cfg_get_rq_size, and_rcq_size_with_null_arguments_are_invalid)
{
	struct rpma_srq_cfg *cfg = a_cfg();
	uint32_t size = 77;

	INVALID(rpma_srq_cfg_get_rq_size(NULL, &size));
	INVALID(rpma_srq_cfg_get_rcq_size(NULL, &size));
	EQUAL(size, 77);
	INVALID(rpma_srq_cfg_get_rq_size(cfg, NULL));
	INVALID(rpma_srq_cfg_get_rcq_size(cfg, NULL));
	rpma_srq_cfg_delete(&cfg);
}
