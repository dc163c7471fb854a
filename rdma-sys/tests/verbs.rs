// SPDX-License-Identifier: BSD-3-Clause
//! The inline verbs against made-up providers. `ibv_query_device` is ours here: the executable's
//! symbol wins over libibverbs'.

use core::ffi::{c_int, c_void};
use core::mem::{offset_of, size_of, zeroed};
use core::ptr::{null, null_mut};
use libc::{EINVAL, EIO, ENOSYS, EOPNOTSUPP};
use rdma_sys::*;

const LEGACY: u64 = 0x1111;
const EXTENDED: u64 = 0x2222;

#[no_mangle]
extern "C" fn ibv_query_device(_: *mut ibv_context, attr: *mut ibv_device_attr) -> c_int {
    // SAFETY: the caller's own variable.
    unsafe { (*attr).max_mr_size = LEGACY };
    0
}

macro_rules! query {
    ($name:ident, $ret:expr) => {
        unsafe extern "C" fn $name(
            _: *mut ibv_context,
            _: *const ibv_query_device_ex_input,
            attr: *mut ibv_device_attr_ex,
            size: usize,
        ) -> c_int {
            assert_eq!(size, size_of::<ibv_device_attr_ex>());
            // SAFETY: the caller's own variable.
            unsafe { (*attr).orig_attr.max_mr_size = EXTENDED };
            $ret
        }
    };
}
query!(query_works, 0);
query!(query_fails, EIO);
query!(query_not_supported, EOPNOTSUPP);
query!(query_not_in_kernel, ENOSYS);

unsafe extern "C" fn advise(
    _: *mut ibv_pd,
    advice: ibv_advise_mr_advice,
    flags: u32,
    _: *mut ibv_sge,
    num_sge: u32,
) -> c_int {
    (advice * 100 + flags * 10 + num_sge) as c_int
}

fn extended() -> Box<verbs_context> {
    // SAFETY: numbers, pointers and optional functions may be zero.
    let mut vctx: Box<verbs_context> = Box::new(unsafe { zeroed() });
    vctx.sz = size_of::<verbs_context>();
    vctx.context.abi_compat = usize::MAX as *mut c_void;
    vctx
}

/// What a query returns and leaves in an attribute, and in one that only extended queries set.
fn query(vctx: &mut verbs_context, input: *const ibv_query_device_ex_input) -> (c_int, u64, u64) {
    let base: *mut verbs_context = vctx;
    // SAFETY: numbers, pointers and optional functions may be zero.
    let mut attr: ibv_device_attr_ex = unsafe { zeroed() };
    attr.device_cap_flags_ex = 7;
    // SAFETY: the context is extended, or says that it is not.
    let ret = unsafe { ibv_query_device_ex(&raw mut (*base).context, input, &raw mut attr) };
    (ret, attr.orig_attr.max_mr_size, attr.device_cap_flags_ex)
}

#[test]
fn extended_context_is_found_around_the_plain_one() {
    let mut vctx = extended();
    let base: *mut verbs_context = &mut *vctx;
    // SAFETY: all that is pointed to is of this test and lives as long as it.
    unsafe {
        let ctx = &raw mut (*base).context;
        assert_eq!(verbs_get_ctx(ctx), base);
        (*ctx).abi_compat = null_mut();
        assert!(verbs_get_ctx(ctx).is_null());
    }
}

#[test]
fn query_device_ex_uses_the_extended_operation() {
    let mut vctx = extended();
    vctx.query_device_ex = Some(query_works);
    assert_eq!(query(&mut vctx, null()), (0, EXTENDED, 7));
    vctx.sz = size_of::<verbs_context>() - offset_of!(verbs_context, query_device_ex);
    assert_eq!(query(&mut vctx, null()), (0, EXTENDED, 7));
    vctx.query_device_ex = Some(query_fails);
    assert_eq!(query(&mut vctx, null()).0, EIO);
}

#[test]
fn query_device_ex_falls_back_to_query_device_and_zeros() {
    let legacy = (0, LEGACY, 0);
    let mut vctx = extended();
    assert_eq!(query(&mut vctx, null()), legacy, "no operation");
    for op in [query_not_supported, query_not_in_kernel] {
        vctx.query_device_ex = Some(op);
        assert_eq!(query(&mut vctx, null()), legacy, "operation refuses");
    }
    vctx.query_device_ex = Some(query_works);
    vctx.sz = size_of::<verbs_context>() - offset_of!(verbs_context, query_device_ex) - 1;
    assert_eq!(query(&mut vctx, null()), legacy, "older library");
    vctx.sz = size_of::<verbs_context>();
    vctx.context.abi_compat = null_mut();
    assert_eq!(query(&mut vctx, null()), legacy, "not extended");
}

#[test]
fn query_device_ex_refuses_an_input_it_does_not_know() {
    let mut vctx = extended();
    vctx.query_device_ex = Some(query_works);
    let mut input = ibv_query_device_ex_input { comp_mask: 1 };
    assert_eq!(query(&mut vctx, &input), (EINVAL, 0, 7));
    input.comp_mask = 0;
    assert_eq!(query(&mut vctx, &input), (0, EXTENDED, 7));
}

#[test]
fn advise_mr_needs_the_operation() {
    let mut vctx = extended();
    let base: *mut verbs_context = &mut *vctx;
    // SAFETY: all that is pointed to is of this test and lives as long as it.
    unsafe {
        let mut pd: ibv_pd = zeroed();
        pd.context = &raw mut (*base).context;
        let mut call = || ibv_advise_mr(&raw mut pd, 1, 2, null_mut(), 3);
        assert_eq!(call(), EOPNOTSUPP);
        (*base).advise_mr = Some(advise);
        assert_eq!(call(), 123);
        (*base).sz = size_of::<verbs_context>() - offset_of!(verbs_context, advise_mr) - 1;
        assert_eq!(call(), EOPNOTSUPP);
    }
}

unsafe extern "C" fn post_send(
    _: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's own variable.
    unsafe { *bad = wr };
    1
}

unsafe extern "C" fn post_recv(
    _: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's own variable.
    unsafe { *bad = wr };
    2
}

unsafe extern "C" fn post_srq_recv(
    _: *mut ibv_srq,
    wr: *mut ibv_recv_wr,
    bad: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller's own variable.
    unsafe { *bad = wr };
    3
}

unsafe extern "C" fn poll_cq(_: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: the caller's own variable.
    unsafe { (*wc).wr_id = 4 };
    num_entries
}

unsafe extern "C" fn req_notify_cq(_: *mut ibv_cq, solicited_only: c_int) -> c_int {
    solicited_only
}

#[test]
fn posting_and_polling_go_to_the_operations_of_the_context() {
    // SAFETY: all that is pointed to is of this test and lives as long as it.
    unsafe {
        let mut ctx: ibv_context = zeroed();
        ctx.ops.post_send = Some(post_send);
        ctx.ops.post_recv = Some(post_recv);
        ctx.ops.post_srq_recv = Some(post_srq_recv);
        ctx.ops.poll_cq = Some(poll_cq);
        ctx.ops.req_notify_cq = Some(req_notify_cq);
        let mut qp: ibv_qp = zeroed();
        let mut srq: ibv_srq = zeroed();
        let mut cq: ibv_cq = zeroed();
        qp.context = &raw mut ctx;
        srq.context = &raw mut ctx;
        cq.context = &raw mut ctx;

        let (mut send, mut bad_send): (ibv_send_wr, _) = (zeroed(), null_mut());
        assert_eq!(ibv_post_send(&raw mut qp, &raw mut send, &raw mut bad_send), 1);
        assert_eq!(bad_send, &raw mut send);
        let (mut recv, mut bad_recv): (ibv_recv_wr, _) = (zeroed(), null_mut());
        assert_eq!(ibv_post_recv(&raw mut qp, &raw mut recv, &raw mut bad_recv), 2);
        assert_eq!(bad_recv, &raw mut recv);
        bad_recv = null_mut();
        assert_eq!(ibv_post_srq_recv(&raw mut srq, &raw mut recv, &raw mut bad_recv), 3);
        assert_eq!(bad_recv, &raw mut recv);
        let mut wc: ibv_wc = zeroed();
        assert_eq!(ibv_poll_cq(&raw mut cq, 5, &raw mut wc), 5);
        assert_eq!(wc.wr_id, 4);
        assert_eq!(ibv_req_notify_cq(&raw mut cq, 6), 6);
    }
}

/// Every call adds its digit to `wr_id` of the QP, so the order shows too.
///
/// # Safety
///
/// `qp` is alive.
unsafe fn note(qp: *mut ibv_qp_ex, digit: u64) {
    // SAFETY: the caller's promise.
    unsafe { (*qp).wr_id = (*qp).wr_id * 10 + digit };
}

unsafe extern "C" fn wr_start(qp: *mut ibv_qp_ex) {
    // SAFETY: the QP of the test.
    unsafe { note(qp, 1) };
}

unsafe extern "C" fn wr_atomic_write(
    qp: *mut ibv_qp_ex,
    rkey: u32,
    addr: u64,
    data: *const c_void,
) {
    assert_eq!((rkey, addr, data as usize), (21, 22, 23));
    // SAFETY: the QP of the test.
    unsafe { note(qp, 2) };
}

unsafe extern "C" fn wr_flush(
    qp: *mut ibv_qp_ex,
    rkey: u32,
    addr: u64,
    len: usize,
    placement: u8,
    level: u8,
) {
    assert_eq!(
        (rkey, addr, len, placement, level),
        (31, 32, 33, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR)
    );
    // SAFETY: the QP of the test.
    unsafe { note(qp, 3) };
}

unsafe extern "C" fn wr_complete(qp: *mut ibv_qp_ex) -> c_int {
    // SAFETY: the QP of the test.
    unsafe { note(qp, 4) };
    -4
}

#[test]
fn work_request_calls_go_to_the_operations_of_the_qp() {
    // SAFETY: all that is pointed to is of this test and lives as long as it.
    unsafe {
        let mut qp: ibv_qp_ex = zeroed();
        qp.wr_start = Some(wr_start);
        qp.wr_atomic_write = Some(wr_atomic_write);
        qp.wr_flush = Some(wr_flush);
        qp.wr_complete = Some(wr_complete);
        let qp = &raw mut qp;

        ibv_wr_start(qp);
        ibv_wr_atomic_write(qp, 21, 22, 23 as *const c_void);
        ibv_wr_flush(qp, 31, 32, 33, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR);
        assert_eq!(ibv_wr_complete(qp), -4);
        assert_eq!((*qp).wr_id, 1_234);
    }
}
