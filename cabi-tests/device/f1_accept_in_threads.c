/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f1_accept_in_threads.c -- one thread takes requests from the endpoint, others accept them: all
 * of 60 connections are established
 *
 * Fault F1: the events of a connection that is being accepted go to the endpoint.
 */

#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS	60
#define CONNECTERS	6
#define ACCEPTERS	4

static struct rpma_peer *peer;
static struct rpma_ep *ep;
static const char *address, *port;
static int requests[2];			/* a pipe: from the listener to the accepters */
static struct rpma_conn *served[CONNECTIONS];
static struct rpma_conn *client[CONNECTIONS];
static int served_count, client_established, endpoint_errors;
static sem_t done;			/* one for each connection of either side */

static void *
listener(void *unused)
{
	(void) unused;
	for (int taken = 0; taken < CONNECTIONS; ) {
		struct rpma_conn_req *req = NULL;

		int ret = rpma_ep_next_conn_req(ep, NULL, &req);
		if (ret != 0) {
			RETURNS(ret, RPMA_E_INVAL);
			__atomic_add_fetch(&endpoint_errors, 1, __ATOMIC_RELAXED);
			continue;
		}
		CHECK(write(requests[1], &req, sizeof(req)) == sizeof(req));
		taken++;
	}
	CHECK(close(requests[1]) == 0);
	return NULL;
}

static void *
accepter(void *unused)
{
	const struct sched_param param = { 0 };
	struct rpma_conn_req *req = NULL;

	(void) unused;
	/* everybody else comes first: what can happen in the middle of an accept does happen */
	CHECK(pthread_setschedparam(pthread_self(), SCHED_IDLE, &param) == 0);
	while (read(requests[0], &req, sizeof(req)) == sizeof(req)) {
		struct rpma_conn *conn = NULL;

		OK(rpma_conn_req_connect(&req, NULL, &conn));
		served[__atomic_fetch_add(&served_count, 1, __ATOMIC_RELAXED)] = conn;
		CHECK(sem_post(&done) == 0);
	}
	return NULL;
}

static void *
connecter(void *arg)
{
	struct rpma_conn **first = arg;

	for (struct rpma_conn **conn = first; conn < first + CONNECTIONS / CONNECTERS; conn++) {
		struct rpma_conn_req *req = NULL;
		enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

		OK(rpma_conn_req_new(peer, address, port, NULL, &req));
		OK(rpma_conn_req_connect(&req, NULL, conn));
		if (event_pending(*conn, WAIT_MS)) {
			OK(rpma_conn_next_event(*conn, &event));
			if (event == RPMA_CONN_ESTABLISHED)
				__atomic_add_fetch(&client_established, 1, __ATOMIC_RELAXED);
		}
		CHECK(sem_post(&done) == 0);
	}
	return NULL;
}

/* wait for both sides of every connection, as far as they come; count the served ones */
static int
established(void)
{
	struct timespec until;
	int count = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_MS / 1000;
	for (int i = 0; i < 2 * CONNECTIONS; i++) {
		if (sem_timedwait(&done, &until) != 0)
			break;
	}

	/* an event that the endpoint has swallowed does not come any more */
	long long end = now_ms() + (endpoint_errors > 0 ? 500 : WAIT_MS);
	for (int i = 0; i < CONNECTIONS; i++) {
		enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
		long long left = end - now_ms();

		if (served[i] == NULL || !event_pending(served[i], left > 0 ? (int)left : 0))
			continue;
		OK(rpma_conn_next_event(served[i], &event));
		if (event == RPMA_CONN_ESTABLISHED)
			count++;
	}
	return count;
}

int
main(void)
{
	pthread_t thread[1 + ACCEPTERS + CONNECTERS];
	int threads = 0;

	test_begin();
	address = test_address();
	port = test_port(0);
	peer = peer_of_local(address);
	OK(rpma_ep_listen(peer, address, port, &ep));
	CHECK(pipe(requests) == 0);
	CHECK(sem_init(&done, 0, 0) == 0);

	CHECK(pthread_create(&thread[threads++], NULL, listener, NULL) == 0);
	for (int i = 0; i < ACCEPTERS; i++)
		CHECK(pthread_create(&thread[threads++], NULL, accepter, NULL) == 0);
	for (int i = 0; i < CONNECTERS; i++)
		CHECK(pthread_create(&thread[threads++], NULL, connecter,
				&client[i * CONNECTIONS / CONNECTERS]) == 0);

	int count = established();
	printf("%d of %d established at the server, %d at the clients; "
			"the endpoint failed %d times\n", count, CONNECTIONS,
			client_established, endpoint_errors);
	if (count < CONNECTIONS || client_established < CONNECTIONS || endpoint_errors > 0)
		fault("F1", "%d of %d connections never saw ESTABLISHED, "
				"rpma_ep_next_conn_req() returned INVAL %d times",
				CONNECTIONS - count, CONNECTIONS, endpoint_errors);

	for (int i = 0; i < threads; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	for (int i = 0; i < CONNECTIONS; i++)
		OK(rpma_conn_disconnect(client[i]));
	for (int i = 0; i < CONNECTIONS; i++)
		close_second(&served[i]);
	for (int i = 0; i < CONNECTIONS; i++) {
		expect_event(client[i], RPMA_CONN_CLOSED);
		OK(rpma_conn_delete(&client[i]));
	}
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_peer_delete(&peer));
	return test_end();
}
