/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mistakes.c -- what valgrind has to report, whatever it is told not to
 *
 * The functions at fault are found in the reports by their names.
 */

#include "common.h"

#include <pthread.h>

int main_of_forgotten_region(void);
int main_of_forgotten_connection(void);
int main_of_forgotten_buffer(void);
int main_of_race(void);

#define AT_FAULT __attribute__((noinline)) static

/* ---- leaks ----------------------------------------------------------- */

AT_FAULT void
forgets_region(struct rpma_peer *peer)
{
	struct rpma_mr_local *mr = NULL;

	OK(rpma_mr_reg(peer, memory(4096), 4096, RPMA_MR_USAGE_SEND, &mr));
}

int
main_of_forgotten_region(void)
{
	test_begin();
	forgets_region(peer_of_local(test_address()));
	return test_end();
}

AT_FAULT void
forgets_connection(void)
{
	struct pair pair;

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	OK(rpma_conn_disconnect(pair.client));
	close_second(&pair.server);
	OK(rpma_ep_shutdown(&pair.ep));
}

int
main_of_forgotten_connection(void)
{
	test_begin();
	forgets_connection();
	return test_end();
}

AT_FAULT void
forgets_buffer(void)
{
	struct rpma_peer *peer = peer_of_local(test_address());
	void *volatile buf = malloc(64);

	CHECK(buf != NULL);
	buf = NULL;
	OK(rpma_peer_delete(&peer));
}

int
main_of_forgotten_buffer(void)
{
	test_begin();
	forgets_buffer();
	return test_end();
}

/* ---- races ----------------------------------------------------------- */

static void
in_two_threads(void *(*function)(void *), void *arg)
{
	pthread_t thread[2];

	for (unsigned i = 0; i < 2; i++)
		CHECK(pthread_create(&thread[i], NULL, function, arg) == 0);
	for (unsigned i = 0; i < 2; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
}

static volatile unsigned regions;

AT_FAULT void *
counts_without_lock(void *arg)
{
	struct rpma_mr_local *mr = registered(arg, memory(4096), 4096, RPMA_MR_USAGE_SEND);

	regions++;
	OK(rpma_mr_dereg(&mr));
	return NULL;
}

int
main_of_race(void)
{
	test_begin();
	struct rpma_peer *peer = peer_of_local(test_address());
	in_two_threads(counts_without_lock, peer);
	OK(rpma_peer_delete(&peer));
	return test_end();
}
