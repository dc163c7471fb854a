/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_utils_*: finding a device, asking it for ODP, and names of events */
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <unistd.h>
#include "contract.h"

#define LOCAL RPMA_UTIL_IBV_CONTEXT_LOCAL
#define REMOTE RPMA_UTIL_IBV_CONTEXT_REMOTE

TEST(utils_get_ibv_context, local_address_is_bound)
{
	struct ibv_context *context = NULL;

	watch();
	RETURNS(rpma_utils_get_ibv_context(ADDRESS, LOCAL, &context), 0);
	SAME(context, provider_context());
	CALLS("rdma_getaddrinfo(10.0.0.1, none, RC port_space=0x106 flags=0x1)"
		" = addrinfo1",
		"rdma_create_id(none, none, 0x106) = id1",
		"rdma_bind_addr(id1, 10.0.0.1:0) = 0",
		"rdma_destroy_id(id1) = 0",
		"rdma_freeaddrinfo(addrinfo1)");
	NO_LOG();
}

TEST(utils_get_ibv_context, remote_address_is_resolved)
{
	struct ibv_context *context = NULL;

	watch();
	RETURNS(rpma_utils_get_ibv_context(ADDRESS, REMOTE, &context), 0);
	SAME(context, provider_context());
	CALLS("rdma_getaddrinfo(10.0.0.1, none, RC port_space=0x106 flags=0x0)"
		" = addrinfo1",
		"rdma_create_id(none, none, 0x106) = id1",
		"rdma_resolve_addr(id1, none, 10.0.0.1:0, 1000) = 0",
		"rdma_destroy_id(id1) = 0",
		"rdma_freeaddrinfo(addrinfo1)");
	NO_LOG();
}

TEST(utils_get_ibv_context, null_arguments_are_invalid)
{
	struct ibv_context *context = UNTOUCHED;

	INVALID(rpma_utils_get_ibv_context(NULL, LOCAL, &context));
	SAME(context, UNTOUCHED);
	INVALID(rpma_utils_get_ibv_context(ADDRESS, LOCAL, NULL));
}

TEST(utils_get_ibv_context, other_types_are_invalid)
{
	static const int types[] = {-1, 2, 0x100, INT_MAX, INT_MIN};
	struct ibv_context *context = UNTOUCHED;

	for (unsigned int n = 0; n < 5; n++)
		INVALID(rpma_utils_get_ibv_context(ADDRESS,
			(enum rpma_util_ibv_context_type)types[n], &context));
	SAME(context, UNTOUCHED);
}

static void check_failure(enum provider_call call, const char *name,
		enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context = UNTOUCHED;

	provider_fail(call, 1, ENETUNREACH);
	watch();
	FAILS(rpma_utils_get_ibv_context(ADDRESS, type, &context),
		RPMA_E_PROVIDER, ENETUNREACH);
	SAME(context, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, name, strerror(ENETUNREACH));
}

TEST(utils_get_ibv_context, failing_rdma_getaddrinfo_is_a_provider_error)
{
	check_failure(CALL_rdma_getaddrinfo, "rdma_getaddrinfo", LOCAL);
	check_failure(CALL_rdma_getaddrinfo, "rdma_getaddrinfo", REMOTE);
}

TEST(utils_get_ibv_context, failing_rdma_create_id_is_a_provider_error)
{
	check_failure(CALL_rdma_create_id, "rdma_create_id", LOCAL);
	check_failure(CALL_rdma_create_id, "rdma_create_id", REMOTE);
}

TEST(utils_get_ibv_context, failing_rdma_bind_addr_is_a_provider_error)
{
	check_failure(CALL_rdma_bind_addr, "rdma_bind_addr", LOCAL);
}

TEST(utils_get_ibv_context, failing_rdma_resolve_addr_is_a_provider_error)
{
	check_failure(CALL_rdma_resolve_addr, "rdma_resolve_addr", REMOTE);
}

DIFFERS(utils_get_ibv_context, eai_code_is_explained_and_errno_is_einval, "F17")
{
	static const int codes[] = {EAI_NONAME, EAI_SERVICE, EAI_FAMILY};
	struct ibv_context *context = UNTOUCHED;

	for (unsigned int n = 0; n < 3; n++) {
		provider_return(CALL_rdma_getaddrinfo, 1, codes[n], 0);
		watch();
		FAILS(rpma_utils_get_ibv_context("nowhere", LOCAL, &context),
			RPMA_E_PROVIDER, EINVAL);
		SAME(context, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_getaddrinfo",
			gai_strerror(codes[n]));
	}
}

DIFFERS(utils_get_ibv_context, local_address_on_no_device_is_a_provider_error, "F14")
{
	static const char *const addresses[] = {"0.0.0.0", "127.0.0.1"};
	struct ibv_context *context = UNTOUCHED;

	provider_device.bind_finds_device = 0;
	for (unsigned int n = 0; n < 2; n++) {
		watch();
		FAILS(rpma_utils_get_ibv_context(addresses[n], LOCAL,
			&context), RPMA_E_PROVIDER, ENODEV);
		SAME(context, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, addresses[n]);
	}
}

DIFFERS(utils_get_ibv_context, resolvers_temporary_failure_is_eagain, "F36")
{
	struct ibv_context *context = UNTOUCHED;

	provider_return(CALL_rdma_getaddrinfo, 1, EAI_AGAIN, 0);
	watch();
	FAILS(rpma_utils_get_ibv_context("nowhere", REMOTE, &context),
		RPMA_E_PROVIDER, EAGAIN);
	SAME(context, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_getaddrinfo(\"nowhere\", NULL)",
		gai_strerror(EAI_AGAIN));
}

DIFFERS(utils_get_ibv_context, lines_name_address_and_timeout, "F36")
{
	struct ibv_context *context = UNTOUCHED;

	provider_fail(CALL_rdma_bind_addr, 1, EADDRNOTAVAIL);
	watch();
	FAILS(rpma_utils_get_ibv_context(ADDRESS, LOCAL, &context),
		RPMA_E_PROVIDER, EADDRNOTAVAIL);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_bind_addr(\"" ADDRESS "\"",
		strerror(EADDRNOTAVAIL));
	TEXT(log_function(0), "rpma_utils_get_ibv_context");
	provider_fail(CALL_rdma_resolve_addr, 1, ENETUNREACH);
	watch();
	FAILS(rpma_utils_get_ibv_context(ADDRESS, REMOTE, &context),
		RPMA_E_PROVIDER, ENETUNREACH);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_resolve_addr(\"" ADDRESS "\"",
		"1000 ms", strerror(ENETUNREACH));
	TEXT(log_function(0), "rpma_utils_get_ibv_context");
}

DIFFERS(utils_get_ibv_context, mapped_address_is_the_ipv4_one, "F33")
{
	static const char *const texts[] = {"::ffff:10.0.0.1",
		"::FFFF:a00:1", "0:0:0:0:0:ffff:10.0.0.1"};
	struct ibv_context *context = NULL;

	for (unsigned int n = 0; n < 3; n++) {
		watch();
		RETURNS(rpma_utils_get_ibv_context(texts[n], LOCAL, &context),
			0);
		EQUAL(calls_with(", 10.0.0.1:0) = 0"), 1);
		watch();
		RETURNS(rpma_utils_get_ibv_context(texts[n], REMOTE, &context),
			0);
		EQUAL(calls_with(", none, 10.0.0.1:0, 1000) = 0"), 1);
	}
}

TEST(utils_get_ibv_context, other_ipv6_addresses_stay)
{
	static const char *const texts[] = {"fe80::ffff:a00:1", "::a00:1",
		"::ffff:0:a00:1", "::1"};
	struct ibv_context *context = NULL;

	for (unsigned int n = 0; n < 4; n++) {
		watch();
		RETURNS(rpma_utils_get_ibv_context(texts[n], LOCAL, &context),
			0);
		EQUAL(calls_with("rdma_bind_addr(id"), 1);
		EQUAL(calls_with(", ["), 1);
	}
}

static const char *const two[] = {"fd00::7", "10.0.0.2", NULL};
static const char *const three[] = {"fd00::7", "10.0.0.2", "10.0.0.3", NULL};

DIFFERS(utils_get_ibv_context, next_address_of_the_name_is_tried, "F34")
{
	struct ibv_context *context = NULL;

	provider_host("server", two);
	provider_fail(CALL_rdma_bind_addr, 1, ENODEV);
	watch();
	errno = EXDEV;
	RETURNS(rpma_utils_get_ibv_context("server", LOCAL, &context), 0);
	EQUAL(errno, EXDEV);
	SAME(context, provider_context());
	CALLS("rdma_getaddrinfo(server, none, RC port_space=0x106 flags=0x1)"
		" = addrinfo1",
		"rdma_create_id(none, none, 0x106) = id1",
		"rdma_bind_addr(id1, [fd00::7]:0) = ENODEV",
		"rdma_destroy_id(id1) = 0",
		"rdma_create_id(none, none, 0x106) = id2",
		"rdma_bind_addr(id2, 10.0.0.2:0) = 0",
		"rdma_destroy_id(id2) = 0",
		"rdma_freeaddrinfo(addrinfo1)");
	NO_LOG();
	provider_fail(CALL_rdma_resolve_addr, 1, ENETUNREACH);
	watch();
	RETURNS(rpma_utils_get_ibv_context("server", REMOTE, &context), 0);
	EQUAL(calls_with("none, [fd00::7]:0, 1000) = ENETUNREACH"), 1);
	EQUAL(calls_with("none, 10.0.0.2:0, 1000) = 0"), 1);
	NO_LOG();
}

DIFFERS(utils_get_ibv_context, error_is_the_last_addresses_and_names_all, "F34")
{
	struct ibv_context *context = UNTOUCHED;

	provider_host("server", three);
	provider_fail(CALL_rdma_bind_addr, 1, ENODEV);
	provider_fail(CALL_rdma_bind_addr, 2, EADDRNOTAVAIL);
	provider_fail(CALL_rdma_bind_addr, 3, EACCES);
	watch();
	FAILS(rpma_utils_get_ibv_context("server", LOCAL, &context),
		RPMA_E_PROVIDER, EACCES);
	SAME(context, UNTOUCHED);
	EQUAL(calls_with("rdma_bind_addr("), 3);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_bind_addr(\"server\"",
		"fd00::7, 10.0.0.2, 10.0.0.3", strerror(EACCES));
}

DIFFERS(utils_get_ibv_context, local_address_of_no_device_leads_to_the_next, "F34")
{
	static const char *const hosts[] = {"127.0.1.1", "0.0.0.0", NULL};
	struct ibv_context *context = UNTOUCHED;

	provider_host("server", hosts);
	provider_device.bind_finds_device = 0;
	watch();
	FAILS(rpma_utils_get_ibv_context("server", LOCAL, &context),
		RPMA_E_PROVIDER, ENODEV);
	SAME(context, UNTOUCHED);
	EQUAL(calls_with("rdma_bind_addr("), 2);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "no RDMA device", "127.0.1.1, 0.0.0.0");
}

TEST(utils_get_ibv_context, address_is_tried_once)
{
	struct ibv_context *context = UNTOUCHED;

	provider_fail(CALL_rdma_bind_addr, 1, ENODEV);
	watch();
	FAILS(rpma_utils_get_ibv_context(ADDRESS, LOCAL, &context),
		RPMA_E_PROVIDER, ENODEV);
	EQUAL(calls_with("rdma_bind_addr("), 1);
}

DIFFERS(utils_get_ibv_context, next_addresses_id_cannot_be_had, "F34")
{
	struct ibv_context *context = UNTOUCHED;

	provider_host("server", two);
	provider_fail(CALL_rdma_bind_addr, 1, ENODEV);
	provider_fail(CALL_rdma_create_id, 2, EMFILE);
	watch();
	FAILS(rpma_utils_get_ibv_context("server", LOCAL, &context),
		RPMA_E_PROVIDER, EMFILE);
	SAME(context, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_create_id", strerror(EMFILE));
}

/*
 * What the line blames is whichever node is missing or forbidden on the machine
 * that this runs on; none where all can be opened.
 */
DIFFERS(utils_get_ibv_context, line_names_the_missing_device_node, "F40")
{
	static const enum provider_call calls[] = {CALL_rdma_create_id,
		CALL_rdma_getaddrinfo, CALL_rdma_bind_addr};
	static const int errors[] = {ENODEV, ENOMEM, ENOENT, EACCES, EPERM};
	struct ibv_context *context = UNTOUCHED;
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	const char *blamed = fd >= 0 ? NULL : errno == ENOENT ?
		"; /dev/infiniband/rdma_cm is missing: load rdma_ucm" :
		"; /dev/infiniband/rdma_cm is forbidden: load rdma_ucm";

	if (fd >= 0)
		close(fd);
	for (unsigned int n = 0; n < 15; n++) {
		provider_fail(calls[n / 5], 1, errors[n % 5]);
		watch();
		FAILS(rpma_utils_get_ibv_context(ADDRESS, LOCAL, &context),
			RPMA_E_PROVIDER, errors[n % 5]);
		SAME(context, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, strerror(errors[n % 5]),
			blamed ? blamed : "failed: ");
		TEXT(log_function(0), "rpma_utils_get_ibv_context");
	}
	/* what no node can be the cause of blames none */
	provider_fail(CALL_rdma_bind_addr, 1, EADDRINUSE);
	watch();
	FAILS(rpma_utils_get_ibv_context(ADDRESS, LOCAL, &context),
		RPMA_E_PROVIDER, EADDRINUSE);
	CHECK(!strstr(log_message(0), "/dev/infiniband"));
}

DIFFERS(utils_get_ibv_context, id_that_stays_is_worth_a_warning, "F37")
{
	struct ibv_context *context = UNTOUCHED;

	provider_fail(CALL_rdma_destroy_id, 1, EBUSY);
	watch();
	errno = EXDEV;
	RETURNS(rpma_utils_get_ibv_context(ADDRESS, LOCAL, &context), 0);
	EQUAL(errno, EXDEV);
	SAME(context, provider_context());
	LOGGED(RPMA_LOG_LEVEL_WARNING, "rdma_destroy_id", strerror(EBUSY));
	EQUAL(log_level_of(0), RPMA_LOG_LEVEL_WARNING);
}

DIFFERS(utils_get_ibv_context, log_lines_name_no_null, "F28")
{
	static const enum provider_call calls[] = {CALL_rdma_getaddrinfo,
		CALL_rdma_create_id, CALL_rdma_bind_addr};
	struct ibv_context *context = UNTOUCHED;

	for (unsigned int n = 0; n < 3; n++) {
		provider_fail(calls[n], 1, EIO);
		watch();
		RETURNS(rpma_utils_get_ibv_context(ADDRESS, LOCAL, &context),
			RPMA_E_PROVIDER);
		CHECK(strstr(log_message(0), "(null)") == NULL);
	}
}

TEST(utils_ibv_context_is_odp_capable, needs_support_and_both_rc_directions)
{
	static const uint32_t caps[] = {0, IBV_ODP_SUPPORT_WRITE,
		IBV_ODP_SUPPORT_READ,
		IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ, UINT32_MAX,
		IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV};

	for (unsigned int general = 0; general < 2; general++) {
		for (unsigned int n = 0; n < 6; n++) {
			int capable = 77;

			provider_device.odp_general_caps =
				general ? IBV_ODP_SUPPORT : 2;
			provider_device.odp_rc_caps = caps[n];
			watch();
			RETURNS(rpma_utils_ibv_context_is_odp_capable(
				provider_context(), &capable), 0);
			EQUAL(capable, general && (n == 3 || n == 4));
			CALLS("ibv_query_device_ex() = 0");
			NO_LOG();
		}
	}
}

TEST(utils_ibv_context_is_odp_capable, old_driver_is_not)
{
	int capable = 77;

	provider_device.odp_general_caps = IBV_ODP_SUPPORT;
	provider_device.odp_rc_caps = UINT32_MAX;
	provider_device.query_device_ex = 0;
	watch();
	RETURNS(rpma_utils_ibv_context_is_odp_capable(provider_context(),
		&capable), 0);
	EQUAL(capable, 0);
	CALLS("ibv_query_device() = 0");
}

TEST(utils_ibv_context_is_odp_capable, null_arguments_are_invalid)
{
	int capable = 77;

	INVALID(rpma_utils_ibv_context_is_odp_capable(NULL, &capable));
	EQUAL(capable, 77);
	INVALID(rpma_utils_ibv_context_is_odp_capable(provider_context(),
		NULL));
}

DIFFERS(utils_ibv_context_is_odp_capable,
	failing_query_is_a_provider_error, "OUTPUTS")
{
	int capable = 77;

	provider_fail(CALL_ibv_query_device_ex, 1, EIO);
	watch();
	FAILS(rpma_utils_ibv_context_is_odp_capable(provider_context(),
		&capable), RPMA_E_PROVIDER, EIO);
	EQUAL(capable, 77);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_query_device", strerror(EIO));
}

TEST(utils_conn_event_2str, name_of_every_event)
{
	TEXT(rpma_utils_conn_event_2str(RPMA_CONN_UNDEFINED),
		"Undefined connection event");
	TEXT(rpma_utils_conn_event_2str(RPMA_CONN_ESTABLISHED),
		"Connection established");
	TEXT(rpma_utils_conn_event_2str(RPMA_CONN_CLOSED),
		"Connection closed");
	TEXT(rpma_utils_conn_event_2str(RPMA_CONN_LOST),
		"Connection lost");
	TEXT(rpma_utils_conn_event_2str(RPMA_CONN_REJECTED),
		"Connection rejected");
	TEXT(rpma_utils_conn_event_2str(RPMA_CONN_UNREACHABLE),
		"Connection unreachable");
}

TEST(utils_conn_event_2str, any_other_value_has_the_same_text)
{
	static const int events[] = {5, 6, -2, INT_MAX, INT_MIN};

	for (unsigned int n = 0; n < 5; n++)
		TEXT(rpma_utils_conn_event_2str(
			(enum rpma_conn_event)events[n]), 
			"Unsupported connection event");
}
