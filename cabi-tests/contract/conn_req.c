/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_conn_req_*: outgoing and incoming connection requests */
#define _GNU_SOURCE
#include <netdb.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "contract.h"

static struct rpma_peer *peer;

static struct rpma_conn_cfg *a_cfg(uint32_t rcq_size, bool shared,
		struct rpma_srq *srq)
{
	struct rpma_conn_cfg *cfg = NULL;

	if (rpma_conn_cfg_new(&cfg) ||
	    rpma_conn_cfg_set_rcq_size(cfg, rcq_size) ||
	    rpma_conn_cfg_set_compl_channel(cfg, shared) ||
	    (srq && rpma_conn_cfg_set_srq(cfg, srq)))
		abort();
	return cfg;
}

static struct rpma_srq *an_srq(uint32_t rcq_size)
{
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;

	if (rpma_srq_cfg_new(&cfg) ||
	    rpma_srq_cfg_set_rcq_size(cfg, rcq_size) ||
	    rpma_srq_new(peer, cfg, &srq) || rpma_srq_cfg_delete(&cfg))
		abort();
	return srq;
}

/* the index of the first line since watch() that contains this */
static int line_of(const char *part)
{
	for (unsigned int n = 0; n < provider_log_length(); n++)
		if (strstr(provider_log_line(n), part))
			return (int)n;
	return INT_MAX;
}

#define IN_ORDER(first, second) \
	CHECK(line_of(first) < line_of(second) && line_of(second) != INT_MAX)

/* ---- rpma_conn_req_new ---- */

TEST(conn_req_new, resolves_and_makes_the_queues)
{
	struct rpma_conn_req *req = NULL;

	peer = a_peer();
	watch();
	RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, NULL, &req), 0);
	CHECK(req != NULL);
	CALLS("rdma_getaddrinfo(10.0.0.1, 7471, RC port_space=0x106 flags=0x0)"
		" = addrinfo1",
		"rdma_create_id(none, none, 0x106) = id1",
		"rdma_resolve_addr(id1, none, 10.0.0.1:7471, 1000) = 0",
		"rdma_resolve_route(id1, 1000) = 0",
		"ibv_create_comp_channel(context) = channel1",
		"ibv_create_cq(context, 10, none, channel1, 0) = cq1",
		"ibv_req_notify_cq(cq1, 0) = 0",
		"rdma_create_qp_ex(id1, pd1, RC, send_cq=cq1 recv_cq=cq1 "
		"srq=none, sq=10 rq=10 send_sge=1 recv_sge=1 inline=8, "
		"sig_all=0 qp_context=none comp_mask=0x1) = qp1",
		"rdma_freeaddrinfo(addrinfo1)");
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

TEST(conn_req_new, gives_one_notice_with_address_and_port)
{
	struct rpma_conn_req *req;

	peer = a_peer();
	watch();
	req = a_request(peer, NULL);
	LOGGED(RPMA_LOG_LEVEL_NOTICE, ADDRESS, PORT);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

TEST(conn_req_new, null_arguments_are_invalid)
{
	struct rpma_conn_req *req = UNTOUCHED;

	peer = a_peer();
	INVALID(rpma_conn_req_new(NULL, ADDRESS, PORT, NULL, &req));
	INVALID(rpma_conn_req_new(peer, NULL, PORT, NULL, &req));
	INVALID(rpma_conn_req_new(peer, ADDRESS, NULL, NULL, &req));
	INVALID(rpma_conn_req_new(peer, ADDRESS, PORT, NULL, NULL));
	SAME(req, UNTOUCHED);
	no_peer(&peer);
}

TEST(conn_req_new, rcq_is_made_after_the_cq)
{
	struct rpma_conn_cfg *cfg = a_cfg(7, false, NULL);
	struct rpma_conn_req *req;

	peer = a_peer();
	watch();
	req = a_request(peer, cfg);
	EQUAL(calls_with("ibv_create_cq(context, 10, none, channel1, 0) = cq1"),
		1);
	EQUAL(calls_with("ibv_create_cq(context, 7, none, channel2, 0) = cq2"),
		1);
	EQUAL(calls_with("ibv_req_notify_cq(cq2, 0) = 0"), 1);
	EQUAL(calls_with("send_cq=cq1 recv_cq=cq2 srq=none"), 1);
	IN_ORDER("ibv_req_notify_cq(cq1", "ibv_create_cq(context, 7,");
	IN_ORDER("ibv_req_notify_cq(cq2", "rdma_create_qp_ex");
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_req_new, shared_channel_serves_both_cqs)
{
	struct rpma_conn_cfg *cfg = a_cfg(7, true, NULL);
	struct rpma_conn_req *req;

	peer = a_peer();
	watch();
	req = a_request(peer, cfg);
	EQUAL(calls_with("ibv_create_comp_channel"), 1);
	EQUAL(calls_with("ibv_create_cq(context, 10, none, channel1, 0) = cq1"),
		1);
	EQUAL(calls_with("ibv_create_cq(context, 7, none, channel1, 0) = cq2"),
		1);
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_req_new, srq_with_an_rcq_brings_the_receive_cq)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_srq *srq;

	peer = a_peer();
	srq = an_srq(20);
	cfg = a_cfg(7, false, srq);
	watch();
	req = a_request(peer, cfg);
	/* cq1 is the SRQ's; an rcq size of the connection is not used */
	EQUAL(calls_with("ibv_create_cq"), 1);
	EQUAL(calls_with("send_cq=cq2 recv_cq=cq1 srq=srq1, sq=10 rq=10"), 1);
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_delete(&cfg);
	rpma_srq_delete(&srq);
	no_peer(&peer);
}

TEST(conn_req_new, srq_without_rcq_leaves_it_to_the_cfg)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;
	struct rpma_srq *srq;

	peer = a_peer();
	srq = an_srq(0);
	cfg = a_cfg(0, false, srq);
	watch();
	req = a_request(peer, cfg);
	EQUAL(calls_with("send_cq=cq1 recv_cq=cq1 srq=srq1"), 1);
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_delete(&cfg);
	cfg = a_cfg(7, false, srq);
	watch();
	req = a_request(peer, cfg);
	EQUAL(calls_with("send_cq=cq2 recv_cq=cq3 srq=srq1"), 1);
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_delete(&cfg);
	rpma_srq_delete(&srq);
	no_peer(&peer);
}

TEST(conn_req_new, srq_with_an_rcq_and_a_shared_channel_are_invalid)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req = UNTOUCHED;
	struct rpma_srq *srq;

	peer = a_peer();
	srq = an_srq(20);
	cfg = a_cfg(0, true, srq);
	watch();
	RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_INVAL);
	SAME(req, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "");
	EQUAL(calls_with("ibv_create"), 0);
	rpma_conn_cfg_delete(&cfg);
	rpma_srq_delete(&srq);
	no_peer(&peer);
}

TEST(conn_req_new, srq_without_rcq_and_a_shared_channel_go_together)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req = NULL;
	struct rpma_srq *srq;

	peer = a_peer();
	srq = an_srq(0);
	cfg = a_cfg(7, true, srq);
	RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req), 0);
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_delete(&cfg);
	rpma_srq_delete(&srq);
	no_peer(&peer);
}

static const struct {
	enum provider_call call;
	const char *name;
} makers[] = {
	{CALL_rdma_getaddrinfo, "rdma_getaddrinfo"},
	{CALL_rdma_create_id, "rdma_create_id"},
	{CALL_rdma_resolve_addr, "rdma_resolve_addr"},
	{CALL_rdma_resolve_route, "rdma_resolve_route"},
	{CALL_ibv_create_comp_channel, "ibv_create_comp_channel"},
	{CALL_ibv_create_cq, "ibv_create_cq"},
	{CALL_ibv_req_notify_cq, "ibv_req_notify_cq"},
	{CALL_rdma_create_qp_ex, "rdma_create_qp"},
};
#define MAKERS (sizeof(makers) / sizeof(makers[0]))

TEST(conn_req_new, failing_provider_calls_are_provider_errors_and_leave_nothing)
{
	struct rpma_conn_cfg *cfg = a_cfg(7, false, NULL);

	peer = a_peer();
	for (unsigned int n = 0; n < MAKERS; n++) {
		struct rpma_conn_req *req = UNTOUCHED;
		unsigned int before = provider_alive();

		provider_fail(makers[n].call, 1, ENOSPC);
		watch();
		RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
			RPMA_E_PROVIDER);
		SAME(req, UNTOUCHED);
		EQUAL(provider_alive(), before);
		LOGGED(RPMA_LOG_LEVEL_ERROR, makers[n].name);
	}
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

DIFFERS(conn_req_new, errno_and_text_survive_the_undo, "F17")
{
	struct rpma_conn_cfg *cfg = a_cfg(7, false, NULL);

	peer = a_peer();
	for (unsigned int n = 0; n < MAKERS; n++) {
		struct rpma_conn_req *req = UNTOUCHED;

		provider_fail(makers[n].call, 1, ENOSPC);
		watch();
		FAILS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
			RPMA_E_PROVIDER, ENOSPC);
		LOGGED(RPMA_LOG_LEVEL_ERROR, strerror(ENOSPC));
	}
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_req_new, second_cq_failing_leaves_nothing)
{
	struct rpma_conn_cfg *cfg = a_cfg(7, false, NULL);
	struct rpma_conn_req *req = UNTOUCHED;

	peer = a_peer();
	provider_fail(CALL_ibv_create_cq, 2, ENOMEM);
	watch();
	RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_PROVIDER);
	SAME(req, UNTOUCHED);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

DIFFERS(conn_req_new, number_that_is_no_port_is_refused, "F31")
{
	static const char *const no_ports[] = {"65536", "73096", "4294974856",
		"-57976", " 73096", "+73096"};

	peer = a_peer();
	for (unsigned int n = 0; n < 6; n++) {
		struct rpma_conn_req *req = UNTOUCHED;

		watch();
		FAILS(rpma_conn_req_new(peer, ADDRESS, no_ports[n], NULL,
			&req), RPMA_E_PROVIDER, EINVAL);
		SAME(req, UNTOUCHED);
		NO_CALLS();
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 1);
		LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 1);
		TEXT(log_function(0), "rpma_conn_req_new");
	}
	no_peer(&peer);
}

DIFFERS(conn_req_new, mapped_address_is_the_ipv4_one, "F33")
{
	struct rpma_conn_req *req = NULL;

	peer = a_peer();
	watch();
	RETURNS(rpma_conn_req_new(peer, "::ffff:10.0.0.1", PORT, NULL, &req),
		0);
	EQUAL(calls_with("none, 10.0.0.1:7471, 1000) = 0"), 1);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

/* what a name stands for may be mapped, too, and so be no other address */
DIFFERS(conn_req_new, name_of_a_mapped_address_is_the_ipv4_one, "F33")
{
	static const char *const hosts[] = {"::ffff:10.0.0.2", "10.0.0.2",
		NULL};
	struct rpma_conn_req *req = UNTOUCHED;

	peer = a_peer();
	provider_host("server", hosts);
	provider_fail(CALL_rdma_resolve_addr, 1, ENODEV);
	watch();
	FAILS(rpma_conn_req_new(peer, "server", PORT, NULL, &req),
		RPMA_E_PROVIDER, ENODEV);
	SAME(req, UNTOUCHED);
	EQUAL(calls_with("none, 10.0.0.2:7471, 1000) = ENODEV"), 1);
	EQUAL(calls_with("rdma_resolve_addr("), 1);
	no_peer(&peer);
}

static const char *const three[] = {"fd00::7", "10.0.0.2", "10.0.0.3", NULL};

DIFFERS(conn_req_new, next_address_of_the_name_is_tried, "F34")
{
	static const enum provider_call steps[] = {CALL_rdma_resolve_addr,
		CALL_rdma_resolve_route};

	peer = a_peer();
	provider_host("server", three);
	for (unsigned int n = 0; n < 2; n++) {
		struct rpma_conn_req *req = NULL;

		provider_fail(steps[n], 1, ENODEV);
		watch();
		errno = EXDEV;
		RETURNS(rpma_conn_req_new(peer, "server", PORT, NULL, &req),
			0);
		EQUAL(errno, EXDEV);
		EQUAL(calls_with("rdma_create_id("), 2);
		EQUAL(calls_with("rdma_destroy_id("), 1);
		EQUAL(calls_with("none, [fd00::7]:7471, 1000)"), 1);
		EQUAL(calls_with("none, 10.0.0.2:7471, 1000) = 0"), 1);
		EQUAL(calls_with("10.0.0.3"), 0);
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
		rpma_conn_req_delete(&req);
	}
	no_peer(&peer);
}

DIFFERS(conn_req_new, error_is_the_last_addresses_and_names_all, "F34")
{
	struct rpma_conn_req *req = UNTOUCHED;
	unsigned int before;

	peer = a_peer();
	before = provider_alive();
	provider_host("server", three);
	provider_fail(CALL_rdma_resolve_addr, 1, ENODEV);
	provider_fail(CALL_rdma_resolve_addr, 2, ENETUNREACH);
	provider_fail(CALL_rdma_resolve_route, 1, EHOSTUNREACH);
	watch();
	FAILS(rpma_conn_req_new(peer, "server", PORT, NULL, &req),
		RPMA_E_PROVIDER, EHOSTUNREACH);
	SAME(req, UNTOUCHED);
	EQUAL(provider_alive(), before);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_resolve_route(\"server\"",
		"fd00::7, 10.0.0.2, 10.0.0.3", PORT, strerror(EHOSTUNREACH));
	no_peer(&peer);
}

DIFFERS(conn_req_new, lines_name_address_port_and_timeout, "F36")
{
	static const enum provider_call steps[] = {CALL_rdma_resolve_addr,
		CALL_rdma_resolve_route};
	static const char *const names[] = {"rdma_resolve_addr(",
		"rdma_resolve_route("};
	struct rpma_conn_cfg *cfg = a_cfg(0, false, NULL);
	struct rpma_conn_req *req = UNTOUCHED;

	rpma_conn_cfg_set_timeout(cfg, 1234);
	peer = a_peer();
	for (unsigned int n = 0; n < 2; n++) {
		provider_fail(steps[n], 1, ETIMEDOUT);
		watch();
		FAILS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
			RPMA_E_PROVIDER, ETIMEDOUT);
		LOGGED(RPMA_LOG_LEVEL_ERROR, names[n], "\"" ADDRESS "\"",
			"\"" PORT "\"", "1234 ms", strerror(ETIMEDOUT));
		TEXT(log_function(0), "rpma_conn_req_new");
	}
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

DIFFERS(conn_req_new, eai_code_is_explained_and_errno_is_einval, "F17")
{
	struct rpma_conn_req *req = UNTOUCHED;

	peer = a_peer();
	provider_return(CALL_rdma_getaddrinfo, 1, EAI_NONAME, 0);
	watch();
	FAILS(rpma_conn_req_new(peer, "nowhere", PORT, NULL, &req),
		RPMA_E_PROVIDER, EINVAL);
	SAME(req, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_getaddrinfo",
		gai_strerror(EAI_NONAME));
	no_peer(&peer);
}

TEST(conn_req_new, out_of_memory_is_not_logged_and_leaves_nothing)
{
	struct rpma_conn_cfg *cfg = a_cfg(7, false, NULL);

	peer = a_peer();
	for (unsigned int nth = 1; nth < 20; nth++) {
		struct rpma_conn_req *req = UNTOUCHED;
		unsigned int before = provider_alive();

		provider_fail_allocation(nth);
		watch();
		if (rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req) == 0) {
			CHECK(nth > 1);
			EQUAL(provider_clear_plans(), 1);
			rpma_conn_req_delete(&req);
			break;
		}
		SAME(req, UNTOUCHED);
		EQUAL(provider_alive(), before);
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	}
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

/* ---- rpma_conn_req_delete ---- */

TEST(conn_req_delete, outgoing_goes_from_the_qp_to_the_id)
{
	struct rpma_conn_cfg *cfg = a_cfg(7, true, NULL);
	struct rpma_conn_req *req;

	peer = a_peer();
	req = a_request(peer, cfg);
	watch();
	RETURNS(rpma_conn_req_delete(&req), 0);
	SAME(req, NULL);
	IN_ORDER("rdma_destroy_qp(id1)", "ibv_destroy_cq(cq2) = 0");
	IN_ORDER("ibv_destroy_cq(cq2) = 0", "ibv_destroy_cq(cq1) = 0");
	IN_ORDER("ibv_destroy_cq(cq1) = 0", "rdma_destroy_id(id1) = 0");
	EQUAL(calls_with("ibv_destroy_comp_channel(channel1) = 0"), 1);
	EQUAL(calls_with("rdma_reject"), 0);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

DIFFERS(conn_req_delete, incoming_is_rejected_and_its_id_destroyed, "F4")
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	watch();
	RETURNS(rpma_conn_req_delete(&req), 0);
	SAME(req, NULL);
	CALLS("rdma_destroy_qp(id2)",
		"ibv_destroy_cq(cq1) = 0",
		"ibv_destroy_comp_channel(channel1) = 0",
		"rdma_reject(id2, no data len=0) = 0",
		"rdma_destroy_id(id2) = 0",
		"rdma_destroy_event_channel(ec2)");
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

DIFFERS(conn_req_delete, failing_reject_is_a_provider_error_but_frees_all, "F4")
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	provider_fail(CALL_rdma_reject, 1, EINVAL);
	watch();
	FAILS(rpma_conn_req_delete(&req), RPMA_E_PROVIDER, EINVAL);
	SAME(req, NULL);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_reject", strerror(EINVAL));
	EQUAL(calls_with("rdma_destroy_id(id2) = 0"), 1);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

DIFFERS(conn_req_delete, fifty_rejected_requests_leave_nothing, "F4")
{
	struct rpma_ep *ep;
	unsigned int before;

	peer = a_peer();
	ep = an_endpoint(peer);
	before = provider_alive();
	for (unsigned int n = 0; n < 50; n++) {
		struct rpma_conn_req *req = an_incoming_request(ep, NULL);

		RETURNS(rpma_conn_req_delete(&req), 0);
		EQUAL(provider_alive(), before);
		watch();
	}
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

TEST(conn_req_delete, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_conn_req *req = NULL;

	INVALID(rpma_conn_req_delete(NULL));
	RETURNS(rpma_conn_req_delete(&req), 0);
	NO_CALLS();
}

DIFFERS(conn_req_delete, failures_do_not_stop_the_rest, "F27")
{
	static const struct {
		enum provider_call call;
		const char *name;
	} cases[] = {
		{CALL_ibv_destroy_cq, "ibv_destroy_cq"},
		{CALL_ibv_destroy_comp_channel, "ibv_destroy_comp_channel"},
		{CALL_rdma_destroy_id, "rdma_destroy_id"},
	};

	for (unsigned int n = 0; n < 3; n++) {
		struct rpma_conn_cfg *cfg = a_cfg(7, false, NULL);
		struct rpma_conn_req *req;

		peer = a_peer();
		req = a_request(peer, cfg);
		provider_fail(cases[n].call, 1, EBUSY);
		watch();
		FAILS(rpma_conn_req_delete(&req), RPMA_E_PROVIDER, EBUSY);
		SAME(req, NULL);
		FIRST_LOGGED(RPMA_LOG_LEVEL_ERROR, cases[n].name,
			strerror(EBUSY));
		EQUAL(calls_with("rdma_destroy_qp"), 1);
		EQUAL(calls_with("ibv_destroy_cq"), 2);
		EQUAL(calls_with("ibv_destroy_comp_channel"), 2);
		EQUAL(calls_with("rdma_destroy_id"), 1);
		rpma_conn_cfg_delete(&cfg);
		no_peer(&peer);
		EQUAL(provider_blocks(), 0);
		provider_reset();
	}
}

/* ---- rpma_conn_req_connect ---- */

#define PARAMETERS " resources=255 depth=255 flow=1 retry=7 rnr=7 srq=0 " \
	"qp_num=0) = 0"

TEST(conn_req_connect, outgoing_connects_last_of_all)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;

	peer = a_peer();
	watch();
	req = a_request(peer, NULL);
	RETURNS(rpma_conn_req_connect(&req, NULL, &conn), 0);
	SAME(req, NULL);
	CHECK(conn != NULL);
	TEXT(provider_log_line(provider_log_length() - 1),
		"rdma_connect(id1, no data len=0" PARAMETERS);
	IN_ORDER("rdma_create_event_channel", "rdma_migrate_id(id1, ec1) = 0");
	EQUAL(calls_with("rdma_migrate_id"), 1);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

/* what can fail; the timer after it only may be refused */
DIFFERS(conn_req_connect, incoming_accepts_last_of_all, "F12")
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	watch();
	RETURNS(rpma_conn_req_connect(&req, NULL, &conn), 0);
	SAME(req, NULL);
	CHECK(conn != NULL);
	TEXT(provider_log_line(provider_log_length() - 2),
		"rdma_accept(id2, no data len=0" PARAMETERS);
	rpma_conn_delete(&conn);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

static void accept_one(int modify_error, unsigned int timers_at_established)
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	watch();
	if (modify_error)
		provider_fail(CALL_ibv_modify_qp, 1, modify_error);
	errno = EXDEV;
	EQUAL(rpma_conn_req_connect(&req, NULL, &conn), 0);
	EQUAL(errno, EXDEV);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	if (!modify_error)
		TEXT(provider_log_line(provider_log_length() - 1),
			"ibv_modify_qp(qp1, min_rnr_timer=12) = 0");
	watch();
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_ESTABLISHED);
	EQUAL(calls_with("ibv_modify_qp"), timers_at_established);
	rpma_conn_delete(&conn);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
	provider_clear_plans();
}

/* once, and as early as the QP's state allows */
DIFFERS(conn_req_connect, accepting_shortens_the_rnr_timer, "F32")
{
	accept_one(0, 0);
}

TEST(conn_req_connect, incoming_with_a_refused_rnr_timer_is_fine_unlogged)
{
	static const int errors[] = {EINVAL, EOPNOTSUPP, ENOSYS, EIO};

	for (unsigned int n = 0; n < 4; n++) {
		accept_one(errors[n], 0);
		provider_reset();
	}
}

DIFFERS(conn_req_connect, a_failed_accept_leaves_the_timer_alone, "F4")
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = UNTOUCHED;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	provider_fail(CALL_rdma_accept, 1, EIO);
	watch();
	RETURNS(rpma_conn_req_connect(&req, NULL, &conn), RPMA_E_PROVIDER);
	EQUAL(calls_with("ibv_modify_qp"), 0);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

/* ---- devices without inline data ---- */

/* the inline data that each QP was asked for, as one text */
static const char *inline_tries(void)
{
	static char text[64];

	text[0] = '\0';
	for (unsigned int n = 0; n < provider_log_length(); n++) {
		const char *line = provider_log_line(n);
		const char *size = strstr(line, "inline=");

		if (strncmp(line, "rdma_create_qp_ex(", 18) == 0 && size)
			snprintf(text + strlen(text),
				sizeof(text) - strlen(text), "%s%d%s",
				*text ? " " : "", atoi(size + 7),
				strstr(line, ") = qp") ? "" : "!");
	}
	return text;
}

DIFFERS(conn_req_new, asks_for_no_inline_data_where_it_is_refused, "F35")
{
	struct rpma_mr_remote *remote;
	struct rpma_mr_local *local;
	struct rpma_conn *conn, *second;

	provider_device.max_inline = 0;
	peer = a_peer();
	local = a_region(peer, 4096, 0xff);
	remote = a_remote_region(0x500000000000, 4096, 0xff);
	watch();
	errno = EXDEV;
	conn = a_connection(peer, NULL);
	EQUAL(errno, EXDEV);
	TEXT(inline_tries(), "8! 0");
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	/* the peer knows it from here on */
	watch();
	second = a_connection(peer, NULL);
	TEXT(inline_tries(), "0");

	watch();
	RETURNS(rpma_atomic_write(conn, remote, 8, "12345678",
		RPMA_F_COMPLETION_ALWAYS, NULL), RPMA_E_NOSUPP);
	NO_CALLS();
	LOGGED(RPMA_LOG_LEVEL_ERROR, "inline");
	INVALID(rpma_atomic_write(conn, remote, 4, "12345678",
		RPMA_F_COMPLETION_ALWAYS, NULL));
	watch();
	RETURNS(rpma_write(conn, remote, 0, local, 0, 8,
		RPMA_F_COMPLETION_ALWAYS, NULL), 0);
	RETURNS(rpma_read(conn, local, 0, remote, 0, 8,
		RPMA_F_COMPLETION_ALWAYS, NULL), 0);
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		RPMA_F_COMPLETION_ALWAYS, NULL), 0);
	RETURNS(rpma_send(conn, local, 0, 8, RPMA_F_COMPLETION_ALWAYS, NULL),
		0);
	RETURNS(rpma_recv(conn, local, 0, 8, NULL), 0);
	NO_LOG();
	rpma_conn_delete(&second);
	rpma_conn_delete(&conn);
	rpma_mr_remote_delete(&remote);
	rpma_mr_dereg(&local);
	no_peer(&peer);
}

TEST(conn_req_new, inline_data_that_can_be_had_are_asked_for_every_time)
{
	struct rpma_conn_req *req, *second;

	provider_device.max_inline = 8;
	peer = a_peer();
	watch();
	req = a_request(peer, NULL);
	second = a_request(peer, NULL);
	TEXT(inline_tries(), "8 8");
	rpma_conn_req_delete(&second);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

DIFFERS(conn_req_new, inline_data_are_asked_for_again_with_a_smaller_queue, "F35")
{
	struct rpma_conn_cfg *cfg = a_cfg(0, false, NULL);
	struct rpma_conn *large, *small, *larger;

	peer = a_peer();
	provider_device.max_inline = 0;
	rpma_conn_cfg_set_sq_size(cfg, 1000);
	watch();
	large = a_connection(peer, cfg);
	TEXT(inline_tries(), "8! 0");
	provider_device.max_inline = 8;
	watch();
	small = a_connection(peer, NULL);
	TEXT(inline_tries(), "8");
	rpma_conn_cfg_set_sq_size(cfg, 1001);
	watch();
	larger = a_connection(peer, cfg);
	TEXT(inline_tries(), "0");
	rpma_conn_delete(&larger);
	rpma_conn_delete(&small);
	rpma_conn_delete(&large);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_req_new, the_line_for_a_refused_qp_names_all_sizes)
{
	struct rpma_conn_cfg *cfg = a_cfg(0, false, NULL);
	struct rpma_conn_req *req = UNTOUCHED;

	peer = a_peer();
	rpma_conn_cfg_set_sq_size(cfg, 70001);
	rpma_conn_cfg_set_rq_size(cfg, 70002);
	watch();
	RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_PROVIDER);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_create_qp_ex", "70001", "70002",
		"8", strerror(EINVAL));
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

/* a QP that is refused for another reason is no reason to do without */
DIFFERS(conn_req_new, what_inline_data_is_not_to_blame_for_stays_the_failure,
	"F35")
{
	struct rpma_conn_cfg *cfg = a_cfg(0, false, NULL);
	struct rpma_conn_req *req = UNTOUCHED;
	struct rpma_conn *conn;

	peer = a_peer();
	rpma_conn_cfg_set_sq_size(cfg, 70001);
	rpma_conn_cfg_set_rq_size(cfg, 70002);
	watch();
	FAILS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_PROVIDER, EINVAL);
	SAME(req, UNTOUCHED);
	TEXT(inline_tries(), "8! 0!");
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_create_qp_ex", "70001", "70002",
		"inline 8", strerror(EINVAL));
	/* unless the second try finds what is really wrong */
	provider_fail(CALL_rdma_create_qp_ex, 2, ENOMEM);
	watch();
	FAILS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_PROVIDER, ENOMEM);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "inline 0", strerror(ENOMEM));
	/* one that is not about what was asked for is not tried again */
	rpma_conn_cfg_set_sq_size(cfg, 10);
	rpma_conn_cfg_set_rq_size(cfg, 10);
	provider_fail(CALL_rdma_create_qp_ex, 1, ENOMEM);
	watch();
	FAILS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_PROVIDER, ENOMEM);
	TEXT(inline_tries(), "8!");
	watch();
	conn = a_connection(peer, cfg);
	TEXT(inline_tries(), "8");
	rpma_conn_delete(&conn);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_req_connect, incoming_accepts_with_the_connection_parameters)
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	struct rpma_conn_private_data pdata = {"\x01\x02", 2};

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	watch();
	RETURNS(rpma_conn_req_connect(&req, &pdata, &conn), 0);
	EQUAL(calls_with("rdma_accept(id2, data=0102 len=2" PARAMETERS), 1);
	rpma_conn_delete(&conn);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

TEST(conn_req_connect, passes_private_data_on)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	struct rpma_conn_private_data pdata = {"\x00\xff\x7f", 3};

	peer = a_peer();
	req = a_request(peer, NULL);
	watch();
	RETURNS(rpma_conn_req_connect(&req, &pdata, &conn), 0);
	EQUAL(calls_with("rdma_connect(id1, data=00ff7f len=3" PARAMETERS), 1);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

TEST(conn_req_connect, null_pointer_or_handle_is_invalid)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = UNTOUCHED;

	INVALID(rpma_conn_req_connect(NULL, NULL, &conn));
	INVALID(rpma_conn_req_connect(&req, NULL, &conn));
	INVALID(rpma_conn_req_connect(&req, NULL, NULL));
	SAME(conn, UNTOUCHED);
}

TEST(conn_req_connect, null_out_deletes_the_request)
{
	struct rpma_conn_req *req;

	peer = a_peer();
	req = a_request(peer, NULL);
	watch();
	RETURNS(rpma_conn_req_connect(&req, NULL, NULL), RPMA_E_INVAL);
	SAME(req, NULL);
	EQUAL(calls_with("rdma_destroy_id(id1) = 0"), 1);
	EQUAL(calls_with("rdma_connect"), 0);
	no_peer(&peer);
}

TEST(conn_req_connect, private_data_without_bytes_deletes_the_request)
{
	static const struct rpma_conn_private_data cases[] = {
		{NULL, 0}, {NULL, 8}, {"x", 0},
	};

	peer = a_peer();
	for (unsigned int n = 0; n < 3; n++) {
		struct rpma_conn_req *req = a_request(peer, NULL);
		struct rpma_conn *conn = UNTOUCHED;

		watch();
		RETURNS(rpma_conn_req_connect(&req, &cases[n], &conn),
			RPMA_E_INVAL);
		SAME(req, NULL);
		SAME(conn, UNTOUCHED);
		EQUAL(calls_with("rdma_destroy_id"), 1);
	}
	no_peer(&peer);
}

DIFFERS(conn_req_connect, null_out_rejects_an_incoming_request, "F4")
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	watch();
	RETURNS(rpma_conn_req_connect(&req, NULL, NULL), RPMA_E_INVAL);
	SAME(req, NULL);
	EQUAL(calls_with("rdma_reject(id2, no data len=0) = 0"), 1);
	EQUAL(calls_with("rdma_destroy_id(id2) = 0"), 1);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

static const struct {
	enum provider_call call;
	const char *name;
} connectors[] = {
	{CALL_rdma_create_event_channel, "rdma_create_event_channel"},
	{CALL_rdma_migrate_id, "rdma_migrate_id"},
	{CALL_ibv_reg_mr, "ibv_reg_mr"},
	{CALL_rdma_connect, "rdma_connect"},
};

TEST(conn_req_connect, failing_provider_calls_consume_the_request)
{
	peer = a_peer();
	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_conn_req *req = NULL;
		struct rpma_conn *conn = UNTOUCHED;
		int made;

		provider_fail(connectors[n].call, 1, ENOSPC);
		watch();
		/* the event channel may be made with the request already */
		made = rpma_conn_req_new(peer, ADDRESS, PORT, NULL, &req);
		if (made == 0)
			made = rpma_conn_req_connect(&req, NULL, &conn);
		EQUAL(made, RPMA_E_PROVIDER);
		SAME(req, NULL);
		SAME(conn, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, connectors[n].name,
			strerror(ENOSPC));
		EQUAL(calls_with("rdma_destroy_id"), 1);
	}
	no_peer(&peer);
}

DIFFERS(conn_req_connect, errno_survives_the_undo, "F17")
{
	peer = a_peer();
	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_conn_req *req = NULL;
		struct rpma_conn *conn = UNTOUCHED;
		int made;

		provider_fail(connectors[n].call, 1, ENOSPC);
		errno = 0;
		made = rpma_conn_req_new(peer, ADDRESS, PORT, NULL, &req);
		if (made == 0)
			made = rpma_conn_req_connect(&req, NULL, &conn);
		EQUAL(made, RPMA_E_PROVIDER);
		EQUAL(errno, ENOSPC);
	}
	no_peer(&peer);
}

DIFFERS(conn_req_connect, failed_accept_only_destroys, "F4")
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = UNTOUCHED;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	provider_fail(CALL_rdma_accept, 1, ECONNRESET);
	watch();
	FAILS(rpma_conn_req_connect(&req, NULL, &conn), RPMA_E_PROVIDER,
		ECONNRESET);
	SAME(req, NULL);
	SAME(conn, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_accept", strerror(ECONNRESET));
	EQUAL(calls_with("rdma_reject"), 0);
	EQUAL(calls_with("rdma_destroy_id(id2) = 0"), 1);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

DIFFERS(conn_req_connect, failure_before_the_accept_rejects, "F12")
{
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = UNTOUCHED;

	peer = a_peer();
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	provider_fail(CALL_ibv_reg_mr, 1, ENOMEM);
	watch();
	FAILS(rpma_conn_req_connect(&req, NULL, &conn), RPMA_E_PROVIDER,
		ENOMEM);
	SAME(req, NULL);
	SAME(conn, UNTOUCHED);
	EQUAL(calls_with("rdma_accept"), 0);
	EQUAL(calls_with("rdma_reject(id2, no data len=0) = 0"), 1);
	EQUAL(calls_with("rdma_destroy_id(id2) = 0"), 1);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

TEST(conn_req_connect, private_data_of_the_greatest_length_goes_through)
{
	static unsigned char bytes[56];
	struct rpma_conn_private_data pdata = {bytes, 56};
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;

	peer = a_peer();
	req = a_request(peer, NULL);
	RETURNS(rpma_conn_req_connect(&req, &pdata, &conn), 0);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

DIFFERS(conn_req_connect, one_byte_too_many_is_the_providers_einval, "F17")
{
	static unsigned char bytes[255];
	struct rpma_conn_private_data pdata = {bytes, 57};
	struct rpma_conn_req *req;
	struct rpma_conn *conn = UNTOUCHED;

	peer = a_peer();
	req = a_request(peer, NULL);
	FAILS(rpma_conn_req_connect(&req, &pdata, &conn), RPMA_E_PROVIDER,
		EINVAL);
	SAME(req, NULL);
	SAME(conn, UNTOUCHED);
	pdata.len = UINT8_MAX;
	req = a_request(peer, NULL);
	FAILS(rpma_conn_req_connect(&req, &pdata, &conn), RPMA_E_PROVIDER,
		EINVAL);
	no_peer(&peer);
}

DIFFERS(conn_req_connect, one_flush_buffer_serves_all_connections_of_a_peer,
	"F19")
{
	struct rpma_conn *conns[5];

	peer = a_peer();
	watch();
	for (unsigned int n = 0; n < 5; n++)
		conns[n] = a_connection(peer, NULL);
	EQUAL(calls_with("ibv_reg_mr"), 1);
	EQUAL(calls_with("ibv_reg_mr(pd1, private+0, 8, LOCAL_WRITE) = mr1"),
		1);
	for (unsigned int n = 0; n < 5; n++)
		EQUAL(rpma_conn_delete(&conns[n]), 0);
	no_peer(&peer);
	EQUAL(calls_with("ibv_dereg_mr(mr1) = 0"), 1);
}

TEST(conn_req_connect, the_flush_buffer_is_a_whole_page_shared_across_fork)
{
	struct rpma_conn *conn;

	peer = a_peer();
	conn = a_connection(peer, NULL);
	EQUAL(provider_mapping_size(), sysconf(_SC_PAGESIZE));
	EQUAL(provider_mapping_flags(), MAP_SHARED | MAP_ANONYMOUS);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

TEST(conn_req_connect, the_flush_buffer_is_registered_as_a_read_destination)
{
	struct rpma_conn *conn;

	provider_device.transport = IBV_TRANSPORT_IWARP;
	provider_context();
	peer = a_peer();
	watch();
	conn = a_connection(peer, NULL);
	EQUAL(calls_with("ibv_reg_mr(pd1, private+0, 8, "
		"LOCAL_WRITE|REMOTE_WRITE) = mr1"), 1);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

TEST(conn_req_connect, failed_flush_buffer_is_tried_again_by_the_next)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn = UNTOUCHED;

	peer = a_peer();
	req = a_request(peer, NULL);
	provider_fail(CALL_ibv_reg_mr, 1, ENOMEM);
	RETURNS(rpma_conn_req_connect(&req, NULL, &conn), RPMA_E_PROVIDER);
	req = a_request(peer, NULL);
	RETURNS(rpma_conn_req_connect(&req, NULL, &conn), 0);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

TEST(conn_req_connect, out_of_memory_is_not_logged_and_consumes_the_request)
{
	unsigned int failed = 0;

	peer = a_peer();
	for (unsigned int nth = 1; nth < 20; nth++) {
		struct rpma_conn_req *req = a_request(peer, NULL);
		struct rpma_conn *conn = UNTOUCHED;
		int code;

		provider_fail_allocation(nth);
		watch();
		code = rpma_conn_req_connect(&req, NULL, &conn);
		SAME(req, NULL);
		if (code == 0) {
			EQUAL(provider_clear_plans(), 1);
			rpma_conn_delete(&conn);
			break;
		}
		failed++;
		EQUAL(code, RPMA_E_NOMEM);
		SAME(conn, UNTOUCHED);
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	}
	CHECK(failed > 0);
	no_peer(&peer);
}

/* ---- rpma_conn_req_recv ---- */

TEST(conn_req_recv, posts_one_receive)
{
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;

	peer = a_peer();
	req = a_request(peer, NULL);
	mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);
	watch();
	RETURNS(rpma_conn_req_recv(req, mr, 16, 100, (void *)0x1234), 0);
	CALLS("ibv_post_recv(qp1, 0x1234, [mem+16, 100, 0x1001]) = 0");
	watch();
	RETURNS(rpma_conn_req_recv(req, mr, 0, 0, (void *)1), 0);
	CALLS("ibv_post_recv(qp1, 0x1, [mem+0, 0, 0x1001]) = 0");
	watch();
	RETURNS(rpma_conn_req_recv(req, mr, 8, UINT32_MAX, NULL), 0);
	CALLS("ibv_post_recv(qp1, 0x0, [mem+8, 4294967295, 0x1001]) = 0");
	NO_LOG();
	rpma_mr_dereg(&mr);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

TEST(conn_req_recv, null_op_context_is_fine)
{
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;

	peer = a_peer();
	req = a_request(peer, NULL);
	mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);
	RETURNS(rpma_conn_req_recv(req, mr, 0, 8, NULL), 0);
	rpma_mr_dereg(&mr);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

TEST(conn_req_recv, needs_request_and_region)
{
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;

	peer = a_peer();
	req = a_request(peer, NULL);
	mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);
	INVALID(rpma_conn_req_recv(NULL, mr, 0, 8, NULL));
	INVALID(rpma_conn_req_recv(req, NULL, 0, 8, NULL));
	INVALID(rpma_conn_req_recv(req, NULL, 0, 0, NULL));
	rpma_mr_dereg(&mr);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

DIFFERS(conn_req_recv, length_over_32_bits_is_invalid, "F6")
{
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;

	peer = a_peer();
	req = a_request(peer, NULL);
	mr = a_region(peer, SIZE_MAX >> 20, RPMA_MR_USAGE_RECV);
	INVALID(rpma_conn_req_recv(req, mr, 0, (size_t)UINT32_MAX + 1, NULL));
	INVALID(rpma_conn_req_recv(req, mr, 0, SIZE_MAX, NULL));
	rpma_mr_dereg(&mr);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

DIFFERS(conn_req_recv, address_over_64_bits_is_invalid, "F22")
{
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;

	peer = a_peer();
	req = a_request(peer, NULL);
	mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);
	INVALID(rpma_conn_req_recv(req, mr, SIZE_MAX, 8, NULL));
	INVALID(rpma_conn_req_recv(req, mr,
		SIZE_MAX - (size_t)provider_memory - 7, 16, NULL));
	rpma_mr_dereg(&mr);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

TEST(conn_req_recv, failing_post_is_a_provider_error)
{
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;

	peer = a_peer();
	req = a_request(peer, NULL);
	mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);
	provider_fail(CALL_ibv_post_recv, 1, ENOMEM);
	watch();
	RETURNS(rpma_conn_req_recv(req, mr, 0, 8, NULL), RPMA_E_PROVIDER);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_post_recv", strerror(ENOMEM));
	rpma_mr_dereg(&mr);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

DIFFERS(conn_req_recv, failing_post_has_its_code_in_errno, "F17")
{
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;

	peer = a_peer();
	req = a_request(peer, NULL);
	mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);
	provider_fail(CALL_ibv_post_recv, 1, ENOMEM);
	FAILS(rpma_conn_req_recv(req, mr, 0, 8, NULL), RPMA_E_PROVIDER,
		ENOMEM);
	rpma_mr_dereg(&mr);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

/* ---- rpma_conn_req_get_private_data ---- */

TEST(conn_req_get_private_data, is_nothing_for_an_outgoing_request)
{
	struct rpma_conn_req *req;
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};

	peer = a_peer();
	req = a_request(peer, NULL);
	RETURNS(rpma_conn_req_get_private_data(req, &pdata), 0);
	SAME(pdata.ptr, NULL);
	EQUAL(pdata.len, 0);
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

TEST(conn_req_get_private_data, is_what_the_client_sent)
{
	static const unsigned char lengths[] = {1, 24, 56, 255};
	unsigned char bytes[255];
	struct rpma_ep *ep;

	peer = a_peer();
	ep = an_endpoint(peer);
	for (unsigned int n = 0; n < sizeof(bytes); n++)
		bytes[n] = (unsigned char)(n + 1);
	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_conn_req *req = NULL;
		struct rpma_conn_private_data pdata = {NULL, 0};
		struct rpma_conn *conn = NULL;

		provider_connect_request(provider_id(1), bytes, lengths[n]);
		RETURNS(rpma_ep_next_conn_req(ep, NULL, &req), 0);
		RETURNS(rpma_conn_req_get_private_data(req, &pdata), 0);
		EQUAL(pdata.len, lengths[n]);
		CHECK(pdata.ptr && memcmp(pdata.ptr, bytes, lengths[n]) == 0);
		/* taken over by the connection, the pointer stays good */
		RETURNS(rpma_conn_req_connect(&req, NULL, &conn), 0);
		CHECK(pdata.ptr && memcmp(pdata.ptr, bytes, lengths[n]) == 0);
		rpma_conn_delete(&conn);
		watch();
	}
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

TEST(conn_req_get_private_data, null_arguments_are_invalid)
{
	struct rpma_conn_req *req;
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};

	peer = a_peer();
	req = a_request(peer, NULL);
	INVALID(rpma_conn_req_get_private_data(NULL, &pdata));
	SAME(pdata.ptr, UNTOUCHED);
	EQUAL(pdata.len, 77);
	INVALID(rpma_conn_req_get_private_data(req, NULL));
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}
