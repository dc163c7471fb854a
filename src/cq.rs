// SPDX-License-Identifier: BSD-3-Clause
//! Completion queues: waiting for completions and collecting them.

use libc::c_int;
use rdma_sys::{ibv_context, ibv_cq, ibv_wc};

use crate::error::{Error, Failure, Result, Teardown};
use crate::ffi::{self, Out};
use crate::log::{File, log, refused};
use crate::provider::verbs::{self, CompChannel, next_cq_event};
use crate::provider::{failed, verbs::Cq as ProviderCq};

const FILE: File = File::Cq;

/// A completion queue. It belongs to its connection or shared receive queue.
pub struct Cq {
    /// Before its own channel, which it uses.
    cq: ProviderCq,
    own_channel: Option<CompChannel>,
}

/// Gets the file descriptor that becomes readable when a completion event arrives.
///
/// It is the fd of the CQ's completion channel, be that shared or not. It may be polled and made
/// non-blocking, and must not be closed. When it is readable, rpma_cq_wait() takes the event, or
/// rpma_conn_wait() where the channel is shared. Before waiting for it, take out what is there
/// already with rpma_cq_get_wc().
///
/// # Parameters
///
/// - `cq`: the CQ.
/// - `fd`: where the file descriptor goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cq` is NULL or a CQ whose owner lives; `fd` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_cq_get_fd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_cq_get_fd(cq: *const Cq, fd: *mut c_int) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cq, out) = unsafe { (ffi::borrow(cq)?, Out::new(fd)?) };
        out.set(cq.cq.channel_fd());
        Ok(())
    })
}

/// Waits for a completion event and asks for the next one.
///
/// An event tells that completions have arrived since the CQ was asked for one, not how many. So
/// after an event call rpma_cq_get_wc() until it gives RPMA_E_NO_COMPLETION, and only then wait
/// again: who waits while completions are left in the CQ may wait forever. It may happen that an
/// event comes and the completions were taken out before it.
///
/// Nothing that the other side does ends the wait unless it completes something: a server that
/// waits for a message of a client that has gone waits forever. Where that can be, poll the CQ's fd
/// and the connection's event fd together: rpma_cq_get_fd(3), rpma_conn_get_event_fd(3).
///
/// Events are acknowledged in batches; deleting the owner of the CQ acknowledges the rest.
///
/// # Parameters
///
/// - `cq`: the CQ.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cq` is NULL.
/// - RPMA_E_SHARED_CHANNEL: the completion channel is shared: use rpma_conn_wait(3).
/// - RPMA_E_NO_COMPLETION: there is no event: the fd is non-blocking, or a signal came.
/// - RPMA_E_PROVIDER: reading the completion channel failed, with errno EIO after the device was
///   taken away; or asking for the next event failed, and the event at hand was taken.
///
/// # Safety
///
/// `cq` is NULL or a CQ whose owner lives.
///
/// # Thread safety
///
/// May run while other threads post, poll and wait. Each event wakes one waiting thread.
///
/// # Manual page
///
/// rpma_cq_wait(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_cq_wait(cq: *mut Cq) -> c_int {
    // SAFETY: the caller's promise 1.
    ffi::call(|| unsafe { ffi::borrow(cq) }?.wait())
}

/// Takes completions out of a CQ.
///
/// It never blocks. A completion says which operation it belongs to (wr_id, the op_context of the
/// operation), how it ended (status, for which ibv_wc_status_str() has texts), and of which
/// connection it was (qp_num). After the first one that failed, the connection is of no use any
/// more, and all else that was posted completes with IBV_WC_WR_FLUSH_ERR.
///
/// # Parameters
///
/// - `cq`: the CQ.
/// - `num_entries`: how many completions to take at the most, 1 or more.
/// - `wc`: room for that many, as ibv_poll_cq(3) describes them. Where the status is not
///   IBV_WC_SUCCESS, only wr_id, status, qp_num and vendor_err are valid.
/// - `num_entries_got`: where the number of completions goes; may be NULL if `num_entries` is 1.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cq` or `wc` is NULL, `num_entries` is below 1, or `num_entries_got` is NULL and
///   `num_entries` is not 1.
/// - RPMA_E_NO_COMPLETION: there is none.
/// - RPMA_E_PROVIDER: polling the CQ failed.
/// - RPMA_E_UNKNOWN: the device gave more completions than asked for.
///
/// # Safety
///
/// `cq` is NULL or a CQ whose owner lives; `wc` is NULL or has the room; `num_entries_got` is NULL
/// or writable.
///
/// # Thread safety
///
/// May run while other threads post, poll and wait. Each completion goes to one caller.
///
/// # Manual page
///
/// rpma_cq_get_wc(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_cq_get_wc(
    cq: *mut Cq,
    num_entries: c_int,
    wc: *mut ibv_wc,
    num_entries_got: *mut c_int,
) -> c_int {
    ffi::call(|| {
        // SAFETY: the caller's promise 1 for `cq`.
        let cq = unsafe { ffi::borrow(cq) }?;
        ffi::required(wc)?;
        // SAFETY: the caller's promise 2 for `num_entries_got`.
        let out = unsafe { Out::optional(num_entries_got) };
        if num_entries == 1 {
            // SAFETY: the caller's promise 2: there is room for one.
            return unsafe { cq.get_wc(1, wc, out) };
        }
        if num_entries < 1 || out.is_none() {
            return Err(Error::Inval.into());
        }
        // SAFETY: the caller's promise 2: there is room for so many.
        unsafe { cq.get_several_wc(num_entries, wc, out) }
    })
}

impl Cq {
    /// Makes a CQ with a channel of its own, or on `shared`, and asks for its first event.
    ///
    /// # Safety
    ///
    /// `context` is an open device. `shared` outlives the CQ.
    pub(crate) unsafe fn create(
        context: *mut ibv_context,
        size: u32,
        shared: Option<&CompChannel>,
    ) -> Result<Self> {
        let own_channel = match shared {
            Some(_) => None,
            // SAFETY: passed on to the caller.
            None => Some(unsafe { CompChannel::create(context) }?),
        };
        let channel =
            own_channel.as_ref().or(shared).map(CompChannel::get).ok_or(Error::Unknown)?;
        // SAFETY: passed on to the caller; the channel is alive.
        let cq = unsafe { verbs::Cq::create(context, size, channel) }?;
        cq.arm()?;
        Ok(Self { cq, own_channel })
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut ibv_cq {
        self.cq.as_ptr()
    }

    /// Accounts for an event of this CQ that was taken off its channel, and asks for the next.
    #[inline]
    pub(crate) fn event_taken(&self) -> Result {
        self.cq.event_taken();
        self.cq.arm()
    }

    fn wait(&self) -> Result {
        let channel = self.own_channel.as_ref().ok_or(Error::SharedChannel)?;
        // SAFETY: the channel is alive.
        unsafe { next_cq_event(channel.get()) }?;
        self.event_taken()
    }

    /// # Safety
    ///
    /// `wc` has room for `count` completions.
    #[inline(always)]
    unsafe fn get_wc(&self, count: c_int, wc: *mut ibv_wc, out: Option<Out<c_int>>) -> Result {
        // SAFETY: passed on to the caller.
        let got = unsafe { self.cq.poll(count, wc) };
        if got < 1 || got > count {
            return Err(poll_failed(got));
        }
        if let Some(out) = out {
            out.set(got);
        }
        Ok(())
    }

    /// Out of line, so that getting one by one is fast.
    ///
    /// # Safety
    ///
    /// As [`Cq::get_wc`].
    #[inline(never)]
    unsafe fn get_several_wc(
        &self,
        count: c_int,
        wc: *mut ibv_wc,
        out: Option<Out<c_int>>,
    ) -> Result {
        // SAFETY: passed on to the caller.
        unsafe { self.get_wc(count, wc, out) }
    }

    pub(crate) fn destroy(self) -> Result {
        let mut teardown = Teardown::new();
        teardown.step(self.cq.destroy());
        if let Some(channel) = self.own_channel {
            teardown.step(channel.destroy());
        }
        teardown.finish()
    }
}

/// What a poll that brought nothing usable means.
#[inline(never)]
fn poll_failed(got: c_int) -> Failure {
    if got == 0 {
        log!(Debug, c"rpma_cq_get_wc", c"no completion");
        return Error::NoCompletion.into();
    }
    if got < 0 {
        return failed!(c"ibv_poll_cq");
    }
    let why = c"ibv_poll_cq() gave too many completions";
    refused!(Unknown, c"rpma_cq_get_wc", why)
}
