/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process with both sides of a connection over a real device, which does
 * what it reads from its standard input, a line each:
 *
 *	WORKLOAD SIZE OPERATIONS	prints operations a second
 *	connections COUNT		prints what each of so many takes
 *
 * `throughput` runs one of these on each library and lets them take turns.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <librpma.h>

#define DEPTH 16
#define SLOT 4096
#define REGION_SIZE (2 * DEPTH * SLOT)
#define DESCRIPTOR_SIZE 21
#define COMMAND_SECONDS 300	/* no command takes longer */
#define USAGES (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | \
	RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | \
	RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | \
	RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV)

/* one side's messages go out of the first half and arrive in the second */
#define OUT(slot) ((size_t)(slot) * SLOT)
#define IN(slot) ((size_t)(DEPTH + (slot)) * SLOT)

static const char *address, *port;
static struct rpma_peer *peer;
static struct rpma_ep *ep;

struct side {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_local *local;
	struct rpma_mr_remote *remote;	/* the other side's memory */
};

struct pair {
	struct side client, server;
};

static void must(int code, const char *what)
{
	if (code == 0)
		return;
	fprintf(stderr, "%s: %s\n", what, rpma_err_2str(code));
	exit(1);
}
#define MUST(call) must(call, #call)

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- connections ---- */

static void expect_event(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event;

	MUST(rpma_conn_next_event(conn, &event));
	must(event == expected ? 0 : RPMA_E_UNKNOWN, "another event");
}

/*
 * The request has to arrive before it is accepted, and be accepted before it
 * is established: connecting does not wait for an answer.
 */
static void connect_pair(struct rpma_conn **client, struct rpma_conn **server,
		const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;

	MUST(rpma_conn_req_new(peer, address, port, cfg, &req));
	MUST(rpma_conn_req_connect(&req, NULL, client));
	MUST(rpma_ep_next_conn_req(ep, cfg, &req));
	MUST(rpma_conn_req_connect(&req, NULL, server));
	expect_event(*client, RPMA_CONN_ESTABLISHED);
	expect_event(*server, RPMA_CONN_ESTABLISHED);
}

static void disconnect_pair(struct rpma_conn **client, struct rpma_conn **server)
{
	MUST(rpma_conn_disconnect(*client));
	expect_event(*server, RPMA_CONN_CLOSED);
	MUST(rpma_conn_disconnect(*server));
	expect_event(*client, RPMA_CONN_CLOSED);
	MUST(rpma_conn_delete(client));
	MUST(rpma_conn_delete(server));
}

static void open_side(struct side *side)
{
	void *memory = mmap(NULL, REGION_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory == MAP_FAILED ? RPMA_E_NOMEM : 0, "mmap");
	memset(memory, 0x5a, REGION_SIZE);
	MUST(rpma_mr_reg(peer, memory, REGION_SIZE, USAGES, &side->local));
	MUST(rpma_conn_get_cq(side->conn, &side->cq));
}

static void learn(struct side *side, const struct side *other)
{
	unsigned char desc[DESCRIPTOR_SIZE];

	MUST(rpma_mr_get_descriptor(other->local, desc));
	MUST(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &side->remote));
}

static void post_recv(const struct side *side, int slot)
{
	MUST(rpma_recv(side->conn, side->local, IN(slot), SLOT,
		(const void *)(uintptr_t)slot));
}

static void open_pair(struct pair *pair)
{
	struct rpma_conn_cfg *cfg = NULL;

	/* each slot may have a write and its flush, or a send and a receive */
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_sq_size(cfg, 2 * DEPTH));
	MUST(rpma_conn_cfg_set_rq_size(cfg, 2 * DEPTH));
	MUST(rpma_conn_cfg_set_cq_size(cfg, 4 * DEPTH));
	connect_pair(&pair->client.conn, &pair->server.conn, cfg);
	MUST(rpma_conn_cfg_delete(&cfg));
	open_side(&pair->client);
	open_side(&pair->server);
	learn(&pair->client, &pair->server);
	learn(&pair->server, &pair->client);
	for (int slot = 0; slot < DEPTH; slot++) {
		post_recv(&pair->client, slot);
		post_recv(&pair->server, slot);
	}
}

/* ---- workloads ---- */

/* takes a completion if there is one, and tells which slot it is of */
static bool completed(struct rpma_cq *cq, struct ibv_wc *wc, int *slot)
{
	int code = rpma_cq_get_wc(cq, 1, wc, NULL);

	if (code == RPMA_E_NO_COMPLETION)
		return false;
	must(code, "rpma_cq_get_wc");
	must(wc->status == IBV_WC_SUCCESS ? 0 : RPMA_E_PROVIDER,
		ibv_wc_status_str(wc->status));
	*slot = (int)wc->wr_id;
	return true;
}

static const void *as_context(int slot)
{
	return (const void *)(uintptr_t)slot;
}

static void post_write(const struct side *side, int slot, size_t size)
{
	MUST(rpma_write(side->conn, side->remote, IN(slot), side->local,
		OUT(slot), size, RPMA_F_COMPLETION_ALWAYS, as_context(slot)));
}

static void post_read(const struct side *side, int slot, size_t size)
{
	MUST(rpma_read(side->conn, side->local, IN(slot), side->remote,
		OUT(slot), size, RPMA_F_COMPLETION_ALWAYS, as_context(slot)));
}

static void post_write_and_flush(const struct side *side, int slot, size_t size)
{
	MUST(rpma_write(side->conn, side->remote, IN(slot), side->local,
		OUT(slot), size, RPMA_F_COMPLETION_ON_ERROR, as_context(slot)));
	MUST(rpma_flush(side->conn, side->remote, IN(slot), size,
		RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
		as_context(slot)));
}

/* each slot is used again as soon as its operation has completed */
static void one_sided(const struct side *side, int operations, size_t size,
		void (*post)(const struct side *side, int slot, size_t size))
{
	struct ibv_wc wc;
	int posted = 0;
	int slot;

	for (slot = 0; slot < DEPTH && posted < operations; slot++, posted++)
		post(side, slot, size);
	for (int done = 0; done < operations;) {
		if (!completed(side->cq, &wc, &slot))
			continue;
		done++;
		if (posted < operations) {
			post(side, slot, size);
			posted++;
		}
	}
}

static void post_send(const struct side *side, int slot, size_t size)
{
	MUST(rpma_send(side->conn, side->local, OUT(slot), size,
		RPMA_F_COMPLETION_ALWAYS, as_context(slot)));
}

/* takes a completion; true for a message, whose slot receives again */
static bool received(const struct side *side, int *slot, int *sending)
{
	struct ibv_wc wc;

	if (!completed(side->cq, &wc, slot))
		return false;
	if (wc.opcode != IBV_WC_RECV) {
		--*sending;
		return false;
	}
	post_recv(side, *slot);
	return true;
}

/* the server answers each message, and each answer brings the next message */
static void ping_pong(const struct pair *pair, int operations, size_t size)
{
	const struct side *client = &pair->client, *server = &pair->server;
	int posted = 0, done = 0, sending = 0;
	int slot;

	for (slot = 0; slot < DEPTH && posted < operations; slot++, posted++) {
		post_send(client, slot, size);
		sending++;
	}
	while (done < operations || sending > 0) {
		if (received(server, &slot, &sending)) {
			post_send(server, slot, size);
			sending++;
		}
		if (!received(client, &slot, &sending))
			continue;
		done++;
		if (posted < operations) {
			post_send(client, slot, size);
			posted++;
			sending++;
		}
	}
}

static bool run(const struct pair *pair, const char *workload, size_t size,
		int operations)
{
	double begin = now();

	if (size > SLOT || operations < 1)
		return false;
	if (strcmp(workload, "write") == 0)
		one_sided(&pair->client, operations, size, post_write);
	else if (strcmp(workload, "read") == 0)
		one_sided(&pair->client, operations, size, post_read);
	else if (strcmp(workload, "write+flush") == 0)
		one_sided(&pair->client, operations, size,
			post_write_and_flush);
	else if (strcmp(workload, "ping-pong") == 0)
		ping_pong(pair, operations, size);
	else
		return false;
	printf("%.1f\n", operations / (now() - begin));
	return true;
}

/* ---- many connections ---- */

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long total, resident;

	if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
		exit(1);
	fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/*
 * Prints, for the first and for the last quarter of so many pairs of
 * connections, microseconds, bytes of heap and bytes of resident memory for
 * each pair.
 */
static bool many_connections(int count)
{
	struct rpma_conn **client = calloc((size_t)count, sizeof(*client));
	struct rpma_conn **server = calloc((size_t)count, sizeof(*server));
	int quarter = count / 4;

	if (quarter < 1 || !client || !server)
		return false;
	for (int n = 0; n < count;) {
		double begin = now();
		size_t heap = mallinfo2().uordblks;
		long resident = resident_kib();
		bool shown = n == 0 || n == count - quarter;
		int end = n == 0 ? quarter : n < count - quarter ?
			count - quarter : count;

		for (; n < end; n++)
			connect_pair(&client[n], &server[n], NULL);
		if (shown)
			printf("%.0f %zu %ld ", (now() - begin) * 1e6 / quarter,
				(mallinfo2().uordblks - heap) / (size_t)quarter,
				(resident_kib() - resident) * 1024 / quarter);
	}
	putchar('\n');
	for (int n = 0; n < count; n++)
		disconnect_pair(&client[n], &server[n]);
	free(client);
	free(server);
	return true;
}

/* ---- commands ---- */

static void prepare(void)
{
	struct rlimit files = {1 << 16, 1 << 16};
	struct ibv_context *context = NULL;

	must(setrlimit(RLIMIT_NOFILE, &files) ? RPMA_E_PROVIDER : 0, "files");
	MUST(rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL,
		&context));
	MUST(rpma_peer_new(context, &peer));
	MUST(rpma_ep_listen(peer, address, port, &ep));
}

int main(int argc, char *argv[])
{
	struct pair pair = {0};
	char line[128], workload[32];
	int size, count;

	if (argc != 3) {
		fprintf(stderr, "usage: throughput ADDRESS PORT\n");
		return 2;
	}
	address = argv[1];
	port = argv[2];
	setlinebuf(stdout);
	alarm(COMMAND_SECONDS);
	prepare();
	open_pair(&pair);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		alarm(COMMAND_SECONDS);
		if (sscanf(line, "connections %d", &count) == 1 ?
				!many_connections(count) :
		    sscanf(line, "%31s %d %d", workload, &size, &count) != 3 ||
				!run(&pair, workload, (size_t)size, count)) {
			fprintf(stderr, "unknown: %s", line);
			return 2;
		}
	}
	return 0;
}
