// SPDX-License-Identifier: BSD-3-Clause
//! Private data: what came with a request or its acceptance.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use libc::c_void;

use crate::error::{Error, Result};
use crate::teardown::End;

/// Private data: bytes that one side sends to the other with a request or with its acceptance.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpma_conn_private_data {
    /// The bytes.
    pub ptr: *mut c_void,
    /// The number of bytes.
    pub len: u8,
}

/// The private data of the other side. Before they arrive, there is already memory for as many
/// bytes as can arrive, so that the event that brings them cannot fail. If the event brings none,
/// this memory is freed. The data never move, since callers keep pointers to them.
pub(crate) struct PrivateData {
    /// 0 as long as there are none.
    len: AtomicU8,
    bytes: Bytes,
}

impl PrivateData {
    pub(crate) fn new(data: &[u8]) -> Result<Self> {
        let len = u8::try_from(data.len()).unwrap_or(u8::MAX);
        let room = if len == 0 { u8::MAX } else { len };
        let new = Self { len: AtomicU8::new(0), bytes: Bytes::new(room)? };
        if len != 0 {
            new.store(data);
        }
        Ok(new)
    }

    /// Keeps `data`, unless there are data already. No further data will come.
    pub(crate) fn store(&self, data: &[u8]) {
        if self.len.load(Ordering::Relaxed) != 0 {
            return;
        }
        self.len.store(self.bytes.fill(data), Ordering::Release);
    }

    pub(crate) fn get(&self) -> rpma_conn_private_data {
        let len = self.len.load(Ordering::Acquire);
        let ptr = if len == 0 { null_mut() } else { self.bytes.as_ptr().cast() };
        rpma_conn_private_data { ptr, len }
    }
}

impl End for PrivateData {
    fn end(self) -> Result {
        drop(self);
        Ok(())
    }
}

/// Heap memory for some bytes, filled once.
struct Bytes {
    /// NULL where there is no room any more.
    ptr: AtomicPtr<u8>,
    room: u8,
}

impl Bytes {
    fn new(room: u8) -> Result<Self> {
        // SAFETY: `malloc` has no preconditions.
        let ptr = unsafe { libc::malloc(room.into()) }.cast();
        if NonNull::new(ptr).is_none() {
            return Err(Error::NoMem.into());
        }
        Ok(Self { ptr: AtomicPtr::new(ptr), room })
    }

    /// Copies as much of `data` as there is room for, or frees the memory if `data` is empty.
    /// Returns the number of bytes copied. Only one thread at a time calls it, and not again after
    /// it has copied some.
    fn fill(&self, data: &[u8]) -> u8 {
        let room = self.as_ptr();
        if room.is_null() {
            return 0;
        }
        let len = data.len().min(self.room.into());
        if len == 0 {
            self.ptr.store(null_mut(), Ordering::Relaxed);
            // SAFETY: ours, and nobody has a pointer to it.
            unsafe { libc::free(room.cast()) };
            return 0;
        }
        // SAFETY: there is room for `len` bytes, and nobody has a pointer to them yet.
        unsafe { room.copy_from_nonoverlapping(data.as_ptr(), len) };
        // No more than the room, which is a u8.
        len as u8
    }

    fn as_ptr(&self) -> *mut u8 {
        self.ptr.load(Ordering::Relaxed)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: ours, and not used after this.
        unsafe { libc::free(self.as_ptr().cast()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn private_data_are_kept_once(
            first in proptest::collection::vec(any::<u8>(), 0..=255),
            second in proptest::collection::vec(any::<u8>(), 0..=255),
        ) {
            let kept = PrivateData::new(&first).map_err(|_| TestCaseError::fail("memory"))?;
            kept.store(&second);
            let expected = if first.is_empty() { second } else { first };
            let got = kept.get();
            prop_assert_eq!(usize::from(got.len), expected.len());
            prop_assert_eq!(got.ptr.is_null(), expected.is_empty());
            if !got.ptr.is_null() {
                let data = got.ptr.cast::<u8>();
                // SAFETY: the data are there as long as `kept` is.
                let bytes = unsafe { core::slice::from_raw_parts(data, expected.len()) };
                prop_assert_eq!(bytes, expected);
            }
        }
    }
}
