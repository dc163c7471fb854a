// SPDX-License-Identifier: BSD-3-Clause
//! Endpoints: listening for connection requests.

use libc::{c_char, c_int};
use rdma_sys::rdma_cm_event_type;

use crate::conn_cfg::ConnCfg;
use crate::conn_req::ConnReq;
use crate::domain::{self, Domain};
use crate::error::{Checked, Error, Result, Teardown};
use crate::ffi::{self, Out, Owned, Shared};
use crate::log::{File, Text, log};
use crate::peer::Peer;
use crate::provider::address::Place;
use crate::provider::cm::{CmId, EventChannel};

const FILE: File = File::Ep;

/// An endpoint that listens for connection requests.
pub struct Ep {
    id: CmId,
    domain: Shared<Domain>,
}

/// Starts listening for connection requests.
///
/// rpma_ep_next_conn_req() obtains them.
///
/// # Parameters
///
/// - `peer`: the peer on whose device the connections will be.
/// - `addr`: host name or address to listen at, one of the peer's device. Where a name has several
///   addresses, the first one that can be bound is taken.
/// - `port`: port number, 0 for any that is free, or service name.
/// - `ep_ptr`: where the endpoint goes; shut it down with rpma_ep_shutdown().
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: address lookup, binding or listening failed; with errno EADDRINUSE, somebody
///   listens there already; with errno EINVAL, `port` may be a number above 65535 or below 0; with
///   errno EAGAIN, the resolver failed for now.
///
/// # Safety
///
/// `peer` is NULL or a peer; `addr` and `port` are NULL or C strings; `ep_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_ep_listen(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_ep_listen(
    peer: *mut Peer,
    addr: *const c_char,
    port: *const c_char,
    ep_ptr: *mut *mut Ep,
) -> c_int {
    ffi::call(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (peer, out) = unsafe { (ffi::borrow(peer)?, Out::new(ep_ptr)?) };
        let (addr, port) = (ffi::required(addr)?, ffi::required(port)?);
        // SAFETY: not NULL, so C strings by the caller's promise.
        let (addr, port) = unsafe { (Text::from_ptr(addr), Text::from_ptr(port)) };
        out.give(Ep::listen(peer.domain(), &Place::to_listen(addr, port)))
    })
}

/// Stops listening and deletes the endpoint.
///
/// Requests that were obtained from it, and their connections, do not need it any more. Requests
/// that were not are rejected.
///
/// # Parameters
///
/// - `ep_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
///   already.
///
/// # Errors
///
/// - RPMA_E_INVAL: `ep_ptr` is NULL.
/// - RPMA_E_PROVIDER: destroying the CM id failed; all else is destroyed.
///
/// # Safety
///
/// `ep_ptr` is NULL or points to a handle that is NULL or owns an endpoint.
///
/// # Thread safety
///
/// No other thread may use the endpoint any more.
///
/// # Manual page
///
/// rpma_ep_shutdown(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_ep_shutdown(ep_ptr: *mut *mut Ep) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(ep_ptr, |ep| ep.into_inner().destroy()) }
}

/// Gets the file descriptor that becomes readable when a connection request arrives.
///
/// It may be polled and made non-blocking, and must not be closed.
///
/// # Parameters
///
/// - `ep`: the endpoint.
/// - `fd`: where the file descriptor goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `ep` is NULL or an endpoint; `fd` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_ep_get_fd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_ep_get_fd(ep: *const Ep, fd: *mut c_int) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (ep, out) = unsafe { (ffi::borrow(ep)?, Out::new(fd)?) };
        out.set(ep.channel()?.fd());
        Ok(())
    })
}

/// Obtains the next connection request.
///
/// It blocks until there is one, unless the endpoint's fd is non-blocking. The request does not
/// depend on the endpoint: other threads may connect it while this one goes on listening, and the
/// endpoint may be shut down before that.
///
/// # Parameters
///
/// - `ep`: the endpoint.
/// - `cfg`: configuration of the connection, or NULL for the default one.
/// - `req_ptr`: where the request goes; connect it with rpma_conn_req_connect() or reject it with
///   rpma_conn_req_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `ep` or `req_ptr` is NULL, what arrived is not a connection request, or the
///   configuration wants a shared completion channel and names a shared receive queue with a CQ of
///   its own.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_NO_EVENT: nothing has arrived, and the fd is non-blocking.
/// - RPMA_E_PROVIDER: the provider failed; with errno EINTR, a signal came and nothing is lost.
///
/// When it fails after a request arrived, that client is rejected, and the next request works.
///
/// # Safety
///
/// `ep` is NULL or an endpoint; `cfg` is NULL or a configuration; `req_ptr` is NULL or writable.
///
/// # Thread safety
///
/// One thread at a time for an endpoint.
///
/// # Manual page
///
/// rpma_ep_next_conn_req(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_ep_next_conn_req(
    ep: *mut Ep,
    cfg: *const ConnCfg,
    req_ptr: *mut *mut ConnReq,
) -> c_int {
    ffi::call(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (ep, out) = unsafe { (ffi::borrow(ep)?, Out::new(req_ptr)?) };
        // SAFETY: the caller's promise 1 for `cfg`.
        let cfg = unsafe { ConnCfg::or_default(cfg) };
        // SAFETY: the same promise for its shared receive queue.
        out.give(unsafe { ep.next_conn_req(cfg) })
    })
}

impl Ep {
    fn listen(domain: &Shared<Domain>, place: &Place) -> Result<Owned<Self>> {
        let (id, info) = place.open()?;
        place.listen(&id)?;
        let ep = Owned::new(Self { id, domain: domain.share() })?;
        drop(info);
        let (addr, port) = (place.node(), place.service());
        log!(Notice, c"rpma_ep_listen", c"listening at %, port %", addr, port);
        Ok(ep)
    }

    /// Tears everything down to the end and gives the first failure.
    fn destroy(self) -> Result {
        let mut teardown = Teardown::new();
        teardown.step(self.id.destroy());
        teardown.step(domain::leave(self.domain));
        teardown.finish()
    }

    fn channel(&self) -> Checked<&EventChannel> {
        self.id.channel().ok_or(Error::Unknown)
    }

    /// # Safety
    ///
    /// The configuration's shared receive queue, if there is one, is alive (promise 1).
    unsafe fn next_conn_req(&self, cfg: &ConnCfg) -> Result<Owned<ConnReq>> {
        // Dropped, and so acknowledged, after all that an early return undoes.
        let event = self.channel()?.next()?;
        if event.kind() != rdma_cm_event_type::RDMA_CM_EVENT_CONNECT_REQUEST {
            log!(Error, c"rpma_ep_next_conn_req", c"unexpected event %", event.name());
            return Err(Error::Inval.into());
        }
        // SAFETY: a CONNECT_REQUEST, whose id is taken this once.
        let id = unsafe { event.incoming_id() }?;
        // SAFETY: passed on to the caller.
        let settings = unsafe { cfg.settings() };
        let req = ConnReq::incoming(self.domain.share(), id, event.private_data(), &settings)?;
        event.ack()?;
        Ok(req)
    }
}
