/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test is a function named after the rule that it pins. It runs in a
 * process of its own, on a fresh provider, with every log message captured.
 * At its end nothing may be alive and nothing may have been misused; a test
 * that made no check fails.
 *
 * TEST(peer_delete, null_handle_is_fine) { ... }
 * DIFFERS(conn_next_event, nothing_pending_is_no_event, "F2") { ... }
 *
 * The second kind pins what the reference does otherwise, by the id that the
 * difference has in DIFFERENCES.md: on the reference it has to fail.
 */
#ifndef CONTRACT_H
#define CONTRACT_H 1

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <librpma.h>
#include "provider.h"

struct test {
	const char *name;
	const char *difference;
	void (*run)(void);
	struct test *next;
};

void test_add(struct test *test);

#define TEST_NAMED(group, rule, id) \
	static void group##__##rule(void); \
	__attribute__((constructor)) static void add_##group##__##rule(void) \
	{ \
		static struct test test = { \
			#group "." #rule, id, group##__##rule, NULL}; \
		test_add(&test); \
	} \
	static void group##__##rule(void)
#define TEST(group, rule) TEST_NAMED(group, rule, NULL)
#define DIFFERS(group, rule, id) TEST_NAMED(group, rule, id)

/* each counts as one check; a failed one is printed, and the test goes on */
#define CHECK(condition) \
	test_check(!!(condition), __FILE__, __LINE__, #condition)
#define EQUAL(actual, expected) \
	test_equal((long long)(actual), (long long)(expected), \
		__FILE__, __LINE__, #actual)
#define SAME(actual, expected) \
	test_same((const void *)(actual), (const void *)(expected), \
		__FILE__, __LINE__, #actual)
#define TEXT(actual, expected) \
	test_text(actual, expected, __FILE__, __LINE__, #actual)
/* the return code, and that it left errno as a success or this errno */
#define RETURNS(call, code) EQUAL(call, code)
#define FAILS(call, code, error) \
	do { \
		errno = 0; \
		EQUAL(call, code); \
		EQUAL(errno, error); \
	} while (0)
/* like RETURNS(call, RPMA_E_INVAL): no line logged, the provider not called */
#define INVALID(call) \
	do { \
		watch(); \
		EQUAL(call, RPMA_E_INVAL); \
		NO_CALLS(); \
		NO_LOG(); \
	} while (0)

/* from here on: what CALLS and LOGGED look at begins empty, errno is 0 */
void watch(void);
/* the provider calls since watch(), all of them, in order */
#define CALLS(...) \
	test_calls((const char *const[]){__VA_ARGS__, NULL}, \
		__FILE__, __LINE__)
#define NO_CALLS() test_calls((const char *const[]){NULL}, __FILE__, __LINE__)
/* how many lines since watch() contain this */
unsigned int calls_with(const char *part);
/* messages of the library since watch() */
#define LOG_COUNT(level, count) \
	test_log_count(level, count, __FILE__, __LINE__)
#define NO_LOG() test_log_count(INT_MAX, 0, __FILE__, __LINE__)
/* exactly one message of this level or a more severe one, and it contains these */
#define LOGGED(level, ...) \
	test_logged(level, (const char *const[]){__VA_ARGS__, NULL}, \
		__FILE__, __LINE__)
/*
 * The same, but more may follow: what fails can make what comes after it fail
 * too (a CQ that stays keeps its channel).
 */
#define FIRST_LOGGED(level, ...) \
	test_first_logged(level, (const char *const[]){__VA_ARGS__, NULL}, \
		__FILE__, __LINE__)

void test_check(int ok, const char *file, int line, const char *what);
void test_equal(long long actual, long long expected, const char *file,
		int line, const char *what);
void test_same(const void *actual, const void *expected, const char *file,
		int line, const char *what);
void test_text(const char *actual, const char *expected, const char *file,
		int line, const char *what);
void test_calls(const char *const *expected, const char *file, int line);
void test_log_count(int level, unsigned int count, const char *file, int line);
void test_logged(int level, const char *const *parts, const char *file,
		int line);
void test_first_logged(int level, const char *const *parts, const char *file,
		int line);
const char *log_message(unsigned int n);
const char *log_function(unsigned int n);
int log_level_of(unsigned int n);
unsigned int log_messages(void);
/* the log function that captures; tests of the log itself replace it */
rpma_log_function capture;

/* a value that no call writes, to see that an output was left alone */
#define UNTOUCHED ((void *)(uintptr_t)0xa11ce)
/* a handle that must not be looked into */
#define OPAQUE(type) ((struct type *)(uintptr_t)0xdead0)

/* ---- what tests start from; each aborts the test when it cannot be had ---- */

#define ADDRESS "10.0.0.1"
#define PORT "7471"

struct rpma_peer *a_peer(void);
void no_peer(struct rpma_peer **peer);
/* a registered region of provider_memory */
struct rpma_mr_local *a_region(struct rpma_peer *peer, size_t size, int usage);
/* a remote region at this address with rkey 0x77 */
struct rpma_mr_remote *a_remote_region(uint64_t address, uint64_t size,
		int usage);
/* outgoing */
struct rpma_conn_req *a_request(struct rpma_peer *peer,
		const struct rpma_conn_cfg *cfg);
struct rpma_conn *a_connection(struct rpma_peer *peer,
		const struct rpma_conn_cfg *cfg);
/* incoming */
struct rpma_ep *an_endpoint(struct rpma_peer *peer);
struct rpma_conn_req *an_incoming_request(struct rpma_ep *ep,
		const struct rpma_conn_cfg *cfg);
/* queue the event on the connection's id */
void event_for(struct rpma_conn *conn, enum rdma_cm_event_type type,
		const void *private_data, uint8_t len);
/* the id of the newest connection or request */
struct rdma_cm_id *newest_id(void);
struct ibv_cq *newest_cq(void);

#endif /* CONTRACT_H */
