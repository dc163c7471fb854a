/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * programs.c -- several programs over a device in one, each in a process of its own
 *
 *	programs PROGRAM...
 *
 * Prints, for each process that has ended, "PROGRAM: process N ended with N".
 */

#include "common.h"

#include <sys/wait.h>
#include <unistd.h>

int main_of_connect(void);
int main_of_threads(void);
int main_of_srq(int argc, char *argv[]);
int main_of_epoll_server(int argc, char *argv[]);
int main_of_forgotten_region(void);
int main_of_forgotten_connection(void);
int main_of_forgotten_buffer(void);
int main_of_race(void);

static const struct program {
	const char *name;
	int (*alone)(void);
	int (*roles)(int argc, char *argv[]);
} programs[] = {
	{ "connect", main_of_connect, NULL },
	{ "threads", main_of_threads, NULL },
	{ "srq", NULL, main_of_srq },
	{ "epoll_server", NULL, main_of_epoll_server },
	{ "forgotten_region", main_of_forgotten_region, NULL },
	{ "forgotten_connection", main_of_forgotten_connection, NULL },
	{ "forgotten_buffer", main_of_forgotten_buffer, NULL },
	{ "race", main_of_race, NULL },
};

static const struct program *
program_of(const char *name)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(name, programs[i].name) == 0)
			return &programs[i];
	}
	fprintf(stderr, "there is no program %s\n", name);
	exit(1);
}

/* `output` is where it writes, unless -1; `others` what it has to leave to this process, unless NULL */
static pid_t
start(const struct program *program, const char *role, int output, FILE *others)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	if (output >= 0) {
		CHECK(dup2(output, STDOUT_FILENO) >= 0);
		CHECK(close(output) == 0);
	}
	if (others != NULL)
		CHECK(fclose(others) == 0);
	if (program->alone != NULL)
		exit(program->alone());
	char *argv[] = { (char *)program->name, (char *)role, (char *)test_address(),
			(char *)test_port(0), NULL };
	exit(program->roles(4, argv));
}

static void
ended(const struct program *program, pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	printf("%s: process %d ended with %d\n", program->name, (int)pid,
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int
main(int argc, char *argv[])
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		const struct program *program = program_of(argv[i]);

		if (program->alone != NULL) {
			ended(program, start(program, NULL, -1, NULL));
			continue;
		}
		int ends[2];
		CHECK(pipe(ends) == 0);
		pid_t server = start(program, "server", ends[1], NULL);
		CHECK(close(ends[1]) == 0);
		FILE *output = fdopen(ends[0], "r");
		CHECK(output != NULL);
		pid_t client = 0;
		char line[256];
		while (fgets(line, sizeof(line), output) != NULL) {
			fputs(line, stdout);
			if (strcmp(line, "listening\n") == 0)
				client = start(program, "client", -1, output);
		}
		CHECK(fclose(output) == 0);
		ended(program, server);
		if (client != 0)
			ended(program, client);
	}
	return 0;
}
