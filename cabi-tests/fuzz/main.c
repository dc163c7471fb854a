/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_model -- the model fuzzer: runs one input after another
 *
 *	fuzz_model [--corpus DIR] [--seed N] [--inputs N | --seconds N] [--grow]
 *	fuzz_model FILE...
 *
 * It runs every file of the corpus first. Then it makes inputs from seeds that
 * count up from --seed (1): their own bytes, or a changed file of the corpus. It
 * makes as many as --inputs says, or goes on for --seconds (10). With --grow, an
 * input that reached what none before it did becomes a file of the corpus. With
 * FILE, it runs only these; of several, it says which reach something new.
 *
 * The first thing that is wrong ends the run with status 1. Its input is left in
 * fuzz-failing-input in the current folder: run that file again, and put it into
 * the corpus once the fault is fixed.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "fuzz.h"

#define INPUT_SECONDS 30

/* ---- failures ---- */

static void on_signal(int number)
{
	char text[1024];
	int length = snprintf(text, sizeof(text), "FAILED %s, step %lu: %s: "
		"%s\n", input_name(), step_number(), step_name(),
		strsignal(number));

	if (write(STDOUT_FILENO, text, (size_t)length) < 0)
		_exit(3);
	input_leave();
	signal(number, SIG_DFL);
	raise(number);
}

/* twice in the same step: a process that was only stopped for a while goes on */
static void on_alarm(int number)
{
	static unsigned long long stood_at;

	if (stood_at == figures.steps)
		on_signal(number);
	stood_at = figures.steps;
	alarm(INPUT_SECONDS);
}

/* ---- inputs ---- */

static void run(void)
{
	alarm(INPUT_SECONDS);
	model_run();
	alarm(0);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (!*text || *end) {
		fprintf(stderr, "%s is no number\n", text);
		exit(2);
	}
	return value;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report(double began)
{
	printf("%llu inputs, %llu calls, %llu planned failures came true, "
		"%llu provider objects, %u different outcomes, %.0f s\n",
		figures.inputs, figures.steps, figures.failures,
		figures.objects, outcomes_seen(), now() - began);
	fflush(stdout);
}

static int run_files(char **paths)
{
	for (; *paths; paths++) {
		input_from_file(*paths);
		run();
		printf("%s %s\n", outcomes_grew() ? "new outcomes:" : "ok:",
			*paths);
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, inputs = 0, seconds = 10;
	const char *corpus = NULL;
	bool grow = false;
	double began = now(), told = began;
	int n;

	signal(SIGSEGV, on_signal);
	signal(SIGBUS, on_signal);
	signal(SIGILL, on_signal);
	signal(SIGFPE, on_signal);
	signal(SIGABRT, on_signal);
	signal(SIGALRM, on_alarm);
	for (n = 1; n < argc && argv[n][0] == '-'; n++) {
		const char *value = n + 1 < argc ? argv[n + 1] : "";

		if (strcmp(argv[n], "--grow") == 0) {
			grow = true;
			continue;
		}
		if (strcmp(argv[n], "--corpus") == 0)
			corpus = value;
		else if (strcmp(argv[n], "--seed") == 0)
			seed = number(value);
		else if (strcmp(argv[n], "--inputs") == 0)
			inputs = number(value);
		else if (strcmp(argv[n], "--seconds") == 0)
			seconds = number(value);
		else
			return 2;
		n++;
	}
	if (n < argc)
		return run_files(argv + n);
	if (corpus && !grow)
		input_read_corpus(corpus);
	for (unsigned int file = 0; input_from_corpus(file); file++)
		run();
	for (uint64_t made = 0; inputs ? made < inputs :
			now() - began < (double)seconds; made++, seed++) {
		outcomes_grew();
		input_from_seed(seed);
		run();
		if (grow && corpus && outcomes_grew())
			input_keep(corpus, seed);
		if (now() - told >= 60) {
			told = now();
			report(began);
		}
	}
	report(began);
	if (getenv("FUZZ_OUTCOMES"))
		outcomes_print();
	/* else the inputs are too few, or a call is not drawn any more */
	return calls_missing(true) ? 1 : 0;
}
