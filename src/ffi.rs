// SPDX-License-Identifier: BSD-3-Clause
//! The pointer idioms of the C boundary: checked borrows, out-parameters, handles, and heap
//! objects whose allocation can fail. Nothing else in the crate deals with raw C pointers to our
//! own objects.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicUsize, Ordering};

use libc::{c_int, c_void};

use crate::error::{Checked, Error, Result, status};

/// C's `bool` as a caller may really pass it: any byte. Zero is false, all else true.
#[allow(non_camel_case_types)]
pub type c_bool = u8;

/// Borrows the object behind `ptr`. NULL is `RPMA_E_INVAL`.
///
/// # Safety
///
/// `ptr` is NULL or points to a live object of ours (promise 1 of the crate's Safety chapter).
#[inline]
pub(crate) unsafe fn borrow<'a, T>(ptr: *const T) -> Checked<&'a T> {
    // SAFETY: passed on to the caller.
    unsafe { ptr.as_ref() }.ok_or(Error::Inval)
}

/// A NULL check for pointers that are passed on and not looked into.
#[inline]
pub(crate) fn required<T>(ptr: *const T) -> Checked<*const T> {
    if ptr.is_null() { Err(Error::Inval) } else { Ok(ptr) }
}

/// The `T` at the start of the `len` bytes at `ptr`, or none if there are too few bytes.
///
/// # Safety
///
/// Promise 4, and a `T` may be any bytes.
#[inline]
pub(crate) unsafe fn record<'a, T>(ptr: *const c_void, len: usize) -> Checked<Option<&'a T>> {
    const { assert!(align_of::<T>() == 1, "callers give any address") };
    let ptr = required(ptr)?;
    // SAFETY: readable by the caller's promise.
    Ok(if len < size_of::<T>() { None } else { Some(unsafe { &*ptr.cast() }) })
}

/// The caller's structure at `ptr`; none for NULL. It may be part of a packed one.
///
/// # Safety
///
/// `ptr` is NULL or readable for a `T` (promise 2).
#[inline]
pub(crate) unsafe fn read<T: Copy>(ptr: *const T) -> Option<T> {
    // SAFETY: readable by the caller's promise.
    (!ptr.is_null()).then(|| unsafe { ptr.read_unaligned() })
}

/// An out-parameter. The memory may be uninitialised, so we write it and never read it.
pub(crate) struct Out<'a, T>(NonNull<T>, PhantomData<&'a mut T>);

impl<T> Out<'_, T> {
    /// One that may be NULL.
    ///
    /// # Safety
    ///
    /// As [`Out::new`].
    #[inline]
    pub(crate) unsafe fn optional(ptr: *mut T) -> Option<Self> {
        NonNull::new(ptr).map(|ptr| Self(ptr, PhantomData))
    }

    /// # Safety
    ///
    /// `ptr` is NULL or writable for a `T` (promise 2).
    #[inline]
    pub(crate) unsafe fn new(ptr: *mut T) -> Checked<Self> {
        // SAFETY: passed on to the caller.
        unsafe { Self::optional(ptr) }.ok_or(Error::Inval)
    }

    #[inline]
    pub(crate) fn set(self, value: T) {
        // SAFETY: writable by the promise given to `new`. Unaligned, since descriptors and
        // packed structures of the caller may hold the variable.
        unsafe { self.0.as_ptr().write_unaligned(value) }
    }
}

impl<T> Out<'_, *mut T> {
    /// Gives the object to the caller, who owns it from now on. If it could not be made, the
    /// out-parameter is left as it is.
    #[inline]
    pub(crate) fn give(self, made: Result<Owned<T>>) -> Result {
        self.set(made?.into_raw());
        Ok(())
    }
}

/// A heap object with one owner. `Box` would abort where `malloc` fails.
pub(crate) struct Owned<T>(NonNull<T>);

impl<T> Owned<T> {
    pub(crate) fn new(value: T) -> Result<Self> {
        const { assert!(align_of::<T>() <= 16, "malloc aligns to 16 bytes") };
        // SAFETY: `malloc` has no preconditions.
        let memory = unsafe { libc::malloc(size_of::<T>()) }.cast::<T>();
        match NonNull::new(memory) {
            Some(memory) => {
                // SAFETY: fresh memory of the right size and alignment.
                unsafe { memory.as_ptr().write(value) };
                Ok(Self(memory))
            }
            None => Err(Error::NoMem.into()),
        }
    }

    pub(crate) fn into_raw(self) -> *mut T {
        let raw = self.0.as_ptr();
        core::mem::forget(self);
        raw
    }

    /// # Safety
    ///
    /// `raw` came from [`Owned::into_raw`] and nobody else owns it.
    pub(crate) unsafe fn from_raw(raw: NonNull<T>) -> Self {
        Self(raw)
    }

    /// The same object under another type.
    ///
    /// # Safety
    ///
    /// `U` is `T` in all but its name.
    pub(crate) unsafe fn cast<U>(self) -> Owned<U> {
        let cast = Owned(self.0.cast());
        core::mem::forget(self);
        cast
    }

    /// Takes the value out of its heap memory, and frees the memory.
    pub(crate) fn into_inner(self) -> T {
        let raw = self.into_raw();
        // SAFETY: `raw` was ours alone; the value is moved out once and the memory freed once.
        unsafe {
            let value = raw.read();
            libc::free(raw.cast());
            value
        }
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: valid while we own it.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for Owned<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: valid, and ours alone, while we own it.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: we are the owner, and this is the end of it.
        unsafe {
            self.0.as_ptr().drop_in_place();
            libc::free(self.0.as_ptr().cast());
        }
    }
}

/// Takes the object out of the caller's handle, and sets the handle to NULL.
///
/// # Safety
///
/// `handle` is NULL or points to a handle that is NULL or owns a live object (promise 3).
#[inline]
pub(crate) unsafe fn take<T>(handle: *mut *mut T) -> Checked<Option<Owned<T>>> {
    let handle = NonNull::new(handle).ok_or(Error::Inval)?;
    // SAFETY: not NULL, so it points to a handle by the caller's promise. Unaligned, as in `Out`.
    let object = unsafe {
        let object = handle.as_ptr().read_unaligned();
        handle.as_ptr().write_unaligned(null_mut());
        object
    };
    // SAFETY: the handle owned the object and owns it no more.
    Ok(NonNull::new(object).map(|object| unsafe { Owned::from_raw(object) }))
}

/// What every `*_delete` does: it calls `teardown` with the object, if the handle has one.
///
/// # Safety
///
/// As [`take`].
#[inline]
pub(crate) unsafe fn delete<T>(
    handle: *mut *mut T,
    teardown: impl FnOnce(Owned<T>) -> Result,
) -> c_int {
    // SAFETY: passed on to the caller.
    match unsafe { take(handle) } {
        Ok(Some(object)) => status(teardown(object)),
        Ok(None) => 0,
        Err(error) => error as c_int,
    }
}

/// Runs the body of an exported function and gives its C return code.
#[inline(always)]
pub(crate) fn status_of(body: impl FnOnce() -> Result) -> c_int {
    status(body())
}

/// As [`status_of`], for a body that calls nothing which may set `errno`.
#[inline(always)]
pub(crate) fn status_of_checked(body: impl FnOnce() -> Checked) -> c_int {
    match body() {
        Ok(()) => 0,
        Err(error) => error as c_int,
    }
}

struct Counted<T> {
    shares: AtomicUsize,
    value: T,
}

/// A heap object with several owners. The last owner frees it. `Arc` would abort if `malloc` fails.
pub(crate) struct Shared<T>(NonNull<Counted<T>>);

// SAFETY: a share gives `&T` to whoever holds it and may be the one that drops `T`.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Result<Self> {
        let counted = Owned::new(Counted { shares: AtomicUsize::new(1), value })?;
        let raw = counted.into_raw();
        // SAFETY: `into_raw` gives the address of a live object.
        Ok(Self(unsafe { NonNull::new_unchecked(raw) }))
    }

    pub(crate) fn share(&self) -> Self {
        // SAFETY: alive while `self` holds its share.
        unsafe { self.0.as_ref() }.shares.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }

    /// Ends this share. Gives the value if it was the last.
    pub(crate) fn into_inner(self) -> Option<T> {
        let raw = self.0;
        core::mem::forget(self);
        // SAFETY: alive while we hold the share, which ends here.
        if unsafe { raw.as_ref() }.shares.fetch_sub(1, Ordering::AcqRel) != 1 {
            return None;
        }
        // SAFETY: that was the last share.
        Some(unsafe { Owned::from_raw(raw) }.into_inner().value)
    }

    /// Turns this share into an address, without ending the share.
    pub(crate) fn into_raw(self) -> *mut c_void {
        let raw = self.0.as_ptr().cast();
        core::mem::forget(self);
        raw
    }

    /// # Safety
    ///
    /// `raw` came from [`Shared::into_raw`] of the same `T`, and the share it stands for has not
    /// been taken back yet.
    pub(crate) unsafe fn from_raw(raw: NonNull<c_void>) -> Self {
        Self(raw.cast())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: alive while `self` holds its share.
        &unsafe { self.0.as_ref() }.value
    }
}

impl<T> Drop for Shared<T> {
    // Out of line, because many constructors have it on their undo path.
    #[inline(never)]
    fn drop(&mut self) {
        drop(Self(self.0).into_inner());
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::error::RPMA_E_INVAL;

    #[test]
    fn a_deleted_handle_is_null_and_may_be_deleted_again() {
        let mut handle = Owned::new(7).map_or(null_mut(), Owned::into_raw);
        let mut seen = 0;
        // SAFETY: `handle` owns a live object, then none.
        unsafe {
            let keep = |object: Owned<i32>| {
                seen = *object;
                Ok(())
            };
            assert_eq!(delete(&mut handle, keep), 0);
            assert!(handle.is_null());
            assert_eq!(delete(&mut handle, |_| Err(Error::Unknown.into())), 0);
            assert_eq!(delete(null_mut::<*mut i32>(), |_| Ok(())), RPMA_E_INVAL);
        }
        assert_eq!(seen, 7);
    }

    #[test]
    fn a_handle_and_a_structure_may_be_unaligned() {
        #[repr(C, packed)]
        struct Packed(u8, *mut i32, u64);
        let object = Owned::new(7).map_or(null_mut(), Owned::into_raw);
        let mut packed = Packed(1, object, 2);
        // SAFETY: a handle that owns a live object, and a structure.
        unsafe {
            assert_eq!(read(&raw const packed.2), Some(2));
            assert_eq!(delete(&raw mut packed.1, |_| Ok(())), 0);
            assert_eq!(take(&raw mut packed.1).map(|taken| taken.is_none()), Ok(true));
            assert_eq!(read::<u64>(core::ptr::null()), None);
        }
        assert_eq!(packed.0, 1);
    }

    #[test]
    fn a_shared_object_ends_with_its_last_share() {
        let probe = Rc::new(());
        let Ok(first) = Shared::new(Rc::clone(&probe)) else { unreachable!() };
        let second = first.share();
        drop(first);
        assert_eq!(Rc::strong_count(&probe), 2);
        drop(second);
        assert_eq!(Rc::strong_count(&probe), 1);
    }

    #[test]
    fn an_out_parameter_may_be_unaligned() {
        let mut bytes = [0u8; 9];
        // SAFETY: one byte into nine leaves room for eight.
        unsafe { Out::new(bytes.as_mut_ptr().add(1).cast::<u64>()).map(|out| out.set(1)).ok() };
        assert_eq!(bytes[1..], 1u64.to_ne_bytes());
    }
}
