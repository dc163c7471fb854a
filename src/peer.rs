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

/// A peer: an RDMA device together with a protection domain (PD). Everything that is created with
/// the peer belongs to this PD.
pub struct Peer {
    domain: Shared<Domain>,
}

/// Creates a peer on a device.
///
/// A peer is an RDMA device together with a protection domain (PD). The regions, shared receive
/// queues and connections that you create with the peer belong to this PD, and can be used
/// together. One peer for each device is enough.
///
/// # Parameters
///
/// - `ibv_ctx`: an open device, usually from rpma_utils_get_ibv_context(). It must stay open as
///   long as the peer exists.
/// - `peer_ptr`: receives the peer. Delete it with rpma_peer_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: ibv_query_device_ex() or ibv_alloc_pd() failed.
/// - RPMA_E_UNKNOWN: ibv_alloc_pd() failed and did not set errno.
///
/// # Safety
///
/// `ibv_ctx` must be NULL or an open device. `peer_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time. Any number of threads may use a peer at the same
/// time.
///
/// # Manual page
///
/// rpma_peer_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_new(
    ibv_ctx: *mut ibv_context,
    peer_ptr: *mut *mut Peer,
) -> c_int {
    ffi::status_of(|| {
        let context = NonNull::new(ibv_ctx).ok_or(Error::Inval)?;
        // SAFETY: the caller's promise 2 for `peer_ptr`.
        let out = unsafe { Out::new(peer_ptr) }?;
        // SAFETY: the caller's promise 1 for `ibv_ctx`.
        out.give(unsafe { Peer::new(context) })
    })
}

/// Deletes a peer.
///
/// First shut down its endpoints, and delete everything else that you have created with it:
/// connections, requests, regions and shared receive queues. If one of these is left, the device
/// refuses to deallocate the protection domain, which then leaks. What is left keeps working.
///
/// # Parameters
///
/// - `peer_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
///   If the handle is NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `peer_ptr` is NULL.
/// - RPMA_E_PROVIDER: ibv_dereg_mr() or ibv_dealloc_pd() failed. If errno is EBUSY, something that
///   was created with the peer is left.
///
/// # Safety
///
/// `peer_ptr` must be NULL or point to a handle. The handle must be NULL, or own a peer that has
/// not been deleted.
///
/// # Thread safety
///
/// No thread may create anything with the peer during this call or afterwards. During this call, no
/// thread may connect a request that was created with the peer.
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
