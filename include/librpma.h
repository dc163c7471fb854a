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
 * The region can be read from afar: it is what the remote side's rpma_read() reads.
 */
#define RPMA_MR_USAGE_READ_SRC (1 << 0)

/**
 * The region takes what rpma_read() brings.
 */
#define RPMA_MR_USAGE_READ_DST (1 << 1)

/**
 * The region holds what rpma_write() and rpma_write_with_imm() send. Memory that can only be read
 * will do, if this and sending are all it is for; but not a shared mapping of a file on Linux 6.1.
 */
#define RPMA_MR_USAGE_WRITE_SRC (1 << 2)

/**
 * The region can be written from afar: it is what the remote side's rpma_write(),
 * rpma_write_with_imm() and rpma_atomic_write() write to.
 */
#define RPMA_MR_USAGE_WRITE_DST (1 << 3)

/**
 * The remote side may flush the region with RPMA_FLUSH_TYPE_VISIBILITY. Flushing may take a read,
 * so the remote side can also read the region.
 */
#define RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY (1 << 4)

/**
 * The remote side may flush the region with RPMA_FLUSH_TYPE_PERSISTENT. Flushing may take a read,
 * so the remote side can also read the region.
 */
#define RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT (1 << 5)

/**
 * The region holds what rpma_send() and rpma_send_with_imm() send.
 */
#define RPMA_MR_USAGE_SEND (1 << 6)

/**
 * The region takes the messages for rpma_recv(), rpma_conn_req_recv() and rpma_srq_recv().
 */
#define RPMA_MR_USAGE_RECV (1 << 7)

/**
 * The default time for resolving an address or a route, in milliseconds.
 */
#define RPMA_DEFAULT_TIMEOUT_MS 1000

/**
 * For rpma_conn_wait(): wait until a completion event arrives.
 */
#define RPMA_W_WAIT_FOR_COMPLETION 1

/**
 * The operation gives a completion only if it fails. It keeps its place in the send queue until a
 * later operation of the same connection has given one.
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
     * An event that says nothing about the connection.
     */
    RPMA_CONN_UNDEFINED = -1,
    /**
     * The connection is established: operations may be posted.
     */
    RPMA_CONN_ESTABLISHED,
    /**
     * The connection is closed, by either side. This may be told twice.
     */
    RPMA_CONN_CLOSED,
    /**
     * The connection is lost: it could not be made, or the device is gone.
     */
    RPMA_CONN_LOST,
    /**
     * The other side rejected the request, or nobody listens there.
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
     * The data are in the persistence domain: they survive a power failure. The remote side has to
     * have declared direct write to PMem.
     */
    RPMA_FLUSH_TYPE_PERSISTENT,
    /**
     * The data are in the memory of the remote side, where its processors and other devices see
     * them. They need not survive a power failure.
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
 * - `file_name`, `line_no`: the place that tells the message, in the source of the library.
 * - `function_name`: what the message is about: a function of this library, or the call into
 *   libibverbs or librdmacm that failed.
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
 * A server looks for the device that has the address it will listen at; a client looks for the
 * device through which it will reach the server's address. The device belongs to librdmacm, which
 * keeps it open until the process ends: do not close it.
 *
 * # Parameters
 *
 * - `addr`: host name or address, IPv4 or IPv6, a link-local one with its scope
 *   (`fe80::1%eth0`). Where a name has several addresses, each is tried, in the resolver's order.
 * - `type`: which device to look for.
 * - `ibv_ctx_ptr`: where the device goes; the input of rpma_peer_new().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `addr` or `ibv_ctx_ptr` is NULL, or `type` is unknown.
 * - RPMA_E_PROVIDER: the lookup, or binding or resolving the address failed; with errno EAGAIN,
 *   the resolver failed for now; with errno ENODEV, the address is local but on no RDMA device, as
 *   are 127.0.0.1 and 0.0.0.0, or a node of /dev/infiniband is missing, which the log names.
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
 * Registering a file on a DAX file system needs that. A device DAX and ordinary memory do not.
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
 * Gets the text of a connection event.
 *
 * # Parameters
 *
 * - `conn_event`: the event, as rpma_conn_next_event() gives it; any other number has a text, too.
 *
 * # Errors
 *
 * None.
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
 * Gets the text of a return code.
 *
 * # Parameters
 *
 * - `ret`: what a function of this library returned: 0 or one of RPMA_E_* for a text of its own;
 *   any other number has a text, too.
 *
 * # Errors
 *
 * None.
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
 * The side that offers memory says with it what its machine does with written data, and sends the
 * descriptor, of rpma_peer_cfg_get_descriptor(), to the other side; that one makes a configuration
 * of the descriptor with rpma_peer_cfg_from_descriptor() and applies it with
 * rpma_conn_apply_remote_peer_cfg().
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
 * It is a statement about the machine that has the memory, which the library cannot verify: that
 * data which the RDMA device has put into persistent memory are in the persistence domain, with no
 * volatile cache between. On Intel platforms that is so with Data Direct I/O turned off for the
 * device, or with caches that are flushed on power failure (eADR). Where it is declared and not
 * so, a flush with RPMA_FLUSH_TYPE_PERSISTENT completes, and a power failure loses the data all
 * the same.
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
 * How it gets there is the program's affair: usually as private data of the connection, next to
 * the descriptors of regions.
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
 * Gets the size of the descriptor of a peer configuration.
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
 * A peer is the device together with a protection domain, in which the regions, shared receive
 * queues and connections that are created with the peer work together. One for each device is
 * enough.
 *
 * # Parameters
 *
 * - `ibv_ctx`: an open device, usually from rpma_utils_get_ibv_context(); it has to stay open as
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
 * Before it, shut down its endpoints and delete what was created with it: connections, requests,
 * regions, shared receive queues. If one of these is left, the device refuses and the protection
 * domain is lost; what is left keeps working.
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
 * Nothing may be created with the peer any more, and no request that was created with it may be
 * connected at the same time.
 *
 * # Manual page
 *
 * rpma_peer_delete(3)
 */
int rpma_peer_delete(struct rpma_peer **peer_ptr);

/**
 * Registers memory, for the device to use in operations of this or of the other side.
 *
 * The memory stays the caller's, and has to stay mapped until the region is deregistered. It is
 * locked into memory, which counts towards RLIMIT_MEMLOCK, unless the device takes it only with
 * on-demand paging, as files on a DAX file system.
 *
 * For every usage, you can register memory of malloc(3), anonymous and huge pages, and mappings of
 * a device DAX, of a memfd_create(2) file and of files on tmpfs, if they can be read and written.
 * So ordinary memory may stand in for persistent memory, flushes included.
 *
 * If the device only reads the memory for a usage, memory that can only be read will do. Whether a
 * shared mapping (MAP_SHARED) of a file will do depends on the kernel. Linux 6.1 refuses it if it
 * can only be read. Linux 6.12 takes that one, but refuses a mapping of a file on a disk for a
 * usage that writes: RPMA_MR_USAGE_READ_DST, RPMA_MR_USAGE_WRITE_DST, RPMA_MR_USAGE_RECV. Both
 * take a private mapping (MAP_PRIVATE), but what is written into it does not reach the file.
 *
 * # Parameters
 *
 * - `peer`: the peer whose device is to use the memory.
 * - `ptr`, `size`: the memory, and its size in bytes, at least 1.
 * - `usage`: what the region is for: one or more of RPMA_MR_USAGE_*, and no more than needed.
 * - `mr_ptr`: where the region goes; deregister it with rpma_mr_dereg().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: a pointer is NULL, `size` is 0, or `usage` is 0 or has unknown bits.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: the device does not take the memory. With errno EOPNOTSUPP it is a file on
 *   a DAX file system, which needs on-demand paging, and the device has none; a device DAX works.
 *   With EFAULT, the memory does not permit the usage, or is a shared mapping of a file that the
 *   kernel refuses: use ordinary memory, and copy. With ENOMEM, the limit of locked memory
 *   (RLIMIT_MEMLOCK) may be reached. With EINVAL, it may be a part of a huge page, in a process
 *   that has RDMAV_FORK_SAFE but not RDMAV_HUGEPAGES_SAFE in its environment: see librpma(7).
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
 * The memory itself stays as it is. The remote side can reach it no more: an operation that comes
 * too late breaks its connection.
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
 * How it gets there is the program's affair: as private data of the connection, or as a message.
 * The remote side makes a remote region of it with rpma_mr_remote_from_descriptor().
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
 * Operations name the remote memory by it. It is only a description, is not tied to a connection,
 * and does not keep the memory registered at the other side.
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
 * Gets the size of the descriptor of a region.
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
 * Gets the address of a local region.
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
 * Gets the size of a local region.
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
 * Gets the size of a remote region.
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
 * That is only of use for regions that are paged in on demand; devices may refuse it for others.
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
 * The defaults: a timeout of RPMA_DEFAULT_TIMEOUT_MS (1000 ms), a CQ of 10 entries, no CQ of its
 * own for receives, a send queue and a receive queue of 10 entries each, completion channels not
 * shared, no shared receive queue.
 *
 * rpma_conn_req_new() and rpma_ep_next_conn_req() read the configuration; changing it later
 * changes nothing for requests and connections that exist.
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
 * It applies to outgoing requests, in rpma_conn_req_new(). Waiting for the other side's answer is
 * not limited by it: that ends when rpma_conn_next_event() tells of the answer, or of
 * RPMA_CONN_UNREACHABLE.
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
 * A CQ has to hold the completions of everything that is posted and not yet taken out with
 * rpma_cq_get_wc(): it overruns otherwise. Without a CQ for receives, that includes the receives.
 * An operation that fails completes whatever its flags, so the sum of the queue sizes is always
 * enough.
 *
 * What an overrun does depends on the device. It may break the connection. With soft-RoCE the
 * connection works on, and the completions that found no room are lost without an error. Only an
 * asynchronous event of the device, IBV_EVENT_CQ_ERR, tells of it: see librpma(7).
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `cq_size`: the size, in entries; the device makes it at least that large. One that the device
 *   cannot make, 0 for one, fails when the CQ is made, with RPMA_E_PROVIDER.
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
 * With a shared channel one thread can wait for sends and receives together. It cannot be had
 * together with a shared receive queue that has a CQ of its own: making the request fails with
 * RPMA_E_INVAL then.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `shared`: true: both CQs share a channel, and rpma_conn_wait() waits for either; false: each
 *   has its own, and rpma_cq_wait() waits for one.
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
int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared);

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
 * With 0, the default, receives complete on the connection's one CQ. A shared receive queue with a
 * CQ of its own makes this setting void.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rcq_size`: the size, in entries, or 0 for none. One that the device cannot make fails when
 *   the CQ is made, with RPMA_E_PROVIDER.
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
int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg *cfg, uint32_t rcq_size);

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
 * It holds all that is posted but receives: reads, writes, atomic writes, sends, flushes. A place
 * is free again when the completion of that operation, or of one posted after it, was taken out of
 * the CQ. So with RPMA_F_COMPLETION_ON_ERROR alone the queue fills up for good: let at least one
 * operation in every queue's length give a completion.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `sq_size`: the size, in entries. One that the device cannot make fails when the queue is made,
 *   with RPMA_E_PROVIDER.
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
 * It holds the receives that are posted and have not completed. A connection with a shared receive
 * queue does not use it.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rq_size`: the size, in entries. One that the device cannot make fails when the queue is made,
 *   with RPMA_E_PROVIDER.
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
 * Receives are then posted with rpma_srq_recv() and complete on the CQ of the queue,
 * rpma_srq_get_rcq(), or on the connection's where the queue has none.
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
 * Creates an outgoing connection request.
 *
 * It finds the way to the other side and makes the connection's queues. The other side hears of it
 * when rpma_conn_req_connect() sends the request. This call blocks until address and route are
 * resolved, which takes at most twice the timeout of the configuration, besides the lookup of a
 * host name.
 *
 * # Parameters
 *
 * - `peer`: the peer on whose device the connection will be.
 * - `addr`: host name or address of the other side. Where a name has several addresses, each is
 *   tried, in the resolver's order, with the timeout of its own.
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
 * - RPMA_E_PROVIDER: address lookup or resolution failed, or the device did not make a queue; with
 *   errno EINVAL, `port` may be a number above 65535 or below 0; with errno EAGAIN, the resolver
 *   failed for now.
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
 * The client's rpma_conn_next_event() gives RPMA_CONN_REJECTED then. An outgoing request was not
 * sent yet, so nobody is told.
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
 * Sends an outgoing connection request, or accepts an incoming one.
 *
 * The connection is established when rpma_conn_next_event() says so; until then nothing may be
 * posted to it but receives. The request is consumed, also when this fails; an incoming one is
 * rejected then.
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
 * A receive that is posted after rpma_conn_req_connect() may be later than the other side's first
 * message. With a shared receive queue, use rpma_srq_recv().
 *
 * # Parameters
 *
 * - `req`: the request.
 * - `dst`, `offset`, `len`: where the message goes: part of a region for RPMA_MR_USAGE_RECV, in
 *   bytes, up to 4 GiB - 1.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out; may be
 *   NULL.
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
 * Gets the private data that came with an incoming request.
 *
 * # Parameters
 *
 * - `req`: the request.
 * - `pdata`: where pointer and length in bytes go: NULL and 0 if there are none, as for an
 *   outgoing request. The data are valid as long as the request, or the connection that it
 *   becomes, is. They may be padded with zeros.
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
 * Gets the file descriptor that becomes readable when a connection event arrives.
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
 * It blocks until there is one, unless the fd of rpma_conn_get_event_fd() is non-blocking. After
 * RPMA_CONN_CLOSED another one may follow when the provider has done with the connection.
 *
 * RPMA_CONN_UNREACHABLE has two meanings. Before RPMA_CONN_ESTABLISHED, the connection failed.
 * After it, the MAC address of the neighbour that leads to the other side has changed. The
 * connection may work on: keep it until an operation fails, or until it is closed or lost.
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
 * Gets the private data that the other side sent with its request or its acceptance.
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
 * Without it, flushes with RPMA_FLUSH_TYPE_PERSISTENT are refused.
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
 * Gets the number of a connection's QP.
 *
 * Completions carry it as qp_num, so it tells which connection a completion belongs to where
 * several share a CQ.
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
 * Gets a connection's CQ.
 *
 * All operations complete on it, and receives too, unless they have a CQ of their own: see
 * rpma_conn_get_rcq() and rpma_srq_get_rcq().
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
 * Gets a connection's CQ for receives.
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
 * Disconnects a connection.
 *
 * The side that wants to end calls it, and waits for RPMA_CONN_CLOSED; the other side gets
 * RPMA_CONN_CLOSED and calls it in answer, after which the connection is done there, too.
 * Operations that have not completed complete with an error, the status IBV_WC_WR_FLUSH_ERR.
 *
 * Calling it again, or before the connection is established, does no harm.
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
 * One that was not disconnected is closed by that, and the other side gets RPMA_CONN_CLOSED.
 * Completions that were not taken out of its CQs are lost.
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
 * Gets the file descriptor of the completion channel that a connection's CQs share.
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
 * It is for connections whose CQs share a completion channel: rpma_conn_cfg_set_compl_channel().
 * As with rpma_cq_wait(), an event tells that completions have arrived, not how many: take them
 * out of that CQ with rpma_cq_get_wc() until there are none, and only then wait again. Who waits
 * while completions are left may wait forever.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `flags`: RPMA_W_WAIT_FOR_COMPLETION; not looked at so far.
 * - `cq`: where the CQ goes that has completions.
 * - `is_rcq`: where it goes whether that is the CQ for receives; may be NULL.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` or `cq` is NULL.
 * - RPMA_E_NOT_SHARED_CHNL: the CQs have a channel each: use rpma_cq_wait(3).
 * - RPMA_E_NO_COMPLETION: there is no event: the fd is non-blocking, or a signal came.
 * - RPMA_E_PROVIDER: reading the completion channel failed, with errno EIO after the device was
 *   taken away; or asking for the next event failed: the event at hand was taken, and `cq` is NULL.
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
 * rpma_ep_next_conn_req() obtains them.
 *
 * # Parameters
 *
 * - `peer`: the peer on whose device the connections will be.
 * - `addr`: host name or address to listen at, one of the peer's device. Where a name has several
 *   addresses, the first one that can be bound is taken.
 * - `port`: port number, 0 for any that is free, or service name.
 * - `ep_ptr`: where the endpoint goes; shut it down with rpma_ep_shutdown().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: address lookup, binding or listening failed; with errno EADDRINUSE, somebody
 *   listens there already; with errno EINVAL, `port` may be a number above 65535 or below 0; with
 *   errno EAGAIN, the resolver failed for now.
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
 * Gets the file descriptor that becomes readable when a connection request arrives.
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
 * It blocks until there is one, unless the endpoint's fd is non-blocking. The request does not
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
 * The defaults: a receive queue of 20 entries and a CQ of its own of 20 entries. rpma_srq_new()
 * reads the configuration; changing it later changes nothing for queues that exist.
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
 * - `rq_size`: the size, in entries. One that the device cannot make fails in rpma_srq_new(), with
 *   RPMA_E_PROVIDER.
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
 * - `rcq_size`: the size, in entries; 0 for no CQ of its own. One that the device cannot make
 *   fails in rpma_srq_new(), with RPMA_E_PROVIDER.
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
 * Connections use it when their configuration names it: rpma_conn_cfg_set_srq(). Many connections
 * can then live on few receives, which are posted with rpma_srq_recv().
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
 * The next message that arrives on any of the connections goes there; qp_num of the completion
 * tells on which, see rpma_conn_get_qp_num().
 *
 * # Parameters
 *
 * - `srq`: the shared receive queue.
 * - `dst`, `offset`, `len`: where the message goes: part of a region for RPMA_MR_USAGE_RECV, in
 *   bytes, up to 4 GiB - 1; NULL, 0 and 0 to take a message without data.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
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
 * Gets the CQ that belongs to a shared receive queue.
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
 * The operation goes on after the call; the data are there when its completion arrives, with the
 * opcode IBV_WC_RDMA_READ. It sees what earlier writes on the same connection wrote.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: local region, for RPMA_MR_USAGE_READ_DST, and offset into it, in bytes.
 * - `src`, `src_offset`: remote region, for RPMA_MR_USAGE_READ_SRC, and offset into it, in bytes.
 * - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
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
 * The operation goes on after the call, and completes with the opcode IBV_WC_RDMA_WRITE. The
 * completion means that the local memory may be used again, and that the remote device has taken
 * the data over; that they are in memory, or persistent, only a completed rpma_flush() says. The
 * remote side is not told: see rpma_write_with_imm().
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region, for RPMA_MR_USAGE_WRITE_DST, and offset into it, in bytes.
 * - `src`, `src_offset`: local region, for RPMA_MR_USAGE_WRITE_SRC, and offset into it, in bytes.
 * - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
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
 * It is like rpma_write(), but takes the remote side's next receive as well, whose completion has
 * the opcode IBV_WC_RECV_RDMA_WITH_IMM, the number of bytes written, and the immediate data. The
 * receive's own memory is not touched.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region, for RPMA_MR_USAGE_WRITE_DST, and offset into it, in bytes.
 * - `src`, `src_offset`: local region, for RPMA_MR_USAGE_WRITE_SRC, and offset into it, in bytes.
 * - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `imm`: immediate data for the remote side's completion, in host byte order. They are sent in
 *   network byte order: the remote side finds them in its imm_data and takes ntohl(3) of them,
 *   where wc_flags has IBV_WC_WITH_IMM.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
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
 * It takes place after every flush that was posted before it, so it can publish what was flushed.
 * To be persistent it needs a flush after it.
 *
 * By default it is a write of data that the work request carries, and completes with the opcode
 * IBV_WC_RDMA_WRITE; the native operation is used on request, see librpma(7).
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region, for RPMA_MR_USAGE_WRITE_DST, and offset into it, in bytes,
 *   a multiple of RPMA_ATOMIC_WRITE_ALIGNMENT (8). The region has to be aligned likewise.
 * - `src`: the 8 bytes; not needed any more after the call.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn`, `dst` or `src` is NULL, `flags` is 0, `dst_offset` is no multiple of 8,
 *   or address and offset together exceed 64 bits.
 * - RPMA_E_NOSUPP: the device has neither inline data, which the write needs, nor the native
 *   operation.
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
 * The operation goes on after the call, and completes with the opcode IBV_WC_SEND when the message
 * is in the remote side's receive. Without a receive there it waits for one; a message that is
 * longer than the receive breaks the connection.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `src`, `offset`, `len`: the message: part of a region for RPMA_MR_USAGE_SEND, in bytes, up to
 *   4 GiB - 1; NULL, 0 and 0 for a message without data.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
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
 * It is like rpma_send(), with 4 bytes more that arrive in the completion of the receive itself.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `src`, `offset`, `len`: the message: part of a region for RPMA_MR_USAGE_SEND, in bytes, up to
 *   4 GiB - 1; NULL, 0 and 0 for a message without data.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `imm`: immediate data for the remote side's completion, in host byte order. They are sent in
 *   network byte order: the remote side finds them in its imm_data and takes ntohl(3) of them,
 *   where wc_flags has IBV_WC_WITH_IMM.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
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
 * Each receive gives a completion, with the opcode IBV_WC_RECV, or IBV_WC_RECV_RDMA_WITH_IMM for a
 * write. One for the first message has to be posted before the connection: rpma_conn_req_recv().
 * On a connection with a shared receive queue use rpma_srq_recv().
 *
 * A receive that is posted after an operation has failed is accepted, but may never complete: with
 * soft-RoCE it does not. So do not wait for it. Receives that were posted before complete with
 * IBV_WC_WR_FLUSH_ERR.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `offset`, `len`: where the message goes: part of a region for RPMA_MR_USAGE_RECV, in
 *   bytes, up to 4 GiB - 1; NULL, 0 and 0 to take a message without data.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
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
 * Once its completion arrives, all that was written to the range by operations posted before it
 * has got as far as the type of flush says. So writes that a flush follows need no completion of
 * their own: RPMA_F_COMPLETION_ON_ERROR is enough for them. A write that is posted after the flush
 * may overtake it, unless it is an rpma_atomic_write(): wait for the completion of the flush where
 * that matters.
 *
 * By default this is a read of up to 8 bytes, which works with every remote side, and its
 * completion has the opcode IBV_WC_RDMA_READ. The native operation is used on request, see
 * librpma(7), and completes with IBV_WC_FLUSH.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: remote region, for RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY or
 *   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT as `type` wants, and offset into it, in bytes.
 * - `len`: how many bytes to flush; no limit.
 * - `type`: how far the data have to get.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` or `dst` is NULL, `flags` is 0, `type` is unknown, or address, offset
 *   and length together exceed 64 bits.
 * - RPMA_E_NOSUPP: the region was not registered for this type of flush; or the flush is to be
 *   persistent and no peer configuration that declares direct write to PMem was applied with
 *   rpma_conn_apply_remote_peer_cfg().
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
 * Gets the file descriptor that becomes readable when a completion event arrives.
 *
 * It is the fd of the CQ's completion channel, be that shared or not. It may be polled and made
 * non-blocking, and must not be closed. When it is readable, rpma_cq_wait() takes the event, or
 * rpma_conn_wait() where the channel is shared. Before waiting for it, take out what is there
 * already with rpma_cq_get_wc().
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
 * after an event call rpma_cq_get_wc() until it gives RPMA_E_NO_COMPLETION, and only then wait
 * again: who waits while completions are left in the CQ may wait forever. It may happen that an
 * event comes and the completions were taken out before it.
 *
 * Nothing that the other side does ends the wait unless it completes something: a server that
 * waits for a message of a client that has gone waits forever. Where that can be, poll the CQ's fd
 * and the connection's event fd together: rpma_cq_get_fd(3), rpma_conn_get_event_fd(3).
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
 * - RPMA_E_PROVIDER: reading the completion channel failed, with errno EIO after the device was
 *   taken away; or asking for the next event failed, and the event at hand was taken.
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
 * It never blocks. A completion says which operation it belongs to (wr_id, the op_context of the
 * operation), how it ended (status, for which ibv_wc_status_str() has texts), and of which
 * connection it was (qp_num). After the first one that failed, the connection is of no use any
 * more, and all else that was posted completes with IBV_WC_WR_FLUSH_ERR.
 *
 * # Parameters
 *
 * - `cq`: the CQ.
 * - `num_entries`: how many completions to take at the most, 1 or more.
 * - `wc`: room for that many, as ibv_poll_cq(3) describes them. Where the status is not
 *   IBV_WC_SUCCESS, only wr_id, status, qp_num and vendor_err are valid.
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
 * A message passes a threshold when its level is not above it; RPMA_LOG_DISABLED lets nothing
 * pass. The environment variables `RPMA_LOG` and `RPMA_LOG_STDERR` set the same thresholds when
 * the library is loaded; what this function sets wins.
 *
 * # Parameters
 *
 * - `threshold`: which of the two.
 * - `level`: the new value.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `threshold` or `level` is none of those.
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
 * - `threshold`: which of the two.
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
 * It gets those that pass RPMA_LOG_THRESHOLD. The default function writes to stderr those that
 * pass RPMA_LOG_THRESHOLD_AUX, too, and all of them to syslog(3) with the facility LOCAL7.
 *
 * Its parameters are the level of the message; the file and line of the library's source that it
 * comes from; the function that it is about, which may be the one of libibverbs or librdmacm that
 * failed; and a printf(3) format with its arguments, which gives one line with a newline at its
 * end. It may be called from several threads at once, must not call functions of
 * this library but rpma_log_set_threshold(), rpma_log_get_threshold() and rpma_log_set_function(),
 * and what it does to errno does not show.
 *
 * # Parameters
 *
 * - `log_function`: the function, or NULL (RPMA_LOG_USE_DEFAULT_FUNCTION) for the default one.
 *
 * # Errors
 *
 * None.
 *
 * # Safety
 *
 * `log_function` is NULL or a function of this type that can be called as long as it is set.
 *
 * # Thread safety
 *
 * May be called from any thread at any time. A function that is replaced may still be running in
 * another thread when this call returns.
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
