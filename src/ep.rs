// SPDX-License-Identifier: BSD-3-Clause
//! Endpoints: listening for connection requests.

use libc::{c_char, c_int};
use rdma_sys::rdma_cm_event_type;

use crate::conn_cfg::ConnCfg;
use crate::conn_req::ConnReq;
use crate::domain::Domain;
use crate::error::{Checked, Error, Result};
use crate::ffi::{self, Out, Owned, Shared};
use crate::log::{File, Text, log};
use crate::peer::Peer;
use crate::provider::address::Place;
use crate::provider::cm::{CmId, EventChannel};
use crate::teardown::{End, end_in_order};

const FILE: File = File::Ep;

/// An endpoint that listens for connection requests.
pub struct Ep {
    objects: Objects,
}

end_in_order! {
    struct Objects {
        id: CmId,
        domain: Shared<Domain>,
    }
}

/// Starts listening for connection requests.
///
/// You obtain the requests with rpma_ep_next_conn_req().
///
/// # Parameters
///
/// - `peer`: the peer whose device the connections will use.
/// - `addr`: the host name or address at which to listen. It must belong to the peer's device. If a
///   name has several addresses, the function takes the first one that an RDMA device has, or, if
///   there is none, the first one that it can bind.
/// - `port`: the port number or service name. With port 0, the kernel chooses a free port.
/// - `ep_ptr`: receives the endpoint. Shut it down with rpma_ep_shutdown().
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: rdma_create_event_channel(), rdma_create_id(), rdma_getaddrinfo(),
///   rdma_bind_addr() or rdma_listen() failed. If errno is EADDRINUSE, a program listens there
///   already. If errno is EINVAL, `port` may be a number below 0 or above 65535. If errno is
///   EAGAIN, the resolver has failed for the moment: try again.
///
/// # Safety
///
/// `peer` must be NULL or a peer that has not been deleted. `addr` and `port` must be NULL or point
/// to strings that end with NUL. `ep_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
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
    ffi::status_of(|| {
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
/// Requests that you have obtained from it, and their connections, do not need it any more. All
/// other requests are rejected.
///
/// # Parameters
///
/// - `ep_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
///   If the handle is NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `ep_ptr` is NULL.
/// - RPMA_E_PROVIDER: rdma_destroy_id() or ibv_dereg_mr() failed. The function destroys everything
///   else.
///
/// # Safety
///
/// `ep_ptr` must be NULL or point to a handle. The handle must be NULL, or own an endpoint that has
/// not been shut down.
///
/// # Thread safety
///
/// No thread may use the endpoint during this call or afterwards.
///
/// # Manual page
///
/// rpma_ep_shutdown(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_ep_shutdown(ep_ptr: *mut *mut Ep) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(ep_ptr, |ep| ep.into_inner().objects.end()) }
}

/// Gets the file descriptor of an endpoint.
///
/// It becomes readable when a connection request arrives; rpma_ep_next_conn_req() obtains the
/// request. You may poll the file descriptor and make it non-blocking, but you must not close it.
///
/// # Parameters
///
/// - `ep`: the endpoint.
/// - `fd`: receives the file descriptor.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `ep` must be NULL or an endpoint that has not been shut down. `fd` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_ep_get_fd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_ep_get_fd(ep: *const Ep, fd: *mut c_int) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (ep, out) = unsafe { (ffi::borrow(ep)?, Out::new(fd)?) };
        out.set(ep.channel()?.fd());
        Ok(())
    })
}

/// Obtains the next connection request.
///
/// The function blocks until there is a request, unless the endpoint's file descriptor is
/// non-blocking. The request does not depend on the endpoint. Another thread may connect it while
/// this thread obtains the next one, and you may shut the endpoint down first.
///
/// # Parameters
///
/// - `ep`: the endpoint.
/// - `cfg`: the configuration of the connection, or NULL for the default configuration.
/// - `req_ptr`: receives the request. Connect it with rpma_conn_req_connect(), or reject it with
///   rpma_conn_req_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `ep` or `req_ptr` is NULL; the event that arrived is not a connection request;
///   or the configuration has both a shared completion channel and a shared receive queue with its
///   own CQ.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_NO_EVENT: no event has arrived, and the file descriptor is non-blocking.
/// - RPMA_E_PROVIDER: rdma_get_cm_event(), rdma_create_event_channel(), rdma_migrate_id(),
///   ibv_create_comp_channel(), ibv_create_cq(), ibv_req_notify_cq(), rdma_create_qp_ex() or
///   rdma_ack_cm_event() failed. If errno is EINTR, a signal interrupted the call, and no request
///   is lost.
///
/// If the function fails after a request has arrived, that client is rejected. You can still obtain
/// the next request.
///
/// # Safety
///
/// `ep` must be NULL or an endpoint that has not been shut down. `cfg` must be NULL or a
/// configuration that has not been deleted. `req_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Only one thread at a time may call this function for an endpoint.
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
    ffi::status_of(|| {
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
        let ep = Owned::new(Self { objects: Objects { id, domain: domain.share() } })?;
        drop(info);
        let (addr, port) = (place.node(), place.service());
        log!(Notice, c"rpma_ep_listen", c"listening at %, port %", addr, port);
        Ok(ep)
    }

    fn channel(&self) -> Checked<&EventChannel> {
        self.objects.id.channel().ok_or(Error::Unknown)
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
        let req =
            ConnReq::incoming(self.objects.domain.share(), id, event.private_data(), &settings)?;
        event.ack()?;
        Ok(req)
    }
}
