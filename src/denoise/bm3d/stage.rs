//! One stage over the whole image.
//!
//! The image is cut into strips that do not depend on each other. What they
//! sum up is added in their order, so that the result is the same to the last
//! bit however many threads work on them.

use super::aggregate::Quotient;
use super::lattice::{Lattice, Samples};
use super::settings::Stage;
use super::strip::{Channel, Strip};
use super::transform::Basis;
use crate::image::zeros;
use crate::linalg::simd::dispatch;
use crate::parallel::in_order;
use crate::{Error, Real};
use alloc::vec::Vec;

/// Filters every channel with the groups found in `guide`.
pub(super) fn run<T: Real>(
    stage: &Stage<T>,
    guide: Samples<'_, T>,
    channels: &[Channel<'_, T>],
) -> Result<Vec<Vec<T>>, Error> {
    match stage.block {
        4 => sized::<T, 4>(stage, guide, channels),
        8 => sized::<T, 8>(stage, guide, channels),
        12 => sized::<T, 12>(stage, guide, channels),
        _ => sized::<T, 16>(stage, guide, channels),
    }
}

fn sized<T: Real, const N: usize>(
    stage: &Stage<T>,
    guide: Samples<'_, T>,
    channels: &[Channel<'_, T>],
) -> Result<Vec<Vec<T>>, Error> {
    let (width, height) = (guide.width, guide.height);
    let lattice = &Lattice::new((width, height), N, stage.step, stage.radius);
    let basis = &Basis::<T, N>::new(stage.transform);
    let mut sums: Vec<Quotient<T>> = Vec::with_capacity(channels.len());
    for _ in channels {
        let (numerator, denominator) = (zeros(width, height)?, zeros(width, height)?);
        sums.push(Quotient { numerator, denominator });
    }
    let work =
        |number| (number, dispatch(Strip { stage, lattice, basis, guide, channels, number }));
    in_order(0..lattice.strips(), work, |(number, parts)| {
        let top = lattice.rows(number).start * width;
        for (sum, part) in sums.iter_mut().zip(parts) {
            add_rows(&mut sum.numerator[top..], width, &part.numerator, lattice.width());
            add_rows(&mut sum.denominator[top..], width, &part.denominator, lattice.width());
        }
    });
    let quotients = sums
        .into_iter()
        .map(|Quotient { mut numerator, denominator }| {
            for (value, weight) in numerator.iter_mut().zip(denominator) {
                *value = *value / weight;
            }
            numerator
        })
        .collect();
    Ok(quotients)
}

/// Adds the rows of `part`, which may be longer and reach further down.
fn add_rows<T: Real>(sum: &mut [T], width: usize, part: &[T], part_width: usize) {
    for (sum, part) in sum.chunks_exact_mut(width).zip(part.chunks_exact(part_width)) {
        for (sum, &part) in sum.iter_mut().zip(part) {
            *sum = *sum + part;
        }
    }
}
