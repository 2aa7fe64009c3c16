//! From reset to the program, and the ways out of it.

use crate::board::{__stack_high, PAINT, exit, guard_stack, start_clock};
use crate::say;
use core::arch::naked_asm;
use core::panic::PanicInfo;

/// The table that the processor reads first.
#[repr(C)]
struct Vectors {
    stack: *const u32,
    reset: extern "C" fn() -> !,
    exceptions: [extern "C" fn() -> !; 14],
}

// SAFETY: it is only read, and by the hardware at that.
unsafe impl Sync for Vectors {}

#[used]
#[unsafe(link_section = ".vectors")]
static VECTORS: Vectors =
    Vectors { stack: &raw const __stack_high, reset, exceptions: [fault; 14] };

/// Switches the floating-point unit on, paints the stack, and gives the
/// statics their first values. Rust may not run before that.
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn reset() -> ! {
    naked_asm!(
        // CPACR: full access to coprocessors 10 and 11.
        "ldr r0, =0xE000ED88",
        "ldr r1, [r0]",
        "orr r1, r1, #0x00F00000",
        "str r1, [r0]",
        // FPCCR: exceptions do not save the registers of that unit. None of
        // them returns, and on a stack that has run out it would fault again.
        "ldr r0, =0xE000EF34",
        "movs r1, #0",
        "str r1, [r0]",
        "dsb",
        "isb",
        "ldr r0, =__stack_low",
        "ldr r1, =__stack_high",
        "ldr r2, ={paint}",
        "b 2f",
        "1: str r2, [r0], #4",
        "2: cmp r0, r1",
        "blo 1b",
        "ldr r0, =__data_start",
        "ldr r1, =__data_end",
        "ldr r2, =__data_load",
        "b 4f",
        "3: ldr r3, [r2], #4",
        "str r3, [r0], #4",
        "4: cmp r0, r1",
        "blo 3b",
        "ldr r0, =__bss_start",
        "ldr r1, =__bss_end",
        "movs r2, #0",
        "b 6f",
        "5: str r2, [r0], #4",
        "6: cmp r0, r1",
        "blo 5b",
        "bl {run}",
        "udf #0",
        ".ltorg",
        paint = const PAINT,
        run = sym run,
    )
}

unsafe extern "Rust" {
    /// The program; see [`program!`](crate::program).
    safe fn kgard_program() -> bool;
}

extern "C" fn run() -> ! {
    guard_stack();
    start_clock();
    let well = kgard_program();
    exit(usize::from(!well))
}

/// Any exception: none is expected. The stack may be what has run out, so it
/// is begun anew.
#[unsafe(naked)]
extern "C" fn fault() -> ! {
    naked_asm!("ldr r0, =__stack_high", "mov sp, r0", "bl {report}", "udf #0", ".ltorg",
        report = sym report_fault)
}

extern "C" fn report_fault() -> ! {
    say!("FAULT: out of stack, a bad address or an undefined instruction");
    exit(102)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    match info.location() {
        Some(at) => say!("PANIC at {}:{}", at.file(), at.line()),
        None => say!("PANIC"),
    }
    exit(101)
}
