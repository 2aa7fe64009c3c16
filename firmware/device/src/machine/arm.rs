//! ARM Cortex-M: QEMU's mps2-an386 (M4F) and mps2-an385 (M3, which runs the code of an M0+).

use crate::board::{__stack_high, PAINT, exit};
use core::arch::{asm, naked_asm};

// The first timer of the boards counts down at 25 MHz.
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

/// Asks the debugger, here QEMU, for something.
///
/// # Safety
/// `argument` must be what the operation expects.
pub(crate) unsafe fn semihosting(operation: usize, argument: usize) {
    // SAFETY: the breakpoint is the call; it changes nothing but r0.
    unsafe {
        asm!("bkpt #0xAB", inout("r0") operation => _, in("r1") argument, options(nostack));
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

/// Starts the clock, or starts it anew: it has a limit.
pub fn start_clock() {
    // SAFETY: the registers of a timer that nobody else uses.
    unsafe {
        TIMER_RELOAD.write_volatile(u32::MAX);
        TIMER_VALUE.write_volatile(u32::MAX);
        TIMER_CONTROL.write_volatile(1);
    }
}

/// Instructions since [`start_clock`].
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

/// Switches the floating-point unit on: CPACR, full access to coprocessors 10 and 11. Exceptions
/// do not save its registers (FPCCR): none of them returns, and on a stack that has run out it
/// would fault again.
#[cfg(target_abi = "eabihf")]
macro_rules! floating_point {
    () => {
        "ldr r0, =0xE000ED88
         ldr r1, [r0]
         ldr r2, =0x00F00000
         orrs r1, r2
         str r1, [r0]
         ldr r0, =0xE000EF34
         movs r1, #0
         str r1, [r0]
         dsb
         isb"
    };
}

/// There is none.
#[cfg(not(target_abi = "eabihf"))]
macro_rules! floating_point {
    () => {
        ""
    };
}

/// Paints the stack, and gives the statics their first values. Rust may not run before that. The
/// instructions are those of all Cortex-M.
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn reset() -> ! {
    naked_asm!(
        floating_point!(),
        "ldr r0, =__stack_low",
        "ldr r1, =__stack_high",
        "ldr r2, ={paint}",
        "b 2f",
        "1: str r2, [r0]",
        "adds r0, #4",
        "2: cmp r0, r1",
        "blo 1b",
        "ldr r0, =__data_start",
        "ldr r1, =__data_end",
        "ldr r2, =__data_load",
        "b 4f",
        "3: ldr r3, [r2]",
        "str r3, [r0]",
        "adds r2, #4",
        "adds r0, #4",
        "4: cmp r0, r1",
        "blo 3b",
        "ldr r0, =__bss_start",
        "ldr r1, =__bss_end",
        "movs r2, #0",
        "b 6f",
        "5: str r2, [r0]",
        "adds r0, #4",
        "6: cmp r0, r1",
        "blo 5b",
        "bl {run}",
        "udf #0",
        ".ltorg",
        paint = const PAINT,
        run = sym crate::start::run,
    )
}

/// Any exception: none is expected. The stack may be what has run out, so it
/// is begun anew.
#[unsafe(naked)]
extern "C" fn fault() -> ! {
    naked_asm!("ldr r0, =__stack_high", "mov sp, r0", "bl {report}", "udf #0", ".ltorg",
        report = sym report_fault)
}

extern "C" fn report_fault() -> ! {
    crate::say!("FAULT: out of stack, a bad address or an undefined instruction");
    exit(102)
}
