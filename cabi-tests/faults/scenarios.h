/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs do with librpma, from the first call to the last, written so
 * that any call may fail: what depends on it is left out, and what exists is
 * deleted. The tests of faults and of parity run them.
 */
#ifndef SCENARIOS_H
#define SCENARIOS_H 1

#include <librpma.h>
#include "provider.h"

struct scenario {
	char name[64];
	void (*run)(const struct scenario *scenario);
	/* the connection: */
	int shared;		/* its CQs share one completion channel */
	int rcq;		/* it has an RCQ */
	int srq;		/* 0: no SRQ, 1: one with an RCQ, 2: one without */
};

extern struct scenario scenarios[];
extern unsigned int scenario_count;
void scenarios_fill(void);

/*
 * Every call of librpma is DO(...): a program that runs scenarios sees it
 * before and after.
 */
void scenario_before(void);
int scenario_after(const char *call, int code);
#define DO(call) (scenario_before(), scenario_after(#call, call))
/* an output of the call before, to be compared */
void scenario_output(const char *name, long long value);
/* after a failing constructor the handle has to be NULL still */
void scenario_handle(const char *name, const void *handle);
/* from here on the scenario only deletes */
void scenario_deletes(void);

#endif /* SCENARIOS_H */
