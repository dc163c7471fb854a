// SPDX-License-Identifier: BSD-3-Clause
//! The owner of an object that one function of libibverbs makes and another one destroys.

use core::ffi::CStr;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;

use libc::c_int;

use super::check_code;
use crate::error::Result;
use crate::log::File;
use crate::teardown::End;

const FILE: File = File::Owner;

/// An object that its owner destroys.
pub(crate) trait Destroy {
    /// The function that destroys it, for log lines.
    const FUNCTION: &'static CStr;

    /// Destroys it. Gives what the function returns: 0 or an `errno`.
    ///
    /// # Safety
    ///
    /// The object is alive, and not used after this.
    unsafe fn destroy(&mut self) -> c_int;
}

/// An object that is destroyed with its owner.
pub(crate) struct Owner<T: Destroy>(T);

impl<T: Destroy> Owner<T> {
    /// # Safety
    ///
    /// `object` is alive and has no other owner.
    pub(super) const unsafe fn new(object: T) -> Self {
        Self(object)
    }
}

impl<T> Owner<NonNull<T>>
where
    NonNull<T>: Destroy,
{
    /// The owner of the object at `raw`, or none for NULL.
    ///
    /// # Safety
    ///
    /// An object at `raw` is alive and has no other owner.
    pub(crate) unsafe fn from_raw(raw: *mut T) -> Option<Self> {
        NonNull::new(raw).map(Self)
    }
}

impl<T: Destroy> Deref for Owner<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Destroy> End for Owner<T> {
    fn end(self) -> Result {
        let mut owner = ManuallyDrop::new(self);
        // SAFETY: the object is ours, and this is the end of it.
        check_code!(T::FUNCTION, unsafe { owner.0.destroy() })
    }
}

impl<T: Destroy> Drop for Owner<T> {
    fn drop(&mut self) {
        // SAFETY: as in `end`.
        unsafe { self.0.destroy() };
    }
}
