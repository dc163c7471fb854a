/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what each scenario sees of the library that it is run with: return
 * codes, errno, outputs, log levels and counts, and the provider calls in
 * their normal form. First with nothing failing, then, for some scenarios,
 * with the n-th call of each kind failing. compare.py compares two such texts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "scenarios.h"

#define TIMEOUT_S 20

static unsigned int levels[RPMA_LOG_LEVEL_DEBUG + 1];

static void count_message(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	(void)file_name;
	(void)line_no;
	(void)function_name;
	(void)message_format;
	levels[level]++;
}

void scenario_before(void)
{
	memset(levels, 0, sizeof(levels));
	errno = 0;
}

int scenario_after(const char *call, int code)
{
	int error = errno;
	int length = (int)strcspn(call, "(");

	printf("  %.*s = %d\n", length, call, code);
	if (code)
		printf("  %.*s errno %s\n", length, call,
			error ? strerrorname_np(error) : "0");
	for (int level = 0; level <= RPMA_LOG_LEVEL_DEBUG; level++)
		if (levels[level])
			printf("  %.*s log level %d: %u\n", length, call, level,
				levels[level]);
	return code;
}

void scenario_output(const char *name, long long value)
{
	printf("  %s: %lld\n", name, value);
}

void scenario_handle(const char *name, const void *handle)
{
	printf("  %s: %s\n", name, handle ? "set" : "NULL");
}

void scenario_deletes(void)
{
}

static const struct {
	enum provider_call call;
	const char *name;
} calls[] = {
#define X(name) {CALL_##name, #name},
	PROVIDER_CALLS_THAT_CAN_FAIL(X)
#undef X
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void print_name(const struct scenario *scenario, int call,
		unsigned int nth)
{
	if (call >= 0)
		printf("unit %s, %s %u failing\n", scenario->name,
			calls[call].name, nth);
	else
		printf("unit %s\n", scenario->name);
}

static void run_here(const struct scenario *scenario, int call,
		unsigned int nth)
{
	/* held back until it is known whether the planned failure came about */
	static char text[1 << 20];

	setvbuf(stdout, text, _IOFBF, sizeof(text));
	alarm(TIMEOUT_S);
	provider_reset();
	if (rpma_log_set_function(count_message) ||
	    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG))
		abort();
	if (call >= 0)
		provider_fail(calls[call].call, nth, EIO);
	print_name(scenario, call, nth);
	scenario->run(scenario);
	provider_print_normal_form();
	for (unsigned int n = 0; n < provider_misuses(); n++)
		printf("  misuse: %s\n", provider_misuse(n));
	if (provider_alive())
		printf("  still alive: %s\n", provider_alive_names());
	if (provider_clear_plans())
		_exit(1);
	fflush(stdout);
	_exit(0);
}

/* in a process of its own: the reference crashes here and there */
static int run(const struct scenario *scenario, int call, unsigned int nth)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0)
		run_here(scenario, call, nth);
	if (waitpid(child, &status, 0) != child)
		abort();
	if (WIFSIGNALED(status)) {
		print_name(scenario, call, nth);
		printf("  ended by signal %d\n", WTERMSIG(status));
	}
	return status == 0;
}

/* those that are run with failures */
static int chosen(const struct scenario *scenario)
{
	return (!scenario->shared && !scenario->rcq && !scenario->srq) ||
		(scenario->shared && scenario->rcq && !scenario->srq) ||
		(!scenario->shared && !scenario->rcq && scenario->srq == 1);
}

int main(void)
{
	scenarios_fill();
	for (unsigned int n = 0; n < scenario_count; n++) {
		run(&scenarios[n], -1, 0);
		if (!chosen(&scenarios[n]))
			continue;
		for (int call = 0; call < (int)CALLS; call++)
			for (unsigned int nth = 1; nth < 20; nth++)
				if (!run(&scenarios[n], call, nth))
					break;
	}
	return 0;
}
