/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_peer_cfg_*: what a peer tells the other about itself */
#include "contract.h"

static struct rpma_peer_cfg *a_cfg(void)
{
	struct rpma_peer_cfg *pcfg = NULL;

	if (rpma_peer_cfg_new(&pcfg))
		abort();
	return pcfg;
}

TEST(peer_cfg_new, direct_write_to_pmem_is_false_at_first)
{
	struct rpma_peer_cfg *pcfg = NULL;
	bool supported = true;

	watch();
	RETURNS(rpma_peer_cfg_new(&pcfg), 0);
	RETURNS(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported), 0);
	EQUAL(supported, false);
	RETURNS(rpma_peer_cfg_delete(&pcfg), 0);
	SAME(pcfg, NULL);
	NO_CALLS();
	NO_LOG();
}

TEST(peer_cfg_new, null_pointer_is_invalid)
{
	INVALID(rpma_peer_cfg_new(NULL));
}

TEST(peer_cfg_new, out_of_memory_is_not_logged)
{
	struct rpma_peer_cfg *pcfg = UNTOUCHED;

	provider_fail_allocation(1);
	watch();
	RETURNS(rpma_peer_cfg_new(&pcfg), RPMA_E_NOMEM);
	SAME(pcfg, UNTOUCHED);
	NO_LOG();
}

TEST(peer_cfg_delete, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_peer_cfg *pcfg = NULL;

	INVALID(rpma_peer_cfg_delete(NULL));
	RETURNS(rpma_peer_cfg_delete(&pcfg), 0);
	NO_LOG();
}

TEST(peer_cfg_set_direct_write_to_pmem, can_be_set_and_taken_back)
{
	struct rpma_peer_cfg *pcfg = a_cfg();
	bool supported = false;

	RETURNS(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true), 0);
	RETURNS(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported), 0);
	EQUAL(supported, true);
	RETURNS(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, false), 0);
	RETURNS(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported), 0);
	EQUAL(supported, false);
	NO_LOG();
	rpma_peer_cfg_delete(&pcfg);
}

TEST(peer_cfg_set_direct_write_to_pmem, null_is_invalid)
{
	INVALID(rpma_peer_cfg_set_direct_write_to_pmem(NULL, true));
}

TEST(peer_cfg_get_direct_write_to_pmem, null_arguments_are_invalid)
{
	struct rpma_peer_cfg *pcfg = a_cfg();
	bool supported = true;

	INVALID(rpma_peer_cfg_get_direct_write_to_pmem(NULL, &supported));
	EQUAL(supported, true);
	INVALID(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, NULL));
	rpma_peer_cfg_delete(&pcfg);
}

TEST(peer_cfg_get_descriptor, is_one_byte_of_0_or_1)
{
	struct rpma_peer_cfg *pcfg = a_cfg();
	unsigned char bytes[3] = {0xee, 0xee, 0xee};
	size_t size = 0;

	RETURNS(rpma_peer_cfg_get_descriptor_size(pcfg, &size), 0);
	EQUAL(size, 1);
	RETURNS(rpma_peer_cfg_get_descriptor(pcfg, bytes + 1), 0);
	EQUAL(bytes[0], 0xee);
	EQUAL(bytes[1], 0);
	EQUAL(bytes[2], 0xee);
	rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true);
	RETURNS(rpma_peer_cfg_get_descriptor(pcfg, bytes + 1), 0);
	EQUAL(bytes[0], 0xee);
	EQUAL(bytes[1], 1);
	EQUAL(bytes[2], 0xee);
	NO_LOG();
	rpma_peer_cfg_delete(&pcfg);
}

TEST(peer_cfg_get_descriptor, null_arguments_are_invalid)
{
	struct rpma_peer_cfg *pcfg = a_cfg();
	unsigned char byte = 0xee;

	INVALID(rpma_peer_cfg_get_descriptor(NULL, &byte));
	EQUAL(byte, 0xee);
	INVALID(rpma_peer_cfg_get_descriptor(pcfg, NULL));
	rpma_peer_cfg_delete(&pcfg);
}

TEST(peer_cfg_get_descriptor_size, null_arguments_are_invalid)
{
	struct rpma_peer_cfg *pcfg = a_cfg();
	size_t size = 77;

	INVALID(rpma_peer_cfg_get_descriptor_size(NULL, &size));
	EQUAL(size, 77);
	INVALID(rpma_peer_cfg_get_descriptor_size(pcfg, NULL));
	rpma_peer_cfg_delete(&pcfg);
}

TEST(peer_cfg_from_descriptor, any_byte_but_0_means_true)
{
	for (int value = 0; value < 256; value++) {
		unsigned char byte = (unsigned char)value;
		struct rpma_peer_cfg *pcfg = NULL;
		bool supported = !value;

		RETURNS(rpma_peer_cfg_from_descriptor(&byte, 1, &pcfg), 0);
		RETURNS(rpma_peer_cfg_get_direct_write_to_pmem(pcfg,
			&supported), 0);
		EQUAL(supported, value != 0);
		rpma_peer_cfg_delete(&pcfg);
		watch();
	}
}

TEST(peer_cfg_from_descriptor, gives_one_info_line)
{
	unsigned char byte = 1;
	struct rpma_peer_cfg *pcfg = NULL;

	watch();
	RETURNS(rpma_peer_cfg_from_descriptor(&byte, 1, &pcfg), 0);
	LOGGED(RPMA_LOG_LEVEL_INFO, "");
	rpma_peer_cfg_delete(&pcfg);
}

TEST(peer_cfg_from_descriptor, longer_ones_are_accepted)
{
	unsigned char bytes[64] = {1, 0};
	struct rpma_peer_cfg *pcfg = NULL;
	bool supported = false;

	RETURNS(rpma_peer_cfg_from_descriptor(bytes, sizeof(bytes), &pcfg), 0);
	RETURNS(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported), 0);
	EQUAL(supported, true);
	rpma_peer_cfg_delete(&pcfg);
	RETURNS(rpma_peer_cfg_from_descriptor(bytes, SIZE_MAX, &pcfg), 0);
	rpma_peer_cfg_delete(&pcfg);
}

TEST(peer_cfg_from_descriptor, empty_one_is_invalid_with_an_error_line)
{
	unsigned char byte = 1;
	struct rpma_peer_cfg *pcfg = UNTOUCHED;

	watch();
	RETURNS(rpma_peer_cfg_from_descriptor(&byte, 0, &pcfg), RPMA_E_INVAL);
	SAME(pcfg, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "");
}

TEST(peer_cfg_from_descriptor, null_arguments_are_invalid)
{
	unsigned char byte = 1;
	struct rpma_peer_cfg *pcfg = UNTOUCHED;

	INVALID(rpma_peer_cfg_from_descriptor(NULL, 1, &pcfg));
	SAME(pcfg, UNTOUCHED);
	INVALID(rpma_peer_cfg_from_descriptor(&byte, 1, NULL));
	/* not even the line about the size */
	INVALID(rpma_peer_cfg_from_descriptor(NULL, 0, &pcfg));
}

TEST(peer_cfg_from_descriptor, out_of_memory_is_nomem)
{
	unsigned char byte = 1;
	struct rpma_peer_cfg *pcfg = UNTOUCHED;

	provider_fail_allocation(1);
	watch();
	RETURNS(rpma_peer_cfg_from_descriptor(&byte, 1, &pcfg), RPMA_E_NOMEM);
	SAME(pcfg, UNTOUCHED);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
}
