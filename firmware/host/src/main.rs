//! The firmware's fits as a freestanding Linux program: a proof, with nothing
//! but the ordinary toolchain, that the library needs neither std nor an
//! allocator nor libc. Anything that brings std or alloc along does not link.
#![no_std]
#![no_main]

mod memory;

use core::arch::{asm, naked_asm};
use core::fmt::{self, Write};
use core::panic::PanicInfo;
// Named here so that its features are this program's.
use kgard as _;
use kgard_firmware_common::line::check_line;
use kgard_firmware_common::stream::check_stream;
use kgard_firmware_common::{L2_LEN, Memory, SCRATCH_LEN, check_all};

const WRITE: usize = 1;
const EXIT_GROUP: usize = 231;
const STDOUT: usize = 1;

/// Where the kernel begins: no return address, and a stack to be aligned.
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    naked_asm!("xor ebp, ebp", "and rsp, -16", "call {run}", "ud2", run = sym run)
}

extern "C" fn run() -> ! {
    #[expect(clippy::large_stack_arrays, reason = "Linux gives megabytes of stack")]
    let mut plan = [0.0; L2_LEN];
    let mut memories = [Memory::new(), Memory::new()];
    let result = check_all(&mut plan, &mut [0.0; SCRATCH_LEN], &mut memories);
    let result = result.and_then(|()| check_line()).and_then(|()| check_stream());
    // If the output is closed the exit code still tells.
    let _ = match &result {
        Ok(()) => writeln!(Console, "freestanding: ok"),
        Err(wrong) => writeln!(Console, "freestanding: WRONG: {wrong:?}"),
    };
    exit(usize::from(result.is_err()))
}

/// # Safety
/// The arguments must be what the call of this number expects.
unsafe fn system_call(number: usize, a: usize, b: usize, c: usize) {
    // SAFETY: the caller's; the kernel changes rax, rcx and r11.
    unsafe {
        asm!("syscall", inlateout("rax") number => _, in("rdi") a, in("rsi") b, in("rdx") c,
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
}

fn exit(code: usize) -> ! {
    // SAFETY: takes a number, and does not return.
    unsafe { system_call(EXIT_GROUP, code, 0, 0) };
    #[expect(clippy::empty_loop, reason = "the process is gone")]
    loop {}
}

struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: takes an address and a length.
        unsafe { system_call(WRITE, STDOUT, text.as_ptr().addr(), text.len()) };
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = writeln!(Console, "PANIC: {info}");
    exit(101)
}
