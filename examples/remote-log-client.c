/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appends records to the log of a remote-log-server, or reads the log back and checks it.
 *
 * The client computes each record from its sequence number, so that it can check the
 * record when it reads it back.
 */
#define _GNU_SOURCE
#include <getopt.h>

#include "common.h"
#include "remote-log.h"

#define PAYLOAD_MAX	512
#define READ_MAX	(1 << 20)	/* bytes in one rpma_read() */

struct options {
	const char *command;
	const char *address;
	const char *port;
	uint32_t records;	/* to append, or to find at least */
	uint32_t report;	/* print a line after each so many appended records */
};

struct client {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	struct rpma_mr_remote *log;
	enum rpma_flush_type flush_type;
	uint64_t capacity;
};

/* The buffer of an append: what it reads from the log, and what it writes to the log. */
struct workspace {
	struct log_header header;
	struct log_record record;
	char payload[PAYLOAD_MAX];
};

static int connect_to(struct client *client, const struct options *options, enum log_role role)
{
	struct log_hello hello = {.magic = LOG_MAGIC, .role = role};
	struct rpma_conn_private_data pdata = {.ptr = &hello, .len = sizeof(hello)};
	struct rpma_conn_req *req;
	int ret = rpma_conn_req_new(client->peer, options->address, options->port, NULL, &req);

	if (ret != 0)
		return failed("rpma_conn_req_new", ret);
	ret = rpma_conn_req_connect(&req, &pdata, &client->conn);
	if (ret != 0)
		return failed("rpma_conn_req_connect", ret);
	return wait_event(client->conn, RPMA_CONN_ESTABLISHED);
}

/* Tell the connection what the server declared. Does it have direct write to PMem? */
static int apply_peer_cfg(struct rpma_conn *conn, const void *descriptor, size_t size,
		bool *direct)
{
	struct rpma_peer_cfg *pcfg;
	int ret = rpma_peer_cfg_from_descriptor(descriptor, size, &pcfg);

	if (ret != 0)
		return failed("rpma_peer_cfg_from_descriptor", ret);
	ret = rpma_peer_cfg_get_direct_write_to_pmem(pcfg, direct);
	if (ret == 0)
		ret = rpma_conn_apply_remote_peer_cfg(conn, pcfg);
	rpma_peer_cfg_delete(&pcfg);
	return ret == 0 ? 0 : failed("rpma_conn_apply_remote_peer_cfg", ret);
}

/* Flush to persistence if the server offers it, else to visibility. */
static int choose_flush(struct client *client, bool direct)
{
	int types;
	int ret = rpma_mr_remote_get_flush_type(client->log, &types);
	bool persistent;

	if (ret != 0)
		return failed("rpma_mr_remote_get_flush_type", ret);
	persistent = direct && (types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
	client->flush_type = persistent ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
	printf("connected: a log of %llu bytes, flushed to %s\n",
			(unsigned long long)client->capacity,
			persistent ? "persistence" : "visibility");
	return 0;
}

static int read_welcome(struct client *client)
{
	const struct log_welcome *welcome;
	struct rpma_conn_private_data pdata;
	bool direct;
	int ret = rpma_conn_get_private_data(client->conn, &pdata);

	if (ret != 0)
		return failed("rpma_conn_get_private_data", ret);
	welcome = pdata.ptr;
	if (pdata.len < sizeof(*welcome) || welcome->magic != LOG_MAGIC ||
	    welcome->region_size + welcome->peer_cfg_size > sizeof(welcome->descriptors)) {
		fputs("this is not a remote-log-server\n", stderr);
		return -1;
	}
	client->capacity = welcome->capacity;
	ret = rpma_mr_remote_from_descriptor(welcome->descriptors, welcome->region_size,
			&client->log);
	if (ret != 0)
		return failed("rpma_mr_remote_from_descriptor", ret);
	if (apply_peer_cfg(client->conn, welcome->descriptors + welcome->region_size,
			welcome->peer_cfg_size, &direct) != 0)
		return -1;
	return choose_flush(client, direct);
}

static int open_log(struct client *client, const struct options *options, enum log_role role)
{
	if (create_peer(options->address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &client->peer) != 0)
		return -1;
	if (connect_to(client, options, role) != 0)
		return -1;
	return read_welcome(client);
}

/* Every delete function accepts the NULL handle of an object that was never created. */
static int release(struct client *client)
{
	int ret = rpma_mr_remote_delete(&client->log);
	int conn_ret = rpma_conn_delete(&client->conn);
	int peer_ret = rpma_peer_delete(&client->peer);

	if (ret != 0)
		return failed("rpma_mr_remote_delete", ret);
	if (conn_ret != 0)
		return failed("rpma_conn_delete", conn_ret);
	return peer_ret == 0 ? 0 : failed("rpma_peer_delete", peer_ret);
}

/* Memory into which RDMA reads, and from which it writes. */
static int reg(struct client *client, void *buffer, size_t size, struct rpma_mr_local **mr)
{
	int usage = RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC;
	int ret = rpma_mr_reg(client->peer, buffer, size, usage, mr);

	return ret == 0 ? 0 : failed("rpma_mr_reg", ret);
}

/* Read len bytes of the region into the start of mr, in pieces that any device takes. */
static int read_region(struct client *client, struct rpma_mr_local *mr, size_t offset, size_t len)
{
	static const char operation[] = "rpma_read";
	size_t done = 0;

	while (done < len) {
		size_t piece = len - done < READ_MAX ? len - done : READ_MAX;
		int ret = rpma_read(client->conn, mr, done, client->log, offset + done, piece,
				RPMA_F_COMPLETION_ALWAYS, operation);

		if (ret != 0)
			return failed(operation, ret);
		if (wait_completion(client->conn, operation) != 0)
			return -1;
		done += piece;
	}
	return 0;
}

static int read_header(struct client *client, struct rpma_mr_local *mr,
		const struct log_header *header)
{
	const char *fault;

	if (read_region(client, mr, 0, sizeof(*header)) != 0)
		return -1;
	fault = log_check_header(header, client->capacity);
	if (fault != NULL) {
		fprintf(stderr, "the header is wrong: %s\n", fault);
		return -1;
	}
	printf("the log holds %u records, %u bytes\n", log_records(header->tail),
			log_used(header->tail));
	return 0;
}

static int flush_range(struct client *client, size_t offset, size_t len)
{
	static const char operation[] = "rpma_flush";
	int ret = rpma_flush(client->conn, client->log, offset, len, client->flush_type,
			RPMA_F_COMPLETION_ALWAYS, operation);

	return ret == 0 ? wait_completion(client->conn, operation) : failed(operation, ret);
}

/* A write that succeeds needs no completion: the flush after it has one. */
static int store_record(struct client *client, struct rpma_mr_local *mr, uint64_t tail, size_t len)
{
	static const char operation[] = "rpma_write";
	size_t offset = sizeof(struct log_header) + log_used(tail);
	int ret = rpma_write(client->conn, client->log, offset, mr,
			offsetof(struct workspace, record), len, RPMA_F_COMPLETION_ON_ERROR,
			operation);

	return ret == 0 ? flush_range(client, offset, len) : failed(operation, ret);
}

static int store_tail(struct client *client, uint64_t tail)
{
	static const char operation[] = "rpma_atomic_write";
	size_t offset = offsetof(struct log_header, tail);
	char word[8];
	int ret;

	memcpy(word, &tail, sizeof(word));
	ret = rpma_atomic_write(client->conn, client->log, offset, word,
			RPMA_F_COMPLETION_ON_ERROR, operation);
	return ret == 0 ? flush_range(client, offset, sizeof(word)) : failed(operation, ret);
}

/* Records of many lengths, different from each other all over. */
static uint32_t make_payload(uint64_t sequence, char *payload)
{
	uint32_t length = 32 + (uint32_t)(sequence * 37 % (PAYLOAD_MAX - 31));
	int named = snprintf(payload, length, "record %llu ", (unsigned long long)sequence);

	for (uint32_t i = (uint32_t)named; i < length; i++)
		payload[i] = (char)('a' + (sequence + i) % 26);
	return length;
}

static size_t make_record(struct workspace *work)
{
	struct log_record *record = &work->record;
	size_t size;

	record->sequence = (uint64_t)log_records(work->header.tail) + 1;
	record->length = make_payload(record->sequence, work->payload);
	record->checksum = log_checksum(record);
	size = log_record_size(record->length);
	/* The padding must not carry the bytes of the record before. */
	memset(work->payload + record->length, 0, size - sizeof(*record) - record->length);
	return size;
}

/* The record is persistent before the tail moves over it: see remote-log.h. */
static int append_record(struct client *client, struct rpma_mr_local *mr, struct workspace *work)
{
	uint64_t tail = work->header.tail;
	size_t size = make_record(work);

	if (work->header.capacity - log_used(tail) < size || log_records(tail) == UINT32_MAX) {
		fputs("the log is full\n", stderr);
		return -1;
	}
	if (store_record(client, mr, tail, size) != 0)
		return -1;
	tail = log_tail(log_used(tail) + (uint32_t)size, log_records(tail) + 1);
	if (store_tail(client, tail) != 0)
		return -1;
	work->header.tail = tail;
	return 0;
}

static int append_records(struct client *client, const struct options *options,
		struct rpma_mr_local *mr, struct workspace *work)
{
	uint64_t first;

	if (read_header(client, mr, &work->header) != 0)
		return -1;
	first = work->header.tail;
	for (uint32_t i = 1; i <= options->records; i++) {
		if (append_record(client, mr, work) != 0)
			return -1;
		if (i % options->report == 0)
			printf("safe: records up to %u\n", log_records(work->header.tail));
	}
	printf("appended: %u records, %u bytes; the log holds %u records\n", options->records,
			log_used(work->header.tail) - log_used(first),
			log_records(work->header.tail));
	return 0;
}

static int append(struct client *client, const struct options *options)
{
	struct workspace *work = calloc(1, sizeof(*work));
	struct rpma_mr_local *mr = NULL;
	int result = -1;

	if (work == NULL) {
		perror("calloc");
		return -1;
	}
	if (reg(client, work, sizeof(*work), &mr) == 0)
		result = append_records(client, options, mr, work);
	rpma_mr_dereg(&mr);
	free(work);
	return result;
}

static const char *check_payload(const struct log_record *record)
{
	char expected[PAYLOAD_MAX];

	if (record->length != make_payload(record->sequence, expected))
		return "a record has the wrong length";
	if (memcmp(record + 1, expected, record->length) != 0)
		return "a record has the wrong contents";
	return NULL;
}

static int check_records(const void *records, uint64_t tail, uint64_t *contents)
{
	const struct log_record *record;
	const char *fault = NULL;
	uint64_t sequence = 0;
	uint32_t used = 0;

	while (fault == NULL && used < log_used(tail)) {
		fault = log_next(records, tail, &used, ++sequence, &record);
		if (fault == NULL)
			fault = check_payload(record);
		if (fault == NULL)
			*contents += record->length;
	}
	if (fault == NULL && sequence != log_records(tail))
		fault = "the tail counts other records than there are";
	if (fault == NULL)
		return 0;
	fprintf(stderr, "NOT VERIFIED: %s (record %llu)\n", fault, (unsigned long long)sequence);
	return -1;
}

static int verify_records(struct client *client, uint64_t tail)
{
	uint32_t used = log_used(tail);
	char *records = used > 0 ? malloc(used) : NULL;
	struct rpma_mr_local *mr = NULL;
	uint64_t contents = 0;
	int result = -1;

	if (used > 0 && records == NULL)
		perror("malloc");
	else if (used == 0 || (reg(client, records, used, &mr) == 0 &&
			read_region(client, mr, sizeof(struct log_header), used) == 0))
		result = check_records(records, tail, &contents);
	rpma_mr_dereg(&mr);
	free(records);
	if (result == 0)
		printf("verified: magic, tail, %u records in sequence, %u checksums, "
				"%llu bytes of contents\n", log_records(tail), log_records(tail),
				(unsigned long long)contents);
	return result;
}

static int verify(struct client *client, const struct options *options)
{
	struct log_header header;
	struct rpma_mr_local *mr;
	int result;

	if (reg(client, &header, sizeof(header), &mr) != 0)
		return -1;
	result = read_header(client, mr, &header);
	rpma_mr_dereg(&mr);
	if (result != 0)
		return -1;
	if (log_records(header.tail) < options->records) {
		fprintf(stderr, "NOT VERIFIED: expected at least %u records\n", options->records);
		return -1;
	}
	return verify_records(client, header.tail);
}

static int run(const struct options *options)
{
	bool appends = strcmp(options->command, "append") == 0;
	struct client client = {0};
	int result = open_log(&client, options, appends ? LOG_WRITER : LOG_READER);

	if (result == 0)
		result = appends ? append(&client, options) : verify(&client, options);
	if (result == 0)
		result = disconnect(client.conn);
	if (release(&client) != 0)
		result = -1;
	if (result == 0)
		puts("disconnected");
	return result;
}

static int usage(const char *program)
{
	fprintf(stderr,
		"usage: %s append ADDRESS PORT [--records N] [--report N]\n"
		"       %s verify ADDRESS PORT [--records N]\n"
		"append  adds N records (10) to the log of the remote-log-server there, and\n"
		"        says after each N (100) of them that all up to that one are safe\n"
		"verify  reads the log back and checks all of it; it has to hold at least N\n"
		"        records (0)\n", program, program);
	return 2;
}

static int parse_number(const char *text, uint32_t least, uint32_t *number)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value < least || value > UINT32_MAX)
		return -1;
	*number = (uint32_t)value;
	return 0;
}

static int parse_option(int option, struct options *options)
{
	switch (option) {
	case 'n':
		return parse_number(optarg, 0, &options->records);
	case 'r':
		return parse_number(optarg, 1, &options->report);
	default:
		return -1;
	}
}

static int parse(int argc, char *argv[], struct options *options)
{
	static const struct option longs[] = {
		{"records", required_argument, NULL, 'n'},
		{"report", required_argument, NULL, 'r'},
		{0}
	};
	int option;

	if (argc < 2)
		return -1;
	options->command = argv[1];
	options->report = 100;
	options->records = strcmp(argv[1], "append") == 0 ? 10 : 0;
	optind = 2;
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1)
		if (parse_option(option, options) != 0)
			return -1;
	if (argc - optind != 2)
		return -1;
	options->address = argv[optind];
	options->port = argv[optind + 1];
	return strcmp(argv[1], "append") == 0 || strcmp(argv[1], "verify") == 0 ? 0 : -1;
}

int main(int argc, char *argv[])
{
	struct options options;

	/* A program that reads the output through a pipe needs each line at once. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse(argc, argv, &options) != 0)
		return usage(argv[0]);
	print_library();
	return run(&options) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
