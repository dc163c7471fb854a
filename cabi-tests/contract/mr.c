/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_mr_*: memory regions, here and at the other side */
#include <stdio.h>
#include "contract.h"

#define EVERY_USAGE 0xff
#define DESCRIPTOR_SIZE 21
#define NEEDS_LOCAL_WRITE (RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | \
	RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_RECV)
#define FLUSH_TYPES (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | \
	RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

/* the table of the contract, in the order in which the log shows the bits */
static void expected_access(char *text, size_t size, int usage, int iwarp)
{
	int local = (usage & NEEDS_LOCAL_WRITE) != 0;
	int write = usage & RPMA_MR_USAGE_WRITE_DST ||
		(iwarp && usage & RPMA_MR_USAGE_READ_DST);
	int read = usage & (RPMA_MR_USAGE_READ_SRC | FLUSH_TYPES);

	snprintf(text, size, "%s%s%s%s%s%s", local ? "LOCAL_WRITE" : "",
		local && (write || read) ? "|" : "",
		write ? "REMOTE_WRITE" : "", write && read ? "|" : "",
		read ? "REMOTE_READ" : "", local || write || read ? "" : "0");
}

static void check_usages(enum ibv_transport_type transport)
{
	struct rpma_peer *peer;

	provider_device.transport = transport;
	provider_context();
	peer = a_peer();
	for (int usage = 1; usage <= EVERY_USAGE; usage++) {
		struct rpma_mr_local *mr = NULL;
		char access[64], line[160];

		expected_access(access, sizeof(access), usage,
			transport == IBV_TRANSPORT_IWARP);
		watch();
		RETURNS(rpma_mr_reg(peer, provider_memory + 8, 100, usage,
			&mr), 0);
		snprintf(line, sizeof(line),
			"ibv_reg_mr(pd1, mem+8, 100, %s) = mr%d", access,
			usage);
		CALLS(line);
		NO_LOG();
		rpma_mr_dereg(&mr);
	}
	no_peer(&peer);
}

TEST(mr_reg, access_of_all_255_usages_on_infiniband)
{
	check_usages(IBV_TRANSPORT_IB);
}

TEST(mr_reg, access_of_all_255_usages_on_iwarp)
{
	check_usages(IBV_TRANSPORT_IWARP);
}

TEST(mr_reg, null_arguments_are_invalid)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	INVALID(rpma_mr_reg(NULL, provider_memory, 8, 1, &mr));
	INVALID(rpma_mr_reg(peer, NULL, 8, 1, &mr));
	INVALID(rpma_mr_reg(peer, provider_memory, 8, 1, NULL));
	SAME(mr, UNTOUCHED);
	no_peer(&peer);
}

TEST(mr_reg, size_0_is_invalid)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	INVALID(rpma_mr_reg(peer, provider_memory, 0, 1, &mr));
	SAME(mr, UNTOUCHED);
	no_peer(&peer);
}

TEST(mr_reg, no_usage_or_unknown_usages_are_invalid)
{
	static const int usages[] = {0, 0x100, 0x101, 0x1ff, INT_MAX, INT_MIN,
		-1};
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	for (unsigned int n = 0; n < sizeof(usages) / sizeof(usages[0]); n++)
		INVALID(rpma_mr_reg(peer, provider_memory, 8, usages[n], &mr));
	SAME(mr, UNTOUCHED);
	no_peer(&peer);
}

TEST(mr_reg, any_size_goes_to_the_provider_as_it_is)
{
	static const size_t sizes[] = {1, 7, (size_t)INT_MAX + 1, UINT32_MAX,
		(size_t)UINT32_MAX + 9, SIZE_MAX};
	struct rpma_peer *peer = a_peer();

	for (unsigned int n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		struct rpma_mr_local *mr = NULL;
		char part[64];
		size_t size = 0;

		watch();
		RETURNS(rpma_mr_reg(peer, provider_memory, sizes[n], 1, &mr),
			0);
		snprintf(part, sizeof(part), ", %zu, ", sizes[n]);
		EQUAL(calls_with(part), 1);
		RETURNS(rpma_mr_get_size(mr, &size), 0);
		CHECK(size == sizes[n]);
		rpma_mr_dereg(&mr);
	}
	no_peer(&peer);
}

TEST(mr_reg, failing_registration_is_a_provider_error)
{
	static const int codes[] = {EINVAL, ENOMEM, EFAULT, EPERM};
	struct rpma_peer *peer = a_peer();

	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_mr_local *mr = UNTOUCHED;

		provider_fail(CALL_ibv_reg_mr, 1, codes[n]);
		watch();
		FAILS(rpma_mr_reg(peer, provider_memory, 8, 1, &mr),
			RPMA_E_PROVIDER, codes[n]);
		SAME(mr, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_reg_mr", strerror(codes[n]));
		EQUAL(provider_log_length(), 1);
	}
	no_peer(&peer);
}

TEST(mr_reg, out_of_memory_is_not_logged_and_registers_nothing)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	provider_fail_allocation(1);
	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8, 1, &mr), RPMA_E_NOMEM);
	SAME(mr, UNTOUCHED);
	NO_LOG();
	no_peer(&peer);
}

static struct rpma_peer *an_odp_peer(void)
{
	provider_device.odp_general_caps = IBV_ODP_SUPPORT;
	provider_device.odp_rc_caps = IBV_ODP_SUPPORT_WRITE |
		IBV_ODP_SUPPORT_READ;
	return a_peer();
}

TEST(mr_reg, unsupported_is_tried_again_on_demand_where_the_device_can)
{
	struct rpma_peer *peer = an_odp_peer();
	struct rpma_mr_local *mr = NULL;

	provider_fail(CALL_ibv_reg_mr, 1, EOPNOTSUPP);
	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8, 1, &mr), 0);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, REMOTE_READ) = EOPNOTSUPP",
		"ibv_reg_mr(pd1, mem+0, 8, REMOTE_READ|ON_DEMAND) = mr1");
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	RETURNS(rpma_mr_dereg(&mr), 0);
	no_peer(&peer);
}

DIFFERS(mr_reg, success_at_the_second_try_leaves_errno_alone, "F17")
{
	struct rpma_peer *peer = an_odp_peer();
	struct rpma_mr_local *mr = NULL;

	provider_fail(CALL_ibv_reg_mr, 1, EOPNOTSUPP);
	errno = EXDEV;
	EQUAL(rpma_mr_reg(peer, provider_memory, 8, 1, &mr), 0);
	EQUAL(errno, EXDEV);
	RETURNS(rpma_mr_dereg(&mr), 0);
	no_peer(&peer);
}

TEST(mr_reg, on_demand_is_tried_only_once)
{
	struct rpma_peer *peer = an_odp_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	provider_fail(CALL_ibv_reg_mr, 1, EOPNOTSUPP);
	provider_fail(CALL_ibv_reg_mr, 2, EOPNOTSUPP);
	watch();
	FAILS(rpma_mr_reg(peer, provider_memory, 8, 1, &mr), RPMA_E_PROVIDER,
		EOPNOTSUPP);
	SAME(mr, UNTOUCHED);
	EQUAL(provider_log_length(), 2);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_reg_mr", strerror(EOPNOTSUPP));
	no_peer(&peer);
}

TEST(mr_reg, on_demand_is_for_unsupported_only)
{
	struct rpma_peer *peer = an_odp_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	provider_fail(CALL_ibv_reg_mr, 1, EFAULT);
	watch();
	FAILS(rpma_mr_reg(peer, provider_memory, 8, 1, &mr), RPMA_E_PROVIDER,
		EFAULT);
	EQUAL(provider_log_length(), 1);
	no_peer(&peer);
}

TEST(mr_reg, on_demand_is_not_tried_where_the_device_cannot)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	provider_fail(CALL_ibv_reg_mr, 1, EOPNOTSUPP);
	watch();
	FAILS(rpma_mr_reg(peer, provider_memory, 8, 1, &mr), RPMA_E_PROVIDER,
		EOPNOTSUPP);
	EQUAL(provider_log_length(), 1);
	no_peer(&peer);
}

DIFFERS(mr_reg, read_only_write_source_is_tried_without_local_write, "F16")
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = NULL;

	provider_fail(CALL_ibv_reg_mr, 1, EFAULT);
	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8,
		RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_SRC, &mr), 0);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, LOCAL_WRITE|REMOTE_READ) = EFAULT",
		"ibv_reg_mr(pd1, mem+0, 8, REMOTE_READ) = mr1");
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_reg, memory_that_must_be_writable_is_not_tried_again)
{
	static const int others[] = {RPMA_MR_USAGE_READ_DST,
		RPMA_MR_USAGE_WRITE_DST, RPMA_MR_USAGE_RECV};
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	for (unsigned int n = 0; n < 3; n++) {
		provider_fail(CALL_ibv_reg_mr, 1, EFAULT);
		watch();
		FAILS(rpma_mr_reg(peer, provider_memory, 8,
			RPMA_MR_USAGE_WRITE_SRC | others[n], &mr),
			RPMA_E_PROVIDER, EFAULT);
		EQUAL(provider_log_length(), 1);
	}
	no_peer(&peer);
}

/* a device with native flush */
#define NATIVE_FLUSH ((1ull << 38) | (1ull << 39))
#define FLUSH_ACCESS 0x300u

static struct rpma_peer *a_flushing_peer(void)
{
	provider_device.device_cap_flags_ex = NATIVE_FLUSH;
	provider_device.mr_access |= FLUSH_ACCESS;
	return a_peer();
}

DIFFERS(mr_reg, flush_usages_grant_both_kinds_of_flush_on_a_native_device, "F9")
{
	struct rpma_peer *peer = a_flushing_peer();
	struct rpma_mr_local *mr = NULL;

	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8,
		RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, &mr), 0);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, REMOTE_READ|FLUSH_GLOBAL) = mr1");
	rpma_mr_dereg(&mr);
	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8,
		RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &mr), 0);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, REMOTE_READ|FLUSH_PERSISTENT) = mr2");
	rpma_mr_dereg(&mr);
	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8, FLUSH_TYPES, &mr), 0);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, "
		"REMOTE_READ|FLUSH_GLOBAL|FLUSH_PERSISTENT) = mr3");
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

DIFFERS(mr_reg, persistent_flush_of_dram_is_tried_without_the_native_bit, "F10")
{
	struct rpma_peer *peer = a_flushing_peer();
	struct rpma_mr_local *mr = NULL;
	unsigned char descriptor[DESCRIPTOR_SIZE];

	provider_fail(CALL_ibv_reg_mr, 1, EINVAL);
	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8, FLUSH_TYPES, &mr), 0);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, "
		"REMOTE_READ|FLUSH_GLOBAL|FLUSH_PERSISTENT) = EINVAL",
		"ibv_reg_mr(pd1, mem+0, 8, REMOTE_READ|FLUSH_GLOBAL) = mr1");
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	RETURNS(rpma_mr_get_descriptor(mr, descriptor), 0);
	EQUAL(descriptor[20], FLUSH_TYPES);
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

DIFFERS(mr_reg, no_retry_comes_before_its_turn, "F16")
{
	struct rpma_peer *peer = an_odp_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	provider_fail(CALL_ibv_reg_mr, 1, EFAULT);
	provider_fail(CALL_ibv_reg_mr, 2, EOPNOTSUPP);
	watch();
	FAILS(rpma_mr_reg(peer, provider_memory, 8, RPMA_MR_USAGE_WRITE_SRC,
		&mr), RPMA_E_PROVIDER, EOPNOTSUPP);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, LOCAL_WRITE) = EFAULT",
		"ibv_reg_mr(pd1, mem+0, 8, 0) = EOPNOTSUPP");
	SAME(mr, UNTOUCHED);
	no_peer(&peer);
}

DIFFERS(mr_reg, retries_come_in_the_order_odp_f10_f16, "F16")
{
	struct rpma_peer *peer;
	struct rpma_mr_local *mr = NULL;

	provider_device.odp_general_caps = IBV_ODP_SUPPORT;
	provider_device.odp_rc_caps = IBV_ODP_SUPPORT_WRITE |
		IBV_ODP_SUPPORT_READ;
	peer = a_flushing_peer();
	provider_fail(CALL_ibv_reg_mr, 1, EOPNOTSUPP);
	provider_fail(CALL_ibv_reg_mr, 2, EINVAL);
	provider_fail(CALL_ibv_reg_mr, 3, EFAULT);
	watch();
	RETURNS(rpma_mr_reg(peer, provider_memory, 8, RPMA_MR_USAGE_WRITE_SRC |
		RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &mr), 0);
	CALLS("ibv_reg_mr(pd1, mem+0, 8, "
		"LOCAL_WRITE|REMOTE_READ|FLUSH_PERSISTENT) = EOPNOTSUPP",
		"ibv_reg_mr(pd1, mem+0, 8, "
		"LOCAL_WRITE|REMOTE_READ|ON_DEMAND|FLUSH_PERSISTENT) = EINVAL",
		"ibv_reg_mr(pd1, mem+0, 8, "
		"LOCAL_WRITE|REMOTE_READ|ON_DEMAND) = EFAULT",
		"ibv_reg_mr(pd1, mem+0, 8, REMOTE_READ|ON_DEMAND) = mr1");
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

DIFFERS(mr_reg, each_retry_comes_once, "F10")
{
	struct rpma_peer *peer = a_flushing_peer();
	struct rpma_mr_local *mr = UNTOUCHED;

	provider_fail(CALL_ibv_reg_mr, 1, EINVAL);
	provider_fail(CALL_ibv_reg_mr, 2, EINVAL);
	watch();
	FAILS(rpma_mr_reg(peer, provider_memory, 8, FLUSH_TYPES, &mr),
		RPMA_E_PROVIDER, EINVAL);
	SAME(mr, UNTOUCHED);
	EQUAL(provider_log_length(), 2);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_reg_mr", strerror(EINVAL));
	provider_fail(CALL_ibv_reg_mr, 1, EFAULT);
	provider_fail(CALL_ibv_reg_mr, 2, EFAULT);
	watch();
	FAILS(rpma_mr_reg(peer, provider_memory, 8, RPMA_MR_USAGE_WRITE_SRC,
		&mr), RPMA_E_PROVIDER, EFAULT);
	EQUAL(provider_log_length(), 2);
	no_peer(&peer);
}

TEST(mr_dereg, deregisters)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 8, 1);

	watch();
	RETURNS(rpma_mr_dereg(&mr), 0);
	SAME(mr, NULL);
	CALLS("ibv_dereg_mr(mr1) = 0");
	NO_LOG();
	no_peer(&peer);
}

TEST(mr_dereg, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_mr_local *mr = NULL;

	INVALID(rpma_mr_dereg(NULL));
	RETURNS(rpma_mr_dereg(&mr), 0);
	NO_CALLS();
}

TEST(mr_dereg, failing_gives_its_code_and_no_handle)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 8, 1);

	provider_fail(CALL_ibv_dereg_mr, 1, EBUSY);
	watch();
	FAILS(rpma_mr_dereg(&mr), RPMA_E_PROVIDER, EBUSY);
	SAME(mr, NULL);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_dereg_mr", strerror(EBUSY));
	rpma_peer_delete(&peer);
}

TEST(mr_get_descriptor, is_21_bytes_little_endian)
{
	/* address 0x100000000000 + 0x10, length 0x1234, rkey 0x2001 */
	static const unsigned char expected[DESCRIPTOR_SIZE + 2] = {0xee,
		0x10, 0, 0, 0, 0, 0x10, 0, 0, 0x34, 0x12, 0, 0, 0, 0, 0, 0,
		0x01, 0x20, 0, 0, RPMA_MR_USAGE_WRITE_DST, 0xee};
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = NULL;
	unsigned char bytes[DESCRIPTOR_SIZE + 2];
	size_t size = 0;

	RETURNS(rpma_mr_reg(peer, provider_memory + 0x10, 0x1234,
		RPMA_MR_USAGE_WRITE_DST, &mr), 0);
	RETURNS(rpma_mr_get_descriptor_size(mr, &size), 0);
	EQUAL(size, DESCRIPTOR_SIZE);
	memset(bytes, 0xee, sizeof(bytes));
	watch();
	RETURNS(rpma_mr_get_descriptor(mr, bytes + 1), 0);
	CHECK(memcmp(bytes, expected, sizeof(bytes)) == 0);
	NO_CALLS();
	NO_LOG();
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_get_descriptor, null_arguments_are_invalid)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 8, 1);
	unsigned char bytes[DESCRIPTOR_SIZE] = {0xee};
	size_t size = 77;

	INVALID(rpma_mr_get_descriptor(NULL, bytes));
	EQUAL(bytes[0], 0xee);
	INVALID(rpma_mr_get_descriptor(mr, NULL));
	INVALID(rpma_mr_get_descriptor_size(NULL, &size));
	EQUAL(size, 77);
	INVALID(rpma_mr_get_descriptor_size(mr, NULL));
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_get_ptr, and_size_are_those_registered)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = NULL;
	void *address = NULL;
	size_t size = 0;

	RETURNS(rpma_mr_reg(peer, provider_memory + 3, 5, 1, &mr), 0);
	RETURNS(rpma_mr_get_ptr(mr, &address), 0);
	SAME(address, provider_memory + 3);
	RETURNS(rpma_mr_get_size(mr, &size), 0);
	EQUAL(size, 5);
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_get_ptr, and_size_with_null_arguments_are_invalid)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 8, 1);
	void *address = UNTOUCHED;
	size_t size = 77;

	INVALID(rpma_mr_get_ptr(NULL, &address));
	SAME(address, UNTOUCHED);
	INVALID(rpma_mr_get_ptr(mr, NULL));
	INVALID(rpma_mr_get_size(NULL, &size));
	EQUAL(size, 77);
	INVALID(rpma_mr_get_size(mr, NULL));
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_remote_from_descriptor, reads_what_get_descriptor_wrote)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 0x123456789, EVERY_USAGE);
	struct rpma_mr_remote *remote = NULL;
	unsigned char bytes[DESCRIPTOR_SIZE];
	size_t size = 0;
	int type = 0;

	RETURNS(rpma_mr_get_descriptor(mr, bytes), 0);
	watch();
	RETURNS(rpma_mr_remote_from_descriptor(bytes, sizeof(bytes), &remote),
		0);
	LOG_COUNT(RPMA_LOG_LEVEL_INFO, 0);
	LOGGED(RPMA_LOG_LEVEL_DEBUG, "");
	RETURNS(rpma_mr_remote_get_size(remote, &size), 0);
	EQUAL(size, 0x123456789);
	RETURNS(rpma_mr_remote_get_flush_type(remote, &type), 0);
	EQUAL(type, FLUSH_TYPES);
	RETURNS(rpma_mr_remote_delete(&remote), 0);
	SAME(remote, NULL);
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_remote_from_descriptor, short_ones_are_invalid_with_an_error_line)
{
	unsigned char bytes[DESCRIPTOR_SIZE] = {0};
	struct rpma_mr_remote *remote = UNTOUCHED;

	bytes[20] = 1;
	for (size_t size = 0; size < DESCRIPTOR_SIZE; size++) {
		watch();
		RETURNS(rpma_mr_remote_from_descriptor(bytes, size, &remote),
			RPMA_E_INVAL);
		SAME(remote, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "");
	}
}

TEST(mr_remote_from_descriptor, longer_ones_are_accepted)
{
	unsigned char bytes[64] = {0};
	struct rpma_mr_remote *remote = NULL;

	bytes[20] = 1;
	RETURNS(rpma_mr_remote_from_descriptor(bytes, 22, &remote), 0);
	rpma_mr_remote_delete(&remote);
	RETURNS(rpma_mr_remote_from_descriptor(bytes, SIZE_MAX, &remote), 0);
	rpma_mr_remote_delete(&remote);
}

TEST(mr_remote_from_descriptor, no_usage_is_invalid_with_an_error_line)
{
	unsigned char bytes[DESCRIPTOR_SIZE] = {0};
	struct rpma_mr_remote *remote = UNTOUCHED;

	watch();
	RETURNS(rpma_mr_remote_from_descriptor(bytes, sizeof(bytes), &remote),
		RPMA_E_INVAL);
	SAME(remote, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "");
}

TEST(mr_remote_from_descriptor, null_arguments_are_invalid)
{
	unsigned char bytes[DESCRIPTOR_SIZE] = {0};
	struct rpma_mr_remote *remote = UNTOUCHED;

	INVALID(rpma_mr_remote_from_descriptor(NULL, sizeof(bytes), &remote));
	SAME(remote, UNTOUCHED);
	INVALID(rpma_mr_remote_from_descriptor(bytes, sizeof(bytes), NULL));
	INVALID(rpma_mr_remote_from_descriptor(NULL, 0, NULL));
}

TEST(mr_remote_from_descriptor, out_of_memory_is_nomem)
{
	unsigned char bytes[DESCRIPTOR_SIZE] = {0};
	struct rpma_mr_remote *remote = UNTOUCHED;

	bytes[20] = 1;
	provider_fail_allocation(1);
	watch();
	RETURNS(rpma_mr_remote_from_descriptor(bytes, sizeof(bytes), &remote),
		RPMA_E_NOMEM);
	SAME(remote, UNTOUCHED);
	NO_LOG();
}

TEST(mr_remote_get_flush_type, is_the_flush_bits_of_every_usage)
{
	for (int usage = 1; usage <= EVERY_USAGE; usage++) {
		struct rpma_mr_remote *remote = a_remote_region(0x1000, 8,
			usage);
		int type = -1;

		RETURNS(rpma_mr_remote_get_flush_type(remote, &type), 0);
		EQUAL(type, usage & FLUSH_TYPES);
		rpma_mr_remote_delete(&remote);
		watch();
	}
}

TEST(mr_remote_get_size, is_that_of_the_descriptor)
{
	static const uint64_t sizes[] = {0, 1, UINT32_MAX, UINT64_MAX};

	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_mr_remote *remote = a_remote_region(0, sizes[n], 1);
		size_t size = 77;

		RETURNS(rpma_mr_remote_get_size(remote, &size), 0);
		CHECK(size == sizes[n]);
		rpma_mr_remote_delete(&remote);
	}
}

TEST(mr_remote_get_size, and_flush_type_with_null_arguments_are_invalid)
{
	struct rpma_mr_remote *remote = a_remote_region(0x1000, 8, 1);
	size_t size = 77;
	int type = 77;

	INVALID(rpma_mr_remote_get_size(NULL, &size));
	EQUAL(size, 77);
	INVALID(rpma_mr_remote_get_size(remote, NULL));
	INVALID(rpma_mr_remote_get_flush_type(NULL, &type));
	EQUAL(type, 77);
	INVALID(rpma_mr_remote_get_flush_type(remote, NULL));
	rpma_mr_remote_delete(&remote);
}

TEST(mr_remote_delete, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_mr_remote *remote = NULL;

	INVALID(rpma_mr_remote_delete(NULL));
	RETURNS(rpma_mr_remote_delete(&remote), 0);
	NO_CALLS();
	NO_LOG();
}

TEST(mr_advise, passes_everything_on)
{
	static const int advices[] = {IBV_ADVISE_MR_ADVICE_PREFETCH,
		IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
		IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 77, -1};
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 4096, 1);

	for (unsigned int n = 0; n < 5; n++) {
		char line[120];

		watch();
		RETURNS(rpma_mr_advise(mr, 16, 100, advices[n],
			IBV_ADVISE_MR_FLAG_FLUSH), 0);
		snprintf(line, sizeof(line), "ibv_advise_mr(pd1, %d, 0x1, "
			"[mem+16, 100, 0x1001]) = 0", advices[n]);
		CALLS(line);
		NO_LOG();
	}
	watch();
	RETURNS(rpma_mr_advise(mr, 0, 0, 0, UINT32_MAX), 0);
	CALLS("ibv_advise_mr(pd1, 0, 0xffffffff, [mem+0, 0, 0x1001]) = 0");
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_advise, maps_the_provider_code)
{
	static const struct {
		int code, result;
	} cases[] = {
		{EOPNOTSUPP, RPMA_E_NOSUPP}, {ENOTSUP, RPMA_E_NOSUPP},
		{EFAULT, RPMA_E_INVAL}, {EINVAL, RPMA_E_INVAL},
		{EPERM, RPMA_E_PROVIDER}, {ENOENT, RPMA_E_PROVIDER},
		{ENOMEM, RPMA_E_PROVIDER}, {EIO, RPMA_E_PROVIDER},
	};
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 4096, 1);

	for (unsigned int n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		provider_fail(CALL_ibv_advise_mr, 1, cases[n].code);
		watch();
		RETURNS(rpma_mr_advise(mr, 0, 8, 0, 0), cases[n].result);
		EQUAL(provider_log_length(), 1);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_advise_mr",
			strerror(cases[n].code));
	}
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

DIFFERS(mr_advise, provider_error_has_its_code_in_errno, "F17")
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 4096, 1);

	provider_fail(CALL_ibv_advise_mr, 1, EIO);
	FAILS(rpma_mr_advise(mr, 0, 8, 0, 0), RPMA_E_PROVIDER, EIO);
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

TEST(mr_advise, driver_without_it_is_unsupported)
{
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;

	provider_device.advise_mr = 0;
	provider_context();
	peer = a_peer();
	mr = a_region(peer, 4096, 1);
	watch();
	RETURNS(rpma_mr_advise(mr, 0, 8, 0, 0), RPMA_E_NOSUPP);
	NO_CALLS();
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_advise_mr");
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

DIFFERS(mr_advise, null_region_is_invalid, "F15")
{
	INVALID(rpma_mr_advise(NULL, 0, 8, 0, 0));
}

DIFFERS(mr_advise, more_than_32_bits_are_split_without_gap_or_overlap, "F6")
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = NULL;
	size_t length = 2 * (size_t)UINT32_MAX + 12345;
	unsigned long long next = 0x200000000000ull + 64, end = next + length;

	if (rpma_mr_reg(peer, (void *)0x200000000000, SIZE_MAX >> 20, 1, &mr))
		abort();
	watch();
	RETURNS(rpma_mr_advise(mr, 64, length, 0, 0), 0);
	for (unsigned int n = 0; n < provider_log_length(); n++) {
		const char *at = provider_log_line(n);

		while ((at = strchr(at, '['))) {
			unsigned long long begin;
			unsigned int size, lkey;

			EQUAL(sscanf(at, "[%llx, %u, %x]", &begin, &size,
				&lkey), 3);
			CHECK(begin == next);
			EQUAL(lkey, 0x1001);
			next = begin + size;
			at++;
		}
	}
	CHECK(next == end);
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}

DIFFERS(mr_advise, range_over_64_bits_is_invalid, "F22")
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 4096, 1);

	INVALID(rpma_mr_advise(mr, SIZE_MAX, 8, 0, 0));
	INVALID(rpma_mr_advise(mr, 8, SIZE_MAX, 0, 0));
	rpma_mr_dereg(&mr);
	no_peer(&peer);
}
