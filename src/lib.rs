// SPDX-License-Identifier: BSD-3-Clause
//! librpma: remote persistent memory access over RDMA.
//!
//! A drop-in replacement for the C library librpma 1.3.0: the same 84 functions, header, SONAME and
//! symbol versions. An exported function is a shell: it checks and borrows what the C caller gives
//! it, and calls the object behind it. Objects work on the owners of provider objects in
//! [`provider`].
//!
//! # Layers
//!
//! Each module uses only modules that are declared below it. A test checks that. From the top:
//!
//! - [`ep`]: an endpoint makes requests
//! - [`conn_req`]: a request becomes a connection
//! - [`flush`], [`operations`]: what is done on a connection
//! - [`utils`]: devices by address; the texts of return codes and events
//! - [`conn`]: a connection: its events, its queues, its end
//! - [`conn_cfg`], [`srq`], [`cq`], [`srq_cfg`], [`mr`], [`peer`], [`peer_cfg`]: the other objects
//! - [`domain`]: what a peer shares with all that is made with it
//! - [`native`]: which native operations a QP is asked for
//! - [`flush_buffer`]: where flushes by reading put what they read, and how long that lives
//! - [`private_data`]: what came with a request or its acceptance
//! - [`provider`]: libibverbs and librdmacm
//! - [`log`]: messages: thresholds, the log function, `errno` across both
//! - [`ffi`]: pointers that the C caller gives, handles, heap memory
//! - [`teardown`]: how objects end
//! - [`error`]: failures, return codes, `errno`
//!
//! # Safety
//!
//! Every exported function relies on what the C caller promises:
//!
//! 1. A pointer to an object of this library, or to an open device, is NULL, or points to an object
//!    of that type that is not deleted before the call returns.
//! 2. Any other pointer is NULL, or points to memory that can be read or written as the function
//!    says, until the call returns. A string ends with NUL.
//! 3. A pointer to a handle is NULL, or points to a handle that is NULL or was given by this
//!    library and not deleted, and that nobody else uses during the call.
//! 4. A pointer that comes with a length is NULL or points to that many bytes.
//! 5. Memory that is registered stays mapped until it is deregistered.
//! 6. No thread changes the environment while dlopen(3) loads the library, because the library
//!    reads the environment then. getenv(3) asks the same of every program.
//!
//! Each function says which calls may run at the same time in other threads.

#![cfg_attr(not(test), no_std)]
// For a log function of the tests.
#![cfg_attr(miri, feature(c_variadic))]
// The layers are for those who work on the library.
#![allow(rustdoc::private_intra_doc_links)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::expect_used, clippy::unwrap_used))]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("librpma is for 64-bit Linux");

pub mod ep;

pub mod conn_req;

pub mod flush;

pub mod operations;

pub mod utils;

pub mod conn;

pub mod conn_cfg;

pub mod srq;

pub mod cq;

pub mod srq_cfg;

pub mod mr;

pub mod peer;

pub mod peer_cfg;

mod domain;

mod native;

mod flush_buffer;

mod private_data;

mod provider;

pub mod log;

mod ffi;

mod teardown;

pub mod error;

#[cfg(test)]
mod layers;
#[cfg(test)]
mod scenarios;

/// Reads the environment once, when the library is loaded: when the program starts, or in
/// dlopen(3). Other threads do not change the environment meanwhile (promise 6).
extern "C" fn configure() {
    log::configure();
    native::configure();
}

#[used]
#[unsafe(link_section = ".init_array")]
static CONFIGURE: extern "C" fn() = configure;

/// Never called: a test checks that the library has no panic path. But the language requires a
/// handler.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: no preconditions.
    unsafe { libc::abort() }
}

/// What unoptimised builds of `core` refer to and never call, since panics abort.
#[cfg(all(not(test), debug_assertions))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
