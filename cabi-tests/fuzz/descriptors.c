/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_descriptors -- descriptors of every length and any bytes, against parsers
 * written for this purpose from the description of the format
 *
 *	fuzz_descriptors [--seed N] [--seconds N]
 *
 * A descriptor ends where the next page cannot be read, so that one byte too
 * many is seen without further tools; what the library made of it is
 * seen in the work requests that use it.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <librpma.h>
#include "provider.h"

#define LONGEST 4096
#define UNTOUCHED ((void *)(uintptr_t)0xa11ce)

static unsigned char *page_end;
static struct rpma_conn *conn;
static struct rpma_mr_local *local;
static uint64_t state = 1, tried, refused;
static unsigned char descriptor[LONGEST];
static size_t size;

static void wrong(const char *what)
{
	printf("FAILED: %s: %zu bytes:", what, size);
	for (size_t n = 0; n < size && n < 64; n++)
		printf(" %02x", descriptor[n]);
	puts("");
	fflush(stdout);
	_exit(1);
}
#define MUST(condition) ((condition) ? (void)0 : wrong(#condition))

static uint64_t random_wide(void)
{
	uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

static uint64_t field(size_t offset, unsigned int count)
{
	uint64_t value = 0;

	for (unsigned int n = 0; n < count; n++)
		value |= (uint64_t)descriptor[offset + n] << 8 * n;
	return value;
}

static const char *place(uint64_t address)
{
	static char text[32];
	uint64_t memory = (uintptr_t)provider_memory;

	if (address - memory < PROVIDER_MEMORY_SIZE)
		snprintf(text, sizeof(text), "mem+%llu",
			(unsigned long long)(address - memory));
	else
		snprintf(text, sizeof(text), "%s%llx", address ? "0x" : "",
			(unsigned long long)address);
	return text;
}

/* address and rkey are what a write of nothing goes to */
static void check_use(struct rpma_mr_remote *mr)
{
	char expected[100];

	provider_log_clear();
	MUST(rpma_write(conn, mr, 0, local, 0, 0, RPMA_F_COMPLETION_ALWAYS,
		NULL) == 0);
	snprintf(expected, sizeof(expected), ", remote=%s rkey=0x%x imm=0x0) = 0",
		place(field(0, 8)), (unsigned int)field(16, 4));
	MUST(provider_log_length() == 1);
	MUST(strstr(provider_log_line(0), expected));
}

static void check_region(const void *bytes)
{
	struct rpma_mr_remote *mr = UNTOUCHED;
	int code = rpma_mr_remote_from_descriptor(bytes, size, &mr);
	size_t region_size = 0;
	int type = -1;

	if (size < 21 || descriptor[20] == 0) {
		MUST(code == RPMA_E_INVAL && mr == UNTOUCHED);
		refused++;
		return;
	}
	MUST(code == 0);
	MUST(rpma_mr_remote_get_size(mr, &region_size) == 0);
	MUST(region_size == field(8, 8));
	MUST(rpma_mr_remote_get_flush_type(mr, &type) == 0);
	MUST(type == (descriptor[20] & (RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT |
		RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)));
	check_use(mr);
	MUST(rpma_mr_remote_delete(&mr) == 0);
}

static void check_peer_cfg(const void *bytes)
{
	struct rpma_peer_cfg *pcfg = UNTOUCHED;
	int code = rpma_peer_cfg_from_descriptor(bytes, size, &pcfg);
	bool direct = false;
	unsigned char back = 0x77;

	if (size == 0) {
		MUST(code == RPMA_E_INVAL && pcfg == UNTOUCHED);
		refused++;
		return;
	}
	MUST(code == 0);
	MUST(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct) == 0);
	MUST(direct == (descriptor[0] != 0));
	MUST(rpma_peer_cfg_get_descriptor(pcfg, &back) == 0);
	MUST(back == (descriptor[0] ? 1 : 0));
	MUST(rpma_peer_cfg_delete(&pcfg) == 0);
}

static void check(void)
{
	unsigned char *bytes = page_end - size;

	memcpy(bytes, descriptor, size);
	check_region(bytes);
	check_peer_cfg(bytes);
	MUST(memcmp(bytes, descriptor, size) == 0);
	tried++;
}

static void random_bytes(void)
{
	static const unsigned char often[] = {0, 1, 0x7f, 0x80, 0xff};

	for (size_t n = 0; n < size; n++) {
		uint64_t wide = random_wide();

		descriptor[n] = wide & 0x300 ? (unsigned char)wide :
			often[wide % sizeof(often)];
	}
}

/* one byte that cannot be read after LONGEST that can */
static void make_edge(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (LONGEST + page - 1) / page * page;
	unsigned char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE))
		abort();
	page_end = memory + room;
}

static void ignore(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	char text[512];
	va_list arguments;

	(void)level;
	(void)file_name;
	(void)line_no;
	(void)function_name;
	va_start(arguments, message_format);
	vsnprintf(text, sizeof(text), message_format, arguments);
	va_end(arguments);
}

static void connect_stand_in(struct rpma_peer **peer)
{
	struct rpma_conn_req *req = NULL;

	MUST(rpma_peer_new(provider_context(), peer) == 0);
	MUST(rpma_mr_reg(*peer, provider_memory, 64, RPMA_MR_USAGE_WRITE_SRC,
		&local) == 0);
	MUST(rpma_conn_req_new(*peer, "10.0.0.1", "7471", NULL, &req) == 0);
	MUST(rpma_conn_req_connect(&req, NULL, &conn) == 0);
}

int main(int argc, char **argv)
{
	struct rpma_peer *peer = NULL;
	time_t end;
	long seconds = 5;

	for (int n = 1; n + 1 < argc; n += 2) {
		if (strcmp(argv[n], "--seed") == 0)
			state = strtoull(argv[n + 1], NULL, 10);
		else if (strcmp(argv[n], "--seconds") == 0)
			seconds = strtol(argv[n + 1], NULL, 10);
		else
			return 2;
	}
	make_edge();
	MUST(rpma_log_set_function(ignore) == 0);
	MUST(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG)
		== 0);
	connect_stand_in(&peer);

	/* all lengths around the right one, then longer ones; each many times */
	for (size = 0; size <= LONGEST; size += size < 64 ? 1 : 509)
		for (unsigned int times = 0; times < 100; times++) {
			random_bytes();
			check();
		}
	/* all values of each byte, the others at random */
	size = 21;
	for (unsigned int position = 0; position < 21; position++)
		for (unsigned int value = 0; value < 256; value++) {
			random_bytes();
			descriptor[position] = (unsigned char)value;
			check();
		}
	for (end = time(NULL) + seconds; time(NULL) < end;) {
		size = random_wide() % 8 ? 21 : random_wide() % 40;
		random_bytes();
		check();
	}

	MUST(rpma_conn_delete(&conn) == 0);
	MUST(rpma_mr_dereg(&local) == 0);
	MUST(rpma_peer_delete(&peer) == 0);
	MUST(provider_alive() == 0 && provider_misuses() == 0);
	printf("%llu descriptors, each as a region and as a peer configuration; "
		"%llu times refused\n", (unsigned long long)tried,
		(unsigned long long)refused);
	return 0;
}
