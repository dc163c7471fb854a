/* SPDX-License-Identifier: BSD-3-Clause */
/* what different threads may do at the same time */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include "contract.h"

#define THREADS 4
#define ROUNDS 40
#define LOGGERS 8
#define MESSAGES 4000
#define ALWAYS RPMA_F_COMPLETION_ALWAYS

static struct rpma_peer *peer;
static struct rpma_conn *conn;
static unsigned int wrong;

/* checks are for one thread: the others count what went wrong */
#define MUST(condition) \
	((condition) ? (void)0 : \
		(void)__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED))

static void in_threads(void *(*function)(void *), unsigned int count)
{
	pthread_t threads[LOGGERS + 1];

	for (unsigned int n = 0; n < count; n++)
		if (pthread_create(&threads[n], NULL, function,
				(void *)(uintptr_t)n))
			abort();
	for (unsigned int n = 0; n < count; n++)
		if (pthread_join(threads[n], NULL))
			abort();
}

static void *connect_and_delete(void *unused)
{
	struct rpma_mr_remote *remote = a_remote_region(0x1000, 4096, 0xff);

	for (unsigned int n = 0; n < ROUNDS; n++) {
		struct rpma_conn_req *req = NULL;
		struct rpma_conn *mine = NULL;

		MUST(rpma_conn_req_new(peer, ADDRESS, PORT, NULL, &req) == 0);
		MUST(rpma_conn_req_connect(&req, NULL, &mine) == 0);
		if (!mine)
			continue;
		MUST(rpma_flush(mine, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			ALWAYS, NULL) == 0);
		MUST(rpma_conn_delete(&mine) == 0);
	}
	MUST(rpma_mr_remote_delete(&remote) == 0);
	return unused;
}

static void quiet(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	(void)level;
	(void)file_name;
	(void)line_no;
	(void)function_name;
	(void)message_format;
}

TEST(threads, may_connect_and_delete_over_one_peer)
{
	rpma_log_set_function(quiet);
	peer = a_peer();
	in_threads(connect_and_delete, THREADS);
	EQUAL(wrong, 0);
	/* whoever made the buffers of flushes, each is gone with the peer */
	no_peer(&peer);
	EQUAL(calls_with("ibv_reg_mr("), calls_with("ibv_dereg_mr("));
	CHECK(calls_with("ibv_reg_mr(") > 0);
}

static void *register_regions(void *thread)
{
	unsigned char *mine = provider_memory + 4096 * (uintptr_t)thread;

	for (unsigned int n = 0; n < ROUNDS; n++) {
		struct rpma_mr_local *mr = NULL;

		MUST(rpma_mr_reg(peer, mine, 4096, 0xff, &mr) == 0);
		MUST(rpma_mr_dereg(&mr) == 0);
	}
	return NULL;
}

TEST(threads, may_register_over_one_peer)
{
	rpma_log_set_function(quiet);
	peer = a_peer();
	in_threads(register_regions, THREADS);
	EQUAL(wrong, 0);
	EQUAL(calls_with("ibv_reg_mr("), THREADS * ROUNDS);
	no_peer(&peer);
}

static void *post_or_poll(void *thread)
{
	struct rpma_cq *cq = NULL;
	struct ibv_wc wc = {.wr_id = 1};

	MUST(rpma_conn_get_cq(conn, &cq) == 0);
	for (unsigned int n = 0; n < ROUNDS; n++) {
		int code;

		if ((uintptr_t)thread % 2) {
			MUST(rpma_send(conn, NULL, 0, 0, ALWAYS, NULL) == 0);
			provider_completion(newest_cq(), &wc);
			continue;
		}
		code = rpma_cq_wait(cq);
		MUST(code == 0 || code == RPMA_E_NO_COMPLETION);
		code = rpma_cq_get_wc(cq, 1, &wc, NULL);
		MUST(code == 0 || code == RPMA_E_NO_COMPLETION);
	}
	return NULL;
}

TEST(threads, may_post_and_wait_and_poll_on_one_connection)
{
	struct rpma_cq *cq = NULL;
	int fd = -1;

	rpma_log_set_function(quiet);
	peer = a_peer();
	conn = a_connection(peer, NULL);
	rpma_conn_get_cq(conn, &cq);
	rpma_cq_get_fd(cq, &fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	in_threads(post_or_poll, 2);
	EQUAL(wrong, 0);
	EQUAL(calls_with("ibv_post_send("), ROUNDS);
	/* every event is acked, or this is a misuse */
	EQUAL(rpma_conn_delete(&conn), 0);
	no_peer(&peer);
}

static void *set_and_get(void *cfg)
{
	for (unsigned int n = 0; n < 10000; n++) {
		uint32_t size = 77;

		MUST(rpma_conn_cfg_set_cq_size(cfg, n % 2 ? UINT32_MAX : 0)
			== 0);
		MUST(rpma_conn_cfg_get_cq_size(cfg, &size) == 0);
		MUST(size == UINT32_MAX || size == 0);
	}
	return NULL;
}

TEST(threads, may_set_and_get_one_cfg)
{
	struct rpma_conn_cfg *cfg = NULL;
	pthread_t threads[2];

	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_cq_size(cfg, 0);
	for (unsigned int n = 0; n < 2; n++)
		if (pthread_create(&threads[n], NULL, set_and_get, cfg))
			abort();
	for (unsigned int n = 0; n < 2; n++)
		if (pthread_join(threads[n], NULL))
			abort();
	EQUAL(wrong, 0);
	rpma_conn_cfg_delete(&cfg);
}

static unsigned int delivered;

static void count_one_way(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	quiet(level, file_name, line_no, function_name, message_format);
	MUST(level == RPMA_LOG_LEVEL_ERROR);
	(void)__atomic_fetch_add(&delivered, 1, __ATOMIC_RELAXED);
}

static void count_another_way(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	count_one_way(level, file_name, line_no, function_name,
		message_format);
}

/* thread 0 replaces the function until the others have logged everything */
static void *log_or_replace(void *number)
{
	static unsigned int done;
	struct rpma_mr_remote *none = NULL;

	if (number == NULL) {
		while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < LOGGERS) {
			MUST(rpma_log_set_function(count_another_way) == 0);
			MUST(rpma_log_set_function(count_one_way) == 0);
		}
		return NULL;
	}
	for (unsigned int n = 0; n < MESSAGES; n++)
		MUST(rpma_mr_remote_from_descriptor("", 1, &none)
			== RPMA_E_INVAL);
	(void)__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* F25: the reference reads the pointer twice, but hardly ever a NULL */
TEST(threads, may_replace_the_log_function_while_others_log)
{
	EQUAL(rpma_log_set_function(count_one_way), 0);
	in_threads(log_or_replace, LOGGERS + 1);
	EQUAL(wrong, 0);
	EQUAL(delivered, LOGGERS * MESSAGES);
}
