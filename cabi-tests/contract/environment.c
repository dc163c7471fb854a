/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library takes from the environment when it is loaded. Each case is
 * this program again, with the variables set, asking what the thresholds are
 * or letting the library write. The reference takes nothing from it (F21).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "again.h"
#include "contract.h"

#define CHILD "ENVIRONMENT_TEST_CHILD"

/* in the program that is run again, before anything of the tests */
__attribute__((constructor)) static void child(void)
{
	enum rpma_log_level primary = 77, auxiliary = 77;
	struct rpma_mr_remote *remote;
	struct rpma_peer *peer = NULL;
	struct rpma_conn_req *req = NULL;
	const char *task = getenv(CHILD);

	if (!task)
		return;
	if (strcmp(task, "override") == 0) {
		rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
			RPMA_LOG_LEVEL_NOTICE);
		rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX,
			RPMA_LOG_DISABLED);
	}
	if (strcmp(task, "error") == 0)
		rpma_mr_remote_from_descriptor("", 0, &remote);
	if (strcmp(task, "connect") == 0) {
		provider_device.device_cap_flags_ex = 7ull << 38;
		provider_device.send_ops = 0x1800;
		if (rpma_peer_new(provider_context(), &peer) ||
		    rpma_conn_req_new(peer, "10.0.0.1", "1", NULL, &req))
			_exit(9);
		printf("%d\n", (int)calls_with("send_ops="));
		fflush(stdout);
		_exit(0);
	}
	if (rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &primary) ||
	    rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &auxiliary))
		_exit(9);
	printf("%d %d\n", (int)primary, (int)auxiliary);
	fflush(stdout);
	_exit(0);
}

/* what the child prints, on stdout or on stderr */
static const char *run(const char *task, const char *variable,
		const char *value, const char *other, const char *other_value,
		int from)
{
	static char text[4096];
	size_t length = 0;
	ssize_t got;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends))
		abort();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int keep = from == 1 ? 2 : 1;
		FILE *nowhere = fopen("/dev/null", "w");

		dup2(ends[1], from);
		if (nowhere)
			dup2(fileno(nowhere), keep);
		setenv(CHILD, task, 1);
		if (variable)
			setenv(variable, value, 1);
		if (other)
			setenv(other, other_value, 1);
		execute_again("environment");
		_exit(8);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + length,
			sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	EQUAL(status, 0);
	return text;
}

#define THRESHOLDS(variable, value) run("", variable, value, NULL, NULL, 1)

TEST(environment, without_variables_the_defaults_hold)
{
	TEXT(THRESHOLDS(NULL, NULL), "2 -1\n");
}

static const struct {
	const char *word, *primary, *auxiliary;
} levels[] = {
	{"disabled", "-1 -1\n", "2 -1\n"}, {"fatal", "0 -1\n", "2 0\n"},
	{"error", "1 -1\n", "2 1\n"}, {"warning", "2 -1\n", "2 2\n"},
	{"notice", "3 -1\n", "3 3\n"}, {"info", "4 -1\n", "4 4\n"},
	{"debug", "5 -1\n", "5 5\n"},
};

DIFFERS(environment, rpma_log_sets_the_primary_threshold, "F21")
{
	for (unsigned int n = 0; n < 7; n++)
		TEXT(THRESHOLDS("RPMA_LOG", levels[n].word),
			levels[n].primary);
}

DIFFERS(environment, rpma_log_stderr_sets_the_auxiliary_and_raises_the_primary,
	"F21")
{
	for (unsigned int n = 0; n < 7; n++)
		TEXT(THRESHOLDS("RPMA_LOG_STDERR", levels[n].word),
			levels[n].auxiliary);
}

DIFFERS(environment, both_variables_set_both_thresholds, "F21")
{
	TEXT(run("", "RPMA_LOG", "error", "RPMA_LOG_STDERR", "debug", 1),
		"1 5\n");
}

TEST(environment, the_api_overrides_it)
{
	TEXT(run("override", "RPMA_LOG", "debug", "RPMA_LOG_STDERR", "debug",
		1), "3 -1\n");
}

DIFFERS(environment, a_program_that_knows_nothing_of_it_logs_to_stderr, "F21")
{
	CHECK(strstr(run("error", "RPMA_LOG_STDERR", "error", NULL, NULL, 2),
		"*ERROR* ") != NULL);
}

TEST(environment, a_bad_value_changes_nothing)
{
	static const char *const values[] = {"", "loud", "7", "-1", "debugging"};

	for (unsigned int n = 0; n < 5; n++) {
		TEXT(THRESHOLDS("RPMA_LOG", values[n]), "2 -1\n");
		TEXT(THRESHOLDS("RPMA_LOG_STDERR", values[n]), "2 -1\n");
	}
}

TEST(environment, without_variables_no_native_operation_is_asked_for)
{
	TEXT(run("connect", NULL, NULL, NULL, NULL, 1), "0\n");
}

DIFFERS(environment, each_native_operation_is_asked_for_by_its_variable, "F8")
{
	TEXT(run("connect", "RPMA_FLUSH", "native", NULL, NULL, 1), "1\n");
	TEXT(run("connect", "RPMA_ATOMIC_WRITE", "native", NULL, NULL, 1),
		"1\n");
}

TEST(environment, a_bad_native_value_asks_for_nothing)
{
	TEXT(run("connect", "RPMA_FLUSH", "yes", "RPMA_ATOMIC_WRITE", "", 1),
		"0\n");
}

DIFFERS(environment, a_bad_value_is_one_warning, "F21")
{
	const char *text = run("error", "RPMA_FLUSH", "sometimes",
		"RPMA_LOG_STDERR", "warning", 2);
	const char *warning = strstr(text, "*WARN*");

	CHECK(warning != NULL);
	CHECK(warning && strstr(warning, "RPMA_FLUSH") != NULL);
	CHECK(warning && strstr(warning + 1, "*WARN*") == NULL);
}
