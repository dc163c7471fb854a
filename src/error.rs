// SPDX-License-Identifier: BSD-3-Clause
//! What a call can fail with, and how that becomes a C return code and `errno`.

use core::num::NonZeroU64;

use libc::c_int;

/// Something failed that none of the other codes describes.
pub const RPMA_E_UNKNOWN: c_int = -100_000;
/// The operation is not supported by the device, the kernel or the peer's configuration.
pub const RPMA_E_NOSUPP: c_int = -100_001;
/// A function of libibverbs, of librdmacm or of the kernel failed. `errno` says why.
pub const RPMA_E_PROVIDER: c_int = -100_002;
/// There is not enough memory.
pub const RPMA_E_NOMEM: c_int = -100_003;
/// An argument is wrong. Everything is as it was before, except with rpma_conn_req_connect().
pub const RPMA_E_INVAL: c_int = -100_004;
/// There is no completion.
pub const RPMA_E_NO_COMPLETION: c_int = -100_005;
/// There is no connection event.
pub const RPMA_E_NO_EVENT: c_int = -100_006;
/// A temporary failure. No function returns it; it is kept so that programs still compile.
pub const RPMA_E_AGAIN: c_int = -100_007;
/// The CQs of the connection share a completion channel. Use rpma_conn_wait().
pub const RPMA_E_SHARED_CHANNEL: c_int = -100_008;
/// The CQs of the connection do not share a completion channel. Use rpma_cq_wait().
pub const RPMA_E_NOT_SHARED_CHNL: c_int = -100_009;

/// The failures that calls report, one variant per error code of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Error {
    Unknown = RPMA_E_UNKNOWN,
    NoSupp = RPMA_E_NOSUPP,
    Provider = RPMA_E_PROVIDER,
    NoMem = RPMA_E_NOMEM,
    Inval = RPMA_E_INVAL,
    NoCompletion = RPMA_E_NO_COMPLETION,
    NoEvent = RPMA_E_NO_EVENT,
    SharedChannel = RPMA_E_SHARED_CHANNEL,
    NotSharedChannel = RPMA_E_NOT_SHARED_CHNL,
}

/// An error together with the `errno` at the time when it happened. So the caller gets that
/// `errno`, whatever cleaning up and logging do to it afterwards.
///
/// It is one word that is never 0. So a result without a value fits in a register, and checking it
/// is one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure(NonZeroU64);

impl Failure {
    /// A provider call failed with `errno`.
    pub(crate) const fn provider(errno: c_int) -> Self {
        Self::with_errno(Error::Provider, errno)
    }

    /// `error`, with an `errno` that a provider call gave as its return value.
    pub(crate) const fn with_errno(error: Error, errno: c_int) -> Self {
        let word = (error as u32 as u64) << 32 | errno as u32 as u64;
        // SAFETY: no error is 0.
        Self(unsafe { NonZeroU64::new_unchecked(word) })
    }

    /// Sets `errno` and gives the return code. Out of line, and once, to keep the calls small.
    #[cold]
    #[inline(never)]
    fn report(self) -> c_int {
        let word = self.0.get();
        errno::set(word as c_int);
        (word >> 32) as c_int
    }
}

impl From<Error> for Failure {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Self {
        Self::with_errno(error, errno::get())
    }
}

pub(crate) type Result<T = ()> = core::result::Result<T, Failure>;

/// The result of a check that sets no `errno` itself. `?` makes a [`Failure`] of its error.
pub(crate) type Checked<T = ()> = core::result::Result<T, Error>;

/// The one conversion of a result to a C return code. Success leaves `errno` alone.
#[inline]
pub(crate) fn status(result: Result) -> c_int {
    match result {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// The C library's `errno`.
pub(crate) mod errno {
    use libc::c_int;

    #[inline]
    pub(crate) fn get() -> c_int {
        // SAFETY: the C library's `errno` location is valid for the calling thread.
        unsafe { *libc::__errno_location() }
    }

    #[inline]
    pub(crate) fn set(value: c_int) {
        // SAFETY: as in `get`.
        unsafe { *libc::__errno_location() = value }
    }

    /// Calls `f` with `errno` 0, for providers that do not always set it. Returns `f`'s value and
    /// the `errno` that `f` left, and restores `errno`.
    pub(crate) fn cleared<T>(f: impl FnOnce() -> T) -> (T, c_int) {
        let before = get();
        set(0);
        let value = f();
        let after = get();
        set(before);
        (value, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_carries_its_errno_across_later_calls() {
        errno::set(libc::EBUSY);
        let failure = Failure::from(Error::Provider);
        errno::set(libc::EIO);
        assert_eq!(status(Err(failure)), RPMA_E_PROVIDER);
        assert_eq!(errno::get(), libc::EBUSY);
    }

    #[test]
    fn success_leaves_errno_alone() {
        errno::set(libc::EXDEV);
        assert_eq!(status(Ok(())), 0);
        assert_eq!(errno::get(), libc::EXDEV);
    }

    #[test]
    fn cleared_restores_errno() {
        errno::set(libc::EXDEV);
        let (seen, left) = errno::cleared(|| {
            let seen = errno::get();
            errno::set(libc::ENOMEM);
            seen
        });
        assert_eq!((seen, left, errno::get()), (0, libc::ENOMEM, libc::EXDEV));
    }
}
