/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soak.c -- see soak.h
 */

#include "soak.h"

#include <dirent.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

unsigned
argument(int argc, char *argv[], int n)
{
	char *end = NULL;
	unsigned long number = n < argc ? strtoul(argv[n], &end, 10) : 0;

	if (number == 0 || *end != '\0' || number > 1000000) {
		fprintf(stderr, "%s: argument %d has to be a number\n", argv[0], n);
		_exit(2);
	}
	return (unsigned)number;
}

void
progress(void)
{
	alarm(PATIENCE);
}

unsigned
random_below(unsigned limit)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % limit;
}

void
sleep_us(unsigned us)
{
	struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L };

	while (nanosleep(&time, &time) != 0)
		CHECK(errno == EINTR);
}

static int
count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	CHECK(folder != NULL);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

/* A stack that happens to lie well would get a huge page, of two MiB at once. */
__attribute__((constructor))
static void
no_huge_pages(void)
{
	CHECK(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0);
}

static size_t
resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long total = 0, resident = 0;

	CHECK(file != NULL);
	CHECK(fscanf(file, "%lu %lu", &total, &resident) == 2);
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static struct holdings
look(void)
{
	progress();
	struct holdings now = {
		.cm_ids = count_resources("cm_id"),
		.qps = count_resources("qp"),
		.cqs = count_resources("cq"),
		.mrs = count_resources("mr"),
		.pds = count_resources("pd"),
	};

	malloc_trim(0);
	now.fds = count_fds();
	now.heap = mallinfo2().uordblks + mallinfo2().hblkhd;
	now.resident = resident_bytes();
	return now;
}

struct holdings
holdings(void)
{
	/* looking leaves blocks in malloc's own store, which count as given out: a bit before */
	count_resources("pd");
	count_fds();
	resident_bytes();
	return look();
}

void
print_holdings(const char *when, const struct holdings *h)
{
	printf("%s: %d fds, %d cm_ids, %d QPs, %d CQs, %d MRs, %d PDs, "
			"%zu heap bytes, %zu KiB resident\n", when, h->fds, h->cm_ids, h->qps,
			h->cqs, h->mrs, h->pds, h->heap, h->resident >> 10);
}

void
check_same_holdings(const struct holdings *before, const struct holdings *after)
{
	print_holdings("before", before);
	print_holdings("after", after);
	CHECK(after->fds == before->fds);
	CHECK(after->cm_ids == before->cm_ids);
	CHECK(after->qps == before->qps);
	CHECK(after->cqs == before->cqs);
	CHECK(after->mrs == before->mrs);
	CHECK(after->pds == before->pds);
	/* a tool's malloc does not count here, and keeps books of its own: the tool reports leaks */
	if (after->heap == 0)
		return;
	CHECK(after->heap <= before->heap);
	CHECK(after->resident <= before->resident + RESIDENT_SLACK);
}

pid_t
run_again(int output, const char *role, const char *first, const char *second)
{
	/* by its name: under memcheck, what the link leads to is memcheck */
	char path[4096] = "";
	pid_t pid;

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		if (dup2(output, STDOUT_FILENO) < 0)
			_exit(126);
		execl(path, "victim", role, first, second, (char *)NULL);
		_exit(127);
	}
	return pid;
}

bool
told(int fd)
{
	char byte;
	ssize_t ret;

	CHECK(readable(fd, WAIT_MS) || read(fd, &byte, 1) == 0);
	ret = read(fd, &byte, 1);
	CHECK(ret >= 0);
	return ret == 1;
}
