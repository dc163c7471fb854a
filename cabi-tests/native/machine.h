/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h -- what the programs share that run on machines that differ */

#ifndef NATIVE_MACHINE_H
#define NATIVE_MACHINE_H

#include "common.h"

/* what the test has put into the environment */
const char *setting(const char *name);

/* NATIVE_CASE is this one */
bool is_case(const char *name);

/* what this process runs on, for the test to compare */
void show_machine(void);

/* a guest may be slow to start the client; from then on the clock runs anew */
void wait_for_client(const struct rpma_ep *ep);

/* looked at where a connection broke: it takes its time */
void check_nothing_is_left(void);

#endif /* NATIVE_MACHINE_H */
