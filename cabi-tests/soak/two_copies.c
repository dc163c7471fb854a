/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * two_copies.c -- a preloaded copy of the library and one in a namespace of its own are two: each
 * has its own log function and thresholds, and what one writes the other one reads
 *
 *	LD_PRELOAD=LIBRARY two_copies LIBRARY
 */

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librpma.h>

#define CHECK(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);							\
		}									\
	} while (0)

static unsigned messages[2];

static void
first_log(enum rpma_log_level level, const char *file_name, const int line_no,
		const char *function_name, const char *message_format, ...)
{
	(void) level, (void) file_name, (void) line_no, (void) function_name;
	(void) message_format;
	messages[0]++;
}

static void
second_log(enum rpma_log_level level, const char *file_name, const int line_no,
		const char *function_name, const char *message_format, ...)
{
	(void) level, (void) file_name, (void) line_no, (void) function_name;
	(void) message_format;
	messages[1]++;
}

struct copy {
	int (*set_function)(rpma_log_function *);
	int (*set_threshold)(enum rpma_log_threshold, enum rpma_log_level);
	int (*get_threshold)(enum rpma_log_threshold, enum rpma_log_level *);
	int (*cfg_new)(struct rpma_peer_cfg **);
	int (*cfg_set)(struct rpma_peer_cfg *, bool);
	int (*cfg_get)(const struct rpma_peer_cfg *, bool *);
	int (*cfg_to)(const struct rpma_peer_cfg *, void *);
	int (*cfg_from)(const void *, size_t, struct rpma_peer_cfg **);
	int (*cfg_delete)(struct rpma_peer_cfg **);
};

static struct copy
copy_of(void *library)
{
	struct copy copy;

#define FIND(member, name)							\
	*(void **)&copy.member = dlsym(library, name);				\
	CHECK(copy.member != NULL)
	FIND(set_function, "rpma_log_set_function");
	FIND(set_threshold, "rpma_log_set_threshold");
	FIND(get_threshold, "rpma_log_get_threshold");
	FIND(cfg_new, "rpma_peer_cfg_new");
	FIND(cfg_set, "rpma_peer_cfg_set_direct_write_to_pmem");
	FIND(cfg_get, "rpma_peer_cfg_get_direct_write_to_pmem");
	FIND(cfg_to, "rpma_peer_cfg_get_descriptor");
	FIND(cfg_from, "rpma_peer_cfg_from_descriptor");
	FIND(cfg_delete, "rpma_peer_cfg_delete");
	return copy;
}

static void
from_one_to_the_other(const struct copy *one, const struct copy *other)
{
	struct rpma_peer_cfg *written = NULL, *read = NULL;
	unsigned char descriptor[1];
	bool direct = false;

	CHECK(one->cfg_new(&written) == 0);
	CHECK(one->cfg_set(written, true) == 0);
	CHECK(one->cfg_to(written, descriptor) == 0);
	CHECK(other->cfg_from(descriptor, sizeof(descriptor), &read) == 0);
	CHECK(other->cfg_get(read, &direct) == 0 && direct);
	CHECK(other->cfg_delete(&read) == 0);
	CHECK(one->cfg_delete(&written) == 0);
}

int
main(int argc, char *argv[])
{
	enum rpma_log_level level;
	struct copy first, second;
	struct rpma_peer_cfg *none = NULL;
	void *library;

	CHECK(argc == 2);
	first = copy_of(RTLD_DEFAULT);
	library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL);
	CHECK(library != NULL);
	second = copy_of(library);
	CHECK(first.cfg_new != second.cfg_new);
	/* the program's own calls go to the preloaded one */
	CHECK(first.cfg_new == rpma_peer_cfg_new);

	CHECK(first.set_function(first_log) == 0);
	CHECK(second.set_function(second_log) == 0);
	CHECK(first.set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_ERROR) == 0);
	CHECK(second.set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED) == 0);
	CHECK(first.get_threshold(RPMA_LOG_THRESHOLD, &level) == 0);
	CHECK(level == RPMA_LOG_LEVEL_ERROR);
	CHECK(first.cfg_from("", 0, &none) == RPMA_E_INVAL);
	CHECK(second.cfg_from("", 0, &none) == RPMA_E_INVAL);
	CHECK(messages[0] == 1 && messages[1] == 0);
	CHECK(second.set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_ERROR) == 0);
	CHECK(second.cfg_from("", 0, &none) == RPMA_E_INVAL);
	CHECK(messages[0] == 1 && messages[1] == 1);

	from_one_to_the_other(&first, &second);
	from_one_to_the_other(&second, &first);
	CHECK(dlclose(library) == 0);
	CHECK(first.cfg_from("", 0, &none) == RPMA_E_INVAL);
	CHECK(messages[0] == 2);
	return 0;
}
