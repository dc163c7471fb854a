/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * common.c -- what the programs over a real device share; see common.h
 */

#include "common.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PASSED = 0, FAILED = 1, TIMED_OUT = 2, FAULTY = 3 };

/* the check that runs, and where the helper it is in was called */
static _Thread_local struct {
	const char *file;
	int line;
	const char *what;
} here;

static _Thread_local struct {
	const char *file;
	int line;
} caller;

/* ---- checks ---------------------------------------------------------- */

void
at(const char *file, int line, const char *what)
{
	here.file = file;
	here.line = line;
	here.what = what;
}

void
called_at(const char *file, int line)
{
	caller.file = file;
	caller.line = line;
}

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
	int saved_errno = errno;
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s:%d: %s: ", here.file, here.line, here.what);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (errno %d: %s)\n", saved_errno, strerror(saved_errno));
	if (strcmp(here.file, __FILE__) == 0 && caller.file != NULL)
		fprintf(stderr, "  called from %s:%d\n", caller.file, caller.line);
	_exit(FAILED);
}

void
fail_check(void)
{
	fail("does not hold");
}

void
fail_return(int returned, int expected)
{
	int saved_errno = errno;
	const char *returned_str = rpma_err_2str(returned);
	const char *expected_str = rpma_err_2str(expected);

	errno = saved_errno;
	fail("returned %d (%s), not %d (%s)", returned, returned_str, expected, expected_str);
}

void
fail_errno(int expected)
{
	fail("left another errno than %d", expected);
}

void
fault(const char *id, const char *format, ...)
{
	va_list args;

	printf("FAULT %s: ", id);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	_exit(FAULTY);
}

/* ---- a program ------------------------------------------------------- */

static void
too_slow(int signal)
{
	(void) signal;
	char text[512];
	int len = snprintf(text, sizeof(text), "%s:%d: %s: the program took longer than %d s\n",
			here.file ? here.file : "?", here.line, here.what ? here.what : "?",
			PROGRAM_SECONDS);

	if (len > 0 && write(STDERR_FILENO, text, (size_t)len) < 0)
		_exit(FAILED);
	_exit(TIMED_OUT);
}

/*
 * Say which file the library comes from. RPMA_TEST_LIBRARY is the one the runner
 * means to test: another one would make every result worthless.
 */
static void
show_library(void)
{
	static const char *const functions[] = {
		"rpma_err_2str", "rpma_conn_req_new", "rpma_ep_next_conn_req", "rpma_write",
	};
	const char *wanted = getenv("RPMA_TEST_LIBRARY");
	char *path = NULL;
	struct stat used_stat, wanted_stat;
	Dl_info info;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(RTLD_DEFAULT, functions[i]);
		CHECK(function != NULL);
		CHECK(dladdr(function, &info) != 0);
		char *real = realpath(info.dli_fname, NULL);
		CHECK(real != NULL);
		if (path != NULL)
			CHECK(strcmp(path, real) == 0);
		free(path);
		path = real;
	}

	if (wanted == NULL) {
		printf("library: %s\n", path);
	} else {
		at(__FILE__, __LINE__, "library");
		if (stat(path, &used_stat) != 0 || stat(wanted, &wanted_stat) != 0 ||
				used_stat.st_dev != wanted_stat.st_dev ||
				used_stat.st_ino != wanted_stat.st_ino)
			fail("%s, not %s", path, wanted);
		/* the runner looks for this line, in its own spelling of the path */
		printf("library: %s\n", wanted);
	}
	free(path);
}

void
test_begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, too_slow);
	alarm(PROGRAM_SECONDS);
	show_library();
	/* what the library has to say about a failure belongs to its evidence */
	OK(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_WARNING));
}

int
test_end(void)
{
	printf("passed\n");
	return PASSED;
}

int
test_roles(int argc, char *argv[], role *server, role *client)
{
	bool is_server = argc == 4 && strcmp(argv[1], "server") == 0;
	bool is_client = argc == 4 && strcmp(argv[1], "client") == 0;

	if (!is_server && !is_client) {
		fprintf(stderr, "usage: %s server|client ADDRESS PORT\n", argv[0]);
		return FAILED;
	}

	test_begin();
	if (is_server)
		server(argv[2], argv[3]);
	else
		client(argv[2], argv[3]);
	return test_end();
}

static const char *
environment(const char *name)
{
	const char *value = getenv(name);

	if (value == NULL || *value == '\0') {
		fprintf(stderr, "%s is not set\n", name);
		_exit(FAILED);
	}
	return value;
}

const char *
test_address(void)
{
	return environment("RPMA_TEST_ADDRESS");
}

const char *
test_address6(void)
{
	return environment("RPMA_TEST_ADDRESS6");
}

const char *
test_port(unsigned n)
{
	static char ports[4][8];

	CHECK(n < 4);
	snprintf(ports[n], sizeof(ports[n]), "%u", atoi(environment("RPMA_TEST_PORT")) + n);
	return ports[n];
}

long long
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

bool
is_soft_roce(struct ibv_context *device)
{
	struct ibv_device_attr attr;

	CHECK(ibv_query_device(device, &attr) == 0);
	return attr.vendor_id == 0xffffff;
}

int
count_resources(const char *kind)
{
	char command[64];
	char line[1024];
	char pid[32];
	int count = 0;

	snprintf(command, sizeof(command), "rdma resource show %s", kind);
	FILE *list = popen(command, "r");
	CHECK(list != NULL);
	snprintf(pid, sizeof(pid), " pid %d ", (int)getpid());
	while (fgets(line, sizeof(line), list) != NULL) {
		if (strstr(line, pid) != NULL)
			count++;
	}
	CHECK(pclose(list) == 0);
	return count;
}

/*
 * /etc itself is the host's, and may lack the file. So this process gets another one, of links to
 * what is in it, and of the file.
 */
void
set_etc_file(const char *name, const char *text)
{
	char base[64], path[600], target[600];
	struct dirent *entry;

	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	snprintf(base, sizeof(base), "/run/etc.%d", (int)getpid());
	CHECK(mkdir(base, 0755) == 0);
	CHECK(mount("etc", base, "tmpfs", 0, NULL) == 0);
	snprintf(path, sizeof(path), "%s/of_host", base);
	CHECK(mkdir(path, 0755) == 0);
	CHECK(mount("/etc", path, NULL, MS_BIND, NULL) == 0);
	DIR *etc = opendir(path);
	snprintf(path, sizeof(path), "%s/etc", base);
	CHECK(etc != NULL && mkdir(path, 0755) == 0);
	while ((entry = readdir(etc)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
				strcmp(entry->d_name, name) == 0)
			continue;
		snprintf(path, sizeof(path), "%s/etc/%s", base, entry->d_name);
		snprintf(target, sizeof(target), "%s/of_host/%s", base, entry->d_name);
		CHECK(symlink(target, path) == 0);
	}
	CHECK(closedir(etc) == 0);
	snprintf(path, sizeof(path), "%s/etc/%s", base, name);
	FILE *file = fopen(path, "w");
	CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
	snprintf(path, sizeof(path), "%s/etc", base);
	CHECK(mount(path, "/etc", NULL, MS_BIND, NULL) == 0);
}

/* ---- log ------------------------------------------------------------- */

static int error_count;
static char error_text[512];

static void
count_error(enum rpma_log_level level, const char *file_name, const int line_no,
		const char *function_name, const char *message_format, ...)
{
	va_list args;

	(void) file_name;
	(void) line_no;
	(void) function_name;
	if (level > RPMA_LOG_LEVEL_ERROR)
		return;

	error_count++;
	va_start(args, message_format);
	vsnprintf(error_text, sizeof(error_text), message_format, args);
	va_end(args);
}

void
count_errors(void)
{
	error_count = 0;
	error_text[0] = '\0';
	OK(rpma_log_set_function(count_error));
}

int
errors_logged(void)
{
	return error_count;
}

const char *
last_error_logged(void)
{
	return error_text;
}

/* ---- memory ---------------------------------------------------------- */

void *
memory(size_t size)
{
	void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(ptr != MAP_FAILED);
	return ptr;
}

static uint8_t
pattern(size_t i, unsigned seed)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + (i >> 16) * 29 + seed * 101 + 1);
}

void
fill(void *ptr, size_t size, unsigned seed)
{
	uint8_t *bytes = ptr;

	for (size_t i = 0; i < size; i++)
		bytes[i] = pattern(i, seed);
}

void
check_filled_at(const char *file, int line, const void *ptr, size_t size, unsigned seed)
{
	const uint8_t *bytes = ptr;

	at(file, line, "check_filled");
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != pattern(i, seed))
			fail("byte %zu of %zu is 0x%02x, not 0x%02x", i, size, bytes[i],
					pattern(i, seed));
	}
}

void
check_zero_at(const char *file, int line, const void *ptr, size_t size)
{
	const uint8_t *bytes = ptr;

	at(file, line, "check_zero");
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != 0)
			fail("byte %zu of %zu is 0x%02x, not zero", i, size, bytes[i]);
	}
}

struct rpma_mr_local *
registered(struct rpma_peer *peer, void *ptr, size_t size, int usage)
{
	struct rpma_mr_local *mr = NULL;

	OK(rpma_mr_reg(peer, ptr, size, usage, &mr));
	CHECK(mr != NULL);
	return mr;
}

struct rpma_mr_remote *
as_remote(const struct rpma_mr_local *mr)
{
	struct rpma_mr_remote *remote = NULL;
	uint8_t descriptor[MR_DESCRIPTOR_SIZE];

	OK(rpma_mr_get_descriptor(mr, descriptor));
	OK(rpma_mr_remote_from_descriptor(descriptor, sizeof(descriptor), &remote));
	CHECK(remote != NULL);
	return remote;
}

/* ---- connections ----------------------------------------------------- */

static struct rpma_peer *
peer_of(const char *address, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *device = NULL;
	struct rpma_peer *peer = NULL;

	OK(rpma_utils_get_ibv_context(address, type, &device));
	CHECK(device != NULL);
	OK(rpma_peer_new(device, &peer));
	CHECK(peer != NULL);
	return peer;
}

struct rpma_peer *
peer_of_local(const char *address)
{
	return peer_of(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
}

struct rpma_peer *
peer_of_remote(const char *address)
{
	return peer_of(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
}

struct rpma_ep *
listening(struct rpma_peer *peer, const char *address, const char *port)
{
	struct rpma_ep *ep = NULL;

	OK(rpma_ep_listen(peer, address, port, &ep));
	CHECK(ep != NULL);
	printf("listening\n");
	return ep;
}

bool
readable(int fd, int ms)
{
	struct pollfd entry = { .fd = fd, .events = POLLIN };
	long long end = now_ms() + ms;
	int ret;

	do {
		long long left = end - now_ms();
		ret = poll(&entry, 1, left > 0 ? (int)left : 0);
	} while (ret < 0 && errno == EINTR);

	CHECK(ret >= 0);
	return ret == 1 && (entry.revents & POLLIN) != 0;
}

bool
event_pending(const struct rpma_conn *conn, int ms)
{
	int fd = -1;

	OK(rpma_conn_get_event_fd(conn, &fd));
	return readable(fd, ms);
}

struct rpma_conn_req *
next_request_at(const char *file, int line, struct rpma_ep *ep, const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;
	int fd = -1;

	called_at(file, line);
	OK(rpma_ep_get_fd(ep, &fd));
	CHECK(readable(fd, WAIT_MS));
	OK(rpma_ep_next_conn_req(ep, cfg, &req));
	CHECK(req != NULL);
	return req;
}

static void
expect_event_here(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	CHECK(event_pending(conn, WAIT_MS));
	OK(rpma_conn_next_event(conn, &event));
	if (event != expected)
		fail("gave %s, not %s", rpma_utils_conn_event_2str(event),
				rpma_utils_conn_event_2str(expected));
}

void
expect_event_at(const char *file, int line, struct rpma_conn *conn, enum rpma_conn_event event)
{
	called_at(file, line);
	expect_event_here(conn, event);
}

struct rpma_conn *
accepted_at(const char *file, int line, struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
		const struct rpma_conn_private_data *pdata)
{
	struct rpma_conn_req *req = next_request_at(file, line, ep, cfg);
	struct rpma_conn *conn = NULL;

	OK(rpma_conn_req_connect(&req, pdata, &conn));
	CHECK(req == NULL && conn != NULL);
	expect_event_here(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

struct rpma_conn *
connected_at(const char *file, int line, struct rpma_peer *peer, const char *address,
		const char *port, const struct rpma_conn_cfg *cfg,
		const struct rpma_conn_private_data *pdata)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	called_at(file, line);
	OK(rpma_conn_req_new(peer, address, port, cfg, &req));
	OK(rpma_conn_req_connect(&req, pdata, &conn));
	CHECK(req == NULL && conn != NULL);
	expect_event_here(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

void
close_first_at(const char *file, int line, struct rpma_conn **conn)
{
	called_at(file, line);
	OK(rpma_conn_disconnect(*conn));
	expect_event_here(*conn, RPMA_CONN_CLOSED);
	OK(rpma_conn_delete(conn));
	CHECK(*conn == NULL);
}

void
close_second_at(const char *file, int line, struct rpma_conn **conn)
{
	called_at(file, line);
	expect_event_here(*conn, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(*conn));
	OK(rpma_conn_delete(conn));
	CHECK(*conn == NULL);
}

void
pair_listen(struct pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	pair->peer = peer_of_local(test_address());
	OK(rpma_ep_listen(pair->peer, test_address(), test_port(0), &pair->ep));
}

void
pair_connect_at(const char *file, int line, struct pair *pair,
		const struct rpma_conn_cfg *server_cfg, const struct rpma_conn_cfg *client_cfg)
{
	struct rpma_conn_req *req = NULL;

	called_at(file, line);
	OK(rpma_conn_req_new(pair->peer, test_address(), test_port(0), client_cfg, &req));
	OK(rpma_conn_req_connect(&req, NULL, &pair->client));
	req = next_request_at(file, line, pair->ep, server_cfg);
	OK(rpma_conn_req_connect(&req, NULL, &pair->server));
	/* in this order: the server is told when the client has taken its event */
	expect_event_here(pair->client, RPMA_CONN_ESTABLISHED);
	expect_event_here(pair->server, RPMA_CONN_ESTABLISHED);
}

void
pair_disconnect_at(const char *file, int line, struct pair *pair)
{
	called_at(file, line);
	OK(rpma_conn_disconnect(pair->client));
	expect_event_here(pair->server, RPMA_CONN_CLOSED);
	OK(rpma_conn_disconnect(pair->server));
	expect_event_here(pair->client, RPMA_CONN_CLOSED);
	OK(rpma_conn_delete(&pair->server));
	OK(rpma_conn_delete(&pair->client));
}

void
pair_delete(struct pair *pair)
{
	OK(rpma_ep_shutdown(&pair->ep));
	OK(rpma_peer_delete(&pair->peer));
	CHECK(pair->ep == NULL && pair->peer == NULL);
}

/* ---- what a server tells its client about its memory ------------------- */

void
offer_region(struct offer *offer, unsigned n, const struct rpma_mr_local *mr)
{
	size_t size = 0;

	OK(rpma_mr_get_descriptor_size(mr, &size));
	CHECK(size == sizeof(offer->region[n]));
	OK(rpma_mr_get_descriptor(mr, offer->region[n]));
}

void
offer_direct_write_to_pmem(struct offer *offer, bool supported)
{
	struct rpma_peer_cfg *pcfg = NULL;
	size_t size = 0;

	OK(rpma_peer_cfg_new(&pcfg));
	OK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, supported));
	OK(rpma_peer_cfg_get_descriptor_size(pcfg, &size));
	CHECK(size == sizeof(offer->direct_write_to_pmem));
	OK(rpma_peer_cfg_get_descriptor(pcfg, offer->direct_write_to_pmem));
	OK(rpma_peer_cfg_delete(&pcfg));
}

struct rpma_conn_private_data
offer_as_private_data(struct offer *offer)
{
	return (struct rpma_conn_private_data) { .ptr = offer, .len = sizeof(*offer) };
}

static const struct offer *
offer_of(const struct rpma_conn *conn)
{
	struct rpma_conn_private_data pdata = { NULL, 0 };

	OK(rpma_conn_get_private_data(conn, &pdata));
	CHECK(pdata.ptr != NULL && pdata.len >= sizeof(struct offer));
	return pdata.ptr;
}

struct rpma_mr_remote *
offered_region(const struct rpma_conn *conn, unsigned n)
{
	const struct offer *offer = offer_of(conn);
	struct rpma_mr_remote *mr = NULL;

	OK(rpma_mr_remote_from_descriptor(offer->region[n], sizeof(offer->region[n]), &mr));
	CHECK(mr != NULL);
	return mr;
}

struct rpma_peer_cfg *
offered_peer_cfg(const struct rpma_conn *conn)
{
	const struct offer *offer = offer_of(conn);
	struct rpma_peer_cfg *pcfg = NULL;

	OK(rpma_peer_cfg_from_descriptor(offer->direct_write_to_pmem,
			sizeof(offer->direct_write_to_pmem), &pcfg));
	CHECK(pcfg != NULL);
	return pcfg;
}

/* ---- completions ----------------------------------------------------- */

struct rpma_cq *
cq_of(const struct rpma_conn *conn)
{
	struct rpma_cq *cq = NULL;

	OK(rpma_conn_get_cq(conn, &cq));
	CHECK(cq != NULL);
	return cq;
}

struct rpma_cq *
rcq_of(const struct rpma_conn *conn)
{
	struct rpma_cq *rcq = NULL;

	OK(rpma_conn_get_rcq(conn, &rcq));
	CHECK(rcq != NULL);
	return rcq;
}

uint32_t
qp_num_of(const struct rpma_conn *conn)
{
	uint32_t qp_num = 0;

	OK(rpma_conn_get_qp_num(conn, &qp_num));
	CHECK(qp_num != 0);
	return qp_num;
}

/*
 * First look, then wait: the notification of a completion that is already in the
 * queue may have been taken by an earlier wait.
 */
static void
next_completion_here(struct rpma_cq *cq, struct ibv_wc *wc)
{
	int fd = -1;
	int ret;

	memset(wc, 0xff, sizeof(*wc));
	OK(rpma_cq_get_fd(cq, &fd));
	while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION) {
		CHECK(readable(fd, WAIT_MS));
		OK(rpma_cq_wait(cq));
	}
	RETURNS(ret, 0);
}

void
next_completion_at(const char *file, int line, struct rpma_cq *cq, struct ibv_wc *wc)
{
	called_at(file, line);
	next_completion_here(cq, wc);
}

static void
check_completion(const struct ibv_wc *wc, const struct rpma_conn *conn,
		enum ibv_wc_opcode opcode, const void *op_context)
{
	at(__FILE__, __LINE__, "completion");
	if (wc->status != IBV_WC_SUCCESS)
		fail("status %d (%s), vendor error 0x%x", wc->status,
				ibv_wc_status_str(wc->status), wc->vendor_err);
	if (wc->opcode != opcode)
		fail("opcode %d, not %d", wc->opcode, opcode);
	if (wc->wr_id != (uint64_t)(uintptr_t)op_context)
		fail("wr_id 0x%" PRIx64 ", not %p", wc->wr_id, op_context);
	if (wc->qp_num != qp_num_of(conn))
		fail("qp_num %u, not %u", wc->qp_num, qp_num_of(conn));
}

static void
check_byte_len(const struct ibv_wc *wc, uint32_t byte_len)
{
	at(__FILE__, __LINE__, "completion");
	if (wc->byte_len != byte_len)
		fail("byte_len %u, not %u", wc->byte_len, byte_len);
}

void
expect_completion_at(const char *file, int line, struct rpma_cq *cq,
		const struct rpma_conn *conn, enum ibv_wc_opcode opcode, const void *op_context)
{
	struct ibv_wc wc;

	called_at(file, line);
	next_completion_here(cq, &wc);
	check_completion(&wc, conn, opcode, op_context);
}

void
expect_received_at(const char *file, int line, struct rpma_cq *cq,
		const struct rpma_conn *conn, const void *op_context, uint32_t byte_len)
{
	struct ibv_wc wc;

	called_at(file, line);
	next_completion_here(cq, &wc);
	check_completion(&wc, conn, IBV_WC_RECV, op_context);
	check_byte_len(&wc, byte_len);
	CHECK((wc.wc_flags & IBV_WC_WITH_IMM) == 0);
}

void
expect_imm_at(const char *file, int line, struct rpma_cq *cq, const struct rpma_conn *conn,
		enum ibv_wc_opcode opcode, const void *op_context, uint32_t byte_len, uint32_t imm)
{
	struct ibv_wc wc;

	called_at(file, line);
	next_completion_here(cq, &wc);
	check_completion(&wc, conn, opcode, op_context);
	check_byte_len(&wc, byte_len);
	CHECK((wc.wc_flags & IBV_WC_WITH_IMM) != 0);
	at(__FILE__, __LINE__, "completion");
	if (ntohl(wc.imm_data) != imm)
		fail("immediate data 0x%x, not 0x%x", ntohl(wc.imm_data), imm);
}

static bool
is_native(const char *variable)
{
	const char *value = getenv(variable);

	return value != NULL && strcmp(value, "native") == 0;
}

/* the headers of rdma-core 44 lack the two native opcodes */
enum ibv_wc_opcode
flush_opcode(void)
{
	return is_native("RPMA_FLUSH") ? (enum ibv_wc_opcode)8 : IBV_WC_RDMA_READ;
}

enum ibv_wc_opcode
atomic_write_opcode(void)
{
	return is_native("RPMA_ATOMIC_WRITE") ? (enum ibv_wc_opcode)9 : IBV_WC_RDMA_WRITE;
}
