// SPDX-License-Identifier: BSD-3-Clause
//! What a peer promises about its memory, and how the other side gets to know.

use core::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_void};

use crate::error::Result;
use crate::ffi::{self, Out, Owned, c_bool};
use crate::log::{File, log, refused};

const FILE: File = File::PeerCfg;

/// A peer configuration. It says whether data that are written remotely to a machine's persistent
/// memory are persistent once they are flushed (direct write to PMem).
pub struct PeerCfg {
    direct_write_to_pmem: AtomicBool,
}

/// One byte: 0 or 1.
const DESCRIPTOR_SIZE: usize = 1;

/// Creates a peer configuration.
///
/// At first, it does not declare direct write to PMem: see
/// rpma_peer_cfg_set_direct_write_to_pmem().
///
/// With a peer configuration, the side that offers memory says what its machine does with written
/// data. That side sends the descriptor, see rpma_peer_cfg_get_descriptor(). The other side makes a
/// configuration from it with rpma_peer_cfg_from_descriptor(), and applies it to the connection
/// with rpma_conn_apply_remote_peer_cfg().
///
/// # Parameters
///
/// - `pcfg_ptr`: receives the configuration. Delete it with rpma_peer_cfg_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `pcfg_ptr` is NULL.
/// - RPMA_E_NOMEM: out of memory.
///
/// # Safety
///
/// `pcfg_ptr` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_new(pcfg_ptr: *mut *mut PeerCfg) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 2 for `pcfg_ptr`.
        let out = unsafe { Out::new(pcfg_ptr) }?;
        out.give(PeerCfg::new(false))
    })
}

/// Deletes a peer configuration.
///
/// # Parameters
///
/// - `pcfg_ptr`: the address of the handle. The function sets the handle to NULL. If the handle is
///   NULL already, the function does nothing and succeeds.
///
/// # Errors
///
/// - RPMA_E_INVAL: `pcfg_ptr` is NULL.
///
/// # Safety
///
/// `pcfg_ptr` must be NULL or point to a handle. The handle must be NULL, or own a configuration
/// that has not been deleted.
///
/// # Thread safety
///
/// No thread may use the configuration during this call or afterwards.
///
/// # Manual page
///
/// rpma_peer_cfg_delete(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_delete(pcfg_ptr: *mut *mut PeerCfg) -> c_int {
    // SAFETY: the caller's promise 3.
    unsafe { ffi::delete(pcfg_ptr, |_| Ok(())) }
}

/// Declares whether direct write to PMem is possible.
///
/// This is a statement about the machine that has the memory. The library cannot verify it. It says
/// that data which the RDMA device has put into persistent memory are in the persistence domain,
/// without a volatile cache in between. On Intel platforms this is so if Data Direct I/O is turned
/// off for the device, or if the caches are flushed on power failure (eADR). If you declare it
/// wrongly, a flush with RPMA_FLUSH_TYPE_PERSISTENT completes, but a power failure loses the data.
///
/// # Parameters
///
/// - `pcfg`: the configuration.
/// - `supported`: true if direct write to PMem is possible, otherwise false.
///
/// # Errors
///
/// - RPMA_E_INVAL: `pcfg` is NULL.
///
/// # Safety
///
/// `pcfg` must be NULL or a configuration that has not been deleted.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_set_direct_write_to_pmem(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_set_direct_write_to_pmem(
    pcfg: *mut PeerCfg,
    supported: c_bool,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 1 for `pcfg`.
        let pcfg = unsafe { ffi::borrow(pcfg) }?;
        pcfg.direct_write_to_pmem.store(supported != 0, Ordering::Relaxed);
        Ok(())
    })
}

/// Tells whether direct write to PMem is declared.
///
/// # Parameters
///
/// - `pcfg`: the configuration.
/// - `supported`: receives true or false.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `pcfg` must be NULL or a configuration that has not been deleted. `supported` must be NULL or
/// point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_get_direct_write_to_pmem(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_get_direct_write_to_pmem(
    pcfg: *const PeerCfg,
    supported: *mut c_bool,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (pcfg, out) = unsafe { (ffi::borrow(pcfg)?, Out::new(supported)?) };
        out.set(c_bool::from(pcfg.direct_write_to_pmem()));
        Ok(())
    })
}

/// Writes the descriptor of a peer configuration into a buffer.
///
/// Your program sends the descriptor to the other side, usually as private data of the connection,
/// next to the descriptors of regions.
///
/// # Parameters
///
/// - `pcfg`: the configuration.
/// - `desc`: memory for the descriptor, of the size that rpma_peer_cfg_get_descriptor_size() gives.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `pcfg` must be NULL or a configuration that has not been deleted. `desc` must be NULL or point
/// to enough writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_get_descriptor(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_get_descriptor(
    pcfg: *const PeerCfg,
    desc: *mut c_void,
) -> c_int {
    ffi::status_of_checked(|| {
        let desc = desc.cast::<[u8; DESCRIPTOR_SIZE]>();
        // SAFETY: the caller's promises 1 and 2.
        let (pcfg, out) = unsafe { (ffi::borrow(pcfg)?, Out::new(desc)?) };
        out.set([u8::from(pcfg.direct_write_to_pmem())]);
        Ok(())
    })
}

/// Gets the size of the descriptor of a peer configuration.
///
/// # Parameters
///
/// - `pcfg`: the configuration.
/// - `desc_size`: receives the size in bytes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `pcfg` must be NULL or a configuration that has not been deleted. `desc_size` must be NULL or
/// point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_get_descriptor_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_get_descriptor_size(
    pcfg: *const PeerCfg,
    desc_size: *mut usize,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (_, out) = unsafe { (ffi::borrow(pcfg)?, Out::new(desc_size)?) };
        out.set(DESCRIPTOR_SIZE);
        Ok(())
    })
}

/// Creates a peer configuration from the other side's descriptor.
///
/// # Parameters
///
/// - `desc`: the descriptor. The function does not read the bytes that follow it.
/// - `desc_size`: the number of bytes at `desc`. It may be larger than the descriptor.
/// - `pcfg_ptr`: receives the configuration. Delete it with rpma_peer_cfg_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: a pointer is NULL, or the descriptor is too short.
/// - RPMA_E_NOMEM: out of memory.
///
/// # Safety
///
/// `desc` must be NULL or point to `desc_size` readable bytes. `pcfg_ptr` must be NULL or point to
/// writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_from_descriptor(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_from_descriptor(
    desc: *const c_void,
    desc_size: usize,
    pcfg_ptr: *mut *mut PeerCfg,
) -> c_int {
    ffi::status_of(|| {
        // SAFETY: the caller's promise 4.
        let desc = unsafe { ffi::record(desc, desc_size) }?;
        // SAFETY: the caller's promise 2 for `pcfg_ptr`.
        let out = unsafe { Out::new(pcfg_ptr) }?;
        out.give(PeerCfg::from_descriptor(desc))
    })
}

impl PeerCfg {
    fn new(direct_write_to_pmem: bool) -> Result<Owned<Self>> {
        Owned::new(Self { direct_write_to_pmem: AtomicBool::new(direct_write_to_pmem) })
    }

    pub(crate) fn direct_write_to_pmem(&self) -> bool {
        self.direct_write_to_pmem.load(Ordering::Relaxed)
    }

    fn from_descriptor(desc: Option<&u8>) -> Result<Owned<Self>> {
        let name = c"rpma_peer_cfg_from_descriptor";
        let Some(flag) = desc else {
            return Err(refused!(Inval, name, c"the descriptor is empty"));
        };
        let pcfg = Self::new(*flag != 0)?;
        let word = if pcfg.direct_write_to_pmem() { c"possible" } else { c"not possible" };
        log!(Info, name, c"direct write to the peer's PMem is %", word);
        Ok(pcfg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_byte_but_zero_is_true_and_the_rest_is_not_read(desc: Vec<u8>) {
            let pcfg = PeerCfg::from_descriptor(desc.first());
            match desc.first() {
                None => prop_assert!(pcfg.is_err()),
                Some(flag) => prop_assert_eq!(
                    pcfg.map(|pcfg| pcfg.direct_write_to_pmem()).ok(),
                    Some(*flag != 0)
                ),
            }
        }
    }
}
