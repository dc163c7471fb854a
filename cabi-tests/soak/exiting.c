/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exiting.c -- the process ends while threads send messages to the default log function and to one
 * of their own, which others replace
 *
 *	exiting COUNT
 *
 * Each of COUNT processes has to end by itself, and with the status it was told.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <librpma.h>

#define THREADS		4
#define STATUS		42
#define SECONDS		20

#define CHECK(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);							\
		}									\
	} while (0)

static pthread_barrier_t started;

static void
log_to_nowhere(enum rpma_log_level level, const char *file_name, const int line_no,
		const char *function_name, const char *message_format, ...)
{
	(void) level, (void) file_name, (void) line_no, (void) function_name;
	(void) message_format;
}

/* neither of these two ends before the process does */
static void *
send_messages(void *unused)
{
	struct rpma_peer_cfg *none = NULL;

	(void) unused;
	pthread_barrier_wait(&started);
	for (;;)
		rpma_peer_cfg_from_descriptor("", 0, &none);
	return NULL;
}

static void *
replace_function(void *unused)
{
	(void) unused;
	pthread_barrier_wait(&started);
	for (;;) {
		rpma_log_set_function(log_to_nowhere);
		rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION);
	}
	return NULL;
}

static int
one_process(unsigned number)
{
	pthread_t thread;

	alarm(SECONDS);
	/* the default function writes to stderr, too, and to syslog */
	if (freopen("/dev/null", "w", stderr) == NULL)
		return 1;
	if (rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_ERROR) != 0)
		return 2;
	if (pthread_barrier_init(&started, NULL, THREADS + 1) != 0)
		return 3;
	for (int n = 0; n < THREADS; n++)
		if (pthread_create(&thread, NULL, n == 0 ? replace_function : send_messages,
				NULL) != 0)
			return 4;
	pthread_barrier_wait(&started);
	usleep(number * 37 % 3000);
	return STATUS;
}

int
main(int argc, char *argv[])
{
	unsigned count;

	CHECK(argc == 2);
	count = (unsigned)strtoul(argv[1], NULL, 10);
	CHECK(count > 0);
	for (unsigned n = 0; n < count; n++) {
		int status = 0;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0)
			exit(one_process(n));
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
	}
	printf("%u processes ended while threads were logging\n", count);
	return 0;
}
