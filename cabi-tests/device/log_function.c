/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_function.c -- rpma_log_set_function(): the library's messages go to the program's own
 * function, those up to the threshold and no others
 */

#include "common.h"

#include <stdarg.h>

#define LINES	64

static struct {
	enum rpma_log_level level;
	char file[64];
	int line;
	char function[64];
	char message[256];
} lines[LINES];

static int count;

static void
keep(enum rpma_log_level level, const char *file_name, const int line_no,
		const char *function_name, const char *message_format, ...)
{
	va_list args;

	if (count == LINES)
		return;
	lines[count].level = level;
	lines[count].line = line_no;
	snprintf(lines[count].file, sizeof(lines[count].file), "%s", file_name);
	snprintf(lines[count].function, sizeof(lines[count].function), "%s", function_name);
	va_start(args, message_format);
	vsnprintf(lines[count].message, sizeof(lines[count].message), message_format, args);
	va_end(args);
	count++;
}

/* every line says where it comes from and ends where a line ends */
static void
check_lines(enum rpma_log_level least)
{
	for (int i = 0; i < count; i++) {
		printf("%d %s:%d %s: %s", lines[i].level, lines[i].file, lines[i].line,
				lines[i].function, lines[i].message);
		CHECK(lines[i].level >= RPMA_LOG_LEVEL_FATAL && lines[i].level <= least);
		CHECK(lines[i].file[0] != '\0' && lines[i].line > 0);
		CHECK(lines[i].function[0] != '\0');
		size_t len = strlen(lines[i].message);
		CHECK(len > 1 && lines[i].message[len - 1] == '\n');
		CHECK(strchr(lines[i].message, '\n') == lines[i].message + len - 1);
	}
}

static int
lines_of(enum rpma_log_level level)
{
	int n = 0;

	for (int i = 0; i < count; i++)
		n += lines[i].level == level;
	return n;
}

int
main(void)
{
	test_begin();
	enum rpma_log_level threshold = RPMA_LOG_DISABLED;
	struct pair pair;
	struct ibv_wc wc;

	OK(rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &threshold));
	CHECK(threshold == RPMA_LOG_LEVEL_WARNING);
	OK(rpma_log_set_function(keep));

	/* by default a connection that works says nothing */
	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	pair_disconnect(&pair);
	pair_delete(&pair);
	check_lines(RPMA_LOG_LEVEL_WARNING);
	CHECK(count == 0);

	/* NOTICE: its stations. One each for listen and request, two events and one
	   disconnect a side */
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_NOTICE));
	pair_listen(&pair);
	CHECK(lines_of(RPMA_LOG_LEVEL_NOTICE) == 1);
	CHECK(strstr(lines[count - 1].message, test_address()) != NULL);
	CHECK(strstr(lines[count - 1].message, test_port(0)) != NULL);
	pair_connect(&pair, NULL, NULL);
	CHECK(strstr(lines[1].message, test_address()) != NULL);
	CHECK(strstr(lines[1].message, test_port(0)) != NULL);
	pair_disconnect(&pair);
	pair_delete(&pair);
	check_lines(RPMA_LOG_LEVEL_NOTICE);
	CHECK(lines_of(RPMA_LOG_LEVEL_NOTICE) == 8);
	CHECK(count == 8);

	/* DEBUG: also the queue that was found empty */
	count = 0;
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG));
	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	RETURNS(rpma_cq_get_wc(cq_of(pair.client), 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	CHECK(lines[count - 1].level == RPMA_LOG_LEVEL_DEBUG);
	pair_disconnect(&pair);
	check_lines(RPMA_LOG_LEVEL_DEBUG);
	CHECK(lines_of(RPMA_LOG_LEVEL_DEBUG) >= 1);

	/* ERROR: what fails, one line for it */
	struct rpma_ep *second = NULL;
	count = 0;
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_ERROR));
	FAILS(rpma_ep_listen(pair.peer, test_address(), test_port(0), &second), RPMA_E_PROVIDER,
			EADDRINUSE);
	check_lines(RPMA_LOG_LEVEL_ERROR);
	CHECK(count == 1);
	CHECK(strstr(lines[0].message, "rdma_listen") != NULL ||
			strstr(lines[0].message, "rdma_bind_addr") != NULL);

	/* DISABLED, and back to the default function: nothing comes here any more */
	count = 0;
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED));
	RETURNS(rpma_ep_listen(pair.peer, test_address(), test_port(0), &second),
			RPMA_E_PROVIDER);
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG));
	OK(rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED));
	RETURNS(rpma_ep_listen(pair.peer, test_address(), test_port(0), &second),
			RPMA_E_PROVIDER);
	CHECK(count == 0);

	pair_delete(&pair);
	return test_end();
}
