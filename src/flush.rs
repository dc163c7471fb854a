// SPDX-License-Identifier: BSD-3-Clause
//! Flushing the other side's memory, by a small read or natively.
//!
//! A read pushes the writes before it out of the device and into memory (visibility) or, if the
//! other side has declared direct write to PMem, into the persistence domain. This works with every
//! target. The native operation does not: with a target that does not know it, the connection
//! breaks or hangs. So the library uses it only if the user requests it.

use libc::{c_int, c_uint, c_void};
use rdma_sys::{
    IBV_FLUSH_GLOBAL, IBV_FLUSH_MR, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, ibv_wr_opcode,
};

use crate::conn::Conn;
use crate::error::{Error, Result};
use crate::ffi;
use crate::flush_buffer::FlushBuffer;
use crate::log::{File, refused};
use crate::mr::{
    MrRemote, RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
};
use crate::operations::send_flags;
use crate::provider::check_code;
use crate::provider::qp::{NativeQp, Qp, Remote, SendRequest};

const FILE: File = File::Flush;

/// What a flush guarantees, see rpma_flush().
#[allow(non_camel_case_types)]
#[repr(C)]
pub enum rpma_flush_type {
    /// The data are in the persistence domain: they survive a power failure. The other side must
    /// have declared direct write to PMem.
    RPMA_FLUSH_TYPE_PERSISTENT,
    /// The data are in the other side's memory, where its processors and other devices see them.
    /// They may be lost in a power failure.
    RPMA_FLUSH_TYPE_VISIBILITY,
}

/// `enum rpma_flush_type` as C callers pass it: any int.
#[allow(non_camel_case_types)]
pub type rpma_flush_type_raw = c_int;

/// Flushes a range of remote memory.
///
/// A flush covers what earlier operations of the same connection have written to the range. When
/// the completion of the flush arrives, those data have reached the place that the type of flush
/// names. So the writes before a flush need no completions of their own: RPMA_F_COMPLETION_ON_ERROR
/// is enough for them. A write that you post after the flush may overtake it, unless it is an
/// rpma_atomic_write(). If that matters, wait for the completion of the flush first.
///
/// By default, a flush is a read of up to 8 bytes, which works with every device on the other side.
/// The opcode of its completion is IBV_WC_RDMA_READ. The library uses the native operation if you
/// request it, see librpma(7). Its opcode is IBV_WC_FLUSH.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `dst`, `dst_offset`: a remote region, and the offset into it in bytes. The region must be
///   registered with the usage that `type` needs: RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY or
///   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT.
/// - `len`: the number of bytes to flush. There is no limit.
/// - `type`: what the flush guarantees.
/// - `flags`: RPMA_F_COMPLETION_ALWAYS or RPMA_F_COMPLETION_ON_ERROR.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` or `dst` is NULL; `flags` is 0; `type` is unknown; or the sum of the
///   region's address, `dst_offset` and `len` exceeds 64 bits.
/// - RPMA_E_NOSUPP: the region was not registered for this type of flush; or `type` is
///   RPMA_FLUSH_TYPE_PERSISTENT, and you have not applied a peer configuration that declares direct
///   write to PMem, with rpma_conn_apply_remote_peer_cfg().
/// - RPMA_E_PROVIDER: ibv_post_send(), or ibv_wr_complete() for a native operation, failed. If
///   errno is ENOMEM, the send queue is full.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `dst` must be NULL or a remote
/// region that has not been deleted.
///
/// # Thread safety
///
/// Only one thread at a time may post operations to a connection. Meanwhile, other threads may wait
/// for its completions and take them out.
///
/// # Manual page
///
/// rpma_flush(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_flush(
    conn: *mut Conn,
    dst: *mut MrRemote,
    dst_offset: usize,
    len: usize,
    r#type: rpma_flush_type_raw,
    flags: c_int,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (conn, dst) = unsafe { (ffi::borrow(conn)?, ffi::borrow(dst)?) };
        let flags = send_flags(flags)?;
        conn.flush(dst, Range { offset: dst_offset, len }, r#type, flags, op_context)
    })
}

const PERSISTENT: c_int = rpma_flush_type::RPMA_FLUSH_TYPE_PERSISTENT as c_int;
const VISIBILITY: c_int = rpma_flush_type::RPMA_FLUSH_TYPE_VISIBILITY as c_int;

/// A part of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    offset: usize,
    len: usize,
}

impl Range {
    /// What a flush of this range reads, of a region of `size` bytes: 8 bytes at its start,
    /// moved and cut so as not to leave the region. A range that does leave it is the provider's
    /// to refuse.
    fn to_read(self, size: usize) -> Self {
        let len = FlushBuffer::SIZE.min(size);
        match self.offset.checked_add(self.len) {
            Some(end) if end <= size => Self { offset: self.offset.min(size - len), len },
            _ => Self { offset: self.offset, len: FlushBuffer::SIZE },
        }
    }

    /// Whether what is read is simply the first 8 bytes.
    #[inline]
    fn begins_well_inside(self, size: usize) -> bool {
        self.offset.checked_add(FlushBuffer::SIZE).is_some_and(|end| end <= size)
    }
}

impl Conn {
    #[inline]
    fn flush(
        &self,
        dst: &MrRemote,
        range: Range,
        kind: rpma_flush_type_raw,
        flags: c_uint,
        op_context: *const c_void,
    ) -> Result {
        let remote = dst.at(range.offset, range.len)?;
        let usage = match kind {
            PERSISTENT if !self.direct_write_to_pmem() => {
                return Err(refused!(
                    NoSupp,
                    c"rpma_flush",
                    c"the peer does not declare direct write to PMem"
                ));
            }
            PERSISTENT => RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
            VISIBILITY => RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
            _ => return Err(Error::Inval.into()),
        };
        if dst.usage() & usage == 0 {
            return Err(refused!(
                NoSupp,
                c"rpma_flush",
                c"the region was not registered for this type of flush"
            ));
        }
        if let Some(qp) = self.qp().native_flush() {
            let code = native(qp, remote, range.len, usage, flags, op_context);
            return check_code!(c"ibv_wr_complete", code);
        }
        let buffer = self.flush_buffer().ok_or(Error::Unknown)?;
        if !range.begins_well_inside(dst.size()) {
            return flush_at_the_end(self.qp(), dst, range, buffer, flags, op_context);
        }
        self.qp().post_send(reading(flags, op_context), remote, buffer.sge(FlushBuffer::SIZE))
    }
}

/// Flushes are reads.
#[inline(always)]
fn reading(flags: c_uint, op_context: *const c_void) -> SendRequest {
    SendRequest { wr_id: op_context, opcode: ibv_wr_opcode::IBV_WR_RDMA_READ, flags, imm: 0 }
}

/// Out of line: it is rare.
#[cold]
#[inline(never)]
fn flush_at_the_end(
    qp: &Qp,
    dst: &MrRemote,
    range: Range,
    buffer: &FlushBuffer,
    flags: c_uint,
    op_context: *const c_void,
) -> Result {
    let read = range.to_read(dst.size());
    let remote = dst.at(read.offset, 0)?;
    qp.post_send(reading(flags, op_context), remote, buffer.sge(read.len))
}

#[cold]
#[inline(never)]
fn native(
    qp: NativeQp,
    remote: Remote,
    len: usize,
    usage: c_int,
    flags: c_uint,
    op_context: *const c_void,
) -> c_int {
    // The length of a range has 32 bits on the wire.
    let level = if u32::try_from(len).is_ok() { IBV_FLUSH_RANGE } else { IBV_FLUSH_MR };
    let placement = match usage {
        RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT => IBV_FLUSH_PERSISTENT,
        _ => IBV_FLUSH_GLOBAL,
    };
    qp.flush(remote, len, placement, level, flags, op_context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_flush_inside_a_region_reads_inside_it(
            size in 0_usize..100,
            offset in 0_usize..100,
            len in 0_usize..100,
        ) {
            let range = Range { offset, len };
            let read = range.to_read(size);
            if offset + len <= size {
                prop_assert!(read.offset + read.len <= size);
                prop_assert_eq!(read.len, size.min(8));
                prop_assert!(read.offset <= offset);
                prop_assert!(offset + 8 > size || read.offset == offset);
            } else {
                prop_assert_eq!(read, Range { offset, len: 8 });
            }
            if range.begins_well_inside(size) {
                prop_assert_eq!(read, Range { offset, len: 8 });
            }
        }
    }

    #[test]
    fn a_range_over_the_end_of_the_address_space_is_not_moved() {
        let range = Range { offset: usize::MAX, len: 2 };
        assert_eq!(range.to_read(16), Range { offset: usize::MAX, len: 8 });
    }
}
