// SPDX-License-Identifier: BSD-3-Clause
//! Queue pairs and work requests.
//!
//! This is the data path. It allocates nothing, locks nothing, and writes only those fields of a
//! work request that drivers read. Drivers read immediate data, remote address and rkey for every
//! opcode, so these are zero if an operation does not use them.

use core::ffi::CStr;
use core::mem::{MaybeUninit, transmute};
use core::num::NonZeroUsize;
use core::ptr::{NonNull, addr_of_mut, null_mut};

use libc::{c_int, c_uint, c_void};
use once_cell::race::OnceNonZeroUsize;
use rdma_sys::{
    ibv_cq, ibv_modify_qp, ibv_pd, ibv_post_recv, ibv_post_send, ibv_post_srq_recv, ibv_qp,
    ibv_qp_attr, ibv_qp_attr_mask, ibv_qp_cap, ibv_qp_create_send_ops_flags, ibv_qp_ex,
    ibv_qp_init_attr_ex, ibv_qp_init_attr_mask, ibv_qp_type, ibv_recv_wr, ibv_send_flags,
    ibv_send_wr, ibv_sge, ibv_srq, ibv_wr_atomic_write, ibv_wr_complete, ibv_wr_flush,
    ibv_wr_opcode, ibv_wr_start, rdma_cm_id, rdma_create_qp_ex, rdma_destroy_qp,
};

use super::check_code;
use super::cm::CmId;
use crate::error::{Failure, Result, errno};
use crate::log::{File, Part, log, refused};
use crate::teardown::End;

const FILE: File = File::Qp;

/// A set of features that can be requested for a QP and that not every device has: the native
/// operations, and inline data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features(u8);

impl Features {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const FLUSH: Self = Self(1);
    pub(crate) const ATOMIC_WRITE: Self = Self(2);
    /// All native operations.
    pub(crate) const NATIVE: Self = Self(Self::FLUSH.0 | Self::ATOMIC_WRITE.0);
    pub(crate) const INLINE: Self = Self(4);
    const ALL: Self = Self(Self::NATIVE.0 | Self::INLINE.0);

    /// This set if `wanted`, otherwise the empty set.
    pub(crate) const fn only_if(self, wanted: bool) -> Self {
        if wanted { self } else { Self::NONE }
    }

    pub(crate) const fn and(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    pub(crate) const fn in_both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(crate) const fn has(self, ops: Self) -> bool {
        self.0 & ops.0 == ops.0
    }

    /// The name in log lines. The set must have one or both of the native operations.
    pub(crate) const fn name(self) -> &'static CStr {
        match self {
            Self::FLUSH => c"native flush",
            Self::ATOMIC_WRITE => c"native atomic write",
            _ => c"native atomic write and native flush",
        }
    }

    pub(crate) const fn to_bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The features to try next, if `wanted` was asked for and a QP with `self` was refused. Of the
    /// native operations these are both, the atomic write, the flush, none; then the same again
    /// without inline data. Read as numbers, they count down through the wanted bits.
    pub(crate) fn step_down(self, wanted: Self) -> Option<Self> {
        Some(Self(self.0.checked_sub(1)? & wanted.0))
    }

    /// How many bytes of data a work request may carry inline: those of an atomic write, or none.
    fn inline_data(self) -> u32 {
        if self.has(Self::INLINE) { 8 } else { 0 }
    }

    fn send_ops_flags(self) -> u64 {
        const FLUSH: u32 = ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_FLUSH.0;
        const ATOMIC_WRITE: u32 = ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_ATOMIC_WRITE.0;
        const SHIFT: u32 = FLUSH.trailing_zeros();
        const { assert!(FLUSH == (Features::FLUSH.0 as u32) << SHIFT) };
        const { assert!(ATOMIC_WRITE == (Features::ATOMIC_WRITE.0 as u32) << SHIFT) };
        u64::from(self.in_both(Self::NATIVE).0) << SHIFT
    }
}

/// What a QP is made of. All pointers are alive for as long as the QP is.
pub(crate) struct QpAttributes {
    pub(crate) pd: *mut ibv_pd,
    pub(crate) send_cq: *mut ibv_cq,
    pub(crate) recv_cq: *mut ibv_cq,
    pub(crate) srq: *mut ibv_srq,
    pub(crate) sq_size: u32,
    pub(crate) rq_size: u32,
}

impl QpAttributes {
    /// Logs that a QP with these attributes was refused.
    pub(crate) fn refused(&self, features: Features, errno: c_int) -> Failure {
        let inline = if features.has(Features::INLINE) { c"8" } else { c"0" };
        let text = c"rdma_create_qp_ex(sq_size %, rq_size %, 1 SGE, inline %) failed: %";
        let (sq, rq) = (u64::from(self.sq_size), u64::from(self.rq_size));
        log!(Error, c"rdma_create_qp_ex", text, sq, rq, inline, Part::Cause(errno));
        Failure::provider(errno)
    }

    fn init_attr(&self, features: Features) -> ibv_qp_init_attr_ex {
        // SAFETY: all zero is a valid value: numbers and NULL pointers.
        let mut attr: ibv_qp_init_attr_ex = unsafe { MaybeUninit::zeroed().assume_init() };
        attr.send_cq = self.send_cq;
        attr.recv_cq = self.recv_cq;
        attr.srq = self.srq;
        attr.cap = ibv_qp_cap {
            max_send_wr: self.sq_size,
            max_recv_wr: self.rq_size,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: features.inline_data(),
        };
        attr.qp_type = ibv_qp_type::IBV_QPT_RC;
        attr.comp_mask = ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0;
        attr.pd = self.pd;
        if features.send_ops_flags() != 0 {
            attr.comp_mask |= ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_SEND_OPS_FLAGS.0;
            attr.send_ops_flags = features.send_ops_flags();
        }
        attr
    }
}

/// The QP of a CM id.
pub(crate) struct Qp {
    raw: NonNull<ibv_qp>,
    id: NonNull<rdma_cm_id>,
    /// The same QP, if it can flush natively.
    flush: Option<NonNull<ibv_qp_ex>>,
    atomic_write: AtomicWrite,
}

/// What an atomic write is.
enum AtomicWrite {
    /// A write with inline data.
    Emulated,
    /// Native, on the same QP.
    Native(NonNull<ibv_qp_ex>),
    /// Nothing: the device has neither the operation nor inline data.
    Missing,
}

impl Qp {
    /// Makes a QP that has all of `features`, or fails with an `errno`, which is not logged: the
    /// caller may try again with less.
    pub(crate) fn create(
        id: &CmId,
        attributes: &QpAttributes,
        features: Features,
    ) -> core::result::Result<Self, c_int> {
        // Made for each attempt, because the provider writes into it.
        let mut attr = attributes.init_attr(features);
        // SAFETY: the id and all that the attributes name are alive.
        if unsafe { rdma_create_qp_ex(id.as_ptr(), &mut attr) } != 0 {
            return Err(errno::get());
        }
        // SAFETY: the id is alive, and has a QP since the call succeeded.
        let raw = unsafe { (*id.as_ptr()).qp };
        let (Some(raw), Some(id)) = (NonNull::new(raw), NonNull::new(id.as_ptr())) else {
            return Err(libc::EINVAL);
        };
        let mut qp = Self { raw, id, flush: None, atomic_write: AtomicWrite::Emulated };
        if !features.has(Features::INLINE) {
            qp.atomic_write = AtomicWrite::Missing;
        }
        if features.in_both(Features::NATIVE) != Features::NONE {
            qp.find_native(features).ok_or(libc::EOPNOTSUPP)?;
        }
        Ok(qp)
    }

    /// Finds the functions of the native operations. None if the QP lacks one of `features` after
    /// all.
    fn find_native(&mut self, features: Features) -> Option<()> {
        // SAFETY: the QP is alive.
        let extended = NonNull::new(unsafe { extended_qp()?(self.raw.as_ptr()) })?;
        if features.has(Features::ATOMIC_WRITE) {
            // SAFETY: this field exists where the driver granted the operation.
            unsafe { (*extended.as_ptr()).wr_atomic_write }?;
            self.atomic_write = AtomicWrite::Native(extended);
        }
        if features.has(Features::FLUSH) {
            // SAFETY: as above.
            unsafe { (*extended.as_ptr()).wr_flush }?;
            self.flush = Some(extended);
        }
        Some(())
    }

    /// The QP's number.
    pub(crate) fn number(&self) -> u32 {
        // SAFETY: alive while we own it.
        unsafe { (*self.raw.as_ptr()).qp_num }
    }

    /// Shortens the time after which the other side repeats a message that came before its receive.
    /// librdmacm leaves it at 0, which means 655 ms. The QP must be established. If a driver
    /// refuses this, everything else works all the same.
    pub(crate) fn shorten_rnr_timer(&self) {
        /// 0.64 ms.
        const TIMER: u8 = 12;
        const MASK: c_int = ibv_qp_attr_mask::IBV_QP_MIN_RNR_TIMER.0 as c_int;
        let errno_before = errno::get();
        let mut attr = MaybeUninit::<ibv_qp_attr>::zeroed();
        // SAFETY: the QP is alive, and all zero is a valid value of the attributes.
        unsafe {
            addr_of_mut!((*attr.as_mut_ptr()).min_rnr_timer).write(TIMER);
            ibv_modify_qp(self.raw.as_ptr(), attr.as_mut_ptr(), MASK);
        }
        errno::set(errno_before);
    }

    /// Posts one work request to the send queue.
    #[inline(always)]
    pub(crate) fn post_send(&self, send: SendRequest, remote: Remote, mut sge: ibv_sge) -> Result {
        send_posted(self.post_send_list(send, remote, &mut sge, 1))
    }

    /// Posts one work request without data to the send queue.
    #[inline(always)]
    pub(crate) fn post_send_without_data(&self, send: SendRequest) -> Result {
        send_posted(self.post_send_no_list(send))
    }

    /// Out of line, and once: it is rare.
    #[cold]
    #[inline(never)]
    fn post_send_no_list(&self, send: SendRequest) -> c_int {
        self.post_send_list(send, Remote::default(), null_mut(), 0)
    }

    #[inline(always)]
    fn post_send_list(
        &self,
        send: SendRequest,
        remote: Remote,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
    ) -> c_int {
        let mut wr = MaybeUninit::<ibv_send_wr>::uninit();
        let mut bad_wr = MaybeUninit::uninit();
        let raw = wr.as_mut_ptr();
        // SAFETY: the request is only written here, and its fields that no operation of an RC QP
        // uses stay uninitialised, which drivers do not read. The callers' lists live until the
        // call returns.
        unsafe {
            addr_of_mut!((*raw).wr_id).write(send.wr_id as u64);
            addr_of_mut!((*raw).next).write(null_mut());
            addr_of_mut!((*raw).sg_list).write(sg_list);
            addr_of_mut!((*raw).num_sge).write(num_sge);
            addr_of_mut!((*raw).opcode).write(send.opcode);
            addr_of_mut!((*raw).send_flags).write(send.flags);
            addr_of_mut!((*raw).imm_data_invalidated_rkey_union.imm_data).write(send.imm.to_be());
            addr_of_mut!((*raw).wr.rdma.remote_addr).write(remote.addr);
            addr_of_mut!((*raw).wr.rdma.rkey).write(remote.rkey);
            ibv_post_send(self.raw.as_ptr(), raw, bad_wr.as_mut_ptr())
        }
    }

    /// Posts one work request to the receive queue.
    #[inline(always)]
    pub(crate) fn post_recv(&self, op_context: *const c_void, mut sge: ibv_sge) -> Result {
        recv_posted(self.post_recv_list(op_context, &mut sge, 1))
    }

    /// Posts one work request without room for data to the receive queue.
    #[inline(always)]
    pub(crate) fn post_recv_without_data(&self, op_context: *const c_void) -> Result {
        recv_posted(self.post_recv_no_list(op_context))
    }

    /// Out of line: it is rare.
    #[cold]
    #[inline(never)]
    fn post_recv_no_list(&self, op_context: *const c_void) -> c_int {
        self.post_recv_list(op_context, null_mut(), 0)
    }

    #[inline(always)]
    fn post_recv_list(
        &self,
        op_context: *const c_void,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
    ) -> c_int {
        let mut wr = recv_wr(op_context, sg_list, num_sge);
        let mut bad_wr = MaybeUninit::uninit();
        // SAFETY: the QP and the request are alive.
        unsafe { ibv_post_recv(self.raw.as_ptr(), &mut wr, bad_wr.as_mut_ptr()) }
    }

    /// Whether flushes can go out natively.
    #[inline]
    pub(crate) fn native_flush(&self) -> Option<NativeQp<'_>> {
        self.flush.as_ref().map(NativeQp)
    }

    /// Whether an atomic write is a fenced write with inline data. If not, call
    /// [`Qp::write_atomically`].
    #[inline]
    pub(crate) fn emulates_atomic_write(&self) -> bool {
        matches!(self.atomic_write, AtomicWrite::Emulated)
    }

    /// Writes the 8 bytes at `data` with the native operation, if the QP has it. This is rare, so
    /// it is out of line. Its arguments are in the order in which the callers hold them.
    ///
    /// # Safety
    ///
    /// `data` is readable for 8 bytes.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn write_atomically(
        &self,
        rkey: u32,
        remote_addr: u64,
        data: *const c_void,
        flags: c_uint,
        wr_id: *const c_void,
    ) -> Result {
        let AtomicWrite::Native(qp) = &self.atomic_write else {
            return Err(refused!(NoSupp, c"rpma_atomic_write", c"the device has no inline data"));
        };
        // It comes after every flush before it: by itself after native ones, and with a fence
        // after those that read.
        let fence = if self.flush.is_none() { ibv_send_flags::IBV_SEND_FENCE.0 } else { 0 };
        let code = NativeQp(qp).post(wr_id, flags | fence, |qp| {
            // SAFETY: the QP is alive and was granted the operation; the data are the caller's
            // promise.
            unsafe { ibv_wr_atomic_write(qp, rkey, remote_addr, data) }
        });
        check_code!(c"ibv_wr_complete", code)
    }
}

impl End for Qp {
    /// librdmacm does not report failures.
    fn end(self) -> Result {
        drop(self);
        Ok(())
    }
}

impl Drop for Qp {
    fn drop(&mut self) {
        // SAFETY: the QP is ours, and its id is alive by the order of our owners' fields.
        unsafe { rdma_destroy_qp(self.id.as_ptr()) }
    }
}

/// `ibv_qp_to_qp_ex`, which libibverbs has since rdma-core 24.
fn extended_qp() -> Option<unsafe extern "C" fn(*mut ibv_qp) -> *mut ibv_qp_ex> {
    static ADDRESS: OnceNonZeroUsize = OnceNonZeroUsize::new();
    let address = match ADDRESS.get() {
        Some(address) => address,
        None => {
            // SAFETY: a constant name.
            let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"ibv_qp_to_qp_ex".as_ptr()) };
            let address = NonZeroUsize::new(symbol as usize)?;
            // Another thread finds the same address.
            let _ = ADDRESS.set(address);
            address
        }
    };
    // SAFETY: this symbol is a function of this type.
    Some(unsafe {
        transmute::<usize, unsafe extern "C" fn(*mut ibv_qp) -> *mut ibv_qp_ex>(address.get())
    })
}

/// A place in the peer's memory.
#[derive(Clone, Copy, Default)]
pub(crate) struct Remote {
    pub(crate) addr: u64,
    pub(crate) rkey: u32,
}

/// A work request for the send queue, without its data and their destination.
pub(crate) struct SendRequest {
    pub(crate) wr_id: *const c_void,
    pub(crate) opcode: ibv_wr_opcode::Type,
    /// `ibv_send_flags`.
    pub(crate) flags: c_uint,
    /// Immediate data in host byte order, 0 without.
    pub(crate) imm: u32,
}

// The results of posting. Each failure is logged in one place, which keeps the callers small.

#[inline(always)]
fn send_posted(code: c_int) -> Result {
    check_code!(c"ibv_post_send", code)
}

#[inline(always)]
fn recv_posted(code: c_int) -> Result {
    check_code!(c"ibv_post_recv", code)
}

#[inline(always)]
fn srq_recv_posted(code: c_int) -> Result {
    check_code!(c"ibv_post_srq_recv", code)
}

/// A QP that was granted the native operation at hand.
pub(crate) struct NativeQp<'a>(&'a NonNull<ibv_qp_ex>);

impl NativeQp<'_> {
    /// Flushes `len` bytes: `kind` and `level` as in `enum ibv_placement_type` and
    /// `enum ibv_selectivity_level`.
    pub(crate) fn flush(
        &self,
        remote: Remote,
        len: usize,
        kind: u8,
        level: u8,
        flags: c_uint,
        wr_id: *const c_void,
    ) -> c_int {
        self.post(wr_id, flags, |qp| {
            // SAFETY: the QP is alive and was granted the operation.
            unsafe { ibv_wr_flush(qp, remote.rkey, remote.addr, len, kind, level) }
        })
    }

    fn post(
        &self,
        wr_id: *const c_void,
        flags: c_uint,
        build: impl FnOnce(*mut ibv_qp_ex),
    ) -> c_int {
        let qp = self.0.as_ptr();
        // SAFETY: the QP is alive; between start and complete its driver holds its lock.
        unsafe {
            ibv_wr_start(qp);
            (*qp).wr_id = wr_id as u64;
            (*qp).wr_flags = flags;
            build(qp);
            ibv_wr_complete(qp)
        }
    }
}

/// Posts one work request to an SRQ.
///
/// # Safety
///
/// `srq` is alive.
#[inline(always)]
pub(crate) unsafe fn post_srq_recv(
    srq: *mut ibv_srq,
    op_context: *const c_void,
    mut sge: ibv_sge,
) -> Result {
    // SAFETY: passed on to the caller.
    srq_recv_posted(unsafe { post_srq_recv_list(srq, op_context, &mut sge, 1) })
}

/// Posts one work request without room for data to an SRQ.
///
/// # Safety
///
/// `srq` is alive.
#[inline(always)]
pub(crate) unsafe fn post_srq_recv_without_data(
    srq: *mut ibv_srq,
    op_context: *const c_void,
) -> Result {
    // SAFETY: passed on to the caller.
    srq_recv_posted(unsafe { post_srq_recv_no_list(srq, op_context) })
}

/// Out of line: it is rare.
///
/// # Safety
///
/// `srq` is alive.
#[cold]
#[inline(never)]
unsafe fn post_srq_recv_no_list(srq: *mut ibv_srq, op_context: *const c_void) -> c_int {
    // SAFETY: passed on to the caller.
    unsafe { post_srq_recv_list(srq, op_context, null_mut(), 0) }
}

/// # Safety
///
/// `srq` is alive.
#[inline(always)]
unsafe fn post_srq_recv_list(
    srq: *mut ibv_srq,
    op_context: *const c_void,
    sg_list: *mut ibv_sge,
    num_sge: c_int,
) -> c_int {
    let mut wr = recv_wr(op_context, sg_list, num_sge);
    let mut bad_wr = MaybeUninit::uninit();
    // SAFETY: the SRQ by the caller's promise, and the request.
    unsafe { ibv_post_srq_recv(srq, &mut wr, bad_wr.as_mut_ptr()) }
}

#[inline(always)]
fn recv_wr(op_context: *const c_void, sg_list: *mut ibv_sge, num_sge: c_int) -> ibv_recv_wr {
    ibv_recv_wr { wr_id: op_context as u64, next: null_mut(), sg_list, num_sge }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Features = Features::NONE;
    const AW: Features = Features::ATOMIC_WRITE;
    const FLUSH: Features = Features::FLUSH;
    const BOTH: Features = Features::NATIVE;
    const INLINE: Features = Features::INLINE;

    #[test]
    fn the_ladder_tries_less_and_less_of_what_is_wanted() {
        for (wanted, ladder) in [
            (BOTH, vec![BOTH, AW, FLUSH, NONE]),
            (AW, vec![AW, NONE]),
            (FLUSH, vec![FLUSH, NONE]),
            (NONE, vec![NONE]),
        ] {
            let tries = |wanted: Features| {
                core::iter::successors(Some(wanted), |tried| tried.step_down(wanted))
                    .collect::<Vec<_>>()
            };
            assert_eq!(tries(wanted), ladder);
            let inline = ladder.iter().map(|tried| tried.and(INLINE));
            assert_eq!(tries(wanted.and(INLINE)), inline.chain(ladder.clone()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_plain_qp_asks_for_nothing_but_a_pd() {
        let attributes = QpAttributes {
            pd: null_mut(),
            send_cq: null_mut(),
            recv_cq: null_mut(),
            srq: null_mut(),
            sq_size: 7,
            rq_size: 9,
        };
        let plain = attributes.init_attr(INLINE);
        assert_eq!((plain.comp_mask, plain.send_ops_flags), (1, 0));
        assert_eq!((plain.cap.max_send_wr, plain.cap.max_recv_wr), (7, 9));
        assert_eq!(plain.cap.max_inline_data, 8);
        let both = attributes.init_attr(BOTH);
        assert_eq!((both.comp_mask, both.send_ops_flags), (0x41, 0x1800));
        assert_eq!(both.cap.max_inline_data, 0);
    }
}
