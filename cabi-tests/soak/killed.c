/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * killed.c -- the other side is killed at random moments: in the middle of connecting, writing,
 * disconnecting. Each time the survivor is told in bounded time, frees everything and
 * connects again.
 *
 *	killed COUNT
 *
 * The survivor is the server in every other round, the client in the others.
 */

#include "soak.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE		4096
#define WRITES		16
#define MOST_CONNS	8
#define WARM		20	/* rounds until librdmacm and malloc have what they keep */
/*
 * So long after its death the survivor knows. Nearly always that is at once. But when the machine is
 * busy, a server may accept a client of whose death it did not hear: UNREACHABLE comes after 69 s, when
 * the kernel has repeated its answer 15 times, every 4.3 s. (So it does for a host that vanishes between
 * asking and being answered.) By the counters of the kernel's CM no rejection gets lost; that of the
 * dying client probably overtook its request.
 */
#define BOUND_MS	150000

static struct {
	unsigned closed, lost, rejected, unreachable, error, refused;
	unsigned clean;		/* closed connections of before the kill */
	long long slowest;
} seen;

/* what took longer gets a line of its own */
#define LATE_MS		1000
static long long *killed_at;	/* shared with the killer */

static struct rpma_peer *peer;
static struct rpma_mr_local *mr;
static unsigned cycle_ms;	/* how long connecting, writing and disconnecting take here */

static struct rpma_mr_local *
region(void)
{
	return registered(peer, memory(SIZE), SIZE, RPMA_MR_USAGE_WRITE_SRC |
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
}

/* ---- the victim: works until it is killed -------------------------------- */

static void
at_work(void)
{
	CHECK(write(STDOUT_FILENO, "w", 1) == 1);
}

static void
write_a_while(struct rpma_conn *conn)
{
	struct rpma_mr_remote *remote = offered_region(conn, 0);

	for (int n = 0; n < WRITES; n++) {
		struct ibv_wc wc;

		OK(rpma_write(conn, remote, 0, mr, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, NULL));
		next_completion(cq_of(conn), &wc);
		CHECK(wc.status == IBV_WC_SUCCESS);
	}
	OK(rpma_mr_remote_delete(&remote));
}

static void
victim_client(const char *address, const char *port)
{
	peer = peer_of_remote(address);
	mr = region();
	at_work();
	for (;;) {
		struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);

		write_a_while(conn);
		close_first(&conn);
	}
}

static void
victim_server(const char *address, const char *port)
{
	struct rpma_ep *ep = NULL;
	struct offer offer = { 0 };
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	peer = peer_of_local(address);
	mr = region();
	offer_region(&offer, 0, mr);
	OK(rpma_ep_listen(peer, address, port, &ep));
	at_work();
	for (;;) {
		struct rpma_conn *conn = accepted(ep, NULL, &pdata);

		close_second(&conn);
	}
}

/* ---- the survivor -------------------------------------------------------- */

static void
count_event(enum rpma_conn_event event)
{
	switch (event) {
	case RPMA_CONN_CLOSED: seen.closed++; break;
	case RPMA_CONN_LOST: seen.lost++; break;
	case RPMA_CONN_REJECTED: seen.rejected++; break;
	case RPMA_CONN_UNREACHABLE: seen.unreachable++; break;
	default: CHECK(event == RPMA_CONN_ESTABLISHED);
	}
}

static void
note_if_late(enum rpma_conn_event event, bool established)
{
	long long ms = now_ms() - *killed_at;

	if (ms > LATE_MS)
		printf("late: %s after %lld ms, %s\n", rpma_utils_conn_event_2str(event), ms,
				established ? "had been established" : "was being made");
}

/* all that there was is over */
static void
survived(void)
{
	long long ms = now_ms() - *killed_at;

	CHECK(ms < BOUND_MS);
	if (ms > seen.slowest)
		seen.slowest = ms;
}

/* it may fail, with the other side gone, but it returns and the handle is gone */
static void
end(struct rpma_conn **conn)
{
	int ret = rpma_conn_disconnect(*conn);

	CHECK(ret == 0 || ret == RPMA_E_PROVIDER);
	OK(rpma_conn_delete(conn));
}

static pid_t
start_victim(const char *role, const char *port, int *pipe_end)
{
	int fds[2];
	pid_t pid;

	CHECK(pipe(fds) == 0);
	pid = run_again(fds[1], role, test_address(), port);
	CHECK(close(fds[1]) == 0);
	CHECK(told(fds[0]));
	*pipe_end = fds[0];
	return pid;
}

static void
kill_victim(pid_t pid, int pipe_end)
{
	int status = 0;

	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	/* it was at work until then */
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK(close(pipe_end) == 0);
}

struct serving {
	struct rpma_ep *ep;
	struct rpma_conn *conns[MOST_CONNS];
	bool established[MOST_CONNS];
	struct rpma_conn_private_data pdata;
};

static void
accept_one(struct serving *s, bool victim_lives)
{
	struct rpma_conn_req *req = NULL;
	int ret = rpma_ep_next_conn_req(s->ep, NULL, &req);

	if (ret != 0) {
		/* gone between asking and being heard */
		CHECK(!victim_lives);
		RETURNS(ret, RPMA_E_PROVIDER);
		seen.refused++;
		return;
	}
	for (int n = 0; n < MOST_CONNS; n++) {
		if (s->conns[n] != NULL)
			continue;
		s->established[n] = false;
		ret = rpma_conn_req_connect(&req, &s->pdata, &s->conns[n]);
		CHECK(req == NULL);
		if (ret != 0) {
			RETURNS(ret, RPMA_E_PROVIDER);
			CHECK(s->conns[n] == NULL);
			seen.refused++;
		}
		return;
	}
	CHECK(!"room for another connection");
}

/* what the connection is told; it ends with anything but ESTABLISHED */
static void
take_event(struct serving *s, int n, bool victim_lives)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	OK(rpma_conn_next_event(s->conns[n], &event));
	if (event == RPMA_CONN_ESTABLISHED) {
		s->established[n] = true;
		return;
	}
	if (victim_lives) {
		CHECK(event == RPMA_CONN_CLOSED);
		seen.clean++;
	} else {
		count_event(event);
		note_if_late(event, s->established[n]);
	}
	end(&s->conns[n]);
}

/* take what comes for so long; true when there is nothing left that waits for something */
static bool
serve(struct serving *s, int ms, bool victim_lives)
{
	struct pollfd fds[1 + MOST_CONNS];
	int which[1 + MOST_CONNS], count = 1;

	OK(rpma_ep_get_fd(s->ep, &fds[0].fd));
	fds[0].events = POLLIN;
	for (int n = 0; n < MOST_CONNS; n++) {
		if (s->conns[n] == NULL)
			continue;
		OK(rpma_conn_get_event_fd(s->conns[n], &fds[count].fd));
		fds[count].events = POLLIN;
		which[count++] = n;
	}
	int ready = poll(fds, (nfds_t)count, ms);

	CHECK(ready >= 0);
	for (int n = 1; n < count; n++)
		if (fds[n].revents & POLLIN)
			take_event(s, which[n], victim_lives);
	if (fds[0].revents & POLLIN)
		accept_one(s, victim_lives);
	return ready == 0 && count == 1;
}

/* so that the moments of the kills are spread over what a victim does */
static void
measure_cycle(struct serving *s, const char *port)
{
	int pipe_end = -1;
	pid_t pid = start_victim("client", port, &pipe_end);
	long long began = now_ms();

	while (seen.clean < 5)
		serve(s, 10, true);
	cycle_ms = (unsigned)(now_ms() - began) / 5 + 1;
	*killed_at = now_ms();
	kill_victim(pid, pipe_end);
	while (!serve(s, 20, false))
		;
	memset(&seen, 0, sizeof(seen));
}

static void
survive_as_server(struct serving *s, const char *port)
{
	int pipe_end = -1;
	pid_t pid = start_victim("client", port, &pipe_end);
	long long until = now_ms() + random_below(4 * cycle_ms);

	while (now_ms() < until)
		serve(s, 1, true);
	*killed_at = now_ms();
	kill_victim(pid, pipe_end);
	while (!serve(s, 20, false)) {
		progress();
		CHECK(now_ms() - *killed_at < BOUND_MS);
	}
	survived();
}

/* the completion of a write, or an event that ends the connection: the first is true */
static bool
completed(struct rpma_conn *conn, struct ibv_wc *wc)
{
	struct rpma_cq *cq = cq_of(conn);
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret;

	OK(rpma_cq_get_fd(cq, &fds[0].fd));
	OK(rpma_conn_get_event_fd(conn, &fds[1].fd));
	while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION) {
		CHECK(poll(fds, 2, BOUND_MS) > 0);
		if (fds[0].revents & POLLIN) {
			OK(rpma_cq_wait(cq));
			continue;
		}
		OK(rpma_conn_next_event(conn, &event));
		CHECK(event != RPMA_CONN_ESTABLISHED);
		count_event(event);
		note_if_late(event, true);
		return false;
	}
	RETURNS(ret, 0);
	return true;
}

/* write until the connection ends, by an event or by an error */
static void
write_to_the_end(struct rpma_conn *conn)
{
	struct rpma_mr_remote *remote = offered_region(conn, 0);
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
	int ret;

	while ((ret = rpma_write(conn, remote, 0, mr, 0, SIZE, RPMA_F_COMPLETION_ALWAYS,
			NULL)) == 0 && completed(conn, &wc)) {
		if (wc.status == IBV_WC_SUCCESS)
			continue;
		seen.error++;
		break;
	}
	if (ret != 0) {
		RETURNS(ret, RPMA_E_PROVIDER);
		seen.refused++;
	}
	OK(rpma_mr_remote_delete(&remote));
}

static void
survive_as_client(const char *port)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int pipe_end = -1;
	pid_t pid = start_victim("server", port, &pipe_end);
	unsigned moment = random_below(2 * cycle_ms) * 1000;
	pid_t killer;

	/* in case that all is over before the killer comes to it */
	*killed_at = now_ms() + moment / 1000;
	killer = fork();
	CHECK(killer >= 0);
	if (killer == 0) {
		sleep_us(moment);
		*killed_at = now_ms();
		_exit(kill(pid, SIGKILL) == 0 ? 0 : 1);
	}
	alarm(BOUND_MS / 1000 + PATIENCE);
	OK(rpma_conn_req_new(peer, test_address(), port, NULL, &req));
	int ret = rpma_conn_req_connect(&req, NULL, &conn);

	if (ret == 0) {
		CHECK(event_pending(conn, BOUND_MS));
		OK(rpma_conn_next_event(conn, &event));
		if (event == RPMA_CONN_ESTABLISHED) {
			write_to_the_end(conn);
		} else {
			count_event(event);
			note_if_late(event, false);
		}
		end(&conn);
	} else {
		RETURNS(ret, RPMA_E_PROVIDER);
		seen.refused++;
	}
	int status = 0;

	CHECK(waitpid(killer, &status, 0) == killer && status == 0);
	survived();
	kill_victim(pid, pipe_end);
}

static void
survive(unsigned count)
{
	struct serving s = { .ep = NULL };
	struct offer offer = { 0 };
	struct holdings before, after;
	char ports[2][8];
	unsigned warm = count / 2 < WARM ? count / 2 : WARM;

	killed_at = mmap(NULL, sizeof(*killed_at), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(killed_at != MAP_FAILED);
	snprintf(ports[0], sizeof(ports[0]), "%s", test_port(0));
	snprintf(ports[1], sizeof(ports[1]), "%s", test_port(1));
	peer = peer_of_local(test_address());
	mr = region();
	offer_region(&offer, 0, mr);
	s.pdata = offer_as_private_data(&offer);
	OK(rpma_ep_listen(peer, test_address(), ports[0], &s.ep));
	measure_cycle(&s, ports[0]);
	for (unsigned round = 0; round < count; round++) {
		if (round == warm)
			before = holdings();
		progress();
		if (round % 2)
			survive_as_client(ports[1]);
		else
			survive_as_server(&s, ports[0]);
	}
	after = holdings();
	printf("%u kills: CLOSED %u, LOST %u, REJECTED %u, UNREACHABLE %u, error completion %u, "
			"error of a call %u; slowest %lld ms; %u connections closed before, "
			"%u ms each\n", count, seen.closed, seen.lost, seen.rejected, seen.unreachable,
			seen.error, seen.refused, seen.slowest, seen.clean, cycle_ms);
	check_same_holdings(&before, &after);
	OK(rpma_ep_shutdown(&s.ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	bool is_victim = argc == 4 && strcmp(argv[0], "victim") == 0;

	if (is_victim) {
		progress();
		if (strcmp(argv[1], "client") == 0)
			victim_client(argv[2], argv[3]);
		victim_server(argv[2], argv[3]);
	}
	test_begin();
	count_errors();
	survive(argument(argc, argv, 1));
	return test_end();
}
