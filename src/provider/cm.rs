// SPDX-License-Identifier: BSD-3-Clause
//! Connection management: event channels, CM ids and CM events.

use core::ffi::CStr;
use core::mem::forget;
use core::ptr::{NonNull, null, null_mut};

use libc::c_int;
use rdma_sys::{
    ibv_context, rdma_accept, rdma_ack_cm_event, rdma_cm_event, rdma_cm_event_type, rdma_cm_id,
    rdma_conn_param, rdma_connect, rdma_create_event_channel, rdma_create_id,
    rdma_destroy_event_channel, rdma_destroy_id, rdma_disconnect, rdma_event_channel,
    rdma_event_str, rdma_get_cm_event, rdma_migrate_id, rdma_port_space, rdma_reject,
};

use super::device_nodes::open_failed;
use super::{check_errno, failed};
use crate::error::{Error, Failure, Result, errno};
use crate::log::{File, Part, Text, log};
use crate::teardown::End;

const FILE: File = File::Cm;

/// An event channel of librdmacm.
pub(crate) struct EventChannel(NonNull<rdma_event_channel>);

impl EventChannel {
    /// Made for `function`, which the program called.
    pub(crate) fn create(function: Text<'static>) -> Result<Self> {
        // SAFETY: no preconditions.
        NonNull::new(unsafe { rdma_create_event_channel() })
            .map(Self)
            .ok_or_else(|| open_failed(function, c"rdma_create_event_channel"))
    }

    pub(crate) fn fd(&self) -> c_int {
        // SAFETY: alive while we own it.
        unsafe { (*self.0.as_ptr()).fd }
    }

    /// The next event, which blocks unless the fd is non-blocking. Neither an empty channel nor a
    /// signal is worth a log line.
    pub(crate) fn next(&self) -> Result<CmEvent> {
        let mut event = null_mut();
        // SAFETY: the channel is alive, and `event` writable.
        if unsafe { rdma_get_cm_event(self.0.as_ptr(), &mut event) } == 0 {
            return NonNull::new(event).map(CmEvent).ok_or_else(|| Error::Unknown.into());
        }
        match errno::get() {
            libc::EAGAIN | libc::ENODATA => Err(Error::NoEvent.into()),
            libc::EINTR => Err(Failure::provider(libc::EINTR)),
            _ => Err(failed!(c"rdma_get_cm_event")),
        }
    }
}

impl Drop for EventChannel {
    fn drop(&mut self) {
        // SAFETY: ours, and its ids are gone by the order in which our owners declare fields.
        unsafe { rdma_destroy_event_channel(self.0.as_ptr()) }
    }
}

/// A CM event, acknowledged exactly once: by [`CmEvent::ack`] or when dropped.
pub(crate) struct CmEvent(NonNull<rdma_cm_event>);

impl CmEvent {
    pub(crate) fn kind(&self) -> rdma_cm_event_type::Type {
        // SAFETY: alive until it is acknowledged.
        unsafe { (*self.0.as_ptr()).event }
    }

    /// librdmacm's name of the event.
    pub(crate) fn name(&self) -> Text<'static> {
        // SAFETY: gives a constant string for every number.
        unsafe { Text::from_ptr(rdma_event_str(self.kind())) }
    }

    /// The private data that came with the event, valid until it is acknowledged.
    pub(crate) fn private_data(&self) -> &[u8] {
        // SAFETY: librdmacm sets `conn` for the connected service types, the only ones we use.
        let conn = unsafe { (*self.0.as_ptr()).param.conn };
        if conn.private_data.is_null() {
            return &[];
        }
        // SAFETY: librdmacm gives this many bytes, which live as long as the event.
        unsafe {
            core::slice::from_raw_parts(
                conn.private_data.cast(),
                usize::from(conn.private_data_len),
            )
        }
    }

    /// The new id of a CONNECT_REQUEST, ours from now on.
    ///
    /// # Safety
    ///
    /// The event is a CONNECT_REQUEST, and this is called once.
    pub(crate) unsafe fn incoming_id(&self) -> Result<CmId> {
        // SAFETY: alive until it is acknowledged.
        match NonNull::new(unsafe { (*self.0.as_ptr()).id }) {
            Some(raw) => Ok(CmId { id: RawId { raw, pending: true }, channel: None }),
            None => Err(Error::Unknown.into()),
        }
    }

    pub(crate) fn ack(self) -> Result {
        let raw = self.0;
        forget(self);
        // SAFETY: the event was ours and is not used after this.
        check_errno!(c"rdma_ack_cm_event", unsafe { rdma_ack_cm_event(raw.as_ptr()) })
    }
}

impl Drop for CmEvent {
    fn drop(&mut self) {
        // SAFETY: ours, and not used after this.
        unsafe { rdma_ack_cm_event(self.0.as_ptr()) };
    }
}

/// A CM id and the event channel it reports to, which has to outlive it.
pub(crate) struct CmId {
    id: RawId,
    /// None while the id blocks (librdmacm then has a channel of its own for it) or reports to the
    /// channel of the endpoint it came in at.
    channel: Option<EventChannel>,
}

impl CmId {
    /// An id that reports to `channel`, or whose operations block, made for `function`, which the
    /// program called.
    pub(super) fn create(channel: Option<EventChannel>, function: Text<'static>) -> Result<Self> {
        let mut id = null_mut();
        let space = rdma_port_space::RDMA_PS_TCP;
        let events = channel.as_ref().map_or(null_mut(), |channel| channel.0.as_ptr());
        // SAFETY: the channel is alive or NULL, and `id` writable.
        if unsafe { rdma_create_id(events, &mut id, null_mut(), space) } != 0 {
            return Err(open_failed(function, c"rdma_create_id"));
        }
        let raw = NonNull::new(id).ok_or(Error::Unknown)?;
        Ok(Self { id: RawId { raw, pending: false }, channel })
    }

    pub(crate) fn as_ptr(&self) -> *mut rdma_cm_id {
        self.id.raw.as_ptr()
    }

    pub(crate) fn channel(&self) -> Option<&EventChannel> {
        self.channel.as_ref()
    }

    /// The device, NULL while the id is bound to none.
    pub(crate) fn verbs(&self) -> *mut ibv_context {
        // SAFETY: alive while we own it.
        unsafe { (*self.id.raw.as_ptr()).verbs }
    }

    /// Whether this is an incoming request that was not answered yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.id.pending
    }

    /// Makes the id report to `channel` from now on, and not block any more.
    pub(crate) fn migrate(&mut self, channel: EventChannel) -> Result {
        // The channel is kept even if migrating fails, since the id may use it already.
        let channel = self.channel.insert(channel).0.as_ptr();
        // SAFETY: both are alive.
        check_errno!(c"rdma_migrate_id", unsafe { rdma_migrate_id(self.as_ptr(), channel) })
    }

    pub(crate) fn connect(&self, param: &mut rdma_conn_param) -> Result {
        // SAFETY: the id is alive, and so is what `param` points to.
        check_errno!(c"rdma_connect", unsafe { rdma_connect(self.as_ptr(), param) })
    }

    /// Accepts an incoming request. Afterwards the request has been answered, even if this fails:
    /// then the kernel has rejected it.
    pub(crate) fn accept(&mut self, param: &mut rdma_conn_param) -> Result {
        self.id.pending = false;
        // SAFETY: the id is alive, and so is what `param` points to.
        check_errno!(c"rdma_accept", unsafe { rdma_accept(self.as_ptr(), param) })
    }

    pub(crate) fn disconnect(&self) -> Result {
        // SAFETY: the id is alive.
        check_errno!(c"rdma_disconnect", unsafe { rdma_disconnect(self.as_ptr()) })
    }

    /// Destroys an id that has served its purpose for `function`. A failure is worth a warning.
    pub(crate) fn retire(self, function: &'static CStr) {
        let (code, errno) = errno::cleared(|| self.id.end());
        if code != 0 {
            log!(Warning, function, c"rdma_destroy_id() failed: %", Part::Cause(errno));
        }
    }
}

/// Rejects the request if it is still unanswered, and destroys the id and then its channel in any
/// case.
impl End for CmId {
    fn end(self) -> Result {
        self.id.destroy()
    }
}

/// An id of librdmacm. If it stands for an incoming request that has not been answered, the request
/// is rejected when the id is destroyed.
struct RawId {
    raw: NonNull<rdma_cm_id>,
    /// An incoming request that was neither accepted nor rejected.
    pending: bool,
}

impl RawId {
    /// Rejects an unanswered request. Gives librdmacm's return code.
    fn reject(&mut self) -> c_int {
        if !core::mem::replace(&mut self.pending, false) {
            return 0;
        }
        // SAFETY: the id is alive; there is no private data.
        unsafe { rdma_reject(self.raw.as_ptr(), null(), 0) }
    }

    fn destroy(mut self) -> Result {
        let rejected = check_errno!(c"rdma_reject", self.reject());
        let destroyed = check_errno!(c"rdma_destroy_id", self.end());
        rejected.and(destroyed)
    }

    /// Gives librdmacm's return code.
    fn end(self) -> c_int {
        let raw = self.raw.as_ptr();
        forget(self);
        // SAFETY: ours; QP and events are gone by the order of our owners' fields.
        unsafe { rdma_destroy_id(raw) }
    }
}

impl Drop for RawId {
    fn drop(&mut self) {
        self.reject();
        // SAFETY: as in `destroy`.
        unsafe { rdma_destroy_id(self.raw.as_ptr()) };
    }
}
