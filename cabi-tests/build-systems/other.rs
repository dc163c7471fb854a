// SPDX-License-Identifier: BSD-3-Clause
//! Another static library by rustc, with all of Rust's standard library in it.

/// Allocates, formats, panics and catches it: returns 13.
#[unsafe(no_mangle)]
pub extern "C" fn other_library() -> i32 {
    let text = format!("{:?}", vec![1, 2, 3]);
    let caught = std::panic::catch_unwind(|| text.parse::<u8>().expect("is no number")).is_err();
    text.len() as i32 + if caught { 4 } else { 0 }
}
