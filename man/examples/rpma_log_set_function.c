/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <librpma.h>

/* example */
void log_to_stderr(enum rpma_log_level level, const char *file,
		const int line, const char *function,
		const char *format, ...)
{
	va_list args;

	if (level > RPMA_LOG_LEVEL_WARNING)
		return;
	flockfile(stderr);	/* threads may log at the same time */
	fprintf(stderr, "rpma: %s (%s:%d): ", function, file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	funlockfile(stderr);
}

void use_log(void)
{
	rpma_log_set_function(log_to_stderr);
}
