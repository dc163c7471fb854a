// SPDX-License-Identifier: BSD-3-Clause
//! A peer: one device opened for use, with its protection domain.

use core::mem::ManuallyDrop;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

use libc::{c_int, c_void};
use rdma_sys::{ibv_context, ibv_pd};

use crate::error::{Checked, Error, Result, Teardown, errno};
use crate::ffi::{self, Out, Owned, Shared};
use crate::flush::{self, FlushBuffer};
use crate::log::{File, log};
use crate::provider::cm::CmId;
use crate::provider::failed;
use crate::provider::qp::{NativeOps, Qp, QpAttributes};
use crate::provider::verbs::{DeviceCaps, Pd, device_name};

const FILE: File = File::Peer;

/// A peer: a device with a protection domain, which all that is created with it shares.
pub struct Peer {
    domain: Shared<Domain>,
}

/// Creates a peer on a device.
///
/// A peer is the device together with a protection domain, in which the regions, shared receive
/// queues and connections that are created with the peer work together. One for each device is
/// enough.
///
/// # Parameters
///
/// - `ibv_ctx`: an open device, usually from rpma_utils_get_ibv_context(); it has to stay open as
///   long as the peer.
/// - `peer_ptr`: where the peer goes; delete it with rpma_peer_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: querying the device or allocating the protection domain failed.
/// - RPMA_E_UNKNOWN: allocating the protection domain failed for no reason given.
///
/// # Safety
///
/// `ibv_ctx` is NULL or an open device; `peer_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread. A peer serves any number of threads.
///
/// # Manual page
///
/// rpma_peer_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_new(
    ibv_ctx: *mut ibv_context,
    peer_ptr: *mut *mut Peer,
) -> c_int {
    ffi::call(|| {
        let context = NonNull::new(ibv_ctx).ok_or(Error::Inval)?;
        // SAFETY: the caller's promise 2 for `peer_ptr`.
        let out = unsafe { Out::new(peer_ptr) }?;
        // SAFETY: the caller's promise 1 for `ibv_ctx`.
        out.give(unsafe { Peer::new(context) })
    })
}

/// Deletes a peer.
///
/// Before it, shut down its endpoints and delete what was created with it: connections, requests,
/// regions, shared receive queues. If one of these is left, the device refuses and the protection
/// domain is lost; what is left keeps working.
///
/// # Parameters
///
/// - `peer_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
///   already.
///
/// # Errors
///
/// - RPMA_E_INVAL: `peer_ptr` is NULL.
/// - RPMA_E_PROVIDER: the device failed; with errno EBUSY, something is left.
///
/// # Safety
///
/// `peer_ptr` is NULL or points to a handle that is NULL or owns a peer.
///
/// # Thread safety
///
/// Nothing may be created with the peer any more, and no request that was created with it may be
/// connected at the same time.
///
/// # Manual page
///
/// rpma_peer_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_delete(peer_ptr: *mut *mut Peer) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(peer_ptr, |peer| peer.domain.close()) }
}

impl Peer {
    /// # Safety
    ///
    /// `context` is an open device (promise 1).
    unsafe fn new(context: NonNull<ibv_context>) -> Result<Owned<Self>> {
        // SAFETY: passed on to the caller.
        let caps = unsafe { DeviceCaps::query(context) }?;
        // SAFETY: passed on to the caller.
        let pd = unsafe { Pd::alloc(context) }?;
        let domain = Shared::new(Domain::new(&pd, caps))?;
        let peer = Owned::new(Self { domain })?;
        // From here on the domain looks after it.
        core::mem::forget(pd);
        // SAFETY: passed on to the caller.
        unsafe { tell_missing(caps, context) };
        Ok(peer)
    }

    pub(crate) fn domain(&self) -> &Shared<Domain> {
        &self.domain
    }
}

/// # Safety
///
/// `context` is an open device (promise 1).
unsafe fn tell_missing(caps: DeviceCaps, context: NonNull<ibv_context>) {
    // SAFETY: passed on to the caller.
    let device = unsafe { device_name(context.as_ptr()) };
    for operation in [NativeOps::ATOMIC_WRITE, NativeOps::FLUSH] {
        if !caps.native.has(operation) {
            log!(Info, c"rpma_peer_new", c"% has no %", device, operation.name());
        }
    }
}

/// What a peer and everything created with it share. It outlives the peer's handle, so that
/// requests and connections keep working when the peer is deleted too early.
pub(crate) struct Domain {
    /// NULL once it was deallocated.
    pd: AtomicPtr<ibv_pd>,
    caps: DeviceCaps,
    /// The native operations that QPs are asked for, less and less as drivers refuse.
    native: NativeChoice,
    /// The domain's own share of its flush buffer, or NULL; see [`Domain::flush_buffer`].
    flush_buffer: AtomicPtr<c_void>,
}

impl Domain {
    fn new(pd: &Pd, caps: DeviceCaps) -> Self {
        let requested = flush::requested_native_ops();
        Self {
            pd: AtomicPtr::new(pd.as_ptr()),
            caps,
            native: NativeChoice::new(requested, requested.in_both(caps.native)),
            flush_buffer: AtomicPtr::new(null_mut()),
        }
    }

    /// The PD; none after the peer was deleted.
    pub(crate) fn pd(&self) -> Checked<*mut ibv_pd> {
        let pd = self.pd.load(Ordering::Acquire);
        if pd.is_null() { Err(Error::Inval) } else { Ok(pd) }
    }

    pub(crate) fn caps(&self) -> DeviceCaps {
        self.caps
    }

    /// Makes the QP of `id`, with as many of the wanted native operations as driver and device
    /// grant.
    pub(crate) fn create_qp(&self, id: &CmId, attributes: &QpAttributes) -> Result<Qp> {
        let wanted = self.native.get();
        let mut ops = wanted;
        let errno_before = errno::get();
        loop {
            match Qp::create(id, attributes, ops) {
                Ok(qp) => {
                    errno::set(errno_before);
                    self.native.granted(ops);
                    return Ok(qp);
                }
                Err(libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS) if ops != NativeOps::NONE => {
                    ops = ops.step_down(wanted);
                }
                Err(errno) => return Err(failed!(c"rdma_create_qp_ex", errno)),
            }
        }
    }

    /// A share of the buffer that flushes read into. The first connection makes the buffer; it
    /// goes with the last of the peer and its connections.
    pub(crate) fn flush_buffer(&self) -> Result<Shared<FlushBuffer>> {
        if let Some(own) = NonNull::new(self.flush_buffer.load(Ordering::Acquire)) {
            return Ok(share_of(own));
        }
        let made = Shared::new(FlushBuffer::new(self)?)?;
        let ours = made.share().into_raw();
        let order = Ordering::AcqRel;
        match self.flush_buffer.compare_exchange(null_mut(), ours, order, Ordering::Acquire) {
            Ok(_) => Ok(made),
            Err(theirs) => {
                // Another thread was faster.
                release(ours);
                Ok(NonNull::new(theirs).map_or(made, share_of))
            }
        }
    }

    /// What deleting the peer does.
    fn close(&self) -> Result {
        let mut teardown = Teardown::new();
        teardown.step(self.drop_flush_buffer());
        let pd = self.pd.load(Ordering::Acquire);
        // SAFETY: ours until the provider has taken it back.
        let dealloc = unsafe { Pd::from_raw(pd) }.map_or(Ok(()), Pd::dealloc);
        if dealloc.is_ok() {
            self.pd.store(null_mut(), Ordering::Release);
        }
        teardown.step(dealloc);
        teardown.finish()
    }

    fn drop_flush_buffer(&self) -> Result {
        match NonNull::new(self.flush_buffer.swap(null_mut(), Ordering::AcqRel)) {
            // SAFETY: the domain's own share, taken out of its place.
            Some(own) => flush::release(unsafe { Shared::from_raw(own) }),
            None => Ok(()),
        }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        release(self.flush_buffer.load(Ordering::Acquire));
    }
}

/// Ends a share of a domain. After its peer was deleted too early, the last one has to take the
/// flush buffer with it, and to tell when that fails.
pub(crate) fn leave(domain: Shared<Domain>) -> Result {
    domain.into_inner().map_or(Ok(()), |domain| domain.drop_flush_buffer())
}

/// A share of the flush buffer of which the domain has the share `own`.
fn share_of(own: NonNull<c_void>) -> Shared<FlushBuffer> {
    // SAFETY: the domain's share is alive: only `close` and `drop` end it, when no thread may use
    // the domain to connect.
    let own = ManuallyDrop::new(unsafe { Shared::<FlushBuffer>::from_raw(own) });
    own.share()
}

/// Ends the share of a flush buffer that `raw` stands for, if any.
fn release(raw: *mut c_void) {
    if let Some(raw) = NonNull::new(raw) {
        // SAFETY: only called with a share that nobody else ends.
        drop(unsafe { Shared::<FlushBuffer>::from_raw(raw) });
    }
}

/// Which native operations to ask a QP for, as known so far.
struct NativeChoice {
    requested: NativeOps,
    current: AtomicU8,
    warned: AtomicBool,
}

impl NativeChoice {
    const fn new(requested: NativeOps, wanted: NativeOps) -> Self {
        Self { requested, current: AtomicU8::new(wanted.to_bits()), warned: AtomicBool::new(false) }
    }

    fn get(&self) -> NativeOps {
        NativeOps::from_bits(self.current.load(Ordering::Relaxed))
    }

    /// Remembers what a QP was granted, and tells once what was requested and is not to be had.
    fn granted(&self, ops: NativeOps) {
        if self.requested == NativeOps::NONE {
            return;
        }
        self.current.store(ops.to_bits(), Ordering::Relaxed);
        if ops == self.requested || self.warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let (name, missing) = (c"rpma_conn_req_new", self.requested.without(ops));
        log!(Warning, name, c"% requested, but not granted: emulating", missing.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_of_native_operations_is_remembered() {
        for bits in 0..4 {
            let ops = NativeOps::from_bits(bits);
            assert_eq!(NativeChoice::new(ops, ops).get(), ops);
        }
    }

    #[test]
    fn a_refused_operation_is_not_asked_for_again() {
        let both = NativeOps::ALL;
        let choice = NativeChoice::new(both, both);
        let less = both.step_down(both);
        choice.granted(less);
        assert_eq!(choice.get(), less);
    }
}
