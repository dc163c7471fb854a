// SPDX-License-Identifier: BSD-3-Clause
//! librpma: remote persistent memory access over RDMA.
//!
//! A drop-in replacement for the C library librpma 1.3.0: the same 84 functions, header, SONAME
//! and symbol versions. Exported functions are shells, which check and borrow what the C caller
//! gives them and call the object behind it. Objects work on the owners of provider objects in
//! [`provider`]; nothing goes back up.
//!
//! In the order of the header:
//!
//! - devices by address; texts of return codes and events: [`utils`]
//! - what a peer promises; a device opened for use: [`peer_cfg`], [`peer`]
//! - local and remote memory regions: [`mr`]
//! - connections: [`conn_cfg`], [`conn_req`], [`conn`], [`ep`]
//! - shared receive queues: [`srq_cfg`], [`srq`]
//! - read, write, send, receive, atomic write; flush: [`operations`], [`flush`]
//! - completions: [`cq`]
//! - log messages: [`log`]
//!
//! and beneath them [`error`] (failures, return codes, `errno`), [`ffi`] (pointers, handles,
//! memory) and [`provider`] (libibverbs and librdmacm).
//!
//! # Safety
//!
//! The C caller promises, and every exported function relies on it:
//!
//! 1. A pointer to an object of this library, or to an open device, is NULL or points to a live
//!    one of that type, which is not deleted before the call returns.
//! 2. Any other pointer is NULL, or points to memory that can be read or written as the function
//!    says, until the call returns. A string ends with NUL.
//! 3. A pointer to a handle is NULL, or points to a handle that is NULL or was given by this
//!    library and not deleted, and that nobody else uses during the call.
//! 4. A pointer that comes with a length is NULL or points to that many bytes.
//! 5. Memory that is registered stays mapped until it is deregistered.
//! 6. No thread changes the environment while dlopen(3) loads the library, which reads it then, as
//!    getenv(3) asks of every program.
//!
//! Each function says which calls may run at the same time in other threads.

#![cfg_attr(not(test), no_std)]
// For a log function of the tests.
#![cfg_attr(miri, feature(c_variadic))]
// The map above is for those who work on the library.
#![allow(rustdoc::private_intra_doc_links)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::expect_used, clippy::unwrap_used))]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("librpma is for 64-bit Linux");

pub mod utils;

pub mod peer_cfg;

pub mod peer;

pub mod mr;

pub mod conn_cfg;

pub mod conn_req;

pub mod conn;

pub mod ep;

pub mod srq_cfg;

pub mod srq;

pub mod operations;

pub mod flush;

pub mod cq;

pub mod log;

pub mod error;

mod domain;
mod ffi;
mod flush_buffer;
mod native;
mod private_data;
mod provider;
mod teardown;

#[cfg(test)]
mod scenarios;

/// Reads the environment, once, when the library is loaded: at the start of the program, or by
/// dlopen(3) beside its threads, which leave the environment alone meanwhile (promise 6).
extern "C" fn configure() {
    log::configure();
    native::configure();
}

#[used]
#[unsafe(link_section = ".init_array")]
static CONFIGURE: extern "C" fn() = configure;

/// Never called: the shipped library has no panic path, as a test checks. The language wants a
/// handler all the same.
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
