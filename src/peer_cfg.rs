// SPDX-License-Identifier: BSD-3-Clause
//! What a peer promises about its memory, and how the other side gets to know.

use core::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_void};

use crate::error::Result;
use crate::ffi::{self, Out, Owned, c_bool};
use crate::log::{File, log, refused};

const FILE: File = File::PeerCfg;

/// A peer's configuration: whether data written to its persistent memory from afar are persistent
/// once they are flushed (direct write to PMem).
pub struct PeerCfg {
    direct_write_to_pmem: AtomicBool,
}

/// One byte: 0 or 1.
const DESCRIPTOR_SIZE: usize = 1;

/// Creates a peer configuration, without direct write to PMem.
///
/// The side that offers memory says with it what its machine does with written data, and sends the
/// descriptor, of rpma_peer_cfg_get_descriptor(), to the other side; that one makes a configuration
/// of the descriptor with rpma_peer_cfg_from_descriptor() and applies it with
/// rpma_conn_apply_remote_peer_cfg().
///
/// # Parameters
///
/// - `pcfg_ptr`: where the configuration goes; delete it with rpma_peer_cfg_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: `pcfg_ptr` is NULL.
/// - RPMA_E_NOMEM: out of memory.
///
/// # Safety
///
/// `pcfg_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_new(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_new(pcfg_ptr: *mut *mut PeerCfg) -> c_int {
    ffi::call(|| {
        // SAFETY: the caller's promise 2 for `pcfg_ptr`.
        let out = unsafe { Out::new(pcfg_ptr) }?;
        out.give(PeerCfg::new(false))
    })
}

/// Deletes a peer configuration.
///
/// # Parameters
///
/// - `pcfg_ptr`: the handle, NULL afterwards; nothing happens if it is NULL already.
///
/// # Errors
///
/// - RPMA_E_INVAL: `pcfg_ptr` is NULL.
///
/// # Safety
///
/// `pcfg_ptr` is NULL or points to a handle that is NULL or owns a configuration.
///
/// # Thread safety
///
/// Nothing else may use the configuration any more.
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
/// It is a statement about the machine that has the memory, which the library cannot verify: that
/// data which the RDMA device has put into persistent memory are in the persistence domain, with no
/// volatile cache between. On Intel platforms that is so with Data Direct I/O turned off for the
/// device, or with caches that are flushed on power failure (eADR). Where it is declared and not
/// so, a flush with RPMA_FLUSH_TYPE_PERSISTENT completes, and a power failure loses the data all
/// the same.
///
/// # Parameters
///
/// - `pcfg`: the configuration.
/// - `supported`: true or false.
///
/// # Errors
///
/// - RPMA_E_INVAL: `pcfg` is NULL.
///
/// # Safety
///
/// `pcfg` is NULL or a configuration.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_set_direct_write_to_pmem(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_set_direct_write_to_pmem(
    pcfg: *mut PeerCfg,
    supported: c_bool,
) -> c_int {
    ffi::access(|| {
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
/// - `supported`: where the answer goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `pcfg` is NULL or a configuration; `supported` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_get_direct_write_to_pmem(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_get_direct_write_to_pmem(
    pcfg: *const PeerCfg,
    supported: *mut c_bool,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (pcfg, out) = unsafe { (ffi::borrow(pcfg)?, Out::new(supported)?) };
        out.set(c_bool::from(pcfg.direct_write_to_pmem()));
        Ok(())
    })
}

/// Writes the descriptor of a peer configuration, to be sent to the other side.
///
/// How it gets there is the program's affair: usually as private data of the connection, next to
/// the descriptors of regions.
///
/// # Parameters
///
/// - `pcfg`: the configuration.
/// - `desc`: room for as many bytes as rpma_peer_cfg_get_descriptor_size() says.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `pcfg` is NULL or a configuration; `desc` is NULL or has the room.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_get_descriptor(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_get_descriptor(
    pcfg: *const PeerCfg,
    desc: *mut c_void,
) -> c_int {
    ffi::access(|| {
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
/// - `desc_size`: where the size in bytes goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: an argument is NULL.
///
/// # Safety
///
/// `pcfg` is NULL or a configuration; `desc_size` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_peer_cfg_get_descriptor_size(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_peer_cfg_get_descriptor_size(
    pcfg: *const PeerCfg,
    desc_size: *mut usize,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promises 1 and 2.
        let (_, out) = unsafe { (ffi::borrow(pcfg)?, Out::new(desc_size)?) };
        out.set(DESCRIPTOR_SIZE);
        Ok(())
    })
}

/// Creates a peer configuration from a descriptor that the other side sent.
///
/// # Parameters
///
/// - `desc`: the descriptor. A longer one is fine; what follows is not read.
/// - `desc_size`: its size in bytes.
/// - `pcfg_ptr`: where the configuration goes; delete it with rpma_peer_cfg_delete().
///
/// # Errors
///
/// - RPMA_E_INVAL: a pointer is NULL, or the descriptor is too short.
/// - RPMA_E_NOMEM: out of memory.
///
/// # Safety
///
/// `desc` is NULL or readable for `desc_size` bytes; `pcfg_ptr` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
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
    ffi::call(|| {
        // SAFETY: the caller's promise 4.
        let desc = unsafe { ffi::head(desc, desc_size, DESCRIPTOR_SIZE) }?;
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

    fn from_descriptor(desc: &[u8]) -> Result<Owned<Self>> {
        let name = c"rpma_peer_cfg_from_descriptor";
        let Some(flag) = desc.first() else {
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
            let pcfg = PeerCfg::from_descriptor(&desc);
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
