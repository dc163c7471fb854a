// SPDX-License-Identifier: BSD-3-Clause
//! Gives the cdylib its SONAME.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librpma.so.0");
}
