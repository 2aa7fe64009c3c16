//! A fit with nothing to choose on half a plan from flash: four spikes in 128 samples, in a
//! program of 64 KiB.
#![no_std]
#![no_main]

use kgard::{Stop, Workspace};
use kgard_device::{Once, clock, flash, program, say, stack_high_water, static_ram};
use kgard_firmware_common::Wrong;
use kgard_firmware_common::problem::{MANY, OUTLIERS, good};
use kgard_firmware_common::stored::half;

/// Spikes in the data.
const SPIKES: usize = 4;
const CAP: usize = 16;
/// Bytes of flash for all.
const FLASH: usize = 64 * 1024;

/// Scalars of the fit.
const LEN: usize = Workspace::<f32>::len(MANY, CAP);
static SCALARS: Once<[f32; LEN]> = Once::new([0.0; LEN]);

program!("half", run);

fn run() -> Result<(), Wrong> {
    let mut y = good::<MANY>();
    for (index, value) in &OUTLIERS[..SPIKES] {
        y[2 * index] += value;
    }
    let scalars = SCALARS.take().ok_or(Wrong::Memory)?;
    let mut indices = [0; CAP];
    let work = Workspace::new(MANY, scalars, &mut indices)?;
    let start = clock();
    let overhead = clock() - start;
    let start = clock();
    let fit = half::PLAN.fit(&y, Stop::automatic(), work)?;
    let cost = clock() - start - overhead;
    let stack = stack_high_water();
    say!("  instructions: fit {cost}");
    say!("  bytes: static RAM {}, stack {stack}, flash {}", static_ram(), flash());
    let is_spike = |index| OUTLIERS[..SPIKES].iter().any(|&(spike, _)| 2 * spike == index);
    if fit.outliers().len() != SPIKES || !fit.outliers().all(|found| is_spike(found.index)) {
        return Err(Wrong::Outliers);
    }
    if flash() <= FLASH { Ok(()) } else { Err(Wrong::Cost(cost)) }
}
