//! The plan is made on the device, with the RKHS penalty.
#![no_std]
#![no_main]

use kgard_device::{Once, clock, program, report};
use kgard_firmware_common::{
    Memory, RKHS_LEN, SCRATCH_LEN, Wrong, fit_and_check, plan_rkhs, problem, stored::expected,
};

static PLAN: Once<[f32; RKHS_LEN]> = Once::new([0.0; RKHS_LEN]);
static SCRATCH: Once<[f32; SCRATCH_LEN]> = Once::new([0.0; SCRATCH_LEN]);
static MEMORY: Once<Memory> = Once::new(Memory::new());

program!("planned-rkhs", run);

fn run() -> Result<(), Wrong> {
    let plan = PLAN.take().ok_or(Wrong::Memory)?;
    let scratch = SCRATCH.take().ok_or(Wrong::Memory)?;
    let memory = MEMORY.take().ok_or(Wrong::Memory)?;

    let start = clock();
    let plan = plan_rkhs(plan, scratch)?;
    let planning = clock() - start;

    let points = problem::points::<{ problem::N }>();
    let costs = fit_and_check(plan, (&points).into(), &expected::RKHS, memory, clock)?;
    report(planning, costs);
    Ok(())
}
