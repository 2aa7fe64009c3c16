//! The board: output, and the edges of memory.

use crate::machine::semihosting;
use core::fmt;

/// Fills the stack before the program starts; what differs has been used.
pub(crate) const PAINT: u32 = 0xA5A5_5A5A;

// Semihosting: the debugger, here QEMU, does the input and output.
const WRITE_BYTE: usize = 0x03;
const EXIT_EXTENDED: usize = 0x20;
const APPLICATION_EXIT: usize = 0x2_0026;

// Symbols of the linker script: only their addresses mean something.
unsafe extern "C" {
    pub(crate) static __stack_low: u32;
    pub(crate) static __stack_high: u32;
    static __data_start: u32;
    static __bss_end: u32;
    static __flash_start: u32;
    static __flash_end: u32;
}

/// Ends the program, and QEMU with it.
pub(crate) fn exit(code: usize) -> ! {
    let arguments = [APPLICATION_EXIT, code];
    // SAFETY: the operation takes the address of two words.
    unsafe { semihosting(EXIT_EXTENDED, arguments.as_ptr().addr()) };
    #[expect(clippy::empty_loop, reason = "QEMU is gone")]
    loop {}
}

/// The host's terminal.
pub(crate) struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // SAFETY: the operation takes the address of one byte.
            unsafe { semihosting(WRITE_BYTE, (&raw const byte).addr()) };
        }
        Ok(())
    }
}

/// Bytes of stack that have been in use at the worst moment so far.
#[must_use]
pub fn stack_high_water() -> usize {
    let low = &raw const __stack_low;
    let high = (&raw const __stack_high).addr();
    let words = (high - low.addr()) / 4;
    let untouched = (0..words)
        // SAFETY: the stack consists of these words.
        .take_while(|&i| unsafe { low.add(i).read_volatile() } == PAINT)
        .count();
    (words - untouched) * 4
}

/// Bytes of variables outside the stack.
#[must_use]
pub fn static_ram() -> usize {
    (&raw const __bss_end).addr() - (&raw const __data_start).addr()
}

/// Bytes of flash: code, constants, and the first values of variables.
#[must_use]
pub fn flash() -> usize {
    (&raw const __flash_end).addr() - (&raw const __flash_start).addr()
}
