/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model: every object that exists, what was promised about it, and the calls
 * on it with good and bad arguments. It follows the contract, not the sources:
 * nothing here is taken from what the library does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include "fuzz.h"

#define SLOTS 5
#define MANY 64		/* per input, of what is counted and not reused */
#define PENDING 40	/* CM events that wait, all channels together */
#define UNTOUCHED ((void *)(uintptr_t)0xa11ce)
#define QP_BASE 0x3000
#define LKEY_BASE 0x1000
#define RKEY_BASE 0x2000

#define ARRAY(array) (sizeof(array) / sizeof((array)[0]))

/* ---- objects ---- */

struct domain {			/* a peer, which its children may outlive */
	unsigned int children;	/* on its PD */
	unsigned int pd;	/* the provider's number of it */
	bool gone;		/* the PD is */
	uint64_t no_inline_from;	/* sq_size + 1 of the smallest QP that got no inline data, or 0 */
};

struct completions {
	bool exists;
	struct ibv_cq *cq;
	bool armed;
	uint64_t wr_id[64];
	unsigned int first, count;
	unsigned int events;	/* on a channel of its own */
};

struct event {
	enum rdma_cm_event_type type;
	unsigned char data[256];
	uint8_t len;
};

struct events {
	struct event list[PENDING];
	unsigned int count;
};

struct peer {
	struct rpma_peer *h;
	struct domain *domain;
};

struct mr {
	struct rpma_mr_local *h;
	struct domain *domain;
	uint64_t address, size;
	uint32_t lkey, rkey;
	int usage;
};

struct remote {
	struct rpma_mr_remote *h;
	uint64_t address, size;
	uint32_t rkey;
	uint8_t usage;
};

struct pcfg {
	struct rpma_peer_cfg *h;
	bool direct;
};

struct srq {
	struct rpma_srq *h;
	struct domain *domain;
	unsigned int number;	/* of the provider's SRQ */
	unsigned int users;	/* QPs */
	struct completions rcq;
};

struct ccfg {
	struct rpma_conn_cfg *h;
	int timeout;
	uint32_t cq, rcq, sq, rq;
	bool shared;
	struct srq *srq;
	struct rpma_srq *srq_handle;
	bool stale;		/* its SRQ is deleted: not for use */
};

struct scfg {
	struct rpma_srq_cfg *h;
	uint32_t rq, rcq;
};

struct ep {
	struct rpma_ep *h;
	struct domain *domain;
	struct rdma_cm_id *id;
	struct events events;
};

struct link {			/* what a request and its connection share */
	struct domain *domain;
	struct rdma_cm_id *id;
	unsigned int qp;	/* number */
	bool incoming, shared;
	bool native_flush, native_atomic_write, no_inline;
	struct completions cq, rcq;
	unsigned int order[64], order_first, order_count;	/* 0 cq, 1 rcq */
	struct srq *srq;
	unsigned char data[256];
	uint8_t len;
	const void *told;	/* where the data are, once told */
};

struct req {
	struct rpma_conn_req *h;
	struct link link;
};

struct conn {
	struct rpma_conn *h;
	struct link link;
	bool direct;
	bool established;	/* the event for it was sent */
	struct events events;
};

static struct domain domains[MANY];
static unsigned int domain_count;
static struct peer peers[SLOTS];
static struct mr mrs[SLOTS];
static struct remote remotes[SLOTS];
static struct pcfg pcfgs[SLOTS];
static struct srq srqs[SLOTS];
static struct ccfg ccfgs[SLOTS];
static struct scfg scfgs[SLOTS];
static struct ep eps[SLOTS];
static struct req reqs[SLOTS];
static struct conn conns[SLOTS];
static unsigned int pending;		/* CM events */
static unsigned int abandoned;		/* left alive by deletes that came too early */
static bool stuck;			/* an object on a PD did not go, by plan */
static unsigned char shared_data[256];

/* some that is in use, or NULL */
#define PICK(array) pick(array, sizeof((array)[0]), true)
#define ROOM(array) pick(array, sizeof((array)[0]), false)

static void *pick(void *array, size_t size, bool used)
{
	unsigned int first = draw(SLOTS);

	for (unsigned int n = 0; n < SLOTS; n++) {
		char *slot = (char *)array + (first + n) % SLOTS * size;
		void *handle;

		memcpy(&handle, slot, sizeof(handle));
		if (!handle != used)
			return slot;
	}
	return NULL;
}

/* its handle, but now and then NULL */
#define H(slot) ((slot) && !chance(20) ? (slot)->h : NULL)
/* the address of a variable, but now and then NULL */
#define OUT(variable) (chance(24) ? NULL : &(variable))

static unsigned int alive_before;

static void remember_alive(void)
{
	alive_before = provider_alive();
}

/* a constructor that failed has left nothing behind */
static void nothing_made(const void *handle)
{
	if (provider_alive() != alive_before)
		wrong("%s failed and left something: %s", last.name,
			provider_alive_names());
	MUST(handle == UNTOUCHED);
}

/* objects on a PD whose destruction failed by plan keep it busy */
static void note_stuck(void)
{
	if (last.injected)
		stuck = true;
}

static uint64_t some_size(void)
{
	static const uint64_t sizes[] = {
		0, 1, 7, 8, 9, 16, 64, 4096, 65536, UINT32_MAX,
		UINT32_MAX + UINT64_C(1), UINT64_C(1) << 63, UINT64_MAX - 7,
		UINT64_MAX,
	};

	switch (draw(4)) {
	case 0:
		return sizes[draw(ARRAY(sizes))];
	case 1:
		return draw_wide();
	case 2:
		return draw(256) * 8u;
	default:
		return draw(64);
	}
}

static uint32_t some_queue_size(void)
{
	static const uint32_t sizes[] = {
		0, 1, 10, 65536, 65537, INT_MAX, INT_MAX + 1u, UINT32_MAX,
	};

	return chance(4) ? sizes[draw(ARRAY(sizes))] : 1 + draw(100);
}

static const char *some_text(void)
{
	static char longest[600];
	static const char *const texts[] = {
		"10.0.0.1", "10.0.0.2", "7471", "", "%s%n%d", "::1", "nobody",
	};

	if (chance(12)) {
		memset(longest, 'x', sizeof(longest) - 1);
		return longest;
	}
	return texts[draw(ARRAY(texts))];
}

static const char *text_or_null(void)
{
	return chance(24) ? NULL : some_text();
}

/* ---- texts of the provider's log ---- */

static const char *place(uint64_t address)
{
	static char texts[4][32];
	static unsigned int turn;
	char *text = texts[turn++ % 4];
	uint64_t memory = (uintptr_t)provider_memory;

	if (address >= memory && address < memory + PROVIDER_MEMORY_SIZE)
		snprintf(text, sizeof(texts[0]), "mem+%zu",
			(size_t)(address - memory));
	else
		snprintf(text, sizeof(texts[0]), "0x%zx", (size_t)address);
	return text;
}

static const char *remote_place(uint64_t address)
{
	return address ? place(address) : "0";
}

static bool no_cq_event(void)
{
	return last.cause && strcmp(last.cause, "ibv_get_cq_event") == 0;
}

/* this call was made, once, and with these arguments */
__attribute__((format(printf, 2, 3)))
static void made(const char *call, const char *format, ...)
{
	const char *line = line_of(call, 0);
	char expected[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(expected, sizeof(expected), format, arguments);
	va_end(arguments);
	if (!line)
		wrong("%s: %s was not called", last.name, call);
	line += strlen(call) + 1;
	if (strncmp(line, expected, strlen(expected)) != 0 ||
			line[strlen(expected)] != ')')
		wrong("%s: %s\n    was called with %s\n    and not with  %s",
			last.name, call, line, expected);
	if (line_of(call, 1))
		wrong("%s: %s was called again", last.name, call);
}

/* ---- utils ---- */

static void utils_texts(void)
{
	static const struct {
		int code;
		const char *text;
	} codes[] = {
		{0, "Success"}, {RPMA_E_UNKNOWN, "Unknown error"},
		{RPMA_E_NOSUPP, "Not supported"},
		{RPMA_E_PROVIDER, "Provider error occurred"},
		{RPMA_E_NOMEM, "Out of memory"},
		{RPMA_E_INVAL, "Invalid argument"},
		{RPMA_E_NO_COMPLETION, "No next completion available"},
		{RPMA_E_NO_EVENT, "No next event available"},
		{RPMA_E_AGAIN, "Temporary error, try again"},
		{RPMA_E_SHARED_CHANNEL, "Completion channel is shared"},
		{RPMA_E_NOT_SHARED_CHNL, "Completion channel is not shared"},
	};
	unsigned int n = draw(ARRAY(codes));
	int other = (int)draw_wide();

	step_surely("rpma_err_2str");
	MUST(strcmp(rpma_err_2str(codes[n].code), codes[n].text) == 0);
	MUST(rpma_err_2str(other));
	step_end();
	leave_unjudged();
	step_surely("rpma_utils_conn_event_2str");
	MUST(strcmp(rpma_utils_conn_event_2str(RPMA_CONN_CLOSED),
		"Connection closed") == 0);
	MUST(rpma_utils_conn_event_2str((enum rpma_conn_event)other));
	MUST(errno == BEFORE);
	step_end();
	leave_unjudged();
}

static void utils_device(void)
{
	struct ibv_context *device = UNTOUCHED, **out = OUT(device);
	const char *address = text_or_null();
	int type = chance(8) ? (int)draw_wide() : (int)draw(2);
	struct verdict verdict = ARGUMENTS(address && out &&
		(type == RPMA_UTIL_IBV_CONTEXT_LOCAL ||
		type == RPMA_UTIL_IBV_CONTEXT_REMOTE));

	if (!verdict.argument && type == RPMA_UTIL_IBV_CONTEXT_LOCAL &&
			!provider_device.bind_finds_device)
		verdict = (struct verdict){.code = RPMA_E_PROVIDER,
			.error = ENODEV, .errors = 1};
	remember_alive();
	CALL(rpma_utils_get_ibv_context, address,
		(enum rpma_util_ibv_context_type)type, out);
	if (judge(verdict))
		MUST(device == provider_context());
	else
		nothing_made(device);
	MUST(provider_alive() == alive_before);
}

static bool has_odp(void)
{
	const uint32_t both = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;

	return provider_device.query_device_ex &&
		provider_device.odp_general_caps & IBV_ODP_SUPPORT &&
		(provider_device.odp_rc_caps & both) == both;
}

static void utils_odp(void)
{
	struct ibv_context *device = chance(16) ? NULL : provider_context();
	int capable = -77, *out = OUT(capable);

	CALL(rpma_utils_ibv_context_is_odp_capable, device, out);
	if (!judge(ARGUMENTS(device && out)))
		MUST(capable == -77);
	else if (!line_of("ibv_query_device", 0))
		MUST(capable == has_odp());
	else
		MUST(capable == 0);
}

/* ---- peers ---- */

static void peer_new(void)
{
	struct peer *peer = ROOM(peers);
	struct rpma_peer *handle = UNTOUCHED, **out = OUT(handle);
	struct ibv_context *device = chance(24) ? NULL : provider_context();

	if (!peer || domain_count == MANY)
		return;
	remember_alive();
	CALL(rpma_peer_new, device, out);
	if (!judge(ARGUMENTS(device && out))) {
		nothing_made(handle);
		return;
	}
	peer->h = handle;
	peer->domain = &domains[domain_count++];
	peer->domain->pd = provider_count("pd");
}

static void peer_delete(void)
{
	struct peer *peer = PICK(peers);
	struct verdict verdict = {.may_refuse = stuck};
	struct domain *domain;

	if (!peer) {
		struct rpma_peer *none = NULL;

		CALL(rpma_peer_delete, &none);
		judge(FINE);
		CALL(rpma_peer_delete, NULL);
		judge(WRONG_ARGUMENT);
		return;
	}
	domain = peer->domain;
	if (domain->children && bytes_left() && !chance(6))
		return;
	if (domain->children) {
		/* too early: the children go on */
		verdict.refused = "ibv_dealloc_pd";
		CALL_SURELY(rpma_peer_delete, &peer->h);
		judge_delete(verdict);
		abandoned++;
	} else {
		CALL(rpma_peer_delete, &peer->h);
		judge_delete(verdict);
		const char *line = line_of("ibv_dealloc_pd", 0);

		MUST(line);
		domain->gone = strstr(line, " = 0") != NULL;
		note_stuck();
	}
	MUST(!peer->h);
}

/* ---- peer configurations ---- */

static void pcfg_new(void)
{
	struct pcfg *pcfg = ROOM(pcfgs);
	struct rpma_peer_cfg *handle = UNTOUCHED, **out = OUT(handle);

	if (!pcfg)
		return;
	remember_alive();
	CALL(rpma_peer_cfg_new, out);
	if (!judge(ARGUMENTS(out))) {
		nothing_made(handle);
		return;
	}
	*pcfg = (struct pcfg){.h = handle};
}

static void pcfg_from_descriptor(void)
{
	struct pcfg *pcfg = ROOM(pcfgs);
	struct rpma_peer_cfg *handle = UNTOUCHED, **out = OUT(handle);
	unsigned char bytes[4] = {(unsigned char)draw(256),
		(unsigned char)draw(256)};
	void *descriptor = chance(24) ? NULL : bytes;
	size_t size = chance(6) ? 0 : 1 + draw(4);
	struct verdict verdict = ARGUMENTS(descriptor && out);

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (!pcfg)
		return;
	if (!verdict.argument && !size)
		verdict = (struct verdict){.code = RPMA_E_INVAL, .errors = 1};
	remember_alive();
	CALL(rpma_peer_cfg_from_descriptor, descriptor, size, out);
	if (!judge(verdict)) {
		nothing_made(handle);
		return;
	}
	*pcfg = (struct pcfg){.h = handle, .direct = bytes[0] != 0};
}

static void pcfg_use(void)
{
	/* any byte is a bool */
	int (*set)(struct rpma_peer_cfg *, unsigned char) =
		(int (*)(struct rpma_peer_cfg *, unsigned char))(void (*)(void))
		rpma_peer_cfg_set_direct_write_to_pmem;
	struct pcfg *pcfg = PICK(pcfgs);
	struct rpma_peer_cfg *handle = H(pcfg);
	unsigned char byte = 0x77, *byte_out = OUT(byte), value;
	size_t size = 77, *size_out = OUT(size);

	switch (draw(4)) {
	case 0:
		value = (unsigned char)draw(256);
		step_begin("rpma_peer_cfg_set_direct_write_to_pmem");
		last.code = set(handle, value);
		step_end();
		if (judge(ARGUMENTS(handle)))
			pcfg->direct = value != 0;
		break;
	case 1:
		CALL(rpma_peer_cfg_get_direct_write_to_pmem, handle,
			byte_out ? (bool *)(void *)byte_out : NULL);
		if (judge(ARGUMENTS(handle && byte_out)))
			MUST(byte == pcfg->direct);
		else
			MUST(byte == 0x77);
		break;
	case 2:
		CALL(rpma_peer_cfg_get_descriptor, handle, byte_out);
		if (judge(ARGUMENTS(handle && byte_out)))
			MUST(byte == pcfg->direct);
		else
			MUST(byte == 0x77);
		break;
	default:
		CALL(rpma_peer_cfg_get_descriptor_size, handle, size_out);
		if (judge(ARGUMENTS(handle && size_out)))
			MUST(size == 1);
		else
			MUST(size == 77);
	}
}

/* a delete of something that has no provider objects */
#define PLAIN_DELETE(name, array) do { \
	__typeof__(&(array)[0]) slot_ = PICK(array); \
	if (!slot_) \
		slot_ = &(array)[0]; \
	if (chance(10)) { \
		CALL(name, NULL); \
		judge(WRONG_ARGUMENT); \
		break; \
	} \
	CALL(name, &slot_->h); \
	judge(FINE); \
	MUST(!slot_->h); \
} while (0)

static void pcfg_delete(void)
{
	PLAIN_DELETE(rpma_peer_cfg_delete, pcfgs);
}

/* ---- memory regions ---- */

static const char *access_of(int usage)
{
	static char text[200];
	bool iwarp = provider_device.transport == IBV_TRANSPORT_IWARP;
	bool flush = usage & (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
		RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);

	text[0] = '\0';
#define GRANT(condition, name) do { \
	if (condition) { \
		if (text[0]) \
			strcat(text, "|"); \
		strcat(text, name); \
	} \
} while (0)
	GRANT(usage & (RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_RECV), "LOCAL_WRITE");
	GRANT(usage & RPMA_MR_USAGE_WRITE_DST ||
		(iwarp && usage & RPMA_MR_USAGE_READ_DST), "REMOTE_WRITE");
	GRANT(usage & RPMA_MR_USAGE_READ_SRC || flush, "REMOTE_READ");
#undef GRANT
	return text[0] ? text : "0";
}

static void mr_reg(void)
{
	struct mr *mr = ROOM(mrs);
	struct peer *peer = PICK(peers);
	struct rpma_peer *handle = H(peer);
	struct rpma_mr_local *made_mr = UNTOUCHED, **out = OUT(made_mr);
	unsigned int offset = draw(256) * 8;
	void *memory = chance(24) ? NULL : provider_memory + offset;
	size_t size = chance(12) ? 0 : 1 + draw(256);
	int usage = chance(10) ? (int)draw_wide() : (int)draw(256);

	if (!mr)
		return;
	if (chance(4))
		size *= 64;
	remember_alive();
	CALL(rpma_mr_reg, handle, memory, size, usage, out);
	note_stuck();
	if (!judge(ARGUMENTS(handle && memory && out && size && usage &&
			!(usage & ~0xff)))) {
		nothing_made(made_mr);
		return;
	}
	const char *first = line_of("ibv_reg_mr", 0);
	char expected[300];

	snprintf(expected, sizeof(expected), "ibv_reg_mr(pd%u, mem+%u, %zu, %s",
		peer->domain->pd, offset, size, access_of(usage));
	const char *rest = first + strlen(expected);

	if (strncmp(first, expected, strlen(expected)) != 0 ||
			(*rest != ')' && strncmp(rest, "|FLUSH", 6) != 0))
		wrong("rpma_mr_reg: %s\n    instead of %s", first, expected);
	*mr = (struct mr){.h = made_mr, .domain = peer->domain,
		.address = (uintptr_t)memory, .size = size, .usage = usage,
		.lkey = LKEY_BASE + provider_count("mr"),
		.rkey = RKEY_BASE + provider_count("mr")};
	peer->domain->children++;
}

static void mr_dereg(void)
{
	struct mr *mr = PICK(mrs);

	if (!mr || chance(16)) {
		struct rpma_mr_local *none = NULL;

		CALL(rpma_mr_dereg, &none);
		judge(FINE);
		CALL(rpma_mr_dereg, NULL);
		judge(WRONG_ARGUMENT);
		return;
	}
	CALL(rpma_mr_dereg, &mr->h);
	note_stuck();
	judge_delete(FINE);
	MUST(!mr->h);
	mr->domain->children--;
}

static uint64_t little_endian(const unsigned char *bytes, unsigned int count)
{
	uint64_t value = 0;

	while (count--)
		value = value << 8 | bytes[count];
	return value;
}

static void mr_get(void)
{
	struct mr *mr = PICK(mrs);
	struct rpma_mr_local *handle = H(mr);
	unsigned char bytes[22];
	void *ptr = UNTOUCHED, **ptr_out = OUT(ptr);
	size_t size = 77, *size_out = OUT(size);
	unsigned char *descriptor = chance(24) ? NULL : bytes;

	switch (draw(4)) {
	case 0:
		memset(bytes, 0x77, sizeof(bytes));
		CALL(rpma_mr_get_descriptor, handle, descriptor);
		if (judge(ARGUMENTS(handle && descriptor))) {
			MUST(little_endian(bytes, 8) == mr->address);
			MUST(little_endian(bytes + 8, 8) == mr->size);
			MUST(little_endian(bytes + 16, 4) == mr->rkey);
			MUST(bytes[20] == mr->usage && bytes[21] == 0x77);
		} else {
			MUST(bytes[0] == 0x77 && bytes[20] == 0x77);
		}
		break;
	case 1:
		CALL(rpma_mr_get_descriptor_size, handle, size_out);
		MUST(size == (judge(ARGUMENTS(handle && size_out)) ? 21 : 77));
		break;
	case 2:
		CALL(rpma_mr_get_ptr, handle, ptr_out);
		if (judge(ARGUMENTS(handle && ptr_out)))
			MUST((uintptr_t)ptr == mr->address);
		else
			MUST(ptr == UNTOUCHED);
		break;
	default:
		CALL(rpma_mr_get_size, handle, size_out);
		if (judge(ARGUMENTS(handle && size_out)))
			MUST(size == mr->size);
		else
			MUST(size == 77);
	}
}

static void mr_advise(void)
{
	struct mr *mr = PICK(mrs);
	struct rpma_mr_local *handle = H(mr);
	uint64_t offset = some_size(), len = draw(2) ? draw(256) : some_size();
	int advice = (int)draw(4);
	uint32_t flags = (uint32_t)draw_wide();
	bool good = handle && (unsigned __int128)mr->address + offset + len <=
		UINT64_MAX;
	struct verdict verdict = ARGUMENTS(good);

	/* one call for each 2 GiB: those that fit into the provider's log */
	if (good && len > UINT64_C(1) << 38)
		return;
	if (good && !provider_device.advise_mr)
		verdict = (struct verdict){.code = RPMA_E_NOSUPP,
			.error = EOPNOTSUPP, .errors = 1};
	CALL(rpma_mr_advise, handle, offset, len, advice, flags);
	if (judge(verdict) && len < UINT64_C(1) << 31)
		made("ibv_advise_mr", "pd%u, %d, 0x%x, [%s, %u, 0x%x]",
			mr->domain->pd, advice, flags,
			place(mr->address + offset), (unsigned int)len,
			mr->lkey);
}

static void remote_from_descriptor(void)
{
	struct remote *remote = ROOM(remotes);
	struct rpma_mr_remote *handle = UNTOUCHED, **out = OUT(handle);
	unsigned char bytes[32];
	void *descriptor = chance(24) ? NULL : bytes;
	size_t size = chance(6) ? draw(33) : 21;
	struct mr *mr = PICK(mrs);
	struct verdict verdict = ARGUMENTS(descriptor && out);

	if (!remote)
		return;
	for (unsigned int n = 0; n < sizeof(bytes); n += 8) {
		uint64_t wide = draw_wide();

		memcpy(bytes + n, &wide, 8);
	}
	if (mr && !chance(3)) {
		step_surely("rpma_mr_get_descriptor");
		MUST(rpma_mr_get_descriptor(mr->h, bytes) == 0);
		step_end();
	} else if (chance(2)) {
		/* sizes that flushes have to be careful with */
		memset(bytes + 9, 0, 7);
		bytes[8] = (unsigned char)draw(20);
	}
	if (!verdict.argument && (size < 21 || !bytes[20]))
		verdict = (struct verdict){.code = RPMA_E_INVAL, .errors = 1};
	remember_alive();
	CALL(rpma_mr_remote_from_descriptor, descriptor, size, out);
	if (!judge(verdict)) {
		nothing_made(handle);
		return;
	}
	*remote = (struct remote){.h = handle,
		.address = little_endian(bytes, 8),
		.size = little_endian(bytes + 8, 8),
		.rkey = (uint32_t)little_endian(bytes + 16, 4),
		.usage = bytes[20]};
}

static void remote_get(void)
{
	struct remote *remote = PICK(remotes);
	struct rpma_mr_remote *handle = H(remote);
	size_t size = 77, *size_out = OUT(size);
	int type = -77, *type_out = OUT(type);

	if (draw(2)) {
		CALL(rpma_mr_remote_get_size, handle, size_out);
		if (judge(ARGUMENTS(handle && size_out)))
			MUST(size == remote->size);
		else
			MUST(size == 77);
	} else {
		CALL(rpma_mr_remote_get_flush_type, handle, type_out);
		if (judge(ARGUMENTS(handle && type_out)))
			MUST(type == (remote->usage & 0x30));
		else
			MUST(type == -77);
	}
}

static void remote_delete(void)
{
	PLAIN_DELETE(rpma_mr_remote_delete, remotes);
}

/* ---- configurations ---- */

static void ccfg_new(void)
{
	struct ccfg *cfg = ROOM(ccfgs);
	struct rpma_conn_cfg *handle = UNTOUCHED, **out = OUT(handle);

	if (!cfg)
		return;
	remember_alive();
	CALL(rpma_conn_cfg_new, out);
	if (!judge(ARGUMENTS(out))) {
		nothing_made(handle);
		return;
	}
	*cfg = (struct ccfg){.h = handle, .timeout = 1000, .cq = 10, .sq = 10,
		.rq = 10};
}

static void ccfg_delete(void)
{
	PLAIN_DELETE(rpma_conn_cfg_delete, ccfgs);
}

#define SIZE_OF(prefix, cfg, which) do { \
	uint32_t value_ = some_queue_size(), got_ = 77, *out_ = OUT(got_); \
	if (draw(2)) { \
		CALL(prefix##_set_##which##_size, handle, value_); \
		if (judge(ARGUMENTS(handle))) \
			(cfg)->which = value_; \
	} else { \
		CALL(prefix##_get_##which##_size, handle, out_); \
		if (judge(ARGUMENTS(handle && out_))) \
			MUST(got_ == (cfg)->which); \
		else \
			MUST(got_ == 77); \
	} \
} while (0)

static void ccfg_timeout(struct ccfg *cfg, struct rpma_conn_cfg *handle)
{
	int value = (int)draw_wide(), *out = OUT(value);

	if (draw(2)) {
		CALL(rpma_conn_cfg_set_timeout, handle, value);
		if (judge(ARGUMENTS(handle && value >= 0)))
			cfg->timeout = value;
		return;
	}
	value = -77;
	CALL(rpma_conn_cfg_get_timeout, handle, out);
	if (judge(ARGUMENTS(handle && out)))
		MUST(value == cfg->timeout);
	else
		MUST(value == -77);
}

static void ccfg_channel(struct ccfg *cfg, struct rpma_conn_cfg *handle)
{
	int (*set)(struct rpma_conn_cfg *, unsigned char) =
		(int (*)(struct rpma_conn_cfg *, unsigned char))(void (*)(void))
		rpma_conn_cfg_set_compl_channel;
	unsigned char value = (unsigned char)(draw(2) ? draw(2) : draw(256));
	unsigned char *out = OUT(value);

	if (draw(2)) {
		step_begin("rpma_conn_cfg_set_compl_channel");
		last.code = set(handle, value);
		step_end();
		if (judge(ARGUMENTS(handle)))
			cfg->shared = value != 0;
		return;
	}
	value = 0x77;
	CALL(rpma_conn_cfg_get_compl_channel, handle,
		out ? (bool *)(void *)out : NULL);
	if (judge(ARGUMENTS(handle && out)))
		MUST(value == cfg->shared);
	else
		MUST(value == 0x77);
}

static void ccfg_srq(struct ccfg *cfg, struct rpma_conn_cfg *handle)
{
	struct srq *srq = PICK(srqs);
	struct rpma_srq *value = H(srq), **out = OUT(value);

	if (draw(2)) {
		CALL(rpma_conn_cfg_set_srq, handle, value);
		if (judge(ARGUMENTS(handle && value))) {
			cfg->srq = srq;
			cfg->srq_handle = value;
			cfg->stale = false;
		}
		return;
	}
	value = UNTOUCHED;
	CALL(rpma_conn_cfg_get_srq, handle, out);
	if (judge(ARGUMENTS(handle && out)))
		MUST(value == cfg->srq_handle);
	else
		MUST(value == UNTOUCHED);
}

static void ccfg_use(void)
{
	struct ccfg *cfg = PICK(ccfgs);
	struct rpma_conn_cfg *handle = H(cfg);

	switch (draw(7)) {
	case 0:
		ccfg_timeout(cfg, handle);
		break;
	case 1:
		ccfg_channel(cfg, handle);
		break;
	case 2:
		ccfg_srq(cfg, handle);
		break;
	case 3:
		SIZE_OF(rpma_conn_cfg, cfg, cq);
		break;
	case 4:
		SIZE_OF(rpma_conn_cfg, cfg, rcq);
		break;
	case 5:
		SIZE_OF(rpma_conn_cfg, cfg, sq);
		break;
	default:
		SIZE_OF(rpma_conn_cfg, cfg, rq);
	}
}

static void scfg_new(void)
{
	struct scfg *cfg = ROOM(scfgs);
	struct rpma_srq_cfg *handle = UNTOUCHED, **out = OUT(handle);

	if (!cfg)
		return;
	remember_alive();
	CALL(rpma_srq_cfg_new, out);
	if (!judge(ARGUMENTS(out))) {
		nothing_made(handle);
		return;
	}
	*cfg = (struct scfg){.h = handle, .rq = 20, .rcq = 20};
}

static void scfg_delete(void)
{
	PLAIN_DELETE(rpma_srq_cfg_delete, scfgs);
}

static void scfg_use(void)
{
	struct scfg *cfg = PICK(scfgs);
	struct rpma_srq_cfg *handle = H(cfg);

	if (draw(2))
		SIZE_OF(rpma_srq_cfg, cfg, rq);
	else
		SIZE_OF(rpma_srq_cfg, cfg, rcq);
}

/* ---- completions ---- */

static struct completions new_completions(struct ibv_cq *cq)
{
	return (struct completions){.exists = true, .cq = cq, .armed = true};
}

static bool refuses_cqe(uint32_t size)
{
	return size == 0 || size > (uint32_t)provider_device.max_cqe;
}

static void add_completion(struct link *link, struct completions *queue,
		bool is_rcq)
{
	struct ibv_wc wc = {.wr_id = draw_wide()};

	if (!queue->exists || queue->count >= 50)
		return;
	queue->wr_id[(queue->first + queue->count++) % 64] = wc.wr_id;
	provider_completion(queue->cq, &wc);
	if (!queue->armed)
		return;
	queue->armed = false;
	if (link && link->shared)
		link->order[(link->order_first + link->order_count++) % 64] =
			is_rcq;
	else
		queue->events++;
}

static void make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		abort();
}

static void make_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		abort();
}

static void cq_wait(struct completions *queue, struct rpma_cq *cq, bool shared)
{
	struct verdict verdict = FINE;
	int fd = -1;

	if (shared) {
		CALL(rpma_cq_wait, cq);
		judge((struct verdict){.code = RPMA_E_SHARED_CHANNEL});
		MUST(!provider_log_length());
		return;
	}
	MUST(rpma_cq_get_fd(cq, &fd) == 0);
	if (queue->events) {
		make_blocking(fd);
	} else {
		make_nonblocking(fd);
		verdict.refused = "ibv_get_cq_event";
	}
	CALL(rpma_cq_wait, cq);
	judge(verdict);
	if (!queue->events || no_cq_event())
		return;
	queue->events--;
	/* what came before it was armed does not raise an event */
	queue->armed = last.code == 0;
}

static void cq_get_wc(struct completions *queue, struct rpma_cq *cq)
{
	struct ibv_wc wc[8];
	struct ibv_wc *room = chance(24) ? NULL : wc;
	int entries = chance(8) ? (int)draw(3) - 1 : 1 + (int)draw(8);
	int got = -77, *out = chance(4) ? NULL : &got;
	unsigned int expected = queue->count < (unsigned int)entries ?
		queue->count : (unsigned int)entries;
	struct verdict verdict = ARGUMENTS(room && entries >= 1 &&
		(entries == 1 || out));

	memset(wc, 0x77, sizeof(wc));
	if (!verdict.argument && !expected)
		verdict.code = RPMA_E_NO_COMPLETION;
	CALL(rpma_cq_get_wc, cq, entries, room, out);
	if (!judge(verdict)) {
		MUST(got == -77);
		return;
	}
	MUST(!out || got == (int)expected);
	for (unsigned int n = 0; n < expected; n++)
		MUST(wc[n].wr_id == queue->wr_id[(queue->first + n) % 64]);
	queue->first = (queue->first + expected) % 64;
	queue->count -= expected;
}

static void cq_use(struct link *link, struct completions *queue,
		struct rpma_cq *cq, bool is_rcq)
{
	bool shared = link && link->shared;
	int fd = -77, *out = OUT(fd);

	switch (draw(6)) {
	case 0:
	case 1:
		add_completion(link, queue, is_rcq);
		break;
	case 2:
		cq_wait(queue, cq, shared);
		break;
	case 3:
	case 4:
		cq_get_wc(queue, cq);
		break;
	default:
		cq = chance(6) ? NULL : cq;
		CALL(rpma_cq_get_fd, cq, out);
		if (judge(ARGUMENTS(cq && out)))
			MUST(fd == queue->cq->channel->fd);
		else
			MUST(fd == -77);
	}
}

static void cq_nothing(void)
{
	struct ibv_wc wc;
	int got = -77;

	CALL(rpma_cq_wait, NULL);
	judge(WRONG_ARGUMENT);
	CALL(rpma_cq_get_wc, NULL, 1, &wc, &got);
	judge(WRONG_ARGUMENT);
	MUST(got == -77);
}

/* ---- shared receive queues ---- */

static void srq_new(void)
{
	struct srq *srq = ROOM(srqs);
	struct peer *peer = PICK(peers);
	struct scfg *cfg = PICK(scfgs);
	struct rpma_peer *peer_handle = H(peer);
	struct rpma_srq_cfg *cfg_handle = H(cfg);
	struct rpma_srq *handle = UNTOUCHED, **out = OUT(handle);
	uint32_t rq = cfg_handle ? cfg->rq : 20, rcq = cfg_handle ? cfg->rcq : 20;
	struct verdict verdict = ARGUMENTS(peer_handle && out);

	if (!srq)
		return;
	if (rq == 0 || rq > (uint32_t)provider_device.max_srq_wr)
		verdict.refused = "ibv_create_srq";
	else if (rcq && refuses_cqe(rcq))
		verdict.refused = "ibv_create_cq";
	remember_alive();
	CALL(rpma_srq_new, peer_handle, cfg_handle, out);
	note_stuck();
	if (!judge(verdict)) {
		nothing_made(handle);
		return;
	}
	*srq = (struct srq){.h = handle, .domain = peer->domain,
		.number = provider_count("srq")};
	if (rcq)
		srq->rcq = new_completions(provider_cq(provider_count("cq")));
	peer->domain->children++;
}

/* the provider calls a CQ that its QPs still use a misuse: here it is the caller's */
static void forget_early_rcq(void)
{
	for (unsigned int n = 0; n < provider_misuses(); n++)
		MUST(strstr(provider_misuse(n),
			"destroyed while others use it"));
	provider_forget_misuses();
}

static void srq_delete(void)
{
	struct srq *srq = PICK(srqs);
	bool early;

	if (!srq || chance(16)) {
		struct rpma_srq *none = NULL;

		CALL(rpma_srq_delete, &none);
		judge(FINE);
		CALL(rpma_srq_delete, NULL);
		judge(WRONG_ARGUMENT);
		return;
	}
	early = srq->users != 0;
	if (early && bytes_left() && !chance(6))
		return;
	if (early) {
		CALL_SURELY(rpma_srq_delete, &srq->h);
		forget_early_rcq();
		judge_delete((struct verdict){.refused = srq->rcq.exists ?
			"ibv_destroy_cq" : "ibv_destroy_srq"});
		abandoned += srq->rcq.exists ? 3 : 1;
		/* so does its PD, which the SRQ keeps busy */
		stuck = true;
	} else {
		CALL(rpma_srq_delete, &srq->h);
		note_stuck();
		judge_delete((struct verdict){.may_refuse = stuck});
	}
	MUST(!srq->h);
	if (!early)
		srq->domain->children--;
	for (unsigned int n = 0; n < SLOTS; n++) {
		if (ccfgs[n].h && ccfgs[n].srq == srq)
			ccfgs[n].stale = true;
		if (reqs[n].h && reqs[n].link.srq == srq)
			reqs[n].link.srq = NULL;
		if (conns[n].h && conns[n].link.srq == srq)
			conns[n].link.srq = NULL;
	}
	srq->users = 0;
}

/* ---- operations ---- */

static bool local_fits(const struct mr *mr, uint64_t offset, uint64_t len)
{
	return len <= UINT32_MAX && (unsigned __int128)mr->address + offset +
		len <= UINT64_MAX;
}

static bool remote_fits(const struct remote *remote, uint64_t offset,
		uint64_t len)
{
	return (unsigned __int128)remote->address + offset + len <= UINT64_MAX;
}

static const char *segment(const struct mr *mr, uint64_t offset, uint64_t len)
{
	static char text[100];

	if (!mr)
		return "no sge";
	snprintf(text, sizeof(text), "[%s, %u, 0x%x]",
		place(mr->address + offset), (unsigned int)len, mr->lkey);
	return text;
}

static uint64_t some_offset(void)
{
	return chance(3) ? 0 : draw(2) ? draw(64) : some_size();
}

static int some_flags(void)
{
	static const int flags[] = {
		RPMA_F_COMPLETION_ALWAYS, RPMA_F_COMPLETION_ON_ERROR, 0, 2, 4,
		-1, INT_MIN, RPMA_F_COMPLETION_ALWAYS,
	};

	return flags[draw(ARRAY(flags))];
}

static const char *signaled(int flags)
{
	return flags & 2 ? "SIGNALED" : "0";
}

struct transfer {
	struct mr *mr;
	struct remote *remote;
	uint64_t mr_offset, remote_offset, len, context;
	int flags;
};

static struct transfer some_transfer(void)
{
	struct transfer transfer = {
		.mr = PICK(mrs), .remote = PICK(remotes),
		.mr_offset = some_offset(), .remote_offset = some_offset(),
		.len = some_offset(), .context = draw_wide(),
		.flags = some_flags(),
	};

	if (chance(12))
		transfer.mr = NULL;
	if (chance(12))
		transfer.remote = NULL;
	if (chance(10)) {
		transfer.mr = NULL;
		transfer.remote = NULL;
		transfer.mr_offset = transfer.remote_offset = transfer.len = 0;
	}
	return transfer;
}

static bool good_transfer(const struct transfer *transfer)
{
	if (!transfer->flags)
		return false;
	if (!transfer->mr && !transfer->remote)
		return !transfer->mr_offset && !transfer->remote_offset &&
			!transfer->len;
	return transfer->mr && transfer->remote &&
		local_fits(transfer->mr, transfer->mr_offset, transfer->len) &&
		remote_fits(transfer->remote, transfer->remote_offset,
			transfer->len);
}

#define LOCAL(transfer) ((transfer).mr ? (transfer).mr->h : NULL)
#define REMOTE(transfer) ((transfer).remote ? (transfer).remote->h : NULL)
#define CONTEXT(value) ((void *)(uintptr_t)(value))

static void transferred(const struct conn *conn, const struct transfer *t,
		const char *opcode, uint32_t imm)
{
	made("ibv_post_send", "qp%u, 0x%llx, %s, %s, %s, remote=%s rkey=0x%x "
		"imm=0x%x", conn->link.qp, (unsigned long long)t->context,
		opcode, signaled(t->flags),
		segment(t->mr, t->mr_offset, t->len),
		t->remote ? remote_place(t->remote->address +
			t->remote_offset) : "0",
		t->remote ? t->remote->rkey : 0, imm);
}

static void op_transfer(struct conn *conn, struct rpma_conn *handle)
{
	struct transfer t = some_transfer();
	struct verdict verdict = ARGUMENTS(handle && good_transfer(&t));
	uint32_t imm = 0;
	const char *opcode;

	switch (draw(3)) {
	case 0:
		opcode = "RDMA_READ";
		CALL(rpma_read, handle, LOCAL(t), t.mr_offset, REMOTE(t),
			t.remote_offset, t.len, t.flags, CONTEXT(t.context));
		break;
	case 1:
		opcode = "RDMA_WRITE";
		CALL(rpma_write, handle, REMOTE(t), t.remote_offset, LOCAL(t),
			t.mr_offset, t.len, t.flags, CONTEXT(t.context));
		break;
	default:
		opcode = "RDMA_WRITE_WITH_IMM";
		imm = (uint32_t)draw_wide();
		CALL(rpma_write_with_imm, handle, REMOTE(t), t.remote_offset,
			LOCAL(t), t.mr_offset, t.len, t.flags, imm,
			CONTEXT(t.context));
	}
	if (judge(verdict))
		transferred(conn, &t, opcode, imm);
}

static void op_send(struct conn *conn, struct rpma_conn *handle)
{
	struct transfer t = some_transfer();
	uint32_t imm = 0;
	bool good = handle && t.flags && (t.mr ?
		local_fits(t.mr, t.mr_offset, t.len) :
		!t.mr_offset && !t.len);
	const char *opcode = "SEND";

	t.remote = NULL;
	if (draw(2)) {
		CALL(rpma_send, handle, LOCAL(t), t.mr_offset, t.len, t.flags,
			CONTEXT(t.context));
	} else {
		opcode = "SEND_WITH_IMM";
		imm = (uint32_t)draw_wide();
		CALL(rpma_send_with_imm, handle, LOCAL(t), t.mr_offset, t.len,
			t.flags, imm, CONTEXT(t.context));
	}
	if (judge(ARGUMENTS(good)))
		transferred(conn, &t, opcode, imm);
}

static void op_recv(struct conn *conn, struct rpma_conn *handle)
{
	struct transfer t = some_transfer();
	bool good = handle && (t.mr ? local_fits(t.mr, t.mr_offset, t.len) :
		!t.mr_offset && !t.len);

	CALL(rpma_recv, handle, LOCAL(t), t.mr_offset, t.len,
		CONTEXT(t.context));
	if (judge(ARGUMENTS(good)))
		made("ibv_post_recv", "qp%u, 0x%llx, %s", conn->link.qp,
			(unsigned long long)t.context,
			segment(t.mr, t.mr_offset, t.len));
}

static void op_atomic_write(struct conn *conn, struct rpma_conn *handle)
{
	struct transfer t = some_transfer();
	union {
		uint64_t wide;
		char bytes[8];
	} value = {draw_wide()};
	char *source = chance(24) ? NULL : value.bytes;
	unsigned char *b = (unsigned char *)value.bytes;
	bool good;
	char data[40];

	if (!chance(6))
		t.remote_offset &= ~UINT64_C(7);
	good = handle && t.remote && source && t.flags &&
		t.remote_offset % 8 == 0 &&
		remote_fits(t.remote, t.remote_offset, 8);
	struct verdict verdict = ARGUMENTS(good);

	if (good && conn->link.no_inline && !conn->link.native_atomic_write)
		verdict = (struct verdict){.code = RPMA_E_NOSUPP, .errors = 1};
	CALL(rpma_atomic_write, handle, REMOTE(t), t.remote_offset, source,
		t.flags, CONTEXT(t.context));
	if (!judge(verdict))
		return;
	snprintf(data, sizeof(data), "data=%02x%02x%02x%02x%02x%02x%02x%02x",
		b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]);
	if (conn->link.native_atomic_write)
		made("ibv_wr_atomic_write",
			"qp%u, 0x%llx, %s, rkey=0x%x remote=%s %s",
			conn->link.qp, (unsigned long long)t.context,
			conn->link.native_flush ? signaled(t.flags) :
			t.flags & 2 ? "FENCE|SIGNALED" : "FENCE",
			t.remote->rkey,
			place(t.remote->address + t.remote_offset), data);
	else
		made("ibv_post_send", "qp%u, 0x%llx, RDMA_WRITE, FENCE%s|INLINE, "
			"[inline, 8, 0x0], remote=%s rkey=0x%x imm=0x0 %s",
			conn->link.qp, (unsigned long long)t.context,
			t.flags & 2 ? "|SIGNALED" : "",
			remote_place(t.remote->address + t.remote_offset),
			t.remote->rkey, data);
}

/* what a flush by reading reads */
static void flushed(const struct conn *conn, const struct transfer *t)
{
	const struct remote *remote = t->remote;
	uint64_t offset = t->remote_offset, len = 8;
	const char *line = line_of("ibv_post_send", 0);
	char begin[200], end[200];

	if ((unsigned __int128)offset + t->len <= remote->size) {
		len = remote->size < 8 ? remote->size : 8;
		if (offset > remote->size - len)
			offset = remote->size - len;
	}
	snprintf(begin, sizeof(begin), "ibv_post_send(qp%u, 0x%llx, RDMA_READ, "
		"%s, [private+0, %u, 0x1", conn->link.qp,
		(unsigned long long)t->context, signaled(t->flags),
		(unsigned int)len);
	snprintf(end, sizeof(end), "], remote=%s rkey=0x%x imm=0x0) = 0",
		remote_place(remote->address + offset), remote->rkey);
	if (!line || strncmp(line, begin, strlen(begin)) != 0 ||
			!strstr(line, end))
		wrong("rpma_flush: %s\n    instead of %s...%s", line, begin,
			end);
}

static void op_flush(struct conn *conn, struct rpma_conn *handle)
{
	struct transfer t = some_transfer();
	int type = chance(8) ? (int)draw_wide() : (int)draw(2);
	bool persistent = type == RPMA_FLUSH_TYPE_PERSISTENT;
	struct verdict verdict = ARGUMENTS(handle && t.remote && t.flags &&
		(persistent || type == RPMA_FLUSH_TYPE_VISIBILITY) &&
		remote_fits(t.remote, t.remote_offset, t.len));

	if (!verdict.argument && ((persistent && !conn->direct) ||
			!(t.remote->usage & (persistent ?
				RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT :
				RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY))))
		verdict = (struct verdict){.code = RPMA_E_NOSUPP, .errors = 1};
	CALL(rpma_flush, handle, REMOTE(t), t.remote_offset, t.len,
		(enum rpma_flush_type)type, t.flags, CONTEXT(t.context));
	if (!judge(verdict)) {
		MUST(!verdict.code || !provider_log_length());
		return;
	}
	if (!conn->link.native_flush) {
		flushed(conn, &t);
		return;
	}
	made("ibv_wr_flush", "qp%u, 0x%llx, %s, rkey=0x%x remote=%s %llu "
		"type=%u level=%u", conn->link.qp,
		(unsigned long long)t.context, signaled(t.flags),
		t.remote->rkey, place(t.remote->address + t.remote_offset),
		(unsigned long long)t.len, persistent ? 2u : 1u,
		t.len > UINT32_MAX ? 1u : 0u);
}

static void conn_operation(void)
{
	struct conn *conn = PICK(conns);
	struct rpma_conn *handle = H(conn);

	switch (draw(6)) {
	case 0:
	case 1:
		op_transfer(conn, handle);
		break;
	case 2:
		op_send(conn, handle);
		break;
	case 3:
		op_recv(conn, handle);
		break;
	case 4:
		op_atomic_write(conn, handle);
		break;
	default:
		op_flush(conn, handle);
	}
}

static void srq_use(void)
{
	struct srq *srq = PICK(srqs);
	struct rpma_srq *handle = H(srq);
	struct rpma_cq *rcq = UNTOUCHED, **out = OUT(rcq);
	struct transfer t = some_transfer();

	if (draw(2)) {
		CALL(rpma_srq_recv, handle, LOCAL(t), t.mr_offset, t.len,
			CONTEXT(t.context));
		if (judge(ARGUMENTS(handle && (t.mr ?
				local_fits(t.mr, t.mr_offset, t.len) :
				!t.mr_offset && !t.len))))
			made("ibv_post_srq_recv", "srq%u, 0x%llx, %s",
				srq->number, (unsigned long long)t.context,
				segment(t.mr, t.mr_offset, t.len));
		return;
	}
	CALL(rpma_srq_get_rcq, handle, out);
	if (!judge(ARGUMENTS(handle && out))) {
		MUST(rcq == UNTOUCHED);
		return;
	}
	MUST(!rcq == !srq->rcq.exists);
	if (rcq)
		cq_use(NULL, &srq->rcq, rcq, true);
}

/* ---- endpoints and requests ---- */

static void ep_listen(void)
{
	struct ep *ep = ROOM(eps);
	struct peer *peer = PICK(peers);
	struct rpma_peer *peer_handle = H(peer);
	struct rpma_ep *handle = UNTOUCHED, **out = OUT(handle);
	const char *address = text_or_null(), *port = text_or_null();

	if (!ep)
		return;
	remember_alive();
	CALL(rpma_ep_listen, peer_handle, address, port, out);
	if (!judge(ARGUMENTS(peer_handle && address && port && out))) {
		nothing_made(handle);
		return;
	}
	*ep = (struct ep){.h = handle, .domain = peer->domain,
		.id = provider_id(provider_count("id"))};
}

static void ep_shutdown(void)
{
	struct ep *ep = PICK(eps);

	if (!ep || chance(16)) {
		struct rpma_ep *none = NULL;

		CALL(rpma_ep_shutdown, &none);
		judge(FINE);
		CALL(rpma_ep_shutdown, NULL);
		judge(WRONG_ARGUMENT);
		return;
	}
	CALL(rpma_ep_shutdown, &ep->h);
	judge_delete(FINE);
	MUST(!ep->h);
	/* events of an id that could not be destroyed stay with the provider */
	if (!last.injected)
		pending -= ep->events.count;
}

static void ep_get_fd(void)
{
	struct ep *ep = PICK(eps);
	struct rpma_ep *handle = H(ep);
	int fd = -77, *out = OUT(fd);

	CALL(rpma_ep_get_fd, handle, out);
	if (judge(ARGUMENTS(handle && out)))
		MUST(fd == ep->id->channel->fd);
	else
		MUST(fd == -77);
}

static void new_event(struct rdma_cm_id *id, struct events *events,
		enum rdma_cm_event_type type)
{
	struct event *event = &events->list[events->count];
	unsigned int len = chance(2) ? 0 : chance(3) ? draw(256) : draw(57);
	int status = chance(2) ? 0 : -(int)draw(256);

	if (pending == PENDING)
		return;
	pending++;
	events->count++;
	*event = (struct event){.type = type, .len = (uint8_t)len};
	for (unsigned int n = 0; n < len; n++)
		event->data[n] = (unsigned char)(draw(256) + n);
	provider_event(id, type, status, len ? event->data : NULL, event->len);
}

static void drop_event(struct events *events)
{
	memmove(&events->list[0], &events->list[1],
		--events->count * sizeof(events->list[0]));
	pending--;
}

static void ep_event(void)
{
	struct ep *ep = PICK(eps);

	if (ep)
		new_event(ep->id, &ep->events, chance(8) ?
			(enum rdma_cm_event_type)draw(16) :
			RDMA_CM_EVENT_CONNECT_REQUEST);
}

/* settings that a connection of this configuration has */
static struct ccfg settings_of(struct ccfg *cfg, bool given)
{
	return given ? *cfg : (struct ccfg){.timeout = 1000, .cq = 10,
		.sq = 10, .rq = 10};
}

/* the verdict on making the queues */
static struct verdict queues(const struct ccfg *s, const struct domain *domain)
{
	struct verdict verdict = FINE;
	bool own_rcq = s->rcq && !(s->srq && s->srq->rcq.exists);
	uint32_t limit = (uint32_t)provider_device.max_qp_wr;

	if (s->shared && s->srq && s->srq->rcq.exists)
		return (struct verdict){.code = RPMA_E_INVAL, .errors = 1};
	if (refuses_cqe(s->cq) || (own_rcq && refuses_cqe(s->rcq)))
		verdict.refused = "ibv_create_cq";
	else if (domain->gone)
		verdict.code = RPMA_E_INVAL;
	else if (s->sq > limit || s->rq > limit)
		verdict.refused = "rdma_create_qp_ex";
	return verdict;
}

static const char *name_of_cq(const struct ibv_cq *cq)
{
	static char texts[2][24];
	static unsigned int turn;
	char *text = texts[turn++ % 2];

	for (unsigned int n = provider_count("cq"); n; n--) {
		if (provider_cq(n) != cq)
			continue;
		snprintf(text, sizeof(texts[0]), "cq%u", n);
		return text;
	}
	return "none";
}

/* that of a sender whose message comes before its receive */
static void shortened_timer(const struct link *link)
{
	made("ibv_modify_qp", "qp%u, min_rnr_timer=12", link->qp);
}

/* done without only after a refusal, and not tried again then but with a smaller send queue */
static void note_inline(struct domain *domain, const struct ccfg *s)
{
	const char *line;
	bool known = domain->no_inline_from && s->sq + UINT64_C(1) >= domain->no_inline_from;

	for (unsigned int n = 0; (line = line_of("rdma_create_qp_ex", n)); n++) {
		bool none = strstr(line, " inline=0,") != NULL;

		MUST(none || !known);
		MUST(!none || n || known);
		if (none && strstr(line, ") = qp") && !known)
			domain->no_inline_from = s->sq + UINT64_C(1);
	}
}

/* what was asked for, and what the QP can do */
static void check_qp(struct link *link, const struct ccfg *s)
{
	const char *line = NULL;
	char expected[300];

	for (unsigned int n = 0; line_of("rdma_create_qp_ex", n); n++)
		line = line_of("rdma_create_qp_ex", n);
	snprintf(expected, sizeof(expected), ", pd%u, RC, send_cq=%s recv_cq=%s "
		"srq=", link->domain->pd, name_of_cq(link->cq.cq),
		name_of_cq(s->srq && s->srq->rcq.exists ? s->srq->rcq.cq :
			link->rcq.exists ? link->rcq.cq : link->cq.cq));
	MUST(line && strstr(line, expected));
	link->no_inline = strstr(line, " inline=0,") != NULL;
	snprintf(expected, sizeof(expected), ", sq=%u rq=%u send_sge=1 "
		"recv_sge=1 inline=%d, sig_all=0 qp_context=none", s->sq,
		s->rq, link->no_inline ? 0 : 8);
	MUST(strstr(line, expected));
	const char *ops = strstr(line, "send_ops=");
	unsigned long granted = ops ? strtoul(ops + 9, NULL, 16) : 0;

	link->native_flush = granted & 0x800;
	link->native_atomic_write = granted & 0x1000;
}

static void make_link(struct link *link, const struct ccfg *s,
		struct domain *domain)
{
	unsigned int cqs = provider_count("cq");
	bool own_rcq = s->rcq && !(s->srq && s->srq->rcq.exists);

	*link = (struct link){.domain = domain, .shared = s->shared,
		.srq = s->srq, .id = provider_id(provider_count("id")),
		.qp = provider_count("qp")};
	link->cq = new_completions(provider_cq(own_rcq ? cqs - 1 : cqs));
	if (own_rcq)
		link->rcq = new_completions(provider_cq(cqs));
	check_qp(link, s);
	domain->children++;
	if (s->srq)
		s->srq->users++;
}

static void unmake_link(struct link *link)
{
	link->domain->children--;
	if (link->srq)
		link->srq->users--;
}

static struct ccfg *some_ccfg(struct rpma_conn_cfg **handle)
{
	struct ccfg *cfg = PICK(ccfgs);

	*handle = cfg && !cfg->stale && !chance(3) ? cfg->h : NULL;
	return cfg;
}

/* an SRQ works with QPs of its own PD: other mixtures are the caller's mistake */
static bool foreign_srq(const struct ccfg *s, const struct domain *domain)
{
	return s->srq && s->srq->domain != domain;
}

static void req_new(void)
{
	struct req *req = ROOM(reqs);
	struct peer *peer = PICK(peers);
	struct rpma_peer *peer_handle = H(peer);
	struct rpma_conn_req *handle = UNTOUCHED, **out = OUT(handle);
	const char *address = text_or_null(), *port = text_or_null();
	struct rpma_conn_cfg *cfg_handle;
	struct ccfg *cfg = some_ccfg(&cfg_handle);
	struct ccfg s = settings_of(cfg, cfg_handle);
	struct verdict verdict = ARGUMENTS(peer_handle && address && port && out);

	if (!req || (peer_handle && foreign_srq(&s, peer->domain)))
		return;
	if (!verdict.argument)
		verdict = queues(&s, peer->domain);
	remember_alive();
	CALL(rpma_conn_req_new, peer_handle, address, port, cfg_handle, out);
	if (!verdict.argument)
		note_inline(peer->domain, &s);
	if (!judge(verdict)) {
		nothing_made(handle);
		return;
	}
	MUST(!line_of("rdma_resolve_addr", 1));
	req->h = handle;
	make_link(&req->link, &s, peer->domain);
}

static void ep_next(void)
{
	struct ep *ep = PICK(eps);
	struct req *req = ROOM(reqs);
	struct rpma_ep *ep_handle = H(ep);
	struct rpma_conn_req *handle = UNTOUCHED, **out = OUT(handle);
	struct rpma_conn_cfg *cfg_handle;
	struct ccfg *cfg = some_ccfg(&cfg_handle);
	struct ccfg s = settings_of(cfg, cfg_handle);
	struct verdict verdict = ARGUMENTS(ep_handle && out);
	struct event event = {.len = 0};
	bool nothing = ep && !ep->events.count;

	if (!req || (ep && foreign_srq(&s, ep->domain)))
		return;
	if (ep && !nothing)
		event = ep->events.list[0];
	if (ep && nothing)
		make_nonblocking(ep->id->channel->fd);
	else if (ep)
		make_blocking(ep->id->channel->fd);
	if (!verdict.argument && nothing)
		verdict.refused = "rdma_get_cm_event";
	else if (!verdict.argument &&
			event.type != RDMA_CM_EVENT_CONNECT_REQUEST)
		verdict = (struct verdict){.code = RPMA_E_INVAL, .errors = 1};
	else if (!verdict.argument)
		verdict = queues(&s, ep->domain);
	remember_alive();
	CALL(rpma_ep_next_conn_req, ep_handle, cfg_handle, out);
	if (!verdict.argument)
		note_inline(ep->domain, &s);
	/* an event that was taken is gone, and its id is no one's */
	if (!verdict.argument && !nothing &&
			!(last.cause && strcmp(last.cause, "rdma_get_cm_event") == 0))
		drop_event(&ep->events);
	if (!judge(verdict)) {
		nothing_made(handle);
		if (line_of("rdma_migrate_id", 0))
			MUST(line_of("rdma_reject", 0));
		return;
	}
	req->h = handle;
	make_link(&req->link, &s, ep->domain);
	req->link.incoming = true;
	req->link.len = event.len;
	memcpy(req->link.data, event.data, event.len);
}

static void req_delete(void)
{
	struct req *req = PICK(reqs);

	if (!req || chance(16)) {
		struct rpma_conn_req *none = NULL;

		CALL(rpma_conn_req_delete, &none);
		judge(FINE);
		CALL(rpma_conn_req_delete, NULL);
		judge(WRONG_ARGUMENT);
		return;
	}
	CALL(rpma_conn_req_delete, &req->h);
	judge_delete(FINE);
	MUST(!req->h);
	MUST(!line_of("rdma_reject", 0) == !req->link.incoming);
	unmake_link(&req->link);
}

static void data_told(struct link *link, const struct rpma_conn_private_data *p)
{
	MUST(p->len == link->len);
	MUST(!p->ptr == !p->len);
	MUST(memcmp(p->len ? p->ptr : link->data, link->data, p->len) == 0);
	/* once told, it stays where it is */
	if (link->told)
		MUST(p->ptr == link->told);
	link->told = p->ptr;
}

static void req_use(void)
{
	struct req *req = PICK(reqs);
	struct rpma_conn_req *handle = H(req);
	struct rpma_conn_private_data data = {UNTOUCHED, 77}, *out = OUT(data);
	struct transfer t = some_transfer();

	if (draw(2)) {
		CALL(rpma_conn_req_get_private_data, handle, out);
		if (judge(ARGUMENTS(handle && out)))
			data_told(&req->link, &data);
		else
			MUST(data.ptr == UNTOUCHED && data.len == 77);
		return;
	}
	CALL(rpma_conn_req_recv, handle, LOCAL(t), t.mr_offset, t.len,
		CONTEXT(t.context));
	if (judge(ARGUMENTS(handle && t.mr &&
			local_fits(t.mr, t.mr_offset, t.len))))
		made("ibv_post_recv", "qp%u, 0x%llx, %s", req->link.qp,
			(unsigned long long)t.context,
			segment(t.mr, t.mr_offset, t.len));
}

static void req_connect(void)
{
	struct req *req = PICK(reqs);
	struct conn *conn = ROOM(conns);
	struct rpma_conn *handle = UNTOUCHED, **out = OUT(handle);
	struct rpma_conn_private_data data = {
		chance(16) ? NULL : shared_data,
		(uint8_t)(chance(4) ? draw(256) : draw(57)),
	};
	struct rpma_conn_private_data *pdata = chance(2) ? NULL : &data;
	struct verdict verdict = FINE;

	if (!conn)
		return;
	if (!req) {
		struct rpma_conn_req *none = NULL;

		CALL(rpma_conn_req_connect, &none, NULL, &handle);
		judge(WRONG_ARGUMENT);
		CALL(rpma_conn_req_connect, NULL, NULL, &handle);
		judge(WRONG_ARGUMENT);
		MUST(handle == UNTOUCHED);
		return;
	}
	/* from here on the request is consumed, whatever is wrong */
	if (!out || (pdata && (!data.ptr || !data.len)))
		verdict.code = RPMA_E_INVAL;
	else if (pdata && data.len > (req->link.incoming ? 196 : 56))
		verdict.refused = req->link.incoming ? "rdma_accept" :
			"rdma_connect";
	CALL(rpma_conn_req_connect, &req->h, pdata, out);
	note_stuck();
	if (!judge(verdict)) {
		MUST(!req->h && handle == UNTOUCHED);
		unmake_link(&req->link);
		return;
	}
	MUST(!req->h);
	*conn = (struct conn){.h = handle, .link = req->link};
	const char *line = line_of(req->link.incoming ? "rdma_accept" :
		"rdma_connect", 0);

	MUST(line && strstr(line, " resources=255 depth=255 flow=1 retry=7 "
		"rnr=7 srq=0 qp_num=0)"));
	MUST(!strstr(line, "no data") == !!pdata);
	if (req->link.incoming)
		shortened_timer(&conn->link);
	else
		MUST(!line_of("ibv_modify_qp", 0));
	/* flushes that go out natively need no buffer */
	MUST(!conn->link.native_flush || !line_of("ibv_reg_mr", 0));
}

/* ---- connections ---- */

static void conn_delete(void)
{
	struct conn *conn = PICK(conns);

	if (!conn || chance(16)) {
		struct rpma_conn *none = NULL;

		CALL(rpma_conn_delete, &none);
		judge(FINE);
		CALL(rpma_conn_delete, NULL);
		judge(WRONG_ARGUMENT);
		return;
	}
	CALL(rpma_conn_delete, &conn->h);
	note_stuck();
	judge_delete(FINE);
	MUST(!conn->h);
	unmake_link(&conn->link);
	if (!last.injected)
		pending -= conn->events.count;
}

static void conn_get(void)
{
	struct conn *conn = PICK(conns);
	struct rpma_conn *handle = H(conn);
	struct rpma_conn_private_data data = {UNTOUCHED, 77}, *data_out = OUT(data);
	struct pcfg *pcfg = PICK(pcfgs);
	struct rpma_peer_cfg *pcfg_handle = H(pcfg);
	int fd = -77, *fd_out = OUT(fd);
	uint32_t number = 77, *number_out = OUT(number);
	struct verdict verdict;

	switch (draw(6)) {
	case 0:
		CALL(rpma_conn_get_event_fd, handle, fd_out);
		if (judge(ARGUMENTS(handle && fd_out)))
			MUST(fd == conn->link.id->channel->fd);
		else
			MUST(fd == -77);
		break;
	case 1:
		CALL(rpma_conn_get_private_data, handle, data_out);
		if (judge(ARGUMENTS(handle && data_out)))
			data_told(&conn->link, &data);
		else
			MUST(data.ptr == UNTOUCHED && data.len == 77);
		break;
	case 2:
		CALL(rpma_conn_apply_remote_peer_cfg, handle, pcfg_handle);
		if (judge(ARGUMENTS(handle && pcfg_handle)))
			conn->direct = pcfg->direct;
		break;
	case 3:
		CALL(rpma_conn_get_qp_num, handle, number_out);
		if (judge(ARGUMENTS(handle && number_out)))
			MUST(number == QP_BASE + conn->link.qp);
		else
			MUST(number == 77);
		break;
	case 4:
		CALL(rpma_conn_disconnect, handle);
		judge(ARGUMENTS(handle));
		break;
	default:
		verdict = ARGUMENTS(handle && fd_out);
		if (!verdict.argument && !conn->link.shared)
			verdict = (struct verdict){
				.code = RPMA_E_NOT_SHARED_CHNL};
		CALL(rpma_conn_get_compl_fd, handle, fd_out);
		if (judge(verdict))
			MUST(fd == conn->link.cq.cq->channel->fd);
		else
			MUST(fd == -77);
	}
}

static void conn_event(void)
{
	struct conn *conn = PICK(conns);
	enum rdma_cm_event_type type = (enum rdma_cm_event_type)draw(18);

	/* librdmacm tells of requests only where somebody listens */
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST || chance(3))
		type = RDMA_CM_EVENT_ESTABLISHED;
	/* and it tells once that a connection is established */
	if (conn && conn->established && type == RDMA_CM_EVENT_ESTABLISHED)
		type = RDMA_CM_EVENT_DISCONNECTED;
	if (conn && pending < PENDING)
		conn->established |= type == RDMA_CM_EVENT_ESTABLISHED;
	if (conn)
		new_event(conn->link.id, &conn->events, type);
}

static int mapped(enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ESTABLISHED:
		return RPMA_CONN_ESTABLISHED;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return RPMA_CONN_LOST;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return RPMA_CONN_CLOSED;
	case RDMA_CM_EVENT_REJECTED:
		return RPMA_CONN_REJECTED;
	case RDMA_CM_EVENT_UNREACHABLE:
		return RPMA_CONN_UNREACHABLE;
	default:
		return RPMA_CONN_UNDEFINED;
	}
}

static void conn_next_event(void)
{
	struct conn *conn = PICK(conns);
	struct rpma_conn *handle = H(conn);
	enum rpma_conn_event event = (enum rpma_conn_event)77;
	enum rpma_conn_event *out = OUT(event);
	struct verdict verdict = ARGUMENTS(handle && out);
	bool nothing = !conn || !conn->events.count;
	struct event source = {.len = 0};

	if (conn && nothing)
		make_nonblocking(conn->link.id->channel->fd);
	else if (conn)
		make_blocking(conn->link.id->channel->fd);
	if (!nothing)
		source = conn->events.list[0];
	if (!verdict.argument && nothing)
		verdict.refused = "rdma_get_cm_event";
	else if (!verdict.argument && mapped(source.type) == RPMA_CONN_UNDEFINED)
		verdict.code = RPMA_E_UNKNOWN;
	/* a failing ack comes before the event is looked at */
	CALL(rpma_conn_next_event, handle, out);
	bool taken = !verdict.argument && !nothing && !(last.cause &&
		strcmp(last.cause, "rdma_get_cm_event") == 0);

	if (taken && last.cause)
		verdict.code = 0;
	judge(verdict);
	if (taken) {
		if (source.type == RDMA_CM_EVENT_ESTABLISHED &&
				!conn->link.incoming)
			shortened_timer(&conn->link);
		else
			MUST(!line_of("ibv_modify_qp", 0));
		if (source.type == RDMA_CM_EVENT_ESTABLISHED &&
				!conn->link.len) {
			conn->link.len = source.len;
			memcpy(conn->link.data, source.data, source.len);
			conn->link.told = NULL;
		}
		drop_event(&conn->events);
	}
	if (last.code == 0)
		MUST((int)event == mapped(source.type));
	else if (last.code == RPMA_E_UNKNOWN)
		MUST(event == RPMA_CONN_UNDEFINED);
	else
		MUST(event == (enum rpma_conn_event)77);
	if (last.code == RPMA_E_UNKNOWN &&
			log_threshold >= RPMA_LOG_LEVEL_WARNING)
		MUST(messages_of(RPMA_LOG_LEVEL_WARNING) == 1);
}

/* the event of a queue of another connection on this one's channel */
static void conn_wait_stray(struct conn *conn)
{
	struct conn *other = PICK(conns);
	struct rpma_cq *cq = UNTOUCHED;

	if (other == conn || !other || conn->link.order_count)
		return;
	provider_stray_cq_event(conn->link.cq.cq, other->link.cq.cq);
	CALL_SURELY(rpma_conn_wait, conn->h, 0, &cq, NULL);
	judge((struct verdict){.code = RPMA_E_UNKNOWN, .errors = 1});
	MUST(cq == UNTOUCHED);
}

static void conn_wait(void)
{
	struct conn *conn = PICK(conns);
	struct rpma_conn *handle = H(conn);
	struct rpma_cq *cq = UNTOUCHED, **out = OUT(cq), *expected = NULL;
	unsigned char is_rcq = 0x77, *rcq_out = chance(3) ? NULL : &is_rcq;
	int flags = (int)draw(3);
	struct verdict verdict = ARGUMENTS(handle && out);
	struct link *link = conn ? &conn->link : NULL;
	bool nothing = !link || !link->order_count;
	unsigned int which = 0;

	if (link && link->shared && chance(6)) {
		make_blocking(link->cq.cq->channel->fd);
		conn_wait_stray(conn);
		return;
	}
	if (link && link->shared && nothing)
		make_nonblocking(link->cq.cq->channel->fd);
	else if (link && link->shared)
		make_blocking(link->cq.cq->channel->fd);
	if (!verdict.argument && !link->shared)
		verdict.code = RPMA_E_NOT_SHARED_CHNL;
	else if (!verdict.argument && nothing)
		verdict.refused = "ibv_get_cq_event";
	CALL(rpma_conn_wait, handle, flags, out,
		rcq_out ? (bool *)(void *)rcq_out : NULL);
	judge(verdict);
	if (verdict.argument || !link->shared || nothing ||
			no_cq_event()) {
		MUST(cq == UNTOUCHED && is_rcq == 0x77);
		return;
	}
	which = link->order[link->order_first];
	link->order_first = (link->order_first + 1) % 64;
	link->order_count--;
	(which ? &link->rcq : &link->cq)->armed = last.code == 0;
	if (last.code) {
		MUST(!cq && is_rcq == 0x77);
		return;
	}
	MUST((which ? rpma_conn_get_rcq : rpma_conn_get_cq)(handle, &expected)
		== 0);
	MUST(cq == expected && (!rcq_out || is_rcq == which));
}

static void conn_queues(void)
{
	struct conn *conn = PICK(conns);
	struct rpma_conn *handle = H(conn);
	struct rpma_cq *cq = UNTOUCHED, **out = OUT(cq);
	bool want_rcq = draw(2);

	if (want_rcq)
		CALL(rpma_conn_get_rcq, handle, out);
	else
		CALL(rpma_conn_get_cq, handle, out);
	if (!judge(ARGUMENTS(handle && out))) {
		MUST(cq == UNTOUCHED);
		return;
	}
	MUST(!cq == (want_rcq && !conn->link.rcq.exists));
	if (cq)
		cq_use(&conn->link, want_rcq ? &conn->link.rcq : &conn->link.cq,
			cq, want_rcq);
}

/* ---- log ---- */

static int aux_threshold;

static void log_use(void)
{
	int which = chance(6) ? (int)draw_wide() : (int)draw(2);
	int level = chance(6) ? (int)draw_wide() : (int)draw(7) - 1;
	enum rpma_log_level got = (enum rpma_log_level)77, *out = OUT(got);
	int *threshold = which == 0 ? &log_threshold : &aux_threshold;

	switch (draw(6)) {
	case 0:
		CALL(rpma_log_set_function, NULL);
		judge(FINE);
		CALL(rpma_log_set_function, on_message);
		judge(FINE);
		break;
	case 1:
	case 2:
		CALL(rpma_log_get_threshold, (enum rpma_log_threshold)which,
			out);
		if (judge(ARGUMENTS(out && (which == 0 || which == 1))))
			MUST((int)got == *threshold);
		else
			MUST((int)got == 77);
		break;
	default:
		/* mostly with messages, which are judged too */
		if (which == 0 && level < RPMA_LOG_LEVEL_ERROR && !chance(4))
			level = RPMA_LOG_LEVEL_DEBUG;
		CALL(rpma_log_set_threshold, (enum rpma_log_threshold)which,
			(enum rpma_log_level)level);
		if (judge(ARGUMENTS((which == 0 || which == 1) &&
				level >= -1 && level <= 5)))
			*threshold = level;
	}
}

/* ---- one input ---- */

static void (*const actions[])(void) = {
	peer_new, mr_reg, remote_from_descriptor, ccfg_new, ep_listen, ep_event,
	ep_next, req_new, req_connect, conn_event, conn_next_event, conn_queues,
	conn_operation, conn_operation, conn_operation, conn_queues, conn_wait,
	conn_get, req_use, srq_new, srq_use, ccfg_use, ccfg_use, scfg_new,
	scfg_use, pcfg_new, pcfg_from_descriptor, pcfg_use, mr_get, mr_advise,
	remote_get, ep_get_fd, utils_texts, utils_device, utils_odp, log_use,
	cq_nothing, conn_delete, req_delete, ep_shutdown, srq_delete, mr_dereg,
	remote_delete, ccfg_delete, scfg_delete, pcfg_delete, peer_delete,
	req_connect, req_new, conn_next_event, peer_new, srq_new, ep_event,
	ep_next, conn_wait, conn_wait, ccfg_use, ccfg_use, conn_queues,
	req_connect, req_new, conn_event, ep_next, ep_event, conn_queues,
};

static void choose_device(void)
{
	static const int limits[] = {65536, 65536, 16, 100};

	if (chance(4))
		provider_device.transport = IBV_TRANSPORT_IWARP;
	if (chance(3)) {
		provider_device.odp_general_caps = IBV_ODP_SUPPORT;
		provider_device.odp_rc_caps = IBV_ODP_SUPPORT_WRITE |
			(chance(3) ? 0 : IBV_ODP_SUPPORT_READ);
	}
	provider_device.query_device_ex = !chance(6);
	provider_device.advise_mr = !chance(6);
	provider_device.bind_finds_device = !chance(6);
	provider_device.max_cqe = limits[draw(ARRAY(limits))];
	provider_device.max_qp_wr = limits[draw(ARRAY(limits))];
	provider_device.max_srq_wr = limits[draw(ARRAY(limits))];
	if (chance(3)) {
		/* native flush and atomic write: access, caps, QPs */
		provider_device.device_cap_flags_ex = UINT64_C(7) << 38;
		provider_device.send_ops = chance(3) ? 0x800 : 0x1800;
		provider_device.mr_access |= 0x300;
	}
	if (chance(8))
		provider_device.max_inline = 0;
	provider_context();
}

static void forget_everything(void)
{
	memset(domains, 0, sizeof(domains));
	domain_count = 0;
	memset(peers, 0, sizeof(peers));
	memset(mrs, 0, sizeof(mrs));
	memset(remotes, 0, sizeof(remotes));
	memset(pcfgs, 0, sizeof(pcfgs));
	memset(srqs, 0, sizeof(srqs));
	memset(ccfgs, 0, sizeof(ccfgs));
	memset(scfgs, 0, sizeof(scfgs));
	memset(eps, 0, sizeof(eps));
	memset(reqs, 0, sizeof(reqs));
	memset(conns, 0, sizeof(conns));
	pending = 0;
	abandoned = 0;
	stuck = false;
}

static bool some_left(const void *array, size_t size)
{
	for (unsigned int n = 0; n < SLOTS; n++) {
		void *handle;

		memcpy(&handle, (const char *)array + n * size, sizeof(handle));
		if (handle)
			return true;
	}
	return false;
}

/* children before parents; the bytes are used up, so nothing fails by plan */
static void delete_everything(void)
{
	static const struct {
		const void *array;
		size_t size;
		void (*delete)(void);
	} kinds[] = {
#define KIND(array, function) {array, sizeof((array)[0]), function}
		KIND(conns, conn_delete), KIND(reqs, req_delete),
		KIND(eps, ep_shutdown), KIND(srqs, srq_delete),
		KIND(mrs, mr_dereg), KIND(remotes, remote_delete),
		KIND(ccfgs, ccfg_delete), KIND(scfgs, scfg_delete),
		KIND(pcfgs, pcfg_delete), KIND(peers, peer_delete),
#undef KIND
	};

	for (unsigned int n = 0; n < ARRAY(kinds); n++) {
		unsigned int tries = 0;

		while (some_left(kinds[n].array, kinds[n].size)) {
			MUST(tries++ < SLOTS);
			kinds[n].delete();
		}
	}
}

void model_run(void)
{
	provider_reset();
	forget_everything();
	steps_reset();
	log_threshold = RPMA_LOG_LEVEL_DEBUG;
	aux_threshold = RPMA_LOG_DISABLED;
	if (rpma_log_set_function(on_message) ||
	    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG) ||
	    rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED))
		abort();
	choose_device();
	/* what most calls need */
	if (!chance(4)) {
		peer_new();
		mr_reg();
		ccfg_new();
		ep_listen();
	}
	while (bytes_left())
		actions[draw(ARRAY(actions))]();
	delete_everything();
	figures.inputs++;
	for (const char *const *kind = (const char *const[]){"pd", "mr", "cq",
			"channel", "srq", "qp", "id", "ec", "event", "addrinfo",
			NULL}; *kind; kind++)
		figures.objects += provider_count(*kind);
	if (provider_misuses())
		wrong("misuse: %s", provider_misuse(0));
	if (provider_alive() != abandoned)
		wrong("%u objects alive, not %u: %s", provider_alive(),
			abandoned, provider_alive_names());
}
