// SPDX-License-Identifier: BSD-3-Clause
//! Devices by address, what they can do, and the texts of codes and events.

use core::ffi::CStr;
use core::ptr::NonNull;

use libc::{c_char, c_int};
use rdma_sys::ibv_context;

use crate::conn::{rpma_conn_event, rpma_conn_event_raw};
use crate::conn_cfg::RPMA_DEFAULT_TIMEOUT_MS;
use crate::error::{
    Error, RPMA_E_AGAIN, RPMA_E_INVAL, RPMA_E_NO_COMPLETION, RPMA_E_NO_EVENT, RPMA_E_NOMEM,
    RPMA_E_NOSUPP, RPMA_E_NOT_SHARED_CHNL, RPMA_E_PROVIDER, RPMA_E_SHARED_CHANNEL, Result,
};
use crate::ffi::{self, Out};
use crate::log::Text;
use crate::provider::address::Place;
use crate::provider::verbs::DeviceCaps;

/// Which device rpma_utils_get_ibv_context() looks for.
#[allow(non_camel_case_types)]
#[repr(C)]
pub enum rpma_util_ibv_context_type {
    /// The device that has the address.
    RPMA_UTIL_IBV_CONTEXT_LOCAL,
    /// The device that leads to the address.
    RPMA_UTIL_IBV_CONTEXT_REMOTE,
}

/// `enum rpma_util_ibv_context_type` as C callers pass it: any int.
#[allow(non_camel_case_types)]
pub type rpma_util_ibv_context_type_raw = c_int;

/// Finds the RDMA device for an address.
///
/// A server looks for the device that has the address at which it will listen. A client looks for
/// the device that leads to the server's address. The device belongs to librdmacm, which keeps it
/// open until the process ends: do not close it.
///
/// # Parameters
///
/// - `addr`: a host name, or an IPv4 or IPv6 address. A link-local address needs its scope, as in
///   `fe80::1%eth0`. If a name has several addresses, the function tries one after the other, in
///   the resolver's order.
/// - `type`: which device to look for.
/// - `ibv_ctx_ptr`: receives the device. Pass it to rpma_peer_new().
///
/// # Errors
///
/// - RPMA_E_INVAL: `addr` or `ibv_ctx_ptr` is NULL, or `type` is unknown.
/// - RPMA_E_PROVIDER: rdma_getaddrinfo(), rdma_create_id(), rdma_bind_addr() or rdma_resolve_addr()
///   failed. If errno is EAGAIN, the resolver has failed for the moment: try again. If errno is
///   ENODEV, the address is local, but no RDMA device has it, as with 127.0.0.1 and 0.0.0.0; or a
///   file in /dev/infiniband is missing, and the log names it.
///
/// # Safety
///
/// `addr` must be NULL or point to a string that ends with NUL. `ibv_ctx_ptr` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_utils_get_ibv_context(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_utils_get_ibv_context(
    addr: *const c_char,
    r#type: rpma_util_ibv_context_type_raw,
    ibv_ctx_ptr: *mut *mut ibv_context,
) -> c_int {
    ffi::status_of(|| {
        let addr = ffi::required(addr)?;
        // SAFETY: the caller's promise 2 for `ibv_ctx_ptr`.
        let out = unsafe { Out::new(ibv_ctx_ptr) }?;
        // SAFETY: not NULL, so a C string by the caller's promise.
        let addr = unsafe { Text::from_ptr(addr) };
        find_device(addr, r#type).map(|device| out.set(device))
    })
}

/// Tells whether a device supports on-demand paging (ODP).
///
/// rpma_mr_reg() needs it to register a file on a DAX file system. It does not need it for a device
/// DAX or for ordinary memory.
///
/// # Parameters
///
/// - `ibv_ctx`: an open device.
/// - `is_odp_capable`: receives 1 if reads and writes over reliable connections can use on-demand
///   paging, otherwise 0.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
/// - RPMA_E_PROVIDER: ibv_query_device_ex() failed.
///
/// # Safety
///
/// `ibv_ctx` must be NULL or an open device. `is_odp_capable` must be NULL or point to writable
/// memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_utils_ibv_context_is_odp_capable(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_utils_ibv_context_is_odp_capable(
    ibv_ctx: *mut ibv_context,
    is_odp_capable: *mut c_int,
) -> c_int {
    ffi::status_of(|| {
        let context = NonNull::new(ibv_ctx).ok_or(Error::Inval)?;
        // SAFETY: the caller's promise 2 for `is_odp_capable`.
        let out = unsafe { Out::new(is_odp_capable) }?;
        // SAFETY: the caller's promise 1 for `ibv_ctx`.
        unsafe { DeviceCaps::query(context) }.map(|caps| out.set(c_int::from(caps.odp)))
    })
}

/// Gets the text of a connection event.
///
/// # Parameters
///
/// - `conn_event`: the event that rpma_conn_next_event() gave. For any other number, the text says
///   that the event is not supported.
///
/// # Errors
///
/// None.
///
/// # Safety
///
/// Always safe. The text is constant: do not change it or free it.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_utils_conn_event_2str(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_utils_conn_event_2str(
    conn_event: rpma_conn_event_raw,
) -> *const c_char {
    event_text(conn_event).as_ptr()
}

/// Gets the text of a return code.
///
/// # Parameters
///
/// - `ret`: the value that a function of this library returned: 0 or one of RPMA_E_*. For any other
///   number, the text says that the error is unknown.
///
/// # Errors
///
/// None.
///
/// # Safety
///
/// Always safe. The text is constant: do not change it or free it.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_err_2str(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_err_2str(ret: c_int) -> *const c_char {
    error_text(ret).as_ptr()
}

fn find_device(addr: Text, kind: c_int) -> Result<*mut ibv_context> {
    const LOCAL: c_int = rpma_util_ibv_context_type::RPMA_UTIL_IBV_CONTEXT_LOCAL as c_int;
    const REMOTE: c_int = rpma_util_ibv_context_type::RPMA_UTIL_IBV_CONTEXT_REMOTE as c_int;
    let passive = match kind {
        LOCAL => true,
        REMOTE => false,
        _ => return Err(Error::Inval.into()),
    };
    let (id, _info) = Place::of_device(addr, passive, RPMA_DEFAULT_TIMEOUT_MS).open()?;
    let context = id.verbs();
    id.retire(c"rpma_utils_get_ibv_context");
    Ok(context)
}

const fn event_text(event: c_int) -> &'static CStr {
    const UNDEFINED: c_int = rpma_conn_event::RPMA_CONN_UNDEFINED as c_int;
    const ESTABLISHED: c_int = rpma_conn_event::RPMA_CONN_ESTABLISHED as c_int;
    const CLOSED: c_int = rpma_conn_event::RPMA_CONN_CLOSED as c_int;
    const LOST: c_int = rpma_conn_event::RPMA_CONN_LOST as c_int;
    const REJECTED: c_int = rpma_conn_event::RPMA_CONN_REJECTED as c_int;
    const UNREACHABLE: c_int = rpma_conn_event::RPMA_CONN_UNREACHABLE as c_int;
    match event {
        UNDEFINED => c"Undefined connection event",
        ESTABLISHED => c"Connection established",
        CLOSED => c"Connection closed",
        LOST => c"Connection lost",
        REJECTED => c"Connection rejected",
        UNREACHABLE => c"Connection unreachable",
        _ => c"Unsupported connection event",
    }
}

const fn error_text(code: c_int) -> &'static CStr {
    match code {
        0 => c"Success",
        RPMA_E_NOSUPP => c"Not supported",
        RPMA_E_PROVIDER => c"Provider error occurred",
        RPMA_E_NOMEM => c"Out of memory",
        RPMA_E_INVAL => c"Invalid argument",
        RPMA_E_NO_COMPLETION => c"No next completion available",
        RPMA_E_NO_EVENT => c"No next event available",
        RPMA_E_AGAIN => c"Temporary error, try again",
        RPMA_E_SHARED_CHANNEL => c"Completion channel is shared",
        RPMA_E_NOT_SHARED_CHNL => c"Completion channel is not shared",
        _ => c"Unknown error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_code_and_event_has_a_text_of_its_own() {
        let codes: HashSet<_> = (RPMA_E_NOT_SHARED_CHNL..=0).map(error_text).collect();
        assert_eq!(codes.len(), 11);
        let events: HashSet<_> = (-5..10).map(event_text).collect();
        assert_eq!(events.len(), 7);
    }
}
