/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loading.c -- the library is loaded and unloaded again and again: nothing of it stays
 *
 *	loading LIBRARY COUNT
 */

#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librpma.h>

#define CHECK(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);							\
		}									\
	} while (0)

static char library_path[PATH_MAX];

struct seen {
	unsigned of_library;
	unsigned mappings;
	unsigned long resident;
	size_t heap;
};

static struct seen
look(void)
{
	struct seen seen = { 0 };
	FILE *file = fopen("/proc/self/maps", "r");
	char line[PATH_MAX + 128];
	unsigned long total;

	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file) != NULL) {
		const char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path != NULL && strcmp(path, library_path) == 0)
			seen.of_library++;
		seen.mappings++;
	}
	fclose(file);
	file = fopen("/proc/self/statm", "r");
	CHECK(file != NULL && fscanf(file, "%lu %lu", &total, &seen.resident) == 2);
	fclose(file);
	seen.heap = mallinfo2().uordblks;
	return seen;
}

/* enough to have it look at its environment, allocate, and send a message */
static void
use(void *library)
{
	int (*set)(enum rpma_log_threshold, enum rpma_log_level);
	int (*from)(const void *, size_t, struct rpma_peer_cfg **);
	int (*delete)(struct rpma_peer_cfg **);
	struct rpma_peer_cfg *pcfg = NULL;

	*(void **)&set = dlsym(library, "rpma_log_set_threshold");
	*(void **)&from = dlsym(library, "rpma_peer_cfg_from_descriptor");
	*(void **)&delete = dlsym(library, "rpma_peer_cfg_delete");
	CHECK(set != NULL && from != NULL && delete != NULL);
	CHECK(set(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_INFO) == 0);
	CHECK(from("\1", 1, &pcfg) == 0);
	CHECK(delete(&pcfg) == 0);
}

int
main(int argc, char *argv[])
{
	struct seen before = { 0 }, after;
	unsigned count;

	CHECK(argc == 3);
	/* as the kernel names it */
	CHECK(realpath(argv[1], library_path) != NULL);
	count = (unsigned)strtoul(argv[2], NULL, 10);
	CHECK(count > 1);
	for (unsigned n = 0; n < count; n++) {
		void *library;

		/* each time it is gone */
		after = look();
		CHECK(after.of_library == 0);
		/* malloc and the loader have what they keep by now */
		if (n == count / 2)
			before = after;
		library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		CHECK(library != NULL);
		CHECK(look().of_library > 0);
		use(library);
		CHECK(dlclose(library) == 0);
	}
	after = look();
	CHECK(after.of_library == 0);
	printf("loaded %u times: %u and %u mappings, %zu and %zu heap bytes, "
			"%lu and %lu pages resident\n", count, before.mappings, after.mappings,
			before.heap, after.heap, before.resident, after.resident);
	CHECK(after.mappings == before.mappings);
	CHECK(after.heap == before.heap);
	CHECK(after.resident <= before.resident + 32);
	return 0;
}
