//! kgard from C and C++: regression on plans, streams, and (with an operating system) pictures.
//!
//! `include/kgard.h` is made from this source. Every function checks its pointers for null and
//! alignment, and returns a [`Code`]; nothing unwinds into the caller. What a pointer points to,
//! and for how long, is the caller's promise: it is stated with each function.
#![cfg_attr(not(feature = "host"), no_std)]
#![allow(non_camel_case_types, reason = "names of C")]

mod border;
mod code;
#[cfg(feature = "host")]
mod picture;
mod plan;
mod stream;

#[cfg(not(feature = "host"))]
mod bare {
    use core::panic::PanicInfo;

    #[cfg(feature = "prove-no-panic")]
    unsafe extern "C" {
        /// Nowhere: who calls it does not link.
        fn kgard_code_that_can_panic() -> !;
    }

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        #[cfg(feature = "prove-no-panic")]
        // SAFETY: it does not link, and so is never called.
        unsafe {
            kgard_code_that_can_panic()
        }
        #[cfg(not(feature = "prove-no-panic"))]
        loop {}
    }
}
