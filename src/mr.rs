// SPDX-License-Identifier: BSD-3-Clause
//! Memory regions: local ones, which are registered, and remote ones, made from a descriptor.

use core::ffi::CStr;
use core::ptr::NonNull;

use libc::{c_int, c_void};
use rdma_sys::{ibv_access_flags, ibv_advise_mr, ibv_sge};

use crate::domain::Domain;
use crate::error::{Checked, Error, Failure, Result, errno};
use crate::ffi::{self, Out, Owned};
use crate::log::{File, Level, Part, enabled, log, refused};
use crate::peer::Peer;
use crate::provider::failed;
use crate::provider::qp::Remote;
use crate::provider::verbs::{DeviceCaps, Mr, read_dst_access};
use crate::teardown::End;

const FILE: File = File::Mr;

/// The region can be read remotely: the other side's rpma_read() reads it.
pub const RPMA_MR_USAGE_READ_SRC: c_int = 1 << 0;
/// rpma_read() puts what it reads into the region.
pub const RPMA_MR_USAGE_READ_DST: c_int = 1 << 1;
/// rpma_write() and rpma_write_with_imm() take their data from the region. Read-only memory is
/// enough, unless you combine this with a usage that writes to the region, or the memory is a
/// shared mapping of a file on Linux 6.1.
pub const RPMA_MR_USAGE_WRITE_SRC: c_int = 1 << 2;
/// The region can be written remotely: the other side's rpma_write(), rpma_write_with_imm() and
/// rpma_atomic_write() write to it.
pub const RPMA_MR_USAGE_WRITE_DST: c_int = 1 << 3;
/// The other side may flush the region with RPMA_FLUSH_TYPE_VISIBILITY. A flush may be done by a
/// read, so the other side can also read the region.
pub const RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY: c_int = 1 << 4;
/// The other side may flush the region with RPMA_FLUSH_TYPE_PERSISTENT. A flush may be done by a
/// read, so the other side can also read the region.
pub const RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT: c_int = 1 << 5;
/// rpma_send() and rpma_send_with_imm() take messages from the region.
pub const RPMA_MR_USAGE_SEND: c_int = 1 << 6;
/// rpma_recv(), rpma_conn_req_recv() and rpma_srq_recv() put messages into the region.
pub const RPMA_MR_USAGE_RECV: c_int = 1 << 7;

const USAGE_FLUSH: c_int =
    RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
const USAGE_WRITTEN_LOCALLY: c_int =
    RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_RECV;
const USAGE_ALL: c_int = 0xff;

/// A region of this process's memory that is registered with a peer's device.
pub struct MrLocal {
    // Copies of the MR's fields that a data segment needs, so that posting need not read the MR.
    addr: u64,
    lkey: u32,
    usage: u8,
    mr: Mr,
}

/// A region of the other side's memory, as its descriptor describes it.
pub struct MrRemote {
    addr: u64,
    size: u64,
    rkey: u32,
    usage: u8,
}

/// Registers memory so that the device can read or write it.
///
/// The memory stays yours. Keep it mapped until you deregister the region. Registering locks it
/// into RAM, which counts towards RLIMIT_MEMLOCK. Memory that the device takes only with on-demand
/// paging, such as a file on a DAX file system, is not locked.
///
/// For every usage, you can register memory that malloc(3) gives, anonymous pages and huge pages,
/// and mappings of a device DAX, of a memfd_create(2) file or of a file on tmpfs, if you can read
/// and write them. So you can use ordinary memory in place of persistent memory, flushes included.
///
/// If the device only reads the memory for a usage, read-only memory is enough. For a shared
/// mapping (MAP_SHARED) of a file, the kernel decides. Linux 6.1 refuses a read-only one. Linux
/// 6.12 takes it, but refuses a mapping of a file on a disk for a usage that writes:
/// RPMA_MR_USAGE_READ_DST, RPMA_MR_USAGE_WRITE_DST, RPMA_MR_USAGE_RECV. Both kernels take a private
/// mapping (MAP_PRIVATE), but what is written to it does not reach the file.
///
/// # Parameters
///
/// - `peer`: the peer whose device will use the memory.
/// - `ptr`, `size`: the memory and its size in bytes, at least 1.
/// - `usage`: what the region is for: one or more of RPMA_MR_USAGE_*, combined with |. Ask for no
///   more than you need.
/// - `mr_ptr`: receives the region. Deregister it with rpma_mr_dereg().
///
/// # Errors
///
/// - RPMA_E_INVAL: a pointer is NULL, `size` is 0, or `usage` is 0 or has unknown bits.
/// - RPMA_E_NOMEM: out of memory.
/// - RPMA_E_PROVIDER: ibv_reg_mr() failed. If errno is EOPNOTSUPP, the memory is a file on a DAX
///   file system. That needs on-demand paging, which the device does not support; a device DAX
///   works. If errno is EFAULT, the memory does not permit the usage, or it is a shared mapping of
///   a file that the kernel refuses: use ordinary memory, and copy. If errno is ENOMEM, the limit
///   of locked memory (RLIMIT_MEMLOCK) may be reached. If errno is EINVAL, the memory may be a part
///   of a huge page, in a process that has RDMAV_FORK_SAFE but not RDMAV_HUGEPAGES_SAFE in its
///   environment: see librpma(7).
///
/// # Safety
///
/// `peer` must be NULL or a peer that has not been deleted. `mr_ptr` must be NULL or point to
/// writable memory. The memory at `ptr` must stay mapped as long as it is registered.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_reg(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_reg(
    peer: *mut Peer,
    ptr: *mut c_void,
    size: usize,
    usage: c_int,
    mr_ptr: *mut *mut MrLocal,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (peer, out) = unsafe { (ffi::borrow(peer)?, Out::new(mr_ptr)?) };
        let ptr = NonNull::new(ptr).ok_or(Error::Inval)?;
        // SAFETY: the caller keeps the memory mapped (promise 5).
        out.give(unsafe { MrLocal::reg(peer.domain(), ptr, size, usage) })
    })
}

/// Deregisters memory and deletes the region.
///
/// The memory itself stays as it is. The other side can no longer use it: if it still tries to, its
/// connection breaks.
///
/// # Parameters
///
/// - `mr_ptr`: the address of the handle. The function sets the handle to NULL, even if it fails.
///   If the handle is NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `mr_ptr` is NULL.
/// - RPMA_E_PROVIDER: ibv_dereg_mr() failed.
///
/// # Safety
///
/// `mr_ptr` must be NULL or point to a handle. The handle must be NULL, or own a region that has
/// not been deregistered.
///
/// # Thread safety
///
/// No thread may use the region during this call or afterwards. All operations that use it must
/// have completed.
///
/// # Manual page
///
/// rpma_mr_dereg(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_dereg(mr_ptr: *mut *mut MrLocal) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(mr_ptr, |region| region.into_inner().mr.end()) }
}

/// Writes the descriptor of a local region into a buffer.
///
/// With the descriptor, the other side can use the region. Your program sends it there, as private
/// data of the connection or as a message. The other side creates a remote region from it with
/// rpma_mr_remote_from_descriptor().
///
/// The descriptor has 21 bytes on every machine: address (8 bytes), length (8 bytes), key (4
/// bytes), each with its least significant byte first, and usage (1 byte).
///
/// # Parameters
///
/// - `mr`: the region.
/// - `desc`: memory for the descriptor, of the size that rpma_mr_get_descriptor_size() gives.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `mr` must be NULL or a region that has not been deleted. `desc` must be NULL or point to enough
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_get_descriptor(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_get_descriptor(mr: *const MrLocal, desc: *mut c_void) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (region, out) = unsafe { (ffi::borrow(mr)?, Out::new(desc.cast::<Descriptor>())?) };
        out.set(region.as_remote().to_descriptor());
        Ok(())
    })
}

/// Creates a remote region from the other side's descriptor.
///
/// You pass the remote region to operations, which read, write or flush the other side's memory. It
/// only describes that memory. It does not belong to a connection, and it does not keep the memory
/// registered on the other side.
///
/// # Parameters
///
/// - `desc`: the descriptor. The function does not read the bytes that follow it.
/// - `desc_size`: the number of bytes at `desc`. It may be larger than the descriptor.
/// - `mr_ptr`: receives the region. Delete it with rpma_mr_remote_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: a pointer is NULL, the descriptor is too short, or its usage is 0.
/// - RPMA_E_NOMEM: out of memory.
///
/// # Safety
///
/// `desc` must be NULL or point to `desc_size` readable bytes. `mr_ptr` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_remote_from_descriptor(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_remote_from_descriptor(
    desc: *const c_void,
    desc_size: usize,
    mr_ptr: *mut *mut MrRemote,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promises 2 and 4.
        let (out, desc) = unsafe { (Out::new(mr_ptr)?, ffi::record(desc, desc_size)?) };
        let desc = desc.ok_or_else(|| too_short(desc_size));
        out.give(desc.and_then(MrRemote::from_descriptor))
    })
}

/// Gets the size of the descriptor of a local region.
///
/// # Parameters
///
/// - `mr`: the region.
/// - `desc_size`: receives the size in bytes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `mr` must be NULL or a region that has not been deregistered. `desc_size` must be NULL or point
/// to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_get_descriptor_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_get_descriptor_size(
    mr: *const MrLocal,
    desc_size: *mut usize,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (_, out) = unsafe { (ffi::borrow(mr)?, Out::new(desc_size)?) };
        out.set(DESCRIPTOR_SIZE);
        Ok(())
    })
}

/// Gets the address of a local region.
///
/// # Parameters
///
/// - `mr`: the region.
/// - `ptr`: receives the address that was registered.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `mr` must be NULL or a region that has not been deregistered. `ptr` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_get_ptr(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_get_ptr(mr: *const MrLocal, ptr: *mut *mut c_void) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (region, out) = unsafe { (ffi::borrow(mr)?, Out::new(ptr)?) };
        out.set(region.mr.addr());
        Ok(())
    })
}

/// Gets the size of a local region.
///
/// # Parameters
///
/// - `mr`: the region.
/// - `size`: receives the size in bytes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `mr` must be NULL or a region that has not been deregistered. `size` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_get_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_get_size(mr: *const MrLocal, size: *mut usize) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (region, out) = unsafe { (ffi::borrow(mr)?, Out::new(size)?) };
        out.set(region.mr.length());
        Ok(())
    })
}

/// Gets the size of a remote region.
///
/// # Parameters
///
/// - `mr`: the region.
/// - `size`: receives the size in bytes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `mr` must be NULL or a region that has not been deleted. `size` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_remote_get_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_remote_get_size(mr: *const MrRemote, size: *mut usize) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (region, out) = unsafe { (ffi::borrow(mr)?, Out::new(size)?) };
        out.set(region.size());
        Ok(())
    })
}

/// Gets the types of flush that a remote region permits.
///
/// # Parameters
///
/// - `mr`: the region.
/// - `flush_type`: receives 0, or one or both of RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY and
///   RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `mr` must be NULL or a region that has not been deleted. `flush_type` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_remote_get_flush_type(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_remote_get_flush_type(
    mr: *const MrRemote,
    flush_type: *mut c_int,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (region, out) = unsafe { (ffi::borrow(mr)?, Out::new(flush_type)?) };
        out.set(region.usage() & USAGE_FLUSH);
        Ok(())
    })
}

/// Deletes a remote region. The other side's memory stays as it is.
///
/// # Parameters
///
/// - `mr_ptr`: the address of the handle. The function sets the handle to NULL. If the handle is
///   NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `mr_ptr` is NULL.
///
/// # Safety
///
/// `mr_ptr` must be NULL or point to a handle. The handle must be NULL, or own a remote region that
/// has not been deleted.
///
/// # Thread safety
///
/// No thread may use the region during this call or afterwards. Operations that were posted before
/// go on.
///
/// # Manual page
///
/// rpma_mr_remote_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_remote_delete(mr_ptr: *mut *mut MrRemote) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(mr_ptr, |_| Ok(())) }
}

/// Advises the device about a part of a region, usually to page it in.
///
/// This helps only with regions that are paged in on demand. For other regions, the device may
/// refuse it.
///
/// # Parameters
///
/// - `mr`: the region.
/// - `offset`, `len`: the part of the region, in bytes. There is no limit.
/// - `advice`: as for ibv_advise_mr(3), for example IBV_ADVISE_MR_ADVICE_PREFETCH.
/// - `flags`: as for ibv_advise_mr(3): IBV_ADVISE_MR_FLAG_FLUSH or 0.
///
/// # Errors
///
/// - RPMA_E_INVAL: `mr` is NULL; the sum of the region's address, `offset` and `len` exceeds 64
///   bits; or the device refuses the part, the advice or the flags.
/// - RPMA_E_NOSUPP: the device does not support advice, or not this advice.
/// - RPMA_E_PROVIDER: ibv_advise_mr() failed for another reason.
///
/// # Safety
///
/// `mr` must be NULL or a region that has not been deregistered.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_mr_advise(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_mr_advise(
    mr: *mut MrLocal,
    offset: usize,
    len: usize,
    advice: c_int,
    flags: u32,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 1 for `mr`.
        unsafe { ffi::borrow(mr) }?.advise(offset, len, advice, flags)
    })
}

/// `ibv_access_flags` for `usage`. Reading and both types of flush may be done by a read; the
/// native flush has bits of its own, which only devices that have it know. `read_dst` is what
/// the device wants of a destination of reads.
fn access_flags(usage: c_int, read_dst: u32, caps: DeviceCaps) -> u32 {
    const LOCAL_WRITE: u32 = ACCESS_LOCAL_WRITE;
    const REMOTE_WRITE: u32 = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;
    const REMOTE_READ: u32 = ibv_access_flags::IBV_ACCESS_REMOTE_READ.0;
    let grant = |used: c_int, access: u32| if usage & used != 0 { access } else { 0 };
    grant(RPMA_MR_USAGE_READ_SRC | USAGE_FLUSH, REMOTE_READ)
        | grant(RPMA_MR_USAGE_READ_DST, read_dst)
        | grant(RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_RECV, LOCAL_WRITE)
        | grant(RPMA_MR_USAGE_WRITE_DST, LOCAL_WRITE | REMOTE_WRITE)
        | grant(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, ACCESS_FLUSH_GLOBAL) & caps.flush_access
        | grant(RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, ACCESS_FLUSH_PERSISTENT) & caps.flush_access
}

const ACCESS_LOCAL_WRITE: u32 = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;
const ACCESS_ON_DEMAND: u32 = ibv_access_flags::IBV_ACCESS_ON_DEMAND.0;
const ACCESS_FLUSH_GLOBAL: u32 = ibv_access_flags::IBV_ACCESS_FLUSH_GLOBAL.0;
const ACCESS_FLUSH_PERSISTENT: u32 = ibv_access_flags::IBV_ACCESS_FLUSH_PERSISTENT.0;

/// A region as it goes over the wire: little-endian and packed.
#[repr(C)]
struct Descriptor {
    addr: [u8; 8],
    size: [u8; 8],
    rkey: [u8; 4],
    usage: u8,
}

/// Size of a descriptor in bytes.
const DESCRIPTOR_SIZE: usize = size_of::<Descriptor>();
const _: () = assert!(DESCRIPTOR_SIZE == 21);

impl MrLocal {
    /// # Safety
    ///
    /// The caller keeps the memory mapped (promise 5).
    unsafe fn reg(
        domain: &Domain,
        ptr: NonNull<c_void>,
        size: usize,
        usage: c_int,
    ) -> Result<Owned<Self>> {
        if size == 0 || usage == 0 || usage & !USAGE_ALL != 0 {
            return Err(Error::Inval.into());
        }
        let pd = domain.pd()?;
        // SAFETY: a live PD knows its device.
        let read_dst = unsafe { read_dst_access((*pd).context) };
        let mut access = access_flags(usage, read_dst, domain.caps());
        // If a later try succeeds, `errno` is as it was before the first.
        let errno_before = errno::get();
        let remedies = remedies(usage, domain.caps());
        let mut untried = remedies.iter();
        let mr = loop {
            // SAFETY: the PD is alive; the memory is the caller's promise.
            match unsafe { Mr::reg(pd, ptr.as_ptr(), size, access) } {
                Ok(mr) => break mr,
                Err(errno) => {
                    access = untried
                        .find_map(|remedy| remedy.apply(errno, access))
                        .ok_or_else(|| reg_failed(errno, domain.caps()))?;
                }
            }
        };
        errno::set(errno_before);
        let (addr, lkey) = (mr.addr() as u64, mr.lkey());
        // `usage` has no bits beyond the lowest eight.
        Owned::new(Self { addr, lkey, usage: usage as u8, mr })
    }

    /// The address at `offset`, of data that a segment can hold. The provider refuses what is
    /// beyond the region.
    #[inline(always)]
    pub(crate) fn at(&self, offset: usize, len: usize) -> Checked<u64> {
        u32::try_from(len).map_err(|_| Error::Inval)?;
        offset_address(self.addr, offset, len)
    }

    /// The data segment of `len` bytes at an address that [`MrLocal::at`] gave for them.
    #[inline(always)]
    pub(crate) fn sge(&self, addr: u64, len: usize) -> ibv_sge {
        ibv_sge { addr, length: len as u32, lkey: self.lkey }
    }

    fn as_remote(&self) -> MrRemote {
        let (size, rkey) = (self.mr.length() as u64, self.mr.rkey());
        MrRemote { addr: self.addr, size, rkey, usage: self.usage }
    }

    fn advise(&self, offset: usize, len: usize, advice: c_int, flags: u32) -> Result {
        /// The most bytes of one segment, a multiple of every page size.
        const STEP: usize = 1 << 31;
        let addr = offset_address(self.addr, offset, len)?;
        let inside = self.mr.length().saturating_sub(offset);
        let mut done = 0;
        loop {
            let length = (len - done).min(STEP);
            let (addr, lkey) = (addr + done as u64, self.lkey);
            let mut sge = ibv_sge { addr, length: length as u32, lkey };
            // SAFETY: the region is alive, and one segment is given.
            match unsafe { ibv_advise_mr(self.mr.pd(), advice as u32, flags, &mut sge, 1) } {
                0 => done += length,
                errno => return Err(advise_failed(errno)),
            }
            // A provider that takes what is beyond the region is not asked for more of it.
            if done == len || done > inside {
                return Ok(());
            }
        }
    }
}

/// Another access to try if the device refuses the memory.
struct Remedy {
    /// What the device said when it refused.
    errno: c_int,
    add: u32,
    remove: u32,
}

impl Remedy {
    /// The access to try next, or none if this remedy is for another failure or changes nothing.
    fn apply(&self, errno: c_int, access: u32) -> Option<u32> {
        let changed = (access | self.add) & !self.remove;
        (errno == self.errno && changed != access).then_some(changed)
    }
}

/// The remedies in the order in which they are tried, each once.
fn remedies(usage: c_int, caps: DeviceCaps) -> [Remedy; 3] {
    // Memory that cannot be written can still be a source.
    let only_read = usage & RPMA_MR_USAGE_WRITE_SRC != 0 && usage & USAGE_WRITTEN_LOCALLY == 0;
    let only_if = |wanted: bool, access: u32| if wanted { access } else { 0 };
    [
        Remedy { errno: libc::EOPNOTSUPP, add: only_if(caps.odp, ACCESS_ON_DEMAND), remove: 0 },
        // A device with native flush accepts only persistent memory for a persistent native flush.
        // Flushes by reading work without this access.
        Remedy { errno: libc::EINVAL, add: 0, remove: ACCESS_FLUSH_PERSISTENT },
        Remedy { errno: libc::EFAULT, add: 0, remove: only_if(only_read, ACCESS_LOCAL_WRITE) },
    ]
}

/// Tells why memory could not be registered.
fn reg_failed(errno: c_int, caps: DeviceCaps) -> Failure {
    if errno == libc::EOPNOTSUPP && !caps.odp {
        let why =
            c"ibv_reg_mr() failed: the memory needs on-demand paging, as files on a DAX file \
            system do, and the device has none (a device DAX works): %";
        log!(Error, c"rpma_mr_reg", why, Part::Cause(errno));
        return Failure::provider(errno);
    }
    failed!(c"ibv_reg_mr", errno)
}

fn advise_failed(errno: c_int) -> Failure {
    let failure = failed!(c"ibv_advise_mr", errno);
    // ENOTSUP is the same number on Linux.
    match errno {
        libc::EOPNOTSUPP => Failure::with_errno(Error::NoSupp, errno),
        libc::EFAULT | libc::EINVAL => Failure::with_errno(Error::Inval, errno),
        _ => failure,
    }
}

/// `base + offset`, where `base + offset + len` has to be an address, too.
#[inline(always)]
fn offset_address(base: u64, offset: usize, len: usize) -> Checked<u64> {
    let addr = base.checked_add(offset as u64).ok_or(Error::Inval)?;
    // What begins in the lower half and has 32 bits ends below 64 bits in any case.
    if (addr as i64) < 0 || u32::try_from(len).is_err() {
        rare();
        addr.checked_add(len as u64).ok_or(Error::Inval)?;
    }
    Ok(addr)
}

/// Without a region, a message has neither an offset nor a length.
#[inline(always)]
pub(crate) fn no_data(offset: usize, len: usize) -> Checked {
    if offset == 0 && len == 0 { Ok(()) } else { Err(Error::Inval) }
}

/// Makes the compiler move the code that calls it off the fast path.
#[cold]
fn rare() {}

impl MrRemote {
    /// The place at `offset`, for `len` bytes. The provider refuses what is beyond the region.
    #[inline(always)]
    pub(crate) fn at(&self, offset: usize, len: usize) -> Checked<Remote> {
        Ok(Remote { addr: offset_address(self.addr, offset, len)?, rkey: self.rkey })
    }

    pub(crate) fn size(&self) -> usize {
        // usize has 64 bits on all machines that we build for.
        self.size as usize
    }

    pub(crate) fn usage(&self) -> c_int {
        c_int::from(self.usage)
    }

    fn to_descriptor(&self) -> Descriptor {
        Descriptor {
            addr: self.addr.to_le_bytes(),
            size: self.size.to_le_bytes(),
            rkey: self.rkey.to_le_bytes(),
            usage: self.usage,
        }
    }

    fn from_descriptor(desc: &Descriptor) -> Result<Owned<Self>> {
        let region = Self {
            addr: u64::from_le_bytes(desc.addr),
            size: u64::from_le_bytes(desc.size),
            rkey: u32::from_le_bytes(desc.rkey),
            usage: desc.usage,
        };
        let name = FROM_DESCRIPTOR;
        if region.usage == 0 {
            return Err(refused!(Inval, name, c"the descriptor's usage is 0"));
        }
        let region = Owned::new(region)?;
        // Checked here, since formatting the numbers would take more time than everything else.
        if enabled(Level::Debug) {
            log!(
                Debug,
                name,
                c"address %, size %, rkey %, usage %",
                Part::Hex(region.addr),
                region.size,
                Part::Hex(region.rkey.into()),
                Part::Hex(region.usage.into()),
            );
        }
        Ok(region)
    }
}

const FROM_DESCRIPTOR: &CStr = c"rpma_mr_remote_from_descriptor";

#[cold]
fn too_short(size: usize) -> Failure {
    let (name, is, should) = (FROM_DESCRIPTOR, size as u64, DESCRIPTOR_SIZE as u64);
    log!(Error, name, c"the descriptor has % bytes instead of at least %", is, should);
    Error::Inval.into()
}

#[cfg(test)]
mod tests {
    use core::ptr::null_mut;

    use super::*;
    use proptest::prelude::*;

    const NATIVE: DeviceCaps = DeviceCaps { flush_access: u32::MAX, ..DeviceCaps::NONE };

    proptest! {
        #[test]
        fn a_descriptor_round_trips(addr: u64, size: u64, rkey: u32, usage in 1_u8..) {
            let desc = MrRemote { addr, size, rkey, usage }.to_descriptor();
            let back = MrRemote::from_descriptor(&desc).map_err(|_| TestCaseError::fail("parse"))?;
            prop_assert_eq!((back.addr, back.size, back.rkey, back.usage), (addr, size, rkey, usage));
        }

        #[test]
        fn descriptors_of_any_bytes_are_parsed_or_refused(desc: Vec<u8>) {
            let usable = desc.get(20).is_some_and(|usage| *usage != 0);
            let mut region = null_mut();
            // SAFETY: a descriptor, its size, and a handle.
            let code = unsafe {
                rpma_mr_remote_from_descriptor(desc.as_ptr().cast(), desc.len(), &mut region)
            };
            prop_assert_eq!(code == 0, usable);
            // SAFETY: the handle is NULL or what the call gave.
            unsafe { rpma_mr_remote_delete(&mut region) };
        }

        #[test]
        fn addresses_never_wrap(base: u64, offset: usize, len: usize) {
            let end = u128::from(base) + offset as u128 + len as u128;
            let fits = end <= u128::from(u64::MAX);
            prop_assert_eq!(offset_address(base, offset, len).is_ok(), fits);
        }
    }

    #[test]
    fn the_descriptor_is_little_endian_and_packed() {
        let region = MrRemote {
            addr: 0x0102_0304_0506_0708,
            size: 0x1112_1314_1516_1718,
            rkey: 0x2122_2324,
            usage: 0x31,
        };
        let expected = [
            8, 7, 6, 5, 4, 3, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23,
            0x22, 0x21, 0x31,
        ];
        // SAFETY: a descriptor is bytes, all of them used.
        let desc: [u8; 21] = unsafe { core::mem::transmute(region.to_descriptor()) };
        assert_eq!(desc, expected);
    }

    #[test]
    fn a_message_without_a_region_has_no_offset_and_no_length() {
        assert!(no_data(0, 0).is_ok());
        assert!(no_data(1, 0).is_err());
        assert!(no_data(0, 1).is_err());
    }

    #[test]
    fn access_is_what_each_usage_needs() {
        const NOTHING: u32 = 0;
        const LOCAL_WRITE: u32 = 1;
        const REMOTE_WRITE: u32 = 2;
        const REMOTE_READ: u32 = 4;
        let plain = |usage| access_flags(usage, LOCAL_WRITE, DeviceCaps::NONE);
        for (usage, access) in [
            (RPMA_MR_USAGE_READ_SRC, REMOTE_READ),
            (RPMA_MR_USAGE_READ_DST, LOCAL_WRITE),
            (RPMA_MR_USAGE_WRITE_SRC, LOCAL_WRITE),
            (RPMA_MR_USAGE_WRITE_DST, REMOTE_WRITE | LOCAL_WRITE),
            (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, REMOTE_READ),
            (RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, REMOTE_READ),
            (RPMA_MR_USAGE_SEND, NOTHING),
            (RPMA_MR_USAGE_RECV, LOCAL_WRITE),
        ] {
            assert_eq!(plain(usage), access);
        }
        for usage in 0..=USAGE_ALL {
            let bits = (0..8).map(|bit| usage & 1 << bit);
            assert_eq!(plain(usage), bits.map(plain).fold(0, |all, one| all | one));
            let iwarp = access_flags(usage, LOCAL_WRITE | REMOTE_WRITE, DeviceCaps::NONE);
            let extra = if usage & RPMA_MR_USAGE_READ_DST != 0 { REMOTE_WRITE } else { 0 };
            assert_eq!(iwarp, plain(usage) | extra);
            let flush = (usage & USAGE_FLUSH) as u32;
            assert_eq!(access_flags(usage, LOCAL_WRITE, NATIVE), plain(usage) | flush << 4);
        }
    }
}
