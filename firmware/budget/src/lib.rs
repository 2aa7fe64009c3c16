//! Proofs by linking. A program here holds some functions of the library and what they call,
//! and nothing else: it fits into the flash that its memory map gives it, and it has no panic,
//! because the panic handler calls a function that does not exist.
#![no_std]

use core::panic::PanicInfo;

unsafe extern "C" {
    /// Nowhere: who calls it does not link.
    fn kgard_code_that_can_panic() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it does not link, and so is never called.
    unsafe { kgard_code_that_can_panic() }
}
