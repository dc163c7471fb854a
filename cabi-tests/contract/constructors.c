/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F30: a program that is linked with librpma.a, and whose constructors set a
 * threshold or the log function, before the library reads the environment or
 * after it. What the program set counts; the environment, for the rest.
 *
 * Each case is this program again, with the variables and the constructor
 * that acts; the argument after them is what it does.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <librpma.h>
#include "again.h"

#define WHO "CONSTRUCTOR_THAT_ACTS"
#define WHAT "WHAT_IT_DOES"

static char logged[512];

static void keep(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	va_list arguments;

	(void)level;
	(void)file_name;
	(void)line_no;
	(void)function_name;
	va_start(arguments, message_format);
	vsnprintf(logged, sizeof(logged), message_format, arguments);
	va_end(arguments);
}

static void act(const char *name)
{
	const char *who = getenv(WHO);
	const char *what = getenv(WHAT);

	if (!who || !what || strcmp(who, name) != 0)
		return;
	if (strchr(what, 'p') && rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
			RPMA_LOG_LEVEL_NOTICE))
		_exit(9);
	/* the value that it has anyway */
	if (strchr(what, 'w') && rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
			RPMA_LOG_LEVEL_WARNING))
		_exit(9);
	if (strchr(what, 'a') && rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX,
			RPMA_LOG_LEVEL_FATAL))
		_exit(9);
	if (strchr(what, 'd') && rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX,
			RPMA_LOG_DISABLED))
		_exit(9);
	if (strchr(what, 'f') && rpma_log_set_function(keep))
		_exit(9);
}

/* before all constructors, and before getenv(3) knows the environment */
static void preinit(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	environ = envp;
	act("preinit");
}

__attribute__((section(".preinit_array"), used))
static void (*const preinit_entry)(int, char **, char **) = preinit;

__attribute__((constructor(101))) static void first(void)
{
	act("101");
}

__attribute__((constructor(65535))) static void last_numbered(void)
{
	act("65535");
}

__attribute__((constructor)) static void unnumbered(void)
{
	act("none");
}

static int child(void)
{
	struct rpma_mr_remote *remote = NULL;
	enum rpma_log_level primary = 77, auxiliary = 77;

	act("main");
	if (rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &primary) ||
	    rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &auxiliary))
		return 9;
	if (rpma_mr_remote_from_descriptor("", 0, &remote) !=
			RPMA_E_INVAL)
		return 9;
	printf("%d %d %s\n", (int)primary, (int)auxiliary,
		strstr(logged, "descriptor") ? "own" :
		*logged ? "another line" : "default");
	return 0;
}

static int bad, cases;

static void expect(const char *who, const char *what, const char *primary,
		const char *auxiliary, const char *expected)
{
	char text[128] = "";
	int ends[2], status;
	pid_t pid;
	FILE *from;

	if (pipe(ends))
		abort();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		if (!freopen("/dev/null", "w", stderr))
			_exit(7);
		setenv(WHO, who, 1);
		setenv(WHAT, what, 1);
		unsetenv("RPMA_LOG");
		unsetenv("RPMA_LOG_STDERR");
		if (primary)
			setenv("RPMA_LOG", primary, 1);
		if (auxiliary)
			setenv("RPMA_LOG_STDERR", auxiliary, 1);
		execute_again("constructors");
		_exit(8);
	}
	close(ends[1]);
	from = fdopen(ends[0], "r");
	if (!from || (!fgets(text, sizeof(text), from) && ferror(from)))
		abort();
	fclose(from);
	text[strcspn(text, "\n")] = '\0';
	if (waitpid(pid, &status, 0) != pid)
		abort();
	cases++;
	if (status == 0 && strcmp(text, expected) == 0)
		return;
	bad++;
	printf("%s, %s, RPMA_LOG=%s, RPMA_LOG_STDERR=%s: \"%s\" (status 0x%x), "
		"not \"%s\"\n", who, what, primary ? primary : "",
		auxiliary ? auxiliary : "", text, status, expected);
}

int main(int argc, char **argv)
{
	static const char *const constructors[] = {
		"preinit", "101", "65535", "none", "main",
	};

	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return child();
	for (unsigned int n = 0; n < 5; n++) {
		const char *who = constructors[n];

		/* F30: without the environment */
		expect(who, "p", NULL, NULL, "3 -1 default");
		expect(who, "f", NULL, NULL, "2 -1 own");
		/* what the program does not set */
		expect(who, "-", "debug", NULL, "5 -1 default");
		expect(who, "-", "info", "error", "4 1 default");
		expect(who, "f", "error", NULL, "1 -1 own");
		expect(who, "a", "debug", "info", "5 0 default");
		expect(who, "p", "debug", "info", "3 4 default");
		expect(who, "d", NULL, "info", "4 -1 default");
		/* what it does */
		expect(who, "p", "debug", NULL, "3 -1 default");
		expect(who, "w", "debug", NULL, "2 -1 default");
		expect(who, "p", NULL, "debug", "3 5 default");
		expect(who, "w", NULL, "debug", "2 5 default");
		expect(who, "pa", "debug", "debug", "3 0 default");
		expect(who, "pdf", "debug", "debug", "3 -1 own");
		/* values that mean nothing */
		expect(who, "a", NULL, "much", "2 0 default");
		expect(who, "p", "much", NULL, "3 -1 default");
	}
	printf("%d cases, %d failed\n", cases, bad);
	return bad || cases != 80;
}
