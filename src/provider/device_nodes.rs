// SPDX-License-Identifier: BSD-3-Clause
//! The nodes in /dev/infiniband, and what to tell where a program cannot open one of them.

use core::ffi::CStr;

use libc::{c_char, c_int};

use crate::error::{Failure, errno};
use crate::log::{File, Level, Message, Origin, Part, Text, enabled, send};

const FILE: File = File::DeviceNodes;

/// Logs that a call failed that begins with opening a device node. Gives the failure with the
/// `errno` that the call left.
#[cold]
#[inline(never)]
pub(super) fn open_failed(function: Text, call: &'static CStr) -> Failure {
    let errno = errno::get();
    let blamed = blame(errno);
    let parts = [call.into(), Part::Cause(errno), blamed.text().into()];
    send(
        const { Origin::new(Level::Error, FILE, line!()) },
        function,
        Text::new(c"%() failed: %%"),
        &parts,
    );
    Failure::provider(errno)
}

/// If `errno` may come from a device node, says which node is missing or forbidden. librdmacm and
/// libibverbs give various codes for this. Otherwise the text is empty.
#[cold]
#[inline(never)]
pub(super) fn blame(errno: c_int) -> Message {
    let mut text = Message::new();
    if !enabled(Level::Error)
        || !matches!(errno, libc::ENODEV | libc::ENOMEM | libc::ENOENT | libc::EACCES | libc::EPERM)
    {
        return text;
    }
    let mut path: [c_char; 64] = [0; 64];
    let (at, room) = (path.as_mut_ptr(), path.len());
    // First rdma_cm, then the node of each device that the system has.
    for number in -1..256 {
        let system = c"/sys/class/infiniband_verbs/uverbs%d".as_ptr();
        // SAFETY: there is room for the path and any number.
        unsafe { libc::snprintf(at, room, system, number) };
        if number >= 0 && opening(at, libc::O_RDONLY) != 0 {
            continue;
        }
        let node =
            if number < 0 { c"/dev/infiniband/rdma_cm" } else { c"/dev/infiniband/uverbs%d" };
        // SAFETY: as above.
        unsafe { libc::snprintf(at, room, node.as_ptr(), number) };
        let what = match opening(at, libc::O_RDWR) {
            libc::ENOENT => c"missing",
            libc::EACCES | libc::EPERM => c"forbidden",
            _ => continue,
        };
        let advice = c"; % is %: load rdma_ucm and ib_uverbs, let container and user open it";
        // SAFETY: a C string.
        let node = unsafe { Text::from_ptr(at) };
        text.append(Text::new(advice), &[node.into(), what.into()]);
        break;
    }
    text
}

/// The `errno` of opening it, 0 for success. Only that tells of all that may forbid it, the rules
/// of a container included.
fn opening(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: a C string.
    let fd = unsafe { libc::open(path, flags | libc::O_CLOEXEC) };
    if fd < 0 {
        return errno::get();
    }
    // SAFETY: ours.
    unsafe { libc::close(fd) };
    0
}
