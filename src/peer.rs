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
use crate::provider::qp::{Features, Qp, QpAttributes};
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
    for operation in [Features::ATOMIC_WRITE, Features::FLUSH] {
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
    /// What QPs are asked for.
    choice: Choice,
    /// The domain's own share of its flush buffer, or NULL; see [`Domain::flush_buffer`].
    flush_buffer: AtomicPtr<c_void>,
}

impl Domain {
    fn new(pd: &Pd, caps: DeviceCaps) -> Self {
        let requested = flush::requested_native_ops();
        Self {
            pd: AtomicPtr::new(pd.as_ptr()),
            caps,
            choice: Choice::new(requested, requested.in_both(caps.native)),
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

    /// Makes the QP of `id`, with as many of the wanted features as driver and device grant.
    pub(crate) fn create_qp(&self, id: &CmId, attributes: &QpAttributes) -> Result<Qp> {
        let wanted = self.choice.get();
        let mut features = wanted;
        let errno_before = errno::get();
        // Where nothing helps, the cause is what was said before inline data were given up.
        let mut cause = 0;
        loop {
            let errno = match Qp::create(id, attributes, features) {
                Ok(qp) => {
                    errno::set(errno_before);
                    self.choice.granted(features);
                    return Ok(qp);
                }
                Err(errno) => errno,
            };
            if features.has(Features::INLINE) == wanted.has(Features::INLINE) {
                cause = errno;
            }
            features = match (errno, features.step_down(wanted)) {
                (libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS, Some(less)) => less,
                _ => return Err(attributes.refused(wanted, cause)),
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

/// What to ask a QP for, as known so far: inline data, and the native operations that the user
/// requested and the device has, less and less as its driver refuses.
struct Choice {
    requested: Features,
    current: AtomicU8,
    warned: AtomicBool,
}

impl Choice {
    const fn new(requested: Features, native: Features) -> Self {
        let current = AtomicU8::new(native.and(Features::INLINE).to_bits());
        Self { requested, current, warned: AtomicBool::new(false) }
    }

    fn get(&self) -> Features {
        Features::from_bits(self.current.load(Ordering::Relaxed))
    }

    /// Remembers what a QP was granted, and tells once what was requested and is not to be had.
    fn granted(&self, features: Features) {
        self.current.store(features.to_bits(), Ordering::Relaxed);
        let missing = self.requested.without(features);
        if missing == Features::NONE || self.warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let name = c"rpma_conn_req_new";
        log!(Warning, name, c"% requested, but not granted: emulating", missing.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_data_and_the_native_operations_of_the_device_are_asked_for() {
        for bits in 0..4 {
            let native = Features::from_bits(bits);
            assert_eq!(Choice::new(native, native).get(), native.and(Features::INLINE));
        }
    }

    #[test]
    fn what_was_refused_is_not_asked_for_again() {
        let both = Features::NATIVE;
        let choice = Choice::new(both, both);
        while let Some(less) = choice.get().step_down(both.and(Features::INLINE)) {
            choice.granted(less);
            assert_eq!(choice.get(), less);
        }
        assert_eq!(choice.get(), Features::NONE);
    }
}
