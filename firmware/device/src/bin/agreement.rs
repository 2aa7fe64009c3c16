//! A plan made on the device and the same plan from flash lead to the same
//! fit, with both penalties.
#![no_std]
#![no_main]

use kgard_device::{Once, program};
use kgard_firmware_common::{L2_LEN, Memory, SCRATCH_LEN, Wrong, check_all};

static PLAN: Once<[f32; L2_LEN]> = Once::new([0.0; L2_LEN]);
static SCRATCH: Once<[f32; SCRATCH_LEN]> = Once::new([0.0; SCRATCH_LEN]);
static MEMORIES: Once<[Memory; 2]> = Once::new([Memory::new(), Memory::new()]);

program!("agreement", run);

fn run() -> Result<(), Wrong> {
    let plan = PLAN.take().ok_or(Wrong::Memory)?;
    let scratch = SCRATCH.take().ok_or(Wrong::Memory)?;
    let memories = MEMORIES.take().ok_or(Wrong::Memory)?;
    check_all(plan, scratch, memories)
}
