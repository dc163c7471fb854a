/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log in a server's memory. Clients append to it over RDMA, and the server's program
 * takes no part in that. This file has what both sides must agree on: the layout of the
 * log, and what they tell each other when they connect.
 *
 *	| header, 64 bytes | record 1 | record 2 | ... | free |
 *
 * The tail is one word of the header, and says how much of the log is valid. A client
 * writes a record behind the tail, makes the record persistent, and only then moves the
 * tail, with an atomic write. So after a power cut, the tail covers only whole records.
 */
#ifndef REMOTE_LOG_H
#define REMOTE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include <librpma.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the log and the private data are little-endian: convert them on this machine"
#endif

#define LOG_MAGIC	UINT64_C(0x31676f4c616d7052)	/* "RpmaLog1" */
#define LOG_ALIGNMENT	8

struct log_header {
	uint64_t magic;
	uint64_t capacity;	/* bytes for records, after this header */
	uint64_t tail;		/* written by rpma_atomic_write(), see log_tail() */
	uint64_t reserved[5];
};

struct log_record {
	uint32_t length;	/* of the payload, which follows */
	uint32_t checksum;	/* of everything else: see log_checksum() */
	uint64_t sequence;	/* 1 for the first record */
};

_Static_assert(sizeof(struct log_header) == 64, "the records start at byte 64");
_Static_assert(offsetof(struct log_header, tail) % RPMA_ATOMIC_WRITE_ALIGNMENT == 0,
		"rpma_atomic_write() wants an aligned word");

/* What a client sends as private data when it connects ... */
enum log_role { LOG_READER = 1, LOG_WRITER = 2 };

struct log_hello {
	uint64_t magic;
	uint32_t role;
};

/* ... and what the server answers. RoCE and InfiniBand carry 196 bytes. */
struct log_welcome {
	uint64_t magic;
	uint64_t capacity;
	uint8_t region_size;	/* of the region's descriptor, first in descriptors */
	uint8_t peer_cfg_size;	/* of the peer configuration's, which follows it */
	uint8_t descriptors[196 - 8 - 8 - 2];
} __attribute__((packed));

_Static_assert(sizeof(struct log_welcome) == 196, "the welcome fits the private data");

/*
 * The tail holds the number of valid bytes of records, and the number of records, so that
 * one atomic write moves both. This limits a log to 4 GiB.
 */
static inline uint64_t log_tail(uint32_t used, uint32_t records)
{
	return (uint64_t)records << 32 | used;
}

static inline uint32_t log_used(uint64_t tail)
{
	return (uint32_t)tail;
}

static inline uint32_t log_records(uint64_t tail)
{
	return (uint32_t)(tail >> 32);
}

/* How many bytes a record with this payload takes. */
static inline uint64_t log_record_size(uint32_t length)
{
	uint64_t size = sizeof(struct log_record) + length;

	return (size + LOG_ALIGNMENT - 1) / LOG_ALIGNMENT * LOG_ALIGNMENT;
}

/* CRC-32C, a bit at a time: short rather than fast. */
static inline uint32_t log_crc(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *byte = data;

	for (crc = ~crc; len > 0; len--) {
		crc ^= *byte++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	return ~crc;
}

static inline uint32_t log_checksum(const struct log_record *record)
{
	uint32_t crc = log_crc(0, &record->length, sizeof(record->length));

	return log_crc(crc, &record->sequence, sizeof(record->sequence) + record->length);
}

/*
 * Check the record at *used bytes, which must have this sequence number, and step over
 * it. Return NULL, or say what is wrong with it.
 */
static inline const char *log_next(const void *records, uint64_t tail, uint32_t *used,
		uint64_t sequence, const struct log_record **next)
{
	const struct log_record *record = (const void *)((const char *)records + *used);
	uint32_t left = log_used(tail) - *used;

	if (left < sizeof(*record) || left < log_record_size(record->length))
		return "a record reaches beyond the tail";
	if (record->sequence != sequence)
		return "a record has the wrong sequence number";
	if (record->checksum != log_checksum(record))
		return "a record has the wrong checksum";
	*used += (uint32_t)log_record_size(record->length);
	*next = record;
	return NULL;
}

/* Check the header of a log in a region of this size. Return NULL, or say what is wrong. */
static inline const char *log_check_header(const struct log_header *header, uint64_t room)
{
	if (header->magic != LOG_MAGIC)
		return "this is not a log";
	if (header->capacity > room)
		return "the log is larger than its region";
	if (log_used(header->tail) > header->capacity)
		return "the tail is beyond the end of the log";
	if (log_used(header->tail) % LOG_ALIGNMENT != 0)
		return "the tail is not aligned";
	return NULL;
}

#endif
