/* SPDX-License-Identifier: BSD-3-Clause */
/* libibverbs: its functions, and the operations behind the inline ones */
#define _GNU_SOURCE
#include <endian.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <valgrind/memcheck.h>
#include "internal.h"

/* the header turns it into an inline function */
#undef ibv_reg_mr

/* IBV_ACCESS_OPTIONAL_RANGE and up: ignored when a device does not know them */
#define OPTIONAL_ACCESS 0x3ff00000u

struct provider_device provider_device;

static struct ibv_device device;
static struct verbs_context verbs = {
	.context.cmd_fd = -1,
	.context.async_fd = -1,
	.context.num_comp_vectors = 1,
};

static const char *flag_text(char *text, size_t size, unsigned int flags,
		const char *const *names, unsigned int count)
{
	size_t length = 0;

	text[0] = '\0';
	for (unsigned int n = 0; n < 32; n++) {
		if (!(flags & (1u << n)))
			continue;
		if (n < count && names[n])
			length += (size_t)snprintf(text + length,
				size - length, "%s%s", length ? "|" : "",
				names[n]);
		else
			length += (size_t)snprintf(text + length,
				size - length, "%s0x%x", length ? "|" : "",
				1u << n);
	}
	return length ? text : "0";
}

static const char *access_text(unsigned int access)
{
	static const char *const names[] = {
		"LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC",
		"MW_BIND", "ZERO_BASED", "ON_DEMAND", "HUGETLB",
		"FLUSH_GLOBAL", "FLUSH_PERSISTENT",
	};
	static _Thread_local char text[128];

	return flag_text(text, sizeof(text), access, names,
		sizeof(names) / sizeof(names[0]));
}

static const char *send_flags_text(unsigned int flags)
{
	static const char *const names[] = {
		"FENCE", "SIGNALED", "SOLICITED", "INLINE", "IP_CSUM",
	};
	static _Thread_local char text[128];

	return flag_text(text, sizeof(text), flags, names,
		sizeof(names) / sizeof(names[0]));
}

/* ---- device ---- */

static int query_device_ex(struct ibv_context *context,
		const struct ibv_query_device_ex_input *input,
		struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct call call = enter(CALL_ibv_query_device_ex, "%s",
		input && input->comp_mask ? "comp_mask" : "");
	int saved = errno;

	(void)context;
	if (call.planned) {
		leave(&call, "-");
		errno = saved;
		return call.fails ? call.error : (int)call.value;
	}
	memset(attr, 0, attr_size);
	attr->orig_attr.max_cqe = provider_device.max_cqe;
	attr->orig_attr.max_qp_wr = provider_device.max_qp_wr;
	attr->odp_caps.general_caps = provider_device.odp_general_caps;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		provider_device.odp_rc_caps;
	attr->device_cap_flags_ex = provider_device.device_cap_flags_ex;
	leave(&call, "0");
	return 0;
}

int ibv_query_device(struct ibv_context *context,
		struct ibv_device_attr *device_attr)
{
	struct call call = enter(CALL_ibv_query_device, "%s", "");
	int saved = errno;

	(void)context;
	if (call.planned) {
		leave(&call, "-");
		errno = saved;
		return call.fails ? call.error : (int)call.value;
	}
	memset(device_attr, 0, sizeof(*device_attr));
	device_attr->max_cqe = provider_device.max_cqe;
	device_attr->max_qp_wr = provider_device.max_qp_wr;
	leave(&call, "0");
	return 0;
}

/* ---- PD and MR ---- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct call call = enter(CALL_ibv_alloc_pd, "%s",
		context == &verbs.context ? "context" : "a stranger");
	struct object *object;
	struct ibv_pd *pd;

	if (call.planned) {
		leave(&call, "-");
		return NULL;
	}
	object = create(PD, sizeof(*pd));
	pd = object->address;
	pd->context = context;
	leave(&call, "%s", object->name);
	return pd;
}

/* what follows is common to all calls that destroy and return a code */
static int destroy_call(enum provider_call which, enum kind kind, void *address,
		bool callers_order)
{
	struct call call = enter(which, "%s", name_of(address));
	struct object *object = need(kind, address, "destroy");
	int saved = errno;
	int error;

	if (!object) {
		leave(&call, "EINVAL");
		return EINVAL;
	}
	if (call.planned) {
		excuse(object);
		leave(&call, "-");
		errno = saved;
		return call.fails ? call.error : (int)call.value;
	}
	error = destroy(object, callers_order);
	leave(&call, "%s", error ? strerrorname_np(error) : "0");
	errno = saved;
	return error;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return destroy_call(CALL_ibv_dealloc_pd, PD, pd, true);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		int access)
{
	struct call call = enter(CALL_ibv_reg_mr, "%s, %s, %zu, %s",
		name_of(pd), place(addr), length,
		access_text((unsigned int)access));
	struct object *object;
	struct ibv_mr *mr;

	if (!need(PD, pd, "ibv_reg_mr") || call.planned) {
		leave(&call, "EINVAL");
		return NULL;
	}
	if ((unsigned int)access & ~provider_device.mr_access &
			~OPTIONAL_ACCESS) {
		leave(&call, "EINVAL");
		errno = EINVAL;
		return NULL;
	}
	object = create(MR, sizeof(*mr));
	parent(object, pd);
	mr = object->address;
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = 0x1000 + object->number;
	mr->rkey = 0x2000 + object->number;
	leave(&call, "%s", object->name);
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
		uint64_t iova, unsigned int access)
{
	if (iova != (uintptr_t)addr)
		misuse("ibv_reg_mr_iova2: iova is not the address");
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	return destroy_call(CALL_ibv_dereg_mr, MR, mr, false);
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		uint32_t flags, struct ibv_sge *list, uint32_t count)
{
	char text[300];
	size_t length = 0;
	int saved = errno;

	text[0] = '\0';
	for (uint32_t n = 0; n < count && length < 200; n++)
		length += (size_t)snprintf(text + length,
			sizeof(text) - length, ", [%s, %u, 0x%x]",
			place((void *)(uintptr_t)list[n].addr),
			list[n].length, list[n].lkey);
	struct call call = enter(CALL_ibv_advise_mr, "%s, %d, 0x%x%s",
		name_of(pd), (int)advice, flags, text);
	need(PD, pd, "ibv_advise_mr");
	leave(&call, "0");
	errno = saved;
	if (call.planned)
		return call.fails ? call.error : (int)call.value;
	return 0;
}

/* ---- completion channels and CQs ---- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct call call = enter(CALL_ibv_create_comp_channel, "%s",
		context == &verbs.context ? "context" : "a stranger");
	struct ibv_comp_channel *channel;
	struct object *object;

	if (call.planned) {
		leave(&call, "-");
		return NULL;
	}
	object = create(CHANNEL, sizeof(*channel));
	channel = object->address;
	channel->context = context;
	channel->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (channel->fd < 0)
		abort();
	leave(&call, "%s", object->name);
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct object *object = find(channel);
	int fd = object && object->alive ? channel->fd : -1;
	int error = destroy_call(CALL_ibv_destroy_comp_channel, CHANNEL,
		channel, false);

	if (!error)
		close(fd);
	return error;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
		void *cq_context, struct ibv_comp_channel *channel,
		int comp_vector)
{
	struct call call = enter(CALL_ibv_create_cq, "%s, %d, %s, %s, %d",
		context == &verbs.context ? "context" : "a stranger", cqe,
		cq_context ? "a cq_context" : "none", name_of(channel),
		comp_vector);
	struct object *object;
	struct ibv_cq *cq;

	if ((channel && !need(CHANNEL, channel, "ibv_create_cq")) ||
			call.planned) {
		leave(&call, "EINVAL");
		return NULL;
	}
	if (cqe < 1 || cqe > provider_device.max_cqe) {
		leave(&call, "EINVAL");
		errno = EINVAL;
		return NULL;
	}
	object = create(CQ, sizeof(*cq));
	parent(object, channel);
	cq = object->address;
	cq->context = context;
	cq->channel = channel;
	cq->cq_context = cq_context;
	cq->cqe = cqe;
	if (channel)
		channel->refcnt++;
	leave(&call, "%s", object->name);
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct object *object = find(cq);
	struct ibv_comp_channel *channel =
		object && object->alive ? cq->channel : NULL;
	int error = destroy_call(CALL_ibv_destroy_cq, CQ, cq, false);

	if (!error && channel && find(channel)->alive)
		channel->refcnt--;
	return error;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct call call = enter(CALL_ibv_req_notify_cq, "%s, %d", name_of(cq),
		solicited_only);
	struct object *object = need(CQ, cq, "ibv_req_notify_cq");
	int saved = errno;

	if (object && !call.planned)
		object->armed = true;
	leave(&call, "0");
	errno = saved;
	if (call.planned)
		return call.fails ? call.error : (int)call.value;
	return object ? 0 : EINVAL;
}

static void push_cq_event(struct object *channel, struct object *cq)
{
	if (channel->cq_event_count == QUEUE)
		abort();
	channel->cq_events[(channel->cq_event_first +
		channel->cq_event_count++) % QUEUE] = cq;
	raise_fd(((struct ibv_comp_channel *)channel->address)->fd);
}

void provider_completion(struct ibv_cq *cq, const struct ibv_wc *wc)
{
	lock();
	struct object *object = find(cq);

	if (!object || !object->alive || object->wc_count == QUEUE)
		abort();
	object->wcs[(object->wc_first + object->wc_count++) % QUEUE] = *wc;
	if (object->armed && cq->channel) {
		object->armed = false;
		push_cq_event(find(cq->channel), object);
	}
	unlock();
}

void provider_stray_cq_event(struct ibv_cq *channel_of, struct ibv_cq *cq)
{
	lock();
	push_cq_event(find(channel_of->channel), find(cq));
	unlock();
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		void **cq_context)
{
	struct call call = enter(CALL_ibv_get_cq_event, "%s",
		name_of(channel));
	struct object *object = need(CHANNEL, channel, "ibv_get_cq_event");
	int error;

	if (!object || call.planned) {
		leave(&call, "EINVAL");
		return -1;
	}
	unlock();
	error = wait_fd(channel->fd, "ibv_get_cq_event");
	lock();
	if (error) {
		error = errno;
		leave(&call, "%s", strerrorname_np(error));
		errno = error;
		return -1;
	}
	struct object *source = object->cq_events[object->cq_event_first];

	object->cq_event_first = (object->cq_event_first + 1) % QUEUE;
	object->cq_event_count--;
	source->unacked++;
	concerns(source->address);
	*cq = source->address;
	*cq_context = (*cq)->cq_context;
	leave(&call, "%s", source->name);
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	struct call call = enter(CALL_ibv_ack_cq_events, "%s, %u", name_of(cq),
		nevents);
	struct object *object = need(CQ, cq, "ibv_ack_cq_events");

	if (object && object->unacked < nevents) {
		misuse("%s: %u events acked of %u", object->name, nevents,
			object->unacked);
		object->unacked = 0;
	} else if (object) {
		object->unacked -= nevents;
	}
	leave_void(&call);
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct call call = enter(CALL_ibv_poll_cq, "%s, %d", name_of(cq),
		num_entries);
	struct object *object = need(CQ, cq, "ibv_poll_cq");
	int got = 0;

	if (!object || call.planned) {
		leave(&call, "-1");
		return call.fails || !object ? -1 : (int)call.value;
	}
	while (got < num_entries && object->wc_count) {
		wc[got++] = object->wcs[object->wc_first];
		object->wc_first = (object->wc_first + 1) % QUEUE;
		object->wc_count--;
	}
	leave(&call, "%d", got);
	return got;
}

/* ---- SRQ ---- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd,
		struct ibv_srq_init_attr *attr)
{
	struct call call = enter(CALL_ibv_create_srq,
		"%s, %s, max_wr=%u max_sge=%u limit=%u", name_of(pd),
		attr->srq_context ? "a srq_context" : "none",
		attr->attr.max_wr, attr->attr.max_sge, attr->attr.srq_limit);
	struct object *object;
	struct ibv_srq *srq;

	if (!need(PD, pd, "ibv_create_srq") || call.planned) {
		leave(&call, "EINVAL");
		return NULL;
	}
	if (attr->attr.max_wr < 1 ||
			attr->attr.max_wr > (uint32_t)provider_device.max_srq_wr) {
		leave(&call, "EINVAL");
		errno = EINVAL;
		return NULL;
	}
	object = create(SRQ, sizeof(*srq));
	parent(object, pd);
	srq = object->address;
	srq->context = pd->context;
	srq->pd = pd;
	leave(&call, "%s", object->name);
	return srq;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	return destroy_call(CALL_ibv_destroy_srq, SRQ, srq, true);
}

/* ---- posting ---- */

static const char *sges_text(const struct ibv_sge *list, int count)
{
	static _Thread_local char text[200];
	size_t length;

	if (count == 0)
		return list ? "no sge but a list" : "no sge";
	length = (size_t)snprintf(text, sizeof(text), "%s", "");
	for (int n = 0; n < count && n < 4; n++) {
		length += (size_t)snprintf(text + length,
			sizeof(text) - length, "%s[%s, %u, 0x%x]",
			n ? " " : "", place((void *)(uintptr_t)list[n].addr),
			list[n].length, list[n].lkey);
	}
	return text;
}

static const char *opcode_text(enum ibv_wr_opcode opcode)
{
	static const char *const names[] = {
		"RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM",
		"RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD",
	};

	return (unsigned int)opcode < sizeof(names) / sizeof(names[0]) ?
		names[opcode] : "another opcode";
}

/* drivers read these members for every opcode */
static void check_head(const struct ibv_send_wr *wr)
{
	(void)wr;	/* valgrind's macros are empty where it has no port */
	if (VALGRIND_CHECK_MEM_IS_DEFINED(&wr->wr_id, sizeof(wr->wr_id)) ||
	    VALGRIND_CHECK_MEM_IS_DEFINED(&wr->sg_list,
			sizeof(wr->sg_list)) ||
	    VALGRIND_CHECK_MEM_IS_DEFINED(&wr->imm_data,
			sizeof(wr->imm_data)) ||
	    VALGRIND_CHECK_MEM_IS_DEFINED(&wr->wr.rdma.remote_addr,
			sizeof(wr->wr.rdma.remote_addr)) ||
	    VALGRIND_CHECK_MEM_IS_DEFINED(&wr->wr.rdma.rkey,
			sizeof(wr->wr.rdma.rkey)))
		misuse("ibv_post_send: parts of the work request were never set");
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		struct ibv_send_wr **bad_wr)
{
	char bytes[64] = "";

	if (wr->send_flags & IBV_SEND_INLINE)
		for (int n = 0; n < wr->num_sge; n++)
			for (uint32_t i = 0; i < wr->sg_list[n].length &&
					i < 16; i++)
				snprintf(bytes + strlen(bytes),
					sizeof(bytes) - strlen(bytes), "%s%02x",
					i ? "" : " data=",
					((unsigned char *)(uintptr_t)
					wr->sg_list[n].addr)[i]);
	check_head(wr);
	/* where inline data lies is of no interest, what it holds is */
	bool local = wr->send_flags & IBV_SEND_INLINE && wr->num_sge == 1;
	char inlined[64];

	if (local)
		snprintf(inlined, sizeof(inlined), "[inline, %u, 0x%x]",
			wr->sg_list[0].length, wr->sg_list[0].lkey);
	struct call call = enter(CALL_ibv_post_send,
		"%s, 0x%llx, %s, %s, %s, remote=%s rkey=0x%x imm=0x%x%s%s",
		name_of(qp), (unsigned long long)wr->wr_id,
		opcode_text(wr->opcode), send_flags_text(wr->send_flags),
		local ? inlined : sges_text(wr->sg_list, wr->num_sge),
		wr->wr.rdma.remote_addr ?
			place((void *)(uintptr_t)wr->wr.rdma.remote_addr) : "0",
		wr->wr.rdma.rkey, be32toh(wr->imm_data), bytes,
		wr->next ? " chained" : "");
	struct object *object = need(QP, qp, "ibv_post_send");
	int saved = errno;

	if (object && local && wr->sg_list[0].length > object->max_inline)
		misuse("%s: %u bytes inline, of %u", object->name,
			wr->sg_list[0].length, object->max_inline);

	leave(&call, "0");
	errno = saved;
	if (!object || (call.planned && (call.fails || call.value))) {
		*bad_wr = wr;
		return !object ? EINVAL : call.fails ? call.error :
			(int)call.value;
	}
	return 0;
}

static int post_receive(enum provider_call which, enum kind kind,
		void *address, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad_wr)
{
	struct call call = enter(which, "%s, 0x%llx, %s%s", name_of(address),
		(unsigned long long)wr->wr_id,
		sges_text(wr->sg_list, wr->num_sge),
		wr->next ? " chained" : "");
	struct object *object = need(kind, address, "ibv_post_recv");
	int saved = errno;

	leave(&call, "0");
	errno = saved;
	if (!object || (call.planned && (call.fails || call.value))) {
		*bad_wr = wr;
		return !object ? EINVAL : call.fails ? call.error :
			(int)call.value;
	}
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad_wr)
{
	return post_receive(CALL_ibv_post_recv, QP, qp, wr, bad_wr);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad_wr)
{
	return post_receive(CALL_ibv_post_srq_recv, SRQ, srq, wr, bad_wr);
}

/* ---- QPs ---- */

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct call call = enter(CALL_ibv_modify_qp, "%s, min_rnr_timer=%d%s",
		name_of(qp), attr_mask & IBV_QP_MIN_RNR_TIMER ?
		attr->min_rnr_timer : -1,
		attr_mask & ~IBV_QP_MIN_RNR_TIMER ? " and more" : "");
	struct object *object = need(QP, qp, "ibv_modify_qp");
	int saved = errno;

	/* the driver hands all of it to the kernel */
	if (VALGRIND_CHECK_MEM_IS_DEFINED(attr, sizeof(*attr)))
		misuse("ibv_modify_qp: parts of the attributes were never set");
	leave(&call, "0");
	errno = call.planned && call.error ? call.error : saved;
	if (call.planned)
		return call.fails ? call.error : (int)call.value;
	return object ? 0 : EINVAL;
}

/* ---- extended QPs ---- */

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct call call = enter(CALL_ibv_qp_to_qp_ex, "%s", name_of(qp));
	struct object *object = need(QP, qp, "ibv_qp_to_qp_ex");
	bool extended = object && object->granted_ops && !call.planned;

	leave(&call, "%s", extended ? "extended" : "none");
	return extended ? (struct ibv_qp_ex *)qp : NULL;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	struct call call = enter(CALL_ibv_wr_start, "%s", name_of(qp));
	struct object *object = need(QP, qp, "ibv_wr_start");

	if (object && object->wr_open)
		misuse("%s: work requests started twice", object->name);
	if (object)
		object->wr_open = true;
	leave_void(&call);
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct call call = enter(CALL_ibv_wr_complete, "%s", name_of(qp));
	struct object *object = need(QP, qp, "ibv_wr_complete");
	int saved = errno;

	if (object && !object->wr_open)
		misuse("%s: completed but not started", object->name);
	if (object)
		object->wr_open = false;
	leave(&call, "0");
	errno = saved;
	if (call.planned)
		return call.fails ? call.error : (int)call.value;
	return object ? 0 : EINVAL;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	struct call call = enter(CALL_ibv_wr_abort, "%s", name_of(qp));
	struct object *object = need(QP, qp, "ibv_wr_abort");

	if (object)
		object->wr_open = false;
	leave_void(&call);
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address,
		size_t length, uint8_t type, uint8_t level)
{
	struct call call = enter(CALL_ibv_wr_flush,
		"%s, 0x%llx, %s, rkey=0x%x remote=%s %zu type=%u level=%u",
		name_of(qp), (unsigned long long)qp->wr_id,
		send_flags_text(qp->wr_flags), rkey,
		place((void *)(uintptr_t)address), length, type, level);
	struct object *object = need(QP, qp, "ibv_wr_flush");

	if (object && !object->wr_open)
		misuse("%s: flush outside of a batch", object->name);
	leave_void(&call);
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey,
		uint64_t address, const void *data)
{
	const unsigned char *byte = data;
	struct call call = enter(CALL_ibv_wr_atomic_write,
		"%s, 0x%llx, %s, rkey=0x%x remote=%s "
		"data=%02x%02x%02x%02x%02x%02x%02x%02x",
		name_of(qp), (unsigned long long)qp->wr_id,
		send_flags_text(qp->wr_flags), rkey,
		place((void *)(uintptr_t)address), byte[0], byte[1], byte[2],
		byte[3], byte[4], byte[5], byte[6], byte[7]);
	struct object *object = need(QP, qp, "ibv_wr_atomic_write");

	if (object && !object->wr_open)
		misuse("%s: atomic write outside of a batch", object->name);
	leave_void(&call);
}

/* ibv_qp_ex as rdma-core 45 and later have it */
struct qp_memory {
	struct ibv_qp_ex qp_ex;
	void (*wr_flush)(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address,
		size_t length, uint8_t type, uint8_t level);
	uint64_t room[8];
};

#define SEND_OP_FLUSH 0x800u
#define SEND_OP_ATOMIC_WRITE 0x1000u
/* after what rdma-core 44's headers have last */
#define WR_FLUSH_OFFSET (offsetof(struct ibv_qp_ex, wr_atomic_write) + sizeof(void (*)(void)))

size_t qp_size(void)
{
	return sizeof(struct qp_memory);
}

void qp_extend(struct ibv_qp *qp, uint64_t ops)
{
	struct ibv_qp_ex *qp_ex = (struct ibv_qp_ex *)qp;
	void (*flush)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t,
		uint8_t) = ops & SEND_OP_FLUSH ? wr_flush : NULL;

	qp_ex->wr_start = wr_start;
	qp_ex->wr_complete = wr_complete;
	qp_ex->wr_abort = wr_abort;
	if (ops & SEND_OP_ATOMIC_WRITE)
		qp_ex->wr_atomic_write = wr_atomic_write;
	memcpy((char *)qp_ex + WR_FLUSH_OFFSET, &flush, sizeof(flush));
}

/* ---- context ---- */

/* other threads read it all the time, so it is written only to change it */
static bool context_is_current(void)
{
	return verbs.context.device &&
		device.transport_type == provider_device.transport &&
		!verbs.query_device_ex == !provider_device.query_device_ex &&
		!verbs.advise_mr == !provider_device.advise_mr;
}

struct ibv_context *provider_context(void)
{
	if (context_is_current())
		return &verbs.context;
	device.transport_type = provider_device.transport;
	device.node_type = provider_device.transport == IBV_TRANSPORT_IWARP ?
		IBV_NODE_RNIC : IBV_NODE_CA;
	strcpy(device.name, "provider0");
	verbs.sz = sizeof(verbs);
	verbs.query_device_ex = provider_device.query_device_ex ?
		query_device_ex : NULL;
	verbs.advise_mr = provider_device.advise_mr ? advise_mr : NULL;
	verbs.context.device = &device;
	verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs.context.ops.poll_cq = poll_cq;
	verbs.context.ops.req_notify_cq = req_notify_cq;
	verbs.context.ops.post_send = post_send;
	verbs.context.ops.post_recv = post_recv;
	verbs.context.ops.post_srq_recv = post_srq_recv;
	return &verbs.context;
}

void device_reset(void)
{
	provider_device = (struct provider_device){
		.transport = IBV_TRANSPORT_IB,
		.query_device_ex = 1,
		.advise_mr = 1,
		.max_cqe = 65536,
		.max_qp_wr = 65536,
		.max_srq_wr = 65536,
		.max_inline = 64,
		.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			IBV_ACCESS_ON_DEMAND,
		.bind_finds_device = 1,
	};
	provider_context();
}
