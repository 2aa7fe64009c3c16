//! A fit on a plan of 64 points with nothing to choose.
#![no_std]
#![no_main]

use kgard::{PlanRef, Stop, Workspace};
use kgard_budget as _;

const N: usize = 64;
const K: usize = 8;

/// What is looked at.
#[repr(C)]
pub struct Roots {
    fit: extern "C" fn(&[f32; N * N], &[f32; N], f32, &[f32; N], &mut [f32; N]) -> u64,
}

/// The function, and with it what it calls.
#[used]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".roots")]
pub static ROOTS: Roots = Roots { fit };

/// Writes the data without noise and outliers, and gives a bit for each outlier.
extern "C" fn fit(
    h: &[f32; N * N],
    bias: &[f32; N],
    lambda: f32,
    y: &[f32; N],
    out: &mut [f32; N],
) -> u64 {
    clean(h, bias, lambda, y, out).unwrap_or(u64::MAX)
}

fn clean(
    h: &[f32; N * N],
    bias: &[f32; N],
    lambda: f32,
    y: &[f32; N],
    out: &mut [f32; N],
) -> Result<u64, kgard::Error> {
    let plan = PlanRef::scaled(N, h, bias, lambda)?;
    let mut scalars = [0.0; Workspace::<f32>::len(N, K)];
    let mut indices = [0; K];
    let work = Workspace::new(N, &mut scalars, &mut indices)?;
    let fit = plan.fit(y, Stop::automatic(), work)?;
    fit.fitted(out)?;
    Ok(fit.outliers().fold(0, |bits, outlier| bits | 1 << outlier.index))
}
