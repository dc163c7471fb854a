// SPDX-License-Identifier: BSD-3-Clause
//! How connections are made: queue sizes, timeout, completion channels, shared receive queue.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use libc::c_int;

use crate::error::Error;
use crate::ffi::{self, Out, Owned, c_bool};
use crate::srq::Srq;

/// The default time for resolving an address or a route, in milliseconds.
pub const RPMA_DEFAULT_TIMEOUT_MS: c_int = 1000;

/// A configuration of connections. Each field is read once, when a request is made.
pub struct ConnCfg {
    timeout: AtomicI32,
    cq_size: AtomicU32,
    rcq_size: AtomicU32,
    sq_size: AtomicU32,
    rq_size: AtomicU32,
    compl_channel: AtomicU8,
    /// Released and acquired: whoever finds the queue here finds it made.
    srq: AtomicPtr<Srq>,
}

/// Creates a configuration of connections with the default values.
///
/// The defaults: a timeout of RPMA_DEFAULT_TIMEOUT_MS (1000 ms), a CQ of 10 entries, no CQ of its
/// own for receives, a send queue and a receive queue of 10 entries each, completion channels not
/// shared, no shared receive queue.
///
/// rpma_conn_req_new() and rpma_ep_next_conn_req() read the configuration; changing it later
/// changes nothing for requests and connections that exist.
///
/// # Parameters
///
/// - `cfg_ptr`: where the configuration goes; delete it with rpma_conn_cfg_delete().
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
/// rpma_conn_cfg_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_new(cfg_ptr: *mut *mut ConnCfg) -> c_int {
    ffi::call(|| {
        // SAFETY: the caller's promise 2 for `cfg_ptr`.
        let out = unsafe { Out::new(cfg_ptr) }?;
        out.give(Owned::new(ConnCfg::new()))
    })
}

/// Deletes a configuration of connections. What was made with it stays as it is.
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
/// rpma_conn_cfg_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_delete(cfg_ptr: *mut *mut ConnCfg) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(cfg_ptr, |_| Ok(())) }
}

/// Sets how long resolving an address and resolving a route may take, each.
///
/// It applies to outgoing requests, in rpma_conn_req_new(). Waiting for the other side's answer is
/// not limited by it: that ends when rpma_conn_next_event() tells of the answer, or of
/// RPMA_CONN_UNREACHABLE.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `timeout_ms`: time in milliseconds, 0 or more.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg` is NULL, or `timeout_ms` is below 0.
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
/// rpma_conn_cfg_set_timeout(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_timeout(cfg: *mut ConnCfg, timeout_ms: c_int) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        if timeout_ms < 0 {
            return Err(Error::Inval);
        }
        cfg.timeout.store(timeout_ms, Ordering::Relaxed);
        Ok(())
    })
}

/// Gets how long resolving an address and resolving a route may take, each.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `timeout_ms`: where the time in milliseconds goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `timeout_ms` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_timeout(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_timeout(
    cfg: *const ConnCfg,
    timeout_ms: *mut c_int,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(timeout_ms)?) };
        out.set(cfg.timeout.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's CQ.
///
/// A CQ has to hold the completions of everything that is posted and not yet taken out with
/// rpma_cq_get_wc(): it overruns otherwise. Without a CQ for receives, that includes the receives.
/// An operation that fails completes whatever its flags, so the sum of the queue sizes is always
/// enough.
///
/// What an overrun does depends on the device. It may break the connection. With soft-RoCE the
/// connection works on, and the completions that found no room are lost without an error. Only an
/// asynchronous event of the device, IBV_EVENT_CQ_ERR, tells of it: see librpma(7).
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `cq_size`: the size, in entries; the device makes it at least that large. One that the device
///   cannot make, 0 for one, fails when the CQ is made, with RPMA_E_PROVIDER.
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
/// rpma_conn_cfg_set_cq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_cq_size(cfg: *mut ConnCfg, cq_size: u32) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.cq_size.store(cq_size, Ordering::Relaxed);
        Ok(())
    })
}

/// Tells whether a connection's CQs share one completion channel.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `shared`: where the answer goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `shared` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_compl_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_compl_channel(
    cfg: *const ConnCfg,
    shared: *mut c_bool,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(shared)?) };
        out.set(cfg.compl_channel.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets whether a connection's CQs share one completion channel.
///
/// With a shared channel one thread can wait for sends and receives together. It cannot be had
/// together with a shared receive queue that has a CQ of its own: making the request fails with
/// RPMA_E_INVAL then.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `shared`: true: both CQs share a channel, and rpma_conn_wait() waits for either; false: each
///   has its own, and rpma_cq_wait() waits for one.
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
/// rpma_conn_cfg_set_compl_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_compl_channel(
    cfg: *mut ConnCfg,
    shared: c_bool,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.compl_channel.store(c_bool::from(shared != 0), Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the size of a connection's CQ.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `cq_size`: where the size in entries goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `cq_size` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_cq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_cq_size(
    cfg: *const ConnCfg,
    cq_size: *mut u32,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(cq_size)?) };
        out.set(cfg.cq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's CQ for receives.
///
/// With 0, the default, receives complete on the connection's one CQ. A shared receive queue with a
/// CQ of its own makes this setting void.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rcq_size`: the size, in entries, or 0 for none. One that the device cannot make fails when
///   the CQ is made, with RPMA_E_PROVIDER.
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
/// rpma_conn_cfg_set_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_rcq_size(cfg: *mut ConnCfg, rcq_size: u32) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.rcq_size.store(rcq_size, Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the size of a connection's CQ for receives.
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
/// rpma_conn_cfg_get_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_rcq_size(
    cfg: *const ConnCfg,
    rcq_size: *mut u32,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(rcq_size)?) };
        out.set(cfg.rcq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's send queue.
///
/// It holds all that is posted but receives: reads, writes, atomic writes, sends, flushes. A place
/// is free again when the completion of that operation, or of one posted after it, was taken out of
/// the CQ. So with RPMA_F_COMPLETION_ON_ERROR alone the queue fills up for good: let at least one
/// operation in every queue's length give a completion.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `sq_size`: the size, in entries. One that the device cannot make fails when the queue is made,
///   with RPMA_E_PROVIDER.
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
/// rpma_conn_cfg_set_sq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_sq_size(cfg: *mut ConnCfg, sq_size: u32) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.sq_size.store(sq_size, Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the size of a connection's send queue.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `sq_size`: where the size in entries goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `sq_size` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_sq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_sq_size(
    cfg: *const ConnCfg,
    sq_size: *mut u32,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(sq_size)?) };
        out.set(cfg.sq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's receive queue.
///
/// It holds the receives that are posted and have not completed. A connection with a shared receive
/// queue does not use it.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rq_size`: the size, in entries. One that the device cannot make fails when the queue is made,
///   with RPMA_E_PROVIDER.
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
/// rpma_conn_cfg_set_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_rq_size(cfg: *mut ConnCfg, rq_size: u32) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.rq_size.store(rq_size, Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the size of a connection's receive queue.
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
/// rpma_conn_cfg_get_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_rq_size(
    cfg: *const ConnCfg,
    rq_size: *mut u32,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(rq_size)?) };
        out.set(cfg.rq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Makes connections receive from a shared receive queue.
///
/// Receives are then posted with rpma_srq_recv() and complete on the CQ of the queue,
/// rpma_srq_get_rcq(), or on the connection's where the queue has none.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `srq`: the shared receive queue; borrowed, it has to live as long as the connections.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `srq` is NULL or a shared receive queue.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_set_srq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_srq(cfg: *mut ConnCfg, srq: *mut Srq) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        ffi::required(srq)?;
        cfg.srq.store(srq, Ordering::Release);
        Ok(())
    })
}

/// Gets the shared receive queue that connections receive from.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `srq_ptr`: where the shared receive queue goes; NULL if there is none. It stays its creator's.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` is NULL or a configuration; `srq_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_srq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_srq(
    cfg: *const ConnCfg,
    srq_ptr: *mut *mut Srq,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(srq_ptr)?) };
        out.set(cfg.srq.load(Ordering::Acquire));
        Ok(())
    })
}

impl ConnCfg {
    const fn new() -> Self {
        Self {
            timeout: AtomicI32::new(RPMA_DEFAULT_TIMEOUT_MS),
            cq_size: AtomicU32::new(10),
            rcq_size: AtomicU32::new(0),
            sq_size: AtomicU32::new(10),
            rq_size: AtomicU32::new(10),
            compl_channel: AtomicU8::new(0),
            srq: AtomicPtr::new(null_mut()),
        }
    }

    /// The caller's configuration, or the default one for NULL.
    ///
    /// # Safety
    ///
    /// `cfg` is NULL or a live configuration (promise 1).
    pub(crate) unsafe fn or_default<'a>(cfg: *const Self) -> &'a Self {
        static DEFAULT: ConnCfg = ConnCfg::new();
        // SAFETY: passed on to the caller.
        unsafe { cfg.as_ref() }.unwrap_or(&DEFAULT)
    }

    /// The values of this moment.
    ///
    /// # Safety
    ///
    /// The shared receive queue, if there is one, is alive (promise 1).
    pub(crate) unsafe fn settings(&self) -> Settings<'_> {
        Settings {
            timeout_ms: self.timeout.load(Ordering::Relaxed),
            cq_size: self.cq_size.load(Ordering::Relaxed),
            rcq_size: self.rcq_size.load(Ordering::Relaxed),
            sq_size: self.sq_size.load(Ordering::Relaxed),
            rq_size: self.rq_size.load(Ordering::Relaxed),
            shared_channel: self.compl_channel.load(Ordering::Relaxed) != 0,
            // SAFETY: passed on to the caller. Acquire: another thread may have made it.
            srq: unsafe { self.srq.load(Ordering::Acquire).as_ref() },
        }
    }
}

/// The values of a configuration, read once for a request.
pub(crate) struct Settings<'a> {
    pub(crate) timeout_ms: c_int,
    pub(crate) cq_size: u32,
    pub(crate) rcq_size: u32,
    pub(crate) sq_size: u32,
    pub(crate) rq_size: u32,
    pub(crate) shared_channel: bool,
    pub(crate) srq: Option<&'a Srq>,
}
