/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <librpma.h>

/* example */
/* Clients may write to a device DAX. size is a multiple of 2 MiB. */
int offer_pmem(struct rpma_peer *peer, const char *path, size_t size,
		struct rpma_mr_local **mr)
{
	int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
		RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
		RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	int fd = open(path, O_RDWR);
	void *pmem;
	int ret;

	if (fd < 0)
		return -errno;
	pmem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);
	close(fd);
	if (pmem == MAP_FAILED)
		return -errno;
	ret = rpma_mr_reg(peer, pmem, size, usage, mr);
	if (ret != 0)
		munmap(pmem, size);	/* otherwise after rpma_mr_dereg() */
	return ret;
}
