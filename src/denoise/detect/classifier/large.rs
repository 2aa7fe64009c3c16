//! The large network: whole batches of candidates, as products of matrices.

use super::super::window::larger;
use super::weights::{INPUTS, LARGE, OF_LARGE};
use crate::Real;
use crate::linalg::batch::{Entries, Packed};
use crate::real::constant;
use alloc::vec::Vec;

/// What it has learned.
#[derive(Debug, Clone)]
pub(super) struct Large<T> {
    first: Layer<T>,
    second: Layer<T>,
    /// What each unit of the second layer adds to the sum, and what that begins with.
    last: Vec<T>,
}

/// Hidden units: the weights of their inputs, and what their sums begin with.
#[derive(Debug, Clone)]
struct Layer<T> {
    weights: Packed<T>,
    begin: Vec<T>,
}

impl<T: Real> Large<T> {
    pub(super) fn new() -> Self {
        let (first, rest) = OF_LARGE.split_at((INPUTS + 1) * LARGE.0);
        let (second, last) = rest.split_at((LARGE.0 + 1) * LARGE.1);
        Self {
            first: Layer::new(first, INPUTS),
            second: Layer::new(second, LARGE.0),
            last: last.iter().map(|&weight| constant(weight.into())).collect(),
        }
    }

    /// The $z$ of each candidate, from the inputs of all. `units` is memory for the outputs of the
    /// layers.
    pub(super) fn z_of<'a>(
        &'a self,
        inputs: &[T],
        units: &'a mut [Vec<T>; 2],
    ) -> impl Iterator<Item = T> + 'a {
        let [first, second] = units;
        self.first.units(inputs, first);
        self.second.units(first, second);
        second.chunks_exact(LARGE.1).map(|units| {
            let weighted = units.iter().zip(&self.last).map(|(&unit, &weight)| unit * weight);
            weighted.fold(self.last[LARGE.1], |sum, x| sum + x)
        })
    }
}

impl<T: Real> Layer<T> {
    /// From a table of the weights of each input, and then what units begin with.
    fn new(table: &[f32], inputs: usize) -> Self {
        let units = table.len() / (inputs + 1);
        let entry = |input: usize, unit: usize| constant(table[input * units + unit].into());
        let weights: Vec<T> = (0..units)
            .flat_map(|unit| (0..inputs).map(move |i| (i, unit)))
            .map(|(i, u)| entry(i, u))
            .collect();
        let begin = (0..units).map(|unit| entry(inputs, unit)).collect();
        Self { weights: Packed::new(&weights, inputs), begin }
    }

    /// What units say to inputs: the sum of these with the weights of each, and one more, as
    /// far as it is positive.
    fn units(&self, inputs: &[T], out: &mut Vec<T>) {
        let (length, units) = (self.weights.columns(), self.begin.len());
        out.resize(inputs.len() / length * units, T::zero());
        let inputs = Entries { of: inputs, stride: length, start: 0 };
        self.weights.multiply(inputs, Entries { of: out, stride: units, start: 0 });
        for out in out.chunks_exact_mut(units) {
            for (out, &begin) in out.iter_mut().zip(&self.begin) {
                *out = larger(*out + begin, T::zero());
            }
        }
    }
}
