//! The board: semihosting, the timer, and the edges of memory.

use core::arch::asm;
use core::fmt;

/// Fills the stack before the program starts; what differs has been used.
pub(crate) const PAINT: u32 = 0xA5A5_5A5A;

// Semihosting: the debugger, here QEMU, does the input and output.
const WRITE_BYTE: usize = 0x03;
const EXIT_EXTENDED: usize = 0x20;
const APPLICATION_EXIT: usize = 0x2_0026;

// The first timer of the board counts down at 25 MHz.
const TIMER_CONTROL: *mut u32 = 0x4000_0000 as *mut u32;
const TIMER_VALUE: *mut u32 = 0x4000_0004 as *mut u32;
const TIMER_RELOAD: *mut u32 = 0x4000_0008 as *mut u32;

// The memory protection unit.
const MPU_CONTROL: *mut u32 = 0xE000_ED94 as *mut u32;
const MPU_REGION: *mut u32 = 0xE000_ED98 as *mut u32;
const MPU_BASE: *mut u32 = 0xE000_ED9C as *mut u32;
const MPU_ATTRIBUTES: *mut u32 = 0xE000_EDA0 as *mut u32;
/// Where RAM begins, and the stack ends.
const RAM: u32 = 0x2000_0000;
/// Bytes below the stack that nobody may touch.
const GUARD: u32 = 0x1_0000;

// Symbols of the linker script: only their addresses mean something.
unsafe extern "C" {
    pub(crate) static __stack_low: u32;
    pub(crate) static __stack_high: u32;
    static __data_start: u32;
    static __bss_end: u32;
    static __flash_end: u32;
}

/// Asks the host for something.
///
/// # Safety
/// `argument` must be what the operation expects.
unsafe fn semihosting(operation: usize, argument: usize) {
    // SAFETY: the breakpoint is the call; it changes nothing but r0.
    unsafe {
        asm!("bkpt #0xAB", inout("r0") operation => _, in("r1") argument, options(nostack));
    }
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

/// Makes running out of stack a fault. Without this the board takes what is
/// written below RAM, and forgets it.
pub(crate) fn guard_stack() {
    const NO_EXECUTION: u32 = 1 << 28;
    const SIZE: u32 = (GUARD.ilog2() - 1) << 1;
    const ON: u32 = 1;
    const AS_USUAL_ELSEWHERE: u32 = 1 << 2;
    // SAFETY: the region is outside of all memory that the program uses.
    unsafe {
        MPU_REGION.write_volatile(0);
        MPU_BASE.write_volatile(RAM - GUARD);
        MPU_ATTRIBUTES.write_volatile(NO_EXECUTION | SIZE | ON);
        MPU_CONTROL.write_volatile(AS_USUAL_ELSEWHERE | ON);
        asm!("dsb", "isb", options(nostack, preserves_flags));
    }
}

/// Starts the clock.
pub(crate) fn start_clock() {
    // SAFETY: the registers of a timer that nobody else uses.
    unsafe {
        TIMER_RELOAD.write_volatile(u32::MAX);
        TIMER_VALUE.write_volatile(u32::MAX);
        TIMER_CONTROL.write_volatile(1);
    }
}

/// Instructions since the start.
///
/// Under `-icount shift=10` an instruction takes 2^10 ns, which are 25.6 ticks
/// of the timer: few enough to be told apart, so that the count is exact. It
/// goes up to 167 million.
#[inline(never)]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "2^32 ticks are fewer instructions")]
pub fn clock() -> u32 {
    // SAFETY: as above; reading has no effect.
    let ticks = !unsafe { TIMER_VALUE.read_volatile() };
    ((u64::from(ticks) * 10 + 128) / 256) as u32
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

/// Bytes of flash: code, constants, and the first values of variables. It
/// begins at address zero.
#[must_use]
pub fn flash() -> usize {
    (&raw const __flash_end).addr()
}
