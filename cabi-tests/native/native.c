/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * native.c -- flushes of both types and atomic writes, done as expected: by the native
 * operations or by a read and a write, which the opcodes of the completions tell apart
 *
 *	native server|client ADDRESS PORT
 *
 * NATIVE_CASE says what is to happen to the client:
 *	works			all arrives, completing with NATIVE_FLUSH_OPCODE and
 *				NATIVE_ATOMIC_WRITE_OPCODE
 *	flush-breaks, persistent-flush-breaks, atomic-write-breaks
 *				this one operation, native and not known to the target, does
 *				not succeed, and the process comes out of it
 * NATIVE_MEMORY is the device DAX that the server registers, ordinary memory if empty.
 */

#include "common.h"
#include "machine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE		4096
#define PART		1024
#define VISIBLE		0		/* a part flushed to visibility */
#define PERSISTENT	PART		/* a part flushed to persistence */
#define ATOMIC		(2 * PART)	/* 8 bytes written atomically */
#define LATER		(3 * PART)	/* a part written after another connection broke */
#define DAX_STEP	(2 << 20)	/* a device DAX is mapped in such steps */
#define CONNECTIONS	2
#define BROKEN_MS	3000		/* how long an operation may take that shall not succeed */

/* ---- server ---------------------------------------------------------- */

static uint8_t *
target_memory(void)
{
	const char *path = setting("NATIVE_MEMORY");

	if (*path == '\0')
		return memory(SIZE);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	uint8_t *buf = mmap(NULL, DAX_STEP, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(buf != MAP_FAILED);
	CHECK(close(fd) == 0);
	memset(buf, 0, SIZE);
	return buf;
}

static void
check_target(const uint8_t *buf)
{
	if (is_case("works")) {
		check_filled(buf + VISIBLE, PART, 1);
		check_filled(buf + PERSISTENT, PART, 2);
		check_filled(buf + ATOMIC, 8, 3);
		check_zero(buf + ATOMIC + 8, SIZE - ATOMIC - 8);
	} else {
		check_zero(buf, LATER);
		check_filled(buf + LATER, PART, 4);
	}
}

static void
server(const char *address, const char *port)
{
	show_machine();
	struct rpma_peer *peer = peer_of_local(address);
	uint8_t *buf = target_memory();
	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);

	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	offer_direct_write_to_pmem(&offer, true);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	wait_for_client(ep);
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct rpma_conn *conn = accepted(ep, NULL, &pdata);
		close_second(&conn);
	}
	check_target(buf);

	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	if (!is_case("works"))
		check_nothing_is_left();
}

/* ---- client ---------------------------------------------------------- */

static enum ibv_wc_opcode
expected_opcode(const char *name)
{
	return (enum ibv_wc_opcode)atoi(setting(name));
}

/* only the flush completes, and with it all that was written before it */
static void
write_and_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, struct rpma_mr_local *src,
		size_t offset, enum rpma_flush_type type)
{
	enum ibv_wc_opcode opcode = expected_opcode("NATIVE_FLUSH_OPCODE");

	OK(rpma_write(conn, dst, offset, src, offset, PART, RPMA_F_COMPLETION_ON_ERROR, NULL));
	OK(rpma_flush(conn, dst, offset, PART, type, RPMA_F_COMPLETION_ALWAYS, dst));
	expect_completion(cq_of(conn), conn, opcode, dst);
	printf("flush to %s: opcode %d\n",
			type == RPMA_FLUSH_TYPE_PERSISTENT ? "persistence" : "visibility", opcode);
}

static void
write_atomically(struct rpma_conn *conn, struct rpma_mr_remote *dst, const uint8_t *data)
{
	enum ibv_wc_opcode opcode = expected_opcode("NATIVE_ATOMIC_WRITE_OPCODE");

	OK(rpma_atomic_write(conn, dst, ATOMIC, (const char *)data, RPMA_F_COMPLETION_ALWAYS,
			data));
	expect_completion(cq_of(conn), conn, opcode, data);
	printf("atomic write: opcode %d\n", opcode);
}

static void
works(struct rpma_conn *conn, struct rpma_mr_remote *dst, struct rpma_mr_local *src,
		uint8_t *buf)
{
	fill(buf + VISIBLE, PART, 1);
	fill(buf + PERSISTENT, PART, 2);
	fill(buf + ATOMIC, 8, 3);
	write_and_flush(conn, dst, src, VISIBLE, RPMA_FLUSH_TYPE_VISIBILITY);
	write_and_flush(conn, dst, src, PERSISTENT, RPMA_FLUSH_TYPE_PERSISTENT);
	write_atomically(conn, dst, buf + ATOMIC);
}

static void
post_what_breaks(struct rpma_conn *conn, struct rpma_mr_remote *dst, const uint8_t *buf)
{
	if (is_case("flush-breaks"))
		OK(rpma_flush(conn, dst, 0, PART, RPMA_FLUSH_TYPE_VISIBILITY,
				RPMA_F_COMPLETION_ALWAYS, dst));
	else if (is_case("persistent-flush-breaks"))
		OK(rpma_flush(conn, dst, 0, PART, RPMA_FLUSH_TYPE_PERSISTENT,
				RPMA_F_COMPLETION_ALWAYS, dst));
	else if (is_case("atomic-write-breaks"))
		OK(rpma_atomic_write(conn, dst, ATOMIC, (const char *)buf,
				RPMA_F_COMPLETION_ALWAYS, dst));
	else
		CHECK(!"NATIVE_CASE");
}

/* the operation fails or does not end; the next connection, made after it, is fine */
static void
breaks(struct rpma_conn *conn, struct rpma_mr_remote *dst, const uint8_t *buf)
{
	struct ibv_wc wc;
	int fd = -1;

	post_what_breaks(conn, dst, buf);
	OK(rpma_cq_get_fd(cq_of(conn), &fd));
	if (readable(fd, BROKEN_MS)) {
		OK(rpma_cq_wait(cq_of(conn)));
		OK(rpma_cq_get_wc(cq_of(conn), 1, &wc, NULL));
		CHECK(wc.status != IBV_WC_SUCCESS);
		CHECK(wc.wr_id == (uintptr_t)dst);
		printf("outcome: %s\n", ibv_wc_status_str(wc.status));
	} else {
		RETURNS(rpma_cq_get_wc(cq_of(conn), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
		printf("outcome: no completion\n");
	}
}

static void
write_later(struct rpma_conn *conn, struct rpma_mr_remote *dst, struct rpma_mr_local *src,
		uint8_t *buf)
{
	fill(buf + LATER, PART, 4);
	OK(rpma_write(conn, dst, LATER, src, LATER, PART, RPMA_F_COMPLETION_ALWAYS, src));
	expect_completion(cq_of(conn), conn, IBV_WC_RDMA_WRITE, src);
	printf("the next connection works\n");
}

static void
client(const char *address, const char *port)
{
	show_machine();
	struct rpma_peer *peer = peer_of_remote(address);
	uint8_t *buf = memory(SIZE);
	struct rpma_mr_local *src = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_SRC);

	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
		struct rpma_mr_remote *dst = offered_region(conn, 0);
		struct rpma_peer_cfg *pcfg = offered_peer_cfg(conn);

		OK(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
		OK(rpma_peer_cfg_delete(&pcfg));
		if (is_case("works"))
			works(conn, dst, src, buf);
		else if (i == 0)
			breaks(conn, dst, buf);
		else
			write_later(conn, dst, src, buf);
		OK(rpma_mr_remote_delete(&dst));
		close_first(&conn);
	}

	OK(rpma_mr_dereg(&src));
	OK(rpma_peer_delete(&peer));
	if (!is_case("works"))
		check_nothing_is_left();
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
