// SPDX-License-Identifier: BSD-3-Clause
//! A peer: one device opened for use, with its protection domain.

use core::ptr::NonNull;

use libc::c_int;
use rdma_sys::ibv_context;

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::ffi::{self, Out, Owned, Shared};
use crate::log::{File, log};
use crate::provider::qp::Features;
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
