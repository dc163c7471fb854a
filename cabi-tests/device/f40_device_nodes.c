/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f40_device_nodes.c -- where a node of /dev/infiniband is missing or forbidden, as in a
 * container, the line says which one
 *
 * Fault F40: "Cannot allocate memory", and no word of the node.
 */

#include "common.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES	"/dev/infiniband"
#define NOBODY	65534

static const struct {
	const char *cm, *uverbs;	/* NULL: there and open to all */
	const char *line;
	int error_local, error_remote;
} cases[] = {
	{ NULL, NULL, NULL, 0, 0 },
	{ "missing", NULL, NODES "/rdma_cm is missing", ENOMEM, ENOMEM },
	{ "forbidden", NULL, NODES "/rdma_cm is forbidden", ENOMEM, ENOMEM },
	{ NULL, "missing", NODES "/uverbs0 is missing", ENODEV, ENODEV },
	{ NULL, "forbidden", NODES "/uverbs0 is forbidden", ENODEV, EPERM },
	{ "missing", "missing", NODES "/rdma_cm is missing", ENODEV, ENODEV },
};

static void
make_node(const char *path, dev_t device, const char *state)
{
	if (state != NULL && strcmp(state, "missing") == 0)
		return;
	mode_t mode = state == NULL ? 0666 : 0;

	CHECK(mknod(path, S_IFCHR | mode, device) == 0);
	CHECK(chmod(path, mode) == 0);
}

/* in a child: a process keeps what it once has opened */
static void
look(int which)
{
	struct stat cm, uverbs;
	struct ibv_context *device = NULL;

	CHECK(stat(NODES "/rdma_cm", &cm) == 0 && stat(NODES "/uverbs0", &uverbs) == 0);
	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHECK(mount("nodes", NODES, "tmpfs", 0, "mode=755") == 0);
	make_node(NODES "/rdma_cm", cm.st_rdev, cases[which].cm);
	make_node(NODES "/uverbs0", uverbs.st_rdev, cases[which].uverbs);
	CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
	count_errors();
	for (int type = RPMA_UTIL_IBV_CONTEXT_LOCAL; type <= RPMA_UTIL_IBV_CONTEXT_REMOTE; type++) {
		int error = type == RPMA_UTIL_IBV_CONTEXT_LOCAL ? cases[which].error_local :
				cases[which].error_remote;

		if (error == 0) {
			OK(rpma_utils_get_ibv_context(test_address(),
					(enum rpma_util_ibv_context_type)type, &device));
			continue;
		}
		FAILS(rpma_utils_get_ibv_context(test_address(),
				(enum rpma_util_ibv_context_type)type, &device),
				RPMA_E_PROVIDER, error);
		printf("%s", last_error_logged());
		if (strstr(last_error_logged(), cases[which].line) == NULL)
			fault("F40", "the line does not say \"%s\"", cases[which].line);
	}
	CHECK(errors_logged() == (cases[which].line ? 2 : 0));
}

int
main(void)
{
	test_begin();
	for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
		int status = 0;

		fflush(NULL);
		pid_t child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			look(i);
			fflush(NULL);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
			exit(3);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	return test_end();
}
