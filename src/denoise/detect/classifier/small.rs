//! The small network.

use super::super::window::larger;
use super::pattern::{CANDIDATES, Lanes};
use super::weights::{INPUTS, OF_SMALL, SMALL};
use crate::Real;
use crate::linalg::simd::multiply_add;
use crate::real::constant;
use alloc::vec::Vec;

const FIRST: usize = SMALL.0;
const SECOND: usize = SMALL.1;
/// Units at a time, so that their sums stay in registers.
const UNITS: usize = 8;

/// What it has learned.
#[derive(Debug, Clone)]
pub(super) struct Small<T> {
    weights: Vec<T>,
}

impl<T: Real> Small<T> {
    pub(super) fn new() -> Self {
        Self { weights: OF_SMALL.iter().map(|&weight| constant(weight.into())).collect() }
    }

    /// The $z$ of each candidate.
    #[inline(always)]
    pub(super) fn z_of<const FUSED: bool>(&self, inputs: &[Lanes<T>; INPUTS]) -> Lanes<T> {
        let (first, rest) = self.weights.split_at((INPUTS + 1) * FIRST);
        let (second, last) = rest.split_at((FIRST + 1) * SECOND);
        let units = layer::<T, INPUTS, FIRST, FUSED>(inputs, first);
        let units = layer::<T, FIRST, SECOND, FUSED>(&units, second);
        let mut sum = [last[SECOND]; CANDIDATES];
        for (units, &weight) in units.iter().zip(last) {
            for (sum, &unit) in sum.iter_mut().zip(units) {
                *sum = multiply_add::<T, FUSED>(weight, unit, *sum);
            }
        }
        sum
    }
}

/// What units say to `inputs`: the sum of these with the weights of each, and one more,
/// as far as it is positive.
#[inline(always)]
fn layer<T: Real, const IN: usize, const OUT: usize, const FUSED: bool>(
    inputs: &[Lanes<T>; IN],
    weights: &[T],
) -> [Lanes<T>; OUT] {
    let (weights, begin) = weights.split_at(IN * OUT);
    let mut units = [[T::zero(); CANDIDATES]; OUT];
    for (block, units) in units.chunks_exact_mut(UNITS).enumerate() {
        let block = block * UNITS..(block + 1) * UNITS;
        let mut sums = [[T::zero(); CANDIDATES]; UNITS];
        for (sum, &begin) in sums.iter_mut().zip(&begin[block.clone()]) {
            *sum = [begin; CANDIDATES];
        }
        for (input, weights) in inputs.iter().zip(weights.chunks_exact(OUT)) {
            for (sum, &weight) in sums.iter_mut().zip(&weights[block.clone()]) {
                for (sum, &input) in sum.iter_mut().zip(input) {
                    *sum = multiply_add::<T, FUSED>(weight, input, *sum);
                }
            }
        }
        for (unit, sum) in units.iter_mut().zip(sums) {
            for (unit, sum) in unit.iter_mut().zip(sum) {
                *unit = larger(sum, T::zero());
            }
        }
    }
    units
}
