/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forked.c -- fork before and after connecting, and exec: the connection of the parent goes on with
 * its data intact, nothing of it is left open in a program that is executed, and a child that
 * was there before can have a connection of its own
 *
 *	forked ROUNDS
 */

#include "soak.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE	16384

static void
exchange(struct pair *pair, struct rpma_mr_local *mr, struct rpma_mr_remote *remote,
		uint8_t *bytes, unsigned round)
{
	fill(bytes, SIZE, round);
	memset(bytes + SIZE, 0, SIZE);
	OK(rpma_write(pair->client, remote, SIZE, mr, 0, SIZE, RPMA_F_COMPLETION_ON_ERROR, NULL));
	OK(rpma_flush(pair->client, remote, SIZE, SIZE, RPMA_FLUSH_TYPE_VISIBILITY,
			RPMA_F_COMPLETION_ALWAYS, pair));
	expect_completion(cq_of(pair->client), pair->client, flush_opcode(), pair);
	check_filled(bytes + SIZE, SIZE, round);
}

static void
wait_for(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
}

/* a child that writes into its copies of all that is registered, then ends */
static pid_t
writing_child(uint8_t *bytes)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		memset(bytes, 0xee, 2 * SIZE);
		sleep_us(20000);
		_exit(0);
	}
	return pid;
}

/* an executed program has none of the library's file descriptors */
static int
look_at_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = 0;

	if (folder == NULL)
		return 2;
	while ((entry = readdir(folder)) != NULL) {
		char path[300], target[300] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		if (readlink(path, target, sizeof(target) - 1) > 0 &&
				(strstr(target, "infiniband") || strstr(target, "infinibandevent")))
			found++;
	}
	closedir(folder);
	return found;
}

static pid_t
executed_child(void)
{
	return run_again(STDOUT_FILENO, "fds", "", "");
}

static void
connect_and_exchange(unsigned rounds, bool forks)
{
	uint8_t *bytes = memory(2 * SIZE);
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	struct pair pair;

	pair_listen(&pair);
	mr = registered(pair.peer, bytes, 2 * SIZE, RPMA_MR_USAGE_WRITE_SRC |
			RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	remote = as_remote(mr);
	pair_connect(&pair, NULL, NULL);
	for (unsigned round = 0; round < rounds; round++) {
		pid_t writing = 0, executed = 0;

		progress();
		exchange(&pair, mr, remote, bytes, 3 * round);
		if (forks) {
			writing = writing_child(bytes);
			executed = executed_child();
		}
		/* while the child is there, and after it */
		exchange(&pair, mr, remote, bytes, 3 * round + 1);
		if (forks) {
			wait_for(writing);
			wait_for(executed);
		}
		exchange(&pair, mr, remote, bytes, 3 * round + 2);
	}
	pair_disconnect(&pair);
	OK(rpma_mr_remote_delete(&remote));
	OK(rpma_mr_dereg(&mr));
	pair_delete(&pair);
}

int
main(int argc, char *argv[])
{
	if (argc == 4 && strcmp(argv[0], "victim") == 0)
		return look_at_fds();

	unsigned rounds = argument(argc, argv, 1);

	test_begin();
	/* the library is loaded, and nothing of the device is in use yet */
	pid_t before = fork();

	CHECK(before >= 0);
	if (before == 0) {
		progress();
		connect_and_exchange(2, false);
		_exit(0);
	}
	wait_for(before);
	connect_and_exchange(rounds, true);
	printf("%u forks and %u execs beside a connection, 1 fork before it\n", rounds, rounds);
	return test_end();
}
