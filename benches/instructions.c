/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each call costs, for callgrind: `instructions` runs this program on
 * both libraries and does the counting.
 *
 * The connection comes from the stand-in provider. For the measurements the
 * device's operations are replaced by ones that do nothing, and what the
 * library takes from libibverbs by the functions at the end of this file, so
 * that hardly anything but the library itself is left. Each raw_* is what one
 * would write by hand in the place of the call.
 *
 * Prints "name value" for what is not a count of instructions.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <endian.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <librpma.h>
#include <valgrind/callgrind.h>
#include "provider.h"

#define ADDRESS "10.0.0.1"
#define PORT "7471"
#define CALLS 1000
#define CONNECTIONS 16
#define REGION_SIZE 4096
#define DESCRIPTOR_SIZE 21
#define USAGES (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | \
	RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | \
	RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT | \
	RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | \
	RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV)

static void must(int code, const char *what)
{
	if (code == 0)
		return;
	fprintf(stderr, "%s: %d\n", what, code);
	exit(1);
}
#define MUST(call) must(call, #call)

/* the dump that callgrind writes at the end is named after what was called */
#define MEASURE(name, call) \
	do { \
		CALLGRIND_ZERO_STATS; \
		for (int n = 0; n < CALLS; n++) \
			MUST(call); \
		CALLGRIND_DUMP_STATS_AT(name); \
	} while (0)

/* ---- operations of a device that do nothing, in two instructions ---- */

static int nothing_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		struct ibv_send_wr **bad_wr)
{
	(void)qp, (void)wr, (void)bad_wr;
	return 0;
}

static int nothing_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad_wr)
{
	(void)qp, (void)wr, (void)bad_wr;
	return 0;
}

static int nothing_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad_wr)
{
	(void)srq, (void)wr, (void)bad_wr;
	return 0;
}

static int nothing_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	(void)cq, (void)entries, (void)wc;
	return 1;
}

static int nothing_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq, (void)solicited_only;
	return 0;
}

static void do_nothing(struct ibv_context *context)
{
	context->ops.post_send = nothing_post_send;
	context->ops.post_recv = nothing_post_recv;
	context->ops.post_srq_recv = nothing_post_srq_recv;
	context->ops.poll_cq = nothing_poll_cq;
	context->ops.req_notify_cq = nothing_req_notify_cq;
}

/* ---- by hand, as the examples of rdma-core do it ---- */

struct raw_remote {
	uint64_t addr;
	uint64_t size;
	uint32_t rkey;
	uint8_t usage;
};

#define RAW __attribute__((noipa)) static int

RAW raw_read(const struct rdma_cm_id *id, const struct ibv_mr *dst, size_t dst_offset,
		const struct raw_remote *src, size_t src_offset, size_t len,
		unsigned int flags, const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)dst->addr + dst_offset,
		.length = (uint32_t)len,
		.lkey = dst->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = flags,
		.wr.rdma.remote_addr = src->addr + src_offset,
		.wr.rdma.rkey = src->rkey,
	};
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(id->qp, &wr, &bad_wr);
}

RAW raw_write(const struct rdma_cm_id *id, const struct raw_remote *dst,
		size_t dst_offset, const struct ibv_mr *src, size_t src_offset,
		size_t len, unsigned int flags, const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)src->addr + src_offset,
		.length = (uint32_t)len,
		.lkey = src->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = flags,
		.wr.rdma.remote_addr = dst->addr + dst_offset,
		.wr.rdma.rkey = dst->rkey,
	};
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(id->qp, &wr, &bad_wr);
}

RAW raw_write_with_imm(const struct rdma_cm_id *id, const struct raw_remote *dst,
		size_t dst_offset, const struct ibv_mr *src, size_t src_offset,
		size_t len, unsigned int flags, uint32_t imm,
		const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)src->addr + src_offset,
		.length = (uint32_t)len,
		.lkey = src->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = flags,
		.imm_data = htobe32(imm),
		.wr.rdma.remote_addr = dst->addr + dst_offset,
		.wr.rdma.rkey = dst->rkey,
	};
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(id->qp, &wr, &bad_wr);
}

RAW raw_atomic_write(const struct rdma_cm_id *id, const struct raw_remote *dst,
		size_t dst_offset, const char src[8], unsigned int flags,
		const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)src,
		.length = 8,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = flags | IBV_SEND_INLINE | IBV_SEND_FENCE,
		.wr.rdma.remote_addr = dst->addr + dst_offset,
		.wr.rdma.rkey = dst->rkey,
	};
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(id->qp, &wr, &bad_wr);
}

/* a read into memory kept for it */
RAW raw_flush(const struct rdma_cm_id *id, const struct ibv_mr *buffer,
		const struct raw_remote *dst, size_t dst_offset,
		unsigned int flags, const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer->addr,
		.length = 8,
		.lkey = buffer->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = flags,
		.wr.rdma.remote_addr = dst->addr + dst_offset,
		.wr.rdma.rkey = dst->rkey,
	};
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(id->qp, &wr, &bad_wr);
}

RAW raw_send(const struct rdma_cm_id *id, const struct ibv_mr *src, size_t offset,
		size_t len, unsigned int flags, const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)src->addr + offset,
		.length = (uint32_t)len,
		.lkey = src->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = flags,
	};
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(id->qp, &wr, &bad_wr);
}

RAW raw_send_with_imm(const struct rdma_cm_id *id, const struct ibv_mr *src,
		size_t offset, size_t len, unsigned int flags, uint32_t imm,
		const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)src->addr + offset,
		.length = (uint32_t)len,
		.lkey = src->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = flags,
		.imm_data = htobe32(imm),
	};
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(id->qp, &wr, &bad_wr);
}

RAW raw_recv(const struct rdma_cm_id *id, const struct ibv_mr *dst, size_t offset,
		size_t len, const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)dst->addr + offset,
		.length = (uint32_t)len,
		.lkey = dst->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad_wr;

	return ibv_post_recv(id->qp, &wr, &bad_wr);
}

RAW raw_srq_recv(const struct rdma_cm_id *id, const struct ibv_mr *dst, size_t offset,
		size_t len, const void *op_context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)dst->addr + offset,
		.length = (uint32_t)len,
		.lkey = dst->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad_wr;

	return ibv_post_srq_recv(id->srq, &wr, &bad_wr);
}

RAW raw_get_wc(const struct rdma_cm_id *id, int entries, struct ibv_wc *wc,
		int *got)
{
	int polled = ibv_poll_cq(id->send_cq, entries, wc);

	if (polled <= 0)
		return -1;
	*got = polled;
	return 0;
}

RAW raw_mr_get_descriptor(const struct ibv_mr *mr, uint8_t usage,
		unsigned char *desc)
{
	uint64_t addr = htole64((uintptr_t)mr->addr);
	uint64_t size = htole64(mr->length);
	uint32_t rkey = htole32(mr->rkey);

	memcpy(desc, &addr, 8);
	memcpy(desc + 8, &size, 8);
	memcpy(desc + 16, &rkey, 4);
	desc[20] = usage;
	return 0;
}

RAW raw_remote_from_descriptor(const unsigned char *desc, size_t size,
		struct raw_remote **mr_ptr)
{
	struct raw_remote *mr;

	if (size < DESCRIPTOR_SIZE)
		return -1;
	mr = malloc(sizeof(*mr));
	if (!mr)
		return -1;
	memcpy(&mr->addr, desc, 8);
	memcpy(&mr->size, desc + 8, 8);
	memcpy(&mr->rkey, desc + 16, 4);
	mr->addr = le64toh(mr->addr);
	mr->size = le64toh(mr->size);
	mr->rkey = le32toh(mr->rkey);
	mr->usage = desc[20];
	*mr_ptr = mr;
	return 0;
}

RAW raw_cq_wait(const struct rdma_cm_id *id)
{
	struct ibv_cq *ready;
	void *context;

	if (ibv_get_cq_event(id->send_cq_channel, &ready, &context))
		return -1;
	ibv_ack_cq_events(ready, 1);
	return ibv_req_notify_cq(ready, 0) ? -1 : 0;
}

RAW raw_conn_wait(const struct rdma_cm_id *id, struct ibv_cq **cq,
		bool *is_rcq)
{
	struct ibv_cq *ready;
	void *context;

	if (ibv_get_cq_event(id->send_cq_channel, &ready, &context))
		return -1;
	ibv_ack_cq_events(ready, 1);
	if (ready != id->send_cq && ready != id->recv_cq)
		return -1;
	if (ibv_req_notify_cq(ready, 0))
		return -1;
	*cq = ready;
	if (is_rcq)
		*is_rcq = ready != id->send_cq;
	return 0;
}

/* ---- the library's memory and descriptors ---- */

static uintptr_t library_begin, library_end;
static long heap_bytes, mapped_bytes;

static int find_library(struct dl_phdr_info *info, size_t size, void *inside)
{
	(void)size;
	for (unsigned int n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[n];
		uintptr_t begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) ||
				(uintptr_t)inside - begin >= header->p_memsz)
			continue;
		library_begin = begin;
		library_end = begin + header->p_memsz;
		return 1;
	}
	return 0;
}

static bool from_library(void *caller)
{
	return (uintptr_t)caller >= library_begin &&
		(uintptr_t)caller < library_end;
}
#define FROM_LIBRARY from_library(__builtin_return_address(0))

/* the C library's own names of what is replaced here */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *address, size_t size);
void __libc_free(void *address);

void *malloc(size_t size)
{
	void *address = __libc_malloc(size);

	if (address && FROM_LIBRARY)
		heap_bytes += (long)malloc_usable_size(address);
	return address;
}

void *calloc(size_t count, size_t size)
{
	void *address = __libc_calloc(count, size);

	if (address && FROM_LIBRARY)
		heap_bytes += (long)malloc_usable_size(address);
	return address;
}

void *realloc(void *old, size_t size)
{
	long before = old ? (long)malloc_usable_size(old) : 0;
	void *address = __libc_realloc(old, size);

	if (address && FROM_LIBRARY)
		heap_bytes += (long)malloc_usable_size(address) - before;
	return address;
}

void free(void *address)
{
	if (address && FROM_LIBRARY)
		heap_bytes -= (long)malloc_usable_size(address);
	__libc_free(address);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd,
		off_t offset)
{
	if (FROM_LIBRARY)
		mapped_bytes += (long)size;
	return (void *)syscall(SYS_mmap, address, size, protection, flags, fd,
		offset);
}

int munmap(void *address, size_t size)
{
	if (FROM_LIBRARY)
		mapped_bytes -= (long)size;
	return (int)syscall(SYS_munmap, address, size);
}

static int open_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	if (!folder)
		exit(1);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* ---- connections ---- */

static struct rdma_cm_id *newest_id(bool with_qp)
{
	for (unsigned int n = provider_count("id"); n; n--)
		if (provider_id(n) && !!provider_id(n)->qp == with_qp)
			return provider_id(n);
	exit(1);
}

static void expect_event(struct rpma_conn *conn, enum rpma_conn_event expected,
		enum rdma_cm_event_type type)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	provider_event(newest_id(true), type, 0, NULL, 0);
	MUST(rpma_conn_next_event(conn, &event));
	must(event != expected, "another event");
}

static struct rpma_conn *connected(struct rpma_peer *peer,
		const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	MUST(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req));
	MUST(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED, RDMA_CM_EVENT_ESTABLISHED);
	return conn;
}

static struct rpma_conn *accepted(struct rpma_ep *ep)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	provider_connect_request(newest_id(false), NULL, 0);
	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	MUST(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED, RDMA_CM_EVENT_ESTABLISHED);
	return conn;
}

static void disconnected(struct rpma_conn **conn)
{
	MUST(rpma_conn_disconnect(*conn));
	expect_event(*conn, RPMA_CONN_CLOSED, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rpma_conn_delete(conn));
}

/* what one of many connections takes; the first may set up what all share */
static void weigh_connections(const char *side, struct rpma_peer *peer,
		struct rpma_ep *ep)
{
	struct rpma_conn *conns[CONNECTIONS];
	struct rpma_conn *first = ep ? accepted(ep) : connected(peer, NULL);
	long heap = heap_bytes, mapped = mapped_bytes;
	unsigned int calls;
	int fds = open_fds();

	for (int n = 0; n < CONNECTIONS; n++)
		conns[n] = ep ? accepted(ep) : connected(peer, NULL);
	printf("%s_heap %ld\n", side, (heap_bytes - heap) / CONNECTIONS);
	printf("%s_mapped %ld\n", side, (mapped_bytes - mapped) / CONNECTIONS);
	printf("%s_fds %d\n", side, (open_fds() - fds) / CONNECTIONS);
	for (int n = CONNECTIONS; n-- > 0;)
		disconnected(&conns[n]);

	calls = provider_log_length();
	conns[0] = ep ? accepted(ep) : connected(peer, NULL);
	disconnected(&conns[0]);
	printf("%s_provider_calls %u\n", side, provider_log_length() - calls);
	disconnected(&first);
}

static void connections(struct rpma_peer *peer)
{
	struct rpma_ep *ep = NULL;

	weigh_connections("client", peer, NULL);
	MUST(rpma_ep_listen(peer, ADDRESS, PORT, &ep));
	weigh_connections("server", peer, ep);
	MUST(rpma_ep_shutdown(&ep));
}

/* ---- the part of a work request that is written ---- */

#define PAINT 0xa5
static unsigned int written;

static int look_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		struct ibv_send_wr **bad_wr)
{
	(void)qp, (void)bad_wr;
	for (size_t n = 0; n < sizeof(*wr); n++)
		written += ((volatile unsigned char *)wr)[n] != PAINT;
	return 0;
}

/* where the frames of the call to come will lie */
__attribute__((noinline)) static void paint_stack(void)
{
	volatile unsigned char stack[4096];

	for (size_t n = 0; n < sizeof(stack); n++)
		stack[n] = PAINT;
}

/* ---- data path ---- */

struct path {
	struct rpma_conn *conn;
	struct rpma_mr_local *local;
	struct rpma_mr_remote *remote;
	struct rpma_cq *cq;
	struct rpma_srq *srq;
	/* the same by hand */
	struct rdma_cm_id id;
	struct ibv_mr *mr;
	struct raw_remote raw_remote;
};

static void measure_posts(const struct path *path)
{
	struct rpma_conn *conn = path->conn;
	struct rpma_mr_local *local = path->local;
	struct rpma_mr_remote *remote = path->remote;
	const char eight[8] = "8 bytes";
	const void *context = path;
	int flags = RPMA_F_COMPLETION_ALWAYS;

	MEASURE("read", rpma_read(conn, local, 64, remote, 128, 8, flags,
		context));
	MEASURE("write", rpma_write(conn, remote, 64, local, 128, 8, flags,
		context));
	MEASURE("write_with_imm", rpma_write_with_imm(conn, remote, 64, local,
		128, 8, flags, 1, context));
	MEASURE("atomic_write", rpma_atomic_write(conn, remote, 64, eight,
		flags, context));
	MEASURE("flush", rpma_flush(conn, remote, 64, 512,
		RPMA_FLUSH_TYPE_PERSISTENT, flags, context));
	MEASURE("send", rpma_send(conn, local, 64, 8, flags, context));
	MEASURE("send_with_imm", rpma_send_with_imm(conn, local, 64, 8, flags,
		1, context));
	MEASURE("recv", rpma_recv(conn, local, 64, 8, context));
	MEASURE("srq_recv", rpma_srq_recv(path->srq, local, 64, 8, context));
}

static void measure_raw_posts(const struct path *path)
{
	const struct raw_remote *remote = &path->raw_remote;
	const struct ibv_mr *mr = path->mr;
	const struct rdma_cm_id *id = &path->id;
	const char eight[8] = "8 bytes";
	const void *context = path;
	unsigned int flags = IBV_SEND_SIGNALED;

	MEASURE("raw_read", raw_read(id, mr, 64, remote, 128, 8, flags,
		context));
	MEASURE("raw_write", raw_write(id, remote, 64, mr, 128, 8, flags,
		context));
	MEASURE("raw_write_with_imm", raw_write_with_imm(id, remote, 64, mr,
		128, 8, flags, 1, context));
	MEASURE("raw_atomic_write", raw_atomic_write(id, remote, 64, eight,
		flags, context));
	MEASURE("raw_flush", raw_flush(id, mr, remote, 64, flags, context));
	MEASURE("raw_send", raw_send(id, mr, 64, 8, flags, context));
	MEASURE("raw_send_with_imm", raw_send_with_imm(id, mr, 64, 8, flags,
		1, context));
	MEASURE("raw_recv", raw_recv(id, mr, 64, 8, context));
	MEASURE("raw_srq_recv", raw_srq_recv(id, mr, 64, 8, context));
}

static void measure_rest(const struct path *path)
{
	static struct rpma_mr_remote *remotes[CALLS];
	static struct raw_remote *raw_remotes[CALLS];
	unsigned char desc[DESCRIPTOR_SIZE];
	struct ibv_wc wc;
	int got;

	MEASURE("get_wc", rpma_cq_get_wc(path->cq, 1, &wc, &got));
	MEASURE("mr_get_descriptor", rpma_mr_get_descriptor(path->local, desc));
	MEASURE("remote_from_descriptor", rpma_mr_remote_from_descriptor(desc,
		sizeof(desc), &remotes[n]));
	for (int n = 0; n < CALLS; n++)
		MUST(rpma_mr_remote_delete(&remotes[n]));

	MEASURE("raw_get_wc", raw_get_wc(&path->id, 1, &wc, &got));
	MEASURE("raw_mr_get_descriptor", raw_mr_get_descriptor(path->mr,
		USAGES, desc));
	MEASURE("raw_remote_from_descriptor", raw_remote_from_descriptor(desc,
		sizeof(desc), &raw_remotes[n]));
	for (int n = 0; n < CALLS; n++)
		free(raw_remotes[n]);
}

/* ---- waiting ---- */

/* what ibv_get_cq_event() gives instead of waiting, while it is set */
static struct ibv_cq *always_ready;
static unsigned int taken, acked, ack_calls;

__attribute__((noipa)) int ibv_get_cq_event(struct ibv_comp_channel *channel,
		struct ibv_cq **cq, void **cq_context)
{
	(void)channel;
	if (!always_ready)
		return -1;
	*cq = always_ready;
	*cq_context = NULL;
	taken++;
	return 0;
}

__attribute__((noipa)) void ibv_ack_cq_events(struct ibv_cq *cq,
		unsigned int nevents)
{
	(void)cq;
	ack_calls++;
	acked += nevents;
}

static void measure_waits(struct rpma_peer *peer, const struct path *path)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn;
	struct ibv_cq *raw_which;
	struct rpma_cq *which;
	bool is_rcq;

	always_ready = path->id.send_cq;
	MEASURE("cq_wait", rpma_cq_wait(path->cq));
	printf("cq_wait_ack_calls %u\n", ack_calls);
	MEASURE("raw_cq_wait", raw_cq_wait(&path->id));
	MEASURE("raw_conn_wait", raw_conn_wait(&path->id, &raw_which, &is_rcq));

	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_compl_channel(cfg, true));
	conn = connected(peer, cfg);
	do_nothing(provider_context());
	MUST(rpma_conn_cfg_delete(&cfg));
	always_ready = newest_id(true)->qp->send_cq;
	ack_calls = 0;
	MEASURE("conn_wait", rpma_conn_wait(conn, 0, &which, &is_rcq));
	printf("conn_wait_ack_calls %u\n", ack_calls);
	MUST(rpma_conn_delete(&conn));
}

/* ---- all of it ---- */

static struct rpma_mr_remote *remote_region(struct rpma_mr_local *local)
{
	unsigned char desc[DESCRIPTOR_SIZE];
	struct rpma_mr_remote *remote = NULL;

	MUST(rpma_mr_get_descriptor(local, desc));
	MUST(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &remote));
	return remote;
}

static void declare_direct_write(struct rpma_conn *conn)
{
	struct rpma_peer_cfg *pcfg = NULL;

	MUST(rpma_peer_cfg_new(&pcfg));
	MUST(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	MUST(rpma_conn_apply_remote_peer_cfg(conn, pcfg));
	MUST(rpma_peer_cfg_delete(&pcfg));
}

static void data_path(struct rpma_peer *peer)
{
	struct ibv_context *context = provider_context();
	struct ibv_srq srq = {.context = context};
	struct path path = {0};

	path.conn = connected(peer, NULL);
	MUST(rpma_mr_reg(peer, provider_memory, REGION_SIZE, USAGES,
		&path.local));
	path.remote = remote_region(path.local);
	MUST(rpma_conn_get_cq(path.conn, &path.cq));
	MUST(rpma_srq_new(peer, NULL, &path.srq));
	declare_direct_write(path.conn);

	path.id.qp = newest_id(true)->qp;
	path.id.srq = &srq;
	path.id.send_cq = path.id.qp->send_cq;
	path.id.send_cq_channel = path.id.send_cq->channel;
	path.mr = provider_mr(provider_count("mr"));
	path.raw_remote = (struct raw_remote){
		.addr = (uintptr_t)path.mr->addr,
		.size = path.mr->length,
		.rkey = path.mr->rkey,
		.usage = USAGES,
	};

	context->ops.post_send = look_post_send;
	paint_stack();
	MUST(rpma_write(path.conn, path.remote, 64, path.local, 128, 8,
		RPMA_F_COMPLETION_ALWAYS, NULL));
	printf("work_request_bytes %u\n", written);

	do_nothing(context);
	measure_posts(&path);
	measure_raw_posts(&path);
	measure_rest(&path);
	measure_waits(peer, &path);

	MUST(rpma_srq_delete(&path.srq));
	MUST(rpma_mr_remote_delete(&path.remote));
	MUST(rpma_mr_dereg(&path.local));
	MUST(rpma_conn_delete(&path.conn));
	/* the ones by hand acked their own */
	printf("events_never_acked %u\n", taken - acked);
}

int main(void)
{
	struct rpma_peer *peer = NULL;

	if (!dl_iterate_phdr(find_library, dlsym(RTLD_DEFAULT, "rpma_write")))
		return 1;
	provider_reset();
	MUST(rpma_peer_new(provider_context(), &peer));
	connections(peer);
	data_path(peer);
	MUST(rpma_peer_delete(&peer));
	printf("heap_left %ld\n", heap_bytes);
	for (unsigned int n = 0; n < provider_misuses(); n++)
		fprintf(stderr, "misuse: %s\n", provider_misuse(n));
	return provider_misuses() != 0;
}
