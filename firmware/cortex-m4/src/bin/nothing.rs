//! A program that does nothing: what the board and the output take of the flash.
#![no_std]
#![no_main]

use kgard_cortex_m4::{flash, program, say};
use kgard_firmware_common::Wrong;

program!("nothing", run);

#[expect(clippy::unnecessary_wraps, reason = "the signature of a program")]
fn run() -> Result<(), Wrong> {
    say!("  bytes: flash {}", flash());
    Ok(())
}
