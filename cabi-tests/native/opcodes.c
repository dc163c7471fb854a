/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * opcodes.c -- preloaded into examples/remote-log-client, tells by which operation each
 * of its steps was done: the client's op_context is the name of the step
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <librpma.h>

#define STEPS	32

static void
tell_once(const struct ibv_wc *wc)
{
	static struct { uint64_t step; int opcode; } told[STEPS];
	static int count;

	for (int i = 0; i < count; i++)
		if (told[i].step == wc->wr_id && told[i].opcode == (int)wc->opcode)
			return;
	if (count == STEPS)
		return;
	told[count].step = wc->wr_id;
	told[count++].opcode = (int)wc->opcode;
	printf("opcode %d: %s\n", (int)wc->opcode, (const char *)(uintptr_t)wc->wr_id);
}

int
rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got)
{
	int (*real)(struct rpma_cq *, int, struct ibv_wc *, int *);
	void *symbol = dlsym(RTLD_NEXT, "rpma_cq_get_wc");

	memcpy(&real, &symbol, sizeof(real));
	int ret = real(cq, num_entries, wc, num_entries_got);
	if (ret == 0 && num_entries == 1 && wc->status == IBV_WC_SUCCESS)
		tell_once(wc);
	return ret;
}
