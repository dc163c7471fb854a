// SPDX-License-Identifier: BSD-3-Clause
//! Connection requests, outgoing and incoming.

use core::mem::MaybeUninit;

use libc::{c_char, c_int, c_void};
use rdma_sys::rdma_conn_param;

use crate::conn::Conn;
use crate::conn_cfg::{ConnCfg, Settings};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::ffi::{self, Out, Owned, Shared};
use crate::log::{File, Text, log};
use crate::mr::MrLocal;
use crate::peer::Peer;
use crate::private_data::rpma_conn_private_data;
use crate::provider::address::Place;
use crate::provider::cm::{CmId, EventChannel};
use crate::teardown::End;

const FILE: File = File::ConnReq;

/// A connection request, outgoing or incoming.
#[repr(transparent)]
pub struct ConnReq {
    conn: Conn,
}

/// Creates an outgoing connection request.
///
/// The function finds the route to the other side and creates the connection's queues. It sends no
/// request: rpma_conn_req_connect() does that. The function blocks until it has resolved the
/// address and the route. For each address that it tries, that takes at most twice the timeout of
/// the configuration. Looking up a host name takes time, too.
///
/// # Parameters
///
/// - `peer`: the peer whose device the connection will use.
/// - `addr`: the host name or address of the other side. If a name has several addresses, the
///   function tries one after the other, in the resolver's order.
/// - `port`: the port number or service name at which the other side listens.
/// - `cfg`: the configuration of the connection, or NULL for the default configuration.
/// - `req_ptr`: receives the request. Connect it with rpma_conn_req_connect(), or delete it with
///   rpma_conn_req_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `peer`, `addr`, `port` or `req_ptr` is NULL; or the configuration has both a
///   shared completion channel and a shared receive queue with its own CQ.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: rdma_getaddrinfo(), rdma_create_id(), rdma_resolve_addr(),
///   rdma_resolve_route(), ibv_create_comp_channel(), ibv_create_cq(), ibv_req_notify_cq() or
///   rdma_create_qp_ex() failed. If errno is EINVAL, `port` may be a number below 0 or above 65535.
///   If errno is EAGAIN, the resolver has failed for the moment: try again.
///
/// # Safety
///
/// `peer` must be NULL or a peer that has not been deleted. `addr` and `port` must be NULL or point
/// to strings that end with NUL. `cfg` must be NULL or a configuration that has not been deleted.
/// `req_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_req_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_req_new(
    peer: *mut Peer,
    addr: *const c_char,
    port: *const c_char,
    cfg: *const ConnCfg,
    req_ptr: *mut *mut ConnReq,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (peer, out) = unsafe { (ffi::borrow(peer)?, Out::new(req_ptr)?) };
        let (addr, port) = (ffi::required(addr)?, ffi::required(port)?);
        // SAFETY: the caller's promise 1 for `cfg` and its shared receive queue.
        let settings = unsafe { ConnCfg::or_default(cfg).settings() };
        // SAFETY: not NULL, so C strings by the caller's promise.
        let (addr, port) = unsafe { (Text::from_ptr(addr), Text::from_ptr(port)) };
        let place = Place::to_connect(addr, port, settings.timeout_ms);
        out.give(ConnReq::outgoing(peer.domain(), &place, &settings))
    })
}

/// Deletes a connection request. If it is an incoming one, this rejects it.
///
/// The client of a rejected request gets RPMA_CONN_REJECTED from rpma_conn_next_event(). An
/// outgoing request has not been sent yet, so the other side does not notice.
///
/// # Parameters
///
/// - `req_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
///   If the handle is NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `req_ptr` is NULL.
/// - RPMA_E_PROVIDER: rdma_reject() failed, for example because the other side has gone; or
///   ibv_destroy_cq(), rdma_destroy_id(), ibv_destroy_comp_channel() or ibv_dereg_mr() failed. The
///   function destroys everything else.
///
/// # Safety
///
/// `req_ptr` must be NULL or point to a handle. The handle must be NULL, or own a request that has
/// not been deleted.
///
/// # Thread safety
///
/// No thread may use the request during this call or afterwards.
///
/// # Manual page
///
/// rpma_conn_req_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_req_delete(req_ptr: *mut *mut ConnReq) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(req_ptr, |req| req.into_inner().conn.end()) }
}

/// Sends an outgoing connection request, or accepts an incoming one.
///
/// The connection is established when rpma_conn_next_event() gives RPMA_CONN_ESTABLISHED. Until
/// then, you may post only receives, with rpma_recv().
///
/// The function consumes the request, even if it fails. If it fails, an incoming request is
/// rejected.
///
/// # Parameters
///
/// - `req_ptr`: the address of the handle of the request. The function sets the handle to NULL,
///   even if it fails.
/// - `pdata`: private data for the other side, or NULL for none. On InfiniBand and RoCE, a request
///   carries up to 56 bytes and its acceptance up to 196. You may free the data after the call.
/// - `conn_ptr`: receives the connection. Delete it with rpma_conn_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `req_ptr` or its handle is NULL. Or `conn_ptr` is NULL, or `pdata` has a NULL
///   pointer or the length 0: then the request is deleted.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: rdma_create_event_channel(), rdma_migrate_id(), ibv_reg_mr(), rdma_connect()
///   or rdma_accept() failed. If errno is EINVAL, the private data may be too long.
///
/// # Safety
///
/// `req_ptr` must be NULL or point to a handle. The handle must be NULL, or own a request that has
/// not been deleted. `pdata` must be NULL or point to a structure whose pointer and length describe
/// readable memory. `conn_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Only one thread at a time may use a request. Meanwhile, other threads may obtain further
/// requests from the endpoint.
///
/// # Manual page
///
/// rpma_conn_req_connect(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_req_connect(
    req_ptr: *mut *mut ConnReq,
    pdata: *const rpma_conn_private_data,
    conn_ptr: *mut *mut Conn,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 3. An early return from here on deletes the request.
        let req = unsafe { ffi::take(req_ptr) }?.ok_or(Error::Inval)?;
        // SAFETY: the caller's promise 2.
        let (out, pdata) = unsafe { (Out::new(conn_ptr)?, ffi::read(pdata)) };
        if pdata.is_some_and(|pdata| pdata.ptr.is_null() || pdata.len == 0) {
            return Err(Error::Inval.into());
        }
        out.give(req.connect(pdata))
    })
}

/// Posts a receive before the connection is established.
///
/// Use it if the other side may send a message at once. That message could arrive before a receive
/// that you post after rpma_conn_req_connect(). If the connection uses a shared receive queue, use
/// rpma_srq_recv().
///
/// # Parameters
///
/// - `req`: the request.
/// - `dst`, `offset`, `len`: the memory for the message, up to 4 GiB - 1 bytes: a region that was
///   registered with RPMA_MR_USAGE_RECV, an offset into it and a length, both in bytes.
/// - `op_context`: any pointer, NULL included. rpma_cq_get_wc() gives it back as wr_id of the
///   completion.
///
/// # Errors
///
/// - RPMA_E_INVAL: `req` or `dst` is NULL; `len` exceeds 32 bits; or the sum of the region's
///   address, `offset` and `len` exceeds 64 bits.
/// - RPMA_E_PROVIDER: ibv_post_recv() failed. If errno is ENOMEM, the receive queue is full.
///
/// # Safety
///
/// `req` must be NULL or a request that has not been deleted. `dst` must be NULL or a region that
/// has not been deregistered. The region must stay registered until the receive completes, and
/// until then nothing else may read or write the memory.
///
/// # Thread safety
///
/// Only one thread at a time may use a request.
///
/// # Manual page
///
/// rpma_conn_req_recv(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_req_recv(
    req: *mut ConnReq,
    dst: *mut MrLocal,
    offset: usize,
    len: usize,
    op_context: *const c_void,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1.
        let (req, dst) = unsafe { (ffi::borrow(req)?, ffi::borrow(dst)?) };
        let addr = dst.at(offset, len)?;
        req.conn.qp().post_recv(op_context, dst.sge(addr, len))
    })
}

/// Gets the private data that came with an incoming request.
///
/// # Parameters
///
/// - `req`: the request.
/// - `pdata`: receives the pointer to the data and their length in bytes, or NULL and 0 if there
///   are none, as for an outgoing request. The data are valid until the request, or the connection
///   that it becomes, is deleted. They may be padded with zeros.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `req` must be NULL or a request that has not been deleted. `pdata` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_req_get_private_data(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_req_get_private_data(
    req: *const ConnReq,
    pdata: *mut rpma_conn_private_data,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (req, out) = unsafe { (ffi::borrow(req)?, Out::new(pdata)?) };
        out.set(req.conn.private_data());
        Ok(())
    })
}

impl ConnReq {
    fn outgoing(
        domain: &Shared<Domain>,
        place: &Place,
        settings: &Settings,
    ) -> Result<Owned<Self>> {
        let (id, info) = place.open()?;
        let req = Self::of(Conn::new(domain.share(), id, &[], settings)?);
        drop(info);
        let (addr, port) = (place.node(), place.service());
        log!(Notice, c"rpma_conn_req_new", c"request to %, port %", addr, port);
        Ok(req)
    }

    /// A request that came in with `id`. It gets its own event channel, so that it does not depend
    /// on the endpoint or on the thread that listens.
    pub(crate) fn incoming(
        domain: Shared<Domain>,
        mut id: CmId,
        private_data: &[u8],
        settings: &Settings,
    ) -> Result<Owned<Self>> {
        id.migrate(EventChannel::create(Text::new(c"rpma_ep_next_conn_req"))?)?;
        Ok(Self::of(Conn::new(domain, id, private_data, settings)?))
    }

    fn of(conn: Owned<Conn>) -> Owned<Self> {
        // SAFETY: a request is a connection in all but its name, by `repr(transparent)`.
        unsafe { conn.cast() }
    }
}

impl Owned<ConnReq> {
    /// Does everything that can fail on our side before the other side is told.
    fn connect(mut self, pdata: Option<rpma_conn_private_data>) -> Result<Owned<Conn>> {
        let accept = self.conn.id().is_pending();
        if !accept {
            let channel = EventChannel::create(Text::new(c"rpma_conn_req_connect"))?;
            self.conn.id_mut().migrate(channel)?;
        }
        self.conn.prepare_flush()?;
        let mut param = conn_param(pdata);
        if accept {
            self.conn.accept(&mut param)?;
        } else {
            self.conn.id().connect(&mut param)?;
        }
        // SAFETY: as in `of`.
        Ok(unsafe { self.cast() })
    }
}

fn conn_param(pdata: Option<rpma_conn_private_data>) -> rdma_conn_param {
    // SAFETY: all zero is a valid value: numbers and a NULL pointer.
    let mut param: rdma_conn_param = unsafe { MaybeUninit::zeroed().assume_init() };
    if let Some(pdata) = pdata {
        param.private_data = pdata.ptr;
        param.private_data_len = pdata.len;
    }
    // As many as both devices can do.
    param.responder_resources = u8::MAX;
    param.initiator_depth = u8::MAX;
    param.flow_control = 1;
    // 7 is the maximum. For rnr_retry_count, it means that there is no limit.
    param.retry_count = 7;
    param.rnr_retry_count = 7;
    param
}
