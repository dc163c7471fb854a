// SPDX-License-Identifier: BSD-3-Clause
//! Connections: their events, their queues, and their end.

use core::ptr::{from_ref, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;
use rdma_sys::{ibv_cq, rdma_cm_event_type, rdma_conn_param};

use crate::conn_cfg::Settings;
use crate::cq::Cq;
use crate::domain::Domain;
use crate::error::{Checked, Error, Result};
use crate::ffi::{self, Out, Owned, Shared, c_bool};
use crate::flush_buffer::FlushBuffer;
use crate::log::{File, log, refused};
use crate::peer_cfg::PeerCfg;
use crate::private_data::{PrivateData, rpma_conn_private_data};
use crate::provider::cm::{CmId, EventChannel};
use crate::provider::qp::{Qp, QpAttributes};
use crate::provider::verbs::{CompChannel, ack_foreign_event, next_cq_event};
use crate::teardown::{End, end_in_order};

const FILE: File = File::Conn;

/// For rpma_conn_wait(): wait until a completion event arrives.
pub const RPMA_W_WAIT_FOR_COMPLETION: c_int = 1;

/// What happened to a connection.
#[allow(non_camel_case_types)]
#[repr(C)]
pub enum rpma_conn_event {
    /// The event says nothing about the connection.
    RPMA_CONN_UNDEFINED = -1,
    /// The connection is established. You may post operations.
    RPMA_CONN_ESTABLISHED,
    /// The connection was closed by one of the sides. This event may come twice.
    RPMA_CONN_CLOSED,
    /// The connection is lost: it could not be established, or the device is gone.
    RPMA_CONN_LOST,
    /// The other side rejected the request, or no program listens there.
    RPMA_CONN_REJECTED,
    /// The other side could not be reached, or did not answer. It can also come after
    /// RPMA_CONN_ESTABLISHED, on a connection that goes on working.
    RPMA_CONN_UNREACHABLE,
}

/// `enum rpma_conn_event` as C callers pass it: any int.
#[allow(non_camel_case_types)]
pub type rpma_conn_event_raw = c_int;

/// A connection. It begins as a connection request.
// Both are the same object. So nothing has to be allocated after the other side was told, and
// nothing can fail then.
pub struct Conn {
    objects: Objects,
    direct_write_to_pmem: AtomicBool,
    /// It was accepted on this side.
    accepted: bool,
}

end_in_order! {
    /// The QP uses the CQs, and these use the shared channel.
    struct Objects {
        qp: Qp,
        rcq: Option<Cq>,
        cq: Cq,
        id: CmId,
        shared_channel: Option<CompChannel>,
        private_data: PrivateData,
        /// None as long as it is a request, and where flushes are native.
        flush_buffer: Option<Shared<FlushBuffer>>,
        domain: Shared<Domain>,
    }
}

/// Gets the file descriptor of a connection's events.
///
/// It becomes readable when an event arrives; rpma_conn_next_event() takes the event. You may poll
/// the file descriptor and make it non-blocking, but you must not close it.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `fd`: receives the file descriptor.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `fd` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_get_event_fd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_get_event_fd(conn: *const Conn, fd: *mut c_int) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(fd)?) };
        out.set(conn.event_channel()?.fd());
        Ok(())
    })
}

/// Obtains the next event of a connection.
///
/// The function blocks until there is an event, unless the file descriptor that
/// rpma_conn_get_event_fd() gives is non-blocking. RPMA_CONN_CLOSED may come a second time, when
/// the provider has finished with the connection.
///
/// RPMA_CONN_UNREACHABLE has two meanings. Before RPMA_CONN_ESTABLISHED, it means that connecting
/// failed. After RPMA_CONN_ESTABLISHED, it means that the MAC address of the neighbour that leads
/// to the other side has changed. Then the connection may work on: keep it until an operation
/// fails, or until the connection is closed or lost.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `event`: receives the event.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
/// - RPMA_E_NO_EVENT: no event has arrived, and the file descriptor is non-blocking.
/// - RPMA_E_PROVIDER: rdma_get_cm_event() or rdma_ack_cm_event() failed. If errno is EINTR, a
///   signal interrupted the call, and no event is lost.
/// - RPMA_E_UNKNOWN: an event arrived that says nothing about the connection, for example of an
///   address change. `event` is RPMA_CONN_UNDEFINED.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `event` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Only one thread at a time may obtain the events of a connection or disconnect it. Meanwhile,
/// another thread may post operations, and others may wait for completions and take them out.
///
/// # Manual page
///
/// rpma_conn_next_event(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_next_event(
    conn: *mut Conn,
    event: *mut rpma_conn_event_raw,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(event)?) };
        conn.next_event(out)
    })
}

/// Gets the private data that the other side sent.
///
/// The server gets the data that came with the client's request. The client gets the data that came
/// with the acceptance, after RPMA_CONN_ESTABLISHED. The data may arrive padded with zeros.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `pdata`: receives the pointer to the data and their length in bytes, or NULL and 0 if there
///   are none. The data belong to the connection, and are valid until it is deleted.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `pdata` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function, but not while another thread calls rpma_conn_next_event() for
/// the same connection.
///
/// # Manual page
///
/// rpma_conn_get_private_data(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_get_private_data(
    conn: *const Conn,
    pdata: *mut rpma_conn_private_data,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(pdata)?) };
        out.set(conn.private_data());
        Ok(())
    })
}

/// Applies the other side's peer configuration to a connection.
///
/// Unless the configuration declares direct write to PMem, rpma_flush() refuses
/// RPMA_FLUSH_TYPE_PERSISTENT on this connection. It also refuses it if no configuration was
/// applied.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `pcfg`: the other side's configuration. You may delete it after the call.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `pcfg` must be NULL or a
/// configuration that has not been deleted.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_apply_remote_peer_cfg(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_apply_remote_peer_cfg(
    conn: *mut Conn,
    pcfg: *const PeerCfg,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 1.
        let (conn, pcfg) = unsafe { (ffi::borrow(conn)?, ffi::borrow(pcfg)?) };
        conn.direct_write_to_pmem.store(pcfg.direct_write_to_pmem(), Ordering::Relaxed);
        Ok(())
    })
}

/// Gets the number of a connection's QP.
///
/// Completions have this number as their qp_num. If several connections share a CQ, it tells you
/// which of them a completion belongs to.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `qp_num`: receives the number.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `qp_num` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_get_qp_num(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_get_qp_num(conn: *const Conn, qp_num: *mut u32) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(qp_num)?) };
        out.set(conn.qp().number());
        Ok(())
    })
}

/// Gets a connection's CQ.
///
/// All operations complete in this CQ. Receives do, too, unless they have a CQ of their own: see
/// rpma_conn_get_rcq() and rpma_srq_get_rcq().
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `cq_ptr`: receives the CQ. It belongs to the connection, and is deleted together with it.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `cq_ptr` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_get_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_get_cq(conn: *const Conn, cq_ptr: *mut *mut Cq) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(cq_ptr)?) };
        out.set(from_ref(&conn.objects.cq).cast_mut());
        Ok(())
    })
}

/// Gets a connection's CQ for receives.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `rcq_ptr`: receives the CQ, or NULL if receives complete in the connection's one CQ or in the
///   CQ of a shared receive queue. The CQ belongs to the connection, and is deleted together with
///   it.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `rcq_ptr` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_get_rcq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_get_rcq(conn: *const Conn, rcq_ptr: *mut *mut Cq) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(rcq_ptr)?) };
        out.set(conn.objects.rcq.as_ref().map_or(null_mut(), |rcq| from_ref(rcq).cast_mut()));
        Ok(())
    })
}

/// Disconnects a connection.
///
/// The side that wants to end the connection calls this function, and waits for RPMA_CONN_CLOSED.
/// The other side gets RPMA_CONN_CLOSED, and calls this function in answer. Operations that have
/// not completed then complete with the status IBV_WC_WR_FLUSH_ERR.
///
/// You may call the function again, or before the connection is established.
///
/// # Parameters
///
/// - `conn`: the connection.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` is NULL.
/// - RPMA_E_PROVIDER: rdma_disconnect() failed.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted.
///
/// # Thread safety
///
/// Only one thread at a time may obtain the events of a connection or disconnect it. Meanwhile,
/// another thread may post operations, and others may wait for completions and take them out.
///
/// # Manual page
///
/// rpma_conn_disconnect(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_disconnect(conn: *mut Conn) -> c_int {
    // SAFETY: the caller's promise 1.
    ffi::status_of(|| unsafe { ffi::borrow(conn) }?.disconnect())
}

/// Deletes a connection, with its CQs and its private data.
///
/// If the connection was not disconnected, this closes it, and the other side gets
/// RPMA_CONN_CLOSED. Completions that you have not taken out of its CQs are lost.
///
/// # Parameters
///
/// - `conn_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
///   If the handle is NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn_ptr` is NULL.
/// - RPMA_E_PROVIDER: ibv_destroy_cq(), rdma_destroy_id(), ibv_destroy_comp_channel() or
///   ibv_dereg_mr() failed. The function destroys everything else.
///
/// # Safety
///
/// `conn_ptr` must be NULL or point to a handle. The handle must be NULL, or own a connection that
/// has not been deleted.
///
/// # Thread safety
///
/// No thread may use the connection or its CQs during this call or afterwards.
///
/// # Manual page
///
/// rpma_conn_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_delete(conn_ptr: *mut *mut Conn) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(conn_ptr, |conn| conn.into_inner().end()) }
}

/// Gets the file descriptor of a shared completion channel.
///
/// The channel is the one that the CQs of the connection share. The file descriptor becomes
/// readable when a completion event of either CQ arrives; rpma_conn_wait() takes the event. You may
/// poll the file descriptor and make it non-blocking, but you must not close it.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `fd`: receives the file descriptor.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
/// - RPMA_E_NOT_SHARED_CHNL: each CQ has a channel of its own. Use rpma_cq_get_fd(3).
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `fd` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_conn_get_compl_fd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_get_compl_fd(conn: *const Conn, fd: *mut c_int) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(fd)?) };
        out.set(conn.shared_channel()?.fd());
        Ok(())
    })
}

/// Waits for a completion event of either CQ of a connection.
///
/// It takes the event, and asks that CQ for the next one. It is for connections whose CQs share a
/// completion channel, see rpma_conn_cfg_set_compl_channel().
///
/// As with rpma_cq_wait(), an event says that completions have arrived, but not how many. Take them
/// out of that CQ with rpma_cq_get_wc() until it gives RPMA_E_NO_COMPLETION, and only then wait
/// again. If you wait while completions are still in the CQ, the wait may never end.
///
/// # Parameters
///
/// - `conn`: the connection.
/// - `flags`: RPMA_W_WAIT_FOR_COMPLETION. The function ignores it so far.
/// - `cq`: receives the CQ that has completions.
/// - `is_rcq`: receives true if this is the CQ for receives, otherwise false. It may be NULL.
///
/// # Errors
///
/// - RPMA_E_INVAL: `conn` or `cq` is NULL.
/// - RPMA_E_NOT_SHARED_CHNL: each CQ has a channel of its own. Use rpma_cq_wait(3).
/// - RPMA_E_NO_COMPLETION: there is no event. The file descriptor is non-blocking, or a signal
///   interrupted the wait.
/// - RPMA_E_PROVIDER: ibv_get_cq_event() failed, with errno EIO if the device was removed; or
///   ibv_req_notify_cq() failed. In the second case the event was taken, and `cq` is NULL.
/// - RPMA_E_UNKNOWN: the event was for a CQ that does not belong to the connection.
///
/// # Safety
///
/// `conn` must be NULL or a connection that has not been deleted. `cq` and `is_rcq` must be NULL or
/// point to writable memory.
///
/// # Thread safety
///
/// A thread may call this function while other threads post operations, take out completions and
/// wait. Each event wakes one waiting thread.
///
/// # Manual page
///
/// rpma_conn_wait(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_conn_wait(
    conn: *mut Conn,
    flags: c_int,
    cq: *mut *mut Cq,
    is_rcq: *mut c_bool,
) -> c_int {
    // There is only one flag, and it asks for what the function does anyway.
    let _ = flags;
    ffi::status_of(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (conn, out) = unsafe { (ffi::borrow(conn)?, Out::new(cq)?) };
        // SAFETY: the caller's promise 2 for `is_rcq`.
        conn.wait(out, unsafe { Out::optional(is_rcq) })
    })
}

impl Conn {
    /// Makes the queues of a connection on `id`, with the private data that came with it.
    pub(crate) fn new(
        domain: Shared<Domain>,
        id: CmId,
        private_data: &[u8],
        settings: &Settings,
    ) -> Result<Owned<Self>> {
        let srq = settings.srq;
        let srq_rcq = srq.and_then(|srq| srq.rcq());
        let is_shared = settings.shared_channel;
        if is_shared && srq_rcq.is_some() {
            let why = c"no shared completion channel for a shared receive queue with its own CQ";
            let outgoing = c"rpma_conn_req_new";
            let name = if id.is_pending() { c"rpma_ep_next_conn_req" } else { outgoing };
            return Err(refused!(Inval, name, why));
        }
        let private_data = PrivateData::new(private_data)?;
        let verbs = id.verbs();
        let shared_channel = if is_shared {
            // SAFETY: an id that is resolved, or that came in, is bound to an open device.
            Some(unsafe { CompChannel::create(verbs) }?)
        } else {
            None
        };
        let shared = shared_channel.as_ref();
        // SAFETY: as above; the shared channel is declared to go after the CQs.
        let cq = unsafe { Cq::create(verbs, settings.cq_size, shared) }?;
        let rcq = match srq_rcq {
            Some(_) => None,
            None => match settings.rcq_size {
                0 => None,
                // SAFETY: as above.
                size => Some(unsafe { Cq::create(verbs, size, shared) }?),
            },
        };
        let qp = domain.create_qp(
            &id,
            &QpAttributes {
                pd: domain.pd()?,
                send_cq: cq.as_ptr(),
                recv_cq: srq_rcq.or(rcq.as_ref()).unwrap_or(&cq).as_ptr(),
                srq: srq.map_or(null_mut(), |srq| srq.as_ptr()),
                sq_size: settings.sq_size,
                rq_size: settings.rq_size,
            },
        )?;
        let objects =
            Objects { qp, rcq, cq, id, shared_channel, private_data, flush_buffer: None, domain };
        Owned::new(Self { objects, direct_write_to_pmem: AtomicBool::new(false), accepted: false })
    }

    #[inline]
    pub(crate) fn qp(&self) -> &Qp {
        &self.objects.qp
    }

    pub(crate) fn id(&self) -> &CmId {
        &self.objects.id
    }

    pub(crate) fn id_mut(&mut self) -> &mut CmId {
        &mut self.objects.id
    }

    #[inline]
    pub(crate) fn flush_buffer(&self) -> Option<&FlushBuffer> {
        self.objects.flush_buffer.as_deref()
    }

    #[inline]
    pub(crate) fn direct_write_to_pmem(&self) -> bool {
        self.direct_write_to_pmem.load(Ordering::Relaxed)
    }

    pub(crate) fn private_data(&self) -> rpma_conn_private_data {
        self.objects.private_data.get()
    }

    /// Takes a share of the buffer that flushes read into, unless they go out natively.
    pub(crate) fn prepare_flush(&mut self) -> Result {
        if self.objects.qp.native_flush().is_none() {
            self.objects.flush_buffer = Some(self.objects.domain.flush_buffer()?);
        }
        Ok(())
    }

    /// Accepts an incoming request.
    pub(crate) fn accept(&mut self, param: &mut rdma_conn_param) -> Result {
        self.objects.id.accept(param)?;
        self.accepted = true;
        self.objects.qp.shorten_rnr_timer();
        Ok(())
    }

    fn event_channel(&self) -> Checked<&EventChannel> {
        self.objects.id.channel().ok_or(Error::Unknown)
    }

    fn shared_channel(&self) -> Checked<&CompChannel> {
        self.objects.shared_channel.as_ref().ok_or(Error::NotSharedChannel)
    }

    /// Takes the next event. If it says nothing about the connection, gives RPMA_E_UNKNOWN.
    fn next_event(&self, out: Out<rpma_conn_event_raw>) -> Result {
        let event = self.event_channel()?.next()?;
        let kind = event.kind();
        let name = event.name();
        if kind == rdma_cm_event_type::RDMA_CM_EVENT_ESTABLISHED {
            self.objects.private_data.store(event.private_data());
            if !self.accepted {
                self.objects.qp.shorten_rnr_timer();
            }
        }
        event.ack()?;
        if let Some(event) = map_event(kind) {
            log!(Notice, c"rpma_conn_next_event", c"%", name);
            out.set(event as rpma_conn_event_raw);
            return Ok(());
        }
        log!(Warning, c"rpma_conn_next_event", c"unexpected event %", name);
        out.set(rpma_conn_event::RPMA_CONN_UNDEFINED as rpma_conn_event_raw);
        Err(Error::Unknown.into())
    }

    fn disconnect(&self) -> Result {
        self.objects.id.disconnect()?;
        log!(Notice, c"rpma_conn_disconnect", c"disconnecting");
        Ok(())
    }

    /// Takes the next completion event and tells the CQ it is about.
    #[inline(always)]
    fn wait(&self, out: Out<*mut Cq>, is_rcq: Option<Out<c_bool>>) -> Result {
        let channel = **self.shared_channel()?;
        // SAFETY: the channel lives as long as the connection.
        let cq = unsafe { next_cq_event(channel) }?;
        if cq == self.objects.cq.as_ptr() {
            hand_out(&self.objects.cq, false, out, is_rcq)
        } else {
            self.hand_out_other(cq, out, is_rcq)
        }
    }

    /// Out of line, so that waiting for the CQ of most operations is fast.
    #[inline(never)]
    fn hand_out_other(
        &self,
        cq: *mut ibv_cq,
        out: Out<*mut Cq>,
        is_rcq: Option<Out<c_bool>>,
    ) -> Result {
        if let Some(rcq) = self.objects.rcq.as_ref().filter(|rcq| rcq.as_ptr() == cq) {
            return hand_out(rcq, true, out, is_rcq);
        }
        // SAFETY: the provider gave us the event of this CQ just now. Unacknowledged, it would keep
        // that CQ from being destroyed.
        unsafe { ack_foreign_event(cq) };
        let why = c"event of another connection's CQ";
        Err(refused!(Unknown, c"rpma_conn_wait", why))
    }
}

impl End for Conn {
    /// A request that was not answered is rejected.
    fn end(self) -> Result {
        self.objects.end()
    }
}

/// Hands `ready`, whose event was just taken, to the caller.
#[inline(always)]
fn hand_out(
    ready: &Cq,
    ready_is_rcq: bool,
    out: Out<*mut Cq>,
    is_rcq: Option<Out<c_bool>>,
) -> Result {
    if let Err(failure) = ready.event_taken() {
        out.set(null_mut());
        return Err(failure);
    }
    out.set(from_ref(ready).cast_mut());
    if let Some(is_rcq) = is_rcq {
        is_rcq.set(c_bool::from(ready_is_rcq));
    }
    Ok(())
}

/// What a CM event means for a connection.
const fn map_event(kind: rdma_cm_event_type::Type) -> Option<rpma_conn_event> {
    match kind {
        rdma_cm_event_type::RDMA_CM_EVENT_ESTABLISHED => {
            Some(rpma_conn_event::RPMA_CONN_ESTABLISHED)
        }
        rdma_cm_event_type::RDMA_CM_EVENT_CONNECT_ERROR
        | rdma_cm_event_type::RDMA_CM_EVENT_DEVICE_REMOVAL => Some(rpma_conn_event::RPMA_CONN_LOST),
        rdma_cm_event_type::RDMA_CM_EVENT_DISCONNECTED
        | rdma_cm_event_type::RDMA_CM_EVENT_TIMEWAIT_EXIT => {
            Some(rpma_conn_event::RPMA_CONN_CLOSED)
        }
        rdma_cm_event_type::RDMA_CM_EVENT_REJECTED => Some(rpma_conn_event::RPMA_CONN_REJECTED),
        rdma_cm_event_type::RDMA_CM_EVENT_UNREACHABLE => {
            Some(rpma_conn_event::RPMA_CONN_UNREACHABLE)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_the_seven_events_of_a_connection_are_mapped(kind in 0_u32..40) {
            let expected = match kind {
                9 => Some(rpma_conn_event::RPMA_CONN_ESTABLISHED as c_int),
                6 | 11 => Some(rpma_conn_event::RPMA_CONN_LOST as c_int),
                10 | 15 => Some(rpma_conn_event::RPMA_CONN_CLOSED as c_int),
                8 => Some(rpma_conn_event::RPMA_CONN_REJECTED as c_int),
                7 => Some(rpma_conn_event::RPMA_CONN_UNREACHABLE as c_int),
                _ => None,
            };
            prop_assert_eq!(map_event(kind).map(|event| event as c_int), expected);
        }
    }
}
