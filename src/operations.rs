// SPDX-License-Identifier: BSD-3-Clause
//! Operations on a connection: read, write, send, receive, and atomic write.

use libc::{c_char, c_int, c_uint, c_void};
use rdma_sys::{ibv_send_flags, ibv_sge, ibv_wr_opcode};

use crate::conn::Conn;
use crate::error::{Checked, Error, Result};
use crate::ffi;
use crate::mr::{MrLocal, MrRemote, no_data};
use crate::provider::qp::{Remote, SendRequest};

/// The operation gives a completion only if it fails. It occupies its entry in the send queue until
/// you take out the completion of a later operation of the same connection.
pub const RPMA_F_COMPLETION_ON_ERROR: c_int = 1 << 0;
/// The operation always gives a completion.
pub const RPMA_F_COMPLETION_ALWAYS: c_int = 1 << 1 | RPMA_F_COMPLETION_ON_ERROR;

/// The size of what rpma_atomic_write() writes, and its alignment in the other side's memory, in
/// bytes.
pub const RPMA_ATOMIC_WRITE_ALIGNMENT: c_int = 8;

/// Reads remote memory into local memory.
///
/// The function posts the read and returns at once. The data are in the local memory when the
/// completion arrives; its opcode is IBV_WC_RDMA_READ. The read sees what earlier writes of the
/// same connection have written.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: a local region that was registered with RPMA_MR_USAGE_READ_DST, and the
///   offset into it in bytes.
/// - `src`, `src_offset`: a remote region that was registered with RPMA_MR_USAGE_READ_SRC, and the
///   offset into it in bytes.
/// - `len`: the number of bytes, up to 4 GiB - 1. If it is 0, both regions may be NULL and both
///   offsets 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; only one of the regions is NULL; both are NULL,
///   but an offset or `len` is not 0; `len` exceeds 32 bits; or the sum of a region's address, its
///   offset and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `dst` and `src` must be NULL or
/// regions that have not been deregistered or deleted. The local region must stay registered until
/// the operation completes, and until then nothing else may read or write the memory.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_read(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_read(
    conn: *mut Conn,
    dst: *mut MrLocal,
    dst_offset: usize,
    src: *const MrRemote,
    src_offset: usize,
    len: usize,
    flags: c_int,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst, src) = unsafe { (ffi::borrow(conn)?, dst.as_ref(), src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_RDMA_READ;
        let request = Request { opcode, flags, imm: 0, op_context };
        conn.transfer(request, (dst, dst_offset), (src, src_offset), len)
    })
}

/// Writes local memory to remote memory.
///
/// The function posts the write and returns at once. The opcode of its completion is
/// IBV_WC_RDMA_WRITE. The completion means that you may use the local memory again, and that the
/// other side's device has the data. It does not mean that the data are in the other side's memory,
/// or that they are persistent: for that, post an rpma_flush() and wait for its completion. The
/// other side's program does not notice the write. If it should, see rpma_write_with_imm().
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: a remote region that was registered with RPMA_MR_USAGE_WRITE_DST, and the
///   offset into it in bytes.
/// - `src`, `src_offset`: a local region that was registered with RPMA_MR_USAGE_WRITE_SRC, and the
///   offset into it in bytes.
/// - `len`: the number of bytes, up to 4 GiB - 1. If it is 0, both regions may be NULL and both
///   offsets 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; only one of the regions is NULL; both are NULL,
///   but an offset or `len` is not 0; `len` exceeds 32 bits; or the sum of a region's address, its
///   offset and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `dst` and `src` must be NULL or
/// regions that have not been deleted or deregistered. The local region must stay registered until
/// the operation completes, and until then nothing may write the memory.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_write(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_write(
    conn: *mut Conn,
    dst: *mut MrRemote,
    dst_offset: usize,
    src: *const MrLocal,
    src_offset: usize,
    len: usize,
    flags: c_int,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst, src) = unsafe { (ffi::borrow(conn)?, dst.as_ref(), src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE;
        let request = Request { opcode, flags, imm: 0, op_context };
        conn.transfer(request, (src, src_offset), (dst, dst_offset), len)
    })
}

/// Writes local memory to remote memory, with immediate data.
///
/// It is like rpma_write(), but it also tells the other side. It takes the other side's next
/// receive, so the other side must post one with rpma_recv(). The completion of that receive has
/// the opcode IBV_WC_RECV_RDMA_WITH_IMM, the number of bytes written, and the immediate data. The
/// memory of the receive stays as it is.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: a remote region that was registered with RPMA_MR_USAGE_WRITE_DST, and the
///   offset into it in bytes.
/// - `src`, `src_offset`: a local region that was registered with RPMA_MR_USAGE_WRITE_SRC, and the
///   offset into it in bytes.
/// - `len`: the number of bytes, up to 4 GiB - 1. If it is 0, both regions may be NULL and both
///   offsets 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `imm`: the immediate data, 4 bytes in host byte order. The library sends them in network byte
///   order. If wc_flags of the other side's completion has IBV_WC_WITH_IMM, the other side gets
///   them with ntohl(3) from its imm_data.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; only one of the regions is NULL; both are NULL,
///   but an offset or `len` is not 0; `len` exceeds 32 bits; or the sum of a region's address, its
///   offset and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `dst` and `src` must be NULL or
/// regions that have not been deleted or deregistered. The local region must stay registered until
/// the operation completes, and until then nothing may write the memory.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_write_with_imm(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_write_with_imm(
    conn: *mut Conn,
    dst: *mut MrRemote,
    dst_offset: usize,
    src: *const MrLocal,
    src_offset: usize,
    len: usize,
    flags: c_int,
    imm: u32,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst, src) = unsafe { (ffi::borrow(conn)?, dst.as_ref(), src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM;
        let request = Request { opcode, flags, imm, op_context };
        conn.transfer(request, (src, src_offset), (dst, dst_offset), len)
    })
}

/// Writes 8 bytes to remote memory atomically.
///
/// A reader sees all 8 bytes or none of them. The write takes place after all flushes that were
/// posted before it, so you can use it to publish data that you have flushed. To make the 8 bytes
/// themselves persistent, flush them, too.
///
/// By default, this is an RDMA write with inline data, and its completion has the opcode
/// IBV_WC_RDMA_WRITE. The library uses the native operation if you request it, see librpma(7).
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: a remote region that was registered with RPMA_MR_USAGE_WRITE_DST, and the
///   offset into it in bytes. The offset and the address of the region must be multiples of
///   RPMA_ATOMIC_WRITE_ALIGNMENT (8).
/// - `src`: the 8 bytes. You may change them after the call.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn`, `dst` or `src` is NULL; `flags` is 0; `dst_offset` is not a multiple of
///   8; or the sum of the region's address, `dst_offset` and 8 exceeds 64 bits.
/// - RPMA_E_NOSUPP: the device supports neither inline data nor the native operation.
/// - RPMA_E_PROVIDER: ibv_post_send(), or ibv_wr_complete() for a native operation, failed. If
///   errno is ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `dst` must be NULL or a remote
/// region that has not been deleted. `src` must be NULL or point to 8 readable bytes.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_atomic_write(3)
///
/// cbindgen:ptrs-as-arrays=[[src; 8]]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_atomic_write(
    conn: *mut Conn,
    dst: *mut MrRemote,
    dst_offset: usize,
    src: *const c_char,
    flags: c_int,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst) = unsafe { (ffi::borrow(conn)?, ffi::borrow(dst)?) };
        let src = ffi::required(src)?;
        // SAFETY: not NULL, so readable by the caller's promise.
        unsafe { conn.atomic_write(dst, dst_offset, src.cast(), flags, op_context) }
    })
}

/// Sends a message to the other side.
///
/// The message takes the next receive that the other side has posted. The function posts the send
/// and returns at once. The send completes with the opcode IBV_WC_SEND when the message has arrived
/// in the memory of that receive. If the other side has no receive posted, the send waits for one.
/// If the message is longer than the receive's memory, the connection breaks.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `src`, `offset`, `len`: the message, up to 4 GiB - 1 bytes: a region that was registered with
///   RPMA_MR_USAGE_SEND, an offset into it and a length, both in bytes. For a message without data,
///   pass NULL, 0 and 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; `src` is NULL, but `offset` or `len` is not 0;
///   `len` exceeds 32 bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `src` must be NULL or a region
/// that has not been deregistered. The region must stay registered until the operation completes,
/// and until then nothing may write the memory.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_send(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_send(
    conn: *mut Conn,
    src: *const MrLocal,
    offset: usize,
    len: usize,
    flags: c_int,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, src) = unsafe { (ffi::borrow(conn)?, src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_SEND;
        let request = Request { opcode, flags, imm: 0, op_context };
        conn.send(request, src, offset, len)
    })
}

/// Sends a message with immediate data to the other side.
///
/// It is like rpma_send(), but sends 4 bytes more: the immediate data, which arrive in the
/// completion of the other side's receive.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `src`, `offset`, `len`: the message, up to 4 GiB - 1 bytes: a region that was registered with
///   RPMA_MR_USAGE_SEND, an offset into it and a length, both in bytes. For a message without data,
///   pass NULL, 0 and 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `imm`: the immediate data, 4 bytes in host byte order. The library sends them in network byte
///   order. If wc_flags of the other side's completion has IBV_WC_WITH_IMM, the other side gets
///   them with ntohl(3) from its imm_data.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL; `flags` is 0; `src` is NULL, but `offset` or `len` is not 0;
///   `len` exceeds 32 bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_send() failed. If errno is ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `src` must be NULL or a region
/// that has not been deregistered. The region must stay registered until the operation completes,
/// and until then nothing may write the memory.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_send_with_imm(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_send_with_imm(
    conn: *mut Conn,
    src: *const MrLocal,
    offset: usize,
    len: usize,
    flags: c_int,
    imm: u32,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, src) = unsafe { (ffi::borrow(conn)?, src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_SEND_WITH_IMM;
        let request = Request { opcode, flags, imm, op_context };
        conn.send(request, src, offset, len)
    })
}

/// Posts a receive for a message from the other side.
///
/// Every message from the other side takes one receive, and so does every write with immediate
/// data. They take receives in the order in which you posted them. Every receive gives a
/// completion. Its opcode is IBV_WC_RECV for a message, and IBV_WC_RECV_RDMA_WITH_IMM for a write.
///
/// Post a receive for the first message before you connect, with rpma_conn_req_recv(). If the
/// connection uses a shared receive queue, use rpma_srq_recv().
///
/// If an operation of the connection has failed, you can still post a receive, but it may never
/// complete; with soft-RoCE it does not. So do not wait for it. Receives that you posted before
/// complete with IBV_WC_WR_FLUSH_ERR.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `offset`, `len`: the memory for the message, up to 4 GiB - 1 bytes: a region that was
///   registered with RPMA_MR_USAGE_RECV, an offset into it and a length, both in bytes. For a
///   message without data, pass NULL, 0 and 0.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL; `dst` is NULL, but `offset` or `len` is not 0; `len` exceeds 32
///   bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_recv() failed. If errno is ENOMEM, the receive queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `dst` must be NULL or a region
/// that has not been deregistered. The region must stay registered until the receive completes, and
/// until then nothing else may read or write the memory.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_recv(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_recv(
    conn: *mut Conn,
    dst: *mut MrLocal,
    offset: usize,
    len: usize,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst) = unsafe { (ffi::borrow(conn)?, dst.as_ref()) };
        match dst {
            Some(dst) => {
                let addr = dst.at(offset, len)?;
                conn.qp().post_recv(op_context, dst.sge(addr, len))
            }
            None => {
                no_data(offset, len)?;
                conn.qp().post_recv_without_data(op_context)
            }
        }
    })
}

/// The `ibv_send_flags` for the caller's `flags`, of which 0 is none.
#[inline]
pub(crate) fn send_flags(flags: c_int) -> Checked<c_uint> {
    /// The bit of RPMA_F_COMPLETION_ALWAYS that RPMA_F_COMPLETION_ON_ERROR lacks is the flag's.
    const ALWAYS: c_int = RPMA_F_COMPLETION_ALWAYS & !RPMA_F_COMPLETION_ON_ERROR;
    const { assert!(ALWAYS as c_uint == ibv_send_flags::IBV_SEND_SIGNALED.0) };
    if flags == 0 {
        return Err(Error::Inval);
    }
    Ok((flags & ALWAYS) as c_uint)
}

/// An operation as its caller describes it, but for its data.
struct Request {
    opcode: ibv_wr_opcode::Type,
    flags: c_int,
    imm: u32,
    op_context: *const c_void,
}

impl Request {
    #[inline(always)]
    fn send(self) -> Checked<SendRequest> {
        let flags = send_flags(self.flags)?;
        Ok(SendRequest { wr_id: self.op_context, opcode: self.opcode, flags, imm: self.imm })
    }
}

impl Conn {
    /// Moves `len` bytes between a local and a remote region, from an offset into each. Without
    /// data there are no regions either.
    #[inline(always)]
    fn transfer(
        &self,
        request: Request,
        (local, local_offset): (Option<&MrLocal>, usize),
        (remote, remote_offset): (Option<&MrRemote>, usize),
        len: usize,
    ) -> Result {
        match (local, remote) {
            (Some(local), Some(remote)) => {
                let addr = local.at(local_offset, len)?;
                let remote = remote.at(remote_offset, len)?;
                self.qp().post_send(request.send()?, remote, local.sge(addr, len))
            }
            (None, None) => {
                no_data(local_offset | remote_offset, len)?;
                self.qp().post_send_without_data(request.send()?)
            }
            _ => Err(Error::Inval.into()),
        }
    }

    #[inline(always)]
    fn send(&self, request: Request, src: Option<&MrLocal>, offset: usize, len: usize) -> Result {
        match src {
            Some(src) => {
                let addr = src.at(offset, len)?;
                self.qp().post_send(request.send()?, Remote::default(), src.sge(addr, len))
            }
            None => {
                no_data(offset, len)?;
                self.qp().post_send_without_data(request.send()?)
            }
        }
    }

    /// # Safety
    ///
    /// `src` is readable for 8 bytes.
    #[inline(always)]
    unsafe fn atomic_write(
        &self,
        dst: &MrRemote,
        dst_offset: usize,
        src: *const c_void,
        flags: c_int,
        op_context: *const c_void,
    ) -> Result {
        const LENGTH: u32 = RPMA_ATOMIC_WRITE_ALIGNMENT as u32;
        let flags = send_flags(flags)?;
        if dst_offset % LENGTH as usize != 0 {
            return Err(Error::Inval.into());
        }
        let remote = dst.at(dst_offset, LENGTH as usize)?;
        let qp = self.qp();
        if !qp.emulates_atomic_write() {
            // SAFETY: passed on to the caller.
            return unsafe {
                qp.write_atomically(remote.rkey, remote.addr, src, flags, op_context)
            };
        }
        // The data go with the work request, so that the caller's variable is free again. The
        // fence orders the write after a flush by reading.
        let opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE;
        let flags = flags | ibv_send_flags::IBV_SEND_INLINE.0 | ibv_send_flags::IBV_SEND_FENCE.0;
        let data = ibv_sge { addr: src as u64, length: LENGTH, lkey: 0 };
        qp.post_send(SendRequest { wr_id: op_context, opcode, flags, imm: 0 }, remote, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_zero_is_refused_and_other_bits_pass() {
        assert!(send_flags(0).is_err());
        for (flags, expected) in [(1, 0), (2, 2), (3, 2), (4, 0), (-1, 2), (c_int::MIN, 0)] {
            assert_eq!(send_flags(flags), Ok(expected));
        }
    }
}
