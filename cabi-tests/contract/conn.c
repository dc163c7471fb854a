/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_conn_*: a connection, its events, its CQs and its end */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include "contract.h"

static struct rpma_peer *peer;
static struct rpma_conn *conn;

static void begin_with(uint32_t rcq_size, bool shared)
{
	struct rpma_conn_cfg *cfg = NULL;

	if (rpma_conn_cfg_new(&cfg) ||
	    rpma_conn_cfg_set_rcq_size(cfg, rcq_size) ||
	    rpma_conn_cfg_set_compl_channel(cfg, shared))
		abort();
	peer = a_peer();
	conn = a_connection(peer, cfg);
	rpma_conn_cfg_delete(&cfg);
	watch();
}

static void begin(void)
{
	begin_with(0, false);
}

static void end(void)
{
	if (rpma_conn_delete(&conn))
		abort();
	no_peer(&peer);
}

/* ---- getters ---- */

TEST(conn_get_event_fd, is_the_event_channels_and_readable_with_an_event)
{
	struct pollfd poller = {.fd = -1, .events = POLLIN};

	begin();
	RETURNS(rpma_conn_get_event_fd(conn, &poller.fd), 0);
	EQUAL(poller.fd, provider_id(1)->channel->fd);
	EQUAL(poll(&poller, 1, 0), 0);
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	EQUAL(poll(&poller, 1, 0), 1);
	NO_CALLS();
	end();
}

TEST(conn_get_event_fd, null_arguments_are_invalid)
{
	int fd = 77;

	begin();
	INVALID(rpma_conn_get_event_fd(NULL, &fd));
	EQUAL(fd, 77);
	INVALID(rpma_conn_get_event_fd(conn, NULL));
	end();
}

TEST(conn_get_qp_num, is_the_qps)
{
	uint32_t number = 0;

	begin();
	RETURNS(rpma_conn_get_qp_num(conn, &number), 0);
	EQUAL(number, provider_qp(1)->qp_num);
	NO_CALLS();
	end();
}

TEST(conn_get_qp_num, null_arguments_are_invalid)
{
	uint32_t number = 77;

	begin();
	INVALID(rpma_conn_get_qp_num(NULL, &number));
	EQUAL(number, 77);
	INVALID(rpma_conn_get_qp_num(conn, NULL));
	end();
}

TEST(conn_get_cq, and_rcq_are_the_same_every_time)
{
	struct rpma_cq *cq = NULL, *rcq = NULL, *again = NULL;
	int fd = -1;

	begin_with(5, false);
	RETURNS(rpma_conn_get_cq(conn, &cq), 0);
	CHECK(cq != NULL);
	RETURNS(rpma_conn_get_cq(conn, &again), 0);
	SAME(again, cq);
	RETURNS(rpma_cq_get_fd(cq, &fd), 0);
	EQUAL(fd, provider_cq(1)->channel->fd);
	RETURNS(rpma_conn_get_rcq(conn, &rcq), 0);
	CHECK(rcq != NULL && rcq != cq);
	RETURNS(rpma_conn_get_rcq(conn, &again), 0);
	SAME(again, rcq);
	RETURNS(rpma_cq_get_fd(rcq, &fd), 0);
	EQUAL(fd, provider_cq(2)->channel->fd);
	NO_CALLS();
	end();
}

TEST(conn_get_rcq, is_null_when_there_is_none)
{
	struct rpma_cq *rcq = UNTOUCHED;

	begin();
	RETURNS(rpma_conn_get_rcq(conn, &rcq), 0);
	SAME(rcq, NULL);
	end();
}

TEST(conn_get_rcq, is_null_when_the_srq_owns_it)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_cq *rcq = UNTOUCHED;
	struct rpma_srq *srq = NULL;

	peer = a_peer();
	rpma_srq_new(peer, NULL, &srq);
	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_srq(cfg, srq);
	conn = a_connection(peer, cfg);
	RETURNS(rpma_conn_get_rcq(conn, &rcq), 0);
	SAME(rcq, NULL);
	rpma_conn_cfg_delete(&cfg);
	rpma_conn_delete(&conn);
	rpma_srq_delete(&srq);
	no_peer(&peer);
}

TEST(conn_get_cq, and_rcq_with_null_arguments_are_invalid)
{
	struct rpma_cq *cq = UNTOUCHED;

	begin();
	INVALID(rpma_conn_get_cq(NULL, &cq));
	INVALID(rpma_conn_get_rcq(NULL, &cq));
	SAME(cq, UNTOUCHED);
	INVALID(rpma_conn_get_cq(conn, NULL));
	INVALID(rpma_conn_get_rcq(conn, NULL));
	end();
}

TEST(conn_get_compl_fd, is_the_shared_channels)
{
	int fd = -1;

	begin_with(5, true);
	RETURNS(rpma_conn_get_compl_fd(conn, &fd), 0);
	EQUAL(fd, provider_cq(1)->channel->fd);
	EQUAL(fd, provider_cq(2)->channel->fd);
	NO_CALLS();
	end();
}

TEST(conn_get_compl_fd, needs_a_shared_channel)
{
	int fd = 77;

	begin();
	watch();
	RETURNS(rpma_conn_get_compl_fd(conn, &fd), RPMA_E_NOT_SHARED_CHNL);
	EQUAL(fd, 77);
	NO_LOG();
	end();
}

TEST(conn_get_compl_fd, null_arguments_are_invalid_before_all_else)
{
	int fd = 77;

	begin();
	INVALID(rpma_conn_get_compl_fd(NULL, &fd));
	EQUAL(fd, 77);
	INVALID(rpma_conn_get_compl_fd(conn, NULL));
	end();
}

TEST(conn_apply_remote_peer_cfg, null_arguments_are_invalid)
{
	struct rpma_peer_cfg *pcfg = NULL;

	begin();
	rpma_peer_cfg_new(&pcfg);
	INVALID(rpma_conn_apply_remote_peer_cfg(NULL, pcfg));
	INVALID(rpma_conn_apply_remote_peer_cfg(conn, NULL));
	rpma_peer_cfg_delete(&pcfg);
	end();
}

/* ---- rpma_conn_next_event ---- */

static const struct {
	enum rdma_cm_event_type cm;
	enum rpma_conn_event event;
} mapped[] = {
	{RDMA_CM_EVENT_ESTABLISHED, RPMA_CONN_ESTABLISHED},
	{RDMA_CM_EVENT_CONNECT_ERROR, RPMA_CONN_LOST},
	{RDMA_CM_EVENT_DEVICE_REMOVAL, RPMA_CONN_LOST},
	{RDMA_CM_EVENT_DISCONNECTED, RPMA_CONN_CLOSED},
	{RDMA_CM_EVENT_TIMEWAIT_EXIT, RPMA_CONN_CLOSED},
	{RDMA_CM_EVENT_REJECTED, RPMA_CONN_REJECTED},
	{RDMA_CM_EVENT_UNREACHABLE, RPMA_CONN_UNREACHABLE},
};
#define MAPPED (sizeof(mapped) / sizeof(mapped[0]))

TEST(conn_next_event, maps_and_acks_each_event_with_one_notice)
{
	begin();
	for (unsigned int n = 0; n < MAPPED; n++) {
		enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

		event_for(conn, mapped[n].cm, NULL, 0);
		watch();
		RETURNS(rpma_conn_next_event(conn, &event), 0);
		EQUAL(event, mapped[n].event);
		EQUAL(calls_with("rdma_get_cm_event"), 1);
		EQUAL(calls_with("rdma_ack_cm_event"), 1);
		EQUAL(calls_with("rdma_"), 2);
		LOGGED(RPMA_LOG_LEVEL_NOTICE, "");
	}
	end();
}

DIFFERS(conn_next_event, unmapped_event_is_unknown_with_its_name_in_a_warning,
	"F13")
{
	static const struct {
		int cm;
		const char *name;
	} others[] = {
		{RDMA_CM_EVENT_ADDR_RESOLVED, "ADDR_RESOLVED"},
		{RDMA_CM_EVENT_ADDR_ERROR, "ADDR_ERROR"},
		{RDMA_CM_EVENT_ROUTE_RESOLVED, "ROUTE_RESOLVED"},
		{RDMA_CM_EVENT_ROUTE_ERROR, "ROUTE_ERROR"},
		{RDMA_CM_EVENT_CONNECT_RESPONSE, "CONNECT_RESPONSE"},
		{RDMA_CM_EVENT_MULTICAST_JOIN, "MULTICAST_JOIN"},
		{RDMA_CM_EVENT_MULTICAST_ERROR, "MULTICAST_ERROR"},
		{RDMA_CM_EVENT_ADDR_CHANGE, "ADDR_CHANGE"},
		{RDMA_CM_EVENT_TIMEWAIT_EXIT + 1, "UNKNOWN EVENT"},
	};

	begin();
	for (unsigned int n = 0; n < 9; n++) {
		enum rpma_conn_event event = RPMA_CONN_LOST;

		event_for(conn, (enum rdma_cm_event_type)others[n].cm, NULL, 0);
		watch();
		RETURNS(rpma_conn_next_event(conn, &event), RPMA_E_UNKNOWN);
		EQUAL(event, RPMA_CONN_UNDEFINED);
		EQUAL(calls_with("rdma_ack_cm_event"), 1);
		LOGGED(RPMA_LOG_LEVEL_WARNING, others[n].name);
	}
	end();
}

TEST(conn_next_event, null_arguments_are_invalid)
{
	enum rpma_conn_event event = RPMA_CONN_LOST;

	begin();
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	INVALID(rpma_conn_next_event(NULL, &event));
	EQUAL(event, RPMA_CONN_LOST);
	INVALID(rpma_conn_next_event(conn, NULL));
	/* the event is still there */
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	end();
}

TEST(conn_next_event, enodata_is_no_event_unlogged)
{
	enum rpma_conn_event event = RPMA_CONN_LOST;

	begin();
	provider_fail(CALL_rdma_get_cm_event, 1, ENODATA);
	RETURNS(rpma_conn_next_event(conn, &event), RPMA_E_NO_EVENT);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	end();
}

DIFFERS(conn_next_event, non_blocking_fd_without_event_is_no_event, "F2")
{
	enum rpma_conn_event event = RPMA_CONN_LOST;
	int fd = -1;

	begin();
	rpma_conn_get_event_fd(conn, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	RETURNS(rpma_conn_next_event(conn, &event), RPMA_E_NO_EVENT);
	NO_LOG();
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_ESTABLISHED);
	end();
}

static void on_alarm(int signal)
{
	(void)signal;
}

DIFFERS(conn_next_event, interrupted_wait_is_a_provider_error_unlogged, "F2")
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval timer = {.it_value.tv_usec = 50000};
	enum rpma_conn_event event = RPMA_CONN_LOST;

	begin();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	FAILS(rpma_conn_next_event(conn, &event), RPMA_E_PROVIDER, EINTR);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	end();
}

TEST(conn_next_event, failing_rdma_get_cm_event_is_a_provider_error)
{
	enum rpma_conn_event event = RPMA_CONN_LOST;

	begin();
	provider_fail(CALL_rdma_get_cm_event, 1, EIO);
	FAILS(rpma_conn_next_event(conn, &event), RPMA_E_PROVIDER, EIO);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_get_cm_event", strerror(EIO));
	end();
}

TEST(conn_next_event, failing_ack_is_a_provider_error)
{
	enum rpma_conn_event event = RPMA_CONN_LOST;

	begin();
	for (unsigned int n = 0; n < MAPPED; n++) {
		event_for(conn, mapped[n].cm, NULL, 0);
		provider_fail(CALL_rdma_ack_cm_event, 1, EINVAL);
		watch();
		FAILS(rpma_conn_next_event(conn, &event), RPMA_E_PROVIDER,
			EINVAL);
		EQUAL(calls_with("rdma_ack_cm_event"), 1);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_ack_cm_event",
			strerror(EINVAL));
	}
	end();
}

TEST(conn_next_event, closed_can_come_twice)
{
	enum rpma_conn_event event = RPMA_CONN_LOST;

	begin();
	event_for(conn, RDMA_CM_EVENT_DISCONNECTED, NULL, 0);
	event_for(conn, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_CLOSED);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_CLOSED);
	end();
}

/* ---- private data ---- */

TEST(conn_get_private_data, is_nothing_before_established)
{
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};

	begin();
	RETURNS(rpma_conn_get_private_data(conn, &pdata), 0);
	SAME(pdata.ptr, NULL);
	EQUAL(pdata.len, 0);
	NO_CALLS();
	end();
}

TEST(conn_get_private_data, is_what_came_with_established)
{
	static const uint8_t lengths[] = {1, 56, 196, 255};
	unsigned char bytes[255];

	for (unsigned int n = 0; n < sizeof(bytes); n++)
		bytes[n] = (unsigned char)(n + 1);
	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_conn_private_data pdata = {NULL, 0};
		enum rpma_conn_event event;

		begin();
		event_for(conn, RDMA_CM_EVENT_ESTABLISHED, bytes, lengths[n]);
		RETURNS(rpma_conn_next_event(conn, &event), 0);
		RETURNS(rpma_conn_get_private_data(conn, &pdata), 0);
		EQUAL(pdata.len, lengths[n]);
		/* the event was acked, so this must be a copy */
		CHECK(pdata.ptr && memcmp(pdata.ptr, bytes, lengths[n]) == 0);
		end();
		provider_reset();
	}
}

TEST(conn_get_private_data, established_without_data_leaves_none)
{
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};
	enum rpma_conn_event event;

	begin();
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	RETURNS(rpma_conn_get_private_data(conn, &pdata), 0);
	SAME(pdata.ptr, NULL);
	EQUAL(pdata.len, 0);
	end();
}

TEST(conn_get_private_data, that_of_the_request_is_kept)
{
	struct rpma_conn_private_data pdata = {NULL, 0};
	struct rpma_conn_req *req = NULL;
	enum rpma_conn_event event;
	struct rpma_ep *ep;

	peer = a_peer();
	ep = an_endpoint(peer);
	provider_connect_request(provider_id(1), "first", 5);
	rpma_ep_next_conn_req(ep, NULL, &req);
	rpma_conn_req_connect(&req, NULL, &conn);
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, "second", 6);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	RETURNS(rpma_conn_get_private_data(conn, &pdata), 0);
	EQUAL(pdata.len, 5);
	CHECK(pdata.ptr && memcmp(pdata.ptr, "first", 5) == 0);
	rpma_conn_delete(&conn);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

TEST(conn_get_private_data, null_arguments_are_invalid)
{
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};

	begin();
	INVALID(rpma_conn_get_private_data(NULL, &pdata));
	SAME(pdata.ptr, UNTOUCHED);
	EQUAL(pdata.len, 77);
	INVALID(rpma_conn_get_private_data(conn, NULL));
	end();
}

DIFFERS(conn_next_event, established_needs_no_memory, "F26")
{
	struct rpma_conn_private_data pdata = {NULL, 0};
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	begin();
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, "data", 4);
	provider_fail_allocation(1);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	EQUAL(event, RPMA_CONN_ESTABLISHED);
	EQUAL(provider_clear_plans(), 1);
	RETURNS(rpma_conn_get_private_data(conn, &pdata), 0);
	EQUAL(pdata.len, 4);
	end();
}

/* ---- rpma_conn_disconnect and rpma_conn_delete ---- */

/* a receive that is posted a moment too late is not waited for 655 ms */
DIFFERS(conn_next_event, shortens_the_rnr_timer_of_an_outgoing_connection,
	"F32")
{
	int event;

	begin();
	EQUAL(calls_with("ibv_modify_qp"), 0);
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, (enum rpma_conn_event *)&event), 0);
	EQUAL(event, RPMA_CONN_ESTABLISHED);
	EQUAL(calls_with("ibv_modify_qp(qp1, min_rnr_timer=12) = 0"), 1);
	watch();
	event_for(conn, RDMA_CM_EVENT_DISCONNECTED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, (enum rpma_conn_event *)&event), 0);
	EQUAL(calls_with("ibv_modify_qp"), 0);
	end();
}

TEST(conn_next_event, a_refused_rnr_timer_is_neither_an_error_nor_a_line)
{
	static const int errors[] = {EINVAL, EOPNOTSUPP, ENOSYS, EIO};
	enum rpma_conn_event event;

	for (unsigned int n = 0; n < 4; n++) {
		begin();
		provider_fail(CALL_ibv_modify_qp, 1, errors[n]);
		event_for(conn, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
		errno = EXDEV;
		EQUAL(rpma_conn_next_event(conn, &event), 0);
		EQUAL(errno, EXDEV);
		EQUAL(event, RPMA_CONN_ESTABLISHED);
		LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
		end();
		/* the reference has not got there */
		provider_clear_plans();
		provider_reset();
	}
}

TEST(conn_disconnect, disconnects_as_often_as_asked)
{
	begin();
	watch();
	RETURNS(rpma_conn_disconnect(conn), 0);
	CALLS("rdma_disconnect(id1) = 0");
	LOGGED(RPMA_LOG_LEVEL_NOTICE, "");
	RETURNS(rpma_conn_disconnect(conn), 0);
	end();
}

TEST(conn_disconnect, after_rejected_is_fine)
{
	enum rpma_conn_event event;

	begin();
	event_for(conn, RDMA_CM_EVENT_REJECTED, NULL, 0);
	RETURNS(rpma_conn_next_event(conn, &event), 0);
	RETURNS(rpma_conn_disconnect(conn), 0);
	end();
}

TEST(conn_disconnect, null_is_invalid)
{
	INVALID(rpma_conn_disconnect(NULL));
}

TEST(conn_disconnect, failing_is_a_provider_error)
{
	begin();
	provider_fail(CALL_rdma_disconnect, 1, EINVAL);
	FAILS(rpma_conn_disconnect(conn), RPMA_E_PROVIDER, EINVAL);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_disconnect", strerror(EINVAL));
	end();
}

DIFFERS(conn_delete, goes_from_the_qp_to_the_event_channel, "F19")
{
	begin_with(5, false);
	RETURNS(rpma_conn_delete(&conn), 0);
	SAME(conn, NULL);
	CALLS("rdma_destroy_qp(id1)",
		"ibv_destroy_cq(cq2) = 0",
		"ibv_destroy_comp_channel(channel2) = 0",
		"ibv_destroy_cq(cq1) = 0",
		"ibv_destroy_comp_channel(channel1) = 0",
		"rdma_destroy_id(id1) = 0",
		"rdma_destroy_event_channel(ec1)");
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	no_peer(&peer);
}

DIFFERS(conn_delete, shared_channel_goes_last, "F19")
{
	begin_with(5, true);
	RETURNS(rpma_conn_delete(&conn), 0);
	CALLS("rdma_destroy_qp(id1)",
		"ibv_destroy_cq(cq2) = 0",
		"ibv_destroy_cq(cq1) = 0",
		"rdma_destroy_id(id1) = 0",
		"rdma_destroy_event_channel(ec1)",
		"ibv_destroy_comp_channel(channel1) = 0");
	no_peer(&peer);
}

TEST(conn_delete, leaves_nothing_alive)
{
	begin_with(5, false);
	RETURNS(rpma_conn_delete(&conn), 0);
	SAME(conn, NULL);
	no_peer(&peer);
	EQUAL(provider_alive(), 0);
}

TEST(conn_delete, leaves_the_srq_and_its_rcq_alone)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_cq *rcq = NULL;
	struct ibv_wc wc;

	peer = a_peer();
	rpma_srq_new(peer, NULL, &srq);
	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_srq(cfg, srq);
	conn = a_connection(peer, cfg);
	RETURNS(rpma_conn_delete(&conn), 0);
	RETURNS(rpma_srq_get_rcq(srq, &rcq), 0);
	RETURNS(rpma_cq_get_wc(rcq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	RETURNS(rpma_srq_delete(&srq), 0);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_delete, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_conn *none = NULL;

	INVALID(rpma_conn_delete(NULL));
	RETURNS(rpma_conn_delete(&none), 0);
	NO_CALLS();
}

TEST(conn_delete, needs_no_disconnect_and_no_event_fetched)
{
	begin();
	event_for(conn, RDMA_CM_EVENT_ESTABLISHED, "abc", 3);
	event_for(conn, RDMA_CM_EVENT_DISCONNECTED, NULL, 0);
	RETURNS(rpma_conn_delete(&conn), 0);
	no_peer(&peer);
}

DIFFERS(conn_delete, failures_do_not_stop_the_rest, "F27")
{
	static const struct {
		enum provider_call call;
		unsigned int nth;
		const char *name;
	} cases[] = {
		{CALL_ibv_destroy_cq, 1, "ibv_destroy_cq"},
		{CALL_ibv_destroy_cq, 2, "ibv_destroy_cq"},
		{CALL_ibv_destroy_comp_channel, 1, "ibv_destroy_comp_channel"},
		{CALL_ibv_destroy_comp_channel, 2, "ibv_destroy_comp_channel"},
		{CALL_rdma_destroy_id, 1, "rdma_destroy_id"},
	};

	for (unsigned int n = 0; n < 5; n++) {
		begin_with(5, false);
		provider_fail(cases[n].call, cases[n].nth, EBUSY);
		FAILS(rpma_conn_delete(&conn), RPMA_E_PROVIDER, EBUSY);
		SAME(conn, NULL);
		FIRST_LOGGED(RPMA_LOG_LEVEL_ERROR, cases[n].name,
			strerror(EBUSY));
		EQUAL(calls_with("rdma_destroy_qp"), 1);
		EQUAL(calls_with("ibv_destroy_cq"), 2);
		EQUAL(calls_with("ibv_destroy_comp_channel"), 2);
		EQUAL(calls_with("rdma_destroy_id"), 1);
		EQUAL(calls_with("rdma_destroy_event_channel"), 1);
		no_peer(&peer);
		EQUAL(provider_blocks(), 0);
		provider_reset();
	}
}

DIFFERS(conn_delete, of_two_failures_the_first_is_returned, "F27")
{
	begin_with(5, false);
	provider_fail(CALL_ibv_destroy_cq, 1, EBUSY);
	provider_fail(CALL_rdma_destroy_id, 1, EIO);
	FAILS(rpma_conn_delete(&conn), RPMA_E_PROVIDER, EBUSY);
	SAME(conn, NULL);
	no_peer(&peer);
}

/* the buffer of flushes was made after the peer was gone, and goes with the last connection */
DIFFERS(conn_delete, a_buffer_of_flushes_that_stays_is_told_without_its_peer, "F17")
{
	struct rpma_peer *early = a_peer();
	struct rpma_conn_req *req = a_request(early, NULL);
	struct rpma_conn *last = NULL;

	FAILS(rpma_peer_delete(&early), RPMA_E_PROVIDER, EBUSY);
	RETURNS(rpma_conn_req_connect(&req, NULL, &last), 0);
	provider_fail(CALL_ibv_dereg_mr, 1, EIO);
	watch();
	FAILS(rpma_conn_delete(&last), RPMA_E_PROVIDER, EIO);
	SAME(last, NULL);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_dereg_mr", strerror(EIO));
	EQUAL(provider_blocks(), 0);
	provider_reset();
}

/* ---- rpma_conn_wait ---- */

static void complete(unsigned int cq)
{
	struct ibv_wc wc = {.wr_id = 1, .status = IBV_WC_SUCCESS};

	provider_completion(provider_cq(cq), &wc);
}

TEST(conn_wait, tells_the_cq_from_the_rcq)
{
	struct rpma_cq *cq, *rcq, *got = NULL;
	bool is_rcq = true;

	begin_with(5, true);
	rpma_conn_get_cq(conn, &cq);
	rpma_conn_get_rcq(conn, &rcq);
	complete(1);
	RETURNS(rpma_conn_wait(conn, 0, &got, &is_rcq), 0);
	SAME(got, cq);
	EQUAL(is_rcq, false);
	complete(2);
	RETURNS(rpma_conn_wait(conn, 0, &got, &is_rcq), 0);
	SAME(got, rcq);
	EQUAL(is_rcq, true);
	EQUAL(calls_with("ibv_req_notify_cq(cq1, 0) = 0"), 1);
	EQUAL(calls_with("ibv_req_notify_cq(cq2, 0) = 0"), 1);
	NO_LOG();
	end();
}

TEST(conn_wait, needs_no_is_rcq_and_ignores_flags)
{
	static const int flags[] = {0, 1, -1, INT_MAX, INT_MIN};
	struct rpma_cq *cq, *got = NULL;

	begin_with(0, true);
	rpma_conn_get_cq(conn, &cq);
	for (unsigned int n = 0; n < 5; n++) {
		complete(1);
		RETURNS(rpma_conn_wait(conn, flags[n], &got, NULL), 0);
		SAME(got, cq);
	}
	end();
}

DIFFERS(conn_wait, does_not_ack_each_event_by_itself, "F20")
{
	struct rpma_cq *got = NULL;

	begin_with(0, true);
	for (unsigned int n = 0; n < 16; n++) {
		complete(1);
		RETURNS(rpma_conn_wait(conn, 0, &got, NULL), 0);
	}
	CHECK(calls_with("ibv_ack_cq_events") < 16);
	end();
}

TEST(conn_wait, null_arguments_are_invalid_before_all_else)
{
	struct rpma_cq *got = UNTOUCHED;
	bool is_rcq = true;

	begin();
	INVALID(rpma_conn_wait(NULL, 0, &got, &is_rcq));
	INVALID(rpma_conn_wait(conn, 0, NULL, &is_rcq));
	SAME(got, UNTOUCHED);
	EQUAL(is_rcq, true);
	end();
}

TEST(conn_wait, needs_a_shared_channel)
{
	struct rpma_cq *got = UNTOUCHED;
	bool is_rcq = true;

	begin();
	watch();
	RETURNS(rpma_conn_wait(conn, 0, &got, &is_rcq),
		RPMA_E_NOT_SHARED_CHNL);
	SAME(got, UNTOUCHED);
	EQUAL(is_rcq, true);
	NO_CALLS();
	NO_LOG();
	end();
}

TEST(conn_wait, no_event_is_no_completion_unlogged)
{
	struct rpma_cq *got = UNTOUCHED;
	int fd;

	begin_with(0, true);
	rpma_conn_get_compl_fd(conn, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	RETURNS(rpma_conn_wait(conn, 0, &got, NULL), RPMA_E_NO_COMPLETION);
	provider_fail(CALL_ibv_get_cq_event, 1, EINTR);
	RETURNS(rpma_conn_wait(conn, 0, &got, NULL), RPMA_E_NO_COMPLETION);
	SAME(got, UNTOUCHED);
	NO_LOG();
	end();
}

DIFFERS(conn_wait, any_other_failure_to_read_the_channel_is_a_provider_error,
	"F29")
{
	static const int errors[] = {EIO, EBADF, ENODEV, EINVAL};
	struct rpma_cq *got = UNTOUCHED;

	begin_with(0, true);
	for (unsigned int n = 0; n < 4; n++) {
		provider_fail(CALL_ibv_get_cq_event, 1, errors[n]);
		watch();
		FAILS(rpma_conn_wait(conn, 0, &got, NULL), RPMA_E_PROVIDER,
			errors[n]);
		SAME(got, UNTOUCHED);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_get_cq_event",
			strerror(errors[n]));
	}
	end();
}

TEST(conn_wait, failing_rearm_is_a_provider_error_and_no_cq)
{
	struct rpma_cq *got = UNTOUCHED;

	begin_with(5, true);
	for (unsigned int n = 1; n <= 2; n++) {
		complete(n);
		provider_fail(CALL_ibv_req_notify_cq, 1, EIO);
		watch();
		RETURNS(rpma_conn_wait(conn, 0, &got, NULL), RPMA_E_PROVIDER);
		SAME(got, NULL);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_req_notify_cq",
			strerror(EIO));
	}
	end();
}

DIFFERS(conn_wait, event_of_a_stranger_is_acked_at_once_and_unknown, "F24")
{
	struct rpma_conn *other;
	struct rpma_cq *got = UNTOUCHED;
	bool is_rcq = true;

	begin_with(0, true);
	other = a_connection(peer, NULL);
	provider_stray_cq_event(provider_cq(1), provider_cq(2));
	watch();
	RETURNS(rpma_conn_wait(conn, 0, &got, &is_rcq), RPMA_E_UNKNOWN);
	SAME(got, UNTOUCHED);
	EQUAL(is_rcq, true);
	EQUAL(calls_with("ibv_ack_cq_events(cq2, 1)"), 1);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "");
	/* that CQ can be destroyed */
	RETURNS(rpma_conn_delete(&other), 0);
	end();
}
