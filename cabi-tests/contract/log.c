/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpma_log_*: thresholds, functions, and the default function's stderr and
 * syslog. Where a test needs a message it has rpma_mr_remote_from_descriptor
 * refuse one (ERROR) or rpma_peer_cfg_from_descriptor read one (INFO).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>
#include "contract.h"

#define PRIMARY RPMA_LOG_THRESHOLD
#define AUXILIARY RPMA_LOG_THRESHOLD_AUX

static void make_error(void)
{
	struct rpma_mr_remote *remote;

	if (rpma_mr_remote_from_descriptor("", 0, &remote) != RPMA_E_INVAL)
		abort();
}

static void make_info(void)
{
	struct rpma_peer_cfg *pcfg = NULL;

	if (rpma_peer_cfg_from_descriptor("", 1, &pcfg) ||
			rpma_peer_cfg_delete(&pcfg))
		abort();
}

/* ---- thresholds ---- */

TEST(log_set_threshold, every_level_of_both_thresholds_is_kept)
{
	for (int threshold = PRIMARY; threshold <= AUXILIARY; threshold++) {
		for (int level = RPMA_LOG_DISABLED;
				level <= RPMA_LOG_LEVEL_DEBUG; level++) {
			enum rpma_log_level got = 77;

			RETURNS(rpma_log_set_threshold(threshold, level), 0);
			RETURNS(rpma_log_get_threshold(threshold, &got), 0);
			EQUAL((int)got, level);
		}
	}
}

TEST(log_set_threshold, the_two_do_not_touch_each_other)
{
	enum rpma_log_level got = 77;

	rpma_log_set_threshold(PRIMARY, RPMA_LOG_LEVEL_NOTICE);
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_LEVEL_FATAL);
	RETURNS(rpma_log_get_threshold(PRIMARY, &got), 0);
	EQUAL(got, RPMA_LOG_LEVEL_NOTICE);
	RETURNS(rpma_log_get_threshold(AUXILIARY, &got), 0);
	EQUAL(got, RPMA_LOG_LEVEL_FATAL);
}

TEST(log_set_threshold, other_thresholds_and_levels_are_invalid)
{
	static const int wrong[] = {-2, 6, 100, INT_MAX, INT_MIN};
	enum rpma_log_level got = 77;

	for (unsigned int n = 0; n < 5; n++) {
		INVALID(rpma_log_set_threshold(PRIMARY,
			(enum rpma_log_level)wrong[n]));
		INVALID(rpma_log_set_threshold(AUXILIARY,
			(enum rpma_log_level)wrong[n]));
		INVALID(rpma_log_set_threshold(
			(enum rpma_log_threshold)wrong[n],
			RPMA_LOG_LEVEL_INFO));
		INVALID(rpma_log_get_threshold(
			(enum rpma_log_threshold)wrong[n], &got));
	}
	INVALID(rpma_log_set_threshold((enum rpma_log_threshold)-1,
		RPMA_LOG_LEVEL_INFO));
	INVALID(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_MAX,
		RPMA_LOG_LEVEL_INFO));
	INVALID(rpma_log_get_threshold(RPMA_LOG_THRESHOLD_MAX, &got));
	INVALID(rpma_log_get_threshold(PRIMARY, NULL));
	EQUAL(got, 77);
	RETURNS(rpma_log_get_threshold(PRIMARY, &got), 0);
	EQUAL(got, RPMA_LOG_LEVEL_DEBUG);
}

TEST(log_threshold, lets_messages_up_to_its_level_out)
{
	for (int level = RPMA_LOG_DISABLED; level <= RPMA_LOG_LEVEL_DEBUG;
			level++) {
		rpma_log_set_threshold(PRIMARY, level);
		watch();
		make_error();
		EQUAL(log_messages(), level >= RPMA_LOG_LEVEL_ERROR);
		watch();
		make_info();
		EQUAL(log_messages(), level >= RPMA_LOG_LEVEL_INFO);
	}
}

TEST(log_threshold, the_auxiliary_one_does_not_hold_back_a_users_function)
{
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_DISABLED);
	make_error();
	EQUAL(log_messages(), 1);
}

/* ---- functions ---- */

static struct {
	unsigned int calls;
	enum rpma_log_level level;
	char file[64], function[64], text[256];
	int line;
} seen;

static void see(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	va_list arguments;

	seen.calls++;
	seen.level = level;
	snprintf(seen.file, sizeof(seen.file), "%s", file_name);
	snprintf(seen.function, sizeof(seen.function), "%s", function_name);
	seen.line = line_no;
	va_start(arguments, message_format);
	vsnprintf(seen.text, sizeof(seen.text), message_format, arguments);
	va_end(arguments);
	errno = EXDEV;
}

TEST(log_set_function, replaces_the_function)
{
	RETURNS(rpma_log_set_function(see), 0);
	make_error();
	EQUAL(seen.calls, 1);
	EQUAL(log_messages(), 0);
	RETURNS(rpma_log_set_function(capture), 0);
	make_error();
	EQUAL(seen.calls, 1);
	EQUAL(log_messages(), 1);
}

TEST(log_set_function, a_user_function_gets_level_place_and_text)
{
	rpma_log_set_function(see);
	make_error();
	EQUAL(seen.level, RPMA_LOG_LEVEL_ERROR);
	CHECK(seen.file[0] != '\0');
	CHECK(seen.function[0] != '\0');
	CHECK(seen.line > 0);
	CHECK(seen.text[0] != '\0');
}

DIFFERS(log_set_function, errno_survives_a_users_function, "F17")
{
	struct rpma_peer *peer = UNTOUCHED;

	rpma_log_set_function(see);
	provider_fail(CALL_ibv_alloc_pd, 1, EPERM);
	FAILS(rpma_peer_new(provider_context(), &peer), RPMA_E_PROVIDER,
		EPERM);
	CHECK(seen.calls > 0);
}

DIFFERS(log_set_function, errno_survives_a_message_of_a_call_that_succeeds, "F17")
{
	const unsigned char descriptor[21] = { [20] = RPMA_MR_USAGE_READ_SRC };
	struct rpma_mr_remote *region = NULL;

	rpma_log_set_function(see);
	rpma_log_set_threshold(PRIMARY, RPMA_LOG_LEVEL_DEBUG);
	errno = EEXIST;
	EQUAL(rpma_mr_remote_from_descriptor(descriptor, sizeof(descriptor),
		&region), 0);
	EQUAL(errno, EEXIST);
	CHECK(seen.calls > 0);
	rpma_mr_remote_delete(&region);
}

static void *replace_often(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
		rpma_log_set_function(see);
		rpma_log_set_function(NULL);
	}
	return NULL;
}

TEST(log_set_function, may_be_called_while_others_log)
{
	pthread_t thread;
	int stop = 0;

	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_DISABLED);
	rpma_log_set_threshold(PRIMARY, RPMA_LOG_DISABLED);
	EQUAL(pthread_create(&thread, NULL, replace_often, &stop), 0);
	for (int n = 0; n < 20000; n++)
		make_error();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	EQUAL(pthread_join(thread, NULL), 0);
}

/* ---- the default function: stderr ---- */

/* what make() writes to stderr */
static char *stderr_of(void (*make)(void))
{
	static char text[4096];
	FILE *file = tmpfile();
	int kept = dup(2);
	size_t length;

	if (!file || kept < 0 || dup2(fileno(file), 2) < 0)
		abort();
	make();
	fflush(stderr);
	if (dup2(kept, 2) < 0)
		abort();
	close(kept);
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}

static int matches(const char *text, const char *pattern)
{
	regex_t regex;
	int result;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		abort();
	result = regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return result == 0;
}

TEST(log_default_function, writes_nothing_to_stderr_at_first)
{
	RETURNS(rpma_log_set_function(NULL), 0);
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_DISABLED);
	TEXT(stderr_of(make_error), "");
}

TEST(log_default_function, writes_the_documented_line_to_stderr)
{
	char pattern[256];
	const char *line;

	rpma_log_set_function(NULL);
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_LEVEL_ERROR);
	line = stderr_of(make_error);
	snprintf(pattern, sizeof(pattern), "^[A-Z][a-z]{2} [0-9]{2} "
		"[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} \\[%ld\\] "
		"\\*ERROR\\* [a-z_]+\\.[a-z]+: [ 0-9]{2}[0-9]+: [a-z_]+: "
		"[^\n]+\n$", (long)syscall(SYS_gettid));
	if (!matches(line, pattern))
		printf("      %s", line);
	CHECK(matches(line, pattern));
}

TEST(log_default_function, pads_the_level_to_the_longest)
{
	rpma_log_set_function(NULL);
	rpma_log_set_threshold(PRIMARY, RPMA_LOG_LEVEL_INFO);
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_LEVEL_INFO);
	CHECK(matches(stderr_of(make_info),
		"\\] \\*INFO\\*  [a-z_]+\\.[a-z]+: [ 0-9]{2}[0-9]+: "));
}

TEST(log_default_function, stderr_has_messages_up_to_the_auxiliary_threshold)
{
	rpma_log_set_function(NULL);
	for (int level = RPMA_LOG_DISABLED; level <= RPMA_LOG_LEVEL_DEBUG;
			level++) {
		rpma_log_set_threshold(AUXILIARY, level);
		EQUAL(stderr_of(make_error)[0] != '\0',
			level >= RPMA_LOG_LEVEL_ERROR);
		EQUAL(stderr_of(make_info)[0] != '\0',
			level >= RPMA_LOG_LEVEL_INFO);
	}
}

/* ---- the default function: syslog ---- */

static struct {
	unsigned int calls, opened;
	int priority;
	char text[2048];
} system_log;

static void keep(int priority, const char *format, va_list arguments)
{
	system_log.calls++;
	system_log.priority = priority;
	vsnprintf(system_log.text, sizeof(system_log.text), format, arguments);
}

/* these take the place of libc's for the library too */
void openlog(const char *ident, int option, int facility)
{
	(void)ident;
	(void)option;
	(void)facility;
	system_log.opened++;
}

void closelog(void)
{
	system_log.opened++;
}

void vsyslog(int priority, const char *format, va_list arguments)
{
	keep(priority, format, arguments);
}

void syslog(int priority, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep(priority, format, arguments);
	va_end(arguments);
}

void __syslog_chk(int priority, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list arguments;

	(void)flag;
	va_start(arguments, format);
	keep(priority, format, arguments);
	va_end(arguments);
}

TEST(log_default_function, writes_one_message_to_syslog)
{
	rpma_log_set_function(NULL);
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_DISABLED);
	make_error();
	EQUAL(system_log.calls, 1);
	EQUAL(LOG_PRI(system_log.priority), LOG_ERR);
	CHECK(matches(system_log.text, "ERROR.*: [ 0-9]*[0-9]+: [a-z_]+: "));
	make_info();
	EQUAL(system_log.calls, 2);
	EQUAL(LOG_PRI(system_log.priority), LOG_INFO);
}

DIFFERS(log_default_function, leaves_the_programs_syslog_identity_alone, "F18")
{
	EQUAL(system_log.opened, 0);
	rpma_log_set_function(NULL);
	make_error();
	EQUAL(system_log.opened, 0);
	EQUAL(system_log.priority & LOG_FACMASK, LOG_LOCAL7);
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "rpma[%ld]: ", (long)getpid());
	CHECK(strncmp(system_log.text, prefix, strlen(prefix)) == 0);
}

TEST(log_default_function, writes_nothing_above_the_primary_threshold)
{
	rpma_log_set_function(NULL);
	rpma_log_set_threshold(PRIMARY, RPMA_LOG_LEVEL_WARNING);
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_LEVEL_DEBUG);
	TEXT(stderr_of(make_info), "");
	EQUAL(system_log.calls, 0);
}

static void make_long(void)
{
	static char address[3000];
	struct rpma_peer *peer = a_peer();
	struct rpma_conn_req *req = NULL;

	memset(address, 'a', sizeof(address) - 1);
	provider_return(CALL_rdma_getaddrinfo, 1, -2, 0);
	rpma_conn_req_new(peer, address, "1", NULL, &req);
	no_peer(&peer);
}

DIFFERS(log_default_function, message_ends_with_a_newline_also_when_cut, "F28")
{
	const char *text;

	rpma_log_set_function(NULL);
	rpma_log_set_threshold(PRIMARY, RPMA_LOG_LEVEL_ERROR);
	rpma_log_set_threshold(AUXILIARY, RPMA_LOG_LEVEL_ERROR);
	text = stderr_of(make_long);
	CHECK(strlen(text) > 100);
	EQUAL(text[strlen(text) - 1], '\n');
	EQUAL(system_log.text[strlen(system_log.text) - 1], '\n');
}
