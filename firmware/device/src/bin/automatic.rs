//! A fit with nothing to choose on a plan from flash: four spikes in 64 samples.
#![no_std]
#![no_main]

use kgard::{Stop, Workspace};
use kgard_device::{clock, flash, program, say, stack_high_water};
use kgard_firmware_common::Wrong;
use kgard_firmware_common::problem::{N, OUTLIERS, data};
use kgard_firmware_common::stored::rkhs;

/// Spikes that stay in the data.
const SPIKES: usize = 4;
const CAP: usize = 8;
/// Instructions that the fit may take where there is a floating-point unit.
const MOST_INSTRUCTIONS: u32 = 70_000;

program!("automatic", run);

fn run() -> Result<(), Wrong> {
    let mut y = data();
    for (index, value) in &OUTLIERS[SPIKES..] {
        y[*index] -= value;
    }
    let mut scalars = [0.0; Workspace::<f32>::len(N, CAP)];
    let mut indices = [0; CAP];
    let work = Workspace::new(N, &mut scalars, &mut indices)?;
    let start = clock();
    let overhead = clock() - start;
    let start = clock();
    let fit = rkhs::PLAN.fit(&y, Stop::automatic(), work)?;
    let cost = clock() - start - overhead;
    let stack = stack_high_water();
    say!("  instructions: fit {cost}");
    say!("  bytes: stack {stack}, flash {}", flash());
    let is_spike = |index| OUTLIERS[..SPIKES].iter().any(|&(spike, _)| spike == index);
    if fit.outliers().len() != SPIKES || !fit.outliers().all(|found| is_spike(found.index)) {
        return Err(Wrong::Outliers);
    }
    if cost <= MOST_INSTRUCTIONS || cfg!(not(target_abi = "eabihf")) {
        Ok(())
    } else {
        Err(Wrong::Cost(cost))
    }
}
