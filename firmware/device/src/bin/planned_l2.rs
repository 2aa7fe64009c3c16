//! The plan is made on the device, with the l2 penalty.
#![no_std]
#![no_main]

use kgard_device::{Once, clock, program, report};
use kgard_firmware_common::{
    L2_LEN, Memory, SCRATCH_LEN, Wrong, fit_and_check, plan_l2, problem, stored::expected,
};

static PLAN: Once<[f32; L2_LEN]> = Once::new([0.0; L2_LEN]);
static SCRATCH: Once<[f32; SCRATCH_LEN]> = Once::new([0.0; SCRATCH_LEN]);
static MEMORY: Once<Memory> = Once::new(Memory::new());

program!("planned-l2", run);

fn run() -> Result<(), Wrong> {
    let plan = PLAN.take().ok_or(Wrong::Memory)?;
    let scratch = SCRATCH.take().ok_or(Wrong::Memory)?;
    let memory = MEMORY.take().ok_or(Wrong::Memory)?;

    let start = clock();
    let plan = plan_l2(plan, scratch)?;
    let planning = clock() - start;

    let points = problem::points::<{ problem::N }>();
    let costs = fit_and_check(plan, (&points).into(), &expected::L2, memory, clock)?;
    report(planning, costs);
    Ok(())
}
