/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma.h -- remote persistent memory access over RDMA
 *
 * Generated from the library's sources. Each function returns 0, or an error code that
 * rpma_err_2str() describes, unless it says otherwise.
 */

#ifndef LIBRPMA_H
#define LIBRPMA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdbool.h>
#include <infiniband/verbs.h>

/** For rpma_log_set_function(): the default log function. */
#define RPMA_LOG_USE_DEFAULT_FUNCTION (NULL)

/** A connection request, outgoing or incoming. */
struct rpma_conn_req;

/**
 * The default time for resolving an address or a route, in milliseconds.
 */
#define RPMA_DEFAULT_TIMEOUT_MS 1000

/**
 * The region is read from afar: rpma_read()'s source, registered by the remote side.
 */
#define RPMA_MR_USAGE_READ_SRC (1 << 0)

/**
 * The region takes what rpma_read() brings.
 */
#define RPMA_MR_USAGE_READ_DST (1 << 1)

/**
 * The region holds what rpma_write() sends.
 */
#define RPMA_MR_USAGE_WRITE_SRC (1 << 2)

/**
 * The region is written from afar: rpma_write()'s destination, registered by the remote side.
 */
#define RPMA_MR_USAGE_WRITE_DST (1 << 3)

/**
 * The region may be flushed with RPMA_FLUSH_TYPE_VISIBILITY.
 */
#define RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY (1 << 4)

/**
 * The region may be flushed with RPMA_FLUSH_TYPE_PERSISTENT.
 */
#define RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT (1 << 5)

/**
 * The region holds what rpma_send() sends.
 */
#define RPMA_MR_USAGE_SEND (1 << 6)

/**
 * The region takes what rpma_recv() receives.
 */
#define RPMA_MR_USAGE_RECV (1 << 7)

/**
 * For rpma_conn_wait(): wait until a completion event arrives.
 */
#define RPMA_W_WAIT_FOR_COMPLETION 1

/**
 * The operation gives a completion only if it fails.
 */
#define RPMA_F_COMPLETION_ON_ERROR (1 << 0)

/**
 * The operation gives a completion in any case.
 */
#define RPMA_F_COMPLETION_ALWAYS ((1 << 1) | RPMA_F_COMPLETION_ON_ERROR)

/**
 * Size, and alignment at the remote side, of what rpma_atomic_write() writes, in bytes.
 */
#define RPMA_ATOMIC_WRITE_ALIGNMENT 8

/**
 * Something failed that none of the other codes describes.
 */
#define RPMA_E_UNKNOWN (-100000)

/**
 * The operation is not supported by the device, the kernel or the peer's configuration.
 */
#define RPMA_E_NOSUPP (-100001)

/**
 * A call into libibverbs, librdmacm or the kernel failed; `errno` says why.
 */
#define RPMA_E_PROVIDER (-100002)

/**
 * Memory could not be had.
 */
#define RPMA_E_NOMEM (-100003)

/**
 * An argument is wrong; nothing was done.
 */
#define RPMA_E_INVAL (-100004)

/**
 * No completion is waiting.
 */
#define RPMA_E_NO_COMPLETION (-100005)

/**
 * No connection event is waiting.
 */
#define RPMA_E_NO_EVENT (-100006)

/**
 * A temporary failure; kept for source compatibility, no call returns it.
 */
#define RPMA_E_AGAIN (-100007)

/**
 * The completion channel is shared by the CQs of the connection: use rpma_conn_wait().
 */
#define RPMA_E_SHARED_CHANNEL (-100008)

/**
 * The completion channel is not shared by the CQs of the connection: use rpma_cq_wait().
 */
#define RPMA_E_NOT_SHARED_CHNL (-100009)

/**
 * What happened to a connection.
 */
enum rpma_conn_event {
    /**
     * Nothing that this library knows.
     */
    RPMA_CONN_UNDEFINED = -1,
    /**
     * The connection is established.
     */
    RPMA_CONN_ESTABLISHED,
    /**
     * The connection is closed. This may be told twice.
     */
    RPMA_CONN_CLOSED,
    /**
     * The connection is lost: it could not be made, or the device is gone.
     */
    RPMA_CONN_LOST,
    /**
     * The other side rejected the request.
     */
    RPMA_CONN_REJECTED,
    /**
     * The other side could not be reached, or did not answer.
     */
    RPMA_CONN_UNREACHABLE,
};

/**
 * What rpma_flush() guarantees.
 */
enum rpma_flush_type {
    /**
     * The data are in the persistence domain: they survive a power failure.
     */
    RPMA_FLUSH_TYPE_PERSISTENT,
    /**
     * The data are visible to the remote side's processors.
     */
    RPMA_FLUSH_TYPE_VISIBILITY,
};

/**
 * The importance of a message. A lower number is more important.
 */
enum rpma_log_level {
    /**
     * As a threshold: no message at all. No message has this level.
     */
    RPMA_LOG_DISABLED = -1,
    /**
     * The library cannot go on. Not used so far.
     */
    RPMA_LOG_LEVEL_FATAL,
    /**
     * A call failed, or an argument that came from elsewhere is wrong.
     */
    RPMA_LOG_LEVEL_ERROR,
    /**
     * Something unexpected that the library can cope with.
     */
    RPMA_LOG_LEVEL_WARNING,
    /**
     * A step in the life of a connection.
     */
    RPMA_LOG_LEVEL_NOTICE,
    /**
     * What the library found out about a device or a peer.
     */
    RPMA_LOG_LEVEL_INFO,
    /**
     * Details for debugging.
     */
    RPMA_LOG_LEVEL_DEBUG,
};

/**
 * Selects a threshold.
 */
enum rpma_log_threshold {
    /**
     * Messages up to this level go to the log function. WARNING at first.
     */
    RPMA_LOG_THRESHOLD,
    /**
     * Messages up to this level go from the default log function to stderr too. DISABLED at
     * first.
     */
    RPMA_LOG_THRESHOLD_AUX,
    /**
     * The number of thresholds.
     */
    RPMA_LOG_THRESHOLD_MAX,
};

/**
 * Which device rpma_utils_get_ibv_context() looks for.
 */
enum rpma_util_ibv_context_type {
    /**
     * The one that has the address.
     */
    RPMA_UTIL_IBV_CONTEXT_LOCAL,
    /**
     * The one that reaches the address.
     */
    RPMA_UTIL_IBV_CONTEXT_REMOTE,
};

/**
 * A connection. A connection request is one, too, until it is connected: the object stays in
 * its place, so that nothing is left that can fail after the other side was told.
 */
struct rpma_conn;

/**
 * A configuration of connections. Each field is read once, when a request is made.
 */
struct rpma_conn_cfg;

/**
 * A completion queue. It belongs to its connection or shared receive queue.
 */
struct rpma_cq;

/**
 * An endpoint that listens for connection requests.
 */
struct rpma_ep;

/**
 * A region of this process's memory, registered with a peer's device.
 */
struct rpma_mr_local;

/**
 * A region of the remote side's memory, as its descriptor tells.
 */
struct rpma_mr_remote;

/**
 * A peer: a device with a protection domain, which all that is created with it shares.
 */
struct rpma_peer;

/**
 * A peer's configuration: whether data written to its persistent memory from afar are persistent
 * once they are flushed (direct write to PMem).
 */
struct rpma_peer_cfg;

/**
 * A receive queue that several connections share.
 */
struct rpma_srq;

/**
 * A configuration of shared receive queues. Each field is read once, when a queue is made.
 */
struct rpma_srq_cfg;

/**
 * A log function of the user's.
 *
 * It may be called from several threads at once, and must not call back into the library but
 * for the rpma_log_*() functions. Strings are valid during the call only. The message ends with a
 * newline.
 *
 * - `level`: level of the message.
 * - `file_name`, `line_no`, `function_name`: the place that tells the message, in the source of
 *   the library.
 * - `message_format`: printf(3) format of the message, followed by its arguments.
 */
typedef void rpma_log_function(enum rpma_log_level level, const char *file_name, const int line_no,
                               const char *function_name, const char *message_format, ...);

/**
 * Data that go to the other side together with a request or its acceptance.
 */
struct rpma_conn_private_data {
    /**
     * The data.
     */
    void *ptr;
    /**
     * Their length in bytes.
     */
    uint8_t len;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Finds the RDMA device for an address.
 *
 * RPMA_UTIL_IBV_CONTEXT_LOCAL finds the device that has `addr`, for a server;
 * RPMA_UTIL_IBV_CONTEXT_REMOTE finds the device through which `addr` can be reached, for a
 * client. The device belongs to librdmacm and is not closed.
 *
 * # Parameters
 *
 * - `addr`: host name or address, IPv4 or IPv6, a link-local one with its scope
 *   (`fe80::1%eth0`).
 * - `type`: which device to look for.
 * - `ibv_ctx_ptr`: where the device goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `addr` or `ibv_ctx_ptr` is NULL, or `type` is unknown.
 * - RPMA_E_PROVIDER: the lookup, or binding or resolving the address failed; with errno ENODEV,
 *   the address is local but on no RDMA device, as are 127.0.0.1 and 0.0.0.0.
 *
 * # Safety
 *
 * `addr` is NULL or a C string; `ibv_ctx_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_utils_get_ibv_context(3)
 */
int rpma_utils_get_ibv_context(const char *addr,
                               enum rpma_util_ibv_context_type type,
                               struct ibv_context **ibv_ctx_ptr);

/**
 * Tells whether a device can register memory that is paged in on demand.
 *
 * That is what registering a file on a DAX file system needs.
 *
 * # Parameters
 *
 * - `ibv_ctx`: an open device.
 * - `is_odp_capable`: 1 where reads and writes over reliable connections can use on-demand
 *   paging, else 0.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_PROVIDER: querying the device failed.
 *
 * # Safety
 *
 * `ibv_ctx` is NULL or an open device; `is_odp_capable` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_utils_ibv_context_is_odp_capable(3)
 */
int rpma_utils_ibv_context_is_odp_capable(struct ibv_context *ibv_ctx, int *is_odp_capable);

/**
 * Gives the text of a connection event.
 *
 * # Parameters
 *
 * - `conn_event`: the event; any number.
 *
 * # Errors
 *
 * None. An unknown event has a text, too.
 *
 * # Safety
 *
 * Always safe. The text is constant and never freed.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_utils_conn_event_2str(3)
 */
const char *rpma_utils_conn_event_2str(enum rpma_conn_event conn_event);

/**
 * Gives the text of a return code.
 *
 * # Parameters
 *
 * - `ret`: what a function of this library returned; any number.
 *
 * # Errors
 *
 * None. An unknown code has a text, too.
 *
 * # Safety
 *
 * Always safe. The text is constant and never freed.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_err_2str(3)
 */
const char *rpma_err_2str(int ret);

/**
 * Creates a peer configuration, without direct write to PMem.
 *
 * # Parameters
 *
 * - `pcfg_ptr`: where the configuration goes; delete it with rpma_peer_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `pcfg_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `pcfg_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_new(3)
 */
int rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr);

/**
 * Deletes a peer configuration.
 *
 * # Parameters
 *
 * - `pcfg_ptr`: the handle, NULL afterwards; nothing happens if it is NULL already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `pcfg_ptr` is NULL.
 *
 * # Safety
 *
 * `pcfg_ptr` is NULL or points to a handle that is NULL or owns a configuration.
 *
 * # Thread safety
 *
 * Nothing else may use the configuration any more.
 *
 * # Manual page
 *
 * rpma_peer_cfg_delete(3)
 */
int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr);

/**
 * Declares whether direct write to PMem is possible.
 *
 * Declare it only where data that the device has put into memory are in the persistence domain:
 * on Intel platforms, with Data Direct I/O turned off or with caches that are flushed on power
 * failure. rpma_flush(3) with RPMA_FLUSH_TYPE_PERSISTENT relies on it.
 *
 * # Parameters
 *
 * - `pcfg`: the configuration.
 * - `supported`: true or false.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `pcfg` is NULL.
 *
 * # Safety
 *
 * `pcfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_set_direct_write_to_pmem(3)
 */
int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported);

/**
 * Tells whether direct write to PMem is declared.
 *
 * # Parameters
 *
 * - `pcfg`: the configuration.
 * - `supported`: where the answer goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `pcfg` is NULL or a configuration; `supported` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_get_direct_write_to_pmem(3)
 */
int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg, bool *supported);

/**
 * Writes the descriptor of a peer configuration, to be sent to the other side.
 *
 * # Parameters
 *
 * - `pcfg`: the configuration.
 * - `desc`: room for as many bytes as rpma_peer_cfg_get_descriptor_size() says.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `pcfg` is NULL or a configuration; `desc` is NULL or has the room.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_get_descriptor(3)
 */
int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc);

/**
 * Gives the size of the descriptor of a peer configuration.
 *
 * # Parameters
 *
 * - `pcfg`: the configuration.
 * - `desc_size`: where the size in bytes goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `pcfg` is NULL or a configuration; `desc_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_get_descriptor_size(3)
 */
int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size);

/**
 * Creates a peer configuration from a descriptor that the other side sent.
 *
 * # Parameters
 *
 * - `desc`: the descriptor. A longer one is fine; what follows is not read.
 * - `desc_size`: its size in bytes.
 * - `pcfg_ptr`: where the configuration goes; delete it with rpma_peer_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: a pointer is NULL, or the descriptor is too short.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `desc` is NULL or readable for `desc_size` bytes; `pcfg_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_from_descriptor(3)
 */
int rpma_peer_cfg_from_descriptor(const void *desc,
                                  size_t desc_size,
                                  struct rpma_peer_cfg **pcfg_ptr);

/**
 * Creates a peer on a device.
 *
 * # Parameters
 *
 * - `ibv_ctx`: an open device, from rpma_utils_get_ibv_context() for one; it has to stay open as
 *   long as the peer.
 * - `peer_ptr`: where the peer goes; delete it with rpma_peer_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: querying the device or allocating the protection domain failed.
 * - RPMA_E_UNKNOWN: allocating the protection domain failed for no reason given.
 *
 * # Safety
 *
 * `ibv_ctx` is NULL or an open device; `peer_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread. A peer serves any number of threads.
 *
 * # Manual page
 *
 * rpma_peer_new(3)
 */
int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr);

/**
 * Deletes a peer.
 *
 * Delete what was created with it first: connections, requests, regions, shared receive queues.
 * If something is left, the device refuses and the protection domain is lost; what is left keeps
 * working.
 *
 * # Parameters
 *
 * - `peer_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
 *   already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `peer_ptr` is NULL.
 * - RPMA_E_PROVIDER: the device failed; with errno EBUSY, something is left.
 *
 * # Safety
 *
 * `peer_ptr` is NULL or points to a handle that is NULL or owns a peer.
 *
 * # Thread safety
 *
 * Nothing may be created with the peer any more.
 *
 * # Manual page
 *
 * rpma_peer_delete(3)
 */
int rpma_peer_delete(struct rpma_peer **peer_ptr);

/**
 * Registers memory.
 *
 * The memory stays the caller's, and must stay mapped until the region is deregistered.
 *
 * # Parameters
 *
 * - `peer`: the peer whose device is to use the memory.
 * - `ptr`, `size`: the memory, and its size in bytes, at least 1.
 * - `usage`: at least one of the RPMA_MR_USAGE_* bits.
 * - `mr_ptr`: where the region goes; deregister it with rpma_mr_dereg().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: a pointer is NULL, `size` is 0, or `usage` is 0 or has unknown bits.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: the device does not take the memory. With errno EOPNOTSUPP it is a file on
 *   a DAX file system, which needs on-demand paging, and the device has none; a device DAX works.
 *   With ENOMEM, the limit of locked memory (RLIMIT_MEMLOCK) may be reached.
 *
 * # Safety
 *
 * `peer` is NULL or a peer; `mr_ptr` is NULL or writable; the memory stays mapped as long as it
 * is registered.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_reg(3)
 */
int rpma_mr_reg(struct rpma_peer *peer,
                void *ptr,
                size_t size,
                int usage,
                struct rpma_mr_local **mr_ptr);

/**
 * Deregisters memory.
 *
 * # Parameters
 *
 * - `mr_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
 *   already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `mr_ptr` is NULL.
 * - RPMA_E_PROVIDER: the device failed.
 *
 * # Safety
 *
 * `mr_ptr` is NULL or points to a handle that is NULL or owns a region.
 *
 * # Thread safety
 *
 * Nothing else may use the region any more, operations that have not completed included.
 *
 * # Manual page
 *
 * rpma_mr_dereg(3)
 */
int rpma_mr_dereg(struct rpma_mr_local **mr_ptr);

/**
 * Writes the descriptor of a region, with which the remote side can reach it.
 *
 * The descriptor has 21 bytes, whatever the machine: address and length (8 bytes each) and key (4
 * bytes), least significant byte first, and usage (1 byte).
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `desc`: room for as many bytes as rpma_mr_get_descriptor_size() says.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` is NULL or a region; `desc` is NULL or has the room.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_get_descriptor(3)
 */
int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc);

/**
 * Creates a remote region from a descriptor that the other side sent.
 *
 * # Parameters
 *
 * - `desc`: the descriptor. A longer one is fine; what follows is not read.
 * - `desc_size`: its size in bytes.
 * - `mr_ptr`: where the region goes; delete it with rpma_mr_remote_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: a pointer is NULL, the descriptor is too short, or says that the region is for
 *   nothing.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `desc` is NULL or readable for `desc_size` bytes; `mr_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_remote_from_descriptor(3)
 */
int rpma_mr_remote_from_descriptor(const void *desc,
                                   size_t desc_size,
                                   struct rpma_mr_remote **mr_ptr);

/**
 * Gives the size of the descriptor of a region.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `desc_size`: where the size in bytes goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` is NULL or a region; `desc_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_get_descriptor_size(3)
 */
int rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size);

/**
 * Gives the address of a local region.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `ptr`: where the address goes, the one that was registered.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` is NULL or a region; `ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_get_ptr(3)
 */
int rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr);

/**
 * Gives the size of a local region.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `size`: where the size in bytes goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` is NULL or a region; `size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_get_size(3)
 */
int rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size);

/**
 * Gives the size of a remote region.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `size`: where the size in bytes goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` is NULL or a region; `size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_remote_get_size(3)
 */
int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size);

/**
 * Tells which types of flush a remote region was registered for.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `flush_type`: where the answer goes: 0, or one or both of
 *   RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY and RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` is NULL or a region; `flush_type` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_remote_get_flush_type(3)
 */
int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type);

/**
 * Deletes a remote region. The memory it stands for is not touched.
 *
 * # Parameters
 *
 * - `mr_ptr`: the handle, NULL afterwards; nothing happens if it is NULL already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `mr_ptr` is NULL.
 *
 * # Safety
 *
 * `mr_ptr` is NULL or points to a handle that is NULL or owns a remote region.
 *
 * # Thread safety
 *
 * Nothing else may use the region any more. Operations that were posted go on.
 *
 * # Manual page
 *
 * rpma_mr_remote_delete(3)
 */
int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr);

/**
 * Advises the device about the use of a part of a region, usually to page it in beforehand.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `offset`, `len`: part of the region, in bytes; no limit.
 * - `advice`: as for ibv_advise_mr(3), IBV_ADVISE_MR_ADVICE_PREFETCH for one.
 * - `flags`: as for ibv_advise_mr(3), IBV_ADVISE_MR_FLAG_FLUSH or 0.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `mr` is NULL, address, offset and length together exceed 64 bits, or the device
 *   refuses the part, the advice or the flags.
 * - RPMA_E_NOSUPP: the device does not take advice, or not this one.
 * - RPMA_E_PROVIDER: the device failed in another way.
 *
 * # Safety
 *
 * `mr` is NULL or a region.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_mr_advise(3)
 */
int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice, uint32_t flags);

/**
 * Creates a configuration of connections with the default values.
 *
 * The defaults: a timeout of 1000 ms, a CQ of 10, no CQ of its own for receives, a send queue of 10, a
 * receive queue of 10, completion channels not shared, no shared receive queue.
 *
 * # Parameters
 *
 * - `cfg_ptr`: where the configuration goes; delete it with rpma_conn_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `cfg_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_new(3)
 */
int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr);

/**
 * Deletes a configuration of connections. What was made with it stays as it is.
 *
 * # Parameters
 *
 * - `cfg_ptr`: the handle, NULL afterwards; nothing happens if it is NULL already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 *
 * # Safety
 *
 * `cfg_ptr` is NULL or points to a handle that is NULL or owns a configuration.
 *
 * # Thread safety
 *
 * Nothing else may use the configuration any more.
 *
 * # Manual page
 *
 * rpma_conn_cfg_delete(3)
 */
int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr);

/**
 * Sets how long resolving an address and resolving a route may take, each.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `timeout_ms`: time in milliseconds, 0 or more.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL, or `timeout_ms` is below 0.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_timeout(3)
 */
int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms);

/**
 * Gets how long resolving an address and resolving a route may take, each.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `timeout_ms`: where the time in milliseconds goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `timeout_ms` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_timeout(3)
 */
int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms);

/**
 * Sets the size of a connection's CQ.
 *
 * A CQ has to hold the completions of everything that is posted and not yet polled: it overruns
 * otherwise, and the connection breaks.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `cq_size`: the size, in entries. The device may refuse it when the CQ is made.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_cq_size(3)
 */
int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg *cfg, uint32_t cq_size);

/**
 * Tells whether a connection's CQs share one completion channel.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `shared`: where the answer goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `shared` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_compl_channel(3)
 */
int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared);

/**
 * Sets whether a connection's CQs share one completion channel.
 *
 * A shared channel cannot be had together with a shared receive queue that has a CQ of its own.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `shared`: true: both CQs share a channel, and rpma_conn_wait() waits for either; false: each has
 *   its own, and rpma_cq_wait() waits for one.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_compl_channel(3)
 */
int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg,
                                    bool shared);

/**
 * Gets the size of a connection's CQ.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `cq_size`: where the size in entries goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `cq_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_cq_size(3)
 */
int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg *cfg, uint32_t *cq_size);

/**
 * Sets the size of a connection's CQ for receives.
 *
 * With 0, the default, receives complete on the connection's one CQ. A shared receive queue with a CQ
 * of its own makes this setting void.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rcq_size`: the size, in entries. The device may refuse it when the queue is made.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_rcq_size(3)
 */
int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg *cfg,
                               uint32_t rcq_size);

/**
 * Gets the size of a connection's CQ for receives.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rcq_size`: where the size in entries goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `rcq_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_rcq_size(3)
 */
int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg *cfg, uint32_t *rcq_size);

/**
 * Sets the size of a connection's send queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `sq_size`: the size, in entries. The device may refuse it when the queue is made.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_sq_size(3)
 */
int rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg *cfg, uint32_t sq_size);

/**
 * Gets the size of a connection's send queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `sq_size`: where the size in entries goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `sq_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_sq_size(3)
 */
int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg *cfg, uint32_t *sq_size);

/**
 * Sets the size of a connection's receive queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rq_size`: the size, in entries. The device may refuse it when the queue is made.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_rq_size(3)
 */
int rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg *cfg, uint32_t rq_size);

/**
 * Gets the size of a connection's receive queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rq_size`: where the size in entries goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `rq_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_rq_size(3)
 */
int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg *cfg, uint32_t *rq_size);

/**
 * Makes connections receive from a shared receive queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `srq`: the shared receive queue; borrowed, it has to live as long as the connections.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `srq` is NULL or a shared receive queue.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_srq(3)
 */
int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq);

/**
 * Gets the shared receive queue that connections receive from.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `srq_ptr`: where the shared receive queue goes; NULL if there is none. It stays its creator's.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `srq_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_srq(3)
 */
int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr);

/**
 * Creates an outgoing connection request: finds the way to the other side and makes the queues.
 *
 * # Parameters
 *
 * - `peer`: the peer on whose device the connection will be.
 * - `addr`: host name or address of the other side.
 * - `port`: port number or service name at which it listens.
 * - `cfg`: configuration of the connection, or NULL for the default one.
 * - `req_ptr`: where the request goes; connect it with rpma_conn_req_connect() or delete it with
 *   rpma_conn_req_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `peer`, `addr`, `port` or `req_ptr` is NULL, or the configuration wants a shared
 *   completion channel and names a shared receive queue with a CQ of its own.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: address lookup or resolution failed, or the device did not make a queue.
 *
 * # Safety
 *
 * `peer` is NULL or a peer; `addr` and `port` are NULL or C strings; `cfg` is NULL or a
 * configuration; `req_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_req_new(3)
 */
int rpma_conn_req_new(struct rpma_peer *peer,
                      const char *addr,
                      const char *port,
                      const struct rpma_conn_cfg *cfg,
                      struct rpma_conn_req **req_ptr);

/**
 * Deletes a connection request. An incoming one is rejected.
 *
 * # Parameters
 *
 * - `req_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
 *   already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `req_ptr` is NULL.
 * - RPMA_E_PROVIDER: the provider failed to reject the request, since the other side has gone for
 *   one, or to destroy something; all else is destroyed.
 *
 * # Safety
 *
 * `req_ptr` is NULL or points to a handle that is NULL or owns a request.
 *
 * # Thread safety
 *
 * Nothing else may use the request any more.
 *
 * # Manual page
 *
 * rpma_conn_req_delete(3)
 */
int rpma_conn_req_delete(struct rpma_conn_req **req_ptr);

/**
 * Connects: sends an outgoing request, or accepts an incoming one.
 *
 * The connection is established when rpma_conn_next_event(3) says so. The request is consumed,
 * also when this fails; an incoming one is rejected then.
 *
 * # Parameters
 *
 * - `req_ptr`: the request; NULL afterwards whatever is returned.
 * - `pdata`: data for the other side, or NULL. On InfiniBand and RoCE, a request carries up to 56
 *   bytes and its acceptance up to 196. Not needed any more after the call.
 * - `conn_ptr`: where the connection goes; delete it with rpma_conn_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `req_ptr` or the request is NULL; or `conn_ptr` is NULL, or `pdata` has no data:
 *   then the request is deleted.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: the provider failed; with errno EINVAL, there may be too many private data.
 *
 * # Safety
 *
 * `req_ptr` is NULL or points to a handle that is NULL or owns a request; `pdata` is NULL or
 * points to data of its length; `conn_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * One thread at a time for a request. Other threads may meanwhile obtain further requests from
 * the endpoint.
 *
 * # Manual page
 *
 * rpma_conn_req_connect(3)
 */
int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
                          const struct rpma_conn_private_data *pdata,
                          struct rpma_conn **conn_ptr);

/**
 * Posts a receive before the connection is there, for a message that comes right after it.
 *
 * # Parameters
 *
 * - `req`: the request.
 * - `dst`, `offset`, `len`: where the message goes: part of a region, in bytes, up to 4 GiB - 1.
 * - `op_context`: comes back as the completion's wr_id; may be NULL.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `req` or `dst` is NULL, `len` exceeds 32 bits, or address, offset and length
 *   together exceed 64 bits.
 * - RPMA_E_PROVIDER: posting failed; with errno ENOMEM, the receive queue is full.
 *
 * # Safety
 *
 * `req` and `dst` are NULL or live objects; the memory stays registered and untouched until the
 * receive completes.
 *
 * # Thread safety
 *
 * One thread at a time for a request.
 *
 * # Manual page
 *
 * rpma_conn_req_recv(3)
 */
int rpma_conn_req_recv(struct rpma_conn_req *req,
                       struct rpma_mr_local *dst,
                       size_t offset,
                       size_t len,
                       const void *op_context);

/**
 * Gives the private data that came with an incoming request.
 *
 * # Parameters
 *
 * - `req`: the request.
 * - `pdata`: where pointer and length in bytes go: NULL and 0 if there are none. The data are
 *   valid as long as the request, or the connection that it becomes, is. They may be padded with
 *   zeros.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `req` is NULL or a request; `pdata` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_req_get_private_data(3)
 */
int rpma_conn_req_get_private_data(const struct rpma_conn_req *req,
                                   struct rpma_conn_private_data *pdata);

/**
 * Gives the file descriptor that becomes readable when a connection event arrives.
 *
 * It may be polled and made non-blocking, and must not be closed.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `fd`: where the file descriptor goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `fd` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_event_fd(3)
 */
int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd);

/**
 * Obtains the next event of a connection.
 *
 * Blocks until there is one, unless the connection's event fd is non-blocking. After
 * RPMA_CONN_CLOSED another one may follow when the provider has done with the connection.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `event`: where the event goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NO_EVENT: nothing has arrived, and the fd is non-blocking.
 * - RPMA_E_PROVIDER: the provider failed; with errno EINTR, a signal came and nothing is lost.
 * - RPMA_E_UNKNOWN: an event arrived that says nothing about the connection, of an address change
 *   for example; `event` is RPMA_CONN_UNDEFINED.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `event` is NULL or writable.
 *
 * # Thread safety
 *
 * One thread at a time for a connection. Other threads may post, wait and poll.
 *
 * # Manual page
 *
 * rpma_conn_next_event(3)
 */
int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event);

/**
 * Gives the private data that the other side sent with its request or its acceptance.
 *
 * On the side that connected, they are there after RPMA_CONN_ESTABLISHED. They may arrive padded
 * with zeros.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `pdata`: where pointer and length in bytes go: NULL and 0 if there are none. The data are the
 *   connection's, and valid as long as it is.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `pdata` is NULL or writable.
 *
 * # Thread safety
 *
 * Not together with rpma_conn_next_event() for the same connection.
 *
 * # Manual page
 *
 * rpma_conn_get_private_data(3)
 */
int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata);

/**
 * Tells a connection what the other side's configuration promises.
 *
 * Without it, persistent flushes are refused.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `pcfg`: the other side's configuration; not needed any more after the call.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `pcfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_apply_remote_peer_cfg(3)
 */
int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg);

/**
 * Gives the number of a connection's QP, which completions carry as qp_num.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `qp_num`: where the number goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `qp_num` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_qp_num(3)
 */
int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num);

/**
 * Gives a connection's CQ.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `cq_ptr`: where the CQ goes. It is the connection's, and goes with it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `cq_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_cq(3)
 */
int rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr);

/**
 * Gives a connection's CQ for receives.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `rcq_ptr`: where the CQ goes; NULL if receives complete on the one CQ, or on the CQ of a
 *   shared receive queue. It is the connection's, and goes with it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `rcq_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_rcq(3)
 */
int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr);

/**
 * Disconnects.
 *
 * To start disconnecting: RPMA_CONN_CLOSED follows on both sides once the other one has
 * disconnected, too. Or to answer RPMA_CONN_CLOSED: then it is done when this returns. Operations
 * that have not completed complete with an error.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL.
 * - RPMA_E_PROVIDER: the provider failed.
 *
 * # Safety
 *
 * `conn` is NULL or a connection.
 *
 * # Thread safety
 *
 * One thread at a time for a connection. Other threads may post, wait and poll.
 *
 * # Manual page
 *
 * rpma_conn_disconnect(3)
 */
int rpma_conn_disconnect(struct rpma_conn *conn);

/**
 * Deletes a connection, with its CQs and its private data.
 *
 * One that was not disconnected is closed by that, and the other side is told.
 *
 * # Parameters
 *
 * - `conn_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
 *   already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn_ptr` is NULL.
 * - RPMA_E_PROVIDER: the provider failed to destroy something; all else is destroyed.
 *
 * # Safety
 *
 * `conn_ptr` is NULL or points to a handle that is NULL or owns a connection.
 *
 * # Thread safety
 *
 * Nothing else may use the connection or its CQs any more.
 *
 * # Manual page
 *
 * rpma_conn_delete(3)
 */
int rpma_conn_delete(struct rpma_conn **conn_ptr);

/**
 * Gives the file descriptor of the completion channel that a connection's CQs share.
 *
 * It becomes readable when a completion event of either CQ arrives. It may be polled and made
 * non-blocking, and must not be closed.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `fd`: where the file descriptor goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NOT_SHARED_CHNL: the CQs have a channel each: use rpma_cq_get_fd(3).
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `fd` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_compl_fd(3)
 */
int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd);

/**
 * Waits for a completion event of either CQ and asks that CQ for its next one.
 *
 * For connections whose CQs share a completion channel. As with rpma_cq_wait(3): after an event
 * take completions out of that CQ with rpma_cq_get_wc(3) until there are none, and only then wait
 * again.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `flags`: RPMA_W_WAIT_FOR_COMPLETION.
 * - `cq`: where the CQ goes that has completions.
 * - `is_rcq`: where it goes whether that is the CQ for receives; may be NULL.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` or `cq` is NULL.
 * - RPMA_E_NOT_SHARED_CHNL: the CQs have a channel each: use rpma_cq_wait(3).
 * - RPMA_E_NO_COMPLETION: there is no event: the fd is non-blocking, or a signal came.
 * - RPMA_E_PROVIDER: asking for the next event failed; the event at hand was taken, and `cq` is
 *   NULL.
 * - RPMA_E_UNKNOWN: the event was of a CQ that is not the connection's.
 *
 * # Safety
 *
 * `conn` is NULL or a connection; `cq` and `is_rcq` are NULL or writable.
 *
 * # Thread safety
 *
 * May run while other threads post, poll and wait. Each event wakes one waiting thread.
 *
 * # Manual page
 *
 * rpma_conn_wait(3)
 */
int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq);

/**
 * Starts listening for connection requests.
 *
 * # Parameters
 *
 * - `peer`: the peer on whose device the connections will be.
 * - `addr`: host name or address to listen at, of the peer's device.
 * - `port`: port number or service name.
 * - `ep_ptr`: where the endpoint goes; shut it down with rpma_ep_shutdown().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: address lookup, binding or listening failed; with errno EADDRINUSE, somebody
 *   listens there already.
 *
 * # Safety
 *
 * `peer` is NULL or a peer; `addr` and `port` are NULL or C strings; `ep_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_ep_listen(3)
 */
int rpma_ep_listen(struct rpma_peer *peer,
                   const char *addr,
                   const char *port,
                   struct rpma_ep **ep_ptr);

/**
 * Stops listening and deletes the endpoint.
 *
 * Requests that were obtained from it, and their connections, do not need it any more. Requests
 * that were not are rejected.
 *
 * # Parameters
 *
 * - `ep_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
 *   already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `ep_ptr` is NULL.
 * - RPMA_E_PROVIDER: destroying the CM id failed; all else is destroyed.
 *
 * # Safety
 *
 * `ep_ptr` is NULL or points to a handle that is NULL or owns an endpoint.
 *
 * # Thread safety
 *
 * No other thread may use the endpoint any more.
 *
 * # Manual page
 *
 * rpma_ep_shutdown(3)
 */
int rpma_ep_shutdown(struct rpma_ep **ep_ptr);

/**
 * Gives the file descriptor that becomes readable when a connection request arrives.
 *
 * It may be polled and made non-blocking, and must not be closed.
 *
 * # Parameters
 *
 * - `ep`: the endpoint.
 * - `fd`: where the file descriptor goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `ep` is NULL or an endpoint; `fd` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_ep_get_fd(3)
 */
int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd);

/**
 * Obtains the next connection request.
 *
 * Blocks until there is one, unless the endpoint's fd is non-blocking. The request does not
 * depend on the endpoint: other threads may connect it while this one goes on listening, and the
 * endpoint may be shut down before that.
 *
 * # Parameters
 *
 * - `ep`: the endpoint.
 * - `cfg`: configuration of the connection, or NULL for the default one.
 * - `req_ptr`: where the request goes; connect it with rpma_conn_req_connect() or reject it with
 *   rpma_conn_req_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `ep` or `req_ptr` is NULL, what arrived is not a connection request, or the
 *   configuration wants a shared completion channel and names a shared receive queue with a CQ of
 *   its own.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_NO_EVENT: nothing has arrived, and the fd is non-blocking.
 * - RPMA_E_PROVIDER: the provider failed; with errno EINTR, a signal came and nothing is lost.
 *
 * When it fails after a request arrived, that client is rejected, and the next request works.
 *
 * # Safety
 *
 * `ep` is NULL or an endpoint; `cfg` is NULL or a configuration; `req_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * One thread at a time for an endpoint.
 *
 * # Manual page
 *
 * rpma_ep_next_conn_req(3)
 */
int rpma_ep_next_conn_req(struct rpma_ep *ep,
                          const struct rpma_conn_cfg *cfg,
                          struct rpma_conn_req **req_ptr);

/**
 * Creates a configuration of shared receive queues with the default values.
 *
 * The defaults: a receive queue of 20 and a CQ of 20.
 *
 * # Parameters
 *
 * - `cfg_ptr`: where the configuration goes; delete it with rpma_srq_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `cfg_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_new(3)
 */
int rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr);

/**
 * Deletes a configuration of shared receive queues. What was made with it stays as it is.
 *
 * # Parameters
 *
 * - `cfg_ptr`: the handle, NULL afterwards; nothing happens if it is NULL already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 *
 * # Safety
 *
 * `cfg_ptr` is NULL or points to a handle that is NULL or owns a configuration.
 *
 * # Thread safety
 *
 * Nothing else may use the configuration any more.
 *
 * # Manual page
 *
 * rpma_srq_cfg_delete(3)
 */
int rpma_srq_cfg_delete(struct rpma_srq_cfg **cfg_ptr);

/**
 * Sets the size of the shared receive queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rq_size`: the size, in entries. The device may refuse it when the queue is made.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_set_rq_size(3)
 */
int rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg *cfg, uint32_t rq_size);

/**
 * Gets the size of the shared receive queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rq_size`: where the size in entries goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `rq_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_get_rq_size(3)
 */
int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg *cfg, uint32_t *rq_size);

/**
 * Sets the size of the CQ that belongs to the shared receive queue.
 *
 * With 0, receives complete on the CQs of the connections that they arrived on.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rcq_size`: the size, in entries; 0 for no CQ of its own.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_set_rcq_size(3)
 */
int rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg *cfg, uint32_t rcq_size);

/**
 * Gets the size of the CQ that belongs to the shared receive queue.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rcq_size`: where the size in entries goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` is NULL or a configuration; `rcq_size` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_get_rcq_size(3)
 */
int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg *cfg, uint32_t *rcq_size);

/**
 * Creates a shared receive queue.
 *
 * Connections use it when their configuration names it: rpma_conn_cfg_set_srq(3).
 *
 * # Parameters
 *
 * - `peer`: the peer.
 * - `cfg`: the configuration, or NULL for the default one.
 * - `srq_ptr`: where the shared receive queue goes; delete it with rpma_srq_delete(), after the
 *   connections that use it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `peer` or `srq_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: the device failed to make the queue, its completion channel or its CQ.
 *
 * # Safety
 *
 * `peer` is NULL or a peer; `cfg` is NULL or a configuration; `srq_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_srq_new(3)
 */
int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, struct rpma_srq **srq_ptr);

/**
 * Deletes a shared receive queue.
 *
 * Delete the connections that use it first: otherwise the device refuses, and the queue is lost;
 * the connections keep working.
 *
 * # Parameters
 *
 * - `srq_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
 *   already.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `srq_ptr` is NULL.
 * - RPMA_E_PROVIDER: the device failed to destroy something; all else is destroyed. With errno
 *   EBUSY, connections still use the queue.
 *
 * # Safety
 *
 * `srq_ptr` is NULL or points to a handle that is NULL or owns a shared receive queue.
 *
 * # Thread safety
 *
 * Nothing else may use the queue or its CQ any more.
 *
 * # Manual page
 *
 * rpma_srq_delete(3)
 */
int rpma_srq_delete(struct rpma_srq **srq_ptr);

/**
 * Posts a receive to a shared receive queue.
 *
 * The first message that arrives on any of the connections goes there.
 *
 * # Parameters
 *
 * - `srq`: the shared receive queue.
 * - `dst`, `offset`, `len`: where the message goes: part of a region, in bytes, up to 4 GiB - 1;
 *   NULL, 0 and 0 to take a message without data.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `srq` is NULL, `dst` is NULL while `offset` or `len` is not 0, `len` exceeds 32
 *   bits, or address, offset and length together exceed 64 bits.
 * - RPMA_E_PROVIDER: posting failed; with errno ENOMEM, the queue is full.
 *
 * # Safety
 *
 * `srq` and `dst` are NULL or live objects; the memory stays registered and untouched until the
 * receive completes.
 *
 * # Thread safety
 *
 * May be called from several threads at once.
 *
 * # Manual page
 *
 * rpma_srq_recv(3)
 */
int rpma_srq_recv(struct rpma_srq *srq,
                  struct rpma_mr_local *dst,
                  size_t offset,
                  size_t len,
                  const void *op_context);

/**
 * Gives the CQ that belongs to a shared receive queue.
 *
 * # Parameters
 *
 * - `srq`: the shared receive queue.
 * - `rcq_ptr`: where the CQ goes; NULL if there is none. It is the queue's, and goes with it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `srq` is NULL or a shared receive queue; `rcq_ptr` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_srq_get_rcq(3)
 */
int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr);

/**
 * Reads remote memory into local memory.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: local region and offset into it, in bytes.
 * - `src`, `src_offset`: remote region and offset into it, in bytes.
 * - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, one region is NULL or both are while offsets or
 *   length are not 0, `len` exceeds 32 bits, or address, offset and length together exceed 64
 *   bits on either side.
 * - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn`, `dst` and `src` are NULL or live objects; the local memory stays registered and
 * untouched until the operation completes.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_read(3)
 */
int rpma_read(struct rpma_conn *conn,
              struct rpma_mr_local *dst,
              size_t dst_offset,
              const struct rpma_mr_remote *src,
              size_t src_offset,
              size_t len,
              int flags,
              const void *op_context);

/**
 * Writes local memory to remote memory.
 *
 * A completion means that the data have been taken over by the remote device; flush them with
 * rpma_flush(3) to have them in memory or persistent.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region and offset into it, in bytes.
 * - `src`, `src_offset`: local region and offset into it, in bytes.
 * - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, one region is NULL or both are while offsets or
 *   length are not 0, `len` exceeds 32 bits, or address, offset and length together exceed 64
 *   bits on either side.
 * - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn`, `dst` and `src` are NULL or live objects; the local memory stays registered and
 * unchanged until the operation completes.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_write(3)
 */
int rpma_write(struct rpma_conn *conn,
               struct rpma_mr_remote *dst,
               size_t dst_offset,
               const struct rpma_mr_local *src,
               size_t src_offset,
               size_t len,
               int flags,
               const void *op_context);

/**
 * Writes local memory to remote memory and tells the remote side, which needs a receive for it.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region and offset into it, in bytes.
 * - `src`, `src_offset`: local region and offset into it, in bytes.
 * - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `imm`: immediate data for the remote side's completion, in host byte order; they are sent, and
 *   found in imm_data, in network byte order.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, one region is NULL or both are while offsets or
 *   length are not 0, `len` exceeds 32 bits, or address, offset and length together exceed 64
 *   bits on either side.
 * - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn`, `dst` and `src` are NULL or live objects; the local memory stays registered and
 * unchanged until the operation completes.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_write_with_imm(3)
 */
int rpma_write_with_imm(struct rpma_conn *conn,
                        struct rpma_mr_remote *dst,
                        size_t dst_offset,
                        const struct rpma_mr_local *src,
                        size_t src_offset,
                        size_t len,
                        int flags,
                        uint32_t imm,
                        const void *op_context);

/**
 * Writes 8 bytes to remote memory atomically: a reader sees all of them or none.
 *
 * It takes place after every flush that was posted before it. By default it is a write of data
 * that the work request carries, and completes with the opcode IBV_WC_RDMA_WRITE; the native
 * operation is used on request (see librpma(7)).
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region and offset into it, in bytes, a multiple of
 *   RPMA_ATOMIC_WRITE_ALIGNMENT. The region has to be aligned likewise.
 * - `src`: the 8 bytes; not needed any more after the call.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn`, `dst` or `src` is NULL, `flags` is 0, `dst_offset` is no multiple of 8,
 *   or address and offset together exceed 64 bits.
 * - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` and `dst` are NULL or live objects; `src` is NULL or readable for 8 bytes.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_atomic_write(3)
 *
 */
int rpma_atomic_write(struct rpma_conn *conn,
                      struct rpma_mr_remote *dst,
                      size_t dst_offset,
                      const char src[8],
                      int flags,
                      const void *op_context);

/**
 * Sends a message, which takes the remote side's next receive.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `src`, `offset`, `len`: the message: part of a region, in bytes, up to 4 GiB - 1; NULL, 0 and
 *   0 for a message without data.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, `src` is NULL while `offset` or `len` is not 0,
 *   `len` exceeds 32 bits, or address, offset and length together exceed 64 bits.
 * - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` and `src` are NULL or live objects; the memory stays registered and unchanged until the
 * operation completes.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_send(3)
 */
int rpma_send(struct rpma_conn *conn,
              const struct rpma_mr_local *src,
              size_t offset,
              size_t len,
              int flags,
              const void *op_context);

/**
 * Sends a message with immediate data, which takes the remote side's next receive.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `src`, `offset`, `len`: the message: part of a region, in bytes, up to 4 GiB - 1; NULL, 0 and
 *   0 for a message without data.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `imm`: immediate data for the remote side's completion, in host byte order; they are sent, and
 *   found in imm_data, in network byte order.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, `src` is NULL while `offset` or `len` is not 0,
 *   `len` exceeds 32 bits, or address, offset and length together exceed 64 bits.
 * - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` and `src` are NULL or live objects; the memory stays registered and unchanged until the
 * operation completes.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_send_with_imm(3)
 */
int rpma_send_with_imm(struct rpma_conn *conn,
                       const struct rpma_mr_local *src,
                       size_t offset,
                       size_t len,
                       int flags,
                       uint32_t imm,
                       const void *op_context);

/**
 * Posts a receive for a message of the remote side.
 *
 * Every message, and every write with immediate data, takes a receive, in the order of posting.
 * Each receive gives a completion. On a connection with a shared receive queue use
 * rpma_srq_recv(3).
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `offset`, `len`: where the message goes: part of a region, in bytes, up to 4 GiB - 1;
 *   NULL, 0 and 0 to take a message without data.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL, `dst` is NULL while `offset` or `len` is not 0, `len` exceeds 32
 *   bits, or address, offset and length together exceed 64 bits.
 * - RPMA_E_PROVIDER: posting failed; with errno ENOMEM, the receive queue is full.
 *
 * # Safety
 *
 * `conn` and `dst` are NULL or live objects; the memory stays registered and untouched until the
 * receive completes.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_recv(3)
 */
int rpma_recv(struct rpma_conn *conn,
              struct rpma_mr_local *dst,
              size_t offset,
              size_t len,
              const void *op_context);

/**
 * Flushes a range of remote memory that was written before over the same connection.
 *
 * Once its completion arrives, all writes posted before it have reached the remote memory. By
 * default this is a read of up to 8 bytes, so its completion has the opcode IBV_WC_RDMA_READ; the
 * native operation is used on request (see librpma(7)) and completes with IBV_WC_FLUSH.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region and offset into it, in bytes.
 * - `len`: how many bytes to flush; no limit.
 * - `type`: RPMA_FLUSH_TYPE_VISIBILITY or RPMA_FLUSH_TYPE_PERSISTENT.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as the completion's wr_id.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` or `dst` is NULL, `flags` is 0, `type` is unknown, or address, offset
 *   and length together exceed 64 bits.
 * - RPMA_E_NOSUPP: the region was not registered for this type of flush, or the flush is to be
 *   persistent and the peer configuration applied to the connection does not declare direct
 *   write to PMem.
 * - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` and `dst` are NULL or live objects.
 *
 * # Thread safety
 *
 * May run in one thread while others wait for and poll completions of the connection.
 *
 * # Manual page
 *
 * rpma_flush(3)
 */
int rpma_flush(struct rpma_conn *conn,
               struct rpma_mr_remote *dst,
               size_t dst_offset,
               size_t len,
               enum rpma_flush_type type,
               int flags,
               const void *op_context);

/**
 * Gives the file descriptor that becomes readable when a completion event arrives.
 *
 * It is the fd of the CQ's completion channel, be that shared or not. It may be polled and made
 * non-blocking, and must not be closed. Before waiting for it, take what is there already: see
 * rpma_cq_wait(3).
 *
 * # Parameters
 *
 * - `cq`: the CQ.
 * - `fd`: where the file descriptor goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cq` is NULL or a CQ whose owner lives; `fd` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_cq_get_fd(3)
 */
int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd);

/**
 * Waits for a completion event and asks for the next one.
 *
 * An event tells that completions have arrived since the CQ was asked for one, not how many. So
 * after an event call rpma_cq_get_wc(3) until it gives RPMA_E_NO_COMPLETION, and only then wait
 * again: who waits while completions are left in the CQ may wait forever.
 *
 * Events are acknowledged in batches; deleting the owner of the CQ acknowledges the rest.
 *
 * # Parameters
 *
 * - `cq`: the CQ.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cq` is NULL.
 * - RPMA_E_SHARED_CHANNEL: the completion channel is shared: use rpma_conn_wait(3).
 * - RPMA_E_NO_COMPLETION: there is no event: the fd is non-blocking, or a signal came.
 * - RPMA_E_PROVIDER: asking for the next event failed; the event at hand was taken.
 *
 * # Safety
 *
 * `cq` is NULL or a CQ whose owner lives.
 *
 * # Thread safety
 *
 * May run while other threads post, poll and wait. Each event wakes one waiting thread.
 *
 * # Manual page
 *
 * rpma_cq_wait(3)
 */
int rpma_cq_wait(struct rpma_cq *cq);

/**
 * Takes completions out of a CQ.
 *
 * # Parameters
 *
 * - `cq`: the CQ.
 * - `num_entries`: how many completions to take at the most, 1 or more.
 * - `wc`: room for that many. Where the status is not IBV_WC_SUCCESS, only wr_id, status, qp_num
 *   and vendor_err are valid.
 * - `num_entries_got`: where the number of completions goes; may be NULL if `num_entries` is 1.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cq` or `wc` is NULL, `num_entries` is below 1, or `num_entries_got` is NULL and
 *   `num_entries` is not 1.
 * - RPMA_E_NO_COMPLETION: there is none.
 * - RPMA_E_PROVIDER: polling the CQ failed.
 * - RPMA_E_UNKNOWN: the device gave more completions than asked for.
 *
 * # Safety
 *
 * `cq` is NULL or a CQ whose owner lives; `wc` is NULL or has the room; `num_entries_got` is NULL
 * or writable.
 *
 * # Thread safety
 *
 * May run while other threads post, poll and wait. Each completion goes to one caller.
 *
 * # Manual page
 *
 * rpma_cq_get_wc(3)
 */
int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got);

/**
 * Sets one of the two logging thresholds.
 *
 * RPMA_LOG_THRESHOLD decides which messages reach the log function, RPMA_LOG_THRESHOLD_AUX which
 * of those the default log function writes to stderr, too. A message passes a threshold when its
 * level is not above it; RPMA_LOG_DISABLED lets nothing pass. The environment variables
 * `RPMA_LOG` and `RPMA_LOG_STDERR` set the same thresholds when the library is loaded.
 *
 * # Parameters
 *
 * - `threshold`: RPMA_LOG_THRESHOLD or RPMA_LOG_THRESHOLD_AUX.
 * - `level`: the new value, RPMA_LOG_DISABLED to RPMA_LOG_LEVEL_DEBUG.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `threshold` or `level` is none of these.
 *
 * # Safety
 *
 * Always safe.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_log_set_threshold(3)
 */
int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level);

/**
 * Gets one of the two logging thresholds.
 *
 * # Parameters
 *
 * - `threshold`: RPMA_LOG_THRESHOLD or RPMA_LOG_THRESHOLD_AUX.
 * - `level`: where the value goes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `threshold` is neither, or `level` is NULL.
 *
 * # Safety
 *
 * `level` is NULL or writable.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_log_get_threshold(3)
 */
int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level);

/**
 * Sets the function that gets the log messages.
 *
 * The default one, restored by NULL (RPMA_LOG_USE_DEFAULT_FUNCTION), writes to stderr what passes
 * RPMA_LOG_THRESHOLD_AUX, and everything to syslog(3) with the facility LOCAL7. A function that
 * is replaced may still be running in another thread when this call returns.
 *
 * # Parameters
 *
 * - `log_function`: the function, or NULL for the default one.
 *
 * # Errors
 *
 * None; the return value is 0. A thread that logs meanwhile uses either function.
 *
 * # Safety
 *
 * `log_function` is NULL or a function of this type that can be called as long as it is set.
 *
 * # Thread safety
 *
 * May be called from any thread at any time.
 *
 * # Manual page
 *
 * rpma_log_set_function(3)
 */
int rpma_log_set_function(rpma_log_function *log_function);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LIBRPMA_H */
