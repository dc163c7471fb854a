// SPDX-License-Identifier: BSD-3-Clause
//! A provider for tests: what the library calls of libibverbs and librdmacm, within one process.
//!
//! Its functions have the names of the C libraries' and take their places in the test program.
//! Under Miri there are no others.
//!
//! An object is a public structure of the C libraries with the provider's own state behind it. The
//! public part is written, from any thread, when libibverbs, librdmacm or a driver would write it,
//! and only ever through raw pointers: who holds a reference to such a structure has a data race.
//! Each object has locks of its own, as with a real provider: one big lock would put the threads in
//! an order and so hide races of the library.
//!
//! What a program or the library must not do is a failed assertion, and as it is one in a C
//! function, it ends the test program.

use core::ops::Deref;
use std::sync::{Mutex, MutexGuard};

use libc::c_int;

mod cm;
mod verbs;

pub(super) use verbs::Device;

/// A pointer that threads share.
pub(super) struct Ptr<T>(pub(super) *mut T);

impl<T> Ptr<T> {
    /// Where the pointer is, as functions take it that delete.
    pub(super) fn handle(&mut self) -> *mut *mut T {
        &mut self.0
    }
}

impl<T> Clone for Ptr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ptr<T> {}

// SAFETY: what is behind it says itself which threads may do what.
unsafe impl<T> Send for Ptr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Ptr<T> {}

impl<T> Deref for Ptr<T> {
    type Target = *mut T;

    fn deref(&self) -> &*mut T {
        &self.0
    }
}

/// A structure of the C libraries.
trait Public: Sized {
    /// What the provider keeps behind it.
    type Inner;

    fn make(self, inner: Self::Inner) -> *mut Self {
        Box::into_raw(Box::new(Object { public: self, inner })).cast()
    }
}

#[repr(C)]
struct Object<P: Public> {
    public: P,
    inner: P::Inner,
}

/// # Safety
///
/// `object` is of [`Public::make`] and alive.
unsafe fn inner<'a, P: Public>(object: *mut P) -> &'a P::Inner {
    // SAFETY: alive by the caller's promise. This makes no reference to the public part.
    unsafe { &(*object.cast::<Object<P>>()).inner }
}

/// # Safety
///
/// `object` is of [`Public::make`], and not used after this.
unsafe fn unmake<P: Public>(object: *mut P) {
    // SAFETY: passed on to the caller.
    drop(unsafe { Box::from_raw(object.cast::<Object<P>>()) });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no test failed before")
}

/// Fails as the C libraries do.
fn fail(errno: c_int) -> c_int {
    // SAFETY: the C library's `errno` location is valid for the calling thread.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// What the library looks for in the environment when it is loaded. Miri has no such function.
#[cfg(miri)]
#[unsafe(no_mangle)]
extern "C" fn secure_getenv(_name: *const libc::c_char) -> *mut libc::c_char {
    core::ptr::null_mut()
}

/// A test would call the C library's own function with objects that it did not make.
#[test]
fn no_function_of_the_c_libraries_is_missing() {
    const BINDINGS: &str = include_str!("../../../rdma-sys/src/bindings.rs");
    const HERE: &str = concat!(include_str!("verbs.rs"), include_str!("cm.rs"));
    let missing: Vec<&str> = BINDINGS
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub fn ")?.split('(').next())
        .filter(|name| !HERE.contains(&format!("extern \"C\" fn {name}(")))
        .collect();
    // It stands in for `query_device_ex` of older drivers.
    assert_eq!(missing, ["ibv_query_device"]);
}
