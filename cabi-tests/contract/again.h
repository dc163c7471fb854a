/* SPDX-License-Identifier: BSD-3-Clause */
/* the program itself, executed anew */
#ifndef AGAIN_H
#define AGAIN_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * QEMU's emulation of one process does not reach what that executes, so it
 * has to be executed itself: cabi-tests/arch/inside says which one it is.
 */
static inline void execute_again(const char *name)
{
	const char *emulator = getenv("TEST_EMULATOR");

	if (emulator)
		execl(emulator, emulator, program_invocation_name, "child",
			(char *)NULL);
	else
		execl("/proc/self/exe", name, "child", (char *)NULL);
}

#endif
