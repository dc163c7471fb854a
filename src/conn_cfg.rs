// SPDX-License-Identifier: BSD-3-Clause
//! How connections are made: queue sizes, timeout, completion channels, shared receive queue.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use libc::c_int;

use crate::error::Error;
use crate::ffi::{self, Out, Owned, c_bool};
use crate::srq::Srq;

/// The default timeout for resolving an address or a route, in milliseconds.
pub const RPMA_DEFAULT_TIMEOUT_MS: c_int = 1000;

/// A configuration of connections. Each field is read once, when a request is created.
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

/// Creates a configuration of connections.
///
/// It has the default values: a timeout of RPMA_DEFAULT_TIMEOUT_MS (1000 ms), a CQ of 10 entries,
/// no separate CQ for receives, a send queue and a receive queue of 10 entries each, no shared
/// completion channel, and no shared receive queue.
///
/// rpma_conn_req_new() and rpma_ep_next_conn_req() read the configuration. If you change it later,
/// requests and connections that exist stay as they are.
///
/// # Parameters
///
/// - `cfg_ptr`: receives the configuration. Delete it with rpma_conn_cfg_delete().
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
/// rpma_conn_cfg_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_new(cfg_ptr: *mut *mut ConnCfg) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 2 for `cfg_ptr`.
        let out = unsafe { Out::new(cfg_ptr) }?;
        out.give(Owned::new(ConnCfg::new()))
    })
}

/// Deletes a configuration of connections. Connections that were created with it stay.
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
/// rpma_conn_cfg_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_delete(cfg_ptr: *mut *mut ConnCfg) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(cfg_ptr, |_| Ok(())) }
}

/// Sets the timeout for resolving an address or a route.
///
/// rpma_conn_req_new() resolves an address and then a route; the timeout limits each of these
/// steps. It does not limit the time until the other side answers the request:
/// rpma_conn_next_event() gives the answer, or RPMA_CONN_UNREACHABLE.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `timeout_ms`: the timeout in milliseconds, 0 or more.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cfg` is NULL, or `timeout_ms` is below 0.
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
/// rpma_conn_cfg_set_timeout(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_timeout(cfg: *mut ConnCfg, timeout_ms: c_int) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        if timeout_ms < 0 {
            return Err(Error::Inval);
        }
        cfg.timeout.store(timeout_ms, Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the timeout for resolving an address or a route.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `timeout_ms`: receives the timeout in milliseconds.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `timeout_ms` must be NULL or
/// point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_timeout(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_timeout(
    cfg: *const ConnCfg,
    timeout_ms: *mut c_int,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(timeout_ms)?) };
        out.set(cfg.timeout.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's CQ.
///
/// A CQ must have room for the completions of all operations that you have posted and whose
/// completions you have not yet taken out with rpma_cq_get_wc(). Otherwise it overruns. If there is
/// no CQ for receives, receives count, too. An operation that fails gives a completion whatever its
/// flags are. The sum of the queue sizes is always enough.
///
/// What an overrun does depends on the device. It may break the connection. With soft-RoCE the
/// connection works on, and the completions for which there was no room are lost without an error.
/// Only an asynchronous event of the device, IBV_EVENT_CQ_ERR, tells you: see librpma(7).
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `cq_size`: the size in entries. The device may make the CQ larger. A size that the device does
///   not support, such as 0, makes rpma_conn_req_new() and rpma_ep_next_conn_req() fail with
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
/// rpma_conn_cfg_set_cq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_cq_size(cfg: *mut ConnCfg, cq_size: u32) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        cfg.cq_size.store(cq_size, Ordering::Relaxed);
        Ok(())
    })
}

/// Tells whether a connection's CQs share a completion channel.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `shared`: receives true or false.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `shared` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_compl_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_compl_channel(
    cfg: *const ConnCfg,
    shared: *mut c_bool,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(shared)?) };
        out.set(cfg.compl_channel.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets whether a connection's CQs share a completion channel.
///
/// With a shared channel, one thread can wait for the completions of all operations, receives
/// included. A shared channel is not possible together with a shared receive queue that has its own
/// CQ: then rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_INVAL.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `shared`: if true, both CQs share one channel, and rpma_conn_wait() waits for either; if
///   false, each CQ has its own channel, and rpma_cq_wait() waits for one.
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
/// rpma_conn_cfg_set_compl_channel(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_compl_channel(
    cfg: *mut ConnCfg,
    shared: c_bool,
) -> c_int {
    ffi::status_of_checked(|| {
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
/// - `cq_size`: receives the size in entries.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `cq_size` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_cq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_cq_size(
    cfg: *const ConnCfg,
    cq_size: *mut u32,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(cq_size)?) };
        out.set(cfg.cq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's CQ for receives.
///
/// If the size is 0, which is the default, there is no such CQ: receives complete in the
/// connection's one CQ. If the connection uses a shared receive queue that has its own CQ, this
/// size has no effect.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rcq_size`: the size in entries, or 0 for no CQ. A size that the device does not support makes
///   rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_PROVIDER.
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
/// rpma_conn_cfg_set_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_rcq_size(cfg: *mut ConnCfg, rcq_size: u32) -> c_int {
    ffi::status_of_checked(|| {
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
/// rpma_conn_cfg_get_rcq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_rcq_size(
    cfg: *const ConnCfg,
    rcq_size: *mut u32,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(rcq_size)?) };
        out.set(cfg.rcq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's send queue.
///
/// The queue holds all operations except receives: reads, writes, atomic writes, sends and flushes.
/// An operation frees its entry when you take its completion, or that of a later operation, out of
/// the CQ. If you use only RPMA_F_COMPLETION_ON_ERROR, no entry ever becomes free. So post at least
/// one operation with RPMA_F_COMPLETION_ALWAYS among as many operations as the queue has entries.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `sq_size`: the size in entries. A size that the device does not support makes
///   rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_PROVIDER.
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
/// rpma_conn_cfg_set_sq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_sq_size(cfg: *mut ConnCfg, sq_size: u32) -> c_int {
    ffi::status_of_checked(|| {
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
/// - `sq_size`: receives the size in entries.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `sq_size` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_sq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_sq_size(
    cfg: *const ConnCfg,
    sq_size: *mut u32,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(sq_size)?) };
        out.set(cfg.sq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the size of a connection's receive queue.
///
/// The queue holds the receives that you have posted and that have not completed. A connection that
/// uses a shared receive queue does not use its own.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `rq_size`: the size in entries. A size that the device does not support makes
///   rpma_conn_req_new() and rpma_ep_next_conn_req() fail with RPMA_E_PROVIDER.
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
/// rpma_conn_cfg_set_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_rq_size(cfg: *mut ConnCfg, rq_size: u32) -> c_int {
    ffi::status_of_checked(|| {
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
/// rpma_conn_cfg_get_rq_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_rq_size(
    cfg: *const ConnCfg,
    rq_size: *mut u32,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cfg, out) = unsafe { (ffi::borrow(cfg)?, Out::new(rq_size)?) };
        out.set(cfg.rq_size.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Makes connections receive from a shared receive queue.
///
/// You then post receives with rpma_srq_recv(). They complete in the CQ of the queue, see
/// rpma_srq_get_rcq(). If the queue has no CQ, they complete in the connection's CQ.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `srq`: the shared receive queue. Delete it only after the connections that use it.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `srq` must be NULL or a shared
/// receive queue that has not been deleted.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_set_srq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_set_srq(cfg: *mut ConnCfg, srq: *mut Srq) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ffi::borrow(cfg) }?;
        ffi::required(srq)?;
        cfg.srq.store(srq, Ordering::Release);
        Ok(())
    })
}

/// Gets the shared receive queue that connections will use.
///
/// # Parameters
///
/// - `cfg`: the configuration.
/// - `srq_ptr`: receives the shared receive queue, or NULL if there is none. It is the one that you
///   passed to rpma_conn_cfg_set_srq(), and it stays yours.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cfg` must be NULL or a configuration that has not been deleted. `srq_ptr` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_cfg_get_srq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_cfg_get_srq(
    cfg: *const ConnCfg,
    srq_ptr: *mut *mut Srq,
) -> c_int {
    ffi::status_of_checked(|| {
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
