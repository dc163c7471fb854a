/* SPDX-License-Identifier: BSD-3-Clause */
/* librdmacm */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "internal.h"

/* what a connection request and its answer can carry over TCP's port space */
#define MAX_CONNECT_DATA 56
#define MAX_ACCEPT_DATA 196
#define QP_INIT_SEND_OPS 0x40u
#define MAX_HOST_ADDRESSES 8

struct pending {
	struct object *id;	/* NULL: free */
	unsigned long order;
	enum rdma_cm_event_type type;
	int status;
	void *private_data;
	uint8_t len;
};

static struct pending pending[QUEUE];
static unsigned long orders;
/* an id without a channel of the user has one of its own in librdmacm */
static struct rdma_event_channel own_channel = {.fd = -1};

/* the result of a call that failed by plan, or that was given no live object */
static int failure(const struct call *call)
{
	if (!call->planned)
		errno = EINVAL;
	return !call->planned || call->fails ? -1 : (int)call->value;
}

/* ---- addresses ---- */

struct addresses {
	struct rdma_addrinfo info;
	struct sockaddr_storage source, destination;
};

/* what getaddrinfo() gives: the entries, as many as there are */
struct list {
	struct addrinfo infos[MAX_HOST_ADDRESSES];
	struct sockaddr_storage addresses[MAX_HOST_ADDRESSES];
};

static struct {
	char name[40];
	char addresses[MAX_HOST_ADDRESSES][INET6_ADDRSTRLEN];
	unsigned int count;
} host;
/* those that getaddrinfo() gave and that are not freed */
static unsigned int lists;

void provider_host(const char *name, const char *const *addresses)
{
	lock();
	snprintf(host.name, sizeof(host.name), "%s", name);
	for (host.count = 0; addresses[host.count]; host.count++) {
		if (host.count == MAX_HOST_ADDRESSES)
			abort();
		snprintf(host.addresses[host.count],
			sizeof(host.addresses[0]), "%s",
			addresses[host.count]);
	}
	unlock();
}

static const char *address_text(const struct sockaddr *address)
{
	static _Thread_local char texts[2][64];
	static _Thread_local unsigned int turn;
	char *text = texts[turn++ % 2];
	char node[INET6_ADDRSTRLEN];

	if (!address)
		return "none";
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 =
			(const struct sockaddr_in6 *)address;

		inet_ntop(AF_INET6, &in6->sin6_addr, node, sizeof(node));
		snprintf(text, sizeof(texts[0]), "[%s]:%u", node,
			ntohs(in6->sin6_port));
		return text;
	}
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;

	inet_ntop(AF_INET, &in->sin_addr, node, sizeof(node));
	snprintf(text, sizeof(texts[0]), "%s:%u", node, ntohs(in->sin_port));
	return text;
}

/* 0, or -1 when the text is no address: that of 0.0.0.0 then */
static int parse(const char *node, const char *service,
		struct sockaddr_storage *address)
{
	struct sockaddr_in *in = (struct sockaddr_in *)address;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	uint16_t port = htons(service ? (uint16_t)atoi(service) : 0);

	memset(address, 0, sizeof(*address));
	if (node && inet_pton(AF_INET6, node, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = port;
		return 0;
	}
	in->sin_family = AF_INET;
	in->sin_port = port;
	return node && inet_pton(AF_INET, node, &in->sin_addr) == 1 ? 0 : -1;
}

/* 127.0.0.0/8: it binds, and no device has it */
static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;

	return address->sa_family == AF_INET &&
		ntohl(in->sin_addr.s_addr) >> 24 == 127;
}

static bool is_host(const char *node)
{
	return node && host.count && strcmp(node, host.name) == 0;
}

int rdma_getaddrinfo(const char *node, const char *service,
		const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	struct call call = enter(CALL_rdma_getaddrinfo,
		"%s, %s, %s%s port_space=0x%x flags=0x%x", node ? node : "none",
		service ? service : "none", hints ? "" : "no hints",
		!hints ? "" : hints->ai_qp_type == IBV_QPT_RC ? "RC" :
			"another type",
		hints ? (unsigned int)hints->ai_port_space : 0,
		hints ? (unsigned int)hints->ai_flags : 0);
	struct object *object;

	if (call.planned) {
		leave(&call, "-");
		return failure(&call);
	}
	object = create(ADDRINFO, sizeof(struct addresses));

	struct addresses *addresses = object->address;
	bool passive = hints && hints->ai_flags & RAI_PASSIVE;
	struct sockaddr_storage *address =
		passive ? &addresses->source : &addresses->destination;

	parse(is_host(node) ? host.addresses[0] : node, service, address);
	addresses->info.ai_family = address->ss_family;
	addresses->info.ai_qp_type = IBV_QPT_RC;
	addresses->info.ai_port_space = RDMA_PS_TCP;
	if (passive) {
		addresses->info.ai_src_addr = (struct sockaddr *)address;
		addresses->info.ai_src_len = sizeof(*address);
	} else {
		addresses->info.ai_dst_addr = (struct sockaddr *)address;
		addresses->info.ai_dst_len = sizeof(*address);
	}
	*res = &addresses->info;
	leave(&call, "%s", object->name);
	return 0;
}

/*
 * The C library's: no call of rdma-core's, so neither it nor its lists have a
 * place in the log. It knows provider_host() and addresses.
 */
int getaddrinfo(const char *node, const char *service,
		const struct addrinfo *hints, struct addrinfo **res)
{
	struct sockaddr_storage address;
	unsigned int count;
	struct list *list;

	lock();
	if (!is_host(node) && parse(node, service, &address)) {
		unlock();
		return EAI_NONAME;
	}
	list = calloc(1, sizeof(*list));
	if (!list)
		abort();
	count = is_host(node) ? host.count : 1;
	for (unsigned int n = 0; n < count; n++) {
		parse(is_host(node) ? host.addresses[n] : node, service,
			&list->addresses[n]);
		list->infos[n] = (struct addrinfo){
			.ai_family = list->addresses[n].ss_family,
			.ai_socktype = hints->ai_socktype,
			.ai_addr = (struct sockaddr *)&list->addresses[n],
			.ai_addrlen = sizeof(list->addresses[n]),
			.ai_next = n + 1 < count ? &list->infos[n + 1] : NULL,
		};
	}
	*res = list->infos;
	lists++;
	unlock();
	return 0;
}

void freeaddrinfo(struct addrinfo *res)
{
	lock();
	if (!res || !lists)
		misuse("freeaddrinfo() of no list");
	else
		lists--;
	free(res);
	unlock();
}

unsigned int cm_lists(void)
{
	return lists;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct call call = enter(CALL_rdma_freeaddrinfo, "%s", name_of(res));
	struct object *object = need(ADDRINFO, res, "rdma_freeaddrinfo");

	if (object)
		destroy(object, false);
	leave_void(&call);
}

/* ---- event channels ---- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct call call = enter(CALL_rdma_create_event_channel, "%s", "");
	struct rdma_event_channel *channel;
	struct object *object;

	if (call.planned) {
		leave(&call, "-");
		return NULL;
	}
	object = create(EVENT_CHANNEL, sizeof(*channel));
	channel = object->address;
	channel->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (channel->fd < 0)
		abort();
	leave(&call, "%s", object->name);
	return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct call call = enter(CALL_rdma_destroy_event_channel, "%s",
		name_of(channel));
	struct object *object = need(EVENT_CHANNEL, channel,
		"rdma_destroy_event_channel");

	if (object) {
		close(channel->fd);
		destroy(object, false);
	}
	leave_void(&call);
}

static int channel_fd(const struct object *id)
{
	const struct object *channel = id->parents[0];

	return channel && channel->alive ?
		((struct rdma_event_channel *)channel->address)->fd : -1;
}

/* ---- ids ---- */

static struct object *create_id(struct object *channel)
{
	struct object *object = create(ID, sizeof(struct rdma_cm_id));
	struct rdma_cm_id *id = object->address;

	if (channel)
		parent(object, channel->address);
	else
		object->sync = true;
	id->channel = channel ? channel->address : &own_channel;
	id->ps = RDMA_PS_TCP;
	id->qp_type = IBV_QPT_RC;
	return object;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
		void *context, enum rdma_port_space ps)
{
	struct call call = enter(CALL_rdma_create_id, "%s, %s, 0x%x",
		name_of(channel), context ? "a context" : "none",
		(unsigned int)ps);
	struct object *object, *events = NULL;

	if (channel)
		events = need(EVENT_CHANNEL, channel, "rdma_create_id");
	if (call.planned || (channel && !events)) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	object = create_id(events);
	*id = object->address;
	(*id)->context = context;
	leave(&call, "%s", object->name);
	return 0;
}

static void drop_pending(struct object *id)
{
	for (unsigned int n = 0; n < QUEUE; n++) {
		if (pending[n].id != id)
			continue;
		if (channel_fd(id) >= 0)
			lower_fd(channel_fd(id));
		free(pending[n].private_data);
		pending[n] = (struct pending){.id = NULL};
	}
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct call call = enter(CALL_rdma_destroy_id, "%s", name_of(id));
	struct object *object = need(ID, id, "rdma_destroy_id");

	if (!object || call.planned) {
		if (call.planned)
			excuse(object);
		leave(&call, "EINVAL");
		return failure(&call);
	}
	if (object->parents[0] && !object->parents[0]->alive)
		misuse("%s destroyed after its event channel", object->name);
	drop_pending(object);
	destroy(object, false);
	leave(&call, "0");
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct call call = enter(CALL_rdma_migrate_id, "%s, %s", name_of(id),
		name_of(channel));
	struct object *object = need(ID, id, "rdma_migrate_id");
	struct object *events = channel ?
		need(EVENT_CHANNEL, channel, "rdma_migrate_id") : NULL;
	unsigned int moved = 0;

	if (!object || (channel && !events) || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	if (object->unacked)
		misuse("%s migrated with %u events not acked: waits for ever",
			object->name, object->unacked);
	for (unsigned int n = 0; n < QUEUE; n++)
		moved += pending[n].id == object;
	if (channel_fd(object) >= 0)
		for (unsigned int n = 0; n < moved; n++)
			lower_fd(channel_fd(object));
	if (object->parents[0])
		object->parents[0]->users--;
	object->parents[0] = events;
	object->sync = !events;
	if (events) {
		events->users++;
		for (unsigned int n = 0; n < moved; n++)
			raise_fd(channel->fd);
	}
	id->channel = events ? channel : &own_channel;
	leave(&call, "0");
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct call call = enter(CALL_rdma_bind_addr, "%s, %s", name_of(id),
		address_text(addr));

	if (!need(ID, id, "rdma_bind_addr") || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	if (provider_device.bind_finds_device && !is_loopback(addr))
		id->verbs = provider_context();
	leave(&call, "0");
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
		struct sockaddr *dst_addr, int timeout_ms)
{
	struct call call = enter(CALL_rdma_resolve_addr, "%s, %s, %s, %d",
		name_of(id), address_text(src_addr), address_text(dst_addr),
		timeout_ms);
	struct object *object = need(ID, id, "rdma_resolve_addr");

	if (!object || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	id->verbs = provider_context();
	leave(&call, "0");
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct call call = enter(CALL_rdma_resolve_route, "%s, %d", name_of(id),
		timeout_ms);

	if (!need(ID, id, "rdma_resolve_route") || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	leave(&call, "0");
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct call call = enter(CALL_rdma_listen, "%s, %d", name_of(id),
		backlog);
	struct object *object = need(ID, id, "rdma_listen");

	if (!object || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	object->listening = true;
	leave(&call, "0");
	return 0;
}

/* ---- QPs ---- */

int rdma_create_qp_ex(struct rdma_cm_id *id,
		struct ibv_qp_init_attr_ex *attr)
{
	char ops[64] = "";
	bool asks = attr->comp_mask & QP_INIT_SEND_OPS;

	if (asks)
		snprintf(ops, sizeof(ops), " send_ops=0x%llx",
			(unsigned long long)attr->send_ops_flags);
	struct call call = enter(CALL_rdma_create_qp_ex,
		"%s, %s, %s, send_cq=%s recv_cq=%s srq=%s, sq=%u rq=%u "
		"send_sge=%u recv_sge=%u inline=%u, sig_all=%d qp_context=%s "
		"comp_mask=0x%x%s", name_of(id), name_of(attr->pd),
		attr->qp_type == IBV_QPT_RC ? "RC" : "another type",
		name_of(attr->send_cq), name_of(attr->recv_cq),
		name_of(attr->srq), attr->cap.max_send_wr,
		attr->cap.max_recv_wr, attr->cap.max_send_sge,
		attr->cap.max_recv_sge, attr->cap.max_inline_data,
		attr->sq_sig_all, attr->qp_context ? "set" : "none",
		attr->comp_mask, ops);
	struct object *owner = need(ID, id, "rdma_create_qp_ex");
	uint32_t limit = (uint32_t)provider_device.max_qp_wr;
	struct object *object;
	struct ibv_qp *qp;
	int error = 0;

	if (!owner || !need(PD, attr->pd, "rdma_create_qp_ex") ||
	    !need(CQ, attr->send_cq, "rdma_create_qp_ex") ||
	    !need(CQ, attr->recv_cq, "rdma_create_qp_ex") ||
	    (attr->srq && !need(SRQ, attr->srq, "rdma_create_qp_ex")) ||
	    call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	if (attr->cap.max_send_wr > limit || attr->cap.max_recv_wr > limit ||
	    attr->cap.max_inline_data > provider_device.max_inline)
		error = EINVAL;
	if (asks && (attr->send_ops_flags & ~provider_device.send_ops))
		error = EOPNOTSUPP;
	if (error) {
		leave(&call, "%s", strerrorname_np(error));
		errno = error;
		return -1;
	}
	object = create(QP, qp_size());
	parent(object, attr->pd);
	parent(object, attr->send_cq);
	if (attr->recv_cq != attr->send_cq)
		parent(object, attr->recv_cq);
	if (attr->srq)
		parent(object, attr->srq);
	parent(object, id);
	qp = object->address;
	qp->context = attr->pd->context;
	qp->qp_context = attr->qp_context;
	qp->pd = attr->pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->qp_num = 0x3000 + object->number;
	qp->qp_type = IBV_QPT_RC;
	object->max_inline = attr->cap.max_inline_data;
	if (asks) {
		object->granted_ops = attr->send_ops_flags;
		qp_extend(qp, object->granted_ops);
	}
	id->qp = qp;
	id->pd = attr->pd;
	leave(&call, "%s", object->name);
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct call call = enter(CALL_rdma_destroy_qp, "%s", name_of(id));
	struct object *owner = need(ID, id, "rdma_destroy_qp");

	if (owner && id->qp) {
		struct object *object = need(QP, id->qp, "rdma_destroy_qp");

		if (object)
			destroy(object, false);
		id->qp = NULL;
	} else if (owner) {
		misuse("rdma_destroy_qp: %s has no QP", owner->name);
	}
	leave_void(&call);
}

/* ---- connecting ---- */

static const char *param_text(const struct rdma_conn_param *param)
{
	static _Thread_local char text[700];
	size_t length;

	if (!param)
		return "none";
	length = (size_t)snprintf(text, sizeof(text), "%s",
		param->private_data ? "data=" : "no data");
	for (unsigned int n = 0; param->private_data &&
			n < param->private_data_len && n < 60; n++)
		length += (size_t)snprintf(text + length,
			sizeof(text) - length, "%02x",
			((const unsigned char *)param->private_data)[n]);
	snprintf(text + length, sizeof(text) - length,
		" len=%u resources=%u depth=%u flow=%u retry=%u rnr=%u srq=%u "
		"qp_num=%u", param->private_data_len,
		param->responder_resources, param->initiator_depth,
		param->flow_control, param->retry_count,
		param->rnr_retry_count, param->srq, param->qp_num);
	return text;
}

static int answer(enum provider_call which, struct rdma_cm_id *id,
		struct rdma_conn_param *param, unsigned int max_data)
{
	struct call call = enter(which, "%s, %s", name_of(id),
		param_text(param));
	struct object *object = need(ID, id, "rdma_connect or rdma_accept");

	if (!object || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	if (object->sync)
		misuse("%s connects without an event channel: blocks",
			object->name);
	if (object->decided)
		misuse("%s connected or rejected twice", object->name);
	if (!id->qp)
		misuse("%s connects without a QP", object->name);
	if (param && param->private_data_len > max_data) {
		leave(&call, "EINVAL");
		errno = EINVAL;
		return -1;
	}
	object->decided = true;
	leave(&call, "0");
	return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return answer(CALL_rdma_connect, id, param, MAX_CONNECT_DATA);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct object *object = find(id);

	if (object && !object->passive)
		misuse("rdma_accept: %s is no incoming request", object->name);
	return answer(CALL_rdma_accept, id, param, MAX_ACCEPT_DATA);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data,
		uint8_t private_data_len)
{
	struct call call = enter(CALL_rdma_reject, "%s, %s len=%u", name_of(id),
		private_data ? "data" : "no data", private_data_len);
	struct object *object = need(ID, id, "rdma_reject");

	if (object && !object->passive)
		misuse("rdma_reject: %s is no incoming request", object->name);
	if (object && object->decided)
		misuse("%s connected or rejected twice", object->name);
	if (!object || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	object->decided = true;
	leave(&call, "0");
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	struct call call = enter(CALL_rdma_disconnect, "%s", name_of(id));

	if (!need(ID, id, "rdma_disconnect") || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	leave(&call, "0");
	return 0;
}

/* ---- CM events ---- */

static void queue_event(struct object *id, enum rdma_cm_event_type type,
		int status, const void *private_data, uint8_t len)
{
	if (!id || id->kind != ID || !id->alive)
		abort();
	for (unsigned int n = 0; n < QUEUE; n++) {
		if (pending[n].id)
			continue;
		pending[n] = (struct pending){.id = id, .order = ++orders,
			.type = type, .status = status, .len = len};
		if (private_data) {
			pending[n].private_data = malloc(len ? len : 1);
			if (!pending[n].private_data)
				abort();
			memcpy(pending[n].private_data, private_data, len);
		}
		if (channel_fd(id) >= 0)
			raise_fd(channel_fd(id));
		return;
	}
	abort();
}

void provider_event(struct rdma_cm_id *id, enum rdma_cm_event_type type,
		int status, const void *private_data, uint8_t len)
{
	lock();
	queue_event(find(id), type, status, private_data, len);
	unlock();
}

void provider_connect_request(struct rdma_cm_id *listener,
		const void *private_data, uint8_t len)
{
	provider_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0,
		private_data, len);
}

static struct pending *next_pending(const struct object *channel)
{
	struct pending *first = NULL;

	for (unsigned int n = 0; n < QUEUE; n++)
		if (pending[n].id && pending[n].id->parents[0] == channel &&
				(!first || pending[n].order < first->order))
			first = &pending[n];
	return first;
}

int rdma_get_cm_event(struct rdma_event_channel *channel,
		struct rdma_cm_event **event)
{
	struct call call = enter(CALL_rdma_get_cm_event, "%s",
		name_of(channel));
	struct object *object = need(EVENT_CHANNEL, channel,
		"rdma_get_cm_event");
	struct object *given, *subject;
	struct pending *source;
	int error;

	if (!object || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	do {
		unlock();
		error = wait_fd(channel->fd, "rdma_get_cm_event");
		lock();
		source = next_pending(object);
		/* none: it went with an id that was migrated or destroyed */
	} while (!error && !source);
	if (error) {
		error = errno;
		leave(&call, "%s", strerrorname_np(error));
		errno = error;
		return -1;
	}
	given = create(EVENT, sizeof(struct rdma_cm_event));
	given->counted = source->id;
	given->counted->unacked++;
	given->private_data = source->private_data;

	struct rdma_cm_event *filled = given->address;

	subject = source->id;
	if (source->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		filled->listen_id = source->id->address;
		subject = create_id(object);
		subject->passive = true;
		((struct rdma_cm_id *)subject->address)->verbs =
			provider_context();
	}
	concerns(subject->address);
	filled->id = subject->address;
	filled->event = source->type;
	filled->status = source->status;
	filled->param.conn.private_data = source->private_data;
	filled->param.conn.private_data_len = source->len;
	*event = filled;
	*source = (struct pending){.id = NULL};
	leave(&call, "%s %s %s", given->name, rdma_event_str(filled->event),
		subject->name);
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct call call = enter(CALL_rdma_ack_cm_event, "%s", name_of(event));
	struct object *object = need(EVENT, event, "rdma_ack_cm_event");

	/* one that fails by plan is over all the same: nothing could end it */
	if (object) {
		concerns(event->id);
		object->counted->unacked--;
		free(object->private_data);
		object->private_data = NULL;
		destroy(object, false);
	}
	if (!object || call.planned) {
		leave(&call, "EINVAL");
		return failure(&call);
	}
	leave(&call, "0");
	return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED", "RDMA_CM_EVENT_ADDR_ERROR",
		"RDMA_CM_EVENT_ROUTE_RESOLVED", "RDMA_CM_EVENT_ROUTE_ERROR",
		"RDMA_CM_EVENT_CONNECT_REQUEST",
		"RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR", "RDMA_CM_EVENT_UNREACHABLE",
		"RDMA_CM_EVENT_REJECTED", "RDMA_CM_EVENT_ESTABLISHED",
		"RDMA_CM_EVENT_DISCONNECTED", "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",
		"RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
		"RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	return (unsigned int)event < sizeof(names) / sizeof(names[0]) ?
		names[event] : "UNKNOWN EVENT";
}

void cm_reset(void)
{
	for (unsigned int n = 0; n < QUEUE; n++)
		free(pending[n].private_data);
	memset(pending, 0, sizeof(pending));
	orders = 0;
	host.count = 0;
	lists = 0;
}
