// SPDX-License-Identifier: BSD-3-Clause
//! How shared receive queues are made.

use core::sync::atomic::{AtomicU32, Ordering};

use libc::c_int;

use crate::ffi::{self, Out, Owned};

/// A configuration of shared receive queues. Each field is read once, when a queue is made.
pub struct SrqCfg {
    rq_size: AtomicU32,
    rcq_size: AtomicU32,
}

/// Creates a configuration of shared receive queues with the default values.
///
/// The defaults: a receive queue of 20 entries and a CQ of its own of 20 entries. rpma_srq_new()
/// reads the configuration; changing it later changes nothing for queues that exist.
///
/// # Parameters
///
/// - `cfg_ptr`: where the configuration goes; delete it with rpma_srq_cfg_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg_ptr` is NULL.
/// - RPMA_E_NOMEM: out of memory.
///
/// # Safety
///
/// `cfg_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_new(cfg_ptr: *mut *mut SrqCfg) -> c_int {
    ffi::call(|| {
        // SAFETY: the caller's promise 2 for `cfg_ptr`.
        let out = unsafe { Out::new(cfg_ptr) }?;
        out.give(Owned::new(SrqCfg::new()))
    })
}

/// Deletes a configuration of shared receive queues. What was made with it stays as it is.
///
/// # Parameters
///
/// - `cfg_ptr`: the handle, NULL afterwards; nothing happens if it is NULL already.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg_ptr` is NULL.
///
/// # Safety
///
/// `cfg_ptr` is NULL or points to a handle that is NULL or owns a configuration.
///
/// # Thread safety
///
/// Nothing else may use the configuration any more.
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
/// - `rq_size`: the size, in entries. One that the device cannot make fails in rpma_srq_new(), with
///   RPMA_E_PROVIDER.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg` is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_set_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_set_rq_size(cfg: *mut SrqCfg, rq_size: u32) -> c_int {
    ffi::access(|| {
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
/// - `rq_size`: where the size in entries goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `rq_size` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_get_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_get_rq_size(cfg: *const SrqCfg, rq_size: *mut u32) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(rq_size)?) };
        out.set(cfg.rq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of the CQ that belongs to the shared receive queue.
///
/// With 0, receives complete on the CQs of the connections that they arrived on.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rcq_size`: the size, in entries; 0 for no CQ of its own. One that the device cannot make
///   fails in rpma_srq_new(), with RPMA_E_PROVIDER.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg` is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_set_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_set_rcq_size(cfg: *mut SrqCfg, rcq_size: u32) -> c_int {
    ffi::access(|| {
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
/// - `rcq_size`: where the size in entries goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `rcq_size` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_srq_cfg_get_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_srq_cfg_get_rcq_size(
    cfg: *const SrqCfg,
    rcq_size: *mut u32,
) -> c_int {
    ffi::access(|| {
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
