//! The plan comes from flash, as a file of bytes that is checked when opened.
#![no_std]
#![no_main]

use kgard_device::{Once, clock, program, report};
use kgard_firmware_common::{Memory, Wrong, fit_and_check, stored};

static MEMORY: Once<Memory> = Once::new(Memory::new());

program!("stored-l2", run);

fn run() -> Result<(), Wrong> {
    let memory = MEMORY.take().ok_or(Wrong::Memory)?;
    let start = clock();
    let (plan, points) = stored::l2()?;
    let opening = clock() - start;
    let costs = fit_and_check(plan, points, &stored::expected::L2, memory, clock)?;
    report(opening, costs);
    Ok(())
}
