// SPDX-License-Identifier: BSD-3-Clause
//! Which native operations a QP is asked for, and what is tried where it is refused.
//!
//! A native operation breaks with targets that do not know it, and the descriptor of a region does
//! not say whether its host does. So the user has to ask for them, by `RPMA_FLUSH` and
//! `RPMA_ATOMIC_WRITE`. The device has to have them, and the driver to grant them.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::error::{Result, errno};
use crate::log::{File, Text, Variable, log};
use crate::provider::cm::CmId;
use crate::provider::qp::{Features, Qp, QpAttributes};

const FILE: File = File::Native;

/// The bits of the native operations that the user asks for.
static REQUESTED: AtomicU8 = AtomicU8::new(0);

/// Reads `RPMA_FLUSH` and `RPMA_ATOMIC_WRITE`. Called once, when the library is loaded.
pub(crate) fn configure() {
    let flush = read(c"RPMA_FLUSH", Features::FLUSH);
    let atomic_write = read(c"RPMA_ATOMIC_WRITE", Features::ATOMIC_WRITE);
    REQUESTED.store(flush.and(atomic_write).to_bits(), Ordering::Relaxed);
}

fn read(name: &'static CStr, ops: Features) -> Features {
    let variable = Variable::read(name);
    let native = variable.value.is_some_and(|value| value == Text::new(c"native"));
    if !native {
        variable.ignored(c"rpma_flush");
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
    current: AtomicU8,
    warned: AtomicBool,
}

impl NativeChoice {
    /// What is requested is asked for only where the device has it, too.
    pub(crate) const fn new(requested: Features, device: Features) -> Self {
        let wanted = requested.in_both(device).and(Features::INLINE);
        let current = AtomicU8::new(wanted.to_bits());
        Self { requested, current, warned: AtomicBool::new(false) }
    }

    fn get(&self) -> Features {
        Features::from_bits(self.current.load(Ordering::Relaxed))
    }

    /// Makes the QP of `id`, with as many of the wanted features as driver and device grant.
    pub(crate) fn create_qp(&self, id: &CmId, attributes: &QpAttributes) -> Result<Qp> {
        let wanted = self.get();
        let mut features = wanted;
        let errno_before = errno::get();
        // Where nothing helps, the cause is what was said before inline data were given up.
        let mut cause = 0;
        loop {
            let errno = match Qp::create(id, attributes, features) {
                Ok(qp) => {
                    errno::set(errno_before);
                    self.granted(features);
                    return Ok(qp);
                }
                Err(errno) => errno,
            };
            if features.has(Features::INLINE) == wanted.has(Features::INLINE) {
                cause = errno;
            }
            features = match (errno, features.step_down(wanted)) {
                (libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS, Some(less)) => less,
                _ => return Err(attributes.refused(wanted, cause)),
            }
        }
    }

    /// Remembers what a QP was granted, and tells once what was requested and is not to be had.
    fn granted(&self, features: Features) {
        self.current.store(features.to_bits(), Ordering::Relaxed);
        let missing = self.requested.without(features);
        if missing == Features::NONE || self.warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let name = c"rpma_conn_req_new";
        log!(Warning, name, c"% requested, but not granted: emulating", missing.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_data_and_the_native_operations_of_the_device_are_asked_for() {
        for bits in 0..4 {
            let native = Features::from_bits(bits);
            assert_eq!(NativeChoice::new(native, native).get(), native.and(Features::INLINE));
        }
    }

    #[test]
    fn what_was_refused_is_not_asked_for_again() {
        let both = Features::NATIVE;
        let choice = NativeChoice::new(both, both);
        while let Some(less) = choice.get().step_down(both.and(Features::INLINE)) {
            choice.granted(less);
            assert_eq!(choice.get(), less);
        }
        assert_eq!(choice.get(), Features::NONE);
    }
}
