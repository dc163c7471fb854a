/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native flush and native atomic write, asked for in the environment:
 * RPMA_FLUSH=native RPMA_ATOMIC_WRITE=native. Not run on the reference, whose
 * build has neither.
 */
#include <stdio.h>
#include "contract.h"

#define ALWAYS RPMA_F_COMPLETION_ALWAYS
#define CAP_ATOMIC_WRITE (1ull << 40)
#define CAP_FLUSH ((1ull << 38) | (1ull << 39))
#define OP_ATOMIC_WRITE 0x1000u
#define OP_FLUSH 0x800u
#define FLUSH_ACCESS 0x300u
#define REMOTE 0x500000000000ull

static struct rpma_peer *peer;
static struct rpma_conn *conn;
static struct rpma_mr_remote *remote;

static void device(uint64_t caps, uint64_t send_ops)
{
	provider_device.device_cap_flags_ex = caps;
	provider_device.send_ops = send_ops;
	provider_device.mr_access |= FLUSH_ACCESS;
	peer = a_peer();
	watch();
}

static void begin(uint64_t caps, uint64_t send_ops)
{
	struct rpma_peer_cfg *pcfg = NULL;

	device(caps, send_ops);
	conn = a_connection(peer, NULL);
	remote = a_remote_region(REMOTE, UINT64_MAX >> 20, 0xff);
	if (rpma_peer_cfg_new(&pcfg) ||
	    rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true) ||
	    rpma_conn_apply_remote_peer_cfg(conn, pcfg) ||
	    rpma_peer_cfg_delete(&pcfg))
		abort();
}

static void begin_with_all(void)
{
	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE | OP_FLUSH);
	watch();
}

static void end(void)
{
	if (rpma_mr_remote_delete(&remote) || rpma_conn_delete(&conn))
		abort();
	no_peer(&peer);
}

/* what was asked for, attempt by attempt, as one text */
static const char *attempts(void)
{
	static char text[256];

	text[0] = '\0';
	for (unsigned int n = 0; n < provider_log_length(); n++) {
		const char *line = provider_log_line(n);
		const char *ops = strstr(line, "send_ops=");
		char word[32];

		if (strncmp(line, "rdma_create_qp_ex(", 18) != 0)
			continue;
		snprintf(word, sizeof(word), "%s%.6s%s", text[0] ? " " : "",
			ops ? ops + 9 : "plain",
			strstr(line, ") = qp") ? "" : "!");
		for (char *end = word; *end; end++)
			if (*end == ')')
				memmove(end, end + 1, strlen(end));
		strcat(text, word);
	}
	return text;
}

TEST(native, both_operations_are_asked_for_where_the_device_shows_both)
{
	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE | OP_FLUSH);
	TEXT(attempts(), "0x1800");
	EQUAL(calls_with("comp_mask=0x41 send_ops=0x1800"), 1);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	end();
}

TEST(native, only_what_the_device_shows_is_asked_for)
{
	begin(CAP_FLUSH, OP_ATOMIC_WRITE | OP_FLUSH);
	TEXT(attempts(), "0x800");
	end();
	provider_reset();
	begin(CAP_ATOMIC_WRITE, OP_ATOMIC_WRITE | OP_FLUSH);
	TEXT(attempts(), "0x1000");
	end();
	provider_reset();
	begin(0, OP_ATOMIC_WRITE | OP_FLUSH);
	TEXT(attempts(), "plain");
	end();
}

TEST(native, refused_operations_are_stepped_down_both_atomic_write_flush_plain)
{
	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE);
	TEXT(attempts(), "0x1800! 0x1000");
	end();
	provider_reset();
	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_FLUSH);
	TEXT(attempts(), "0x1800! 0x1000! 0x800");
	end();
	provider_reset();
	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, 0);
	TEXT(attempts(), "0x1800! 0x1000! 0x800! plain");
	EQUAL(calls_with("inline=8, sig_all=0 qp_context=none comp_mask=0x1)"),
		1);
	end();
}

TEST(native, what_was_granted_is_remembered_by_the_peer)
{
	struct rpma_conn *second;

	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_FLUSH);
	watch();
	second = a_connection(peer, NULL);
	TEXT(attempts(), "0x800");
	rpma_conn_delete(&second);
	end();
}

TEST(native, stepping_down_leaves_errno_alone)
{
	struct rpma_conn_req *req = NULL;

	device(CAP_ATOMIC_WRITE | CAP_FLUSH, 0);
	errno = EXDEV;
	EQUAL(rpma_conn_req_new(peer, ADDRESS, PORT, NULL, &req), 0);
	EQUAL(errno, EXDEV);
	TEXT(attempts(), "0x1800! 0x1000! 0x800! plain");
	rpma_conn_req_delete(&req);
	no_peer(&peer);
}

TEST(native, einval_and_enosys_step_down_too)
{
	static const int codes[] = {EINVAL, ENOSYS, EOPNOTSUPP};

	for (unsigned int n = 0; n < 3; n++) {
		device(CAP_ATOMIC_WRITE | CAP_FLUSH,
			OP_ATOMIC_WRITE | OP_FLUSH);
		provider_fail(CALL_rdma_create_qp_ex, 1, codes[n]);
		conn = a_connection(peer, NULL);
		TEXT(attempts(), "0x1800! 0x1000");
		LOG_COUNT(RPMA_LOG_LEVEL_ERROR, 0);
		rpma_conn_delete(&conn);
		no_peer(&peer);
		provider_reset();
	}
}

TEST(native, other_errors_do_not_step_down)
{
	struct rpma_conn_req *req = UNTOUCHED;

	device(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE | OP_FLUSH);
	provider_fail(CALL_rdma_create_qp_ex, 1, ENOMEM);
	FAILS(rpma_conn_req_new(peer, ADDRESS, PORT, NULL, &req),
		RPMA_E_PROVIDER, ENOMEM);
	SAME(req, UNTOUCHED);
	TEXT(attempts(), "0x1800!");
	LOGGED(RPMA_LOG_LEVEL_ERROR, "rdma_create_qp", strerror(ENOMEM));
	no_peer(&peer);
}

TEST(native, what_cannot_be_had_is_one_warning_at_the_first_connection)
{
	struct rpma_conn *second;

	device(0, 0);
	conn = a_connection(peer, NULL);
	LOGGED(RPMA_LOG_LEVEL_WARNING,
		"native atomic write and native flush requested, "
		"but not granted: emulating\n");
	watch();
	second = a_connection(peer, NULL);
	LOG_COUNT(RPMA_LOG_LEVEL_WARNING, 0);
	rpma_conn_delete(&second);
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

/* with no inline data either there is no atomic write */
TEST(native, nothing_is_said_to_be_emulated_that_is_not)
{
	device(CAP_ATOMIC_WRITE, 0);
	provider_device.max_inline = 0;
	conn = a_connection(peer, NULL);
	LOGGED(RPMA_LOG_LEVEL_WARNING, "not granted\n");
	rpma_conn_delete(&conn);
	no_peer(&peer);
}

TEST(native, the_warning_names_the_function_that_was_called)
{
	struct rpma_conn_req *req;
	struct rpma_ep *ep;

	device(0, 0);
	ep = an_endpoint(peer);
	req = an_incoming_request(ep, NULL);
	LOGGED(RPMA_LOG_LEVEL_WARNING, "not granted");
	for (unsigned int n = 0; *log_message(n); n++)
		if (log_level_of(n) == RPMA_LOG_LEVEL_WARNING)
			TEXT(log_function(n), "rpma_ep_next_conn_req");
	rpma_conn_req_delete(&req);
	rpma_ep_shutdown(&ep);
	no_peer(&peer);
}

TEST(native, flush_is_one_flush_work_request)
{
	begin_with_all();
	RETURNS(rpma_flush(conn, remote, 16, 100, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, (void *)0x1234), 0);
	CALLS("ibv_wr_start(qp1)",
		"ibv_wr_flush(qp1, 0x1234, SIGNALED, rkey=0x77 "
		"remote=0x500000000010 100 type=1 level=0)",
		"ibv_wr_complete(qp1) = 0");
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT,
		RPMA_F_COMPLETION_ON_ERROR, NULL), 0);
	CALLS("ibv_wr_start(qp1)",
		"ibv_wr_flush(qp1, 0x0, 0, rkey=0x77 remote=0x500000000000 8 "
		"type=2 level=0)",
		"ibv_wr_complete(qp1) = 0");
	NO_LOG();
	end();
}

TEST(native, flush_of_more_than_32_bits_flushes_the_region)
{
	begin_with_all();
	RETURNS(rpma_flush(conn, remote, 0, UINT32_MAX,
		RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL), 0);
	EQUAL(calls_with(" 4294967295 type=1 level=0)"), 1);
	watch();
	RETURNS(rpma_flush(conn, remote, 0, (size_t)UINT32_MAX + 1,
		RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL), 0);
	EQUAL(calls_with("type=1 level=1)"), 1);
	end();
}

TEST(native, atomic_write_is_one_atomic_write_work_request)
{
	begin_with_all();
	RETURNS(rpma_atomic_write(conn, remote, 8, "\1\2\3\4\5\6\7\10", ALWAYS,
		(void *)0x1234), 0);
	CALLS("ibv_wr_start(qp1)",
		"ibv_wr_atomic_write(qp1, 0x1234, SIGNALED, rkey=0x77 "
		"remote=0x500000000008 data=0102030405060708)",
		"ibv_wr_complete(qp1) = 0");
	watch();
	RETURNS(rpma_atomic_write(conn, remote, 0, "12345678",
		RPMA_F_COMPLETION_ON_ERROR, NULL), 0);
	EQUAL(calls_with("ibv_wr_atomic_write(qp1, 0x0, 0, "), 1);
	NO_LOG();
	end();
}

/* F38: a flush region for a connection whose flushes go out natively */
TEST(native, no_buffer_is_made_for_flushes_that_do_not_read)
{
	struct rpma_conn *conns[2];

	device(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE | OP_FLUSH);
	for (unsigned int n = 0; n < 2; n++)
		conns[n] = a_connection(peer, NULL);
	EQUAL(calls_with("ibv_reg_mr"), 0);
	EQUAL(provider_count("mr"), 0);
	EQUAL(provider_mapping_size(), 0);
	for (unsigned int n = 0; n < 2; n++)
		rpma_conn_delete(&conns[n]);
	no_peer(&peer);
}

/* F38: the driver stops granting them, or never did */
TEST(native, a_later_connection_that_reads_makes_the_buffer)
{
	struct rpma_conn *native, *reading;

	begin(CAP_FLUSH, OP_FLUSH);
	native = conn;
	provider_device.send_ops = 0;
	watch();
	reading = a_connection(peer, NULL);
	EQUAL(calls_with("ibv_reg_mr(pd1, private+0, 8, LOCAL_WRITE)"), 1);
	RETURNS(rpma_flush(reading, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("RDMA_READ"), 1);
	RETURNS(rpma_flush(native, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("ibv_wr_flush"), 1);
	rpma_conn_delete(&reading);
	end();
}

/* F39: an atomic write that overtakes the flush before it */
TEST(native, atomic_write_is_fenced_where_flushes_read)
{
	begin(CAP_ATOMIC_WRITE, OP_ATOMIC_WRITE);
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("RDMA_READ"), 1);
	RETURNS(rpma_atomic_write(conn, remote, 8, "12345678", ALWAYS,
		(void *)0x1234), 0);
	EQUAL(calls_with("ibv_wr_atomic_write(qp1, 0x1234, FENCE|SIGNALED, "),
		1);
	RETURNS(rpma_atomic_write(conn, remote, 0, "12345678",
		RPMA_F_COMPLETION_ON_ERROR, NULL), 0);
	EQUAL(calls_with("ibv_wr_atomic_write(qp1, 0x0, FENCE, "), 1);
	end();
}

/* the tries with 8 bytes inline, then those with none */
TEST(native, without_inline_data_the_native_operations_are_tried_again)
{
	device(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE);
	provider_device.max_inline = 0;
	conn = a_connection(peer, NULL);
	remote = a_remote_region(REMOTE, 4096, 0xff);
	TEXT(attempts(), "0x1800! 0x1000! 0x800! plain! 0x1800! 0x1000");
	watch();
	RETURNS(rpma_atomic_write(conn, remote, 8, "12345678", ALWAYS, NULL),
		0);
	EQUAL(calls_with("ibv_wr_atomic_write"), 1);
	NO_LOG();
	end();
	provider_reset();
	device(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_FLUSH);
	provider_device.max_inline = 0;
	conn = a_connection(peer, NULL);
	remote = a_remote_region(REMOTE, 4096, 0xff);
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("ibv_wr_flush"), 1);
	watch();
	RETURNS(rpma_atomic_write(conn, remote, 8, "12345678", ALWAYS, NULL),
		RPMA_E_NOSUPP);
	NO_CALLS();
	LOGGED(RPMA_LOG_LEVEL_ERROR, "inline");
	end();
}

TEST(native, failing_wr_complete_is_a_provider_error)
{
	begin_with_all();
	provider_fail(CALL_ibv_wr_complete, 1, ENOMEM);
	FAILS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS,
		NULL), RPMA_E_PROVIDER, ENOMEM);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_wr_complete", strerror(ENOMEM));
	provider_fail(CALL_ibv_wr_complete, 1, EIO);
	watch();
	FAILS(rpma_atomic_write(conn, remote, 0, "12345678", ALWAYS, NULL),
		RPMA_E_PROVIDER, EIO);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_wr_complete", strerror(EIO));
	end();
}

TEST(native, what_was_not_granted_is_emulated)
{
	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE);
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("RDMA_READ"), 1);
	RETURNS(rpma_atomic_write(conn, remote, 0, "12345678", ALWAYS, NULL),
		0);
	EQUAL(calls_with("ibv_wr_atomic_write"), 1);
	end();
	provider_reset();
	begin(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_FLUSH);
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("ibv_wr_flush"), 1);
	RETURNS(rpma_atomic_write(conn, remote, 0, "12345678", ALWAYS, NULL),
		0);
	EQUAL(calls_with("RDMA_WRITE, FENCE|SIGNALED|INLINE"), 1);
	end();
}

TEST(native, qp_that_is_not_extended_after_all_is_emulated)
{
	device(CAP_ATOMIC_WRITE | CAP_FLUSH, OP_ATOMIC_WRITE | OP_FLUSH);
	/* for each of the combinations that may be tried */
	for (unsigned int nth = 1; nth <= 3; nth++)
		provider_return(CALL_ibv_qp_to_qp_ex, nth, 0, 0);
	conn = a_connection(peer, NULL);
	provider_clear_plans();
	remote = a_remote_region(REMOTE, 4096, 0xff);
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	RETURNS(rpma_atomic_write(conn, remote, 0, "12345678", ALWAYS, NULL),
		0);
	EQUAL(calls_with("ibv_wr_"), 0);
	EQUAL(calls_with("ibv_post_send"), 2);
	end();
}

TEST(native, other_operations_are_posted_as_ever)
{
	begin_with_all();
	RETURNS(rpma_read(conn, NULL, 0, NULL, 0, 0, ALWAYS, NULL), 0);
	RETURNS(rpma_send(conn, NULL, 0, 0, ALWAYS, NULL), 0);
	EQUAL(calls_with("ibv_post_send"), 2);
	end();
}

TEST(native, invalid_arguments_are_the_same)
{
	begin_with_all();
	INVALID(rpma_flush(conn, NULL, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL));
	INVALID(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, 0,
		NULL));
	INVALID(rpma_flush(conn, remote, SIZE_MAX, 8,
		RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	INVALID(rpma_flush(conn, remote, 0, 8, (enum rpma_flush_type)2, ALWAYS,
		NULL));
	INVALID(rpma_atomic_write(conn, remote, 4, "12345678", ALWAYS, NULL));
	INVALID(rpma_atomic_write(conn, remote, SIZE_MAX & ~(size_t)7,
		"12345678", ALWAYS, NULL));
	end();
}
