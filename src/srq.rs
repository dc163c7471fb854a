// SPDX-License-Identifier: BSD-3-Clause
//! Shared receive queues.

use core::ptr::null_mut;

use libc::{c_int, c_void};
use rdma_sys::ibv_srq;

use crate::cq::Cq;
use crate::domain::Domain;
use crate::error::{Result, Teardown};
use crate::ffi::{self, Out, Owned};
use crate::mr::{MrLocal, no_data};
use crate::peer::Peer;
use crate::provider::qp::{post_srq_recv, post_srq_recv_without_data};
use crate::provider::verbs;
use crate::srq_cfg::SrqCfg;

/// A receive queue that several connections share.
pub struct Srq {
    /// Before the queue whose completions it takes.
    rcq: Option<Cq>,
    srq: verbs::Srq,
}

/// Creates a shared receive queue.
///
/// Connections use it when their configuration names it: rpma_conn_cfg_set_srq(). Many connections
/// can then live on few receives, which are posted with rpma_srq_recv().
///
/// # Parameters
///
/// - `peer`: the peer.
/// - `cfg`: the configuration, or NULL for the default one.
/// - `srq_ptr`: where the shared receive queue goes; delete it with rpma_srq_delete(), after the
///   connections that use it.
///
/// # Errors
///
/// - RPMA_E_INVAL: `peer` or `srq_ptr` is NULL.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: the device failed to make the queue, its completion channel or its CQ.
///
/// # Safety
///
/// `peer` is NULL or a peer; `cfg` is NULL or a configuration; `srq_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
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
    ffi::call(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (peer, out) = unsafe { (ffi::borrow(peer)?, Out::new(srq_ptr)?) };
        // SAFETY: the caller's promise 1 for `cfg`.
        let (rq_size, rcq_size) = unsafe { SrqCfg::sizes(cfg) };
        out.give(Srq::new(peer.domain(), rq_size, rcq_size))
    })
}

/// Deletes a shared receive queue.
///
/// Delete the connections that use it first: otherwise the device refuses, and the queue is lost;
/// the connections keep working.
///
/// # Parameters
///
/// - `srq_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
///   already.
///
/// # Errors
///
/// - RPMA_E_INVAL: `srq_ptr` is NULL.
/// - RPMA_E_PROVIDER: the device failed to destroy something; all else is destroyed. With errno
///   EBUSY, connections still use the queue.
///
/// # Safety
///
/// `srq_ptr` is NULL or points to a handle that is NULL or owns a shared receive queue.
///
/// # Thread safety
///
/// Nothing else may use the queue or its CQ any more.
///
/// # Manual page
///
/// rpma_srq_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_delete(srq_ptr: *mut *mut Srq) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(srq_ptr, |srq| srq.into_inner().destroy()) }
}

/// Posts a receive to a shared receive queue.
///
/// The next message that arrives on any of the connections goes there; qp_num of the completion
/// tells on which, see rpma_conn_get_qp_num().
///
/// # Parameters
///
/// - `srq`: the shared receive queue.
/// - `dst`, `offset`, `len`: where the message goes: part of a region for RPMA_MR_USAGE_RECV, in
///   bytes, up to 4 GiB - 1; NULL, 0 and 0 to take a message without data.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out.
///
/// # Errors
///
/// - RPMA_E_INVAL: `srq` is NULL, `dst` is NULL while `offset` or `len` is not 0, `len` exceeds 32
///   bits, or address, offset and length together exceed 64 bits.
/// - RPMA_E_PROVIDER: posting failed; with errno ENOMEM, the queue is full.
///
/// # Safety
///
/// `srq` and `dst` are NULL or live objects; the memory stays registered and untouched until the
/// receive completes.
///
/// # Thread safety
///
/// May be called from several threads at once.
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
    ffi::call(|| {
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
/// - `rcq_ptr`: where the CQ goes; NULL if there is none. It is the queue's, and goes with it.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `srq` is NULL or a shared receive queue; `rcq_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_srq_get_rcq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_get_rcq(srq: *const Srq, rcq_ptr: *mut *mut Cq) -> c_int {
    ffi::access(|| {
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
        Owned::new(Self { rcq, srq })
    }

    pub(crate) fn rcq(&self) -> Option<&Cq> {
        self.rcq.as_ref()
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut ibv_srq {
        self.srq.as_ptr()
    }

    fn destroy(self) -> Result {
        let mut teardown = Teardown::new();
        if let Some(rcq) = self.rcq {
            teardown.step(rcq.destroy());
        }
        teardown.step(self.srq.destroy());
        teardown.finish()
    }
}
