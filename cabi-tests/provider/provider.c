/* SPDX-License-Identifier: BSD-3-Clause */
/* the provider as a whole: its beginning, back to the beginning */
#include "internal.h"

void provider_reset(void)
{
	lock();
	cm_reset();
	calls_reset();
	plans_reset();
	memory_reset();
	device_reset();
	unlock();
}

unsigned int provider_clear_plans(void)
{
	unsigned int dropped = memory_plan_drop();

	lock();
	dropped += plans_drop();
	unlock();
	return dropped;
}

__attribute__((constructor)) static void provider_begin(void)
{
	calls_begin();
	memory_begin();
	provider_reset();
}
