//! The plan comes from flash, where it was compiled in as Rust source.
#![no_std]
#![no_main]

use kgard::Points;
use kgard_device::{Once, clock, program, report};
use kgard_firmware_common::stored::{expected, rkhs};
use kgard_firmware_common::{Memory, Wrong, fit_and_check};

static MEMORY: Once<Memory> = Once::new(Memory::new());

program!("stored-rkhs", run);

fn run() -> Result<(), Wrong> {
    let memory = MEMORY.take().ok_or(Wrong::Memory)?;
    let points = Points::new(&rkhs::POINTS, rkhs::DIM)?;
    let costs = fit_and_check(rkhs::PLAN, points, &expected::RKHS, memory, clock)?;
    // The plan is there already.
    report(0, costs);
    Ok(())
}
