//! RISC-V: QEMU's sifive_e, whose RAM has nothing below it.

use crate::board::{PAINT, exit};
use core::arch::{asm, naked_asm};

/// Asks the debugger, here QEMU, for something.
///
/// # Safety
/// `argument` must be what the operation expects.
pub(crate) unsafe fn semihosting(operation: usize, argument: usize) {
    // SAFETY: the three instructions are the call; they change nothing but a0.
    unsafe { call_debugger(operation, argument) }
}

/// The three have to be uncompressed, and in one page.
#[unsafe(naked)]
unsafe extern "C" fn call_debugger(operation: usize, argument: usize) {
    naked_asm!(
        ".balign 16",
        ".option push",
        ".option norvc",
        "slli x0, x0, 0x1f",
        "ebreak",
        "srai x0, x0, 7",
        ".option pop",
        "ret",
    )
}

/// Running out of stack is a fault already.
pub(crate) fn guard_stack() {}

/// It runs already.
pub fn start_clock() {}

/// Instructions since the start.
#[inline(never)]
#[must_use]
pub fn clock() -> u32 {
    let count;
    // SAFETY: reading the counter has no effect.
    unsafe { asm!("csrr {0}, minstret", out(reg) count, options(nomem, nostack)) };
    count
}

/// Paints the stack, and gives the statics their first values. Rust may not run before that.
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".vectors")]
extern "C" fn reset() -> ! {
    naked_asm!(
        "la sp, __stack_high",
        "la t0, {fault}",
        "csrw mtvec, t0",
        "la t0, __stack_low",
        "la t1, __stack_high",
        "li t2, {paint}",
        "j 2f",
        "1: sw t2, 0(t0)",
        "addi t0, t0, 4",
        "2: bltu t0, t1, 1b",
        "la t0, __data_start",
        "la t1, __data_end",
        "la t2, __data_load",
        "j 4f",
        "3: lw t3, 0(t2)",
        "sw t3, 0(t0)",
        "addi t0, t0, 4",
        "addi t2, t2, 4",
        "4: bltu t0, t1, 3b",
        "la t0, __bss_start",
        "la t1, __bss_end",
        "j 6f",
        "5: sw zero, 0(t0)",
        "addi t0, t0, 4",
        "6: bltu t0, t1, 5b",
        "call {run}",
        "unimp",
        paint = const PAINT,
        fault = sym fault,
        run = sym crate::start::run,
    )
}

/// Any exception: none is expected. The stack may be what has run out, so it
/// is begun anew.
#[unsafe(naked)]
extern "C" fn fault() -> ! {
    naked_asm!(".balign 4", "la sp, __stack_high", "call {report}", "unimp",
        report = sym report_fault)
}

extern "C" fn report_fault() -> ! {
    crate::say!("FAULT: out of stack, a bad address or an undefined instruction");
    exit(102)
}
