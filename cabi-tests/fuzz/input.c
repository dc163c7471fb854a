/* SPDX-License-Identifier: BSD-3-Clause */
/* the input in use: where its bytes come from, and drawing from them */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include "fuzz.h"

#define MOST_BYTES 4096
#define MOST_FILES 1024

struct file {
	char name[600];
	unsigned char bytes[MOST_BYTES];
	size_t size;
};

static struct file *corpus;
static unsigned int corpus_size;

static unsigned char bytes[MOST_BYTES];
static size_t size, position;
static char name[600];

/* ---- its bytes ---- */


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

/* ---- where they come from ---- */

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

void input_from_seed(uint64_t seed)
{
	state = seed;
	snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
	if (corpus_size && random_below(2))
		changed_input();
	else
		fresh_input();
	position = 0;
}

static void use_file(const struct file *file)
{
	snprintf(name, sizeof(name), "%s", file->name);
	memcpy(bytes, file->bytes, file->size);
	size = file->size;
	position = 0;
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

void input_from_file(const char *path)
{
	static struct file file;

	read_file(&file, path);
	use_file(&file);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

void input_read_corpus(const char *folder)
{
	struct dirent **entries;
	/* in order, so that a seed means the same everywhere */
	int count = scandir(folder, &entries, not_hidden, alphasort);

	if (count <= 0 || count > MOST_FILES) {
		fprintf(stderr, "%s: %d files\n", folder, count);
		exit(2);
	}
	corpus = calloc((size_t)count, sizeof(*corpus));
	if (!corpus)
		abort();
	for (int n = 0; n < count; n++) {
		char path[600];

		snprintf(path, sizeof(path), "%s/%s", folder,
			entries[n]->d_name);
		read_file(&corpus[corpus_size++], path);
		free(entries[n]);
	}
	free(entries);
}

bool input_from_corpus(unsigned int n)
{
	if (n >= corpus_size)
		return false;
	use_file(&corpus[n]);
	return true;
}

/* ---- what becomes of it ---- */

const char *input_name(void)
{
	return name;
}

void input_keep(const char *folder, uint64_t seed)
{
	char path[600];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%llu", folder,
		(unsigned long long)seed);
	stream = fopen(path, "wb");
	if (!stream || fwrite(bytes, 1, size, stream) != size ||
			fclose(stream) != 0) {
		perror(path);
		exit(2);
	}
}

void input_leave(void)
{
	int fd = open("fuzz-failing-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		perror("fuzz-failing-input");
	if (fd >= 0)
		close(fd);
}
