/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for libibverbs and librdmacm, for tests of any librpma.so.0.
 *
 * Link a program with it (or preload it) in front of librpma: its functions
 * are found before those of rdma-core. It creates no device, opens no socket
 * and needs no privilege. It
 *  - keeps a log of every call as one line of text,
 *  - knows every object that is alive, and takes note of each misuse,
 *  - lets a test fail any call, any allocation of the library, or both,
 *  - delivers CM events and completions when the test says so, over real
 *    file descriptors that can be polled and made non-blocking.
 *
 * Objects are named by their kind and the order of their creation since the
 * last provider_reset(): pd1, mr1, cq1, channel1 (completion channel), srq1,
 * qp1, id1 (CM id), ec1 (event channel), event1 (CM event), addrinfo1. The
 * one device context is "context".
 */
#ifndef PROVIDER_H
#define PROVIDER_H 1

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/*
 * The calls. The first list can fail and is what "the n-th provider call"
 * counts; the second cannot fail and is only logged.
 */
#define PROVIDER_CALLS_THAT_CAN_FAIL(X) \
	X(ibv_alloc_pd) X(ibv_dealloc_pd) X(ibv_reg_mr) X(ibv_dereg_mr) \
	X(ibv_create_comp_channel) X(ibv_destroy_comp_channel) \
	X(ibv_create_cq) X(ibv_destroy_cq) X(ibv_get_cq_event) \
	X(ibv_create_srq) X(ibv_destroy_srq) X(ibv_query_device) \
	X(ibv_query_device_ex) X(ibv_advise_mr) X(ibv_req_notify_cq) \
	X(ibv_poll_cq) X(ibv_post_send) X(ibv_post_recv) X(ibv_post_srq_recv) \
	X(ibv_qp_to_qp_ex) X(ibv_wr_complete) X(ibv_modify_qp) \
	X(rdma_accept) X(rdma_ack_cm_event) X(rdma_bind_addr) X(rdma_connect) \
	X(rdma_create_event_channel) X(rdma_create_id) X(rdma_create_qp_ex) \
	X(rdma_destroy_id) X(rdma_disconnect) X(rdma_get_cm_event) \
	X(rdma_getaddrinfo) X(rdma_listen) X(rdma_migrate_id) X(rdma_reject) \
	X(rdma_resolve_addr) X(rdma_resolve_route)
#define PROVIDER_CALLS_THAT_CANNOT_FAIL(X) \
	X(ibv_ack_cq_events) X(ibv_wr_start) X(ibv_wr_flush) \
	X(ibv_wr_atomic_write) X(ibv_wr_abort) X(rdma_destroy_event_channel) \
	X(rdma_destroy_qp) X(rdma_freeaddrinfo)

enum provider_call {
	PROVIDER_ANY_CALL,
#define X(name) CALL_##name,
	PROVIDER_CALLS_THAT_CAN_FAIL(X)
	PROVIDER_CALLS_THAT_CANNOT_FAIL(X)
#undef X
	PROVIDER_CALLS
};

/*
 * Back to the beginning: no object, no plan, empty log, default device.
 * Handles from before are gone, whoever still holds them.
 */
void provider_reset(void);

/* ---- the device ---- */

struct provider_device {
	enum ibv_transport_type transport;	/* IB */
	uint64_t odp_general_caps;		/* 0 */
	uint32_t odp_rc_caps;			/* 0 */
	uint64_t device_cap_flags_ex;		/* 0 */
	int query_device_ex;			/* 1: the driver has it */
	int advise_mr;				/* 1: the driver has it */
	int max_cqe, max_qp_wr, max_srq_wr;	/* 65536 */
	uint64_t send_ops;			/* 0: no extended QPs at all */
	uint32_t max_inline;			/* 64: more is refused */
	/* access bits that ibv_reg_mr() knows; others give EINVAL */
	unsigned int mr_access;
	/* 1: rdma_bind_addr() finds the device, but never at 127.0.0.0/8 */
	int bind_finds_device;
};
extern struct provider_device provider_device;
/* apply changes of .transport, .query_device_ex and .advise_mr */
struct ibv_context *provider_context(void);

/*
 * A host name that stands for these addresses, NULL at the end. There is one
 * at a time; any other name is that of 0.0.0.0 for rdma_getaddrinfo(), and
 * unknown to getaddrinfo(3).
 */
void provider_host(const char *name, const char *const *addresses);

/*
 * 64 KiB at a fixed address; the log shows addresses inside as mem+OFFSET.
 * Any other address is shown in hex, unless it is the library's own memory:
 * private+OFFSET.
 */
#define PROVIDER_MEMORY_SIZE 65536
extern unsigned char *const provider_memory;

/* ---- plans ---- */

/* the n-th (1 is the next) call of this kind fails with this errno */
void provider_fail(enum provider_call call, unsigned int nth, int error);
/*
 * The n-th call of this kind does nothing but return the value (converted to
 * the call's type), errno set to error unless that is 0.
 */
void provider_return(enum provider_call call, unsigned int nth, long value,
		int error);
/*
 * When the n-th call of this kind has taken effect, and before it returns,
 * call this: what another thread does at the worst moment.
 */
void provider_after(enum provider_call call, unsigned int nth,
		void (*function)(void));
/* the n-th allocation that the library itself makes finds no memory */
void provider_fail_allocation(unsigned int nth);
/* the last mapping that the library made: its flags and its size */
int provider_mapping_flags(void);
size_t provider_mapping_size(void);
/* drop plans that have not come true; how many those were */
unsigned int provider_clear_plans(void);
/* calls that can fail, and allocations by the library, since the reset */
unsigned int provider_calls_made(void);
unsigned int provider_allocations_made(void);
/*
 * The planned failures that came true since the reset, in order: how many,
 * what the n-th (0 is the first) failed (NULL: an allocation) and its errno.
 */
unsigned int provider_failures(void);
const char *provider_failed_call(unsigned int n);
int provider_failed_errno(unsigned int n);

/* ---- events and completions ---- */

/* the n-th CM id, event channel ... ever made since the reset, or NULL */
struct rdma_cm_id *provider_id(unsigned int n);
struct ibv_qp *provider_qp(unsigned int n);
struct ibv_cq *provider_cq(unsigned int n);
struct ibv_mr *provider_mr(unsigned int n);
/* how many of that kind ("pd", "id", "cq" ...) were ever made */
unsigned int provider_count(const char *kind);

/*
 * Queue a CM event on the channel that the id has when the event is fetched.
 * The private data is copied; the copy is freed when the event is acked.
 */
void provider_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
		int status, const void *private_data, uint8_t len);
/* a client asks to connect: a new id appears when the event is fetched */
void provider_connect_request(struct rdma_cm_id *listener,
		const void *private_data, uint8_t len);
/* put a completion into the CQ; raises an event when the CQ was armed */
void provider_completion(struct ibv_cq *cq, const struct ibv_wc *wc);
/* raise a completion event for the CQ on another CQ's channel */
void provider_stray_cq_event(struct ibv_cq *channel_of, struct ibv_cq *cq);

/* ---- what happened ---- */

/* calls in the log, and the n-th (0 is the first): "name(arguments) = result" */
unsigned int provider_log_length(void);
const char *provider_log_line(unsigned int n);
/* the objects that the n-th call concerns, by name, NULL at the end */
const char *const *provider_log_objects(unsigned int n);
/*
 * The log in its normal form: for each object, the calls that concern it in
 * their order. How calls on different objects interleave does not show.
 */
void provider_print_normal_form(void);
/* forget the log so far (objects stay) */
void provider_log_clear(void);

/*
 * Misuse so far: an object used after it was destroyed, destroyed twice or
 * in an order that the kernel refuses, a wait that would never end ...
 */
unsigned int provider_misuses(void);
const char *provider_misuse(unsigned int n);
void provider_forget_misuses(void);

/*
 * Objects and blocks of memory of the library that are alive. One whose
 * destruction was failed by a plan is nobody's fault and does not count.
 */
unsigned int provider_alive(void);
/* their names, one text */
const char *provider_alive_names(void);
/* blocks of memory that the library holds */
unsigned int provider_blocks(void);

#endif /* PROVIDER_H */
