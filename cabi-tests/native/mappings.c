/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mappings.c -- which memory can be registered: what the page of rpma_mr_reg() says of mappings of
 * files and of huge pages
 *
 *	mappings FILE	(on a disk; made here)
 *
 * The kernel decides, and Linux 6.1 decides otherwise than 6.12.
 */

#include "common.h"
#include "machine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE		4096
#define HUGE_SIZE	(2 << 20)

#define READ		(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_SEND)
#define WRITABLE	(PROT_READ | PROT_WRITE)

enum place { DISK = 1, TMPFS = 2, BOTH = DISK | TMPFS };

static const struct {
	const char *what;
	int prot, flags, usage;
	int refused_by_6_1, refused_by_6_12;	/* in which places */
} mappings[] = {
	{ "read-only, private, to be read", PROT_READ, MAP_PRIVATE, READ, 0, 0 },
	{ "read-only, shared, to be read", PROT_READ, MAP_SHARED, READ, BOTH, 0 },
	{ "writable, shared, to be read", WRITABLE, MAP_SHARED, READ, 0, 0 },
	{ "private, READ_DST", WRITABLE, MAP_PRIVATE, RPMA_MR_USAGE_READ_DST, 0, 0 },
	{ "private, WRITE_DST", WRITABLE, MAP_PRIVATE, RPMA_MR_USAGE_WRITE_DST, 0, 0 },
	{ "private, RECV", WRITABLE, MAP_PRIVATE, RPMA_MR_USAGE_RECV, 0, 0 },
	{ "shared, READ_DST", WRITABLE, MAP_SHARED, RPMA_MR_USAGE_READ_DST, 0, DISK },
	{ "shared, WRITE_DST", WRITABLE, MAP_SHARED, RPMA_MR_USAGE_WRITE_DST, 0, DISK },
	{ "shared, RECV", WRITABLE, MAP_SHARED, RPMA_MR_USAGE_RECV, 0, DISK },
};

static bool
is_linux_6_1(void)
{
	struct utsname name;

	CHECK(uname(&name) == 0);
	return strncmp(name.release, "6.1.", 4) == 0;
}

static void
check_registration(struct rpma_peer *peer, void *ptr, size_t size, int usage, int expected)
{
	struct rpma_mr_local *mr = NULL;

	if (expected == 0) {
		OK(rpma_mr_reg(peer, ptr, size, usage, &mr));
		OK(rpma_mr_dereg(&mr));
	} else {
		FAILS(rpma_mr_reg(peer, ptr, size, usage, &mr), RPMA_E_PROVIDER, expected);
	}
}

static void
check_file(struct rpma_peer *peer, enum place place, int fd)
{
	CHECK(fd >= 0);
	CHECK(posix_fallocate(fd, 0, SIZE) == 0);
	for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
		int refused = is_linux_6_1() ? mappings[i].refused_by_6_1 :
				mappings[i].refused_by_6_12;
		int expected = (refused & place) != 0 ? EFAULT : 0;
		void *ptr = mmap(NULL, SIZE, mappings[i].prot, mappings[i].flags, fd, 0);

		CHECK(ptr != MAP_FAILED);
		printf("%s: %s: %s\n", place == DISK ? "disk" : "tmpfs", mappings[i].what,
				expected == 0 ? "taken" : "refused");
		check_registration(peer, ptr, SIZE, mappings[i].usage, expected);
		CHECK(munmap(ptr, SIZE) == 0);
	}
	CHECK(close(fd) == 0);
}

static void
reserve_huge_pages(int count)
{
	FILE *file = fopen("/proc/sys/vm/nr_hugepages", "w");

	CHECK(file != NULL);
	CHECK(fprintf(file, "%d\n", count) > 0);
	CHECK(fclose(file) == 0);
}

/*
 * A whole huge page is taken, with a part of one it is as `expected`: of rdma-core 44, where newer
 * ones refuse none. In a process of its own, since libibverbs looks at the variables once.
 */
static void
check_huge_pages(bool fork_safe, bool huge_pages_safe, int expected)
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(PROGRAM_SECONDS / 2);
		if (fork_safe)
			CHECK(setenv("RDMAV_FORK_SAFE", "1", 1) == 0);
		if (huge_pages_safe)
			CHECK(setenv("RDMAV_HUGEPAGES_SAFE", "1", 1) == 0);
		uint8_t *ptr = mmap(NULL, HUGE_SIZE, WRITABLE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		CHECK(ptr != MAP_FAILED);
		struct rpma_peer *peer = peer_of_local(test_address());
		check_registration(peer, ptr, HUGE_SIZE, RPMA_MR_USAGE_WRITE_DST, 0);
		check_registration(peer, ptr + SIZE, SIZE, RPMA_MR_USAGE_WRITE_DST, expected);
		OK(rpma_peer_delete(&peer));
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
}

int
main(int argc, char *argv[])
{
	test_begin();
	CHECK(argc == 2);
	reserve_huge_pages(2);
	check_huge_pages(false, false, 0);
	check_huge_pages(true, false, EINVAL);
	check_huge_pages(true, true, 0);
	reserve_huge_pages(0);

	show_machine();
	struct rpma_peer *peer = peer_of_local(test_address());
	check_file(peer, DISK, open(argv[1], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	check_file(peer, TMPFS, memfd_create("mappings", MFD_CLOEXEC));
	OK(rpma_peer_delete(&peer));
	return test_end();
}
