//! The program, once memory is as it should be, and the ways out of it.

use crate::board::exit;
use crate::machine::{guard_stack, start_clock};
use crate::say;
use core::panic::PanicInfo;

unsafe extern "Rust" {
    /// The program; see [`program!`](crate::program).
    safe fn kgard_program() -> bool;
}

pub(crate) extern "C" fn run() -> ! {
    guard_stack();
    start_clock();
    let well = kgard_program();
    exit(usize::from(!well))
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    match info.location() {
        Some(at) => say!("PANIC at {}:{}", at.file(), at.line()),
        None => say!("PANIC"),
    }
    exit(101)
}
