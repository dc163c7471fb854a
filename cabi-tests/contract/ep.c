/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_ep_*: listening for connection requests */
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include "contract.h"

static struct rpma_peer *peer;
static struct rpma_ep *ep;

static void begin(void)
{
	peer = a_peer();
	ep = an_endpoint(peer);
	watch();
}

static void end(void)
{
	if (rpma_ep_shutdown(&ep))
		abort();
	no_peer(&peer);
}

/* ---- rpma_ep_listen ---- */

TEST(ep_listen, binds_and_listens)
{
	peer = a_peer();
	watch();
	RETURNS(rpma_ep_listen(peer, ADDRESS, PORT, &ep), 0);
	CALLS("rdma_create_event_channel() = ec1",
		"rdma_create_id(ec1, none, 0x106) = id1",
		"rdma_getaddrinfo(10.0.0.1, 7471, RC port_space=0x106 flags=0x1)"
		" = addrinfo1",
		"rdma_bind_addr(id1, 10.0.0.1:7471) = 0",
		"rdma_listen(id1, 0) = 0",
		"rdma_freeaddrinfo(addrinfo1)");
	LOGGED(RPMA_LOG_LEVEL_NOTICE, ADDRESS, PORT);
	end();
}

TEST(ep_listen, null_arguments_are_invalid)
{
	struct rpma_ep *out = UNTOUCHED;

	peer = a_peer();
	INVALID(rpma_ep_listen(NULL, ADDRESS, PORT, &out));
	INVALID(rpma_ep_listen(peer, NULL, PORT, &out));
	INVALID(rpma_ep_listen(peer, ADDRESS, NULL, &out));
	INVALID(rpma_ep_listen(peer, ADDRESS, PORT, NULL));
	SAME(out, UNTOUCHED);
	no_peer(&peer);
}

static const struct {
	enum provider_call call;
	const char *name;
} makers[] = {
	{CALL_rdma_create_event_channel, "rdma_create_event_channel"},
	{CALL_rdma_create_id, "rdma_create_id"},
	{CALL_rdma_getaddrinfo, "rdma_getaddrinfo"},
	{CALL_rdma_bind_addr, "rdma_bind_addr"},
	{CALL_rdma_listen, "rdma_listen"},
};

TEST(ep_listen, failing_provider_calls_are_provider_errors_and_leave_nothing)
{
	peer = a_peer();
	for (unsigned int n = 0; n < 5; n++) {
		struct rpma_ep *out = UNTOUCHED;
		unsigned int before = provider_alive();

		provider_fail(makers[n].call, 1, EADDRINUSE);
		watch();
		FAILS(rpma_ep_listen(peer, ADDRESS, PORT, &out),
			RPMA_E_PROVIDER, EADDRINUSE);
		SAME(out, UNTOUCHED);
		EQUAL(provider_alive(), before);
		LOGGED(RPMA_LOG_LEVEL_ERROR, makers[n].name,
			strerror(EADDRINUSE));
	}
	no_peer(&peer);
}

/* what the resolver takes for a number, and cuts */
static const char *const no_ports[] = {"65536", "73096", "4294974856",
	"-57976", "-1", " 73096", "+73096", "\t 65536", "0000065536",
	"18446744073709551617", "99999999999999999999999999"};

DIFFERS(ep_listen, number_that_is_no_port_is_refused, "F31")
{
	peer = a_peer();
	for (unsigned int n = 0; n < sizeof(no_ports) / sizeof(*no_ports);
			n++) {
		struct rpma_ep *out = UNTOUCHED;

		watch();
		FAILS(rpma_ep_listen(peer, ADDRESS, no_ports[n], &out),
			RPMA_E_PROVIDER, EINVAL);
		SAME(out, UNTOUCHED);
		NO_CALLS();
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 1);
		LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 1);
		TEXT(log_function(0), "rpma_ep_listen");
	}
	no_peer(&peer);
}

TEST(ep_listen, ports_and_service_names_go_to_the_resolver)
{
	static const char *const services[] = {"0", "-0", "+7471", " 7471",
		"65535", "00007471", "", " ", "-", "+", "http", "73096x",
		"0x12345", "7 1", "--1", "99999 "};

	peer = a_peer();
	for (unsigned int n = 0; n < sizeof(services) / sizeof(*services);
			n++) {
		watch();
		RETURNS(rpma_ep_listen(peer, ADDRESS, services[n], &ep), 0);
		EQUAL(calls_with("rdma_listen("), 1);
		rpma_ep_shutdown(&ep);
	}
	no_peer(&peer);
}

DIFFERS(ep_listen, mapped_address_is_the_ipv4_one, "F33")
{
	peer = a_peer();
	watch();
	RETURNS(rpma_ep_listen(peer, "::ffff:10.0.0.1", PORT, &ep), 0);
	EQUAL(calls_with(", 10.0.0.1:7471) = 0"), 1);
	end();
}

static const char *const two[] = {"fd00::7", "10.0.0.2", NULL};

DIFFERS(ep_listen, next_address_of_the_name_is_tried, "F34")
{
	peer = a_peer();
	provider_host("server", two);
	provider_fail(CALL_rdma_bind_addr, 1, EADDRNOTAVAIL);
	watch();
	RETURNS(rpma_ep_listen(peer, "server", PORT, &ep), 0);
	CALLS("rdma_create_event_channel() = ec1",
		"rdma_create_id(ec1, none, 0x106) = id1",
		"rdma_getaddrinfo(server, 7471, RC port_space=0x106 flags=0x1)"
		" = addrinfo1",
		"rdma_bind_addr(id1, [fd00::7]:7471) = EADDRNOTAVAIL",
		"rdma_destroy_id(id1) = 0",
		"rdma_destroy_event_channel(ec1)",
		"rdma_create_event_channel() = ec2",
		"rdma_create_id(ec2, none, 0x106) = id2",
		"rdma_bind_addr(id2, 10.0.0.2:7471) = 0",
		"rdma_listen(id2, 0) = 0",
		"rdma_freeaddrinfo(addrinfo1)");
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	end();
}

/* as Debian's /etc/hosts has it: nobody can come to a loopback address */
DIFFERS(ep_listen, address_of_a_device_goes_before_a_loopback_one, "F34")
{
	static const char *const hosts[] = {"127.0.1.1", "127.0.0.1",
		"10.0.0.2", NULL};

	peer = a_peer();
	provider_host("server", hosts);
	watch();
	errno = EXDEV;
	RETURNS(rpma_ep_listen(peer, "server", PORT, &ep), 0);
	EQUAL(errno, EXDEV);
	EQUAL(calls_with("rdma_bind_addr("), 3);
	EQUAL(calls_with("rdma_bind_addr(id3, 10.0.0.2:7471) = 0"), 1);
	EQUAL(calls_with("rdma_listen(id3, 0) = 0"), 1);
	EQUAL(calls_with("rdma_listen("), 1);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	end();
}

DIFFERS(ep_listen, first_address_stays_where_none_is_a_devices, "F34")
{
	static const char *const hosts[] = {"127.0.1.1", "127.0.0.1", NULL};

	peer = a_peer();
	provider_host("server", hosts);
	watch();
	RETURNS(rpma_ep_listen(peer, "server", PORT, &ep), 0);
	EQUAL(calls_with("rdma_bind_addr("), 2);
	EQUAL(calls_with("rdma_listen(id1, 0) = 0"), 1);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	end();
}

TEST(ep_listen, loopback_address_itself_can_be_listened_at)
{
	peer = a_peer();
	watch();
	RETURNS(rpma_ep_listen(peer, "127.0.0.1", PORT, &ep), 0);
	EQUAL(calls_with("rdma_bind_addr("), 1);
	EQUAL(calls_with("rdma_listen("), 1);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	end();
}

DIFFERS(ep_listen, error_is_the_last_addresses_and_names_all, "F34")
{
	struct rpma_ep *out = UNTOUCHED;

	peer = a_peer();
	provider_host("server", two);
	provider_fail(CALL_rdma_bind_addr, 1, EADDRNOTAVAIL);
	provider_fail(CALL_rdma_bind_addr, 2, EADDRINUSE);
	watch();
	FAILS(rpma_ep_listen(peer, "server", PORT, &out), RPMA_E_PROVIDER,
		EADDRINUSE);
	SAME(out, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_bind_addr(\"server\"",
		"fd00::7, 10.0.0.2", PORT, strerror(EADDRINUSE));
	no_peer(&peer);
}

DIFFERS(ep_listen, lines_name_address_and_port, "F36")
{
	struct rpma_ep *out = UNTOUCHED;

	peer = a_peer();
	for (unsigned int n = 2; n < 5; n++) {
		provider_fail(makers[n].call, 1, EADDRINUSE);
		watch();
		FAILS(rpma_ep_listen(peer, ADDRESS, PORT, &out),
			RPMA_E_PROVIDER, EADDRINUSE);
		LOGGED(RPMA_LOG_LEVEL_ERROR, makers[n].name,
			"\"" ADDRESS "\"", "\"" PORT "\"",
			strerror(EADDRINUSE));
		TEXT(log_function(0), "rpma_ep_listen");
	}
	no_peer(&peer);
}

DIFFERS(ep_listen, eai_code_is_explained_and_errno_is_einval, "F17")
{
	struct rpma_ep *out = UNTOUCHED;

	peer = a_peer();
	provider_return(CALL_rdma_getaddrinfo, 1, EAI_NONAME, 0);
	watch();
	FAILS(rpma_ep_listen(peer, "nowhere", PORT, &out), RPMA_E_PROVIDER,
		EINVAL);
	SAME(out, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_getaddrinfo",
		gai_strerror(EAI_NONAME));
	no_peer(&peer);
}

TEST(ep_listen, out_of_memory_is_not_logged_and_leaves_nothing)
{
	peer = a_peer();
	for (unsigned int nth = 1; nth < 10; nth++) {
		struct rpma_ep *out = UNTOUCHED;
		unsigned int before = provider_alive();

		provider_fail_allocation(nth);
		watch();
		if (rpma_ep_listen(peer, ADDRESS, PORT, &out) == 0) {
			CHECK(nth > 1);
			EQUAL(provider_clear_plans(), 1);
			rpma_ep_shutdown(&out);
			break;
		}
		SAME(out, UNTOUCHED);
		EQUAL(provider_alive(), before);
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	}
	no_peer(&peer);
}

/* ---- rpma_ep_shutdown ---- */

TEST(ep_shutdown, destroys_id_then_event_channel)
{
	begin();
	RETURNS(rpma_ep_shutdown(&ep), 0);
	SAME(ep, NULL);
	CALLS("rdma_destroy_id(id1) = 0", "rdma_destroy_event_channel(ec1)");
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	no_peer(&peer);
}

TEST(ep_shutdown, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_ep *none = NULL;

	INVALID(rpma_ep_shutdown(NULL));
	RETURNS(rpma_ep_shutdown(&none), 0);
	NO_CALLS();
}

TEST(ep_shutdown, failing_rdma_destroy_id_does_not_stop_the_rest)
{
	begin();
	provider_fail(CALL_rdma_destroy_id, 1, EBUSY);
	FAILS(rpma_ep_shutdown(&ep), RPMA_E_PROVIDER, EBUSY);
	SAME(ep, NULL);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_destroy_id", strerror(EBUSY));
	EQUAL(calls_with("rdma_destroy_event_channel(ec1)"), 1);
	no_peer(&peer);
}

TEST(ep_shutdown, with_requests_not_fetched_is_fine)
{
	begin();
	provider_connect_request(provider_id(1), NULL, 0);
	provider_connect_request(provider_id(1), "x", 1);
	RETURNS(rpma_ep_shutdown(&ep), 0);
	no_peer(&peer);
}

DIFFERS(ep_shutdown, fetched_request_stays_usable, "F3")
{
	struct rpma_conn_req *first, *second;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	begin();
	first = an_incoming_request(ep, NULL);
	second = an_incoming_request(ep, NULL);
	RETURNS(rpma_ep_shutdown(&ep), 0);
	RETURNS(rpma_conn_req_connect(&first, NULL, &conn), 0);
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_ESTABLISHED);
	RETURNS(rpma_conn_req_delete(&second), 0);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

TEST(ep_shutdown, after_established_does_not_hurt_the_connection)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	begin();
	req = an_incoming_request(ep, NULL);
	rpma_conn_req_connect(&req, NULL, &conn);
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	RETURNS(rpma_ep_shutdown(&ep), 0);
	event_for(conn, RDMA_CM_EVENT_DISCONNECTED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_CLOSED);
	RETURNS(rpma_conn_delete(&conn), 0);
	no_peer(&peer);
}

/* ---- rpma_ep_get_fd ---- */

TEST(ep_get_fd, is_the_event_channels_and_readable_with_a_request)
{
	struct pollfd poller = {.fd = -1, .events = POLLIN};

	begin();
	RETURNS(rpma_ep_get_fd(ep, &poller.fd), 0);
	EQUAL(poller.fd, provider_id(1)->channel->fd);
	EQUAL(poll(&poller, 1, 0), 0);
	provider_connect_request(provider_id(1), NULL, 0);
	EQUAL(poll(&poller, 1, 0), 1);
	end();
}

TEST(ep_get_fd, null_arguments_are_invalid)
{
	int fd = 77;

	begin();
	INVALID(rpma_ep_get_fd(NULL, &fd));
	EQUAL(fd, 77);
	INVALID(rpma_ep_get_fd(ep, NULL));
	end();
}

/* ---- rpma_ep_next_conn_req ---- */

DIFFERS(ep_next_conn_req, gives_the_id_a_channel_of_its_own_before_the_ack, "F1")
{
	struct rpma_conn_req *req = NULL;

	begin();
	provider_connect_request(provider_id(1), NULL, 0);
	watch();
	RETURNS(rpma_ep_next_conn_req(ep, NULL, &req), 0);
	CALLS("rdma_get_cm_event(ec1) = event1 RDMA_CM_EVENT_CONNECT_REQUEST"
		" id2",
		"rdma_create_event_channel() = ec2",
		"rdma_migrate_id(id2, ec2) = 0",
		"ibv_create_comp_channel(context) = channel1",
		"ibv_create_cq(context, 10, none, channel1, 0) = cq1",
		"ibv_req_notify_cq(cq1, 0) = 0",
		"rdma_create_qp_ex(id2, pd1, RC, send_cq=cq1 recv_cq=cq1 "
		"srq=none, sq=10 rq=10 send_sge=1 recv_sge=1 inline=8, "
		"sig_all=0 qp_context=none comp_mask=0x1) = qp1",
		"rdma_ack_cm_event(event1) = 0");
	rpma_conn_req_delete(&req);
	end();
}

TEST(ep_next_conn_req, acks_exactly_once)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;

	begin();
	req = an_incoming_request(ep, NULL);
	EQUAL(calls_with("rdma_ack_cm_event(event1) = 0"), 1);
	EQUAL(calls_with("rdma_ack_cm_event"), 1);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	rpma_conn_req_connect(&req, NULL, &conn);
	rpma_conn_delete(&conn);
	end();
}

TEST(ep_next_conn_req, makes_the_queues_of_the_cfg)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;

	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_cq_size(cfg, 5);
	rpma_conn_cfg_set_rcq_size(cfg, 6);
	rpma_conn_cfg_set_sq_size(cfg, 7);
	rpma_conn_cfg_set_rq_size(cfg, 8);
	rpma_conn_cfg_set_compl_channel(cfg, true);
	begin();
	req = an_incoming_request(ep, cfg);
	EQUAL(calls_with("ibv_create_comp_channel"), 1);
	EQUAL(calls_with("ibv_create_cq(context, 5, none, channel1, 0) = cq1"),
		1);
	EQUAL(calls_with("ibv_create_cq(context, 6, none, channel1, 0) = cq2"),
		1);
	EQUAL(calls_with("send_cq=cq1 recv_cq=cq2 srq=none, sq=7 rq=8 "), 1);
	rpma_conn_req_connect(&req, NULL, &conn);
	rpma_conn_delete(&conn);
	rpma_conn_cfg_delete(&cfg);
	end();
}

TEST(ep_next_conn_req, null_arguments_are_invalid)
{
	struct rpma_conn_req *req = UNTOUCHED;

	begin();
	INVALID(rpma_ep_next_conn_req(NULL, NULL, &req));
	SAME(req, UNTOUCHED);
	INVALID(rpma_ep_next_conn_req(ep, NULL, NULL));
	end();
}

TEST(ep_next_conn_req, enodata_is_no_event_unlogged)
{
	struct rpma_conn_req *req = UNTOUCHED;

	begin();
	provider_fail(CALL_rdma_get_cm_event, 1, ENODATA);
	RETURNS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_NO_EVENT);
	SAME(req, UNTOUCHED);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	end();
}

DIFFERS(ep_next_conn_req, non_blocking_fd_without_request_is_no_event, "F2")
{
	struct rpma_conn_req *req = UNTOUCHED;
	int fd = -1;

	begin();
	rpma_ep_get_fd(ep, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	RETURNS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_NO_EVENT);
	SAME(req, UNTOUCHED);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	/* and the next one is fetched all the same */
	req = an_incoming_request(ep, NULL);
	rpma_conn_req_delete(&req);
	end();
}

static void on_alarm(int signal)
{
	(void)signal;
}

DIFFERS(ep_next_conn_req, interrupted_wait_is_a_provider_error_unlogged, "F2")
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval timer = {.it_value.tv_usec = 50000};
	struct rpma_conn_req *req = UNTOUCHED;

	begin();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	FAILS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER, EINTR);
	SAME(req, UNTOUCHED);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	req = an_incoming_request(ep, NULL);
	rpma_conn_req_delete(&req);
	end();
}

TEST(ep_next_conn_req, failing_rdma_get_cm_event_is_a_provider_error)
{
	struct rpma_conn_req *req = UNTOUCHED;

	begin();
	provider_fail(CALL_rdma_get_cm_event, 1, EIO);
	FAILS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER, EIO);
	SAME(req, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_get_cm_event", strerror(EIO));
	end();
}

TEST(ep_next_conn_req, any_other_event_is_invalid_and_acked)
{
	struct rpma_conn_req *req = UNTOUCHED;

	begin();
	for (int type = RDMA_CM_EVENT_ADDR_RESOLVED;
			type <= RDMA_CM_EVENT_TIMEWAIT_EXIT + 1; type++) {
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			continue;
		provider_event(provider_id(1), (enum rdma_cm_event_type)type,
			0, NULL, 0);
		watch();
		RETURNS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_INVAL);
		SAME(req, UNTOUCHED);
		EQUAL(calls_with("rdma_ack_cm_event"), 1);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "");
	}
	end();
}

static const struct {
	enum provider_call call;
	const char *name;
} after_the_event[] = {
	{CALL_rdma_create_event_channel, "rdma_create_event_channel"},
	{CALL_rdma_migrate_id, "rdma_migrate_id"},
	{CALL_ibv_create_comp_channel, "ibv_create_comp_channel"},
	{CALL_ibv_create_cq, "ibv_create_cq"},
	{CALL_ibv_req_notify_cq, "ibv_req_notify_cq"},
	{CALL_rdma_create_qp_ex, "rdma_create_qp"},
};

DIFFERS(ep_next_conn_req, failure_after_the_event_rejects_and_acks, "F5")
{
	struct rpma_conn_req *req = UNTOUCHED;
	unsigned int before;

	begin();
	before = provider_alive();
	for (unsigned int n = 0; n < 6; n++) {
		provider_connect_request(provider_id(1), "abc", 3);
		provider_fail(after_the_event[n].call, 1, ENOSPC);
		watch();
		FAILS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER,
			ENOSPC);
		SAME(req, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, after_the_event[n].name,
			strerror(ENOSPC));
		EQUAL(calls_with("rdma_reject("), 1);
		EQUAL(calls_with("rdma_destroy_id("), 1);
		EQUAL(calls_with("rdma_ack_cm_event("), 1);
		EQUAL(provider_alive(), before);
	}
	req = an_incoming_request(ep, NULL);
	rpma_conn_req_delete(&req);
	end();
}

DIFFERS(ep_next_conn_req, undo_is_queues_reject_id_channel_ack, "F5")
{
	struct rpma_conn_req *req = UNTOUCHED;

	begin();
	provider_connect_request(provider_id(1), NULL, 0);
	provider_fail(CALL_rdma_create_qp_ex, 1, ENOSPC);
	watch();
	RETURNS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER);
	CHECK(provider_log_length() > 6);
	for (unsigned int n = 0; n < 6; n++) {
		static const char *const undo[] = {
			"ibv_destroy_cq(cq1) = 0",
			"ibv_destroy_comp_channel(channel1) = 0",
			"rdma_reject(id2, no data len=0) = 0",
			"rdma_destroy_id(id2) = 0",
			"rdma_destroy_event_channel(ec2)",
			"rdma_ack_cm_event(event1) = 0",
		};

		TEXT(provider_log_line(provider_log_length() - 6 + n),
			undo[n]);
	}
	end();
}

DIFFERS(ep_next_conn_req, cq_size_int_max_rejects_and_the_next_works, "F5")
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = UNTOUCHED;

	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_cq_size(cfg, INT_MAX);
	begin();
	provider_connect_request(provider_id(1), NULL, 0);
	FAILS(rpma_ep_next_conn_req(ep, cfg, &req), RPMA_E_PROVIDER, EINVAL);
	SAME(req, UNTOUCHED);
	EQUAL(calls_with("rdma_reject("), 1);
	req = an_incoming_request(ep, NULL);
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_delete(&cfg);
	end();
}

DIFFERS(ep_next_conn_req, failing_ack_undoes_all, "F5")
{
	struct rpma_conn_req *req = UNTOUCHED;
	unsigned int before;

	begin();
	before = provider_alive();
	provider_connect_request(provider_id(1), "abc", 3);
	provider_fail(CALL_rdma_ack_cm_event, 1, EINVAL);
	watch();
	FAILS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER, EINVAL);
	SAME(req, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_ack_cm_event", strerror(EINVAL));
	EQUAL(calls_with("rdma_ack_cm_event"), 1);
	EQUAL(provider_alive(), before);
	end();
}

DIFFERS(ep_next_conn_req, out_of_memory_rejects_unlogged, "F5")
{
	unsigned int before;

	begin();
	before = provider_alive();
	for (unsigned int nth = 1; nth < 20; nth++) {
		struct rpma_conn_req *req = UNTOUCHED;

		provider_connect_request(provider_id(1), "abc", 3);
		provider_fail_allocation(nth);
		watch();
		if (rpma_ep_next_conn_req(ep, NULL, &req) == 0) {
			CHECK(nth > 1);
			EQUAL(provider_clear_plans(), 1);
			rpma_conn_req_delete(&req);
			break;
		}
		SAME(req, UNTOUCHED);
		EQUAL(provider_alive(), before);
		EQUAL(calls_with("rdma_reject("), 1);
		EQUAL(calls_with("rdma_ack_cm_event("), 1);
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	}
	end();
}

DIFFERS(ep_next_conn_req, events_of_the_request_never_reach_the_endpoint, "F1")
{
	struct rpma_conn_req *req, *second = UNTOUCHED;
	int fd = -1;

	begin();
	req = an_incoming_request(ep, NULL);
	/* the client is established, or gone, before the request is accepted */
	provider_event(provider_id(2), RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	rpma_ep_get_fd(ep, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	RETURNS(rpma_ep_next_conn_req(ep, NULL, &second), RPMA_E_NO_EVENT);
	SAME(second, UNTOUCHED);
	rpma_conn_req_delete(&req);
	end();
}

static void fetch_established(void)
{
	struct rpma_conn_req *req = UNTOUCHED;

	provider_event(provider_id(2), RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	EQUAL(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_NO_EVENT);
	SAME(req, UNTOUCHED);
}

DIFFERS(ep_next_conn_req, takes_no_event_of_a_connection_being_accepted, "F1")
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	int fd = -1;

	begin();
	rpma_ep_get_fd(ep, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	req = an_incoming_request(ep, NULL);
	/* the client is quick, and another thread waits for requests */
	provider_after(CALL_rdma_accept, 1, fetch_established);
	RETURNS(rpma_conn_req_connect(&req, NULL, &conn), 0);
	rpma_conn_get_event_fd(conn, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_ESTABLISHED);
	rpma_conn_delete(&conn);
	end();
}

DIFFERS(ep_next_conn_req, lines_name_the_function_that_was_called, "F36")
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_conn_req *req = UNTOUCHED;

	begin();
	rpma_conn_cfg_new(&cfg);
	RETURNS(rpma_srq_new(peer, NULL, &srq), 0);
	rpma_conn_cfg_set_srq(cfg, srq);
	rpma_conn_cfg_set_compl_channel(cfg, true);
	provider_connect_request(provider_id(1), NULL, 0);
	watch();
	RETURNS(rpma_ep_next_conn_req(ep, cfg, &req), RPMA_E_INVAL);
	LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 1);
	TEXT(log_function(0), "rpma_ep_next_conn_req");
	watch();
	RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_INVAL);
	LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 1);
	TEXT(log_function(0), "rpma_conn_req_new");
	provider_connect_request(provider_id(1), NULL, 0);
	provider_fail(CALL_rdma_create_event_channel, 1, EMFILE);
	watch();
	FAILS(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_PROVIDER, EMFILE);
	LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 1);
	TEXT(log_function(0), "rpma_ep_next_conn_req");
	SAME(req, UNTOUCHED);
	rpma_srq_delete(&srq);
	rpma_conn_cfg_delete(&cfg);
	end();
}
