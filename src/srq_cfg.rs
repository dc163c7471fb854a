// SPDX-License-Identifier: BSD-3-Clause
//! How shared receive queues are made.

use core::sync::atomic::{AtomicU32, Ordering};

use libc::c_int;

use crate::ffi::{self, Out, Owned};

/// A configuration of shared receive queues. Each field is read once, when a queue is created.
pub struct SrqCfg {
    rq_size: AtomicU32,
    rcq_size: AtomicU32,
}

/// Creates a configuration of shared receive queues.
///
/// It has the default values: a shared receive queue of 20 entries, and a CQ for it of 20 entries.
///
/// rpma_srq_new() reads the configuration. If you change it later, queues that exist stay as they
/// are.
///
/// # Parameters
///
/// - `cfg_ptr`: receives the configuration. Delete it with rpma_srq_cfg_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg_ptr` is NULL.
/// - RPMA_E_NOMEM: out of memory.
///
/// # Safety
///
/// `cfg_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_new(cfg_ptr: *mut *mut SrqCfg) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 2 for `cfg_ptr`.
        let out = unsafe { Out::new(cfg_ptr) }?;
        out.give(Owned::new(SrqCfg::new()))
    })
}

/// Deletes a configuration of shared receive queues. Queues that were created with it stay.
///
/// # Parameters
///
/// - `cfg_ptr`: the address of the handle. The function sets the handle to NULL. If the handle is
///   NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg_ptr` is NULL.
///
/// # Safety
///
/// `cfg_ptr` must be NULL or point to a handle. The handle must be NULL, or own a configuration
/// that has not been deleted.
///
/// # Thread safety
///
/// No thread may use the configuration during this call or afterwards.
///
/// # Manual page
///
/// rpma_srq_cfg_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_delete(cfg_ptr: *mut *mut SrqCfg) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(cfg_ptr, |_| Ok(())) }
}

/// Sets the size of the shared receive queue.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rq_size`: the size in entries. If the device does not support it, rpma_srq_new() fails with
///   RPMA_E_PROVIDER.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg` is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_set_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_set_rq_size(cfg: *mut SrqCfg, rq_size: u32) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.rq_size.store(rq_size, Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the size of the shared receive queue.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rq_size`: receives the size in entries.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `rq_size` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_get_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_get_rq_size(cfg: *const SrqCfg, rq_size: *mut u32) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(rq_size)?) };
        out.set(cfg.rq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of the CQ that belongs to the shared receive queue.
///
/// If the size is 0, there is no such CQ. Then a receive completes in the CQ of the connection that
/// its message arrived on.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rcq_size`: the size in entries, or 0 for no CQ. If the device does not support it,
///   rpma_srq_new() fails with RPMA_E_PROVIDER.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg` is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_set_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_set_rcq_size(cfg: *mut SrqCfg, rcq_size: u32) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.rcq_size.store(rcq_size, Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the size of the CQ that belongs to the shared receive queue.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rcq_size`: receives the size in entries.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `rcq_size` must be NULL or
/// point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_get_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_get_rcq_size(
    cfg: *const SrqCfg,
    rcq_size: *mut u32,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(rcq_size)?) };
        out.set(cfg.rcq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

impl SrqCfg {
    const fn new() -> Self {
        Self { rq_size: AtomicU32::new(20), rcq_size: AtomicU32::new(20) }
    }

    /// The sizes of the shared receive queue and of its CQ; the default ones for NULL.
    ///
    /// # Safety
    ///
    /// `cfg` is NULL or a live configuration (promise 1).
    pub(crate) unsafe fn sizes(cfg: *const Self) -> (u32, u32) {
        static DEFAULT: SrqCfg = SrqCfg::new();
        // SAFETY: passed on to the caller.
        let cfg = unsafe { cfg.as_ref() }.unwrap_or(&DEFAULT);
        (cfg.rq_size.load(Ordering::Relaxed), cfg.rcq_size.load(Ordering::Relaxed))
    }
}
