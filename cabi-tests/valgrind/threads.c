/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c -- several threads connect, accept, register memory, send and receive at a time, on one peer
 */

#include "common.h"

#include <pthread.h>

#define SIDES	2	/* threads that accept, and as many that connect */
#define LEN	64

int main_of_threads(void);

static struct pair pair;
static const char *port;
static pthread_mutex_t ep_lock = PTHREAD_MUTEX_INITIALIZER;

static void *
accepting(void *unused)
{
	uint8_t *buf = memory(LEN);
	struct rpma_mr_local *mr = registered(pair.peer, buf, LEN, RPMA_MR_USAGE_RECV);
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;

	(void) unused;
	/* rpma_ep_next_conn_req() is for one thread at a time */
	CHECK(pthread_mutex_lock(&ep_lock) == 0);
	req = next_request(pair.ep, NULL);
	CHECK(pthread_mutex_unlock(&ep_lock) == 0);
	OK(rpma_conn_req_recv(req, mr, 0, LEN, buf));
	OK(rpma_conn_req_connect(&req, NULL, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	expect_received(cq_of(conn), conn, buf, LEN);
	check_filled(buf, LEN, 1);
	close_second(&conn);
	OK(rpma_mr_dereg(&mr));
	return NULL;
}

static void *
connecting(void *unused)
{
	uint8_t *buf = memory(LEN);
	struct rpma_mr_local *mr = registered(pair.peer, buf, LEN, RPMA_MR_USAGE_SEND);
	struct rpma_conn *conn;

	(void) unused;
	conn = connected(pair.peer, test_address(), port, NULL, NULL);
	fill(buf, LEN, 1);
	OK(rpma_send(conn, mr, 0, LEN, RPMA_F_COMPLETION_ALWAYS, buf));
	expect_completion(cq_of(conn), conn, IBV_WC_SEND, buf);
	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	return NULL;
}

int
main_of_threads(void)
{
	pthread_t thread[2 * SIDES];

	test_begin();
	/* the first connection is made before the threads are, as librpma(7) advises */
	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	pair_disconnect(&pair);
	port = test_port(0);
	for (unsigned i = 0; i < 2 * SIDES; i++)
		CHECK(pthread_create(&thread[i], NULL, i % 2 == 0 ? accepting : connecting,
				NULL) == 0);
	for (unsigned i = 0; i < 2 * SIDES; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	pair_delete(&pair);
	return test_end();
}
