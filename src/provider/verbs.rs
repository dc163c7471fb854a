// SPDX-License-Identifier: BSD-3-Clause
//! Verbs objects: device properties, PDs, MRs, completion channels, CQs and SRQs.

use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, addr_of, null, null_mut};
use core::sync::atomic::{AtomicI32, Ordering};

use libc::{c_int, c_void};
use rdma_sys::{
    IBV_DEVICE_ATOMIC_WRITE, IBV_DEVICE_FLUSH_GLOBAL, IBV_DEVICE_FLUSH_PERSISTENT,
    ibv_access_flags, ibv_ack_cq_events, ibv_alloc_pd, ibv_comp_channel, ibv_context, ibv_cq,
    ibv_create_comp_channel, ibv_create_cq, ibv_create_srq, ibv_dealloc_pd, ibv_dereg_mr,
    ibv_destroy_comp_channel, ibv_destroy_cq, ibv_destroy_srq, ibv_device_attr_ex,
    ibv_get_cq_event, ibv_mr, ibv_odp_general_caps, ibv_odp_transport_cap_bits, ibv_pd,
    ibv_poll_cq, ibv_query_device_ex, ibv_reg_mr, ibv_req_notify_cq, ibv_srq, ibv_srq_attr,
    ibv_srq_init_attr, ibv_transport_type, ibv_wc,
};

use super::owner::{Destroy, Owner};
use super::qp::Features;
use super::{check_code, failed};
use crate::error::{Error, Failure, Result, errno};
use crate::log::{File, Text};

const FILE: File = File::Verbs;

/// A size, limited to what the provider's `int` can hold.
pub(crate) fn clip(size: u32) -> c_int {
    c_int::try_from(size).unwrap_or(c_int::MAX)
}

/// Those abilities of a device that the library uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceCaps {
    /// On-demand paging, for RC reads and writes.
    pub(crate) odp: bool,
    /// Native flush counts only if the device has both kinds of it.
    pub(crate) native: Features,
    /// The `ibv_access_flags` of native flushes that it knows.
    pub(crate) flush_access: u32,
}

impl DeviceCaps {
    #[cfg(test)]
    pub(crate) const NONE: Self = Self { odp: false, native: Features::NONE, flush_access: 0 };

    const FLUSH: u32 = ibv_access_flags::IBV_ACCESS_FLUSH_GLOBAL.0
        | ibv_access_flags::IBV_ACCESS_FLUSH_PERSISTENT.0;
    /// From the bits of a device's flushes to those of the access that they need.
    const FLUSH_SHIFT: u32 = IBV_DEVICE_FLUSH_GLOBAL.trailing_zeros()
        - ibv_access_flags::IBV_ACCESS_FLUSH_GLOBAL.0.trailing_zeros();

    /// # Safety
    ///
    /// `context` is an open device (promise 1).
    pub(crate) unsafe fn query(context: NonNull<ibv_context>) -> Result<Self> {
        let mut attr = MaybeUninit::<ibv_device_attr_ex>::zeroed();
        // SAFETY: an open device by the caller's promise, and a buffer of the type's size.
        let code = unsafe { ibv_query_device_ex(context.as_ptr(), null(), attr.as_mut_ptr()) };
        check_code!(c"ibv_query_device_ex", code)?;
        // SAFETY: plain numbers, zeroed before the call filled them.
        Ok(Self::of(unsafe { attr.assume_init_ref() }))
    }

    fn of(attr: &ibv_device_attr_ex) -> Self {
        let odp_general = u64::from(ibv_odp_general_caps::IBV_ODP_SUPPORT.0);
        let odp_transport = ibv_odp_transport_cap_bits::IBV_ODP_SUPPORT_WRITE.0
            | ibv_odp_transport_cap_bits::IBV_ODP_SUPPORT_READ.0;
        let odp = &attr.odp_caps;
        let has = |bits: u64| attr.device_cap_flags_ex & bits == bits;
        let flush = IBV_DEVICE_FLUSH_GLOBAL | IBV_DEVICE_FLUSH_PERSISTENT;
        Self {
            odp: odp.general_caps & odp_general == odp_general
                && odp.per_transport_caps.rc_odp_caps & odp_transport == odp_transport,
            native: Features::ATOMIC_WRITE
                .only_if(has(IBV_DEVICE_ATOMIC_WRITE))
                .and(Features::FLUSH.only_if(has(flush))),
            flush_access: (attr.device_cap_flags_ex >> Self::FLUSH_SHIFT) as u32 & Self::FLUSH,
        }
    }
}

/// A protection domain.
pub(crate) type Pd = Owner<NonNull<ibv_pd>>;

impl Pd {
    /// # Safety
    ///
    /// `context` is an open device (promise 1).
    pub(crate) unsafe fn alloc(context: NonNull<ibv_context>) -> Result<Self> {
        // Some drivers fail without setting errno.
        // SAFETY: an open device by the caller's promise.
        let (pd, errno) = errno::cleared(|| unsafe { ibv_alloc_pd(context.as_ptr()) });
        // SAFETY: made just now.
        unsafe { Self::from_raw(pd) }.ok_or_else(|| match errno {
            libc::ENOMEM => Failure::with_errno(Error::NoMem, errno),
            0 => Failure::with_errno(Error::Unknown, errno),
            _ => failed!(c"ibv_alloc_pd", errno),
        })
    }
}

impl Destroy for NonNull<ibv_pd> {
    const FUNCTION: &'static CStr = c"ibv_dealloc_pd";

    unsafe fn destroy(&mut self) -> c_int {
        // SAFETY: passed on to the caller. A driver refuses (EBUSY) while something lives on it.
        unsafe { ibv_dealloc_pd(self.as_ptr()) }
    }
}

/// A registered memory region.
pub(crate) type Mr = Owner<NonNull<ibv_mr>>;

// SAFETY: an MR is used by any thread; libibverbs locks where it must.
unsafe impl Send for Mr {}
// SAFETY: as above.
unsafe impl Sync for Mr {}

impl Mr {
    /// Registers `size` bytes at `addr`. A failure gives an `errno` and is not logged: the caller
    /// may try again with other flags, and logs when it gives up.
    ///
    /// # Safety
    ///
    /// `pd` is alive. Whatever owns the memory keeps it mapped while the MR lives.
    pub(crate) unsafe fn reg(
        pd: *mut ibv_pd,
        addr: *mut c_void,
        size: usize,
        access: u32,
    ) -> core::result::Result<Self, c_int> {
        // SAFETY: passed on to the caller. An address range that is not mapped is refused.
        let mr = unsafe { ibv_reg_mr(pd, addr, size, access as c_int) };
        // SAFETY: made just now.
        unsafe { Self::from_raw(mr) }.ok_or_else(errno::get)
    }

    pub(crate) fn addr(&self) -> *mut c_void {
        // SAFETY: alive while we own it.
        unsafe { (*self.as_ptr()).addr }
    }

    pub(crate) fn length(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.as_ptr()).length }
    }

    pub(crate) fn lkey(&self) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.as_ptr()).lkey }
    }

    pub(crate) fn rkey(&self) -> u32 {
        // SAFETY: as above.
        unsafe { (*self.as_ptr()).rkey }
    }

    pub(crate) fn pd(&self) -> *mut ibv_pd {
        // SAFETY: as above.
        unsafe { (*self.as_ptr()).pd }
    }
}

impl Destroy for NonNull<ibv_mr> {
    const FUNCTION: &'static CStr = c"ibv_dereg_mr";

    unsafe fn destroy(&mut self) -> c_int {
        // SAFETY: passed on to the caller.
        unsafe { ibv_dereg_mr(self.as_ptr()) }
    }
}

/// The `ibv_access_flags` that the destination of reads needs. On iWARP, the answer to a read
/// arrives as a write, so remote write access is needed, too.
///
/// # Safety
///
/// `context` is an open device (promise 1).
pub(crate) unsafe fn read_dst_access(context: *const ibv_context) -> u32 {
    const LOCAL_WRITE: u32 = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;
    const REMOTE_WRITE: u32 = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;
    // SAFETY: an open device knows what device it is.
    match unsafe { (*(*context).device).transport_type } {
        ibv_transport_type::IBV_TRANSPORT_IWARP => LOCAL_WRITE | REMOTE_WRITE,
        _ => LOCAL_WRITE,
    }
}

/// A completion channel.
pub(crate) type CompChannel = Owner<NonNull<ibv_comp_channel>>;

impl CompChannel {
    /// # Safety
    ///
    /// `context` is an open device (promise 1).
    pub(crate) unsafe fn create(context: *mut ibv_context) -> Result<Self> {
        // SAFETY: an open device by the caller's promise.
        let channel = unsafe { ibv_create_comp_channel(context) };
        // SAFETY: made just now.
        unsafe { Self::from_raw(channel) }.ok_or_else(|| failed!(c"ibv_create_comp_channel"))
    }

    pub(crate) fn fd(&self) -> c_int {
        // SAFETY: alive while we own it.
        unsafe { (*self.as_ptr()).fd }
    }
}

impl Destroy for NonNull<ibv_comp_channel> {
    const FUNCTION: &'static CStr = c"ibv_destroy_comp_channel";

    unsafe fn destroy(&mut self) -> c_int {
        // SAFETY: passed on to the caller. Refused while a CQ uses it.
        unsafe { ibv_destroy_comp_channel(self.as_ptr()) }
    }
}

/// Takes the next completion event off `channel` and returns its CQ. If there is no event, it
/// blocks, or fails if the fd is non-blocking. It does not log that, or a signal. Every other
/// failure would happen again, so it is an error of its own: the caller must not take it for an
/// empty CQ.
///
/// # Safety
///
/// `channel` is alive.
#[inline]
pub(crate) unsafe fn next_cq_event(channel: NonNull<ibv_comp_channel>) -> Result<*mut ibv_cq> {
    let mut cq = MaybeUninit::uninit();
    let mut context = MaybeUninit::uninit();
    // SAFETY: alive by the caller's promise; the rest is ours.
    match unsafe { ibv_get_cq_event(channel.as_ptr(), cq.as_mut_ptr(), context.as_mut_ptr()) } {
        // SAFETY: written by a call that succeeds.
        0 => Ok(unsafe { cq.assume_init() }),
        _ => Err(no_cq_event()),
    }
}

#[cold]
#[inline(never)]
fn no_cq_event() -> Failure {
    match errno::get() {
        libc::EAGAIN | libc::EINTR => Error::NoCompletion.into(),
        errno => failed!(c"ibv_get_cq_event", errno),
    }
}

/// Acknowledges one event of a CQ that is not ours.
///
/// # Safety
///
/// `cq` is alive and the event was taken and not acknowledged.
pub(crate) unsafe fn ack_foreign_event(cq: *mut ibv_cq) {
    // SAFETY: passed on to the caller.
    unsafe { ibv_ack_cq_events(cq, 1) }
}

/// A completion queue, with the count of its events that were taken and not yet acknowledged.
pub(crate) struct CountedCq {
    raw: NonNull<ibv_cq>,
    /// The count, less ACK_BATCH: that it is time to acknowledge shows in a sum of 0.
    unacked: AtomicI32,
}

impl CountedCq {
    /// Acknowledging locks a mutex, so it is done for this many events at once. Destroying a CQ
    /// waits until all events are acknowledged, so the rest is acknowledged before that.
    const ACK_BATCH: i32 = 64;

    /// # Safety
    ///
    /// `context` is an open device and `channel` is alive.
    pub(crate) unsafe fn create(
        context: *mut ibv_context,
        size: u32,
        channel: NonNull<ibv_comp_channel>,
    ) -> Result<Owner<Self>> {
        // SAFETY: passed on to the caller.
        let raw = unsafe { ibv_create_cq(context, clip(size), null_mut(), channel.as_ptr(), 0) };
        let raw = NonNull::new(raw).ok_or_else(|| failed!(c"ibv_create_cq"))?;
        // SAFETY: made just now.
        Ok(unsafe { Owner::new(Self { raw, unacked: AtomicI32::new(-Self::ACK_BATCH) }) })
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut ibv_cq {
        self.raw.as_ptr()
    }

    /// The fd of its channel.
    pub(crate) fn channel_fd(&self) -> c_int {
        // SAFETY: the CQ is alive, and its channel outlives it.
        unsafe { (*(*self.raw.as_ptr()).channel).fd }
    }

    /// Asks for an event at the next completion.
    #[inline]
    pub(crate) fn arm(&self) -> Result {
        // SAFETY: the CQ is alive.
        check_code!(c"ibv_req_notify_cq", unsafe { ibv_req_notify_cq(self.as_ptr(), 0) })
    }

    /// Counts an event that was taken off the channel, and acknowledges now and then.
    #[inline]
    pub(crate) fn event_taken(&self) {
        // Relaxed: only the sum matters, and whoever destroys the CQ is ordered by the caller.
        if self.unacked.fetch_add(1, Ordering::Relaxed) == -1 {
            self.ack_events();
        }
    }

    #[cold]
    #[inline(never)]
    fn ack_events(&self) {
        let count = self.unacked.swap(-Self::ACK_BATCH, Ordering::Relaxed) + Self::ACK_BATCH;
        if count != 0 {
            // SAFETY: the CQ is alive, and so many events were taken and not acknowledged. The
            // count begins at 0 and grows.
            unsafe { ibv_ack_cq_events(self.as_ptr(), count as u32) }
        }
    }

    /// Takes up to `count` completions, into room for them at `wc`. Gives the provider's answer.
    ///
    /// # Safety
    ///
    /// `wc` has room for `count` completions.
    #[inline]
    pub(crate) unsafe fn poll(&self, count: c_int, wc: *mut ibv_wc) -> c_int {
        // SAFETY: the CQ is alive; the room is the caller's promise.
        unsafe { ibv_poll_cq(self.as_ptr(), count, wc) }
    }
}

impl Destroy for CountedCq {
    const FUNCTION: &'static CStr = c"ibv_destroy_cq";

    unsafe fn destroy(&mut self) -> c_int {
        // It waits for events that are not acknowledged.
        self.ack_events();
        // SAFETY: passed on to the caller. Refused (EBUSY) while a QP uses it.
        unsafe { ibv_destroy_cq(self.as_ptr()) }
    }
}

/// A shared receive queue.
pub(crate) type Srq = Owner<NonNull<ibv_srq>>;

impl Srq {
    /// # Safety
    ///
    /// `pd` is alive.
    pub(crate) unsafe fn create(pd: *mut ibv_pd, size: u32) -> Result<Self> {
        let mut attr = ibv_srq_init_attr {
            srq_context: null_mut(),
            attr: ibv_srq_attr { max_wr: size, max_sge: 1, srq_limit: 0 },
        };
        // SAFETY: the PD is alive by the caller's promise, and the attributes are ours.
        let srq = unsafe { ibv_create_srq(pd, &mut attr) };
        // SAFETY: made just now.
        unsafe { Self::from_raw(srq) }.ok_or_else(|| failed!(c"ibv_create_srq"))
    }
}

impl Destroy for NonNull<ibv_srq> {
    const FUNCTION: &'static CStr = c"ibv_destroy_srq";

    unsafe fn destroy(&mut self) -> c_int {
        // SAFETY: passed on to the caller. Refused (EBUSY) while a QP uses it.
        unsafe { ibv_destroy_srq(self.as_ptr()) }
    }
}

/// The device's name, for log lines.
///
/// # Safety
///
/// `context` is an open device (promise 1).
pub(crate) unsafe fn device_name<'a>(context: *const ibv_context) -> Text<'a> {
    // SAFETY: an open device has a name that libibverbs terminates.
    unsafe { Text::from_ptr(addr_of!((*(*context).device).name).cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn caps(general: u64, rc: u32, flags: u64) -> DeviceCaps {
        // SAFETY: plain numbers.
        let mut attr: ibv_device_attr_ex = unsafe { MaybeUninit::zeroed().assume_init() };
        attr.odp_caps.general_caps = general;
        attr.odp_caps.per_transport_caps.rc_odp_caps = rc;
        attr.device_cap_flags_ex = flags;
        DeviceCaps::of(&attr)
    }

    proptest! {
        #[test]
        fn sizes_are_clipped_to_int(size: u32) {
            prop_assert_eq!(i64::from(clip(size)), i64::from(size).min(i64::from(c_int::MAX)));
        }

        #[test]
        fn odp_needs_the_general_bit_and_rc_read_and_write(general: u64, rc: u32, flags: u64) {
            let caps = caps(general, rc, flags);
            prop_assert_eq!(caps.odp, general & 1 == 1 && rc & 12 == 12);
            prop_assert_eq!(u64::from(caps.flush_access), (flags >> 38 & 3) << 8);
            prop_assert_eq!(caps.native.has(Features::FLUSH), flags >> 38 & 3 == 3);
            prop_assert_eq!(caps.native.has(Features::ATOMIC_WRITE), flags >> 40 & 1 == 1);
        }
    }
}
