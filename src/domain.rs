// SPDX-License-Identifier: BSD-3-Clause
//! What a peer shares with everything that is created with it: the PD, the abilities of the device,
//! the features that are requested for a QP, and the flush buffer.

use core::mem::ManuallyDrop;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

use libc::c_void;
use rdma_sys::ibv_pd;

use crate::error::{Checked, Error, Result};
use crate::ffi::Shared;
use crate::flush_buffer::FlushBuffer;
use crate::native::{self, NativeChoice};
use crate::provider::cm::CmId;
use crate::provider::qp::{Qp, QpAttributes};
use crate::provider::verbs::{DeviceCaps, Pd};
use crate::teardown::End;

/// What a peer and everything created with it share. It outlives the peer's handle, so that
/// requests and connections keep working when the peer is deleted too early.
pub(crate) struct Domain {
    /// NULL once it was deallocated.
    pd: AtomicPtr<ibv_pd>,
    caps: DeviceCaps,
    /// What QPs are asked for.
    choice: NativeChoice,
    /// The domain's own share of its flush buffer, or NULL; see [`Domain::flush_buffer`].
    flush_buffer: AtomicPtr<c_void>,
}

impl Domain {
    pub(crate) fn new(pd: &Pd, caps: DeviceCaps) -> Self {
        Self {
            pd: AtomicPtr::new(pd.as_ptr()),
            caps,
            choice: NativeChoice::new(native::requested(), caps.native),
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

    /// Makes the QP of `id`, with as much of what is asked for as device and driver grant.
    pub(crate) fn create_qp(&self, id: &CmId, attributes: &QpAttributes) -> Result<Qp> {
        self.choice.create_qp(id, attributes)
    }

    /// A share of the buffer that flushes read into. The first connection makes the buffer; it
    /// goes with the last of the peer and its connections.
    pub(crate) fn flush_buffer(&self) -> Result<Shared<FlushBuffer>> {
        if let Some(own) = NonNull::new(self.flush_buffer.load(Ordering::Acquire)) {
            return Ok(share_of(own));
        }
        // SAFETY: alive as long as the domain has it.
        let made = Shared::new(unsafe { FlushBuffer::new(self.pd()?) }?)?;
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
    pub(crate) fn close(&self) -> Result {
        let buffer = self.drop_flush_buffer();
        let raw = self.pd.load(Ordering::Acquire);
        // SAFETY: ours until the provider has taken it back.
        let pd = unsafe { Pd::from_raw(raw) }.end();
        if pd.is_ok() {
            self.pd.store(null_mut(), Ordering::Release);
        }
        buffer.and(pd)
    }

    fn drop_flush_buffer(&self) -> Result {
        match NonNull::new(self.flush_buffer.swap(null_mut(), Ordering::AcqRel)) {
            // SAFETY: the domain's own share, taken out of its place.
            Some(own) => unsafe { Shared::<FlushBuffer>::from_raw(own) }.end(),
            None => Ok(()),
        }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        release(self.flush_buffer.load(Ordering::Acquire));
    }
}

impl End for Shared<Domain> {
    /// Ends a share of a domain. If the peer was deleted too early, the last share destroys the
    /// flush buffer, and reports a failure.
    fn end(self) -> Result {
        self.into_inner().map_or(Ok(()), |domain| domain.drop_flush_buffer())
    }
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
