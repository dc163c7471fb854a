// SPDX-License-Identifier: BSD-3-Clause
//! Completion queues: waiting for completions and collecting them.

use libc::c_int;
use rdma_sys::{ibv_context, ibv_cq, ibv_wc};

use crate::error::{Error, Failure, Result};
use crate::ffi::{self, Out};
use crate::log::{File, Level, enabled, log, refused};
use crate::provider::failed;
use crate::provider::owner::Owner;
use crate::provider::verbs::{CompChannel, CountedCq, next_cq_event};
use crate::teardown::{End, end_in_order};

const FILE: File = File::Cq;

/// A completion queue (CQ). It belongs to a connection or to a shared receive queue.
pub struct Cq {
    objects: Objects,
}

end_in_order! {
    struct Objects {
        cq: Owner<CountedCq>,
        /// None if the CQs of the connection share a channel.
        own_channel: Option<CompChannel>,
    }
}

/// Gets the file descriptor of a CQ's completion channel.
///
/// It is the file descriptor of the CQ's completion channel, which may be shared. It becomes
/// readable when a completion event arrives. Then rpma_cq_wait() takes the event, or
/// rpma_conn_wait() if the channel is shared. Before you wait for the file descriptor, take out
/// with rpma_cq_get_wc() the completions that are already there.
///
/// You may poll the file descriptor and make it non-blocking with fcntl(2), but you must not close
/// it.
///
/// # Parameters
///
/// - `cq`: the CQ.
/// - `fd`: receives the file descriptor.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `cq` must be NULL or a CQ whose connection or shared receive queue has not been deleted. `fd`
/// must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_cq_get_fd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_cq_get_fd(cq: *const Cq, fd: *mut c_int) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (cq, out) = unsafe { (ffi::borrow(cq)?, Out::new(fd)?) };
        out.set(cq.objects.cq.channel_fd());
        Ok(())
    })
}

/// Waits for a completion event of a CQ.
///
/// It takes the event, and asks the CQ for the next one. An event says that completions have
/// arrived since the CQ was last asked, but not how many. So after an event, call rpma_cq_get_wc()
/// until it gives RPMA_E_NO_COMPLETION, and only then wait again. If you wait while completions are
/// still in the CQ, the wait may never end. An event may also arrive after you have taken out its
/// completions.
///
/// Only a completion ends the wait. If a server waits for a message from a client that has gone, it
/// may wait forever. To prevent that, poll the CQ's file descriptor and the connection's event file
/// descriptor together: rpma_cq_get_fd(3), rpma_conn_get_event_fd(3).
///
/// The library acknowledges events in batches. When you delete the connection or the shared receive
/// queue that the CQ belongs to, the library acknowledges the rest.
///
/// # Parameters
///
/// - `cq`: the CQ.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cq` is NULL.
/// - RPMA_E_SHARED_CHANNEL: the completion channel is shared. Use rpma_conn_wait(3).
/// - RPMA_E_NO_COMPLETION: there is no event. The file descriptor is non-blocking, or a signal
///   interrupted the wait.
/// - RPMA_E_PROVIDER: ibv_get_cq_event() failed, with errno EIO if the device was removed; or
///   ibv_req_notify_cq() failed. In the second case the event was taken.
///
/// # Safety
///
/// `cq` must be NULL or a CQ whose connection or shared receive queue has not been deleted.
///
/// # Thread safety
///
/// A thread may call this function while other threads post operations, take out completions and
/// wait. Each event wakes one waiting thread.
///
/// # Manual page
///
/// rpma_cq_wait(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_cq_wait(cq: *mut Cq) -> c_int {
    // SAFETY: the caller's promise 1.
    ffi::status_of(|| unsafe { ffi::borrow(cq) }?.wait())
}

/// Takes completions out of a CQ.
///
/// The function never blocks. A completion says which operation it belongs to (wr_id, which is the
/// op_context of the operation), how the operation ended (status; ibv_wc_status_str() gives a
/// text), and which connection it belongs to (qp_num). After the first operation that fails, you
/// cannot use the connection any more: all its other operations complete with IBV_WC_WR_FLUSH_ERR.
///
/// # Parameters
///
/// - `cq`: the CQ.
/// - `num_entries`: the maximum number of completions to take, 1 or more.
/// - `wc`: memory for that many completions, which ibv_poll_cq(3) describes. If the status is not
///   IBV_WC_SUCCESS, only wr_id, status, qp_num and vendor_err are valid.
/// - `num_entries_got`: receives the number of completions. It may be NULL if `num_entries` is 1.
///
/// # Errors
///
/// - RPMA_E_INVAL: `cq` or `wc` is NULL; `num_entries` is below 1; or `num_entries_got` is NULL,
///   but `num_entries` is not 1.
/// - RPMA_E_NO_COMPLETION: the CQ has no completion.
/// - RPMA_E_PROVIDER: ibv_poll_cq() failed.
/// - RPMA_E_UNKNOWN: ibv_poll_cq() gave more completions than the function asked for.
///
/// # Safety
///
/// `cq` must be NULL or a CQ whose connection or shared receive queue has not been deleted. `wc`
/// must be NULL or point to writable memory for `num_entries` completions. `num_entries_got` must
/// be NULL or point to writable memory.
///
/// # Thread safety
///
/// A thread may call this function while other threads post operations, take out completions and
/// wait. Each completion goes to one caller.
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
    ffi::status_of(|| {
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
            own_channel.as_ref().or(shared).map(|channel| **channel).ok_or(Error::Unknown)?;
        // SAFETY: passed on to the caller; the channel is alive.
        let cq = unsafe { CountedCq::create(context, size, channel) }?;
        cq.arm()?;
        Ok(Self { objects: Objects { cq, own_channel } })
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut ibv_cq {
        self.objects.cq.as_ptr()
    }

    /// Counts an event of this CQ that was taken off its channel, and asks for the next one.
    #[inline]
    pub(crate) fn event_taken(&self) -> Result {
        self.objects.cq.event_taken();
        self.objects.cq.arm()
    }

    fn wait(&self) -> Result {
        let channel = self.objects.own_channel.as_ref().ok_or(Error::SharedChannel)?;
        // SAFETY: the channel is alive.
        unsafe { next_cq_event(**channel) }?;
        self.event_taken()
    }

    /// # Safety
    ///
    /// `wc` has room for `count` completions.
    #[inline(always)]
    unsafe fn get_wc(&self, count: c_int, wc: *mut ibv_wc, out: Option<Out<c_int>>) -> Result {
        // SAFETY: passed on to the caller.
        let got = unsafe { self.objects.cq.poll(count, wc) };
        if got < 1 || got > count {
            return Err(poll_failed(got));
        }
        if let Some(out) = out {
            out.set(got);
        }
        Ok(())
    }

    /// Out of line, so that taking completions one by one is fast.
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
}

impl End for Cq {
    fn end(self) -> Result {
        self.objects.end()
    }
}

/// The failure of a poll: there was no completion, ibv_poll_cq() failed, or it gave too many.
#[inline(never)]
fn poll_failed(got: c_int) -> Failure {
    if got == 0 {
        // Programs poll in a loop, so this has to be fast.
        if enabled(Level::Debug) {
            log!(Debug, c"rpma_cq_get_wc", c"no completion");
        }
        return Error::NoCompletion.into();
    }
    if got < 0 {
        return failed!(c"ibv_poll_cq");
    }
    let why = c"ibv_poll_cq() gave too many completions";
    refused!(Unknown, c"rpma_cq_get_wc", why)
}
