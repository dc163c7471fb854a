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
 * The region can be read remotely: the other side's rpma_read() reads it.
 */
#define RPMA_MR_USAGE_READ_SRC (1 << 0)

/**
 * rpma_read() puts what it reads into the region.
 */
#define RPMA_MR_USAGE_READ_DST (1 << 1)

/**
 * rpma_write() and rpma_write_with_imm() take their data from the region. Read-only memory is
 * enough, unless you combine this with a usage that writes to the region, or the memory is a
 * shared mapping of a file on Linux 6.1.
 */
#define RPMA_MR_USAGE_WRITE_SRC (1 << 2)

/**
 * The region can be written remotely: the other side's rpma_write(), rpma_write_with_imm() and
 * rpma_atomic_write() write to it.
 */
#define RPMA_MR_USAGE_WRITE_DST (1 << 3)

/**
 * The other side may flush the region with RPMA_FLUSH_TYPE_VISIBILITY. A flush may be done by a
 * read, so the other side can also read the region.
 */
#define RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY (1 << 4)

/**
 * The other side may flush the region with RPMA_FLUSH_TYPE_PERSISTENT. A flush may be done by a
 * read, so the other side can also read the region.
 */
#define RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT (1 << 5)

/**
 * rpma_send() and rpma_send_with_imm() take messages from the region.
 */
#define RPMA_MR_USAGE_SEND (1 << 6)

/**
 * rpma_recv(), rpma_conn_req_recv() and rpma_srq_recv() put messages into the region.
 */
#define RPMA_MR_USAGE_RECV (1 << 7)

/**
 * The default timeout for resolving an address or a route, in milliseconds.
 */
#define RPMA_DEFAULT_TIMEOUT_MS 1000

/**
 * For rpma_conn_wait(): wait until a completion event arrives.
 */
#define RPMA_W_WAIT_FOR_COMPLETION 1

/**
 * The operation gives a completion only if it fails. It occupies its entry in the send queue until
 * you take out the completion of a later operation of the same connection.
 */
#define RPMA_F_COMPLETION_ON_ERROR (1 << 0)

/**
 * The operation always gives a completion.
 */
#define RPMA_F_COMPLETION_ALWAYS ((1 << 1) | RPMA_F_COMPLETION_ON_ERROR)

/**
 * The size of what rpma_atomic_write() writes, and its alignment in the other side's memory, in
 * bytes.
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
 * A function of libibverbs, of librdmacm or of the kernel failed. `errno` says why.
 */
#define RPMA_E_PROVIDER (-100002)

/**
 * There is not enough memory.
 */
#define RPMA_E_NOMEM (-100003)

/**
 * An argument is wrong. Everything is as it was before, except with rpma_conn_req_connect().
 */
#define RPMA_E_INVAL (-100004)

/**
 * There is no completion.
 */
#define RPMA_E_NO_COMPLETION (-100005)

/**
 * There is no connection event.
 */
#define RPMA_E_NO_EVENT (-100006)

/**
 * A temporary failure. No function returns it; it is kept so that programs still compile.
 */
#define RPMA_E_AGAIN (-100007)

/**
 * The CQs of the connection share a completion channel. Use rpma_conn_wait().
 */
#define RPMA_E_SHARED_CHANNEL (-100008)

/**
 * The CQs of the connection do not share a completion channel. Use rpma_cq_wait().
 */
#define RPMA_E_NOT_SHARED_CHNL (-100009)

/**
 * What happened to a connection.
 */
enum rpma_conn_event {
    /**
     * The event says nothing about the connection.
     */
    RPMA_CONN_UNDEFINED = -1,
    /**
     * The connection is established. You may post operations.
     */
    RPMA_CONN_ESTABLISHED,
    /**
     * The connection was closed by one of the sides. This event may come twice.
     */
    RPMA_CONN_CLOSED,
    /**
     * The connection is lost: it could not be established, or the device is gone.
     */
    RPMA_CONN_LOST,
    /**
     * The other side rejected the request, or no program listens there.
     */
    RPMA_CONN_REJECTED,
    /**
     * The other side could not be reached, or did not answer. It can also come after
     * RPMA_CONN_ESTABLISHED, on a connection that goes on working.
     */
    RPMA_CONN_UNREACHABLE,
};

/**
 * What a flush guarantees, see rpma_flush().
 */
enum rpma_flush_type {
    /**
     * The data are in the persistence domain: they survive a power failure. The other side must
     * have declared direct write to PMem.
     */
    RPMA_FLUSH_TYPE_PERSISTENT,
    /**
     * The data are in the other side's memory, where its processors and other devices see them.
     * They may be lost in a power failure.
     */
    RPMA_FLUSH_TYPE_VISIBILITY,
};

/**
 * The level of a log message. A lower number is more important.
 */
enum rpma_log_level {
    /**
     * As a threshold, it lets no message pass. No message has this level.
     */
    RPMA_LOG_DISABLED = -1,
    /**
     * The library cannot go on. No message has this level so far.
     */
    RPMA_LOG_LEVEL_FATAL,
    /**
     * A call failed, or a descriptor that the other side sent is wrong.
     */
    RPMA_LOG_LEVEL_ERROR,
    /**
     * Something unexpected happened, and the library goes on.
     */
    RPMA_LOG_LEVEL_WARNING,
    /**
     * A step in the life of a connection.
     */
    RPMA_LOG_LEVEL_NOTICE,
    /**
     * What the library has found out about a device or about the other side.
     */
    RPMA_LOG_LEVEL_INFO,
    /**
     * Details for debugging.
     */
    RPMA_LOG_LEVEL_DEBUG,
};

/**
 * Which of the two thresholds.
 */
enum rpma_log_threshold {
    /**
     * Messages up to this level go to the log function. At first it is RPMA_LOG_LEVEL_WARNING.
     */
    RPMA_LOG_THRESHOLD,
    /**
     * The default log function also writes messages up to this level to stderr. At first it is
     * RPMA_LOG_DISABLED.
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
     * The device that has the address.
     */
    RPMA_UTIL_IBV_CONTEXT_LOCAL,
    /**
     * The device that leads to the address.
     */
    RPMA_UTIL_IBV_CONTEXT_REMOTE,
};

/**
 * A connection. It begins as a connection request.
 */
struct rpma_conn;

/**
 * A configuration of connections. Each field is read once, when a request is created.
 */
struct rpma_conn_cfg;

/**
 * A completion queue (CQ). It belongs to a connection or to a shared receive queue.
 */
struct rpma_cq;

/**
 * An endpoint that listens for connection requests.
 */
struct rpma_ep;

/**
 * A region of this process's memory that is registered with a peer's device.
 */
struct rpma_mr_local;

/**
 * A region of the other side's memory, as its descriptor describes it.
 */
struct rpma_mr_remote;

/**
 * A peer: an RDMA device together with a protection domain (PD). Everything that is created with
 * the peer belongs to this PD.
 */
struct rpma_peer;

/**
 * A peer configuration. It says whether data that are written remotely to a machine's persistent
 * memory are persistent once they are flushed (direct write to PMem).
 */
struct rpma_peer_cfg;

/**
 * A receive queue that several connections share.
 */
struct rpma_srq;

/**
 * A configuration of shared receive queues. Each field is read once, when a queue is created.
 */
struct rpma_srq_cfg;

/**
 * A log function of your own.
 *
 * Several threads may call it at the same time. Of this library's functions, it may call only
 * rpma_log_*(). The strings are valid only during the call. The message ends with a newline.
 *
 * - `level`: the level of the message.
 * - `file_name`, `line_no`: the place in the library's source that logs the message.
 * - `function_name`: the function that the message is about: one of this library, or the one of
 *   libibverbs or librdmacm that failed.
 * - `message_format`: the printf(3) format of the message, followed by its arguments.
 */
typedef void rpma_log_function(enum rpma_log_level level, const char *file_name, const int line_no,
                               const char *function_name, const char *message_format, ...);

/**
 * Private data: bytes that one side sends to the other with a request or with its acceptance.
 */
struct rpma_conn_private_data {
    /**
     * The bytes.
     */
    void *ptr;
    /**
     * The number of bytes.
     */
    uint8_t len;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Finds the RDMA device for an address.
 *
 * A server looks for the device that has the address at which it will listen. A client looks for
 * the device that leads to the server's address. The device belongs to librdmacm, which keeps it
 * open until the process ends: do not close it.
 *
 * # Parameters
 *
 * - `addr`: a host name, or an IPv4 or IPv6 address. A link-local address needs its scope, as in
 *   `fe80::1%eth0`. If a name has several addresses, the function tries one after the other, in
 *   the resolver's order.
 * - `type`: which device to look for.
 * - `ibv_ctx_ptr`: receives the device. Pass it to rpma_peer_new().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `addr` or `ibv_ctx_ptr` is NULL, or `type` is unknown.
 * - RPMA_E_PROVIDER: rdma_getaddrinfo(), rdma_create_id(), rdma_bind_addr() or rdma_resolve_addr()
 *   failed. If errno is EAGAIN, the resolver has failed for the moment: try again. If errno is
 *   ENODEV, the address is local, but no RDMA device has it, as with 127.0.0.1 and 0.0.0.0; or a
 *   file in /dev/infiniband is missing, and the log names it.
 *
 * # Safety
 *
 * `addr` must be NULL or point to a string that ends with NUL. `ibv_ctx_ptr` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_utils_get_ibv_context(3)
 */
int rpma_utils_get_ibv_context(const char *addr,
                               enum rpma_util_ibv_context_type type,
                               struct ibv_context **ibv_ctx_ptr);

/**
 * Tells whether a device supports on-demand paging (ODP).
 *
 * rpma_mr_reg() needs it to register a file on a DAX file system. It does not need it for a device
 * DAX or for ordinary memory.
 *
 * # Parameters
 *
 * - `ibv_ctx`: an open device.
 * - `is_odp_capable`: receives 1 if reads and writes over reliable connections can use on-demand
 *   paging, otherwise 0.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_PROVIDER: ibv_query_device_ex() failed.
 *
 * # Safety
 *
 * `ibv_ctx` must be NULL or an open device. `is_odp_capable` must be NULL or point to writable
 * memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `conn_event`: the event that rpma_conn_next_event() gave. For any other number, the text says
 *   that the event is not supported.
 *
 * # Errors
 *
 * None.
 *
 * # Safety
 *
 * Always safe. The text is constant: do not change it or free it.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `ret`: the value that a function of this library returned: 0 or one of RPMA_E_*. For any other
 *   number, the text says that the error is unknown.
 *
 * # Errors
 *
 * None.
 *
 * # Safety
 *
 * Always safe. The text is constant: do not change it or free it.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_err_2str(3)
 */
const char *rpma_err_2str(int ret);

/**
 * Creates a peer configuration.
 *
 * At first, it does not declare direct write to PMem: see
 * rpma_peer_cfg_set_direct_write_to_pmem().
 *
 * With a peer configuration, the side that offers memory says what its machine does with written
 * data. That side sends the descriptor, see rpma_peer_cfg_get_descriptor(). The other side makes a
 * configuration from it with rpma_peer_cfg_from_descriptor(), and applies it to the connection
 * with rpma_conn_apply_remote_peer_cfg().
 *
 * # Parameters
 *
 * - `pcfg_ptr`: receives the configuration. Delete it with rpma_peer_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `pcfg_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `pcfg_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `pcfg_ptr`: the address of the handle. The function sets the handle to NULL. If the handle is
 *   NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `pcfg_ptr` is NULL.
 *
 * # Safety
 *
 * `pcfg_ptr` must be NULL or point to a handle. The handle must be NULL, or own a configuration
 * that has not been deleted.
 *
 * # Thread safety
 *
 * No thread may use the configuration during this call or afterwards.
 *
 * # Manual page
 *
 * rpma_peer_cfg_delete(3)
 */
int rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr);

/**
 * Declares whether direct write to PMem is possible.
 *
 * This is a statement about the machine that has the memory. The library cannot verify it. It says
 * that data which the RDMA device has put into persistent memory are in the persistence domain,
 * without a volatile cache in between. On Intel platforms this is so if Data Direct I/O is turned
 * off for the device, or if the caches are flushed on power failure (eADR). If you declare it
 * wrongly, a flush with RPMA_FLUSH_TYPE_PERSISTENT completes, but a power failure loses the data.
 *
 * # Parameters
 *
 * - `pcfg`: the configuration.
 * - `supported`: true if direct write to PMem is possible, otherwise false.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `pcfg` is NULL.
 *
 * # Safety
 *
 * `pcfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `supported`: receives true or false.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `pcfg` must be NULL or a configuration that has not been deleted. `supported` must be NULL or
 * point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_get_direct_write_to_pmem(3)
 */
int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg, bool *supported);

/**
 * Writes the descriptor of a peer configuration into a buffer.
 *
 * Your program sends the descriptor to the other side, usually as private data of the connection,
 * next to the descriptors of regions.
 *
 * # Parameters
 *
 * - `pcfg`: the configuration.
 * - `desc`: memory for the descriptor, of the size that rpma_peer_cfg_get_descriptor_size() gives.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `pcfg` must be NULL or a configuration that has not been deleted. `desc` must be NULL or point
 * to enough writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `desc_size`: receives the size in bytes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `pcfg` must be NULL or a configuration that has not been deleted. `desc_size` must be NULL or
 * point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_peer_cfg_get_descriptor_size(3)
 */
int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size);

/**
 * Creates a peer configuration from the other side's descriptor.
 *
 * # Parameters
 *
 * - `desc`: the descriptor. The function does not read the bytes that follow it.
 * - `desc_size`: the number of bytes at `desc`. It may be larger than the descriptor.
 * - `pcfg_ptr`: receives the configuration. Delete it with rpma_peer_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: a pointer is NULL, or the descriptor is too short.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `desc` must be NULL or point to `desc_size` readable bytes. `pcfg_ptr` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * A peer is an RDMA device together with a protection domain (PD). The regions, shared receive
 * queues and connections that you create with the peer belong to this PD, and can be used
 * together. One peer for each device is enough.
 *
 * # Parameters
 *
 * - `ibv_ctx`: an open device, usually from rpma_utils_get_ibv_context(). It must stay open as
 *   long as the peer exists.
 * - `peer_ptr`: receives the peer. Delete it with rpma_peer_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: ibv_query_device_ex() or ibv_alloc_pd() failed.
 * - RPMA_E_UNKNOWN: ibv_alloc_pd() failed and did not set errno.
 *
 * # Safety
 *
 * `ibv_ctx` must be NULL or an open device. `peer_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time. Any number of threads may use a peer at the same
 * time.
 *
 * # Manual page
 *
 * rpma_peer_new(3)
 */
int rpma_peer_new(struct ibv_context *ibv_ctx, struct rpma_peer **peer_ptr);

/**
 * Deletes a peer.
 *
 * First shut down its endpoints, and delete everything else that you have created with it:
 * connections, requests, regions and shared receive queues. If one of these is left, the device
 * refuses to deallocate the protection domain, which then leaks. What is left keeps working.
 *
 * # Parameters
 *
 * - `peer_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
 *   If the handle is NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `peer_ptr` is NULL.
 * - RPMA_E_PROVIDER: ibv_dereg_mr() or ibv_dealloc_pd() failed. If errno is EBUSY, something that
 *   was created with the peer is left.
 *
 * # Safety
 *
 * `peer_ptr` must be NULL or point to a handle. The handle must be NULL, or own a peer that has
 * not been deleted.
 *
 * # Thread safety
 *
 * No thread may create anything with the peer during this call or afterwards. During this call, no
 * thread may connect a request that was created with the peer.
 *
 * # Manual page
 *
 * rpma_peer_delete(3)
 */
int rpma_peer_delete(struct rpma_peer **peer_ptr);

/**
 * Registers memory so that the device can read or write it.
 *
 * The memory stays yours. Keep it mapped until you deregister the region. Registering locks it
 * into RAM, which counts towards RLIMIT_MEMLOCK. Memory that the device takes only with on-demand
 * paging, such as a file on a DAX file system, is not locked.
 *
 * For every usage, you can register memory that malloc(3) gives, anonymous pages and huge pages,
 * and mappings of a device DAX, of a memfd_create(2) file or of a file on tmpfs, if you can read
 * and write them. So you can use ordinary memory in place of persistent memory, flushes included.
 *
 * If the device only reads the memory for a usage, read-only memory is enough. For a shared
 * mapping (MAP_SHARED) of a file, the kernel decides. Linux 6.1 refuses a read-only one. Linux
 * 6.12 takes it, but refuses a mapping of a file on a disk for a usage that writes:
 * RPMA_MR_USAGE_READ_DST, RPMA_MR_USAGE_WRITE_DST, RPMA_MR_USAGE_RECV. Both kernels take a private
 * mapping (MAP_PRIVATE), but what is written to it does not reach the file.
 *
 * # Parameters
 *
 * - `peer`: the peer whose device will use the memory.
 * - `ptr`, `size`: the memory and its size in bytes, at least 1.
 * - `usage`: what the region is for: one or more of RPMA_MR_USAGE_*, combined with |. Ask for no
 *   more than you need.
 * - `mr_ptr`: receives the region. Deregister it with rpma_mr_dereg().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: a pointer is NULL, `size` is 0, or `usage` is 0 or has unknown bits.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: ibv_reg_mr() failed. If errno is EOPNOTSUPP, the memory is a file on a DAX
 *   file system. That needs on-demand paging, which the device does not support; a device DAX
 *   works. If errno is EFAULT, the memory does not permit the usage, or it is a shared mapping of
 *   a file that the kernel refuses: use ordinary memory, and copy. If errno is ENOMEM, the limit
 *   of locked memory (RLIMIT_MEMLOCK) may be reached. If errno is EINVAL, the memory may be a part
 *   of a huge page, in a process that has RDMAV_FORK_SAFE but not RDMAV_HUGEPAGES_SAFE in its
 *   environment: see librpma(7).
 *
 * # Safety
 *
 * `peer` must be NULL or a peer that has not been deleted. `mr_ptr` must be NULL or point to
 * writable memory. The memory at `ptr` must stay mapped as long as it is registered.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * Deregisters memory and deletes the region.
 *
 * The memory itself stays as it is. The other side can no longer use it: if it still tries to, its
 * connection breaks.
 *
 * # Parameters
 *
 * - `mr_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
 *   If the handle is NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `mr_ptr` is NULL.
 * - RPMA_E_PROVIDER: ibv_dereg_mr() failed.
 *
 * # Safety
 *
 * `mr_ptr` must be NULL or point to a handle. The handle must be NULL, or own a region that has
 * not been deregistered.
 *
 * # Thread safety
 *
 * No thread may use the region during this call or afterwards. All operations that use it must
 * have completed.
 *
 * # Manual page
 *
 * rpma_mr_dereg(3)
 */
int rpma_mr_dereg(struct rpma_mr_local **mr_ptr);

/**
 * Writes the descriptor of a local region into a buffer.
 *
 * With the descriptor, the other side can use the region. Your program sends it there, as private
 * data of the connection or as a message. The other side creates a remote region from it with
 * rpma_mr_remote_from_descriptor().
 *
 * The descriptor has 21 bytes on every machine: address (8 bytes), length (8 bytes), key (4
 * bytes), each with its least significant byte first, and usage (1 byte).
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `desc`: memory for the descriptor, of the size that rpma_mr_get_descriptor_size() gives.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` must be NULL or a region that has not been deleted. `desc` must be NULL or point to enough
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_mr_get_descriptor(3)
 */
int rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc);

/**
 * Creates a remote region from the other side's descriptor.
 *
 * You pass the remote region to operations, which read, write or flush the other side's memory. It
 * only describes that memory. It does not belong to a connection, and it does not keep the memory
 * registered on the other side.
 *
 * # Parameters
 *
 * - `desc`: the descriptor. The function does not read the bytes that follow it.
 * - `desc_size`: the number of bytes at `desc`. It may be larger than the descriptor.
 * - `mr_ptr`: receives the region. Delete it with rpma_mr_remote_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: a pointer is NULL, the descriptor is too short, or its usage is 0.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `desc` must be NULL or point to `desc_size` readable bytes. `mr_ptr` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_mr_remote_from_descriptor(3)
 */
int rpma_mr_remote_from_descriptor(const void *desc,
                                   size_t desc_size,
                                   struct rpma_mr_remote **mr_ptr);

/**
 * Gets the size of the descriptor of a local region.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `desc_size`: receives the size in bytes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` must be NULL or a region that has not been deregistered. `desc_size` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `ptr`: receives the address that was registered.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` must be NULL or a region that has not been deregistered. `ptr` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `size`: receives the size in bytes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` must be NULL or a region that has not been deregistered. `size` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `size`: receives the size in bytes.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` must be NULL or a region that has not been deleted. `size` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_mr_remote_get_size(3)
 */
int rpma_mr_remote_get_size(const struct rpma_mr_remote *mr, size_t *size);

/**
 * Gets the types of flush that a remote region permits.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `flush_type`: receives 0, or one or both of RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY and
 *   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `mr` must be NULL or a region that has not been deleted. `flush_type` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_mr_remote_get_flush_type(3)
 */
int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote *mr, int *flush_type);

/**
 * Deletes a remote region. The other side's memory stays as it is.
 *
 * # Parameters
 *
 * - `mr_ptr`: the address of the handle. The function sets the handle to NULL. If the handle is
 *   NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `mr_ptr` is NULL.
 *
 * # Safety
 *
 * `mr_ptr` must be NULL or point to a handle. The handle must be NULL, or own a remote region that
 * has not been deleted.
 *
 * # Thread safety
 *
 * No thread may use the region during this call or afterwards. Operations that were posted before
 * go on.
 *
 * # Manual page
 *
 * rpma_mr_remote_delete(3)
 */
int rpma_mr_remote_delete(struct rpma_mr_remote **mr_ptr);

/**
 * Advises the device about a part of a region, usually to page it in.
 *
 * This helps only with regions that are paged in on demand. For other regions, the device may
 * refuse it.
 *
 * # Parameters
 *
 * - `mr`: the region.
 * - `offset`, `len`: the part of the region, in bytes. There is no limit.
 * - `advice`: as for ibv_advise_mr(3), for example IBV_ADVISE_MR_ADVICE_PREFETCH.
 * - `flags`: as for ibv_advise_mr(3): IBV_ADVISE_MR_FLAG_FLUSH or 0.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `mr` is NULL; the sum of the region's address, `offset` and `len` exceeds 64
 *   bits; or the device refuses the part, the advice or the flags.
 * - RPMA_E_NOSUPP: the device does not support advice, or not this advice.
 * - RPMA_E_PROVIDER: ibv_advise_mr() failed for another reason.
 *
 * # Safety
 *
 * `mr` must be NULL or a region that has not been deregistered.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_mr_advise(3)
 */
int rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice, uint32_t flags);

/**
 * Creates a configuration of connections.
 *
 * It has the default values: a timeout of RPMA_DEFAULT_TIMEOUT_MS (1000 ms), a CQ of 10 entries,
 * no separate CQ for receives, a send queue and a receive queue of 10 entries each, no shared
 * completion channel, and no shared receive queue.
 *
 * rpma_conn_req_new() and rpma_ep_next_conn_req() read the configuration. If you change it later,
 * requests and connections that exist stay as they are.
 *
 * # Parameters
 *
 * - `cfg_ptr`: receives the configuration. Delete it with rpma_conn_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `cfg_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_new(3)
 */
int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr);

/**
 * Deletes a configuration of connections. Connections that were created with it stay.
 *
 * # Parameters
 *
 * - `cfg_ptr`: the address of the handle. The function sets the handle to NULL. If the handle is
 *   NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 *
 * # Safety
 *
 * `cfg_ptr` must be NULL or point to a handle. The handle must be NULL, or own a configuration
 * that has not been deleted.
 *
 * # Thread safety
 *
 * No thread may use the configuration during this call or afterwards.
 *
 * # Manual page
 *
 * rpma_conn_cfg_delete(3)
 */
int rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr);

/**
 * Sets the timeout for resolving an address or a route.
 *
 * rpma_conn_req_new() resolves an address and then a route; the timeout limits each of these
 * steps. It does not limit the time until the other side answers the request:
 * rpma_conn_next_event() gives the answer, or RPMA_CONN_UNREACHABLE.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `timeout_ms`: the timeout in milliseconds, 0 or more.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL, or `timeout_ms` is below 0.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_timeout(3)
 */
int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms);

/**
 * Gets the timeout for resolving an address or a route.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `timeout_ms`: receives the timeout in milliseconds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `timeout_ms` must be NULL or
 * point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_timeout(3)
 */
int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms);

/**
 * Sets the size of a connection's CQ.
 *
 * A CQ must have room for the completions of all operations that you have posted and whose
 * completions you have not yet taken out with rpma_cq_get_wc(). Otherwise it overruns. If there is
 * no CQ for receives, receives count, too. An operation that fails gives a completion whatever its
 * flags are. The sum of the queue sizes is always enough.
 *
 * What an overrun does depends on the device. It may break the connection. With soft-RoCE the
 * connection works on, and the completions for which there was no room are lost without an error.
 * Only an asynchronous event of the device, IBV_EVENT_CQ_ERR, tells you: see librpma(7).
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `cq_size`: the size in entries. The device may make the CQ larger. A size that the device does
 *   not support, such as 0, makes rpma_conn_req_new() and rpma_ep_next_conn_req() fail with
 *   RPMA_E_PROVIDER.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_cq_size(3)
 */
int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg *cfg, uint32_t cq_size);

/**
 * Tells whether a connection's CQs share a completion channel.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `shared`: receives true or false.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `shared` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_compl_channel(3)
 */
int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared);

/**
 * Sets whether a connection's CQs share a completion channel.
 *
 * With a shared channel, one thread can wait for the completions of all operations, receives
 * included. A shared channel is not possible together with a shared receive queue that has its own
 * CQ: then rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_INVAL.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `shared`: if true, both CQs share one channel, and rpma_conn_wait() waits for either; if
 *   false, each CQ has its own channel, and rpma_cq_wait() waits for one.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `cq_size`: receives the size in entries.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `cq_size` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_cq_size(3)
 */
int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg *cfg, uint32_t *cq_size);

/**
 * Sets the size of a connection's CQ for receives.
 *
 * If the size is 0, which is the default, there is no such CQ: receives complete in the
 * connection's one CQ. If the connection uses a shared receive queue that has its own CQ, this
 * size has no effect.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rcq_size`: the size in entries, or 0 for no CQ. A size that the device does not support makes
 *   rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_PROVIDER.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `rcq_size`: receives the size in entries.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `rcq_size` must be NULL or
 * point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_rcq_size(3)
 */
int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg *cfg, uint32_t *rcq_size);

/**
 * Sets the size of a connection's send queue.
 *
 * The queue holds all operations except receives: reads, writes, atomic writes, sends and flushes.
 * An operation frees its entry when you take its completion, or that of a later operation, out of
 * the CQ. If you use only RPMA_F_COMPLETION_ON_ERROR, no entry ever becomes free. So post at least
 * one operation with RPMA_F_COMPLETION_ALWAYS among as many operations as the queue has entries.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `sq_size`: the size in entries. A size that the device does not support makes
 *   rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_PROVIDER.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `sq_size`: receives the size in entries.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `sq_size` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_sq_size(3)
 */
int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg *cfg, uint32_t *sq_size);

/**
 * Sets the size of a connection's receive queue.
 *
 * The queue holds the receives that you have posted and that have not completed. A connection that
 * uses a shared receive queue does not use its own.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rq_size`: the size in entries. A size that the device does not support makes
 *   rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_PROVIDER.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `rq_size`: receives the size in entries.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `rq_size` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_rq_size(3)
 */
int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg *cfg, uint32_t *rq_size);

/**
 * Makes connections receive from a shared receive queue.
 *
 * You then post receives with rpma_srq_recv(). They complete in the CQ of the queue, see
 * rpma_srq_get_rcq(). If the queue has no CQ, they complete in the connection's CQ.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `srq`: the shared receive queue. Delete it only after the connections that use it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `srq` must be NULL or a shared
 * receive queue that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_set_srq(3)
 */
int rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq);

/**
 * Gets the shared receive queue that connections will use.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `srq_ptr`: receives the shared receive queue, or NULL if there is none. It is the one that you
 *   passed to rpma_conn_cfg_set_srq(), and it stays yours.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `srq_ptr` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_cfg_get_srq(3)
 */
int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr);

/**
 * Creates an outgoing connection request.
 *
 * The function finds the route to the other side and creates the connection's queues. It sends no
 * request: rpma_conn_req_connect() does that. The function blocks until it has resolved the
 * address and the route. For each address that it tries, that takes at most twice the timeout of
 * the configuration. Looking up a host name takes time, too.
 *
 * # Parameters
 *
 * - `peer`: the peer whose device the connection will use.
 * - `addr`: the host name or address of the other side. If a name has several addresses, the
 *   function tries one after the other, in the resolver's order.
 * - `port`: the port number or service name at which the other side listens.
 * - `cfg`: the configuration of the connection, or NULL for the default configuration.
 * - `req_ptr`: receives the request. Connect it with rpma_conn_req_connect(), or delete it with
 *   rpma_conn_req_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `peer`, `addr`, `port` or `req_ptr` is NULL; or the configuration has both a
 *   shared completion channel and a shared receive queue with its own CQ.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: rdma_getaddrinfo(), rdma_create_id(), rdma_resolve_addr(),
 *   rdma_resolve_route(), ibv_create_comp_channel(), ibv_create_cq(), ibv_req_notify_cq() or
 *   rdma_create_qp_ex() failed. If errno is EINVAL, `port` may be a number below 0 or above 65535.
 *   If errno is EAGAIN, the resolver has failed for the moment: try again.
 *
 * # Safety
 *
 * `peer` must be NULL or a peer that has not been deleted. `addr` and `port` must be NULL or point
 * to strings that end with NUL. `cfg` must be NULL or a configuration that has not been deleted.
 * `req_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * Deletes a connection request. If it is an incoming one, this rejects it.
 *
 * The client of a rejected request gets RPMA_CONN_REJECTED from rpma_conn_next_event(). An
 * outgoing request has not been sent yet, so the other side does not notice.
 *
 * # Parameters
 *
 * - `req_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
 *   If the handle is NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `req_ptr` is NULL.
 * - RPMA_E_PROVIDER: rdma_reject() failed, for example because the other side has gone; or
 *   ibv_destroy_cq(), rdma_destroy_id(), ibv_destroy_comp_channel() or ibv_dereg_mr() failed. The
 *   function destroys everything else.
 *
 * # Safety
 *
 * `req_ptr` must be NULL or point to a handle. The handle must be NULL, or own a request that has
 * not been deleted.
 *
 * # Thread safety
 *
 * No thread may use the request during this call or afterwards.
 *
 * # Manual page
 *
 * rpma_conn_req_delete(3)
 */
int rpma_conn_req_delete(struct rpma_conn_req **req_ptr);

/**
 * Sends an outgoing connection request, or accepts an incoming one.
 *
 * The connection is established when rpma_conn_next_event() gives RPMA_CONN_ESTABLISHED. Until
 * then, you may post only receives, with rpma_recv().
 *
 * The function consumes the request, even if it fails. If it fails, an incoming request is
 * rejected.
 *
 * # Parameters
 *
 * - `req_ptr`: the address of the handle of the request. The function sets the handle to NULL,
 *   even if it fails.
 * - `pdata`: private data for the other side, or NULL for none. On InfiniBand and RoCE, a request
 *   carries up to 56 bytes and its acceptance up to 196. You may free the data after the call.
 * - `conn_ptr`: receives the connection. Delete it with rpma_conn_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `req_ptr` or its handle is NULL. Or `conn_ptr` is NULL, or `pdata` has a NULL
 *   pointer or the length 0: then the request is deleted.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: rdma_create_event_channel(), rdma_migrate_id(), ibv_reg_mr(), rdma_connect()
 *   or rdma_accept() failed. If errno is EINVAL, the private data may be too long.
 *
 * # Safety
 *
 * `req_ptr` must be NULL or point to a handle. The handle must be NULL, or own a request that has
 * not been deleted. `pdata` must be NULL or point to a structure whose pointer and length describe
 * readable memory. `conn_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may use a request. Meanwhile, other threads may obtain further
 * requests from the endpoint.
 *
 * # Manual page
 *
 * rpma_conn_req_connect(3)
 */
int rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
                          const struct rpma_conn_private_data *pdata,
                          struct rpma_conn **conn_ptr);

/**
 * Posts a receive before the connection is established.
 *
 * Use it if the other side may send a message at once. That message could arrive before a receive
 * that you post after rpma_conn_req_connect(). If the connection uses a shared receive queue, use
 * rpma_srq_recv().
 *
 * # Parameters
 *
 * - `req`: the request.
 * - `dst`, `offset`, `len`: the memory for the message, up to 4 GiB - 1 bytes: a region that was
 *   registered with RPMA_MR_USAGE_RECV, an offset into it and a length, both in bytes.
 * - `op_context`: any pointer, NULL included. rpma_cq_get_wc() gives it back as wr_id of the
 *   completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `req` or `dst` is NULL; `len` exceeds 32 bits; or the sum of the region's
 *   address, `offset` and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_recv() failed. If errno is ENOMEM, the receive queue is full.
 *
 * # Safety
 *
 * `req` must be NULL or a request that has not been deleted. `dst` must be NULL or a region that
 * has not been deregistered. The region must stay registered until the receive completes, and
 * until then nothing else may read or write the memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may use a request.
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
 * - `pdata`: receives the pointer to the data and their length in bytes, or NULL and 0 if there
 *   are none, as for an outgoing request. The data are valid until the request, or the connection
 *   that it becomes, is deleted. They may be padded with zeros.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `req` must be NULL or a request that has not been deleted. `pdata` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_req_get_private_data(3)
 */
int rpma_conn_req_get_private_data(const struct rpma_conn_req *req,
                                   struct rpma_conn_private_data *pdata);

/**
 * Gets the file descriptor of a connection's events.
 *
 * It becomes readable when an event arrives; rpma_conn_next_event() takes the event. You may poll
 * the file descriptor and make it non-blocking, but you must not close it.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `fd`: receives the file descriptor.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `fd` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_event_fd(3)
 */
int rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd);

/**
 * Obtains the next event of a connection.
 *
 * The function blocks until there is an event, unless the file descriptor that
 * rpma_conn_get_event_fd() gives is non-blocking. RPMA_CONN_CLOSED may come a second time, when
 * the provider has finished with the connection.
 *
 * RPMA_CONN_UNREACHABLE has two meanings. Before RPMA_CONN_ESTABLISHED, it means that connecting
 * failed. After RPMA_CONN_ESTABLISHED, it means that the MAC address of the neighbour that leads
 * to the other side has changed. Then the connection may work on: keep it until an operation
 * fails, or until the connection is closed or lost.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `event`: receives the event.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NO_EVENT: no event has arrived, and the file descriptor is non-blocking.
 * - RPMA_E_PROVIDER: rdma_get_cm_event() or rdma_ack_cm_event() failed. If errno is EINTR, a
 *   signal interrupted the call, and no event is lost.
 * - RPMA_E_UNKNOWN: an event arrived that says nothing about the connection, for example of an
 *   address change. `event` is RPMA_CONN_UNDEFINED.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `event` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may obtain the events of a connection or disconnect it. Meanwhile,
 * another thread may post operations, and others may wait for completions and take them out.
 *
 * # Manual page
 *
 * rpma_conn_next_event(3)
 */
int rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event);

/**
 * Gets the private data that the other side sent.
 *
 * The server gets the data that came with the client's request. The client gets the data that came
 * with the acceptance, after RPMA_CONN_ESTABLISHED. The data may arrive padded with zeros.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `pdata`: receives the pointer to the data and their length in bytes, or NULL and 0 if there
 *   are none. The data belong to the connection, and are valid until it is deleted.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `pdata` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function, but not while another thread calls rpma_conn_next_event() for
 * the same connection.
 *
 * # Manual page
 *
 * rpma_conn_get_private_data(3)
 */
int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *pdata);

/**
 * Applies the other side's peer configuration to a connection.
 *
 * Unless the configuration declares direct write to PMem, rpma_flush() refuses
 * RPMA_FLUSH_TYPE_PERSISTENT on this connection. It also refuses it if no configuration was
 * applied.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `pcfg`: the other side's configuration. You may delete it after the call.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `pcfg` must be NULL or a
 * configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_apply_remote_peer_cfg(3)
 */
int rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg);

/**
 * Gets the number of a connection's QP.
 *
 * Completions have this number as their qp_num. If several connections share a CQ, it tells you
 * which of them a completion belongs to.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `qp_num`: receives the number.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `qp_num` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_qp_num(3)
 */
int rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num);

/**
 * Gets a connection's CQ.
 *
 * All operations complete in this CQ. Receives do, too, unless they have a CQ of their own: see
 * rpma_conn_get_rcq() and rpma_srq_get_rcq().
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `cq_ptr`: receives the CQ. It belongs to the connection, and is deleted together with it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `cq_ptr` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `rcq_ptr`: receives the CQ, or NULL if receives complete in the connection's one CQ or in the
 *   CQ of a shared receive queue. The CQ belongs to the connection, and is deleted together with
 *   it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `rcq_ptr` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_rcq(3)
 */
int rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr);

/**
 * Disconnects a connection.
 *
 * The side that wants to end the connection calls this function, and waits for RPMA_CONN_CLOSED.
 * The other side gets RPMA_CONN_CLOSED, and calls this function in answer. Operations that have
 * not completed then complete with the status IBV_WC_WR_FLUSH_ERR.
 *
 * You may call the function again, or before the connection is established.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL.
 * - RPMA_E_PROVIDER: rdma_disconnect() failed.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted.
 *
 * # Thread safety
 *
 * Only one thread at a time may obtain the events of a connection or disconnect it. Meanwhile,
 * another thread may post operations, and others may wait for completions and take them out.
 *
 * # Manual page
 *
 * rpma_conn_disconnect(3)
 */
int rpma_conn_disconnect(struct rpma_conn *conn);

/**
 * Deletes a connection, with its CQs and its private data.
 *
 * If the connection was not disconnected, this closes it, and the other side gets
 * RPMA_CONN_CLOSED. Completions that you have not taken out of its CQs are lost.
 *
 * # Parameters
 *
 * - `conn_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
 *   If the handle is NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn_ptr` is NULL.
 * - RPMA_E_PROVIDER: ibv_destroy_cq(), rdma_destroy_id(), ibv_destroy_comp_channel() or
 *   ibv_dereg_mr() failed. The function destroys everything else.
 *
 * # Safety
 *
 * `conn_ptr` must be NULL or point to a handle. The handle must be NULL, or own a connection that
 * has not been deleted.
 *
 * # Thread safety
 *
 * No thread may use the connection or its CQs during this call or afterwards.
 *
 * # Manual page
 *
 * rpma_conn_delete(3)
 */
int rpma_conn_delete(struct rpma_conn **conn_ptr);

/**
 * Gets the file descriptor of a shared completion channel.
 *
 * The channel is the one that the CQs of the connection share. The file descriptor becomes
 * readable when a completion event of either CQ arrives; rpma_conn_wait() takes the event. You may
 * poll the file descriptor and make it non-blocking, but you must not close it.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `fd`: receives the file descriptor.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NOT_SHARED_CHNL: each CQ has a channel of its own. Use rpma_cq_get_fd(3).
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `fd` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_conn_get_compl_fd(3)
 */
int rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd);

/**
 * Waits for a completion event of either CQ of a connection.
 *
 * It takes the event, and asks that CQ for the next one. It is for connections whose CQs share a
 * completion channel, see rpma_conn_cfg_set_compl_channel().
 *
 * As with rpma_cq_wait(), an event says that completions have arrived, but not how many. Take them
 * out of that CQ with rpma_cq_get_wc() until it gives RPMA_E_NO_COMPLETION, and only then wait
 * again. If you wait while completions are still in the CQ, the wait may never end.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `flags`: RPMA_W_WAIT_FOR_COMPLETION. The function ignores it so far.
 * - `cq`: receives the CQ that has completions.
 * - `is_rcq`: receives true if this is the CQ for receives, otherwise false. It may be NULL.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` or `cq` is NULL.
 * - RPMA_E_NOT_SHARED_CHNL: each CQ has a channel of its own. Use rpma_cq_wait(3).
 * - RPMA_E_NO_COMPLETION: there is no event. The file descriptor is non-blocking, or a signal
 *   interrupted the wait.
 * - RPMA_E_PROVIDER: ibv_get_cq_event() failed, with errno EIO if the device was removed; or
 *   ibv_req_notify_cq() failed. In the second case the event was taken, and `cq` is NULL.
 * - RPMA_E_UNKNOWN: the event was for a CQ that does not belong to the connection.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `cq` and `is_rcq` must be NULL or
 * point to writable memory.
 *
 * # Thread safety
 *
 * A thread may call this function while other threads post operations, take out completions and
 * wait. Each event wakes one waiting thread.
 *
 * # Manual page
 *
 * rpma_conn_wait(3)
 */
int rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq);

/**
 * Starts listening for connection requests.
 *
 * You obtain the requests with rpma_ep_next_conn_req().
 *
 * # Parameters
 *
 * - `peer`: the peer whose device the connections will use.
 * - `addr`: the host name or address at which to listen. It must belong to the peer's device. If a
 *   name has several addresses, the function takes the first one that an RDMA device has, or, if
 *   there is none, the first one that it can bind.
 * - `port`: the port number or service name. With port 0, the kernel chooses a free port.
 * - `ep_ptr`: receives the endpoint. Shut it down with rpma_ep_shutdown().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: rdma_create_event_channel(), rdma_create_id(), rdma_getaddrinfo(),
 *   rdma_bind_addr() or rdma_listen() failed. If errno is EADDRINUSE, a program listens there
 *   already. If errno is EINVAL, `port` may be a number below 0 or above 65535. If errno is
 *   EAGAIN, the resolver has failed for the moment: try again.
 *
 * # Safety
 *
 * `peer` must be NULL or a peer that has not been deleted. `addr` and `port` must be NULL or point
 * to strings that end with NUL. `ep_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * Requests that you have obtained from it, and their connections, do not need it any more. All
 * other requests are rejected.
 *
 * # Parameters
 *
 * - `ep_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
 *   If the handle is NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `ep_ptr` is NULL.
 * - RPMA_E_PROVIDER: rdma_destroy_id() or ibv_dereg_mr() failed. The function destroys everything
 *   else.
 *
 * # Safety
 *
 * `ep_ptr` must be NULL or point to a handle. The handle must be NULL, or own an endpoint that has
 * not been shut down.
 *
 * # Thread safety
 *
 * No thread may use the endpoint during this call or afterwards.
 *
 * # Manual page
 *
 * rpma_ep_shutdown(3)
 */
int rpma_ep_shutdown(struct rpma_ep **ep_ptr);

/**
 * Gets the file descriptor of an endpoint.
 *
 * It becomes readable when a connection request arrives; rpma_ep_next_conn_req() obtains the
 * request. You may poll the file descriptor and make it non-blocking, but you must not close it.
 *
 * # Parameters
 *
 * - `ep`: the endpoint.
 * - `fd`: receives the file descriptor.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `ep` must be NULL or an endpoint that has not been shut down. `fd` must be NULL or point to
 * writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_ep_get_fd(3)
 */
int rpma_ep_get_fd(const struct rpma_ep *ep, int *fd);

/**
 * Obtains the next connection request.
 *
 * The function blocks until there is a request, unless the endpoint's file descriptor is
 * non-blocking. The request does not depend on the endpoint. Another thread may connect it while
 * this thread obtains the next one, and you may shut the endpoint down first.
 *
 * # Parameters
 *
 * - `ep`: the endpoint.
 * - `cfg`: the configuration of the connection, or NULL for the default configuration.
 * - `req_ptr`: receives the request. Connect it with rpma_conn_req_connect(), or reject it with
 *   rpma_conn_req_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `ep` or `req_ptr` is NULL; the event that arrived is not a connection request;
 *   or the configuration has both a shared completion channel and a shared receive queue with its
 *   own CQ.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_NO_EVENT: no event has arrived, and the file descriptor is non-blocking.
 * - RPMA_E_PROVIDER: rdma_get_cm_event(), rdma_create_event_channel(), rdma_migrate_id(),
 *   ibv_create_comp_channel(), ibv_create_cq(), ibv_req_notify_cq(), rdma_create_qp_ex() or
 *   rdma_ack_cm_event() failed. If errno is EINTR, a signal interrupted the call, and no request
 *   is lost.
 *
 * If the function fails after a request has arrived, that client is rejected. You can still obtain
 * the next request.
 *
 * # Safety
 *
 * `ep` must be NULL or an endpoint that has not been shut down. `cfg` must be NULL or a
 * configuration that has not been deleted. `req_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may call this function for an endpoint.
 *
 * # Manual page
 *
 * rpma_ep_next_conn_req(3)
 */
int rpma_ep_next_conn_req(struct rpma_ep *ep,
                          const struct rpma_conn_cfg *cfg,
                          struct rpma_conn_req **req_ptr);

/**
 * Creates a configuration of shared receive queues.
 *
 * It has the default values: a shared receive queue of 20 entries, and a CQ for it of 20 entries.
 *
 * rpma_srq_new() reads the configuration. If you change it later, queues that exist stay as they
 * are.
 *
 * # Parameters
 *
 * - `cfg_ptr`: receives the configuration. Delete it with rpma_srq_cfg_delete().
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 *
 * # Safety
 *
 * `cfg_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_new(3)
 */
int rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr);

/**
 * Deletes a configuration of shared receive queues. Queues that were created with it stay.
 *
 * # Parameters
 *
 * - `cfg_ptr`: the address of the handle. The function sets the handle to NULL. If the handle is
 *   NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg_ptr` is NULL.
 *
 * # Safety
 *
 * `cfg_ptr` must be NULL or point to a handle. The handle must be NULL, or own a configuration
 * that has not been deleted.
 *
 * # Thread safety
 *
 * No thread may use the configuration during this call or afterwards.
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
 * - `rq_size`: the size in entries. If the device does not support it, rpma_srq_new() fails with
 *   RPMA_E_PROVIDER.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `rq_size`: receives the size in entries.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `rq_size` must be NULL or point
 * to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_get_rq_size(3)
 */
int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg *cfg, uint32_t *rq_size);

/**
 * Sets the size of the CQ that belongs to the shared receive queue.
 *
 * If the size is 0, there is no such CQ. Then a receive completes in the CQ of the connection that
 * its message arrived on.
 *
 * # Parameters
 *
 * - `cfg`: the configuration.
 * - `rcq_size`: the size in entries, or 0 for no CQ. If the device does not support it,
 *   rpma_srq_new() fails with RPMA_E_PROVIDER.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cfg` is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
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
 * - `rcq_size`: receives the size in entries.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cfg` must be NULL or a configuration that has not been deleted. `rcq_size` must be NULL or
 * point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_srq_cfg_get_rcq_size(3)
 */
int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg *cfg, uint32_t *rcq_size);

/**
 * Creates a shared receive queue (SRQ).
 *
 * A connection uses it if the connection's configuration names it, see rpma_conn_cfg_set_srq().
 * You post receives to it with rpma_srq_recv(). So many connections can share a few receives.
 *
 * # Parameters
 *
 * - `peer`: the peer.
 * - `cfg`: the configuration, or NULL for the default configuration.
 * - `srq_ptr`: receives the shared receive queue. Delete it with rpma_srq_delete(), after the
 *   connections that use it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `peer` or `srq_ptr` is NULL.
 * - RPMA_E_NOMEM: out of memory.
 * - RPMA_E_PROVIDER: ibv_create_srq(), ibv_create_comp_channel(), ibv_create_cq() or
 *   ibv_req_notify_cq() failed.
 *
 * # Safety
 *
 * `peer` must be NULL or a peer that has not been deleted. `cfg` must be NULL or a configuration
 * that has not been deleted. `srq_ptr` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_srq_new(3)
 */
int rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg, struct rpma_srq **srq_ptr);

/**
 * Deletes a shared receive queue.
 *
 * Delete the connections that use it first. If you do not, the device refuses to destroy the
 * queue, which then leaks. The connections keep working.
 *
 * # Parameters
 *
 * - `srq_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
 *   If the handle is NULL already, the function does nothing and succeeds.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `srq_ptr` is NULL.
 * - RPMA_E_PROVIDER: ibv_destroy_cq(), ibv_destroy_comp_channel() or ibv_destroy_srq() failed. The
 *   function destroys everything else. If errno is EBUSY, connections still use the queue.
 *
 * # Safety
 *
 * `srq_ptr` must be NULL or point to a handle. The handle must be NULL, or own a shared receive
 * queue that has not been deleted.
 *
 * # Thread safety
 *
 * No thread may use the queue or its CQ during this call or afterwards.
 *
 * # Manual page
 *
 * rpma_srq_delete(3)
 */
int rpma_srq_delete(struct rpma_srq **srq_ptr);

/**
 * Posts a receive to a shared receive queue.
 *
 * A message that arrives on any of the queue's connections takes the next receive. qp_num of the
 * completion tells you which connection it was, see rpma_conn_get_qp_num().
 *
 * # Parameters
 *
 * - `srq`: the shared receive queue.
 * - `dst`, `offset`, `len`: the memory for the message, up to 4 GiB - 1 bytes: a region that was
 *   registered with RPMA_MR_USAGE_RECV, an offset into it and a length, both in bytes. For a
 *   message without data, pass NULL, 0 and 0.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `srq` is NULL; `dst` is NULL, but `offset` or `len` is not 0; `len` exceeds 32
 *   bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_srq_recv() failed. If errno is ENOMEM, the queue is full.
 *
 * # Safety
 *
 * `srq` must be NULL or a shared receive queue that has not been deleted. `dst` must be NULL or a
 * region that has not been deregistered. The region must stay registered until the receive
 * completes, and until then nothing else may read or write the memory.
 *
 * # Thread safety
 *
 * Several threads may call this function for the same queue at the same time.
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
 * - `rcq_ptr`: receives the CQ, or NULL if there is none. The CQ belongs to the queue, and is
 *   deleted together with it.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `srq` must be NULL or a shared receive queue that has not been deleted. `rcq_ptr` must be NULL
 * or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_srq_get_rcq(3)
 */
int rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr);

/**
 * Reads remote memory into local memory.
 *
 * The function posts the read and returns at once. The data are in the local memory when the
 * completion arrives; its opcode is IBV_WC_RDMA_READ. The read sees what earlier writes of the
 * same connection have written.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: a local region that was registered with RPMA_MR_USAGE_READ_DST, and the
 *   offset into it in bytes.
 * - `src`, `src_offset`: a remote region that was registered with RPMA_MR_USAGE_READ_SRC, and the
 *   offset into it in bytes.
 * - `len`: the number of bytes, up to 4 GiB - 1. If it is 0, both regions may be NULL and both
 *   offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; only one of the regions is NULL; both are NULL,
 *   but an offset or `len` is not 0; `len` exceeds 32 bits; or the sum of a region's address, its
 *   offset and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `dst` and `src` must be NULL or
 * regions that have not been deregistered or deleted. The local region must stay registered until
 * the operation completes, and until then nothing else may read or write the memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * The function posts the write and returns at once. The opcode of its completion is
 * IBV_WC_RDMA_WRITE. The completion means that you may use the local memory again, and that the
 * other side's device has the data. It does not mean that the data are in the other side's memory,
 * or that they are persistent: for that, post an rpma_flush() and wait for its completion. The
 * other side's program does not notice the write. If it should, see rpma_write_with_imm().
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: a remote region that was registered with RPMA_MR_USAGE_WRITE_DST, and the
 *   offset into it in bytes.
 * - `src`, `src_offset`: a local region that was registered with RPMA_MR_USAGE_WRITE_SRC, and the
 *   offset into it in bytes.
 * - `len`: the number of bytes, up to 4 GiB - 1. If it is 0, both regions may be NULL and both
 *   offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; only one of the regions is NULL; both are NULL,
 *   but an offset or `len` is not 0; `len` exceeds 32 bits; or the sum of a region's address, its
 *   offset and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `dst` and `src` must be NULL or
 * regions that have not been deleted or deregistered. The local region must stay registered until
 * the operation completes, and until then nothing may write the memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * Writes local memory to remote memory, with immediate data.
 *
 * It is like rpma_write(), but it also tells the other side. It takes the other side's next
 * receive, so the other side must post one with rpma_recv(). The completion of that receive has
 * the opcode IBV_WC_RECV_RDMA_WITH_IMM, the number of bytes written, and the immediate data. The
 * memory of the receive stays as it is.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: a remote region that was registered with RPMA_MR_USAGE_WRITE_DST, and the
 *   offset into it in bytes.
 * - `src`, `src_offset`: a local region that was registered with RPMA_MR_USAGE_WRITE_SRC, and the
 *   offset into it in bytes.
 * - `len`: the number of bytes, up to 4 GiB - 1. If it is 0, both regions may be NULL and both
 *   offsets 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `imm`: the immediate data, 4 bytes in host byte order. The library sends them in network byte
 *   order. If wc_flags of the other side's completion has IBV_WC_WITH_IMM, the other side gets
 *   them with ntohl(3) from its imm_data.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; only one of the regions is NULL; both are NULL,
 *   but an offset or `len` is not 0; `len` exceeds 32 bits; or the sum of a region's address, its
 *   offset and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `dst` and `src` must be NULL or
 * regions that have not been deleted or deregistered. The local region must stay registered until
 * the operation completes, and until then nothing may write the memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * Writes 8 bytes to remote memory atomically.
 *
 * A reader sees all 8 bytes or none of them. The write takes place after all flushes that were
 * posted before it, so you can use it to publish data that you have flushed. To make the 8 bytes
 * themselves persistent, flush them, too.
 *
 * By default, this is an RDMA write with inline data, and its completion has the opcode
 * IBV_WC_RDMA_WRITE. The library uses the native operation if you request it, see librpma(7).
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: a remote region that was registered with RPMA_MR_USAGE_WRITE_DST, and the
 *   offset into it in bytes. The offset and the address of the region must be multiples of
 *   RPMA_ATOMIC_WRITE_ALIGNMENT (8).
 * - `src`: the 8 bytes. You may change them after the call.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn`, `dst` or `src` is NULL; `flags` is 0; `dst_offset` is not a multiple of
 *   8; or the sum of the region's address, `dst_offset` and 8 exceeds 64 bits.
 * - RPMA_E_NOSUPP: the device supports neither inline data nor the native operation.
 * - RPMA_E_PROVIDER: ibv_post_send(), or ibv_wr_complete() for a native operation, failed. If
 *   errno is ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `dst` must be NULL or a remote
 * region that has not been deleted. `src` must be NULL or point to 8 readable bytes.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * Sends a message to the other side.
 *
 * The message takes the next receive that the other side has posted. The function posts the send
 * and returns at once. The send completes with the opcode IBV_WC_SEND when the message has arrived
 * in the memory of that receive. If the other side has no receive posted, the send waits for one.
 * If the message is longer than the receive's memory, the connection breaks.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `src`, `offset`, `len`: the message, up to 4 GiB - 1 bytes: a region that was registered with
 *   RPMA_MR_USAGE_SEND, an offset into it and a length, both in bytes. For a message without data,
 *   pass NULL, 0 and 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; `src` is NULL, but `offset` or `len` is not 0;
 *   `len` exceeds 32 bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `src` must be NULL or a region
 * that has not been deregistered. The region must stay registered until the operation completes,
 * and until then nothing may write the memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * Sends a message with immediate data to the other side.
 *
 * It is like rpma_send(), but sends 4 bytes more: the immediate data, which arrive in the
 * completion of the other side's receive.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `src`, `offset`, `len`: the message, up to 4 GiB - 1 bytes: a region that was registered with
 *   RPMA_MR_USAGE_SEND, an offset into it and a length, both in bytes. For a message without data,
 *   pass NULL, 0 and 0.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `imm`: the immediate data, 4 bytes in host byte order. The library sends them in network byte
 *   order. If wc_flags of the other side's completion has IBV_WC_WITH_IMM, the other side gets
 *   them with ntohl(3) from its imm_data.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; `src` is NULL, but `offset` or `len` is not 0;
 *   `len` exceeds 32 bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `src` must be NULL or a region
 * that has not been deregistered. The region must stay registered until the operation completes,
 * and until then nothing may write the memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * Posts a receive for a message from the other side.
 *
 * Every message from the other side takes one receive, and so does every write with immediate
 * data. They take receives in the order in which you posted them. Every receive gives a
 * completion. Its opcode is IBV_WC_RECV for a message, and IBV_WC_RECV_RDMA_WITH_IMM for a write.
 *
 * Post a receive for the first message before you connect, with rpma_conn_req_recv(). If the
 * connection uses a shared receive queue, use rpma_srq_recv().
 *
 * If an operation of the connection has failed, you can still post a receive, but it may never
 * complete; with soft-RoCE it does not. So do not wait for it. Receives that you posted before
 * complete with IBV_WC_WR_FLUSH_ERR.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `offset`, `len`: the memory for the message, up to 4 GiB - 1 bytes: a region that was
 *   registered with RPMA_MR_USAGE_RECV, an offset into it and a length, both in bytes. For a
 *   message without data, pass NULL, 0 and 0.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` is NULL; `dst` is NULL, but `offset` or `len` is not 0; `len` exceeds 32
 *   bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
 * - RPMA_E_PROVIDER: ibv_post_recv() failed. If errno is ENOMEM, the receive queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `dst` must be NULL or a region
 * that has not been deregistered. The region must stay registered until the receive completes, and
 * until then nothing else may read or write the memory.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * Flushes a range of remote memory.
 *
 * A flush covers what earlier operations of the same connection have written to the range. When
 * the completion of the flush arrives, those data have reached the place that the type of flush
 * names. So the writes before a flush need no completions of their own: RPMA_F_COMPLETION_ON_ERROR
 * is enough for them. A write that you post after the flush may overtake it, unless it is an
 * rpma_atomic_write(). If that matters, wait for the completion of the flush first.
 *
 * By default, a flush is a read of up to 8 bytes, which works with every device on the other side.
 * The opcode of its completion is IBV_WC_RDMA_READ. The library uses the native operation if you
 * request it, see librpma(7). Its opcode is IBV_WC_FLUSH.
 *
 * # Parameters
 *
 * - `conn`: the connection.
 * - `dst`, `dst_offset`: a remote region, and the offset into it in bytes. The region must be
 *   registered with the usage that `type` needs: RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY or
 *   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT.
 * - `len`: the number of bytes to flush. There is no limit.
 * - `type`: what the flush guarantees.
 * - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
 * - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `conn` or `dst` is NULL; `flags` is 0; `type` is unknown; or the sum of the
 *   region's address, `dst_offset` and `len` exceeds 64 bits.
 * - RPMA_E_NOSUPP: the region was not registered for this type of flush; or `type` is
 *   RPMA_FLUSH_TYPE_PERSISTENT, and you have not applied a peer configuration that declares direct
 *   write to PMem, with rpma_conn_apply_remote_peer_cfg().
 * - RPMA_E_PROVIDER: ibv_post_send(), or ibv_wr_complete() for a native operation, failed. If
 *   errno is ENOMEM, the send queue is full.
 *
 * # Safety
 *
 * `conn` must be NULL or a connection that has not been deleted. `dst` must be NULL or a remote
 * region that has not been deleted.
 *
 * # Thread safety
 *
 * Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
 * for its completions and take them out.
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
 * Gets the file descriptor of a CQ's completion channel.
 *
 * It is the file descriptor of the CQ's completion channel, which may be shared. It becomes
 * readable when a completion event arrives. Then rpma_cq_wait() takes the event, or
 * rpma_conn_wait() if the channel is shared. Before you wait for the file descriptor, take out
 * with rpma_cq_get_wc() the completions that are already there.
 *
 * You may poll the file descriptor and make it non-blocking with fcntl(2), but you must not close
 * it.
 *
 * # Parameters
 *
 * - `cq`: the CQ.
 * - `fd`: receives the file descriptor.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: an argument is NULL.
 *
 * # Safety
 *
 * `cq` must be NULL or a CQ whose connection or shared receive queue has not been deleted. `fd`
 * must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_cq_get_fd(3)
 */
int rpma_cq_get_fd(const struct rpma_cq *cq, int *fd);

/**
 * Waits for a completion event of a CQ.
 *
 * It takes the event, and asks the CQ for the next one. An event says that completions have
 * arrived since the CQ was last asked, but not how many. So after an event, call rpma_cq_get_wc()
 * until it gives RPMA_E_NO_COMPLETION, and only then wait again. If you wait while completions are
 * still in the CQ, the wait may never end. An event may also arrive after you have taken out its
 * completions.
 *
 * Only a completion ends the wait. If a server waits for a message from a client that has gone, it
 * may wait forever. To prevent that, poll the CQ's file descriptor and the connection's event file
 * descriptor together: rpma_cq_get_fd(3), rpma_conn_get_event_fd(3).
 *
 * The library acknowledges events in batches. When you delete the connection or the shared receive
 * queue that the CQ belongs to, the library acknowledges the rest.
 *
 * # Parameters
 *
 * - `cq`: the CQ.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cq` is NULL.
 * - RPMA_E_SHARED_CHANNEL: the completion channel is shared. Use rpma_conn_wait(3).
 * - RPMA_E_NO_COMPLETION: there is no event. The file descriptor is non-blocking, or a signal
 *   interrupted the wait.
 * - RPMA_E_PROVIDER: ibv_get_cq_event() failed, with errno EIO if the device was removed; or
 *   ibv_req_notify_cq() failed. In the second case the event was taken.
 *
 * # Safety
 *
 * `cq` must be NULL or a CQ whose connection or shared receive queue has not been deleted.
 *
 * # Thread safety
 *
 * A thread may call this function while other threads post operations, take out completions and
 * wait. Each event wakes one waiting thread.
 *
 * # Manual page
 *
 * rpma_cq_wait(3)
 */
int rpma_cq_wait(struct rpma_cq *cq);

/**
 * Takes completions out of a CQ.
 *
 * The function never blocks. A completion says which operation it belongs to (wr_id, which is the
 * op_context of the operation), how the operation ended (status; ibv_wc_status_str() gives a
 * text), and which connection it belongs to (qp_num). After the first operation that fails, you
 * cannot use the connection any more: all its other operations complete with IBV_WC_WR_FLUSH_ERR.
 *
 * # Parameters
 *
 * - `cq`: the CQ.
 * - `num_entries`: the maximum number of completions to take, 1 or more.
 * - `wc`: memory for that many completions, which ibv_poll_cq(3) describes. If the status is not
 *   IBV_WC_SUCCESS, only wr_id, status, qp_num and vendor_err are valid.
 * - `num_entries_got`: receives the number of completions. It may be NULL if `num_entries` is 1.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `cq` or `wc` is NULL; `num_entries` is below 1; or `num_entries_got` is NULL,
 *   but `num_entries` is not 1.
 * - RPMA_E_NO_COMPLETION: the CQ has no completion.
 * - RPMA_E_PROVIDER: ibv_poll_cq() failed.
 * - RPMA_E_UNKNOWN: ibv_poll_cq() gave more completions than the function asked for.
 *
 * # Safety
 *
 * `cq` must be NULL or a CQ whose connection or shared receive queue has not been deleted. `wc`
 * must be NULL or point to writable memory for `num_entries` completions. `num_entries_got` must
 * be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * A thread may call this function while other threads post operations, take out completions and
 * wait. Each completion goes to one caller.
 *
 * # Manual page
 *
 * rpma_cq_get_wc(3)
 */
int rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got);

/**
 * Sets one of the two log thresholds.
 *
 * A message passes a threshold if its level is not above it. RPMA_LOG_DISABLED lets no message
 * pass. When the library is loaded, the environment variables `RPMA_LOG` and `RPMA_LOG_STDERR` set
 * the same thresholds. What this function sets takes precedence.
 *
 * # Parameters
 *
 * - `threshold`: which of the two thresholds.
 * - `level`: the new level.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `threshold` or `level` is unknown.
 *
 * # Safety
 *
 * Always safe.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_log_set_threshold(3)
 */
int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level);

/**
 * Gets one of the two log thresholds.
 *
 * # Parameters
 *
 * - `threshold`: which of the two thresholds.
 * - `level`: receives the level.
 *
 * # Errors
 *
 * - RPMA_E_INVAL: `threshold` is unknown, or `level` is NULL.
 *
 * # Safety
 *
 * `level` must be NULL or point to writable memory.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time.
 *
 * # Manual page
 *
 * rpma_log_get_threshold(3)
 */
int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level *level);

/**
 * Sets the function that gets the log messages.
 *
 * The function gets the messages that pass RPMA_LOG_THRESHOLD. The default function passes them to
 * syslog(3), with the facility LOCAL7. It also writes those that pass RPMA_LOG_THRESHOLD_AUX to
 * stderr.
 *
 * The parameters of the log function are: the level of the message; the file and the line of the
 * library's source that log it; the function that the message is about, which may be the one of
 * libibverbs or librdmacm that failed; and a printf(3) format with its arguments, which give one
 * line that ends with a newline.
 *
 * Several threads may call the log function at the same time. Of this library's functions, it may
 * call only rpma_log_set_threshold(), rpma_log_get_threshold() and rpma_log_set_function(). It may
 * change errno: the library restores it.
 *
 * # Parameters
 *
 * - `log_function`: the function, or NULL (RPMA_LOG_USE_DEFAULT_FUNCTION) for the default
 *   function.
 *
 * # Errors
 *
 * None.
 *
 * # Safety
 *
 * `log_function` must be NULL or a function of this type, which can be called as long as it is
 * set.
 *
 * # Thread safety
 *
 * Any thread may call this function at any time. A log function that you have replaced may still
 * run in another thread when this call returns.
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
