// SPDX-License-Identifier: BSD-3-Clause
//! The verbs that <infiniband/verbs.h> defines inline.
//!
//! libibverbs points every operation of `ibv_context_ops` at a function that reports EOPNOTSUPP
//! before the provider fills in its own, and a QP that was granted an operation has the pointer
//! for it. So no pointer that is called here can be null, and none is tested on the data path.

use crate::bindings::*;
use crate::types::*;
use core::ffi::{c_int, c_void};
use core::mem::{offset_of, size_of};
use libc::{EINVAL, ENOSYS, EOPNOTSUPP};

/// Calls the function behind an operation pointer that is known not to be null.
macro_rules! op {
    ($op:expr) => {
        $op.unwrap_unchecked()
    };
}

/// The operation `$op` of the extended context around `$ctx`; `None` where it has none.
macro_rules! verbs_get_ctx_op {
    ($ctx:expr, $op:ident) => {{
        let vctx = verbs_get_ctx($ctx);
        // The struct grows at its front: an older library's lacks the first fields.
        let needed = size_of::<verbs_context>() - offset_of!(verbs_context, $op);
        if vctx.is_null() || (*vctx).sz < needed {
            None
        } else {
            (*vctx).$op
        }
    }};
}

/// The `verbs_context` that `ctx` is the last field of; null if the provider is not extended.
#[inline]
pub unsafe fn verbs_get_ctx(ctx: *mut ibv_context) -> *mut verbs_context {
    // SAFETY: the caller's context is valid.
    if unsafe { (*ctx).abi_compat } as usize != usize::MAX {
        return core::ptr::null_mut();
    }
    ctx.wrapping_byte_sub(offset_of!(verbs_context, context)).cast()
}

/// Gets the extended device attributes; the plain ones and zeros where the driver has no more.
#[inline]
pub unsafe fn ibv_query_device_ex(
    context: *mut ibv_context,
    input: *const ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
) -> c_int {
    // SAFETY: the caller's pointers are valid; all-zero is a value of `ibv_device_attr_ex`.
    unsafe {
        if !input.is_null() && (*input).comp_mask != 0 {
            return EINVAL;
        }
        if let Some(query) = verbs_get_ctx_op!(context, query_device_ex) {
            let ret = query(context, input, attr, size_of::<ibv_device_attr_ex>());
            if ret != EOPNOTSUPP && ret != ENOSYS {
                return ret;
            }
        }
        attr.write_bytes(0, 1);
        ibv_query_device(context, &raw mut (*attr).orig_attr)
    }
}

/// Gives advice about ranges of registered memory; EOPNOTSUPP where the driver takes none.
#[inline]
pub unsafe fn ibv_advise_mr(
    pd: *mut ibv_pd,
    advice: ibv_advise_mr_advice,
    flags: u32,
    sg_list: *mut ibv_sge,
    num_sge: u32,
) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe {
        match verbs_get_ctx_op!((*pd).context, advise_mr) {
            Some(advise) => advise(pd, advice, flags, sg_list, num_sge),
            None => EOPNOTSUPP,
        }
    }
}

/// Posts a list of work requests to a QP's send queue.
#[inline]
pub unsafe fn ibv_post_send(
    qp: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad_wr: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*(*qp).context).ops.post_send)(qp, wr, bad_wr) }
}

/// Posts a list of work requests to a QP's receive queue.
#[inline]
pub unsafe fn ibv_post_recv(
    qp: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*(*qp).context).ops.post_recv)(qp, wr, bad_wr) }
}

/// Posts a list of work requests to an SRQ.
#[inline]
pub unsafe fn ibv_post_srq_recv(
    srq: *mut ibv_srq,
    recv_wr: *mut ibv_recv_wr,
    bad_recv_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*(*srq).context).ops.post_srq_recv)(srq, recv_wr, bad_recv_wr) }
}

/// Takes up to `num_entries` completions from a CQ; their number, or negative on failure.
#[inline]
pub unsafe fn ibv_poll_cq(cq: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*(*cq).context).ops.poll_cq)(cq, num_entries, wc) }
}

/// Arms a CQ: its next completion adds an event to its completion channel.
#[inline]
pub unsafe fn ibv_req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
    // SAFETY: the caller's pointers are valid.
    unsafe { op!((*(*cq).context).ops.req_notify_cq)(cq, solicited_only) }
}

/// Starts a batch of work requests and locks the send queue.
#[inline]
pub unsafe fn ibv_wr_start(qp: *mut ibv_qp_ex) {
    // SAFETY: the caller's pointer is valid.
    unsafe { op!((*qp).wr_start)(qp) }
}

/// Adds an atomic write of the 8 bytes at `atomic_wr` to the batch.
#[inline]
pub unsafe fn ibv_wr_atomic_write(
    qp: *mut ibv_qp_ex,
    rkey: u32,
    remote_addr: u64,
    atomic_wr: *const c_void,
) {
    // SAFETY: the caller's pointers are valid and the QP was created with the operation.
    unsafe { op!((*qp).wr_atomic_write)(qp, rkey, remote_addr, atomic_wr) }
}

/// Adds a flush of remote memory to the batch.
#[inline]
pub unsafe fn ibv_wr_flush(
    qp: *mut ibv_qp_ex,
    rkey: u32,
    remote_addr: u64,
    len: usize,
    type_: u8,
    level: u8,
) {
    // SAFETY: the caller's pointer is valid and the QP was created with the operation.
    unsafe { op!((*qp).wr_flush)(qp, rkey, remote_addr, len, type_, level) }
}

/// Posts the batch and unlocks the send queue; an errno on failure, with nothing posted.
#[inline]
pub unsafe fn ibv_wr_complete(qp: *mut ibv_qp_ex) -> c_int {
    // SAFETY: the caller's pointer is valid.
    unsafe { op!((*qp).wr_complete)(qp) }
}
