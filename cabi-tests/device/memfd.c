/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memfd.c -- registered memory that is a shared mapping of a memfd: what the client writes is
 * in the file, for every process that has it
 */

#include "common.h"

#include <sys/mman.h>
#include <unistd.h>

#define SIZE	(64 * 1024)

static uint8_t *
map_file(int *fd)
{
	*fd = memfd_create("region", MFD_CLOEXEC);
	CHECK(*fd >= 0);
	CHECK(ftruncate(*fd, SIZE) == 0);
	void *ptr = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	CHECK(ptr != MAP_FAILED);
	return ptr;
}

static void
server(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_local(address);
	int fd = -1;
	uint8_t *buf = map_file(&fd);
	uint8_t *copy = memory(SIZE);
	fill(copy, SIZE / 2, 1);
	CHECK(pwrite(fd, copy, SIZE / 2, 0) == SIZE / 2);

	struct rpma_mr_local *mr = registered(peer, buf, SIZE, RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	struct rpma_conn *conn = accepted(ep, NULL, &pdata);
	close_second(&conn);
	OK(rpma_mr_dereg(&mr));
	CHECK(munmap(buf, SIZE) == 0);

	CHECK(pread(fd, copy, SIZE, 0) == SIZE);
	check_filled(copy, SIZE / 2, 1);
	check_filled(copy + SIZE / 2, SIZE / 2, 1);
	CHECK(close(fd) == 0);

	OK(rpma_ep_shutdown(&ep));
	OK(rpma_peer_delete(&peer));
}

/* reads the first half of the server's file and writes it into the second half */
static void
client(const char *address, const char *port)
{
	struct rpma_peer *peer = peer_of_remote(address);
	int fd = -1;
	uint8_t *buf = map_file(&fd);
	struct rpma_mr_local *mr = registered(peer, buf, SIZE / 2,
			RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC);

	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *remote = offered_region(conn, 0);

	OK(rpma_read(conn, mr, 0, remote, 0, SIZE / 2, RPMA_F_COMPLETION_ALWAYS, mr));
	expect_completion(cq_of(conn), conn, IBV_WC_RDMA_READ, mr);
	check_filled(buf, SIZE / 2, 1);
	OK(rpma_write(conn, remote, SIZE / 2, mr, 0, SIZE / 2, RPMA_F_COMPLETION_ON_ERROR, mr));
	OK(rpma_flush(conn, remote, SIZE / 2, SIZE / 2, RPMA_FLUSH_TYPE_VISIBILITY,
			RPMA_F_COMPLETION_ALWAYS, remote));
	expect_completion(cq_of(conn), conn, flush_opcode(), remote);

	OK(rpma_mr_remote_delete(&remote));
	close_first(&conn);
	OK(rpma_mr_dereg(&mr));
	CHECK(close(fd) == 0);
	OK(rpma_peer_delete(&peer));
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
