/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f16_write_from_read_only_memory.c -- memory that is only read from, registered for writing from
 * (RPMA_MR_USAGE_WRITE_SRC), need not be writable
 *
 * Fault F16: the registration asks for more than it needs and fails with EFAULT.
 */

#include "common.h"

#include <sys/mman.h>

#define SIZE	4096

int
main(void)
{
	test_begin();
	struct pair pair;
	struct rpma_mr_local *src = NULL, *wrong = NULL;

	pair_listen(&pair);
	pair_connect(&pair, NULL, NULL);
	uint8_t *from = memory(SIZE), *to = memory(SIZE);
	fill(from, SIZE, 1);
	CHECK(mprotect(from, SIZE, PROT_READ) == 0);

	int ret = rpma_mr_reg(pair.peer, from, SIZE, RPMA_MR_USAGE_WRITE_SRC, &src);
	if (ret != 0)
		fault("F16", "rpma_mr_reg() returned %s, errno %s", rpma_err_2str(ret),
				strerrorname_np(errno));

	struct rpma_mr_local *dst = registered(pair.peer, to, SIZE, RPMA_MR_USAGE_WRITE_DST);
	struct rpma_mr_remote *remote = as_remote(dst);
	OK(rpma_write(pair.client, remote, 0, src, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, src));
	expect_completion(cq_of(pair.client), pair.client, IBV_WC_RDMA_WRITE, src);
	check_filled(to, SIZE, 1);

	/* with SEND too, but with nothing that would write into it */
	OK(rpma_mr_dereg(&src));
	src = registered(pair.peer, from, SIZE, RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_SEND);
	static const int writing[] = {
		RPMA_MR_USAGE_READ_DST, RPMA_MR_USAGE_WRITE_DST, RPMA_MR_USAGE_RECV,
	};
	for (size_t i = 0; i < sizeof(writing) / sizeof(writing[0]); i++)
		FAILS(rpma_mr_reg(pair.peer, from, SIZE, RPMA_MR_USAGE_WRITE_SRC | writing[i],
				&wrong), RPMA_E_PROVIDER, EFAULT);
	CHECK(wrong == NULL);

	pair_disconnect(&pair);
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&src));
	OK(rpma_mr_dereg(&dst));
	pair_delete(&pair);
	return test_end();
}
