/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancelled.c -- pthread_cancel() of a thread that blocks in a call of the library
 *
 *	cancelled ROUNDS
 *
 * The thread ends as cancelled: its clean-up handlers and the destructors of C++ callers run, nothing
 * aborts, and what it waited for still comes, to whoever waits next. What a call held when it was
 * cancelled is lost, in this library as in the C library: nothing of a wait for a completion; of a wait
 * for an event, the room that librdmacm took for it; of a call that was making something, what it had
 * made.
 */

#include "soak.h"

#include <pthread.h>
#include <unistd.h>

/* cancelled_guard.cpp: calls it with an object alive whose destructor sets the flag */
void guarded(void (*call)(void), bool *destroyed);

#define SIZE		64
#define TRIES		10
/* rdma_get_cm_event() takes room for the event before it waits */
#define EVENT_BYTES	512

static struct rpma_peer *peer;
static struct rpma_ep *ep;
static struct rpma_conn *server, *client;
static struct rpma_mr_local *mr;
static struct rpma_conn_cfg *patient;
/* an address of the device's network that nobody has, so that resolving it takes a second or more */
static char nobody[64];

/* ---- the calls; one that is cancelled does not return ----------------------- */

static void
cq_wait(void)
{
	rpma_cq_wait(cq_of(client));
}

static void
conn_wait(void)
{
	struct rpma_cq *cq = NULL;

	rpma_conn_wait(server, 0, &cq, NULL);
}

static void
next_event(void)
{
	enum rpma_conn_event event;

	rpma_conn_next_event(server, &event);
}

static void
next_conn_req(void)
{
	struct rpma_conn_req *req = NULL;

	rpma_ep_next_conn_req(ep, NULL, &req);
}

static void
get_ibv_context(void)
{
	struct ibv_context *device = NULL;

	rpma_utils_get_ibv_context(nobody, RPMA_UTIL_IBV_CONTEXT_REMOTE, &device);
}

static void
conn_req_new(void)
{
	struct rpma_conn_req *req = NULL;

	rpma_conn_req_new(peer, nobody, test_port(1), patient, &req);
}

/* ---- a thread that is cancelled -------------------------------------------- */

struct cancelled {
	void (*call)(void);
	pid_t tid;
	bool cleaned, destroyed, returned;
};

static void
clean(void *arg)
{
	((struct cancelled *)arg)->cleaned = true;
}

static void *
thread(void *arg)
{
	struct cancelled *c = arg;

	pthread_cleanup_push(clean, c);
	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	guarded(c->call, &c->destroyed);
	c->returned = true;
	pthread_cleanup_pop(0);
	return NULL;
}

/* asleep in a system call, which is what cancellation has to end */
static bool
sleeps(const struct cancelled *c)
{
	pid_t tid = __atomic_load_n(&c->tid, __ATOMIC_ACQUIRE);
	char path[64], state = '?';
	FILE *file;

	if (tid == 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	CHECK(file != NULL);
	CHECK(fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
	fclose(file);
	return state == 'S';
}

/* false: it returned before it was cancelled */
static bool
cancel(void (*call)(void))
{
	struct cancelled c = { .call = call };
	pthread_t id;
	void *result = NULL;

	progress();
	CHECK(pthread_create(&id, NULL, thread, &c) == 0);
	while (!sleeps(&c))
		sleep_us(100);
	/* some way into the calls that take several steps */
	sleep_us(random_below(20000));
	CHECK(pthread_cancel(id) == 0);
	CHECK(pthread_join(id, &result) == 0);
	CHECK(c.destroyed);
	if (c.returned)
		return false;
	CHECK(result == PTHREAD_CANCELED);
	CHECK(c.cleaned);
	return true;
}

/* ---- what it was waiting for still comes ------------------------------------ */

static void
message(void)
{
	struct rpma_cq *ready = NULL;
	struct ibv_wc wc;

	OK(rpma_recv(server, mr, 0, SIZE, NULL));
	OK(rpma_send(client, mr, SIZE, SIZE, RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(cq_of(client), &wc);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND);
	while (rpma_cq_get_wc(cq_of(server), 1, &wc, NULL) == RPMA_E_NO_COMPLETION) {
		OK(rpma_conn_wait(server, 0, &ready, NULL));
		CHECK(ready == cq_of(server));
	}
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
}

static void
waits(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;

	CHECK(cancel(next_conn_req));
	OK(rpma_conn_cfg_new(&cfg));
	OK(rpma_conn_cfg_set_compl_channel(cfg, true));
	OK(rpma_conn_req_new(peer, test_address(), test_port(0), NULL, &req));
	OK(rpma_conn_req_connect(&req, NULL, &client));
	OK(rpma_ep_next_conn_req(ep, cfg, &req));
	OK(rpma_conn_req_connect(&req, NULL, &server));
	OK(rpma_conn_cfg_delete(&cfg));
	/* the client's side answers when its event is taken */
	expect_event(client, RPMA_CONN_ESTABLISHED);
	expect_event(server, RPMA_CONN_ESTABLISHED);

	CHECK(cancel(cq_wait));
	CHECK(cancel(conn_wait));
	CHECK(cancel(next_event));
	message();
	OK(rpma_conn_disconnect(client));
	close_second(&server);
	expect_event(client, RPMA_CONN_CLOSED);
	OK(rpma_conn_delete(&client));
}

/* what makes something gives up by itself after a while, which may be sooner on a busy machine */
static void
cancel_in_time(void (*call)(void))
{
	int tries = 0;

	while (!cancel(call))
		CHECK(++tries < TRIES);
}

static void
makers(unsigned rounds)
{
	struct holdings before = holdings(), after;

	for (unsigned n = 0; n < rounds; n++) {
		cancel_in_time(get_ibv_context);
		cancel_in_time(conn_req_new);
	}
	after = holdings();
	print_holdings("before cancelling what makes something", &before);
	print_holdings("after", &after);
	CHECK(after.cm_ids - before.cm_ids <= 2 * (int)rounds);
	/* librdmacm's channel of each */
	CHECK(after.fds - before.fds <= 2 * (int)rounds);
	CHECK(after.qps == before.qps && after.cqs == before.cqs);
	CHECK(after.mrs == before.mrs && after.pds == before.pds);
}

int
main(int argc, char *argv[])
{
	unsigned rounds = argument(argc, argv, 1);
	unsigned warm = rounds / 2 < 4 ? rounds / 2 : 4;
	struct holdings before, after;

	test_begin();
	/* a call that gave up says so */
	count_errors();
	snprintf(nobody, sizeof(nobody), "%s", test_address());
	char *host = strrchr(nobody, '.');

	CHECK(host != NULL);
	strcpy(host, strcmp(host, ".250") == 0 ? ".251" : ".250");
	OK(rpma_conn_cfg_new(&patient));
	OK(rpma_conn_cfg_set_timeout(patient, 10000));
	peer = peer_of_local(test_address());
	mr = registered(peer, memory(2 * SIZE), 2 * SIZE, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV);
	OK(rpma_ep_listen(peer, test_address(), test_port(0), &ep));
	for (unsigned n = 0; n < rounds; n++) {
		if (n == warm)
			before = holdings();
		waits();
	}
	after = holdings();
	unsigned lost = 2 * (rounds - warm) * EVENT_BYTES;

	printf("%u waits cancelled; up to %u heap bytes of librdmacm may be lost with them, "
			"added to those before\n", 4 * rounds, lost);
	before.heap += lost;
	check_same_holdings(&before, &after);
	makers(rounds);
	printf("%u calls that make something cancelled\n", 2 * rounds);
	OK(rpma_conn_cfg_delete(&patient));
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	return test_end();
}
