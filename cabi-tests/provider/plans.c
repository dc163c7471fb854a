/* SPDX-License-Identifier: BSD-3-Clause */
/* which calls shall fail, and what failed; the lock of the whole provider */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define MAX_PLANS 16

static const bool fallible[PROVIDER_CALLS] = {
#define X(name) [CALL_##name] = true,
	PROVIDER_CALLS_THAT_CAN_FAIL(X)
#undef X
};

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct plan plans[MAX_PLANS];
static struct {
	const char *call;
	int error;
} failures[MAX_PLANS];
static unsigned int failure_count;

void lock(void)
{
	pthread_mutex_lock(&mutex);
}

void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

bool can_fail(enum provider_call call)
{
	return fallible[call];
}

/* ---- plans ---- */

const struct plan *plan_due(enum provider_call call)
{
	struct plan *due = NULL;

	for (struct plan *plan = plans; plan < plans + MAX_PLANS; plan++) {
		if (!plan->pending)
			continue;
		if (plan->call != call && (plan->call != PROVIDER_ANY_CALL ||
				!fallible[call]))
			continue;
		if (--plan->countdown == 0 && !due) {
			plan->pending = false;
			due = plan;
		}
	}
	return due;
}

static void add_plan(struct plan plan)
{
	lock();
	for (unsigned int n = 0; n < MAX_PLANS; n++) {
		if (plans[n].pending)
			continue;
		plans[n] = plan;
		unlock();
		return;
	}
	abort();
}

void provider_fail(enum provider_call call, unsigned int nth, int error)
{
	add_plan((struct plan){.pending = true, .call = call,
		.countdown = nth, .fails = true, .error = error});
}

void provider_return(enum provider_call call, unsigned int nth, long value,
		int error)
{
	add_plan((struct plan){.pending = true, .call = call,
		.countdown = nth, .value = value, .error = error});
}

void provider_after(enum provider_call call, unsigned int nth,
		void (*function)(void))
{
	add_plan((struct plan){.pending = true, .call = call,
		.countdown = nth, .after = function});
}

unsigned int plans_drop(void)
{
	unsigned int dropped = 0;

	for (unsigned int n = 0; n < MAX_PLANS; n++) {
		dropped += plans[n].pending;
		plans[n].pending = false;
	}
	return dropped;
}

/* ---- what failed ---- */

void note_failure(const char *call, int error)
{
	if (failure_count == MAX_PLANS)
		abort();
	failures[failure_count].call = call;
	failures[failure_count++].error = error;
}

unsigned int provider_failures(void)
{
	return failure_count;
}

const char *provider_failed_call(unsigned int n)
{
	return n < failure_count ? failures[n].call : NULL;
}

int provider_failed_errno(unsigned int n)
{
	return n < failure_count ? failures[n].error : 0;
}

void plans_reset(void)
{
	memset(plans, 0, sizeof(plans));
	failure_count = 0;
}
