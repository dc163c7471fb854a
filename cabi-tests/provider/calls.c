/* SPDX-License-Identifier: BSD-3-Clause */
/* the log of calls, and the objects that are alive */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <valgrind/memcheck.h>
#include "internal.h"

#define MAX_RECORDS 65536
#define MAX_MISUSES 64
#define MAX_CONCERNED 8
#define POISON 0x5a
/* how long a wait may last before it counts as one that never ends */
#define PATIENCE_MS 3000

struct record {
	char text[512];
	const char *objects[MAX_CONCERNED + 1];
	unsigned int object_count;
};

static const char *const call_names[PROVIDER_CALLS] = {
	"any call",
#define X(name) #name,
	PROVIDER_CALLS_THAT_CAN_FAIL(X)
	PROVIDER_CALLS_THAT_CANNOT_FAIL(X)
#undef X
};

static const char *const kind_names[KINDS] = {
	"pd", "mr", "channel", "cq", "srq", "qp", "id", "ec", "event",
	"addrinfo"
};

static struct record *records;
static unsigned int record_count;
static _Thread_local unsigned int current;
static char misuses[MAX_MISUSES][256];
static unsigned int misuse_count;
static unsigned int calls_made;
static struct object *objects;
static unsigned int kind_counts[KINDS];

/* ---- the log ---- */

struct call enter(enum provider_call call, const char *format, ...)
{
	struct call made = {.call = call};
	const struct plan *plan;
	va_list arguments;

	lock();
	if (record_count == MAX_RECORDS) {
		misuse("more than %d calls", MAX_RECORDS);
		abort();
	}
	made.record = current = record_count++;
	struct record *record = &records[made.record];
	int length = snprintf(record->text, sizeof(record->text), "%s(",
			call_names[call]);
	va_start(arguments, format);
	length += vsnprintf(record->text + length,
			sizeof(record->text) - (size_t)length, format,
			arguments);
	va_end(arguments);
	/* room for the result */
	if ((size_t)length > sizeof(record->text) - 40)
		record->text[sizeof(record->text) - 40] = '\0';
	record->object_count = 0;
	record->objects[0] = NULL;

	if (can_fail(call))
		calls_made++;
	plan = plan_due(call);
	if (plan && plan->after) {
		made.after = plan->after;
	} else if (plan) {
		made.planned = true;
		made.fails = plan->fails;
		made.value = plan->value;
		made.error = plan->error;
		if (plan->fails)
			note_failure(call_names[call], plan->error);
	}
	return made;
}

void concerns(const void *address)
{
	struct record *record = &records[current];
	struct object *object = find(address);

	if (!object || record->object_count == MAX_CONCERNED)
		return;
	for (unsigned int n = 0; n < record->object_count; n++)
		if (record->objects[n] == object->name)
			return;
	record->objects[record->object_count++] = object->name;
	record->objects[record->object_count] = NULL;
}

void leave(const struct call *call, const char *format, ...)
{
	struct record *record = &records[call->record];
	size_t length = strlen(record->text);
	va_list arguments;
	int error = errno;

	strcpy(record->text + length, ")");
	length++;
	if (call->planned) {
		if (call->fails)
			snprintf(record->text + length,
				sizeof(record->text) - length, " = %s",
				strerrorname_np(call->error));
		else
			snprintf(record->text + length,
				sizeof(record->text) - length, " = %ld",
				call->value);
		if (call->error)
			error = call->error;
	} else {
		strcpy(record->text + length, " = ");
		va_start(arguments, format);
		vsnprintf(record->text + length + 3,
			sizeof(record->text) - length - 3, format, arguments);
		va_end(arguments);
	}
	unlock();
	if (call->after)
		call->after();
	errno = error;
}

void leave_void(const struct call *call)
{
	strcat(records[call->record].text, ")");
	unlock();
}

unsigned int provider_calls_made(void)
{
	return calls_made;
}

unsigned int provider_log_length(void)
{
	return record_count;
}

const char *provider_log_line(unsigned int n)
{
	return n < record_count ? records[n].text : NULL;
}

const char *const *provider_log_objects(unsigned int n)
{
	return n < record_count ? records[n].objects : NULL;
}

void provider_log_clear(void)
{
	lock();
	record_count = 0;
	unlock();
}

static bool has_object(const struct record *record, const char *name)
{
	for (unsigned int n = 0; n < record->object_count; n++)
		if (record->objects[n] == name)
			return true;
	return false;
}

void provider_print_normal_form(void)
{
	const char *earlier[MAX_CONCERNED * 64];
	unsigned int earlier_count = 0;

	for (unsigned int n = 0; n < record_count; n++) {
		if (!records[n].object_count)
			printf("  call %s\n", records[n].text);
		for (unsigned int m = 0; m < records[n].object_count; m++) {
			const char *name = records[n].objects[m];
			unsigned int known = 0;

			while (known < earlier_count && earlier[known] != name)
				known++;
			if (known < earlier_count)
				continue;
			if (earlier_count == sizeof(earlier) / sizeof(*earlier))
				abort();
			earlier[earlier_count++] = name;
		}
	}
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		size_t length = strlen(kind_names[kind]);

		for (unsigned int number = 1; number <= kind_counts[kind];
				number++) {
			for (unsigned int n = 0; n < earlier_count; n++) {
				const char *name = earlier[n];

				if (strncmp(name, kind_names[kind], length) ||
				    strtoul(name + length, NULL, 10) != number)
					continue;
				for (unsigned int m = 0; m < record_count; m++)
					if (has_object(&records[m], name))
						printf("  %s: %s\n", name,
							records[m].text);
			}
		}
	}
}

void misuse(const char *format, ...)
{
	va_list arguments;

	lock();
	if (misuse_count < MAX_MISUSES) {
		va_start(arguments, format);
		vsnprintf(misuses[misuse_count++], sizeof(misuses[0]), format,
			arguments);
		va_end(arguments);
	}
	unlock();
}

unsigned int provider_misuses(void)
{
	return misuse_count;
}

const char *provider_misuse(unsigned int n)
{
	return n < misuse_count ? misuses[n] : NULL;
}

void provider_forget_misuses(void)
{
	misuse_count = 0;
}

/* ---- objects ---- */

struct object *create(enum kind kind, size_t size)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		abort();
	object->kind = kind;
	object->size = size;
	object->address = calloc(1, size);
	if (!object->address)
		abort();
	object->alive = true;
	object->number = ++kind_counts[kind];
	snprintf(object->name, sizeof(object->name), "%s%u", kind_names[kind],
		object->number);
	object->next = objects;
	objects = object;
	concerns(object->address);
	return object;
}

struct object *parent(struct object *child, const void *address)
{
	struct object *object = find(address);

	if (!object)
		return NULL;
	for (unsigned int n = 0; n < MAX_PARENTS; n++) {
		if (child->parents[n])
			continue;
		child->parents[n] = object;
		object->users++;
		concerns(address);
		return object;
	}
	abort();
}

struct object *find(const void *address)
{
	struct object *object;

	if (!address)
		return NULL;
	/* also from outside of a call, while other threads create objects */
	lock();
	for (object = objects; object; object = object->next)
		if (object->address == address)
			break;
	unlock();
	return object;
}

struct object *need(enum kind kind, const void *address, const char *call)
{
	struct object *object = find(address);

	if (!object || object->kind != kind) {
		misuse("%s: %s is no %s", call, name_of(address),
			kind_names[kind]);
		return NULL;
	}
	concerns(address);
	if (!object->alive) {
		misuse("%s: %s was destroyed before", call, object->name);
		return NULL;
	}
	return object;
}

const char *name_of(const void *address)
{
	struct object *object;

	if (!address)
		return "none";
	object = find(address);
	return object ? object->name : "a stranger";
}

static bool only_excused_users(const struct object *object)
{
	for (struct object *user = objects; user; user = user->next) {
		if (!user->alive || user->excused)
			continue;
		for (unsigned int n = 0; n < MAX_PARENTS; n++)
			if (user->parents[n] == object)
				return false;
	}
	return true;
}

/* poison instead of free: an address must not come back before the reset */
static void bury(struct object *object)
{
	memset(object->address, POISON, object->size);
	VALGRIND_MAKE_MEM_NOACCESS(object->address, object->size);
}

int destroy(struct object *object, bool callers_order)
{
	if (object->users && object->kind != ID &&
			object->kind != EVENT_CHANNEL) {
		if (only_excused_users(object))
			object->excused = true;
		else if (!callers_order)
			misuse("%s destroyed while others use it",
				object->name);
		return EBUSY;
	}
	if (object->users && !only_excused_users(object))
		misuse("%s destroyed while others use it", object->name);
	if (object->unacked)
		misuse("%s destroyed with %u events not acked: waits for ever",
			object->name, object->unacked);
	object->alive = false;
	for (unsigned int n = 0; n < MAX_PARENTS; n++)
		if (object->parents[n])
			object->parents[n]->users--;
	bury(object);
	return 0;
}

void excuse(struct object *object)
{
	if (object)
		object->excused = true;
}

unsigned int provider_alive(void)
{
	unsigned int alive = 0;

	lock();
	for (struct object *object = objects; object; object = object->next)
		alive += object->alive && !object->excused;
	unlock();
	return alive + cm_lists() + provider_blocks();
}

const char *provider_alive_names(void)
{
	static char names[1024];
	size_t length = 0;

	names[0] = '\0';
	lock();
	for (struct object *object = objects; object; object = object->next) {
		if (!object->alive || object->excused)
			continue;
		length += (size_t)snprintf(names + length,
			sizeof(names) - length, "%s ", object->name);
		if (length >= sizeof(names) - 64)
			break;
	}
	snprintf(names + length, sizeof(names) - length,
		"%u blocks of memory", provider_blocks());
	unlock();
	return names;
}

static void *nth_object(enum kind kind, unsigned int n)
{
	for (struct object *object = objects; object; object = object->next)
		if (object->kind == kind && object->number == n &&
				object->alive)
			return object->address;
	return NULL;
}

struct rdma_cm_id *provider_id(unsigned int n)
{
	return nth_object(ID, n);
}

struct ibv_qp *provider_qp(unsigned int n)
{
	return nth_object(QP, n);
}

struct ibv_cq *provider_cq(unsigned int n)
{
	return nth_object(CQ, n);
}

struct ibv_mr *provider_mr(unsigned int n)
{
	return nth_object(MR, n);
}

unsigned int provider_count(const char *kind)
{
	for (unsigned int n = 0; n < KINDS; n++)
		if (strcmp(kind, kind_names[n]) == 0)
			return kind_counts[n];
	abort();
}

/* ---- waiting ---- */

int wait_fd(int fd, const char *call)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	uint64_t count;

	for (;;) {
		int ready;

		/* honours O_NONBLOCK: the read is the kernel's own answer */
		ready = poll(&poller, 1, 0);
		if (ready == 0) {
			int flags = fcntl(fd, F_GETFL);

			if (flags & O_NONBLOCK) {
				errno = EAGAIN;
				return -1;
			}
			ready = poll(&poller, 1, PATIENCE_MS);
		}
		if (ready < 0)
			return -1;
		if (ready == 0) {
			misuse("%s: waits for ever", call);
			errno = ETIMEDOUT;
			return -1;
		}
		if (read(fd, &count, sizeof(count)) == sizeof(count))
			return 0;
		if (errno != EAGAIN)
			return -1;
	}
}

void raise_fd(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

void lower_fd(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	uint64_t count;

	/* a thread that waits may have taken it: it will find nothing */
	if (poll(&poller, 1, 0) == 1 &&
			read(fd, &count, sizeof(count)) != sizeof(count))
		abort();
}

/* ---- beginning ---- */

void calls_begin(void)
{
	records = mmap(NULL, sizeof(*records) * MAX_RECORDS,
		PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (records == MAP_FAILED)
		abort();
}

void calls_reset(void)
{
	struct object *object, *next;

	for (object = objects; object; object = next) {
		next = object->next;
		if (object->alive && object->kind == CHANNEL)
			close(((struct ibv_comp_channel *)object->address)->fd);
		if (object->alive && object->kind == EVENT_CHANNEL)
			close(((struct rdma_event_channel *)
				object->address)->fd);
		VALGRIND_MAKE_MEM_UNDEFINED(object->address, object->size);
		free(object->address);
		free(object->private_data);
		free(object);
	}
	objects = NULL;
	memset(kind_counts, 0, sizeof(kind_counts));
	record_count = 0;
	misuse_count = 0;
	calls_made = 0;
}
