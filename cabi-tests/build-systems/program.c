/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be done without an RDMA device, checked. */

#include <librpma.h>
#include <stdio.h>
#include <string.h>

#ifdef OTHER_LIBRARY
int other_library(void);
#endif

static int check(const char *what, int holds)
{
	printf("%s: %s\n", what, holds ? "yes" : "NO");
	return holds ? 0 : 1;
}

int main(void)
{
	struct rpma_peer_cfg *pcfg = NULL, *copy = NULL;
	unsigned char descriptor[1] = { 9 };
	bool direct = false;
	int faults = 0;

	faults += check("errors have names",
			strcmp(rpma_err_2str(RPMA_E_INVAL), rpma_err_2str(RPMA_E_PROVIDER)) != 0);
	faults += check("a missing argument is refused", rpma_peer_new(NULL, NULL) == RPMA_E_INVAL);
	faults += check("a peer's description can be sent",
			!rpma_peer_cfg_new(&pcfg) &&
			!rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true) &&
			!rpma_peer_cfg_get_descriptor(pcfg, descriptor) && descriptor[0] == 1);
	faults += check("and read",
			!rpma_peer_cfg_from_descriptor(descriptor, sizeof(descriptor), &copy) &&
			!rpma_peer_cfg_get_direct_write_to_pmem(copy, &direct) && direct);
	faults += check("all is given back",
			!rpma_peer_cfg_delete(&pcfg) && !rpma_peer_cfg_delete(&copy) && !pcfg && !copy);
#ifdef OTHER_LIBRARY
	faults += check("the other library works", other_library() == 13);
#endif
	return faults != 0;
}
