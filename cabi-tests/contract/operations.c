/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpma_read, rpma_write, rpma_write_with_imm, rpma_atomic_write, rpma_flush,
 * rpma_send, rpma_send_with_imm, rpma_recv: the work requests that they post
 */
#include <stdio.h>
#include "contract.h"

#define ALWAYS RPMA_F_COMPLETION_ALWAYS
#define ON_ERROR RPMA_F_COMPLETION_ON_ERROR
#define CONTEXT ((void *)0x1234)
#define REMOTE 0x500000000000ull
#define BIG ((size_t)UINT32_MAX + 1)

static struct rpma_peer *peer;
static struct rpma_conn *conn;
static struct rpma_mr_local *local;
static struct rpma_mr_remote *remote;

static void begin_sized(size_t local_size, uint64_t remote_size)
{
	peer = a_peer();
	conn = a_connection(peer, NULL);
	local = a_region(peer, local_size, 0xff);
	remote = a_remote_region(REMOTE, remote_size, 0xff);
	watch();
}

static void begin(void)
{
	begin_sized(4096, 4096);
}

static void end(void)
{
	if (rpma_mr_remote_delete(&remote) || rpma_mr_dereg(&local) ||
			rpma_conn_delete(&conn))
		abort();
	no_peer(&peer);
}

/* mr1 is the buffer of the flush, mr2 the region */
#define LKEY "0x1002"
#define NO_REMOTE " remote=0 rkey=0x0"

/* ---- read ---- */

TEST(read, posts_a_read)
{
	begin();
	RETURNS(rpma_read(conn, local, 16, remote, 32, 100, ALWAYS, CONTEXT),
		0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_READ, SIGNALED, "
		"[mem+16, 100, " LKEY "], "
		"remote=0x500000000020 rkey=0x77 imm=0x0) = 0");
	NO_LOG();
	end();
}

TEST(read, without_data_posts_an_sge_of_length_0)
{
	begin();
	RETURNS(rpma_read(conn, local, 16, remote, 32, 0, ALWAYS, NULL), 0);
	CALLS("ibv_post_send(qp1, 0x0, RDMA_READ, SIGNALED, "
		"[mem+16, 0, " LKEY "], "
		"remote=0x500000000020 rkey=0x77 imm=0x0) = 0");
	end();
}

TEST(read, without_regions_posts_no_sge)
{
	begin();
	RETURNS(rpma_read(conn, NULL, 0, NULL, 0, 0, ALWAYS, CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_READ, SIGNALED, no sge,"
		NO_REMOTE " imm=0x0) = 0");
	end();
}

TEST(read, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_read(NULL, local, 0, remote, 0, 8, ALWAYS, NULL));
	INVALID(rpma_read(conn, local, 0, remote, 0, 8, 0, NULL));
	INVALID(rpma_read(conn, NULL, 0, remote, 0, 8, ALWAYS, NULL));
	INVALID(rpma_read(conn, NULL, 0, remote, 0, 0, ALWAYS, NULL));
	INVALID(rpma_read(conn, local, 0, NULL, 0, 8, ALWAYS, NULL));
	INVALID(rpma_read(conn, local, 0, NULL, 0, 0, ALWAYS, NULL));
	INVALID(rpma_read(conn, NULL, 1, NULL, 0, 0, ALWAYS, NULL));
	INVALID(rpma_read(conn, NULL, 0, NULL, 1, 0, ALWAYS, NULL));
	INVALID(rpma_read(conn, NULL, 0, NULL, 0, 1, ALWAYS, NULL));
	end();
}

/* ---- write ---- */

TEST(write, posts_a_write)
{
	begin();
	RETURNS(rpma_write(conn, remote, 32, local, 16, 100, ON_ERROR,
		CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_WRITE, 0, "
		"[mem+16, 100, " LKEY "], "
		"remote=0x500000000020 rkey=0x77 imm=0x0) = 0");
	NO_LOG();
	end();
}

TEST(write, without_data_posts_an_sge_of_length_0)
{
	begin();
	RETURNS(rpma_write(conn, remote, 32, local, 16, 0, ALWAYS, NULL), 0);
	CALLS("ibv_post_send(qp1, 0x0, RDMA_WRITE, SIGNALED, "
		"[mem+16, 0, " LKEY "], "
		"remote=0x500000000020 rkey=0x77 imm=0x0) = 0");
	end();
}

TEST(write, without_regions_posts_no_sge)
{
	begin();
	RETURNS(rpma_write(conn, NULL, 0, NULL, 0, 0, ALWAYS, CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_WRITE, SIGNALED, no sge,"
		NO_REMOTE " imm=0x0) = 0");
	end();
}

TEST(write, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_write(NULL, remote, 0, local, 0, 8, ALWAYS, NULL));
	INVALID(rpma_write(conn, remote, 0, local, 0, 8, 0, NULL));
	INVALID(rpma_write(conn, NULL, 0, local, 0, 8, ALWAYS, NULL));
	INVALID(rpma_write(conn, NULL, 0, local, 0, 0, ALWAYS, NULL));
	INVALID(rpma_write(conn, remote, 0, NULL, 0, 8, ALWAYS, NULL));
	INVALID(rpma_write(conn, remote, 0, NULL, 0, 0, ALWAYS, NULL));
	INVALID(rpma_write(conn, NULL, 1, NULL, 0, 0, ALWAYS, NULL));
	INVALID(rpma_write(conn, NULL, 0, NULL, 1, 0, ALWAYS, NULL));
	INVALID(rpma_write(conn, NULL, 0, NULL, 0, 1, ALWAYS, NULL));
	end();
}

TEST(write, any_flags_but_0_pass_and_bit_1_asks_for_a_completion)
{
	static const int flags[] = {1, 2, 3, 4, 6, 8, 0x7ffffffd, INT_MAX,
		INT_MIN, -1};

	begin();
	for (unsigned int n = 0; n < sizeof(flags) / sizeof(flags[0]); n++) {
		watch();
		RETURNS(rpma_write(conn, remote, 0, local, 0, 8, flags[n],
			NULL), 0);
		EQUAL(calls_with(flags[n] & 2 ? "RDMA_WRITE, SIGNALED, [" :
			"RDMA_WRITE, 0, ["), 1);
	}
	end();
}

TEST(write, ranges_beyond_the_region_are_the_providers_to_refuse)
{
	begin();
	RETURNS(rpma_write(conn, remote, 4096, local, 4096, 4096, ALWAYS,
		NULL), 0);
	EQUAL(calls_with("[mem+4096, 4096, "), 1);
	end();
}

TEST(write, greatest_length_is_4_gib_less_1)
{
	begin_sized(SIZE_MAX >> 20, UINT64_MAX >> 20);
	RETURNS(rpma_write(conn, remote, 0, local, 0, UINT32_MAX, ALWAYS,
		NULL), 0);
	EQUAL(calls_with("[mem+0, 4294967295, "), 1);
	end();
}

/* ---- write with immediate data ---- */

TEST(write_with_imm, posts_the_immediate_in_network_byte_order)
{
	begin();
	/* the log shows the value that the network carries */
	RETURNS(rpma_write_with_imm(conn, remote, 32, local, 16, 100, ALWAYS,
		0x12345678, CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_WRITE_WITH_IMM, SIGNALED, "
		"[mem+16, 100, " LKEY "], "
		"remote=0x500000000020 rkey=0x77 imm=0x12345678) = 0");
	watch();
	RETURNS(rpma_write_with_imm(conn, remote, 0, local, 0, 8, ON_ERROR,
		UINT32_MAX, NULL), 0);
	EQUAL(calls_with("RDMA_WRITE_WITH_IMM, 0, "), 1);
	EQUAL(calls_with("imm=0xffffffff"), 1);
	watch();
	RETURNS(rpma_write_with_imm(conn, remote, 0, local, 0, 8, ON_ERROR, 0,
		NULL), 0);
	EQUAL(calls_with("imm=0x0)"), 1);
	NO_LOG();
	end();
}

TEST(write_with_imm, without_regions_posts_the_immediate_alone)
{
	begin();
	RETURNS(rpma_write_with_imm(conn, NULL, 0, NULL, 0, 0, ALWAYS, 7,
		CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_WRITE_WITH_IMM, SIGNALED, "
		"no sge," NO_REMOTE " imm=0x7) = 0");
	watch();
	RETURNS(rpma_write_with_imm(conn, remote, 1, local, 2, 0, ALWAYS, 7,
		CONTEXT), 0);
	EQUAL(calls_with("[mem+2, 0, " LKEY "], remote=0x500000000001 "), 1);
	end();
}

TEST(write_with_imm, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_write_with_imm(NULL, remote, 0, local, 0, 8, ALWAYS, 1,
		NULL));
	INVALID(rpma_write_with_imm(conn, remote, 0, local, 0, 8, 0, 1, NULL));
	INVALID(rpma_write_with_imm(conn, NULL, 0, local, 0, 8, ALWAYS, 1,
		NULL));
	INVALID(rpma_write_with_imm(conn, remote, 0, NULL, 0, 8, ALWAYS, 1,
		NULL));
	INVALID(rpma_write_with_imm(conn, NULL, 1, NULL, 0, 0, ALWAYS, 1,
		NULL));
	INVALID(rpma_write_with_imm(conn, NULL, 0, NULL, 1, 0, ALWAYS, 1,
		NULL));
	INVALID(rpma_write_with_imm(conn, NULL, 0, NULL, 0, 1, ALWAYS, 1,
		NULL));
	end();
}

/* ---- atomic write ---- */

TEST(atomic_write, posts_a_fenced_inline_write_of_8_bytes)
{
	begin();
	RETURNS(rpma_atomic_write(conn, remote, 24, "\x01\x02\x03\x04\x05\x06"
		"\x07\x08", ALWAYS, CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_WRITE, FENCE|SIGNALED|INLINE, "
		"[inline, 8, 0x0], remote=0x500000000018 rkey=0x77 imm=0x0 "
		"data=0102030405060708) = 0");
	watch();
	RETURNS(rpma_atomic_write(conn, remote, 0, "\0\0\0\0\0\0\0\xff",
		ON_ERROR, NULL), 0);
	CALLS("ibv_post_send(qp1, 0x0, RDMA_WRITE, FENCE|INLINE, "
		"[inline, 8, 0x0], remote=0x500000000000 rkey=0x77 imm=0x0 "
		"data=00000000000000ff) = 0");
	NO_LOG();
	end();
}

TEST(atomic_write, offset_must_be_a_multiple_of_8)
{
	begin();
	for (size_t offset = 0; offset < 24; offset++) {
		if (offset % 8 == 0) {
			RETURNS(rpma_atomic_write(conn, remote, offset,
				"12345678", ALWAYS, NULL), 0);
			continue;
		}
		INVALID(rpma_atomic_write(conn, remote, offset, "12345678",
			ALWAYS, NULL));
	}
	INVALID(rpma_atomic_write(conn, remote, SIZE_MAX, "12345678", ALWAYS,
		NULL));
	end();
}

TEST(atomic_write, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_atomic_write(NULL, remote, 0, "12345678", ALWAYS, NULL));
	INVALID(rpma_atomic_write(conn, NULL, 0, "12345678", ALWAYS, NULL));
	/* the prototype's char [8] makes the compiler refuse a plain NULL */
	const char *volatile none = NULL;

	INVALID(rpma_atomic_write(conn, remote, 0, none, ALWAYS, NULL));
	INVALID(rpma_atomic_write(conn, remote, 0, "12345678", 0, NULL));
	end();
}

/* ---- send ---- */

TEST(send, posts_a_send)
{
	begin();
	RETURNS(rpma_send(conn, local, 16, 100, ALWAYS, CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, SEND, SIGNALED, "
		"[mem+16, 100, " LKEY "]," NO_REMOTE " imm=0x0) = 0");
	watch();
	RETURNS(rpma_send(conn, local, 0, 0, ON_ERROR, NULL), 0);
	CALLS("ibv_post_send(qp1, 0x0, SEND, 0, [mem+0, 0, " LKEY "],"
		NO_REMOTE " imm=0x0) = 0");
	NO_LOG();
	end();
}

TEST(send, without_region_posts_no_sge)
{
	begin();
	RETURNS(rpma_send(conn, NULL, 0, 0, ALWAYS, NULL), 0);
	CALLS("ibv_post_send(qp1, 0x0, SEND, SIGNALED, no sge," NO_REMOTE
		" imm=0x0) = 0");
	end();
}

TEST(send, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_send(NULL, local, 0, 8, ALWAYS, NULL));
	INVALID(rpma_send(conn, local, 0, 8, 0, NULL));
	INVALID(rpma_send(conn, NULL, 1, 0, ALWAYS, NULL));
	INVALID(rpma_send(conn, NULL, 0, 1, ALWAYS, NULL));
	end();
}

TEST(send_with_imm, posts_the_immediate_in_network_byte_order)
{
	begin();
	RETURNS(rpma_send_with_imm(conn, local, 16, 100, ALWAYS, 0x12345678,
		CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, SEND_WITH_IMM, SIGNALED, "
		"[mem+16, 100, " LKEY "]," NO_REMOTE " imm=0x12345678) = 0");
	watch();
	RETURNS(rpma_send_with_imm(conn, NULL, 0, 0, ON_ERROR, UINT32_MAX,
		NULL), 0);
	CALLS("ibv_post_send(qp1, 0x0, SEND_WITH_IMM, 0, no sge," NO_REMOTE
		" imm=0xffffffff) = 0");
	NO_LOG();
	end();
}

TEST(send_with_imm, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_send_with_imm(NULL, local, 0, 8, ALWAYS, 1, NULL));
	INVALID(rpma_send_with_imm(conn, local, 0, 8, 0, 1, NULL));
	INVALID(rpma_send_with_imm(conn, NULL, 1, 0, ALWAYS, 1, NULL));
	INVALID(rpma_send_with_imm(conn, NULL, 0, 1, ALWAYS, 1, NULL));
	end();
}

/* ---- recv ---- */

TEST(recv, posts_one_receive)
{
	begin();
	RETURNS(rpma_recv(conn, local, 16, 100, CONTEXT), 0);
	CALLS("ibv_post_recv(qp1, 0x1234, [mem+16, 100, " LKEY "]) = 0");
	watch();
	RETURNS(rpma_recv(conn, local, 0, 0, NULL), 0);
	CALLS("ibv_post_recv(qp1, 0x0, [mem+0, 0, " LKEY "]) = 0");
	watch();
	RETURNS(rpma_recv(conn, NULL, 0, 0, CONTEXT), 0);
	CALLS("ibv_post_recv(qp1, 0x1234, no sge) = 0");
	NO_LOG();
	end();
}

TEST(recv, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_recv(NULL, local, 0, 8, NULL));
	INVALID(rpma_recv(conn, NULL, 1, 0, NULL));
	INVALID(rpma_recv(conn, NULL, 0, 1, NULL));
	end();
}

/* ---- all of them ---- */

static int call_read(size_t offset, size_t len)
{
	return rpma_read(conn, local, offset, remote, 0, len, ALWAYS, NULL);
}

static int call_write(size_t offset, size_t len)
{
	return rpma_write(conn, remote, 0, local, offset, len, ALWAYS, NULL);
}

static int call_write_with_imm(size_t offset, size_t len)
{
	return rpma_write_with_imm(conn, remote, 0, local, offset, len, ALWAYS,
		1, NULL);
}

static int call_send(size_t offset, size_t len)
{
	return rpma_send(conn, local, offset, len, ALWAYS, NULL);
}

static int call_send_with_imm(size_t offset, size_t len)
{
	return rpma_send_with_imm(conn, local, offset, len, ALWAYS, 1, NULL);
}

static int call_recv(size_t offset, size_t len)
{
	return rpma_recv(conn, local, offset, len, NULL);
}

static int call_atomic_write(size_t offset, size_t len)
{
	(void)len;
	return rpma_atomic_write(conn, remote, offset & ~(size_t)7, "12345678",
		ALWAYS, NULL);
}

static int call_flush(size_t offset, size_t len)
{
	return rpma_flush(conn, remote, offset, len,
		RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL);
}

static int (*const data_calls[])(size_t, size_t) = {
	call_read, call_write, call_write_with_imm, call_send,
	call_send_with_imm, call_recv,
};
static int (*const all_calls[])(size_t, size_t) = {
	call_read, call_write, call_write_with_imm, call_send,
	call_send_with_imm, call_recv, call_atomic_write, call_flush,
};

DIFFERS(operations, length_over_32_bits_is_invalid, "F6")
{
	begin_sized(SIZE_MAX >> 20, UINT64_MAX >> 20);
	for (unsigned int n = 0; n < 6; n++) {
		INVALID(data_calls[n](0, BIG));
		INVALID(data_calls[n](0, BIG + 8));
		INVALID(data_calls[n](0, SIZE_MAX));
	}
	end();
}

DIFFERS(operations, local_address_over_64_bits_is_invalid, "F22")
{
	begin();
	for (unsigned int n = 0; n < 6; n++) {
		INVALID(data_calls[n](SIZE_MAX, 8));
		INVALID(data_calls[n](SIZE_MAX - (size_t)provider_memory - 7,
			16));
	}
	end();
}

DIFFERS(operations, remote_address_over_64_bits_is_invalid, "F22")
{
	size_t near_end = SIZE_MAX - REMOTE - 7;

	begin();
	INVALID(rpma_read(conn, local, 0, remote, SIZE_MAX, 8, ALWAYS, NULL));
	INVALID(rpma_read(conn, local, 0, remote, near_end, 16, ALWAYS, NULL));
	INVALID(rpma_write(conn, remote, SIZE_MAX, local, 0, 8, ALWAYS, NULL));
	INVALID(rpma_write(conn, remote, near_end, local, 0, 16, ALWAYS,
		NULL));
	INVALID(rpma_write_with_imm(conn, remote, SIZE_MAX, local, 0, 8,
		ALWAYS, 1, NULL));
	INVALID(rpma_write_with_imm(conn, remote, near_end, local, 0, 16,
		ALWAYS, 1, NULL));
	INVALID(rpma_atomic_write(conn, remote, SIZE_MAX & ~(size_t)7,
		"12345678", ALWAYS, NULL));
	INVALID(rpma_flush(conn, remote, SIZE_MAX, 8,
		RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	INVALID(rpma_flush(conn, remote, 8, SIZE_MAX,
		RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL));
	end();
}

TEST(operations, failing_post_is_a_provider_error)
{
	begin();
	for (unsigned int n = 0; n < 8; n++) {
		int receives = all_calls[n] == call_recv;

		provider_fail(receives ? CALL_ibv_post_recv :
			CALL_ibv_post_send, 1, ENOMEM);
		watch();
		RETURNS(all_calls[n](0, 8), RPMA_E_PROVIDER);
		EQUAL(provider_log_length(), 1);
		LOGGED(RPMA_LOG_LEVEL_ERROR, receives ? "ibv_post_recv" :
			"ibv_post_send", strerror(ENOMEM));
	}
	end();
}

DIFFERS(operations, failing_post_has_its_code_in_errno, "F17")
{
	begin();
	for (unsigned int n = 0; n < 8; n++) {
		provider_fail(all_calls[n] == call_recv ? CALL_ibv_post_recv :
			CALL_ibv_post_send, 1, ENOMEM);
		FAILS(all_calls[n](0, 8), RPMA_E_PROVIDER, ENOMEM);
	}
	end();
}

TEST(operations, success_never_sets_errno)
{
	begin();
	for (unsigned int n = 0; n < 8; n++) {
		errno = EXDEV;
		EQUAL(all_calls[n](0, 8), 0);
		EQUAL(errno, EXDEV);
	}
	end();
}

TEST(operations, allocate_nothing)
{
	unsigned int before;

	begin();
	before = provider_allocations_made();
	for (unsigned int n = 0; n < 8; n++)
		EQUAL(all_calls[n](0, 8), 0);
	EQUAL(provider_allocations_made(), before);
	end();
}

/* ---- flush ---- */

static void direct_write(bool supported)
{
	struct rpma_peer_cfg *pcfg = NULL;

	if (rpma_peer_cfg_new(&pcfg) ||
	    rpma_peer_cfg_set_direct_write_to_pmem(pcfg, supported) ||
	    rpma_conn_apply_remote_peer_cfg(conn, pcfg) ||
	    rpma_peer_cfg_delete(&pcfg))
		abort();
	watch();
}

TEST(flush, reads_8_bytes_into_a_private_buffer)
{
	begin();
	RETURNS(rpma_flush(conn, remote, 16, 100, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, CONTEXT), 0);
	CALLS("ibv_post_send(qp1, 0x1234, RDMA_READ, SIGNALED, "
		"[private+0, 8, 0x1001], "
		"remote=0x500000000010 rkey=0x77 imm=0x0) = 0");
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 4096, RPMA_FLUSH_TYPE_VISIBILITY,
		ON_ERROR, NULL), 0);
	CALLS("ibv_post_send(qp1, 0x0, RDMA_READ, 0, [private+0, 8, 0x1001], "
		"remote=0x500000000000 rkey=0x77 imm=0x0) = 0");
	NO_LOG();
	end();
}

TEST(flush, persistent_needs_direct_write_to_pmem)
{
	begin();
	watch();
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT,
		ALWAYS, NULL), RPMA_E_NOSUPP);
	NO_CALLS();
	LOGGED(RPMA_LOG_LEVEL_ERROR, "");
	direct_write(true);
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("ibv_post_send"), 1);
	direct_write(false);
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT,
		ALWAYS, NULL), RPMA_E_NOSUPP);
	/* visibility never does */
	RETURNS(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	end();
}

TEST(flush, needs_the_usage_of_its_type)
{
	for (int usage = 1; usage <= 0xff; usage++) {
		int visibility = usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
		int persistent = usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;

		if (usage == 1) {
			begin();
			direct_write(true);
		}
		rpma_mr_remote_delete(&remote);
		remote = a_remote_region(REMOTE, 4096, usage);
		watch();
		RETURNS(rpma_flush(conn, remote, 0, 8,
			RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL),
			visibility ? 0 : RPMA_E_NOSUPP);
		RETURNS(rpma_flush(conn, remote, 0, 8,
			RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, NULL),
			persistent ? 0 : RPMA_E_NOSUPP);
		LOG_COUNT(RPMA_LOG_LEVEL_ERROR, !visibility + !persistent);
		EQUAL(calls_with("ibv_post_send"), !!visibility + !!persistent);
	}
	end();
}

TEST(flush, wrong_arguments_are_invalid)
{
	begin();
	INVALID(rpma_flush(NULL, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL));
	INVALID(rpma_flush(conn, NULL, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL));
	INVALID(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, 0,
		NULL));
	end();
}

DIFFERS(flush, other_types_are_invalid, "F23")
{
	static const int types[] = {2, 3, -1, INT_MAX, INT_MIN, 0x100};

	begin();
	direct_write(true);
	for (unsigned int n = 0; n < 6; n++)
		INVALID(rpma_flush(conn, remote, 0, 8,
			(enum rpma_flush_type)types[n], ALWAYS, NULL));
	end();
}

DIFFERS(flush, never_reads_past_the_end_of_the_region, "F7")
{
	begin();
	for (size_t offset = 4088; offset <= 4096; offset++) {
		watch();
		RETURNS(rpma_flush(conn, remote, offset, 4096 - offset,
			RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL), 0);
		EQUAL(calls_with("[private+0, 8, 0x1001], remote=0x500000000ff8"
			" "), 1);
	}
	for (size_t size = 1; size < 8; size++) {
		char part[80];

		rpma_mr_remote_delete(&remote);
		remote = a_remote_region(REMOTE, size, 0xff);
		watch();
		RETURNS(rpma_flush(conn, remote, size - 1, 1,
			RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL), 0);
		snprintf(part, sizeof(part),
			"[private+0, %zu, 0x1001], remote=0x500000000000 ",
			size);
		EQUAL(calls_with(part), 1);
	}
	end();
}

TEST(flush, range_beyond_the_region_is_the_providers_to_refuse)
{
	begin();
	RETURNS(rpma_flush(conn, remote, 4092, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("[private+0, 8, 0x1001], remote=0x500000000ffc "), 1);
	watch();
	RETURNS(rpma_flush(conn, remote, 8192, 8, RPMA_FLUSH_TYPE_VISIBILITY,
		ALWAYS, NULL), 0);
	EQUAL(calls_with("[private+0, 8, 0x1001], remote=0x500000002000 "), 1);
	end();
}

TEST(flush, has_no_limit_of_length)
{
	begin_sized(4096, UINT64_MAX >> 20);
	RETURNS(rpma_flush(conn, remote, 0, BIG + 8,
		RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, NULL), 0);
	EQUAL(calls_with("[private+0, 8, 0x1001], remote=0x500000000000 "), 1);
	end();
}
