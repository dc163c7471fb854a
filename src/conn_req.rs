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

const FILE: File = File::ConnReq;

/// A connection request, outgoing or incoming.
#[repr(transparent)]
pub struct ConnReq {
    conn: Conn,
}

/// Creates an outgoing connection request.
///
/// It finds the way to the other side and makes the connection's queues. The other side hears of it
/// when rpma_conn_req_connect() sends the request. This call blocks until address and route are
/// resolved, which takes at most twice the timeout of the configuration, besides the lookup of a
/// host name.
///
/// # Parameters
///
/// - `peer`: the peer on whose device the connection will be.
/// - `addr`: host name or address of the other side. Where a name has several addresses, each is
///   tried, in the resolver's order, with the timeout of its own.
/// - `port`: port number or service name at which it listens.
/// - `cfg`: configuration of the connection, or NULL for the default one.
/// - `req_ptr`: where the request goes; connect it with rpma_conn_req_connect() or delete it with
///   rpma_conn_req_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `peer`, `addr`, `port` or `req_ptr` is NULL, or the configuration wants a shared
///   completion channel and names a shared receive queue with a CQ of its own.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: address lookup or resolution failed, or the device did not make a queue; with
///   errno EINVAL, `port` may be a number above 65535 or below 0; with errno EAGAIN, the resolver
///   failed for now.
///
/// # Safety
///
/// `peer` is NULL or a peer; `addr` and `port` are NULL or C strings; `cfg` is NULL or a
/// configuration; `req_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
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
    ffi::call(|| {
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

/// Deletes a connection request. An incoming one is rejected.
///
/// The client's rpma_conn_next_event() gives RPMA_CONN_REJECTED then. An outgoing request was not
/// sent yet, so nobody is told.
///
/// # Parameters
///
/// - `req_ptr`: the handle, NULL afterwards whatever is returned; nothing happens if it is NULL
///   already.
///
/// # Errors
///
/// - RPMA_E_INVAL: `req_ptr` is NULL.
/// - RPMA_E_PROVIDER: the provider failed to reject the request, since the other side has gone for
///   one, or to destroy something; all else is destroyed.
///
/// # Safety
///
/// `req_ptr` is NULL or points to a handle that is NULL or owns a request.
///
/// # Thread safety
///
/// Nothing else may use the request any more.
///
/// # Manual page
///
/// rpma_conn_req_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_req_delete(req_ptr: *mut *mut ConnReq) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(req_ptr, |req| req.into_inner().conn.destroy()) }
}

/// Sends an outgoing connection request, or accepts an incoming one.
///
/// The connection is established when rpma_conn_next_event() says so; until then nothing may be
/// posted to it but receives. The request is consumed, also when this fails; an incoming one is
/// rejected then.
///
/// # Parameters
///
/// - `req_ptr`: the request; NULL afterwards whatever is returned.
/// - `pdata`: data for the other side, or NULL. On InfiniBand and RoCE, a request carries up to 56
///   bytes and its acceptance up to 196. Not needed any more after the call.
/// - `conn_ptr`: where the connection goes; delete it with rpma_conn_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `req_ptr` or the request is NULL; or `conn_ptr` is NULL, or `pdata` has no data:
///   then the request is deleted.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: the provider failed; with errno EINVAL, there may be too many private data.
///
/// # Safety
///
/// `req_ptr` is NULL or points to a handle that is NULL or owns a request; `pdata` is NULL or
/// points to data of its length; `conn_ptr` is NULL or writable.
///
/// # Thread safety
///
/// One thread at a time for a request. Other threads may meanwhile obtain further requests from
/// the endpoint.
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
    ffi::call(|| {
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

/// Posts a receive before the connection is there, for a message that comes right after it.
///
/// A receive that is posted after rpma_conn_req_connect() may be later than the other side's first
/// message. With a shared receive queue, use rpma_srq_recv().
///
/// # Parameters
///
/// - `req`: the request.
/// - `dst`, `offset`, `len`: where the message goes: part of a region for RPMA_MR_USAGE_RECV, in
///   bytes, up to 4 GiB - 1.
/// - `op_context`: comes back as wr_id of the completion that rpma_cq_get_wc() takes out; may be
///   NULL.
///
/// # Errors
///
/// - RPMA_E_INVAL: `req` or `dst` is NULL, `len` exceeds 32 bits, or address, offset and length
///   together exceed 64 bits.
/// - RPMA_E_PROVIDER: posting failed; with errno ENOMEM, the receive queue is full.
///
/// # Safety
///
/// `req` and `dst` are NULL or live objects; the memory stays registered and untouched until the
/// receive completes.
///
/// # Thread safety
///
/// One thread at a time for a request.
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
    ffi::call(|| {
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
/// - `pdata`: where pointer and length in bytes go: NULL and 0 if there are none, as for an
///   outgoing request. The data are valid as long as the request, or the connection that it
///   becomes, is. They may be padded with zeros.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `req` is NULL or a request; `pdata` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_conn_req_get_private_data(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_req_get_private_data(
    req: *const ConnReq,
    pdata: *mut rpma_conn_private_data,
) -> c_int {
    ffi::access(|| {
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

    /// A request that came in with `id`, on an event channel of its own: it depends neither on the
    /// endpoint nor on the thread that listens.
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
    /// Everything that can fail on our side comes before the other side hears of it.
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
    // 7 is the most; for receivers that are not ready it means without limit.
    param.retry_count = 7;
    param.rnr_retry_count = 7;
    param
}
