/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals.c -- a signal every millisecond into threads that block in every call that can block
 *
 *	signals ROUNDS
 *
 * With a handler that restarts system calls all is as without signals. Without restarting, a call that
 * waits may end with EINTR, as documented; then nothing is lost, and the next call gets it.
 */

#include "soak.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define PERIOD_US	1000
#define HOLD_US		20000	/* a waiting call is left waiting so long */

static struct rpma_peer *peer;
static const char *address, *port;
static struct rpma_ep *ep;
static unsigned long signals, interrupted;
static int stop;

static void
handler(int signal)
{
	(void) signal;
	__atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
}

static void *
disturb(void *arg)
{
	pthread_t target = *(pthread_t *)arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		CHECK(pthread_kill(target, SIGUSR1) == 0);
		sleep_us(PERIOD_US);
	}
	return NULL;
}

/* again as long as a signal was the reason */
#define THROUGH(call, code)						\
	do {								\
		int ret_;						\
		while ((ret_ = (call)) == (code) && errno == EINTR)	\
			interrupted++;					\
		RETURNS(ret_, 0);					\
	} while (0)

/* ---- the other side, which is left in peace ------------------------------- */

static struct rpma_conn *client;
static pthread_barrier_t turn;

static void *
other_side(void *arg)
{
	unsigned rounds = *(unsigned *)arg;
	struct rpma_mr_local *mr = registered(peer, memory(64), 64, RPMA_MR_USAGE_SEND);

	for (unsigned n = 0; n < rounds; n++) {
		struct rpma_conn_req *req = NULL;

		/* it waits in next_conn_req */
		pthread_barrier_wait(&turn);
		sleep_us(HOLD_US);
		OK(rpma_conn_req_new(peer, address, port, NULL, &req));
		OK(rpma_conn_req_connect(&req, NULL, &client));
		expect_event(client, RPMA_CONN_ESTABLISHED);
		/* it waits in cq_wait or conn_wait */
		pthread_barrier_wait(&turn);
		sleep_us(HOLD_US);
		OK(rpma_send(client, mr, 0, 64, RPMA_F_COMPLETION_ALWAYS, NULL));
		/* it waits in next_event */
		pthread_barrier_wait(&turn);
		sleep_us(HOLD_US);
		close_first(&client);
	}
	OK(rpma_mr_dereg(&mr));
	return NULL;
}

/* ---- the side that the signals go to --------------------------------------- */

static void
take_message(struct rpma_conn *conn, bool shared)
{
	struct rpma_cq *cq = cq_of(conn);
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION) {
		struct rpma_cq *ready = NULL;

		if (shared)
			THROUGH(rpma_conn_wait(conn, 0, &ready, NULL), RPMA_E_NO_COMPLETION);
		else
			THROUGH(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
		CHECK(!shared || ready == cq);
	}
	RETURNS(ret, 0);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
}

static void
serve_one(struct rpma_mr_local *mr, bool shared)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_compl_channel(cfg, shared));
	pthread_barrier_wait(&turn);
	THROUGH(rpma_ep_next_conn_req(ep, cfg, &req), RPMA_E_PROVIDER);
	OK(rpma_conn_req_recv(req, mr, 0, 64, NULL));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	THROUGH(rpma_conn_next_event(conn, &event), RPMA_E_PROVIDER);
	CHECK(event == RPMA_CONN_ESTABLISHED);
	pthread_barrier_wait(&turn);
	take_message(conn, shared);
	pthread_barrier_wait(&turn);
	THROUGH(rpma_conn_next_event(conn, &event), RPMA_E_PROVIDER);
	CHECK(event == RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(conn));
	OK(rpma_conn_delete(&conn));
	OK(rpma_conn_cfg_delete(&cfg));
}

/* calls that block inside librdmacm: with restarting they all succeed */
static void
resolve(bool restart)
{
	struct ibv_context *device = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *second = NULL;
	int ret;

	ret = rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &device);
	CHECK(ret == 0 || (!restart && ret == RPMA_E_PROVIDER && errno == EINTR));
	interrupted += ret != 0;
	ret = rpma_conn_req_new(peer, address, port, NULL, &req);
	CHECK(ret == 0 || (!restart && ret == RPMA_E_PROVIDER && errno == EINTR));
	interrupted += ret != 0;
	OK(rpma_conn_req_delete(&req));
	ret = rpma_ep_listen(peer, address, test_port(1), &second);
	CHECK(ret == 0 || (!restart && ret == RPMA_E_PROVIDER && errno == EINTR));
	OK(rpma_ep_shutdown(&second));
}

static void
disturbed(unsigned rounds, bool restart, struct rpma_mr_local *mr)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = restart ? SA_RESTART : 0 };
	pthread_t self = pthread_self(), disturber, other;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	stop = 0;
	CHECK(pthread_create(&other, NULL, other_side, &rounds) == 0);
	CHECK(pthread_create(&disturber, NULL, disturb, &self) == 0);
	for (unsigned n = 0; n < rounds; n++) {
		progress();
		serve_one(mr, n % 2);
		resolve(restart);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	CHECK(pthread_join(disturber, NULL) == 0);
	CHECK(pthread_join(other, NULL) == 0);
}

int
main(int argc, char *argv[])
{
	unsigned rounds = argument(argc, argv, 1);
	struct rpma_mr_local *mr;
	struct holdings before, after;
	unsigned long restarting;

	test_begin();
	/* a call that EINTR ends inside librdmacm says so */
	count_errors();
	address = test_address();
	port = test_port(0);
	peer = peer_of_local(address);
	mr = registered(peer, memory(64), 64, RPMA_MR_USAGE_RECV);
	OK(rpma_ep_listen(peer, address, port, &ep));
	CHECK(pthread_barrier_init(&turn, NULL, 2) == 0);

	disturbed(rounds, true, mr);
	CHECK(interrupted == 0);
	restarting = signals;
	before = holdings();
	disturbed(rounds, false, mr);
	after = holdings();
	printf("2 x %u rounds, %lu signals that restart, %lu that do not and ended %lu calls\n",
			rounds, restarting, signals - restarting, interrupted);
	check_same_holdings(&before, &after);
	CHECK(interrupted > 0);

	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	return test_end();
}
