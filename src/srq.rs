// SPDX-License-Identifier: BSD-3-Clause
//! Shared receive queues.

use core::ptr::null_mut;

use libc::{c_int, c_void};
use rdma_sys::ibv_srq;

use crate::cq::Cq;
use crate::domain::Domain;
use crate::error::Result;
use crate::ffi::{self, Out, Owned};
use crate::mr::{MrLocal, no_data};
use crate::peer::Peer;
use crate::provider::qp::{post_srq_recv, post_srq_recv_without_data};
use crate::provider::verbs;
use crate::srq_cfg::SrqCfg;
use crate::teardown::{End, end_in_order};

/// A receive queue that several connections share.
pub struct Srq {
    objects: Objects,
}

end_in_order! {
    struct Objects {
        rcq: Option<Cq>,
        srq: verbs::Srq,
    }
}

/// Creates a shared receive queue (SRQ).
///
/// A connection uses it if the connection's configuration names it, see rpma_conn_cfg_set_srq().
/// You post receives to it with rpma_srq_recv(). So many connections can share a few receives.
///
/// # Parameters
///
/// - `peer`: the peer.
/// - `cfg`: the configuration, or NULL for the default configuration.
/// - `srq_ptr`: receives the shared receive queue. Delete it with rpma_srq_delete(), after the
///   connections that use it.
///
/// # Errors
///
/// - RPMA_E_INVAL: `peer` or `srq_ptr` is NULL.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: ibv_create_srq(), ibv_create_comp_channel(), ibv_create_cq() or
///   ibv_req_notify_cq() failed.
///
/// # Safety
///
/// `peer` must be NULL or a peer that has not been deleted. `cfg` must be NULL or a configuration
/// that has not been deleted. `srq_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_srq_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_new(
    peer: *mut Peer,
    cfg: *mut SrqCfg,
    srq_ptr: *mut *mut Srq,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (peer, out) = unsafe { (ffi::borrow(peer)?, Out::new(srq_ptr)?) };
        // SAFETY: the caller's promise 1 for `cfg`.
        let (rq_size, rcq_size) = unsafe { SrqCfg::sizes(cfg) };
        out.give(Srq::new(peer.domain(), rq_size, rcq_size))
    })
}

/// Deletes a shared receive queue.
///
/// Delete the connections that use it first. If you do not, the device refuses to destroy the
/// queue, which then leaks. The connections keep working.
///
/// # Parameters
///
/// - `srq_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
///   If the handle is NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `srq_ptr` is NULL.
/// - RPMA_E_PROVIDER: ibv_destroy_cq(), ibv_destroy_comp_channel() or ibv_destroy_srq() failed. The
///   function destroys everything else. If errno is EBUSY, connections still use the queue.
///
/// # Safety
///
/// `srq_ptr` must be NULL or point to a handle. The handle must be NULL, or own a shared receive
/// queue that has not been deleted.
///
/// # Thread safety
///
/// No thread may use the queue or its CQ during this call or afterwards.
///
/// # Manual page
///
/// rpma_srq_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_delete(srq_ptr: *mut *mut Srq) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(srq_ptr, |srq| srq.into_inner().objects.end()) }
}

/// Posts a receive to a shared receive queue.
///
/// A message that arrives on any of the queue's connections takes the next receive. qp_num of the
/// completion tells you which connection it was, see rpma_conn_get_qp_num().
///
/// # Parameters
///
/// - `srq`: the shared receive queue.
/// - `dst`, `offset`, `len`: the memory for the message, up to 4 GiB - 1 bytes: a region that was
///   registered with RPMA_MR_USAGE_RECV, an offset into it and a length, both in bytes. For a
///   message without data, pass NULL, 0 and 0.
/// - `op_context`: any pointer. rpma_cq_get_wc() gives it back as wr_id of the completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `srq` is NULL; `dst` is NULL, but `offset` or `len` is not 0; `len` exceeds 32
///   bits; or the sum of the region's address, `offset` and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_srq_recv() failed. If errno is ENOMEM, the queue is full.
///
/// # Safety
///
/// `srq` must be NULL or a shared receive queue that has not been deleted. `dst` must be NULL or a
/// region that has not been deregistered. The region must stay registered until the receive
/// completes, and until then nothing else may read or write the memory.
///
/// # Thread safety
///
/// Several threads may call this function for the same queue at the same time.
///
/// # Manual page
///
/// rpma_srq_recv(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_recv(
    srq: *mut Srq,
    dst: *mut MrLocal,
    offset: usize,
    len: usize,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (srq, dst) = unsafe { (ffi::borrow(srq)?, dst.as_ref()) };
        match dst {
            Some(dst) => {
                let addr = dst.at(offset, len)?;
                // SAFETY: the queue is alive.
                unsafe { post_srq_recv(srq.as_ptr(), op_context, dst.sge(addr, len)) }
            }
            None => {
                no_data(offset, len)?;
                // SAFETY: as above.
                unsafe { post_srq_recv_without_data(srq.as_ptr(), op_context) }
            }
        }
    })
}

/// Gets the CQ that belongs to a shared receive queue.
///
/// # Parameters
///
/// - `srq`: the shared receive queue.
/// - `rcq_ptr`: receives the CQ, or NULL if there is none. The CQ belongs to the queue, and is
///   deleted together with it.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `srq` must be NULL or a shared receive queue that has not been deleted. `rcq_ptr` must be NULL
/// or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_srq_get_rcq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_get_rcq(srq: *const Srq, rcq_ptr: *mut *mut Cq) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (srq, out) = unsafe { (ffi::borrow(srq)?, Out::new(rcq_ptr)?) };
        out.set(srq.rcq().map_or(null_mut(), |rcq| core::ptr::from_ref(rcq).cast_mut()));
        Ok(())
    })
}

impl Srq {
    fn new(domain: &Domain, rq_size: u32, rcq_size: u32) -> Result<Owned<Self>> {
        let pd = domain.pd()?;
        // SAFETY: the PD is alive.
        let srq = unsafe { verbs::Srq::create(pd, rq_size) }?;
        let rcq = match rcq_size {
            0 => None,
            // SAFETY: a live PD knows its device.
            _ => Some(unsafe { Cq::create((*pd).context, rcq_size, None) }?),
        };
        Owned::new(Self { objects: Objects { rcq, srq } })
    }

    pub(crate) fn rcq(&self) -> Option<&Cq> {
        self.objects.rcq.as_ref()
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut ibv_srq {
        self.objects.srq.as_ptr()
    }
}
