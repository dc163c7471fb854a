/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every scenario, run once for each provider call with that call failing,
 * once for each allocation with it failing, and once for each pair of calls
 * that delete with both failing. Each call of librpma has to return what the
 * contract says about that failure, with its errno and one line or none, and
 * at the end nothing is alive and nothing was misused.
 *
 * faults                    all of it
 * faults NAME               scenarios whose name begins so
 * faults --list             their names
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "scenarios.h"

#define FIRST_ERROR EIO
#define SECOND_ERROR EPERM
#define MAX_COMPLAINTS 200
#define TIMEOUT_S 120

static const struct scenario *current;
static char point[128];
static unsigned int complaints;

/* of the call that is being made */
static unsigned int failures_before, log_before;
static unsigned int errors;
static int last_code;
static int in_deletes;
static unsigned int calls_before_deletes;

static void complain(const char *format, ...)
{
	va_list arguments;

	if (++complaints > MAX_COMPLAINTS)
		return;
	printf("%s, %s: ", current->name, point);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

static void count_message(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	char text[512];
	va_list arguments;

	(void)file_name;
	(void)line_no;
	(void)function_name;
	/* formatted so that memcheck sees what the arguments are */
	va_start(arguments, message_format);
	vsnprintf(text, sizeof(text), message_format, arguments);
	va_end(arguments);
	errors += level <= RPMA_LOG_LEVEL_ERROR;
	if (getenv("FAULTS_VERBOSE"))
		printf("    %s\n", text);
}

void scenario_before(void)
{
	failures_before = provider_failures();
	log_before = provider_log_length();
	errors = 0;
	errno = 0;
}

void scenario_deletes(void)
{
	if (in_deletes)
		return;
	in_deletes = 1;
	calls_before_deletes = provider_calls_made();
}

static unsigned int lines_with(const char *part)
{
	unsigned int count = 0;

	for (unsigned int n = log_before; n < provider_log_length(); n++)
		count += strstr(provider_log_line(n), part) != NULL;
	return count;
}

/*
 * What the kernel refused because of what a failure left: the CQ that was not
 * destroyed keeps its channel, the region its PD.
 */
static unsigned int refused(void)
{
	return lines_with(") = EBUSY");
}

static int invalid_by_contract(const char *call)
{
	if (strncmp(call, "rpma_conn_req_connect", 21) == 0)
		return strstr(call, "NULL, NULL)") != NULL;
	return (strncmp(call, "rpma_conn_req_new", 17) == 0 ||
		strncmp(call, "rpma_ep_next_conn_req", 21) == 0) &&
		current->shared && current->srq == 1;
}

/* whether what failed first in this call destroys, rejects or acks */
static int undoing(void)
{
	const char *failed = provider_failed_call(failures_before);

	return failed && (strstr(failed, "destroy") ||
		strstr(failed, "reject") || strstr(failed, "ack") ||
		strstr(failed, "dereg"));
}

int scenario_after(const char *call, int code)
{
	int error = errno;
	int expected = 0, expected_errno = 0;
	unsigned int expected_errors = 0;
	unsigned int followers = refused();

	if (provider_failures() > failures_before + 1)
		followers += provider_failures() - failures_before - 1;
	if (provider_failures() > failures_before) {
		const char *failed = provider_failed_call(failures_before);

		expected_errno = provider_failed_errno(failures_before);
		if (!failed) {
			expected = RPMA_E_NOMEM;
			expected_errno = 0;
		} else if (strcmp(failed, "ibv_qp_to_qp_ex") == 0) {
			/* not extended after all: the library does without */
			expected_errno = 0;
		} else if (strcmp(failed, "rdma_destroy_id") == 0 &&
			   strncmp(call, "rpma_utils_get", 14) == 0) {
			/* the device was found: a warning */
			expected_errno = 0;
		} else if (strcmp(failed, "ibv_modify_qp") == 0) {
			/* refused: the library does without, and errno stays */
			expected_errno = 0;
			if (error && code == 0)
				complain("%s leaves errno %s of ibv_modify_qp",
					call, strerrorname_np(error));
		} else {
			expected = RPMA_E_PROVIDER;
			expected_errors = 1;
		}
	} else if (refused()) {
		expected = RPMA_E_PROVIDER;
		expected_errno = EBUSY;
		expected_errors = 1;
	}
	if (invalid_by_contract(call) && (!expected || undoing())) {
		/* the refusal came first, and undoing is silent */
		expected = RPMA_E_INVAL;
		expected_errno = 0;
		expected_errors = strstr(call, "rpma_conn_req_connect") ? 0 : 1;
	}
	/* a completion that was not waited for may be missing */
	if (expected == 0 && code == RPMA_E_NO_COMPLETION &&
			strncmp(call, "rpma_cq_get_wc", 14) == 0)
		expected = code;
	if (code != expected)
		complain("%s is %d, not %d", call, code, expected);
	if (expected_errno && error != expected_errno)
		complain("%s leaves errno %s, not %s", call,
			strerrorname_np(error),
			strerrorname_np(expected_errno));
	if (expected == 0 && error && provider_failures() == failures_before)
		complain("%s succeeds and leaves errno %s", call,
			strerrorname_np(error));
	/* one line for the fault; each one that follows from it may have its own */
	if (errors < expected_errors || errors > expected_errors +
			(expected_errors ? followers : 0))
		complain("%s logs %u errors, not %u", call, errors,
			expected_errors);
	last_code = code;
	return code;
}

void scenario_output(const char *name, long long value)
{
	if (strstr(name, "is NULL") && !value)
		complain("%s: it is not", name);
}

void scenario_handle(const char *name, const void *handle)
{
	if (!handle != !!last_code)
		complain("%s is %s after a call that returned %d", name,
			handle ? "set" : "not set", last_code);
}

static void crash(int signal)
{
	static const char text[] = "crashed or hung at: ";

	if (write(1, text, sizeof(text) - 1) < 0 ||
	    write(1, current->name, strlen(current->name)) < 0 ||
	    write(1, ", ", 2) < 0 || write(1, point, strlen(point)) < 0 ||
	    write(1, "\n", 1) < 0)
		_exit(3);
	_exit(2 + (signal == 0));
}

/* one run; whether every planned failure came true */
static int run(unsigned int call, unsigned int other_call,
		unsigned int allocation)
{
	unsigned int pending;

	provider_reset();
	if (rpma_log_set_function(count_message) ||
	    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_INFO))
		abort();
	in_deletes = 0;
	if (call)
		provider_fail(PROVIDER_ANY_CALL, call, FIRST_ERROR);
	if (other_call)
		provider_fail(PROVIDER_ANY_CALL, other_call, SECOND_ERROR);
	if (allocation)
		provider_fail_allocation(allocation);
	alarm(TIMEOUT_S);
	current->run(current);
	alarm(0);
	pending = provider_clear_plans();
	if (provider_alive())
		complain("still alive: %s", provider_alive_names());
	for (unsigned int n = 0; n < provider_misuses(); n++)
		complain("misuse: %s", provider_misuse(n));
	return pending == 0;
}

struct total {
	unsigned int calls, allocations, pairs;
};

static void run_scenario(struct total *total)
{
	unsigned int first_delete, calls;

	snprintf(point, sizeof(point), "nothing failing");
	run(0, 0, 0);
	calls = provider_calls_made();
	first_delete = in_deletes ? calls_before_deletes : calls;
	for (unsigned int n = 1;; n++) {
		snprintf(point, sizeof(point), "provider call %u failing", n);
		if (!run(n, 0, 0))
			break;
		snprintf(point + strlen(point), sizeof(point) - strlen(point),
			" (%s)", provider_failed_call(0));
		total->calls++;
	}
	for (unsigned int n = 1;; n++) {
		snprintf(point, sizeof(point), "allocation %u failing", n);
		if (!run(0, 0, n))
			break;
		total->allocations++;
	}
	for (unsigned int one = first_delete + 1; one <= calls; one++) {
		for (unsigned int two = one + 1; two <= calls; two++) {
			snprintf(point, sizeof(point),
				"provider calls %u and %u failing", one, two);
			if (run(one, two, 0))
				total->pairs++;
			else
				complain("both failures did not happen");
		}
	}
}

int main(int argc, char **argv)
{
	struct total total = {0, 0, 0};
	const char *wanted = argc > 1 ? argv[1] : "";
	unsigned int ran = 0, sum;

	scenarios_fill();
	signal(SIGSEGV, crash);
	signal(SIGBUS, crash);
	signal(SIGABRT, crash);
	signal(SIGALRM, crash);
	for (unsigned int n = 0; n < scenario_count; n++) {
		current = &scenarios[n];
		if (strcmp(wanted, "--list") == 0) {
			puts(current->name);
			continue;
		}
		if (strncmp(current->name, wanted, strlen(wanted)) != 0)
			continue;
		run_scenario(&total);
		ran++;
	}
	if (strcmp(wanted, "--list") == 0)
		return 0;
	provider_reset();
	sum = total.calls + total.allocations + total.pairs;
	printf("%u scenarios, %u fault points: %u provider calls, "
		"%u allocations, %u pairs of deletions; %u complaints\n", ran,
		sum, total.calls, total.allocations, total.pairs, complaints);
	if (!*wanted && sum <= 1000) {
		puts("too few fault points");
		return 1;
	}
	return !ran || complaints;
}
