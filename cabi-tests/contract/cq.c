/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_cq_*: waiting for completions and taking them */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include "contract.h"

/* a connection with a CQ of its own */
static struct rpma_peer *peer;
static struct rpma_conn *conn;
static struct rpma_cq *cq;

static void begin(void)
{
	peer = a_peer();
	conn = a_connection(peer, NULL);
	if (rpma_conn_get_cq(conn, &cq))
		abort();
	watch();
}

static void end(void)
{
	if (rpma_conn_delete(&conn))
		abort();
	no_peer(&peer);
}

static void complete(unsigned int count)
{
	for (unsigned int n = 0; n < count; n++) {
		struct ibv_wc wc = {.wr_id = 100 + n,
			.status = IBV_WC_SUCCESS, .opcode = IBV_WC_RDMA_READ,
			.byte_len = n};

		provider_completion(newest_cq(), &wc);
	}
}

TEST(cq_get_fd, is_the_completion_channels)
{
	int fd = -1;

	begin();
	RETURNS(rpma_cq_get_fd(cq, &fd), 0);
	EQUAL(fd, newest_cq()->channel->fd);
	NO_CALLS();
	end();
}

TEST(cq_get_fd, becomes_readable_with_a_completion)
{
	struct pollfd poller = {.events = POLLIN};

	begin();
	RETURNS(rpma_cq_get_fd(cq, &poller.fd), 0);
	EQUAL(poll(&poller, 1, 0), 0);
	complete(1);
	EQUAL(poll(&poller, 1, 0), 1);
	end();
}

TEST(cq_get_fd, is_the_shared_channels_when_shared)
{
	struct rpma_conn_cfg *cfg = NULL;
	int fd = -1, shared_fd = -2;

	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_compl_channel(cfg, true);
	peer = a_peer();
	conn = a_connection(peer, cfg);
	rpma_conn_get_cq(conn, &cq);
	RETURNS(rpma_cq_get_fd(cq, &fd), 0);
	RETURNS(rpma_conn_get_compl_fd(conn, &shared_fd), 0);
	EQUAL(fd, shared_fd);
	rpma_conn_cfg_delete(&cfg);
	end();
}

TEST(cq_get_fd, null_arguments_are_invalid)
{
	int fd = 77;

	begin();
	INVALID(rpma_cq_get_fd(NULL, &fd));
	EQUAL(fd, 77);
	INVALID(rpma_cq_get_fd(cq, NULL));
	end();
}

TEST(cq_wait, takes_the_event_and_arms_the_cq_again)
{
	begin();
	complete(1);
	RETURNS(rpma_cq_wait(cq), 0);
	EQUAL(calls_with("ibv_get_cq_event(channel1) = cq1"), 1);
	TEXT(provider_log_line(provider_log_length() - 1),
		"ibv_req_notify_cq(cq1, 0) = 0");
	NO_LOG();
	end();
}

DIFFERS(cq_wait, does_not_ack_each_event_by_itself, "F20")
{
	begin();
	for (unsigned int n = 0; n < 16; n++) {
		complete(1);
		RETURNS(rpma_cq_wait(cq), 0);
	}
	CHECK(calls_with("ibv_ack_cq_events") < 16);
	end();
}

TEST(cq_wait, every_event_is_acked_before_the_cq_is_destroyed)
{
	unsigned int acked = 0;

	begin();
	for (unsigned int n = 0; n < 50; n++) {
		complete(1);
		RETURNS(rpma_cq_wait(cq), 0);
	}
	for (unsigned int n = 0; n < 50; n++)
		rpma_cq_get_wc(cq, 1, &(struct ibv_wc){0}, NULL);
	/* the provider takes a CQ destroyed before its acks for misuse */
	rpma_conn_delete(&conn);
	for (unsigned int n = 0; n < provider_log_length(); n++) {
		unsigned int count;

		if (sscanf(provider_log_line(n), "ibv_ack_cq_events(cq1, %u)",
				&count) == 1)
			acked += count;
	}
	EQUAL(acked, 50);
	no_peer(&peer);
}

TEST(cq_wait, is_edge_triggered)
{
	struct ibv_wc wc;
	int fd;

	begin();
	complete(2);
	RETURNS(rpma_cq_wait(cq), 0);
	rpma_cq_get_fd(cq, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	/* the second completion was there before the CQ was armed again */
	RETURNS(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	end();
}

TEST(cq_wait, non_blocking_fd_without_event_is_no_completion_unlogged)
{
	int fd;

	begin();
	rpma_cq_get_fd(cq, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	RETURNS(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
	CALLS("ibv_get_cq_event(channel1) = EAGAIN");
	NO_LOG();
	end();
}

TEST(cq_wait, eagain_and_eintr_are_no_completion_unlogged)
{
	static const int errors[] = {EAGAIN, EINTR};

	begin();
	for (unsigned int n = 0; n < 2; n++) {
		provider_fail(CALL_ibv_get_cq_event, 1, errors[n]);
		RETURNS(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
		EQUAL(provider_log_length(), n + 1);
		NO_LOG();
	}
	end();
}

DIFFERS(cq_wait, any_other_failure_to_read_the_channel_is_a_provider_error,
	"F29")
{
	static const int errors[] = {EIO, EBADF, ENODEV, EINVAL};

	begin();
	for (unsigned int n = 0; n < 4; n++) {
		provider_fail(CALL_ibv_get_cq_event, 1, errors[n]);
		watch();
		FAILS(rpma_cq_wait(cq), RPMA_E_PROVIDER, errors[n]);
		EQUAL(provider_log_length(), 1);
		LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_get_cq_event",
			strerror(errors[n]));
	}
	/* and no event is lost by it */
	complete(1);
	RETURNS(rpma_cq_wait(cq), 0);
	end();
}

static void on_alarm(int signal)
{
	(void)signal;
}

TEST(cq_wait, interrupted_wait_is_no_completion_and_loses_no_event)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval timer = {.it_value.tv_usec = 50000};

	begin();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	RETURNS(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
	NO_LOG();
	complete(1);
	RETURNS(rpma_cq_wait(cq), 0);
	end();
}

TEST(cq_wait, failing_rearm_is_a_provider_error)
{
	begin();
	complete(1);
	provider_fail(CALL_ibv_req_notify_cq, 1, EIO);
	errno = 0;
	EQUAL(rpma_cq_wait(cq), RPMA_E_PROVIDER);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_req_notify_cq");
	end();
}

TEST(cq_wait, failing_rearm_has_its_code_in_errno_and_text)
{
	begin();
	complete(1);
	provider_fail(CALL_ibv_req_notify_cq, 1, EIO);
	FAILS(rpma_cq_wait(cq), RPMA_E_PROVIDER, EIO);
	LOGGED(RPMA_LOG_LEVEL_ERROR, strerror(EIO));
	end();
}

TEST(cq_wait, null_is_invalid)
{
	INVALID(rpma_cq_wait(NULL));
}

TEST(cq_wait, shared_channel_is_refused)
{
	struct rpma_conn_cfg *cfg = NULL;

	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_compl_channel(cfg, true);
	peer = a_peer();
	conn = a_connection(peer, cfg);
	rpma_conn_get_cq(conn, &cq);
	watch();
	RETURNS(rpma_cq_wait(cq), RPMA_E_SHARED_CHANNEL);
	NO_CALLS();
	NO_LOG();
	rpma_conn_cfg_delete(&cfg);
	end();
}

TEST(cq_get_wc, takes_one)
{
	struct ibv_wc wc[2];
	int got = 77;

	begin();
	complete(1);
	memset(wc, 0xee, sizeof(wc));
	RETURNS(rpma_cq_get_wc(cq, 1, wc, &got), 0);
	EQUAL(got, 1);
	EQUAL(wc[0].wr_id, 100);
	EQUAL(wc[0].opcode, IBV_WC_RDMA_READ);
	EQUAL(((unsigned char *)&wc[1])[0], 0xee);
	CALLS("ibv_poll_cq(cq1, 1) = 1");
	NO_LOG();
	end();
}

TEST(cq_get_wc, one_needs_no_count)
{
	struct ibv_wc wc;

	begin();
	complete(2);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	EQUAL(wc.wr_id, 100);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	EQUAL(wc.wr_id, 101);
	end();
}

TEST(cq_get_wc, takes_several_as_far_as_there_are)
{
	struct ibv_wc wc[8];
	int got = 77;

	begin();
	complete(3);
	RETURNS(rpma_cq_get_wc(cq, 8, wc, &got), 0);
	EQUAL(got, 3);
	for (int n = 0; n < 3; n++)
		EQUAL(wc[n].wr_id, 100 + n);
	CALLS("ibv_poll_cq(cq1, 8) = 3");
	end();
}

TEST(cq_get_wc, any_number_of_entries_is_asked_for)
{
	struct ibv_wc wc;
	int got = 77;

	begin();
	complete(1);
	RETURNS(rpma_cq_get_wc(cq, INT_MAX, &wc, &got), 0);
	EQUAL(got, 1);
	CALLS("ibv_poll_cq(cq1, 2147483647) = 1");
	end();
}

TEST(cq_get_wc, nothing_there_is_no_completion_with_a_debug_line)
{
	struct ibv_wc wc;
	int got = 77;

	begin();
	memset(&wc, 0xee, sizeof(wc));
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, &got), RPMA_E_NO_COMPLETION);
	EQUAL(got, 77);
	EQUAL(*(unsigned char *)&wc, 0xee);
	LOG_COUNT(RPMA_LOG_LEVEL_INFO, 0);
	LOGGED(RPMA_LOG_LEVEL_DEBUG, "");
	end();
}

TEST(cq_get_wc, failing_poll_is_a_provider_error)
{
	struct ibv_wc wc;
	int got = 77;

	begin();
	provider_return(CALL_ibv_poll_cq, 1, -1, EIO);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, &got), RPMA_E_PROVIDER);
	EQUAL(got, 77);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_poll_cq");
	provider_return(CALL_ibv_poll_cq, 1, INT_MIN, 0);
	RETURNS(rpma_cq_get_wc(cq, 1, &wc, &got), RPMA_E_PROVIDER);
	end();
}

TEST(cq_get_wc, more_than_asked_for_is_unknown)
{
	struct ibv_wc wc[4];
	int got = 77;

	begin();
	provider_return(CALL_ibv_poll_cq, 1, 2, 0);
	RETURNS(rpma_cq_get_wc(cq, 1, wc, &got), RPMA_E_UNKNOWN);
	EQUAL(got, 77);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_poll_cq");
	provider_return(CALL_ibv_poll_cq, 1, INT_MAX, 0);
	RETURNS(rpma_cq_get_wc(cq, 4, wc, &got), RPMA_E_UNKNOWN);
	EQUAL(got, 77);
	end();
}

TEST(cq_get_wc, wrong_arguments_are_invalid)
{
	static const int counts[] = {0, -1, INT_MIN};
	struct ibv_wc wc[2];
	int got = 77;

	begin();
	INVALID(rpma_cq_get_wc(NULL, 1, wc, &got));
	INVALID(rpma_cq_get_wc(cq, 1, NULL, &got));
	for (unsigned int n = 0; n < 3; n++)
		INVALID(rpma_cq_get_wc(cq, counts[n], wc, &got));
	INVALID(rpma_cq_get_wc(cq, 2, wc, NULL));
	INVALID(rpma_cq_get_wc(cq, INT_MAX, wc, NULL));
	EQUAL(got, 77);
	end();
}
