/* SPDX-License-Identifier: BSD-3-Clause */
/* the runner, the checks and the starting points of the contract tests */
#define _GNU_SOURCE
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "contract.h"

#define MAX_MESSAGES 256
#define TEST_TIMEOUT_S 20

struct message {
	int level;
	char function[64];
	char text[1024];
};

static struct test *tests, **tests_end = &tests;
static struct message messages[MAX_MESSAGES];
static unsigned int message_count;
static unsigned int failures;
static unsigned int *checks;	/* shared with the children */
static int silent;
/* print what happened instead of what is wrong */
static int transcript;
static int in_process;

void test_add(struct test *test)
{
	*tests_end = test;
	tests_end = &test->next;
}

/* ---- log ---- */

void capture(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	va_list arguments;

	(void)file_name;
	(void)line_no;
	if (message_count == MAX_MESSAGES)
		abort();
	messages[message_count].level = level;
	snprintf(messages[message_count].function,
		sizeof(messages[0].function), "%s", function_name);
	va_start(arguments, message_format);
	vsnprintf(messages[message_count].text, sizeof(messages[0].text),
		message_format, arguments);
	va_end(arguments);
	message_count++;
}

const char *log_message(unsigned int n)
{
	return n < message_count ? messages[n].text : "";
}

const char *log_function(unsigned int n)
{
	return n < message_count ? messages[n].function : "";
}

int log_level_of(unsigned int n)
{
	return n < message_count ? messages[n].level : INT_MIN;
}

unsigned int log_messages(void)
{
	return message_count;
}

static void print_log_counts(void)
{
	for (int level = RPMA_LOG_LEVEL_FATAL; level <= RPMA_LOG_LEVEL_DEBUG;
			level++) {
		unsigned int count = 0;

		for (unsigned int n = 0; n < message_count; n++)
			count += messages[n].level == level;
		if (count)
			printf("  log level %d: %u\n", level, count);
	}
}

void watch(void)
{
	if (transcript) {
		print_log_counts();
		provider_print_normal_form();
		puts("  watch");
	}
	provider_log_clear();
	message_count = 0;
	errno = 0;
}

/* ---- checks ---- */

static void failed(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list arguments;

	failures++;
	if (silent)
		return;
	printf("    %s:%d: ", base ? base + 1 : file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

/* the checks look, so they leave errno as they found it */
void test_check(int ok, const char *file, int line, const char *what)
{
	int error = errno;

	++*checks;
	if (transcript)
		printf("  %s: %d\n", what, ok);
	if (!ok)
		failed(file, line, "not so: %s", what);
	errno = error;
}

void test_equal(long long actual, long long expected, const char *file,
		int line, const char *what)
{
	int error = errno;

	++*checks;
	/* how much memory a library needs is its own affair */
	if (transcript && strncmp(what, "provider_", 9) != 0)
		printf("  %s = %lld\n", what, actual);
	if (actual != expected)
		failed(file, line, "%s is %lld, not %lld", what, actual,
			expected);
	errno = error;
}

void test_same(const void *actual, const void *expected, const char *file,
		int line, const char *what)
{
	int error = errno;

	++*checks;
	if (transcript)
		printf("  %s = %s\n", what, !actual ? "NULL" :
			actual == UNTOUCHED ? "untouched" : "set");
	if (actual != expected)
		failed(file, line, "%s is %p, not %p", what, actual, expected);
	errno = error;
}

void test_text(const char *actual, const char *expected, const char *file,
		int line, const char *what)
{
	++*checks;
	if (transcript)
		printf("  %s = \"%s\"\n", what, actual ? actual : "NULL");
	if (!actual || strcmp(actual, expected) != 0)
		failed(file, line, "%s is \"%s\", not \"%s\"", what,
			actual ? actual : "(null)", expected);
}

void test_calls(const char *const *expected, const char *file, int line)
{
	unsigned int made = provider_log_length();
	unsigned int wanted = 0;
	int same = 1;

	++*checks;
	while (expected[wanted])
		wanted++;
	if (made != wanted)
		same = 0;
	for (unsigned int n = 0; same && n < made; n++)
		same = strcmp(expected[n], provider_log_line(n)) == 0;
	if (same)
		return;
	failed(file, line, "other provider calls than expected:");
	for (unsigned int n = 0; !silent && (n < made || n < wanted); n++) {
		const char *was = n < made ? provider_log_line(n) : "nothing";
		const char *should = n < wanted ? expected[n] : "nothing";

		if (strcmp(was, should) == 0)
			printf("        %s\n", was);
		else
			printf("      - %s\n      + %s\n", should, was);
	}
}

unsigned int calls_with(const char *part)
{
	unsigned int count = 0;

	for (unsigned int n = 0; n < provider_log_length(); n++)
		count += strstr(provider_log_line(n), part) != NULL;
	return count;
}

static void print_messages(void)
{
	for (unsigned int n = 0; !silent && n < message_count; n++)
		printf("      level %d: %s%s", messages[n].level,
			messages[n].text, strchr(messages[n].text, '\n') ?
			"" : "\n");
}

static unsigned int messages_up_to(int level)
{
	unsigned int count = 0;

	for (unsigned int n = 0; n < message_count; n++)
		count += messages[n].level <= level;
	return count;
}

void test_log_count(int level, unsigned int count, const char *file, int line)
{
	unsigned int actual = messages_up_to(level);

	++*checks;
	if (actual == count)
		return;
	failed(file, line, "%u messages, not %u", actual, count);
	print_messages();
}

static void check_message(const struct message *message, int level,
		const char *const *parts, const char *file, int line)
{
	if (message->level != level)
		failed(file, line, "level %d, not %d", message->level, level);
	for (; *parts; parts++)
		if (!strstr(message->text, *parts))
			failed(file, line, "\"%s\" is not in: %s", *parts,
				message->text);
}

void test_first_logged(int level, const char *const *parts, const char *file,
		int line)
{
	++*checks;
	for (unsigned int n = 0; n < message_count; n++) {
		if (messages[n].level > level)
			continue;
		check_message(&messages[n], level, parts, file, line);
		return;
	}
	failed(file, line, "no message");
}

void test_logged(int level, const char *const *parts, const char *file,
		int line)
{
	if (messages_up_to(level) == 1) {
		test_first_logged(level, parts, file, line);
		return;
	}
	++*checks;
	failed(file, line, "%u messages, not 1", messages_up_to(level));
	print_messages();
}

/* ---- starting points ---- */

static void must(int done, const char *what)
{
	if (done)
		return;
	if (!silent)
		printf("    could not have %s\n", what);
	fflush(stdout);
	_exit(1);
}

struct rpma_peer *a_peer(void)
{
	struct rpma_peer *peer = NULL;

	must(rpma_peer_new(provider_context(), &peer) == 0, "a peer");
	return peer;
}

void no_peer(struct rpma_peer **peer)
{
	must(rpma_peer_delete(peer) == 0, "the peer deleted");
}

struct rpma_mr_local *a_region(struct rpma_peer *peer, size_t size, int usage)
{
	struct rpma_mr_local *mr = NULL;

	must(rpma_mr_reg(peer, provider_memory, size, usage, &mr) == 0,
		"a region");
	return mr;
}

struct rpma_mr_remote *a_remote_region(uint64_t address, uint64_t size,
		int usage)
{
	unsigned char descriptor[21];
	struct rpma_mr_remote *mr = NULL;
	uint64_t wide;
	uint32_t rkey = htole32(0x77);

	wide = htole64(address);
	memcpy(descriptor, &wide, 8);
	wide = htole64(size);
	memcpy(descriptor + 8, &wide, 8);
	memcpy(descriptor + 16, &rkey, 4);
	descriptor[20] = (unsigned char)usage;
	must(rpma_mr_remote_from_descriptor(descriptor, sizeof(descriptor),
		&mr) == 0, "a remote region");
	return mr;
}

struct rpma_conn_req *a_request(struct rpma_peer *peer,
		const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;

	must(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req) == 0,
		"a request");
	return req;
}

struct rpma_conn *a_connection(struct rpma_peer *peer,
		const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = a_request(peer, cfg);
	struct rpma_conn *conn = NULL;

	must(rpma_conn_req_connect(&req, NULL, &conn) == 0, "a connection");
	return conn;
}

struct rpma_ep *an_endpoint(struct rpma_peer *peer)
{
	struct rpma_ep *ep = NULL;

	must(rpma_ep_listen(peer, ADDRESS, PORT, &ep) == 0, "an endpoint");
	return ep;
}

static struct rdma_cm_id *newest_listener(void)
{
	for (unsigned int n = provider_count("id"); n; n--) {
		struct rdma_cm_id *id = provider_id(n);

		if (id && !id->qp)
			return id;
	}
	return NULL;
}

struct rpma_conn_req *an_incoming_request(struct rpma_ep *ep,
		const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;

	provider_connect_request(newest_listener(), NULL, 0);
	must(rpma_ep_next_conn_req(ep, cfg, &req) == 0, "an incoming request");
	return req;
}

struct rdma_cm_id *newest_id(void)
{
	for (unsigned int n = provider_count("id"); n; n--)
		if (provider_id(n) && provider_id(n)->qp)
			return provider_id(n);
	return NULL;
}

struct ibv_cq *newest_cq(void)
{
	for (unsigned int n = provider_count("cq"); n; n--)
		if (provider_cq(n))
			return provider_cq(n);
	return NULL;
}

void event_for(struct rpma_conn *conn, enum rdma_cm_event_type type,
		const void *private_data, uint8_t len)
{
	uint32_t qp_num = 0;

	must(rpma_conn_get_qp_num(conn, &qp_num) == 0, "a QP number");
	for (unsigned int n = provider_count("id"); n; n--) {
		struct rdma_cm_id *id = provider_id(n);

		if (!id || !id->qp || id->qp->qp_num != qp_num)
			continue;
		provider_event(id, type, 0, private_data, len);
		return;
	}
	must(0, "an id with that QP");
}

/* ---- runner ---- */

static int run_here(const struct test *test)
{
	unsigned int before = *checks;

	alarm(TEST_TIMEOUT_S);
	provider_reset();
	if (rpma_log_set_function(capture) ||
	    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG) ||
	    rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED))
		abort();
	watch();
	test->run();
	if (transcript)
		watch();
	if (*checks == before)
		failed(__FILE__, __LINE__, "no check was made");
	if (transcript && provider_alive() > provider_blocks())
		printf("  still alive: %s\n", provider_alive_names());
	for (unsigned int n = 0; transcript && n < provider_misuses(); n++)
		printf("  misuse: %s\n", provider_misuse(n));
	for (unsigned int n = 0; n < provider_misuses(); n++)
		failed(__FILE__, __LINE__, "misuse: %s", provider_misuse(n));
	if (provider_alive())
		failed(__FILE__, __LINE__, "still alive: %s",
			provider_alive_names());
	if (provider_clear_plans())
		failed(__FILE__, __LINE__, "a planned failure did not happen");
	fflush(stdout);
	return failures ? 1 : 0;
}

/*
 * program [test...]
 * program --in-process [test...]         no process for each, for memcheck
 * program --on-reference [test...]       marked tests have to fail there
 * program --transcript [test...]         what each test saw, to be compared
 */
static int run(const struct test *test)
{
	int status;
	pid_t child;

	if (transcript)
		printf("unit %s%s%s\n", test->name, test->difference ? " " : "",
			test->difference ? test->difference : "");
	fflush(stdout);
	if (in_process) {
		failures = 0;
		return run_here(test) == 0;
	}
	child = fork();
	if (child < 0)
		abort();
	if (child == 0)
		exit(run_here(test));
	if (waitpid(child, &status, 0) != child)
		abort();
	if (WIFSIGNALED(status) && (!silent || transcript))
		printf("    ended by signal %d\n", WTERMSIG(status));
	return status == 0;
}

static int selected(const struct test *test, char **names)
{
	if (!*names)
		return 1;
	for (; *names; names++)
		if (strcmp(*names, test->name) == 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	int on_reference, first = 1;
	unsigned int ran = 0, bad = 0, differ = 0;
	char **names;

	transcript = argc > 1 && strcmp(argv[1], "--transcript") == 0;
	in_process = argc > 1 && strcmp(argv[1], "--in-process") == 0;
	first += transcript + in_process;
	on_reference = argc > 1 && strcmp(argv[1], "--on-reference") == 0;
	names = argv + first + on_reference;

	checks = mmap(NULL, sizeof(*checks), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (checks == MAP_FAILED)
		abort();
	for (struct test *test = tests; test; test = test->next) {
		int expected = !(on_reference && test->difference);
		unsigned int before = *checks;
		int passed;

		if (!selected(test, names))
			continue;
		/* as is the number of allocations that these go through */
		if (transcript && strstr(test->name, "out_of_memory"))
			continue;
		silent = transcript || (!expected &&
			!getenv("CONTRACT_VERBOSE"));
		passed = run(test);
		ran++;
		if (transcript)
			continue;
		differ += !expected;
		bad += passed != expected;
		printf("%s %s%s%s (%u checks)\n",
			passed == expected ? "ok" : "FAILED", test->name,
			test->difference ? " " : "",
			test->difference ? test->difference : "",
			*checks - before);
		if (passed && !expected)
			printf("    passes on the reference, so the mark is wrong\n");
	}
	if (transcript)
		return !ran;
	printf("%u tests, %u checks, %u failed", ran, *checks, bad);
	if (on_reference)
		printf(", %u differ as marked", differ);
	putchar('\n');
	return !ran || bad;
}
