//! Static memory that is handed out once.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A static that its first user may keep and write to.
pub struct Once<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: only one caller ever gets at the value, on boards with a single thread.
unsafe impl<T: Send> Sync for Once<T> {}

impl<T> Once<T> {
    /// Holds `value` until it is taken.
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The value for the first who asks, nothing for the others.
    #[expect(clippy::mut_from_ref, reason = "the flag makes sure that there is only one")]
    pub fn take(&'static self) -> Option<&'static mut T> {
        // One after the other, and not `swap`, which a Cortex-M0+ does not have: there is one
        // thread, and nothing interrupts it.
        let first = !self.taken.load(Ordering::Acquire);
        self.taken.store(true, Ordering::Release);
        // SAFETY: the flag is never reset, so that this is the only reference.
        first.then(|| unsafe { &mut *self.value.get() })
    }
}
