// SPDX-License-Identifier: BSD-3-Clause
//! Owners of libibverbs and librdmacm objects.
//!
//! An owner that is dropped destroys its object, and reports no failure. This is how a constructor
//! that fails half-way cleans up. `End` also destroys the object, but reports a failure: it logs a
//! line and returns the error. A call that fails logs one line here, where its name is known,
//! unless its doc says otherwise.
//!
//! Fields of the provider's structures are read one by one through the pointer. A reference to the
//! whole structure is not allowed, since other threads may write its other fields.
//!
//! An owner does not keep alive what it depends on. A type with several owners declares them in the
//! order in which they must be destroyed.

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
