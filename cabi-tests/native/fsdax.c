/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fsdax.c -- a file on a file system's DAX cannot be registered on a device without
 * on-demand paging, and the library says why and what works
 *
 *	fsdax FILE	(on such a file system; made here)
 */

#include "common.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE	(1 << 20)

static void *
mapped_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(posix_fallocate(fd, 0, SIZE) == 0);
	/* MAP_SYNC is refused unless the file is persistent memory itself */
	void *ptr = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	CHECK(ptr != MAP_FAILED);
	CHECK(close(fd) == 0);
	memset(ptr, 1, SIZE);
	return ptr;
}

int
main(int argc, char *argv[])
{
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	struct ibv_context *device = NULL;
	struct rpma_mr_local *mr = NULL;
	int odp = -1;

	test_begin();
	CHECK(argc == 2);
	OK(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	OK(rpma_utils_ibv_context_is_odp_capable(device, &odp));
	CHECK(odp == 0);

	struct rpma_peer *peer = peer_of_local(test_address());
	void *file = mapped_file(argv[1]);
	count_errors();
	FAILS(rpma_mr_reg(peer, file, SIZE, usage, &mr), RPMA_E_PROVIDER, EOPNOTSUPP);
	CHECK(mr == NULL);
	CHECK(errors_logged() == 1);
	printf("log: %s", last_error_logged());
	CHECK(strstr(last_error_logged(), "ibv_reg_mr") != NULL);
	CHECK(strstr(last_error_logged(), "on-demand paging") != NULL);
	CHECK(strstr(last_error_logged(), "device has none") != NULL);
	CHECK(strstr(last_error_logged(), "device DAX works") != NULL);

	CHECK(munmap(file, SIZE) == 0);
	OK(rpma_peer_delete(&peer));
	return test_end();
}
