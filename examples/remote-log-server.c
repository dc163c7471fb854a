/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps a log in persistent memory, or in plain memory, and lets clients append to it
 * and read it over RDMA. remote-log.h describes the layout of the log.
 *
 * The server only connects and disconnects clients. Any number of them may read at the
 * same time. Only one at a time may append, because it moves the tail.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "common.h"
#include "remote-log.h"

#define CLIENTS_MAX	16
#define CACHE_LINE	64

struct options {
	const char *address;
	const char *port;
	const char *pmem;	/* a device DAX, or NULL for plain memory */
	uint64_t size;		/* of the plain memory */
	uint32_t clients;	/* to serve before the server ends, 0: it never ends */
	uint32_t timeout;	/* seconds */
	bool direct;
	bool format;
};

struct client {
	struct rpma_conn *conn;	/* NULL: this place is free */
	unsigned number;
	enum log_role role;
};

struct server {
	const struct options *options;
	void *memory;
	size_t size;
	struct log_header *log;
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_peer_cfg *pcfg;
	struct rpma_ep *ep;
	int epoll;
	unsigned accepted;
	unsigned served;
	uint64_t seen_tail;
	struct client clients[CLIENTS_MAX];
};

static const char *role_name(enum log_role role)
{
	return role == LOG_WRITER ? "append" : "read";
}

static uint64_t current_tail(const struct server *server)
{
	return __atomic_load_n(&server->log->tail, __ATOMIC_ACQUIRE);
}

/* ---- the memory ---- */

/* Only sysfs has the size of a device DAX. */
static int device_size(dev_t device, size_t *size)
{
	char path[64];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/size", major(device), minor(device));
	file = fopen(path, "r");
	if (file == NULL)
		return -1;
	found = fscanf(file, "%zu", size);
	fclose(file);
	return found == 1 ? 0 : -1;
}

static int map_device(struct server *server, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode) ||
	    device_size(status.st_rdev, &server->size) != 0) {
		fprintf(stderr, "%s is not a device DAX\n", server->options->pmem);
		return -1;
	}
	server->memory = mmap(NULL, server->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return 0;
}

static int map_pmem(struct server *server)
{
#if !defined(__x86_64__)
	fprintf(stderr, "this example persists on x86-64 only\n");
	return -1;
#endif
	int fd = open(server->options->pmem, O_RDWR | O_CLOEXEC);
	int result;

	if (fd < 0) {
		perror(server->options->pmem);
		return -1;
	}
	result = map_device(server, fd);
	close(fd);
	return result;
}

static int map_memory(struct server *server)
{
	const char *pmem = server->options->pmem;

	if (pmem != NULL) {
		if (map_pmem(server) != 0)
			return -1;
	} else {
		server->size = server->options->size;
		server->memory = mmap(NULL, server->size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (server->memory == MAP_FAILED) {
		perror("mmap");
		return -1;
	}
	server->log = server->memory;
	printf("memory: %zu bytes of %s\n", server->size, pmem != NULL ? pmem : "plain memory");
	return 0;
}

/* This does what pmem_persist() of libpmem does. Plain memory does not need it. */
static void persist(const void *from, size_t len)
{
#if defined(__x86_64__)
	const char *line = (const char *)((uintptr_t)from / CACHE_LINE * CACHE_LINE);

	for (; line < (const char *)from + len; line += CACHE_LINE)
		_mm_clflush(line);
	_mm_sfence();
#else
	/* map_pmem() refused */
	(void)from;
	(void)len;
#endif
}

/* ---- the log in it ---- */

static uint64_t room(const struct server *server)
{
	uint64_t bytes = server->size - sizeof(struct log_header);

	if (bytes > UINT32_MAX)
		bytes = UINT32_MAX;
	return bytes / LOG_ALIGNMENT * LOG_ALIGNMENT;
}

/* Write the magic last: it says that there is a log. */
static void format_log(struct server *server)
{
	struct log_header *log = server->log;

	log->magic = 0;
	persist(log, sizeof(*log));
	memset(log, 0, sizeof(*log));
	log->capacity = room(server);
	persist(log, sizeof(*log));
	log->magic = LOG_MAGIC;
	persist(log, sizeof(*log));
	printf("log: a new one, room for %llu bytes\n", (unsigned long long)log->capacity);
}

static const char *check_log(const struct log_header *log, uint64_t tail)
{
	const struct log_record *record;
	const char *fault = NULL;
	uint64_t sequence = 0;
	uint32_t used = 0;

	while (fault == NULL && used < log_used(tail))
		fault = log_next(log + 1, tail, &used, ++sequence, &record);
	if (fault == NULL && sequence != log_records(tail))
		fault = "the tail counts other records than there are";
	return fault;
}

static int recover_log(struct server *server)
{
	const char *fault = log_check_header(server->log, room(server));
	uint64_t tail = current_tail(server);

	if (fault == NULL)
		fault = check_log(server->log, tail);
	if (fault != NULL) {
		fprintf(stderr, "%s; --format makes a new log there\n", fault);
		return -1;
	}
	printf("log: recovered, %u whole records, %u bytes\n", log_records(tail), log_used(tail));
	return 0;
}

static bool is_blank(const struct log_header *log)
{
	static const struct log_header blank;

	return memcmp(log, &blank, sizeof(blank)) == 0;
}

/* Never overwrite what may be somebody's data. */
static int open_log(struct server *server)
{
	if (server->size <= sizeof(struct log_header)) {
		fputs("the memory is too small for a log\n", stderr);
		return -1;
	}
	if (!server->options->format && !is_blank(server->log))
		return recover_log(server);
	format_log(server);
	return 0;
}

/* ---- what clients are told ---- */

static int register_memory(struct server *server)
{
	int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	int ret;

	if (server->options->pmem != NULL)
		usage |= RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	ret = rpma_mr_reg(server->peer, server->memory, server->size, usage, &server->mr);
	return ret == 0 ? 0 : failed("rpma_mr_reg", ret);
}

static int configure_peer(struct server *server)
{
	int ret = rpma_peer_cfg_new(&server->pcfg);

	if (ret != 0)
		return failed("rpma_peer_cfg_new", ret);
	ret = rpma_peer_cfg_set_direct_write_to_pmem(server->pcfg, server->options->direct);
	return ret == 0 ? 0 : failed("rpma_peer_cfg_set_direct_write_to_pmem", ret);
}

/* The two descriptors, one after the other. */
static int describe(const struct server *server, struct log_welcome *welcome)
{
	size_t region_size, peer_cfg_size;
	int ret = rpma_mr_get_descriptor_size(server->mr, &region_size);

	if (ret == 0)
		ret = rpma_peer_cfg_get_descriptor_size(server->pcfg, &peer_cfg_size);
	if (ret != 0)
		return failed("get_descriptor_size", ret);
	if (region_size + peer_cfg_size > sizeof(welcome->descriptors)) {
		fputs("the descriptors do not fit the private data\n", stderr);
		return -1;
	}
	welcome->region_size = (uint8_t)region_size;
	welcome->peer_cfg_size = (uint8_t)peer_cfg_size;
	ret = rpma_mr_get_descriptor(server->mr, welcome->descriptors);
	if (ret == 0)
		ret = rpma_peer_cfg_get_descriptor(server->pcfg,
				welcome->descriptors + region_size);
	return ret == 0 ? 0 : failed("get_descriptor", ret);
}

/* ---- clients come and go ---- */

/*
 * One epoll watches all file descriptors, and they never block. An event may be gone when
 * the server takes it: then it gets RPMA_E_NO_EVENT, or EAGAIN in librpma up to 1.3.0.
 */
static bool no_event(int ret)
{
	return ret == RPMA_E_NO_EVENT || (ret == RPMA_E_PROVIDER && errno == EAGAIN);
}

static int watch(const struct server *server, int fd, struct client *client)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		perror("watching a file descriptor");
		return -1;
	}
	return 0;
}

static int listen_there(struct server *server)
{
	const struct options *options = server->options;
	int fd;
	int ret = rpma_ep_listen(server->peer, options->address, options->port, &server->ep);

	if (ret != 0)
		return failed("rpma_ep_listen", ret);
	ret = rpma_ep_get_fd(server->ep, &fd);
	if (ret != 0)
		return failed("rpma_ep_get_fd", ret);
	if (watch(server, fd, NULL) != 0)
		return -1;
	printf("listening on %s port %s\n", options->address, options->port);
	return 0;
}

static bool writer_connected(const struct server *server)
{
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (server->clients[i].conn != NULL && server->clients[i].role == LOG_WRITER)
			return true;
	return false;
}

static struct client *free_place(struct server *server)
{
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (server->clients[i].conn == NULL)
			return &server->clients[i];
	return NULL;
}

/* The reason to reject this client, or NULL. */
static const char *refusal(const struct server *server, const struct rpma_conn_req *req,
		enum log_role *role)
{
	struct rpma_conn_private_data pdata;
	struct log_hello hello = {0};

	if (rpma_conn_req_get_private_data(req, &pdata) != 0 || pdata.len < sizeof(hello))
		return "it says nothing";
	memcpy(&hello, pdata.ptr, sizeof(hello));
	if (hello.magic != LOG_MAGIC || (hello.role != LOG_READER && hello.role != LOG_WRITER))
		return "it is not a remote-log-client";
	if (hello.role == LOG_WRITER && writer_connected(server))
		return "another client is appending";
	*role = hello.role;
	return NULL;
}

static int accept_client(struct server *server, struct rpma_conn_req *req, struct client *client)
{
	struct log_welcome welcome = {.magic = LOG_MAGIC, .capacity = server->log->capacity};
	struct rpma_conn_private_data pdata = {.ptr = &welcome, .len = sizeof(welcome)};
	int fd;
	int ret;

	if (describe(server, &welcome) != 0) {
		rpma_conn_req_delete(&req);
		return -1;
	}
	ret = rpma_conn_req_connect(&req, &pdata, &client->conn);
	if (ret != 0) {
		failed("rpma_conn_req_connect", ret);
		return 0;
	}
	client->number = ++server->accepted;
	ret = rpma_conn_get_event_fd(client->conn, &fd);
	if (ret != 0)
		return failed("rpma_conn_get_event_fd", ret);
	return watch(server, fd, client);
}

/* If one client fails, for example because it is gone, the server goes on. */
static int next_request(struct server *server)
{
	struct client *client = free_place(server);
	struct rpma_conn_req *req;
	const char *why;
	int ret = rpma_ep_next_conn_req(server->ep, NULL, &req);

	if (no_event(ret))
		return 0;
	if (ret == RPMA_E_NOMEM)
		return failed("rpma_ep_next_conn_req", ret);
	if (ret != 0) {
		failed("rpma_ep_next_conn_req", ret);
		return 0;
	}
	why = client == NULL ? "there are too many" : refusal(server, req, &client->role);
	if (why == NULL)
		return accept_client(server, req, client);
	printf("a client is turned away: %s\n", why);
	ret = rpma_conn_req_delete(&req);
	if (ret != 0)
		failed("rpma_conn_req_delete", ret);
	return 0;
}

static int drop_client(struct client *client)
{
	int ret = rpma_conn_disconnect(client->conn);
	int delete_ret = rpma_conn_delete(&client->conn);

	if (ret != 0)
		return failed("rpma_conn_disconnect", ret);
	return delete_ret == 0 ? 0 : failed("rpma_conn_delete", delete_ret);
}

static int client_gone(struct server *server, struct client *client, const char *how)
{
	uint64_t tail = current_tail(server);

	server->served++;
	printf("client %u (%s): %s; the log holds %u records\n", client->number,
			role_name(client->role), how, log_records(tail));
	return drop_client(client);
}

static int next_event(struct server *server, struct client *client)
{
	enum rpma_conn_event event;
	int ret = rpma_conn_next_event(client->conn, &event);

	if (no_event(ret))
		return 0;
	if (ret != 0)
		return client_gone(server, client, rpma_err_2str(ret));
	if (event != RPMA_CONN_ESTABLISHED)
		return client_gone(server, client, event == RPMA_CONN_CLOSED ? "disconnected" :
				rpma_utils_conn_event_2str(event));
	printf("client %u (%s): connected\n", client->number, role_name(client->role));
	return 0;
}

/* A client that appends sends no message: the tail that moves shows that it is alive. */
static int nothing_happened(struct server *server)
{
	uint64_t tail = current_tail(server);

	if (tail != server->seen_tail) {
		server->seen_tail = tail;
		return 0;
	}
	fprintf(stderr, "nothing happened for %u seconds\n", server->options->timeout);
	return -1;
}

static int serve_one(struct server *server)
{
	struct epoll_event event;
	int timeout_ms = (int)server->options->timeout * 1000;
	int n = epoll_wait(server->epoll, &event, 1, timeout_ms);

	if (n < 0 && errno != EINTR) {
		perror("epoll_wait");
		return -1;
	}
	if (n < 0)
		return 0;
	if (n == 0)
		return nothing_happened(server);
	if (event.data.ptr == NULL)
		return next_request(server);
	return next_event(server, event.data.ptr);
}

/* ---- from start to end ---- */

static int start(struct server *server)
{
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll < 0) {
		perror("epoll_create1");
		return -1;
	}
	if (map_memory(server) != 0 || open_log(server) != 0)
		return -1;
	if (create_peer(server->options->address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &server->peer) != 0)
		return -1;
	if (register_memory(server) != 0 || configure_peer(server) != 0)
		return -1;
	return listen_there(server);
}

static int serve(struct server *server)
{
	uint32_t clients = server->options->clients;

	while (clients == 0 || server->served < clients)
		if (serve_one(server) != 0)
			return -1;
	printf("served %u clients\n", server->served);
	return 0;
}

static int release_rpma(struct server *server)
{
	int ret = rpma_ep_shutdown(&server->ep);
	int pcfg_ret = rpma_peer_cfg_delete(&server->pcfg);
	int mr_ret = rpma_mr_dereg(&server->mr);
	int peer_ret = rpma_peer_delete(&server->peer);

	if (ret != 0)
		return failed("rpma_ep_shutdown", ret);
	if (pcfg_ret != 0)
		return failed("rpma_peer_cfg_delete", pcfg_ret);
	if (mr_ret != 0)
		return failed("rpma_mr_dereg", mr_ret);
	return peer_ret == 0 ? 0 : failed("rpma_peer_delete", peer_ret);
}

/* Delete connections before the endpoint, the endpoint before the memory, and the peer last. */
static int release(struct server *server)
{
	int result = 0;

	for (int i = 0; i < CLIENTS_MAX; i++)
		if (server->clients[i].conn != NULL && drop_client(&server->clients[i]) != 0)
			result = -1;
	if (release_rpma(server) != 0)
		result = -1;
	if (server->log != NULL)
		munmap(server->memory, server->size);
	if (server->epoll >= 0)
		close(server->epoll);
	return result;
}

static int run(const struct options *options)
{
	struct server server = {.options = options};
	int result = start(&server);

	if (result == 0)
		result = serve(&server);
	if (release(&server) != 0)
		result = -1;
	return result;
}

static int usage(const char *program)
{
	fprintf(stderr,
		"usage: %s ADDRESS PORT [--pmem DEVICE [--direct-write] | --size BYTES]\n"
		"       [--format] [--clients N] [--timeout SECONDS]\n"
		"  --pmem DEVICE      keep the log in this device DAX, /dev/dax0.0\n"
		"  --direct-write     what arrives over RDMA is persistent once flushed, no cache\n"
		"                     of this machine holds it back: clients flush to persistence\n"
		"  --size BYTES       without --pmem: keep it in so much plain memory (1048576)\n"
		"  --format           make a new log, whatever there is\n"
		"  --clients N        end after N clients\n"
		"  --timeout SECONDS  give up when nothing happens for so long (60)\n", program);
	return 2;
}

static int parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
		return -1;
	return *number >= least && *number <= most ? 0 : -1;
}

static int parse_option(int option, struct options *options)
{
	uint64_t number = 0;
	int result = 0;

	if (option == 'p')
		options->pmem = optarg;
	else if (option == 'd')
		options->direct = true;
	else if (option == 'f')
		options->format = true;
	else if (option == 's')
		result = parse_number(optarg, 1, SIZE_MAX, &options->size);
	else if (option == 'c')
		result = parse_number(optarg, 1, UINT32_MAX, &number);
	else if (option == 't')
		result = parse_number(optarg, 1, INT32_MAX / 1000, &number);
	else
		result = -1;
	if (option == 'c')
		options->clients = (uint32_t)number;
	if (option == 't')
		options->timeout = (uint32_t)number;
	return result;
}

static int parse(int argc, char *argv[], struct options *options)
{
	static const struct option longs[] = {
		{"pmem", required_argument, NULL, 'p'},
		{"direct-write", no_argument, NULL, 'd'},
		{"size", required_argument, NULL, 's'},
		{"format", no_argument, NULL, 'f'},
		{"clients", required_argument, NULL, 'c'},
		{"timeout", required_argument, NULL, 't'},
		{0}
	};
	int option;

	*options = (struct options){.timeout = 60};
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1)
		if (parse_option(option, options) != 0)
			return -1;
	if (argc - optind != 2)
		return -1;
	options->address = argv[optind];
	options->port = argv[optind + 1];
	if (options->pmem != NULL ? options->size != 0 : options->direct)
		return -1;
	if (options->size == 0)
		options->size = 1 << 20;
	return 0;
}

int main(int argc, char *argv[])
{
	struct options options;

	/* A program that waits for "listening" through a pipe needs the line at once. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse(argc, argv, &options) != 0)
		return usage(argv[0]);
	print_library();
	return run(&options) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
