// SPDX-License-Identifier: BSD-3-Clause
//! The buffer into which flushes read, and how long it exists.
//!
//! The connections of a peer share one buffer. The first connection that needs the buffer creates
//! it. It is destroyed together with the last of the peer and these connections, which
//! [`crate::domain`] counts.

use core::ptr::{NonNull, null_mut};

use libc::c_void;
use rdma_sys::{ibv_pd, ibv_sge};

use crate::error::{Error, Result};
use crate::ffi::Shared;
use crate::log::File;
use crate::provider::failed;
use crate::provider::verbs::{Mr, read_dst_access};
use crate::teardown::End;

const FILE: File = File::FlushBuffer;

/// The memory into which flushes read. Nothing uses these data.
pub(crate) struct FlushBuffer {
    /// Before the page: it must not outlive what it registers.
    mr: Mr,
    _page: Page,
}

impl FlushBuffer {
    /// How many bytes a flush reads.
    pub(crate) const SIZE: usize = 8;

    /// # Safety
    ///
    /// `pd` is alive.
    pub(crate) unsafe fn new(pd: *mut ibv_pd) -> Result<Self> {
        let page = Page::map()?;
        // SAFETY: a live PD knows its device.
        let access = unsafe { read_dst_access((*pd).context) };
        // SAFETY: the PD is alive, and the page lives longer than the MR.
        let mr = unsafe { Mr::reg(pd, page.address.as_ptr(), Self::SIZE, access) };
        let mr = mr.map_err(|errno| failed!(c"ibv_reg_mr", errno))?;
        Ok(Self { mr, _page: page })
    }

    #[inline]
    pub(crate) fn sge(&self, len: usize) -> ibv_sge {
        ibv_sge { addr: self.mr.addr() as u64, length: len as u32, lkey: self.mr.lkey() }
    }
}

impl End for Shared<FlushBuffer> {
    /// Ends a share of the buffer, which goes with the last one.
    fn end(self) -> Result {
        self.into_inner().map_or(Ok(()), |buffer| buffer.mr.end())
    }
}

/// A whole page, shared with child processes: after a fork, it must stay where the device writes.
struct Page {
    address: NonNull<c_void>,
}

// SAFETY: the page is not tied to a thread, and only the device writes to it.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Page {
    /// Where pages are larger, the kernel makes it one of these.
    const SIZE: usize = 4096;

    fn map() -> Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // Miri knows no shared mappings, and no forks either.
        let sharing = if cfg!(miri) { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        let kind = sharing | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address = unsafe { libc::mmap(null_mut(), Self::SIZE, access, kind, -1, 0) };
        match NonNull::new(address) {
            Some(address) if address.as_ptr() != libc::MAP_FAILED => Ok(Self { address }),
            _ => Err(Error::NoMem.into()),
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: our own mapping, and nothing refers to it any more.
        unsafe { libc::munmap(self.address.as_ptr(), Self::SIZE) };
    }
}
