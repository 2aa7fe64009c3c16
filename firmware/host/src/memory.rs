//! The four functions that compiled code expects to find in libc, and that
//! the Linux target therefore does not bring along.
//!
//! The string instructions are used because a loop in Rust would be turned
//! into a call of the very function it implements.

use core::arch::asm;

#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    let ahead = to.addr().wrapping_sub(from.addr());
    if ahead >= count {
        // SAFETY: the caller's; going upwards overwrites nothing still to be read.
        return unsafe { memcpy(to, from, count) };
    }
    // `count` is at least one here, and the last byte goes first.
    let last = count - 1;
    // SAFETY: the caller's.
    unsafe {
        asm!("std", "rep movsb", "cld", inout("rcx") count => _,
            inout("rdi") to.wrapping_add(last) => _, inout("rsi") from.wrapping_add(last) => _,
            options(nostack));
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller's; only the lowest byte counts.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("eax") byte,
            options(nostack, preserves_flags));
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    for i in 0..count {
        // SAFETY: the caller's. Volatile, or this becomes a call of itself.
        let (x, y) = unsafe { (a.add(i).read_volatile(), b.add(i).read_volatile()) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
    }
    0
}

/// Named by the precompiled core library, which could unwind; never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
