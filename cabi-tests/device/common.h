/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * common.h -- what the programs over a real device share: checks that say what
 * went wrong, waits that end, and the few steps every connection begins and
 * ends with.
 *
 * A program that runs alone finds the device by RPMA_TEST_ADDRESS and listens on
 * RPMA_TEST_PORT. A program of two roles is run as `server ADDRESS PORT` and
 * `client ADDRESS PORT`; the server prints "listening" when it can be reached.
 *
 * Exit status: 0 all as promised; 1 a check failed; 2 took too long; 3 showed a
 * fault that DIFFERENCES.md lists, after a line "FAULT <id>: <what was seen>".
 */

#ifndef DEVICE_COMMON_H
#define DEVICE_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librpma.h>

#ifndef PROGRAM_SECONDS
#define PROGRAM_SECONDS	30	/* no program lives longer */
#endif
#ifndef WAIT_MS
#define WAIT_MS		10000	/* no single wait is longer */
#endif

/* sizes of the descriptors, a promise of the wire format */
#define MR_DESCRIPTOR_SIZE	21
#define PEER_CFG_DESCRIPTOR_SIZE 1

/* ---- checks ---------------------------------------------------------- */

/* `condition` holds. What is checked is noted before, for the case that it hangs, and again */
#define CHECK(condition)						\
	do {								\
		at(__FILE__, __LINE__, #condition);			\
		if (!(condition)) {					\
			at(__FILE__, __LINE__, #condition);		\
			fail_check();					\
		}							\
	} while (0)

/* `call`, of the library, returns `expected` */
#define RETURNS(call, expected)						\
	do {								\
		at(__FILE__, __LINE__, #call);				\
		errno = 0;						\
		int returned_ = (call);					\
		if (returned_ != (expected)) {				\
			at(__FILE__, __LINE__, #call);			\
			fail_return(returned_, (expected));		\
		}							\
	} while (0)

/* `call`, of the library, succeeds */
#define OK(call) RETURNS(call, 0)

/* `call`, of the library, fails like this; both values are promised */
#define FAILS(call, expected, expected_errno)				\
	do {								\
		RETURNS(call, expected);				\
		if (errno != (expected_errno))				\
			fail_errno((expected_errno));			\
	} while (0)

/* the fault `id` was seen: say what was seen, end the program */
void fault(const char *id, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

void at(const char *file, int line, const char *what);
void called_at(const char *file, int line);
void fail_check(void) __attribute__((noreturn));
void fail_return(int returned, int expected) __attribute__((noreturn));
void fail_errno(int expected) __attribute__((noreturn));

/* ---- a program ------------------------------------------------------- */

/* call first: starts the clock and shows which library is in use */
void test_begin(void);

/* call last, as `return test_end();` */
int test_end(void);

/* main() of a program of two roles */
typedef void role(const char *address, const char *port);
int test_roles(int argc, char *argv[], role *server, role *client);

/* the device's IPv4 and IPv6 address, and the n-th port of this program (0 to 3) */
const char *test_address(void);
const char *test_address6(void);
const char *test_port(unsigned n);

/* milliseconds, for bounds on how long something may take */
long long now_ms(void);

/* the device is Linux's RDMA device in software */
bool is_soft_roce(struct ibv_context *device);

/* how many "cm_id"s, "mr"s, "qp"s ... the kernel keeps for this process */
int count_resources(const char *kind);

/* a file of /etc with this text, for this process alone, whether the machine has one or not */
void set_etc_file(const char *name, const char *text);

/* ---- log ------------------------------------------------------------- */

/* counts ERROR lines instead of printing them, from here on */
void count_errors(void);
int errors_logged(void);
const char *last_error_logged(void);

/* ---- memory ---------------------------------------------------------- */

/* page-aligned zeroed memory that lives until the program ends */
void *memory(size_t size);

/* a pattern that differs from byte to byte and from seed to seed */
void fill(void *ptr, size_t size, unsigned seed);
void check_filled_at(const char *file, int line, const void *ptr, size_t size,
		unsigned seed);
void check_zero_at(const char *file, int line, const void *ptr, size_t size);
#define check_filled(ptr, size, seed) check_filled_at(__FILE__, __LINE__, ptr, size, seed)
#define check_zero(ptr, size) check_zero_at(__FILE__, __LINE__, ptr, size)

/* registered memory */
struct rpma_mr_local *registered(struct rpma_peer *peer, void *ptr, size_t size, int usage);

/* a local region as a remote one, for two sides in one process */
struct rpma_mr_remote *as_remote(const struct rpma_mr_local *mr);

/* ---- connections ----------------------------------------------------- */

/* a peer on the device that has, or that leads to, `address` */
struct rpma_peer *peer_of_local(const char *address);
struct rpma_peer *peer_of_remote(const char *address);

/* the endpoint of a server of two roles: tells the runner that it listens */
struct rpma_ep *listening(struct rpma_peer *peer, const char *address, const char *port);

/* true when `fd` becomes readable within `ms` */
bool readable(int fd, int ms);
bool event_pending(const struct rpma_conn *conn, int ms);

/* the next request of `ep`; the next event of `conn`, which has to be `event` */
struct rpma_conn_req *next_request_at(const char *file, int line, struct rpma_ep *ep,
		const struct rpma_conn_cfg *cfg);
void expect_event_at(const char *file, int line, struct rpma_conn *conn,
		enum rpma_conn_event event);
#define next_request(ep, cfg) next_request_at(__FILE__, __LINE__, ep, cfg)
#define expect_event(conn, event) expect_event_at(__FILE__, __LINE__, conn, event)

/* accept the next request / connect, and see ESTABLISHED */
struct rpma_conn *accepted_at(const char *file, int line, struct rpma_ep *ep,
		const struct rpma_conn_cfg *cfg, const struct rpma_conn_private_data *pdata);
struct rpma_conn *connected_at(const char *file, int line, struct rpma_peer *peer,
		const char *address, const char *port, const struct rpma_conn_cfg *cfg,
		const struct rpma_conn_private_data *pdata);
#define accepted(ep, cfg, pdata) accepted_at(__FILE__, __LINE__, ep, cfg, pdata)
#define connected(peer, address, port, cfg, pdata) \
	connected_at(__FILE__, __LINE__, peer, address, port, cfg, pdata)

/* end a connection and delete it: as the side that starts / that is told by CLOSED */
void close_first_at(const char *file, int line, struct rpma_conn **conn);
void close_second_at(const char *file, int line, struct rpma_conn **conn);
#define close_first(conn) close_first_at(__FILE__, __LINE__, conn)
#define close_second(conn) close_second_at(__FILE__, __LINE__, conn)

/* both sides of one connection in this process, on one peer */
struct pair {
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	struct rpma_conn *server;
	struct rpma_conn *client;
};

void pair_listen(struct pair *pair);
void pair_connect_at(const char *file, int line, struct pair *pair,
		const struct rpma_conn_cfg *server_cfg, const struct rpma_conn_cfg *client_cfg);
void pair_disconnect_at(const char *file, int line, struct pair *pair);
void pair_delete(struct pair *pair);
#define pair_connect(pair, server_cfg, client_cfg) \
	pair_connect_at(__FILE__, __LINE__, pair, server_cfg, client_cfg)
#define pair_disconnect(pair) pair_disconnect_at(__FILE__, __LINE__, pair)

/* ---- what a server tells its client about its memory ------------------- */

/* regions and the peer configuration, as private data of the connection */
struct offer {
	uint8_t direct_write_to_pmem[PEER_CFG_DESCRIPTOR_SIZE];
	uint8_t region[4][MR_DESCRIPTOR_SIZE];
};

void offer_region(struct offer *offer, unsigned n, const struct rpma_mr_local *mr);
void offer_direct_write_to_pmem(struct offer *offer, bool supported);
struct rpma_conn_private_data offer_as_private_data(struct offer *offer);

struct rpma_mr_remote *offered_region(const struct rpma_conn *conn, unsigned n);
struct rpma_peer_cfg *offered_peer_cfg(const struct rpma_conn *conn);

/* ---- completions ----------------------------------------------------- */

struct rpma_cq *cq_of(const struct rpma_conn *conn);
struct rpma_cq *rcq_of(const struct rpma_conn *conn);
uint32_t qp_num_of(const struct rpma_conn *conn);

/* the next completion of `cq`, waited for */
void next_completion_at(const char *file, int line, struct rpma_cq *cq, struct ibv_wc *wc);
#define next_completion(cq, wc) next_completion_at(__FILE__, __LINE__, cq, wc)

/* the next completion of `cq` is this one, successful, of the connection's QP */
void expect_completion_at(const char *file, int line, struct rpma_cq *cq,
		const struct rpma_conn *conn, enum ibv_wc_opcode opcode,
		const void *op_context);
#define expect_completion(cq, conn, opcode, op_context) \
	expect_completion_at(__FILE__, __LINE__, cq, conn, opcode, op_context)

/* the same for a receive, and how many bytes came */
void expect_received_at(const char *file, int line, struct rpma_cq *cq,
		const struct rpma_conn *conn, const void *op_context, uint32_t byte_len);
#define expect_received(cq, conn, op_context, byte_len) \
	expect_received_at(__FILE__, __LINE__, cq, conn, op_context, byte_len)

/* the same for a receive with immediate data: of a send, or of a write */
void expect_imm_at(const char *file, int line, struct rpma_cq *cq,
		const struct rpma_conn *conn, enum ibv_wc_opcode opcode,
		const void *op_context, uint32_t byte_len, uint32_t imm);
#define expect_imm(cq, conn, opcode, op_context, byte_len, imm) \
	expect_imm_at(__FILE__, __LINE__, cq, conn, opcode, op_context, byte_len, imm)

/*
 * How a flush and an atomic write complete: as the read and the write that they are
 * made of, or, where RPMA_FLUSH or RPMA_ATOMIC_WRITE in the environment is
 * "native", as themselves.
 */
enum ibv_wc_opcode flush_opcode(void);
enum ibv_wc_opcode atomic_write_opcode(void);

#endif /* DEVICE_COMMON_H */
