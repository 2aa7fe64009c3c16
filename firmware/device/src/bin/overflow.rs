//! Runs out of stack on purpose: the fault has to be noticed, not to pass for
//! a success.
#![no_std]
#![no_main]

use core::hint::black_box;
use kgard_device::program;
use kgard_firmware_common::Wrong;

program!("overflow", run);

#[expect(clippy::unnecessary_wraps, reason = "the signature of a program")]
fn run() -> Result<(), Wrong> {
    black_box(deeper(0));
    Ok(())
}

/// Never returns: there is less stack than that.
fn deeper(depth: usize) -> usize {
    let frame = black_box([depth; 64]);
    if depth == usize::MAX { 0 } else { deeper(depth + 1) + frame[depth % 64] }
}
