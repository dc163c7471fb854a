/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_model -- the inputs of the model fuzzer
 *
 *	fuzz_model [--corpus DIR] [--seed N] [--inputs N | --seconds N] [--grow]
 *	fuzz_model FILE...
 *
 * Every file of the corpus first; then inputs from seeds that count up from
 * --seed (1), bytes of their own or a changed file of the corpus, as many as
 * --inputs says or for --seconds (10). With --grow an input that reached what none
 * before it did becomes a file of the corpus. FILE: only these.
 *
 * The first thing that is wrong ends the run with status 1. Its input is
 * left in fuzz-failing-input in the current folder; run that file again, and
 * put it into the corpus once the fault is mended. Which of several files is
 * needed for what the others do not reach, a run of all of them says.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>
#include "fuzz.h"

#define MOST_BYTES 4096
#define MOST_FILES 1024
#define INPUT_SECONDS 30

struct file {
	char name[600];
	unsigned char bytes[MOST_BYTES];
	size_t size;
};

static struct file *corpus;
static unsigned int corpus_size;
static const char *corpus_folder;

static unsigned char bytes[MOST_BYTES];
static size_t size, position;
static char input_name[600];

/* ---- the bytes of the input in use ---- */

bool bytes_left(void)
{
	return position < size;
}

unsigned int draw(unsigned int limit)
{
	return position < size ? bytes[position++] % limit : 0;
}

bool chance(unsigned int one_in)
{
	/* never, once the bytes are used up */
	return draw(one_in) == one_in - 1;
}

uint64_t draw_wide(void)
{
	uint64_t value = 0;

	for (int n = 0; n < 8; n++)
		value = value << 8 | draw(256);
	return value;
}

/* ---- failures ---- */

static void leave_input(void)
{
	int fd = open("fuzz-failing-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		perror("fuzz-failing-input");
	if (fd >= 0)
		close(fd);
}

void wrong(const char *format, ...)
{
	va_list arguments;

	printf("FAILED %s, step %lu: ", input_name, step_number());
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	puts("");
	for (unsigned int n = 0; n < provider_log_length(); n++)
		printf("    %s\n", provider_log_line(n));
	fflush(stdout);
	leave_input();
	_exit(1);
}

static void on_signal(int number)
{
	char text[1024];
	int length = snprintf(text, sizeof(text), "FAILED %s, step %lu: %s: "
		"%s\n", input_name, step_number(), step_name(),
		strsignal(number));

	if (write(STDOUT_FILENO, text, (size_t)length) < 0)
		_exit(3);
	leave_input();
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

static uint64_t state;

static uint64_t random_wide(void)
{
	/* splitmix64 */
	uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

static unsigned int random_below(unsigned int limit)
{
	return (unsigned int)(random_wide() % limit);
}

static void fresh_input(void)
{
	size = 64 + random_below(random_below(2) ? 960 : MOST_BYTES - 64);
	for (size_t n = 0; n < size; n++)
		bytes[n] = (unsigned char)random_wide();
}

/* a part of one file after a part of another, a few bytes changed */
static void changed_input(void)
{
	const struct file *head = &corpus[random_below(corpus_size)];
	const struct file *tail = &corpus[random_below(corpus_size)];
	size_t cut = random_below((unsigned int)head->size + 1);
	size_t from = random_below((unsigned int)tail->size + 1);
	unsigned int changes = random_below(12);

	memcpy(bytes, head->bytes, cut);
	size = cut + tail->size - from;
	if (size > MOST_BYTES)
		size = MOST_BYTES;
	memcpy(bytes + cut, tail->bytes + from, size - cut);
	while (size && changes--)
		bytes[random_below((unsigned int)size)] =
			(unsigned char)random_wide();
}

static void run(void)
{
	position = 0;
	alarm(INPUT_SECONDS);
	model_run();
	alarm(0);
}

static void run_seed(uint64_t seed)
{
	state = seed;
	snprintf(input_name, sizeof(input_name), "seed %llu",
		(unsigned long long)seed);
	if (corpus_size && random_below(2))
		changed_input();
	else
		fresh_input();
	run();
}

static void run_file(const struct file *file)
{
	snprintf(input_name, sizeof(input_name), "%s", file->name);
	memcpy(bytes, file->bytes, file->size);
	size = file->size;
	run();
}

static void read_file(struct file *file, const char *path)
{
	FILE *stream = fopen(path, "rb");

	if (!stream) {
		perror(path);
		exit(2);
	}
	snprintf(file->name, sizeof(file->name), "%s", path);
	file->size = fread(file->bytes, 1, sizeof(file->bytes), stream);
	fclose(stream);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void read_corpus(void)
{
	struct dirent **entries;
	/* in order, so that a seed means the same everywhere */
	int count = scandir(corpus_folder, &entries, not_hidden, alphasort);

	if (count <= 0 || count > MOST_FILES) {
		fprintf(stderr, "%s: %d files\n", corpus_folder, count);
		exit(2);
	}
	for (int n = 0; n < count; n++) {
		char path[600];

		snprintf(path, sizeof(path), "%s/%s", corpus_folder,
			entries[n]->d_name);
		read_file(&corpus[corpus_size++], path);
		free(entries[n]);
	}
	free(entries);
}

static void keep_input(uint64_t seed)
{
	char path[600];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%llu", corpus_folder,
		(unsigned long long)seed);
	stream = fopen(path, "wb");
	if (!stream || fwrite(bytes, 1, size, stream) != size ||
			fclose(stream) != 0) {
		perror(path);
		exit(2);
	}
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
		read_file(&corpus[0], *paths);
		run_file(&corpus[0]);
		printf("%s %s\n", outcomes_grew() ? "new outcomes:" : "ok:",
			*paths);
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, inputs = 0, seconds = 10;
	bool grow = false;
	double began = now(), told = began;
	int n;

	signal(SIGSEGV, on_signal);
	signal(SIGBUS, on_signal);
	signal(SIGILL, on_signal);
	signal(SIGFPE, on_signal);
	signal(SIGABRT, on_signal);
	signal(SIGALRM, on_alarm);
	corpus = calloc(MOST_FILES, sizeof(*corpus));
	if (!corpus)
		abort();
	for (n = 1; n < argc && argv[n][0] == '-'; n++) {
		const char *value = n + 1 < argc ? argv[n + 1] : "";

		if (strcmp(argv[n], "--grow") == 0) {
			grow = true;
			continue;
		}
		if (strcmp(argv[n], "--corpus") == 0)
			corpus_folder = value;
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
	if (corpus_folder && !grow)
		read_corpus();
	for (unsigned int file = 0; file < corpus_size; file++)
		run_file(&corpus[file]);
	for (uint64_t made = 0; inputs ? made < inputs :
			now() - began < (double)seconds; made++, seed++) {
		outcomes_grew();
		run_seed(seed);
		if (grow && corpus_folder && outcomes_grew())
			keep_input(seed);
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
