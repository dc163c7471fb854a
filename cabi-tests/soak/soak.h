/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soak.h -- what the programs of hard use share, beside ../device/common.h: how often to do it,
 * a clock that runs against standing still, and what the process holds
 */

#ifndef SOAK_H
#define SOAK_H

#include "common.h"

#include <sys/types.h>

/* the n-th argument as a number above 0 */
unsigned argument(int argc, char *argv[], int n);

/* call whenever something got done: nothing may take longer than this many seconds */
#define PATIENCE 60
void progress(void);

/* a random number below the limit; the sequence is the same in every run */
unsigned random_below(unsigned limit);

/* sleep, for a moment that is random anyway */
void sleep_us(unsigned us);

/* what this process holds, of the kernel and of memory */
struct holdings {
	int fds, cm_ids, qps, cqs, mrs, pds;
	size_t heap;		/* bytes given out by malloc() */
	size_t resident;	/* bytes */
};
struct holdings holdings(void);
void print_holdings(const char *when, const struct holdings *holdings);
/* nothing more is held than before; resident memory may differ by some pages */
#define RESIDENT_SLACK (128u << 10)
void check_same_holdings(const struct holdings *before, const struct holdings *after);

/* run this program once more, in a process of its own, with these arguments */
pid_t run_again(int output, const char *role, const char *first, const char *second);

/* take one byte off the pipe, in bounded time; false at its end */
bool told(int fd);

#endif /* SOAK_H */
