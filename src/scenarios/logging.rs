// SPDX-License-Identifier: BSD-3-Clause
//! The log function.

use core::cell::Cell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Once;
use std::thread;

use libc::{c_char, c_int};

use super::*;

thread_local! {
    /// The messages of this thread that `first` and `second` got.
    static SEEN: Cell<usize> = const { Cell::new(0) };
}

/// How often each of the two was called, in whatever thread.
static CALLS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// What the threads of the test provoke: it has no parts, which Miri has no `snprintf` for.
const MESSAGE: &CStr = c"no completion\n";

unsafe fn note(which: usize, level: c_int, function: *const c_char, message: *const c_char) {
    CALLS[which].fetch_add(1, Ordering::Relaxed);
    // SAFETY: the library gives C strings.
    let (function, message) = unsafe { (CStr::from_ptr(function), CStr::from_ptr(message)) };
    if level == rpma_log_level::RPMA_LOG_LEVEL_DEBUG as c_int && message == MESSAGE {
        assert_eq!(function, c"rpma_cq_get_wc");
        SEEN.set(SEEN.get() + 1);
    }
    // SAFETY: the C library's `errno` location is valid for the calling thread.
    unsafe { *libc::__errno_location() = libc::EXDEV };
}

/// A log function. The library calls it with variable arguments, and only nightly compilers can
/// define one that takes them. Elsewhere two fixed ones stand in their places: where the library is
/// built, they are passed in the same registers. Miri would not accept that.
macro_rules! log_function {
    ($name:ident, $which:expr) => {
        #[cfg(miri)]
        unsafe extern "C" fn $name(
            level: c_int,
            _file: *const c_char,
            _line: c_int,
            function: *const c_char,
            _format: *const c_char,
            mut arguments: ...
        ) {
            // SAFETY: the format is "%s".
            unsafe { note($which, level, function, arguments.next_arg::<*const c_char>()) }
        }

        #[cfg(not(miri))]
        unsafe extern "C" fn $name(
            level: c_int,
            _file: *const c_char,
            _line: c_int,
            function: *const c_char,
            _format: *const c_char,
            message: *const c_char,
        ) {
            // SAFETY: the format is "%s".
            unsafe { note($which, level, function, message) }
        }
    };
}

log_function!(first, 0);
log_function!(second, 1);

fn set_function(function: *const ()) {
    ok!(rpma_log_set_function(function.cast_mut().cast()));
}

fn set_threshold(level: rpma_log_level) {
    let threshold = rpma_log_threshold::RPMA_LOG_THRESHOLD as c_int;
    ok!(rpma_log_set_threshold(threshold, level as c_int));
}

/// Keeps what the tests provoke out of the system's log. Under Miri, most messages cannot even be
/// put together.
pub(super) fn be_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_function(first as *const ());
        if cfg!(miri) {
            set_threshold(rpma_log_level::RPMA_LOG_DISABLED);
        }
    });
}

#[test]
fn every_message_comes_once_while_the_log_function_is_replaced() {
    const MESSAGES: usize = 200;
    let host = Host::new();
    let (client, server) = host.connect(null());
    set_threshold(rpma_log_level::RPMA_LOG_LEVEL_DEBUG);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let log = || {
            for count in 1..=MESSAGES {
                // SAFETY: the C library's `errno` location is valid for the calling thread.
                unsafe { *libc::__errno_location() = libc::ENOENT };
                assert!(poll(cq(client)).is_none());
                // SAFETY: as above.
                assert_eq!(unsafe { *libc::__errno_location() }, libc::ENOENT);
                assert_eq!(SEEN.get(), count);
            }
        };
        let threads = [scope.spawn(log), scope.spawn(log), scope.spawn(log)];
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                set_function(second as *const ());
                thread::yield_now();
                set_function(first as *const ());
                thread::yield_now();
            }
        });
        let outcomes = threads.map(|thread| thread.join());
        done.store(true, Ordering::Relaxed);
        assert!(outcomes.iter().all(|outcome| outcome.is_ok()));
    });
    set_threshold(match cfg!(miri) {
        true => rpma_log_level::RPMA_LOG_DISABLED,
        false => rpma_log_level::RPMA_LOG_LEVEL_WARNING,
    });
    let calls: usize = CALLS.iter().map(|calls| calls.load(Ordering::Relaxed)).sum();
    assert!(calls >= 3 * MESSAGES);
    disconnect(client, server);
}
