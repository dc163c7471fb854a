/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c -- see machine.h */

#include "machine.h"

#include <dlfcn.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CLIENT_MS	25000	/* how long the client may take to start */

const char *
setting(const char *name)
{
	const char *value = getenv(name);

	if (value == NULL) {
		fprintf(stderr, "%s is not set\n", name);
		_exit(1);
	}
	return value;
}

bool
is_case(const char *name)
{
	return strcmp(setting("NATIVE_CASE"), name) == 0;
}

void
show_machine(void)
{
	void *function = dlsym(RTLD_DEFAULT, "ibv_get_device_list");
	struct utsname name;
	Dl_info info;

	CHECK(function != NULL && dladdr(function, &info) != 0);
	CHECK(uname(&name) == 0);
	char *path = realpath(info.dli_fname, NULL);
	CHECK(path != NULL);
	printf("kernel: %s\nlibibverbs: %s\n", name.release, path);
	free(path);
}

void
wait_for_client(const struct rpma_ep *ep)
{
	int fd = -1;

	OK(rpma_ep_get_fd(ep, &fd));
	CHECK(readable(fd, CLIENT_MS));
	alarm(PROGRAM_SECONDS);
}

void
check_nothing_is_left(void)
{
	CHECK(count_resources("qp") == 0);
	CHECK(count_resources("cm_id") == 0);
	CHECK(count_resources("mr") == 0);
}
