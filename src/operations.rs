// SPDX-License-Identifier: BSD-3-Clause
//! Operations on a connection: read, write, send, receive, and atomic write.

use libc::{c_char, c_int, c_uint, c_void};
use rdma_sys::{ibv_send_flags, ibv_sge, ibv_wr_opcode};

use crate::conn::Conn;
use crate::error::{Checked, Error, Result};
use crate::ffi;
use crate::mr::{MrLocal, MrRemote, no_data};
use crate::provider::qp::{Remote, Send};

/// The operation gives a completion only if it fails. It keeps its place in the send queue until a
/// later operation of the same connection has given one.
pub const RPMA_F_COMPLETION_ON_ERROR: c_int = 1 << 0;
/// The operation gives a completion in any case.
pub const RPMA_F_COMPLETION_ALWAYS: c_int = 1 << 1 | RPMA_F_COMPLETION_ON_ERROR;

/// Size, and alignment at the remote side, of what rpma_atomic_write() writes, in bytes.
pub const RPMA_ATOMIC_WRITE_ALIGNMENT: c_int = 8;

/// Reads remote memory into local memory.
///
/// The operation goes on after the call; the data are there when its completion arrives, with the
/// opcode IBV_WC_RDMA_READ. It sees what earlier writes on the same connection wrote.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: local region, for RPMA_MR_USAGE_READ_DST, and offset into it, in bytes.
/// - `src`, `src_offset`: remote region, for RPMA_MR_USAGE_READ_SRC, and offset into it, in bytes.
/// - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, one region is NULL or both are while offsets or
///   length are not 0, `len` exceeds 32 bits, or address, offset and length together exceed 64
///   bits on either side.
/// - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn`, `dst` and `src` are NULL or live objects; the local memory stays registered and
/// untouched until the operation completes.
///
/// # Thread safety
///
/// May run in one thread while others wait for and poll completions of the connection.
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
    ffi::call(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst, src) = unsafe { (ffi::borrow(conn)?, dst.as_ref(), src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_RDMA_READ;
        let request = Request { opcode, flags, imm: 0, op_context };
        conn.transfer(request, (dst, dst_offset), (src, src_offset), len)
    })
}

/// Writes local memory to remote memory.
///
/// The operation goes on after the call, and completes with the opcode IBV_WC_RDMA_WRITE. The
/// completion means that the local memory may be used again, and that the remote device has taken
/// the data over; that they are in memory, or persistent, only a completed rpma_flush() says. The
/// remote side is not told: see rpma_write_with_imm().
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: remote region, for RPMA_MR_USAGE_WRITE_DST, and offset into it, in bytes.
/// - `src`, `src_offset`: local region, for RPMA_MR_USAGE_WRITE_SRC, and offset into it, in bytes.
/// - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, one region is NULL or both are while offsets or
///   length are not 0, `len` exceeds 32 bits, or address, offset and length together exceed 64
///   bits on either side.
/// - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn`, `dst` and `src` are NULL or live objects; the local memory stays registered and
/// unchanged until the operation completes.
///
/// # Thread safety
///
/// May run in one thread while others wait for and poll completions of the connection.
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
    ffi::call(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst, src) = unsafe { (ffi::borrow(conn)?, dst.as_ref(), src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE;
        let request = Request { opcode, flags, imm: 0, op_context };
        conn.transfer(request, (src, src_offset), (dst, dst_offset), len)
    })
}

/// Writes local memory to remote memory and tells the remote side, which needs a receive for it.
///
/// It is like rpma_write(), but takes the remote side's next receive as well, whose completion has
/// the opcode IBV_WC_RECV_RDMA_WITH_IMM, the number of bytes written, and the immediate data. The
/// receive's own memory is not touched.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: remote region, for RPMA_MR_USAGE_WRITE_DST, and offset into it, in bytes.
/// - `src`, `src_offset`: local region, for RPMA_MR_USAGE_WRITE_SRC, and offset into it, in bytes.
/// - `len`: how many bytes, up to 4 GiB - 1. With 0 both regions may be NULL, and the offsets 0.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `imm`: immediate data for the remote side's completion, in host byte order. They are sent in
///   network byte order: the remote side finds them in its imm_data and takes ntohl(3) of them,
///   where wc_flags has IBV_WC_WITH_IMM.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, one region is NULL or both are while offsets or
///   length are not 0, `len` exceeds 32 bits, or address, offset and length together exceed 64
///   bits on either side.
/// - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn`, `dst` and `src` are NULL or live objects; the local memory stays registered and
/// unchanged until the operation completes.
///
/// # Thread safety
///
/// May run in one thread while others wait for and poll completions of the connection.
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
    ffi::call(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst, src) = unsafe { (ffi::borrow(conn)?, dst.as_ref(), src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM;
        let request = Request { opcode, flags, imm, op_context };
        conn.transfer(request, (src, src_offset), (dst, dst_offset), len)
    })
}

/// Writes 8 bytes to remote memory atomically: a reader sees all of them or none.
///
/// It takes place after every flush that was posted before it, so it can publish what was flushed.
/// To be persistent it needs a flush after it.
///
/// By default it is a write of data that the work request carries, and completes with the opcode
/// IBV_WC_RDMA_WRITE; the native operation is used on request, see librpma(7).
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: remote region, for RPMA_MR_USAGE_WRITE_DST, and offset into it, in bytes,
///   a multiple of RPMA_ATOMIC_WRITE_ALIGNMENT (8). The region has to be aligned likewise.
/// - `src`: the 8 bytes; not needed any more after the call.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn`, `dst` or `src` is NULL, `flags` is 0, `dst_offset` is no multiple of 8,
///   or address and offset together exceed 64 bits.
/// - RPMA_E_NOSUPP: the device has neither inline data, which the write needs, nor the native
///   operation.
/// - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` and `dst` are NULL or live objects; `src` is NULL or readable for 8 bytes.
///
/// # Thread safety
///
/// May run in one thread while others wait for and poll completions of the connection.
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
    ffi::call(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst) = unsafe { (ffi::borrow(conn)?, ffi::borrow(dst)?) };
        let src = ffi::required(src)?;
        // SAFETY: not NULL, so readable by the caller's promise.
        unsafe { conn.atomic_write(dst, dst_offset, src.cast(), flags, op_context) }
    })
}

/// Sends a message, which takes the remote side's next receive.
///
/// The operation goes on after the call, and completes with the opcode IBV_WC_SEND when the message
/// is in the remote side's receive. Without a receive there it waits for one; a message that is
/// longer than the receive breaks the connection.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `src`, `offset`, `len`: the message: part of a region for RPMA_MR_USAGE_SEND, in bytes, up to
///   4 GiB - 1; NULL, 0 and 0 for a message without data.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, `src` is NULL while `offset` or `len` is not 0,
///   `len` exceeds 32 bits, or address, offset and length together exceed 64 bits.
/// - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` and `src` are NULL or live objects; the memory stays registered and unchanged until the
/// operation completes.
///
/// # Thread safety
///
/// May run in one thread while others wait for and poll completions of the connection.
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
    ffi::call(|| {
        // SAFETY: the caller's promise 1.
        let (conn, src) = unsafe { (ffi::borrow(conn)?, src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_SEND;
        let request = Request { opcode, flags, imm: 0, op_context };
        conn.send(request, src, offset, len)
    })
}

/// Sends a message with immediate data, which takes the remote side's next receive.
///
/// It is like rpma_send(), with 4 bytes more that arrive in the completion of the receive itself.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `src`, `offset`, `len`: the message: part of a region for RPMA_MR_USAGE_SEND, in bytes, up to
///   4 GiB - 1; NULL, 0 and 0 for a message without data.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `imm`: immediate data for the remote side's completion, in host byte order. They are sent in
///   network byte order: the remote side finds them in its imm_data and takes ntohl(3) of them,
///   where wc_flags has IBV_WC_WITH_IMM.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL, `flags` is 0, `src` is NULL while `offset` or `len` is not 0,
///   `len` exceeds 32 bits, or address, offset and length together exceed 64 bits.
/// - RPMA_E_PROVIDER: posting the work request failed; with errno ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` and `src` are NULL or live objects; the memory stays registered and unchanged until the
/// operation completes.
///
/// # Thread safety
///
/// May run in one thread while others wait for and poll completions of the connection.
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
    ffi::call(|| {
        // SAFETY: the caller's promise 1.
        let (conn, src) = unsafe { (ffi::borrow(conn)?, src.as_ref()) };
        let opcode = ibv_wr_opcode::IBV_WR_SEND_WITH_IMM;
        let request = Request { opcode, flags, imm, op_context };
        conn.send(request, src, offset, len)
    })
}

/// Posts a receive for a message of the remote side.
///
/// Every message, and every write with immediate data, takes a receive, in the order of posting.
/// Each receive gives a completion, with the opcode IBV_WC_RECV, or IBV_WC_RECV_RDMA_WITH_IMM for a
/// write. One for the first message has to be posted before the connection: rpma_conn_req_recv().
/// On a connection with a shared receive queue use rpma_srq_recv().
///
/// A receive that is posted after an operation has failed is accepted, but may never complete: with
/// soft-RoCE it does not. So do not wait for it. Receives that were posted before complete with
/// IBV_WC_WR_FLUSH_ERR.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `offset`, `len`: where the message goes: part of a region for RPMA_MR_USAGE_RECV, in
///   bytes, up to 4 GiB - 1; NULL, 0 and 0 to take a message without data.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL, `dst` is NULL while `offset` or `len` is not 0, `len` exceeds 32
///   bits, or address, offset and length together exceed 64 bits.
/// - RPMA_E_PROVIDER: posting failed; with errno ENOMEM, the receive queue is full.
///
/// # Safety
///
/// `conn` and `dst` are NULL or live objects; the memory stays registered and untouched until the
/// receive completes.
///
/// # Thread safety
///
/// May run in one thread while others wait for and poll completions of the connection.
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
    ffi::call(|| {
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
    fn send(self) -> Checked<Send> {
        let flags = send_flags(self.flags)?;
        Ok(Send { wr_id: self.op_context, opcode: self.opcode, flags, imm: self.imm })
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
        qp.post_send(Send { wr_id: op_context, opcode, flags, imm: 0 }, remote, data)
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
