// SPDX-License-Identifier: BSD-3-Clause
//! Raw bindings to the parts of libibverbs and librdmacm that librpma uses.
//!
//! The item names are those of crates.io's `rdma-sys`. `bindings.rs` is generated from rdma-core
//! 44's headers by `generate.sh`; `types.rs` has the types with unnamed unions, which need names in
//! Rust, and the types that are ahead of those headers; `verbs.rs` has the verbs that C gets as
//! inline functions.
//!
//! # Safety
//!
//! Every function here has the preconditions of its namesake in the ibv_* and rdma_* manual pages
//! and checks none of them.

#![no_std]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#![allow(clippy::missing_safety_doc)]
#![deny(unsafe_op_in_unsafe_fn)]

mod bindings;
mod types;
mod verbs;

pub use bindings::*;
pub use types::*;
pub use verbs::*;
