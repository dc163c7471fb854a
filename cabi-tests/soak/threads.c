/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c -- what different threads may do at the same time, on the stand-in provider, for tools
 * that look for data races
 *
 *	threads THREADS ROUNDS
 *
 * Threads connect, accept, post, poll and delete on one peer, while one thread of its own takes
 * requests from the endpoint and hands them over. Then several wait at once, first for the events
 * of one CQ and then for those of a channel that two CQs share.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librpma.h>
#include "provider.h"

#define MOST	64

#define CHECK(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);							\
		}									\
	} while (0)
#define OK(call)	CHECK((call) == 0)

static struct rpma_peer *peer;
static struct rpma_ep *ep;
static struct rdma_cm_id *listener_id;
static struct rpma_mr_local *mr;
static unsigned threads, rounds;

/* requests on their way from the listener to the accepters */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct rpma_conn_req *waiting[MOST];
static unsigned waiting_count;

static void
hand_over(struct rpma_conn_req *req)
{
	CHECK(pthread_mutex_lock(&lock) == 0);
	while (waiting_count == MOST)
		CHECK(pthread_cond_wait(&more, &lock) == 0);
	waiting[waiting_count++] = req;
	CHECK(pthread_cond_broadcast(&more) == 0);
	CHECK(pthread_mutex_unlock(&lock) == 0);
}

static struct rpma_conn_req *
take_over(void)
{
	struct rpma_conn_req *req;

	CHECK(pthread_mutex_lock(&lock) == 0);
	while (waiting_count == 0)
		CHECK(pthread_cond_wait(&more, &lock) == 0);
	req = waiting[--waiting_count];
	CHECK(pthread_cond_broadcast(&more) == 0);
	CHECK(pthread_mutex_unlock(&lock) == 0);
	return req;
}

static void
post_and_poll(struct rpma_conn *conn, struct rpma_mr_remote *remote)
{
	struct rpma_cq *cq = NULL;
	struct ibv_wc wc;

	OK(rpma_write(conn, remote, 0, mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	OK(rpma_read(conn, mr, 0, remote, 0, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	OK(rpma_atomic_write(conn, remote, 0, "1234567", RPMA_F_COMPLETION_ALWAYS, NULL));
	OK(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
			NULL));
	OK(rpma_send(conn, mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
	OK(rpma_recv(conn, mr, 0, 8, NULL));
	OK(rpma_conn_get_cq(conn, &cq));
	CHECK(rpma_cq_get_wc(cq, 1, &wc, NULL) == RPMA_E_NO_COMPLETION);
}

static struct rpma_mr_remote *
remote_region(void)
{
	struct rpma_mr_remote *remote = NULL;
	unsigned char descriptor[21];

	OK(rpma_mr_get_descriptor(mr, descriptor));
	OK(rpma_mr_remote_from_descriptor(descriptor, sizeof(descriptor), &remote));
	return remote;
}

static void *
connecter(void *unused)
{
	struct rpma_mr_remote *remote = remote_region();

	for (unsigned n = 0; n < rounds; n++) {
		struct rpma_conn_req *req = NULL;
		struct rpma_conn *conn = NULL;
		struct rpma_conn_cfg *cfg = NULL;

		OK(rpma_conn_cfg_new(&cfg));
		OK(rpma_conn_cfg_set_rcq_size(cfg, 4));
		OK(rpma_conn_cfg_set_compl_channel(cfg, n % 2));
		OK(rpma_conn_req_new(peer, "10.0.0.1", "7471", cfg, &req));
		OK(rpma_conn_req_connect(&req, NULL, &conn));
		post_and_poll(conn, remote);
		OK(rpma_conn_disconnect(conn));
		OK(rpma_conn_delete(&conn));
		OK(rpma_conn_cfg_delete(&cfg));
	}
	OK(rpma_mr_remote_delete(&remote));
	return unused;
}

/* takes requests, and leaves accepting to others */
static void *
listener(void *unused)
{
	for (unsigned n = 0; n < threads * rounds; n++) {
		struct rpma_conn_req *req = NULL;

		provider_connect_request(listener_id, "hello", 5);
		OK(rpma_ep_next_conn_req(ep, NULL, &req));
		hand_over(req);
	}
	return unused;
}

static void *
accepter(void *unused)
{
	struct rpma_mr_remote *remote = remote_region();

	for (unsigned n = 0; n < rounds; n++) {
		struct rpma_conn_private_data data = { NULL, 0 };
		struct rpma_conn_req *req = take_over();
		struct rpma_conn *conn = NULL;

		OK(rpma_conn_req_get_private_data(req, &data));
		CHECK(data.len == 5 && memcmp(data.ptr, "hello", 5) == 0);
		if (n % 4 == 3) {
			OK(rpma_conn_req_delete(&req));
			continue;
		}
		OK(rpma_conn_req_connect(&req, NULL, &conn));
		post_and_poll(conn, remote);
		OK(rpma_conn_delete(&conn));
	}
	OK(rpma_mr_remote_delete(&remote));
	return unused;
}

static void *
registrar(void *unused)
{
	for (unsigned n = 0; n < rounds; n++) {
		struct rpma_mr_local *own = NULL;
		struct rpma_srq *srq = NULL;
		struct rpma_peer_cfg *none = NULL;

		OK(rpma_mr_reg(peer, provider_memory, 64, RPMA_MR_USAGE_RECV, &own));
		OK(rpma_srq_new(peer, NULL, &srq));
		OK(rpma_srq_recv(srq, own, 0, 8, NULL));
		/* a message */
		CHECK(rpma_peer_cfg_from_descriptor("", 0, &none) == RPMA_E_INVAL);
		OK(rpma_srq_delete(&srq));
		OK(rpma_mr_dereg(&own));
	}
	return unused;
}

static void
ignore(enum rpma_log_level level, const char *file_name, const int line_no,
		const char *function_name, const char *message_format, ...)
{
	(void) level, (void) file_name, (void) line_no, (void) function_name;
	(void) message_format;
}

/* ---- several threads that wait ---- */

static struct {
	struct rpma_conn *conn;
	/* NULL where the CQs share a channel */
	struct rpma_cq *cq;
	unsigned events, claimed, taken;
	/* the stand-in has room for so many events more */
	sem_t room;
} waits;

static void *
waiter(void *unused)
{
	while (__atomic_fetch_add(&waits.claimed, 1, __ATOMIC_RELAXED) < waits.events) {
		struct rpma_cq *cq = waits.cq;
		struct ibv_wc wc;
		bool is_rcq;

		if (cq != NULL)
			OK(rpma_cq_wait(cq));
		else
			OK(rpma_conn_wait(waits.conn, RPMA_W_WAIT_FOR_COMPLETION, &cq, &is_rcq));
		CHECK(rpma_cq_get_wc(cq, 1, &wc, NULL) == RPMA_E_NO_COMPLETION);
		__atomic_fetch_add(&waits.taken, 1, __ATOMIC_RELAXED);
		CHECK(sem_post(&waits.room) == 0);
	}
	return unused;
}

/*
 * Events come faster than the CQ asks for them, so that threads are at the same CQ at once. Each
 * wakes one of them.
 */
static void
wait_together(bool shared)
{
	pthread_t thread[MOST];
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;
	unsigned first;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_rcq_size(cfg, 4));
	OK(rpma_conn_cfg_set_compl_channel(cfg, shared));
	first = provider_count("cq") + 1;
	OK(rpma_conn_req_new(peer, "10.0.0.1", "7471", cfg, &req));
	OK(rpma_conn_cfg_delete(&cfg));
	OK(rpma_conn_req_connect(&req, NULL, &waits.conn));
	waits.cq = NULL;
	if (!shared)
		OK(rpma_conn_get_cq(waits.conn, &waits.cq));
	/* more than are acknowledged at once */
	waits.events = 8 * rounds + 64;
	waits.claimed = waits.taken = 0;
	CHECK(sem_init(&waits.room, 0, threads) == 0);

	for (unsigned n = 0; n < threads; n++)
		CHECK(pthread_create(&thread[n], NULL, waiter, NULL) == 0);
	for (unsigned n = 0; n < waits.events; n++) {
		struct ibv_cq *cq = provider_cq(first + (shared && n % 2));

		CHECK(sem_wait(&waits.room) == 0);
		provider_stray_cq_event(cq, cq);
	}
	for (unsigned n = 0; n < threads; n++)
		CHECK(pthread_join(thread[n], NULL) == 0);
	CHECK(waits.taken == waits.events);
	OK(rpma_conn_delete(&waits.conn));
	CHECK(sem_destroy(&waits.room) == 0);
}

int
main(int argc, char *argv[])
{
	pthread_t thread[3 * MOST + 1];
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *first = NULL;
	unsigned count = 0;

	CHECK(argc == 3);
	threads = (unsigned)strtoul(argv[1], NULL, 10);
	rounds = (unsigned)strtoul(argv[2], NULL, 10);
	CHECK(threads > 0 && threads <= MOST && rounds > 0);
	OK(rpma_log_set_function(ignore));
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG));
	OK(rpma_peer_new(provider_context(), &peer));
	OK(rpma_mr_reg(peer, provider_memory, 4096, 0xff, &mr));
	OK(rpma_ep_listen(peer, "10.0.0.1", "7471", &ep));
	listener_id = provider_id(provider_count("id"));
	/*
	 * Made before there are threads: which of them makes the peer's buffer of flushes is settled
	 * by an atomic, and the tools know only locks.
	 */
	OK(rpma_conn_req_new(peer, "10.0.0.1", "7471", NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &first));

	for (unsigned n = 0; n < threads; n++) {
		CHECK(pthread_create(&thread[count++], NULL, connecter, NULL) == 0);
		CHECK(pthread_create(&thread[count++], NULL, accepter, NULL) == 0);
		CHECK(pthread_create(&thread[count++], NULL, registrar, NULL) == 0);
	}
	CHECK(pthread_create(&thread[count++], NULL, listener, NULL) == 0);
	for (unsigned n = 0; n < count; n++)
		CHECK(pthread_join(thread[n], NULL) == 0);

	wait_together(false);
	wait_together(true);

	OK(rpma_conn_delete(&first));
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	for (unsigned n = 0; n < provider_misuses(); n++)
		fprintf(stderr, "misuse: %s\n", provider_misuse(n));
	CHECK(provider_misuses() == 0);
	CHECK(provider_alive() == 0);
	printf("%u threads, %u rounds each; %u wait for %u events\n", count, rounds, threads,
			2 * waits.events);
	return 0;
}
