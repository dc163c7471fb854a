// SPDX-License-Identifier: BSD-3-Clause
//! Which native operations the library requests for a QP, and what it tries if the QP is refused.
//!
//! A native operation fails with a target that does not know it, and the descriptor of a region
//! does not say whether the target does. So the library uses a native operation only if the user
//! requests it with `RPMA_FLUSH` or `RPMA_ATOMIC_WRITE`, the device has it, and the driver grants
//! it.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::error::{Result, errno};
use crate::log::{File, Text, Variable, log};
use crate::provider::cm::CmId;
use crate::provider::qp::{Features, Qp, QpAttributes};

const FILE: File = File::Native;

/// The bits of the native operations that the user requests.
static REQUESTED: AtomicU8 = AtomicU8::new(0);

/// Reads `RPMA_FLUSH` and `RPMA_ATOMIC_WRITE`. Called once, when the library is loaded.
pub(crate) fn configure() {
    let flush = read(c"RPMA_FLUSH", c"rpma_flush", Features::FLUSH);
    let atomic_write = read(c"RPMA_ATOMIC_WRITE", c"rpma_atomic_write", Features::ATOMIC_WRITE);
    REQUESTED.store(flush.and(atomic_write).to_bits(), Ordering::Relaxed);
}

fn read(name: &'static CStr, function: &'static CStr, ops: Features) -> Features {
    let variable = Variable::read(name);
    let native = variable.value.is_some_and(|value| value == Text::new(c"native"));
    if !native {
        variable.ignored(function);
    }
    ops.only_if(native)
}

/// The native operations that the user asks for.
pub(crate) fn requested() -> Features {
    Features::from_bits(REQUESTED.load(Ordering::Relaxed))
}

/// What to ask a QP for, as known so far: inline data, and the native operations that the user
/// requested and the device has, less and less as its driver refuses.
pub(crate) struct NativeChoice {
    requested: Features,
    native: AtomicU8,
    /// The smallest send queue with which inline data were refused: a device may have them for
    /// small queues and not for large ones.
    no_inline_from: AtomicU64,
    warned: AtomicBool,
}

impl NativeChoice {
    /// Of what the user requests, only what the device has is requested for a QP.
    pub(crate) const fn new(requested: Features, device: Features) -> Self {
        Self {
            requested,
            native: AtomicU8::new(requested.in_both(device).to_bits()),
            no_inline_from: AtomicU64::new(u64::MAX),
            warned: AtomicBool::new(false),
        }
    }

    fn wanted(&self, sq_size: u32) -> Features {
        let inline = u64::from(sq_size) < self.no_inline_from.load(Ordering::Relaxed);
        let native = Features::from_bits(self.native.load(Ordering::Relaxed));
        native.and(Features::INLINE.only_if(inline))
    }

    /// Makes the QP of `id`, with as many of the wanted features as driver and device grant.
    pub(crate) fn create_qp(&self, id: &CmId, attributes: &QpAttributes) -> Result<Qp> {
        let wanted = self.wanted(attributes.sq_size);
        let mut features = wanted;
        let errno_before = errno::get();
        // Where nothing helps, the cause is what was said before inline data were given up.
        let mut cause = 0;
        loop {
            let errno = match Qp::create(id, attributes, features) {
                Ok(qp) => {
                    errno::set(errno_before);
                    self.granted(id, attributes.sq_size, features);
                    return Ok(qp);
                }
                Err(errno) => errno,
            };
            if features.has(Features::INLINE) == wanted.has(Features::INLINE) {
                cause = errno;
            }
            features = match (errno, features.step_down(wanted)) {
                (libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS, Some(less)) => less,
                (libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS, None) => {
                    return Err(attributes.refused(wanted, cause));
                }
                // Something else is wrong, such as the limit of locked memory.
                _ => return Err(attributes.refused(features, errno)),
            }
        }
    }

    /// Remembers what a QP was granted, and tells once what was requested and is not to be had.
    fn granted(&self, id: &CmId, sq_size: u32, features: Features) {
        self.remember(sq_size, features);
        let missing = self.requested.without(features);
        if missing == Features::NONE || self.warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let outgoing = c"rpma_conn_req_new";
        let name = if id.is_pending() { c"rpma_ep_next_conn_req" } else { outgoing };
        let emulates = !missing.has(Features::ATOMIC_WRITE) || features.has(Features::INLINE);
        let then = if emulates { c": emulating" } else { c"" };
        log!(Warning, name, c"% requested, but not granted%", missing.name(), then);
    }

    fn remember(&self, sq_size: u32, features: Features) {
        let native = features.in_both(Features::NATIVE).to_bits();
        // Written only when it changes: DRD takes the stores of several threads for a race.
        if self.native.load(Ordering::Relaxed) != native {
            self.native.store(native, Ordering::Relaxed);
        }
        if !features.has(Features::INLINE) {
            self.no_inline_from.fetch_min(sq_size.into(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_data_and_the_native_operations_of_the_device_are_asked_for() {
        for bits in 0..4 {
            let native = Features::from_bits(bits);
            let choice = NativeChoice::new(native, native);
            assert_eq!(choice.wanted(u32::MAX), native.and(Features::INLINE));
        }
    }

    #[test]
    fn what_was_refused_is_not_asked_for_again() {
        let both = Features::NATIVE;
        let choice = NativeChoice::new(both, both);
        while let Some(less) = choice.wanted(10).step_down(both.and(Features::INLINE)) {
            choice.remember(10, less);
            assert_eq!(choice.wanted(10), less);
        }
        assert_eq!(choice.wanted(10), Features::NONE);
    }

    #[test]
    fn inline_data_that_a_large_queue_was_refused_are_asked_for_with_a_smaller_one() {
        let choice = NativeChoice::new(Features::NONE, Features::NONE);
        choice.remember(1000, Features::NONE);
        for (sq_size, features) in [
            (1001, Features::NONE),
            (1000, Features::NONE),
            (999, Features::INLINE),
            (10, Features::INLINE),
        ] {
            assert_eq!(choice.wanted(sq_size), features);
        }
    }
}
