// SPDX-License-Identifier: BSD-3-Clause
//! Owners of libibverbs and librdmacm objects.
//!
//! Each owner undoes itself silently when dropped, which is the undo path of a constructor that
//! fails half-way. `End` does the same and reports a failure: a log line and the error. A
//! call that fails logs one line here, where its name is known, unless its doc says otherwise.
//!
//! Fields of the provider's structures are read through the pointer, one by one: other threads may
//! write others, which a reference to the whole would rule out.
//!
//! Owners do not keep what they depend on alive. Types that hold several of them declare their
//! fields in the order in which they must go.

use libc::c_int;

use crate::error::{Failure, errno};
use crate::log::{Origin, Part, Text, send};

// Each uses only those that are declared below it.

pub(crate) mod address;

pub(crate) mod verbs;

pub(crate) mod qp;

pub(crate) mod cm;

mod device_nodes;

pub(crate) mod owner;

/// Logs that a provider call failed and gives the failure: with the `errno` that the call left,
/// or with the one given.
macro_rules! failed {
    ($call:expr) => {
        $crate::provider::call_left_errno(
            const { $crate::log::Origin::new($crate::log::Level::Error, FILE, line!()) },
            $crate::log::Text::new($call),
        )
    };
    ($call:expr, $errno:expr) => {
        $crate::provider::call_failed(
            const { $crate::log::Origin::new($crate::log::Level::Error, FILE, line!()) },
            $crate::log::Text::new($call),
            $errno,
        )
    };
}
pub(crate) use failed;

/// Out of line, and once, to keep the calls themselves small.
#[cold]
#[inline(never)]
pub(crate) fn call_failed(origin: Origin, call: Text, errno: c_int) -> Failure {
    let text = Text::new(c"%() failed: %");
    send(origin, call, text, &[Part::Text(call), Part::Cause(errno)]);
    Failure::provider(errno)
}

/// [`call_failed`] with the `errno` that the call left.
#[cold]
#[inline(never)]
pub(crate) fn call_left_errno(origin: Origin, call: Text) -> Failure {
    call_failed(origin, call, errno::get())
}

/// The result of a provider call that returns 0 or an `errno` value.
macro_rules! check_code {
    ($call:expr, $code:expr) => {
        match $code {
            0 => Ok(()),
            code => Err($crate::provider::failed!($call, code)),
        }
    };
}
pub(crate) use check_code;

/// The result of a provider call that returns 0, or something else and leaves `errno`.
macro_rules! check_errno {
    ($call:expr, $code:expr) => {
        match $code {
            0 => Ok(()),
            _ => Err($crate::provider::failed!($call)),
        }
    };
}
pub(crate) use check_errno;
