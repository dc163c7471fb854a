/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own allocations, told from everybody else's by the return
 * address: only what is called from the text of librpma counts or fails.
 *
 * Under valgrind run with --soname-synonyms=somalloc=nouserintercepts, or it
 * puts its own malloc in the place of this one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "internal.h"

#define MAX_BLOCKS 8192

struct block {
	void *address;
	size_t size;
};

unsigned char *const provider_memory = (unsigned char *)0x100000000000;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct block blocks[MAX_BLOCKS];
static unsigned int block_count;
static unsigned int allocations, countdown;
static int mapping_flags;
static size_t mapping_size;
static uintptr_t library_begin, library_end;

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static int (*real_munmap)(void *, size_t);

/* dlsym() itself may allocate before the real functions are known */
static char early[4096];
static size_t early_used;

static void *early_alloc(size_t size)
{
	size_t begin = (early_used + 15) & ~(size_t)15;

	if (begin + size > sizeof(early))
		return NULL;
	early_used = begin + size;
	return early + begin;
}

static bool is_early(const void *address)
{
	return (const char *)address >= early &&
		(const char *)address < early + sizeof(early);
}

static void *real(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

static void find_real(void)
{
	static bool looking;

	if (looking)
		return;
	looking = true;
	real_calloc = real("calloc");
	real_realloc = real("realloc");
	real_free = real("free");
	real_posix_memalign = real("posix_memalign");
	real_aligned_alloc = real("aligned_alloc");
	real_mmap = real("mmap");
	real_munmap = real("munmap");
	real_malloc = real("malloc");
}

static int find_library(struct dl_phdr_info *info, size_t size, void *inside)
{
	(void)size;
	for (unsigned int n = 0; n < info->dlpi_phnum; n++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[n];
		uintptr_t begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		if ((uintptr_t)inside < begin ||
				(uintptr_t)inside >= begin + header->p_memsz)
			continue;
		library_begin = begin;
		library_end = begin + header->p_memsz;
		return 1;
	}
	return 0;
}

__attribute__((constructor)) static void locate_library(void)
{
	void *function = dlsym(RTLD_DEFAULT, "rpma_err_2str");

	if (!real_malloc)
		find_real();
	if (function)
		dl_iterate_phdr(find_library, function);
}

static bool from_library(void *caller)
{
	return (uintptr_t)caller >= library_begin &&
		(uintptr_t)caller < library_end;
}

/* whether this allocation may be made */
static bool permitted(void)
{
	bool permitted;

	pthread_mutex_lock(&mutex);
	allocations++;
	permitted = !(countdown && --countdown == 0);
	pthread_mutex_unlock(&mutex);
	if (!permitted) {
		note_failure(NULL, ENOMEM);
		errno = ENOMEM;
	}
	return permitted;
}

static void remember(void *address, size_t size)
{
	if (!address)
		return;
	pthread_mutex_lock(&mutex);
	if (block_count == MAX_BLOCKS)
		abort();
	blocks[block_count++] = (struct block){address, size};
	pthread_mutex_unlock(&mutex);
}

static void forget(void *address)
{
	if (!address)
		return;
	pthread_mutex_lock(&mutex);
	for (unsigned int n = 0; n < block_count; n++) {
		if (blocks[n].address != address)
			continue;
		blocks[n] = blocks[--block_count];
		break;
	}
	pthread_mutex_unlock(&mutex);
}

void *malloc(size_t size)
{
	void *address;

	if (!real_malloc)
		find_real();
	if (!real_malloc)
		return early_alloc(size);
	if (!from_library(__builtin_return_address(0)))
		return real_malloc(size);
	if (!permitted())
		return NULL;
	address = real_malloc(size);
	remember(address, size);
	return address;
}

void *calloc(size_t count, size_t size)
{
	void *address;

	if (!real_malloc)
		find_real();
	if (!real_malloc)
		return early_alloc(count * size);
	if (!from_library(__builtin_return_address(0)))
		return real_calloc(count, size);
	if (!permitted())
		return NULL;
	address = real_calloc(count, size);
	remember(address, count * size);
	return address;
}

void *realloc(void *old, size_t size)
{
	void *address;

	if (!real_malloc)
		find_real();
	if (is_early(old)) {
		address = real_malloc(size);
		if (address)
			memcpy(address, old, size);
		return address;
	}
	if (!from_library(__builtin_return_address(0)))
		return real_realloc(old, size);
	if (!permitted())
		return NULL;
	forget(old);
	address = real_realloc(old, size);
	remember(address, size);
	return address;
}

int posix_memalign(void **address, size_t alignment, size_t size)
{
	int error;

	if (!real_malloc)
		find_real();
	if (!from_library(__builtin_return_address(0)))
		return real_posix_memalign(address, alignment, size);
	if (!permitted())
		return ENOMEM;
	error = real_posix_memalign(address, alignment, size);
	if (!error)
		remember(*address, size);
	return error;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *address;

	if (!real_malloc)
		find_real();
	if (!from_library(__builtin_return_address(0)))
		return real_aligned_alloc(alignment, size);
	if (!permitted())
		return NULL;
	address = real_aligned_alloc(alignment, size);
	remember(address, size);
	return address;
}

void free(void *address)
{
	if (is_early(address))
		return;
	if (!real_malloc)
		find_real();
	if (from_library(__builtin_return_address(0)))
		forget(address);
	real_free(address);
}

void *mmap(void *hint, size_t size, int protection, int flags, int fd,
		off_t offset)
{
	void *address;

	if (!real_mmap)
		find_real();
	if (!from_library(__builtin_return_address(0)))
		return real_mmap(hint, size, protection, flags, fd, offset);
	if (!permitted())
		return MAP_FAILED;
	address = real_mmap(hint, size, protection, flags, fd, offset);
	if (address != MAP_FAILED) {
		remember(address, size);
		mapping_flags = flags;
		mapping_size = size;
	}
	return address;
}

int munmap(void *address, size_t size)
{
	if (!real_munmap)
		find_real();
	if (from_library(__builtin_return_address(0)))
		forget(address);
	return real_munmap(address, size);
}

int provider_mapping_flags(void)
{
	return mapping_flags;
}

size_t provider_mapping_size(void)
{
	return mapping_size;
}

static bool private_memory(const void *address, size_t *offset)
{
	bool found = false;

	pthread_mutex_lock(&mutex);
	for (unsigned int n = 0; n < block_count && !found; n++) {
		uintptr_t begin = (uintptr_t)blocks[n].address;

		if ((uintptr_t)address < begin ||
				(uintptr_t)address >= begin + blocks[n].size)
			continue;
		*offset = (uintptr_t)address - begin;
		found = true;
	}
	pthread_mutex_unlock(&mutex);
	return found;
}

const char *place(const void *address)
{
	static _Thread_local char texts[4][32];
	static _Thread_local unsigned int turn;
	char *text = texts[turn++ % 4];
	uintptr_t memory = (uintptr_t)provider_memory;
	size_t offset;

	if ((uintptr_t)address >= memory &&
			(uintptr_t)address < memory + PROVIDER_MEMORY_SIZE)
		snprintf(text, sizeof(texts[0]), "mem+%zu",
			(uintptr_t)address - memory);
	else if (private_memory(address, &offset))
		snprintf(text, sizeof(texts[0]), "private+%zu", offset);
	else
		snprintf(text, sizeof(texts[0]), "0x%zx", (size_t)address);
	return text;
}

void memory_begin(void)
{
	if (mmap(provider_memory, PROVIDER_MEMORY_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			-1, 0) != provider_memory)
		abort();
}

void memory_reset(void)
{
	pthread_mutex_lock(&mutex);
	block_count = 0;
	allocations = 0;
	countdown = 0;
	mapping_flags = 0;
	mapping_size = 0;
	pthread_mutex_unlock(&mutex);
}

unsigned int provider_blocks(void)
{
	return block_count;
}

void provider_fail_allocation(unsigned int nth)
{
	countdown = nth;
}

unsigned int provider_allocations_made(void)
{
	return allocations;
}

bool memory_plan_drop(void)
{
	bool pending = countdown != 0;

	countdown = 0;
	return pending;
}
