/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_peer_*: a device, what it can do, and a protection domain */
#include "contract.h"

#define NATIVE_ATOMIC_WRITE (1ull << 40)
#define NATIVE_FLUSH ((1ull << 38) | (1ull << 39))

TEST(peer_new, queries_the_device_once_and_allocates_a_pd)
{
	struct rpma_peer *peer = NULL;

	watch();
	RETURNS(rpma_peer_new(provider_context(), &peer), 0);
	CHECK(peer != NULL);
	CALLS("ibv_query_device_ex() = 0", "ibv_alloc_pd(context) = pd1");
	LOG_COUNT(RPMA_LOG_LEVEL_NOTICE, 0);
	no_peer(&peer);
}

TEST(peer_new, null_arguments_are_invalid)
{
	struct rpma_peer *peer = UNTOUCHED;

	INVALID(rpma_peer_new(NULL, &peer));
	SAME(peer, UNTOUCHED);
	INVALID(rpma_peer_new(provider_context(), NULL));
	INVALID(rpma_peer_new(NULL, NULL));
}

TEST(peer_new, failing_query_is_a_provider_error_with_its_code_in_errno)
{
	static const int codes[] = {EIO, ENOMEM, EPERM};
	struct rpma_peer *peer = UNTOUCHED;

	for (unsigned int n = 0; n < 3; n++) {
		provider_fail(CALL_ibv_query_device_ex, 1, codes[n]);
		watch();
		FAILS(rpma_peer_new(provider_context(), &peer),
			RPMA_E_PROVIDER, codes[n]);
		SAME(peer, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_query_device",
			strerror(codes[n]));
		EQUAL(calls_with("ibv_alloc_pd"), 0);
	}
}

TEST(peer_new, old_driver_is_queried_the_old_way)
{
	struct rpma_peer *peer;

	provider_device.query_device_ex = 0;
	provider_context();
	watch();
	peer = a_peer();
	CALLS("ibv_query_device() = 0", "ibv_alloc_pd(context) = pd1");
	no_peer(&peer);
}

TEST(peer_new, unsupported_extended_query_falls_back)
{
	static const int codes[] = {EOPNOTSUPP, ENOSYS};

	for (unsigned int n = 0; n < 2; n++) {
		struct rpma_peer *peer;

		provider_fail(CALL_ibv_query_device_ex, 1, codes[n]);
		watch();
		peer = a_peer();
		EQUAL(calls_with("ibv_query_device() = 0"), 1);
		LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 0);
		no_peer(&peer);
	}
}

TEST(peer_new, no_pd_for_want_of_memory_is_nomem)
{
	struct rpma_peer *peer = UNTOUCHED;

	provider_fail(CALL_ibv_alloc_pd, 1, ENOMEM);
	watch();
	RETURNS(rpma_peer_new(provider_context(), &peer), RPMA_E_NOMEM);
	SAME(peer, UNTOUCHED);
}

TEST(peer_new, no_pd_for_another_reason_is_a_provider_error)
{
	struct rpma_peer *peer = UNTOUCHED;

	provider_fail(CALL_ibv_alloc_pd, 1, EPERM);
	watch();
	FAILS(rpma_peer_new(provider_context(), &peer), RPMA_E_PROVIDER,
		EPERM);
	SAME(peer, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_alloc_pd", strerror(EPERM));
}

TEST(peer_new, no_pd_for_no_reason_is_unknown_and_not_logged)
{
	struct rpma_peer *peer = UNTOUCHED;

	provider_return(CALL_ibv_alloc_pd, 1, 0, 0);
	watch();
	errno = EEXIST;
	RETURNS(rpma_peer_new(provider_context(), &peer), RPMA_E_UNKNOWN);
	SAME(peer, UNTOUCHED);
	LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 0);
}

TEST(peer_new, out_of_memory_is_not_logged_and_leaves_no_pd)
{
	struct rpma_peer *peer = UNTOUCHED;

	provider_fail_allocation(1);
	watch();
	RETURNS(rpma_peer_new(provider_context(), &peer), RPMA_E_NOMEM);
	SAME(peer, UNTOUCHED);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
}

DIFFERS(peer_new, device_with_native_operations_gives_no_line, "F11")
{
	struct rpma_peer *peer;

	provider_device.device_cap_flags_ex =
		NATIVE_ATOMIC_WRITE | NATIVE_FLUSH;
	watch();
	peer = a_peer();
	LOG_COUNT(RPMA_LOG_LEVEL_INFO, 0);
	no_peer(&peer);
}

DIFFERS(peer_new, one_info_line_for_each_missing_native_operation, "F11")
{
	struct rpma_peer *peer;

	watch();
	peer = a_peer();
	LOG_COUNT(RPMA_LOG_LEVEL_INFO, 2);
	LOG_COUNT(RPMA_LOG_LEVEL_NOTICE, 0);
	no_peer(&peer);
	provider_device.device_cap_flags_ex = NATIVE_FLUSH;
	watch();
	peer = a_peer();
	LOGGED(RPMA_LOG_LEVEL_INFO, "tomic write");
	no_peer(&peer);
	provider_device.device_cap_flags_ex = NATIVE_ATOMIC_WRITE;
	watch();
	peer = a_peer();
	LOGGED(RPMA_LOG_LEVEL_INFO, "lush");
	no_peer(&peer);
}

DIFFERS(peer_new, flush_is_native_only_with_both_of_its_bits, "F11")
{
	for (int bit = 38; bit <= 39; bit++) {
		struct rpma_peer *peer;

		provider_device.device_cap_flags_ex =
			NATIVE_ATOMIC_WRITE | (1ull << bit);
		watch();
		peer = a_peer();
		LOGGED(RPMA_LOG_LEVEL_INFO, "lush");
		no_peer(&peer);
	}
}

TEST(peer_delete, deallocates_the_pd)
{
	struct rpma_peer *peer = a_peer();

	watch();
	RETURNS(rpma_peer_delete(&peer), 0);
	SAME(peer, NULL);
	CALLS("ibv_dealloc_pd(pd1) = 0");
	NO_LOG();
}

TEST(peer_delete, null_pointer_is_invalid)
{
	INVALID(rpma_peer_delete(NULL));
}

TEST(peer_delete, null_handle_is_fine)
{
	struct rpma_peer *peer = NULL;

	watch();
	RETURNS(rpma_peer_delete(&peer), 0);
	NO_CALLS();
	NO_LOG();
}

DIFFERS(peer_delete, failing_dealloc_gives_its_code_and_no_handle, "F17")
{
	static const int codes[] = {EBUSY, EIO, EINVAL};

	for (unsigned int n = 0; n < 3; n++) {
		struct rpma_peer *peer = a_peer();

		provider_fail(CALL_ibv_dealloc_pd, 1, codes[n]);
		watch();
		FAILS(rpma_peer_delete(&peer), RPMA_E_PROVIDER, codes[n]);
		SAME(peer, NULL);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_dealloc_pd",
			strerror(codes[n]));
	}
}

DIFFERS(peer_delete, with_a_live_region_is_refused_and_the_region_works_on, "F17")
{
	struct rpma_peer *peer = a_peer();
	struct rpma_mr_local *mr = a_region(peer, 64, RPMA_MR_USAGE_READ_SRC);
	size_t size = 0;

	FAILS(rpma_peer_delete(&peer), RPMA_E_PROVIDER, EBUSY);
	SAME(peer, NULL);
	RETURNS(rpma_mr_get_size(mr, &size), 0);
	EQUAL(size, 64);
	RETURNS(rpma_mr_dereg(&mr), 0);
	/* the PD is nobody's any more */
	EQUAL(provider_alive(), 1);
	provider_reset();
}

DIFFERS(peer_delete, with_a_live_connection_is_refused_and_the_connection_works_on, "F17")
{
	struct rpma_peer *peer = a_peer();
	struct rpma_conn *conn = a_connection(peer, NULL);
	struct rpma_mr_remote *remote = a_remote_region(0x1000, 4096,
		RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);

	FAILS(rpma_peer_delete(&peer), RPMA_E_PROVIDER, EBUSY);
	SAME(peer, NULL);
	RETURNS(rpma_flush(conn, remote, 0, 64, RPMA_FLUSH_TYPE_VISIBILITY,
		RPMA_F_COMPLETION_ALWAYS, NULL), 0);
	RETURNS(rpma_conn_disconnect(conn), 0);
	RETURNS(rpma_conn_delete(&conn), 0);
	RETURNS(rpma_mr_remote_delete(&remote), 0);
	EQUAL(provider_alive(), 1);
	provider_reset();
}
