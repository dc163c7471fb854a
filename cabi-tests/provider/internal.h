/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the provider share. Each of these files uses only those
 * before it: plans.c, memory.c, calls.c, verbs.c, rdmacm.c, provider.c.
 */
#ifndef PROVIDER_INTERNAL_H
#define PROVIDER_INTERNAL_H 1

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include "provider.h"

/* ---- plans.c ---- */

void lock(void);
void unlock(void);

bool can_fail(enum provider_call call);

struct plan {
	bool pending;
	enum provider_call call;
	unsigned int countdown;
	bool fails;
	long value;
	int error;
	void (*after)(void);
};

/* the plan that comes true with this call, or NULL */
const struct plan *plan_due(enum provider_call call);
/* a plan came true: it failed this call, or (NULL) an allocation */
void note_failure(const char *call, int error);
/* forget them; how many those were that have not come true */
unsigned int plans_drop(void);
void plans_reset(void);

/* ---- memory.c ---- */

/* where an address lies, in words */
const char *place(const void *address);
/* forget the plan for an allocation; whether there was one */
bool memory_plan_drop(void);
void memory_begin(void);
void memory_reset(void);

/* ---- calls.c ---- */

enum kind {
	PD, MR, CHANNEL, CQ, SRQ, QP, ID, EVENT_CHANNEL, EVENT, ADDRINFO, KINDS
};

#define MAX_PARENTS 5
#define QUEUE 64

struct object {
	enum kind kind;
	unsigned int number;
	char name[24];
	void *address;			/* what the library holds */
	size_t size;
	bool alive;
	bool excused;			/* its destruction was failed by plan */
	struct object *parents[MAX_PARENTS];
	unsigned int users;		/* live objects that have this parent */
	unsigned int unacked;		/* events given out and not acked */
	struct object *next;

	bool armed;			/* CQ */
	struct ibv_wc wcs[QUEUE];
	unsigned int wc_first, wc_count;
	struct object *cq_events[QUEUE];	/* completion channel */
	unsigned int cq_event_first, cq_event_count;
	struct object *counted;		/* event: the id that waits for its ack */
	void *private_data;
	bool sync, passive, listening, decided;	/* ID */
	uint64_t granted_ops;			/* QP */
	uint32_t max_inline;
	bool wr_open;
};

/* one call between enter() and leave() */
struct call {
	unsigned int record;
	enum provider_call call;
	bool planned;
	bool fails;
	long value;
	int error;
	void (*after)(void);
};

/* log the call, count it, and find out whether a plan says that it fails */
struct call enter(enum provider_call call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* add the object to those that the call concerns */
void concerns(const void *address);
/* the result of the call, for the log; sets errno when it failed by plan */
void leave(const struct call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* of a call that has no result */
void leave_void(const struct call *call);

void misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct object *create(enum kind kind, size_t size);
struct object *parent(struct object *child, const void *address);
struct object *find(const void *address);
/* the live object; a misuse and NULL when it is none */
struct object *need(enum kind kind, const void *address, const char *call);
const char *name_of(const void *address);
/*
 * 0, or EBUSY when it has live users. What the kernel refuses although no
 * plan is the reason is a misuse, unless the caller may cause it.
 */
int destroy(struct object *object, bool callers_order);
void excuse(struct object *object);

/* wait for a count on the eventfd; 0, or -1 with errno */
int wait_fd(int fd, const char *call);
void raise_fd(int fd);
/* take back one raise_fd() */
void lower_fd(int fd);

void calls_begin(void);
void calls_reset(void);

/* ---- verbs.c ---- */

/* a QP has room for the extended operations; give it those that it was granted */
size_t qp_size(void);
void qp_extend(struct ibv_qp *qp, uint64_t ops);
void device_reset(void);

/* ---- rdmacm.c ---- */

void cm_reset(void);
/* lists of addresses that are not freed */
unsigned int cm_lists(void);

#endif /* PROVIDER_INTERNAL_H */
