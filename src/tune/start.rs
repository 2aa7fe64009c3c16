//! Where searches start from.
//!
//! Outliers hide a short length (they look like wiggles) and make good points
//! look bad, so that the most likely parameters of all points are no safe start.
//! For each of a few lengths, then, at a fixed $\lambda$, points are weighted by
//! a Student distribution of their leave-one-out errors, which is repeated until
//! the weights settle; the quarter with the least weight is left out, and the
//! parameters are tuned to the rest. A second start for each length are all
//! points, their values cut off.

use super::chain::{Candidate, Engine};
use super::minimize::Effort;
use super::parameters::State;
use super::sample::Sample;
use crate::Real;
use crate::kernel::Tunable;
use crate::real::{constant, count};
use crate::stats::{DEVIATION_PER_MEDIAN, ascending};
use alloc::vec;
use alloc::vec::Vec;

/// Lengths on a line, in robust deviations of the input: from a few samples to
/// nearly all of them.
const ON_A_LINE: [f64; 4] = [0.03, 0.12, 0.5, 2.0];
/// Lengths with several inputs, in units of the square root of their number.
const IN_SPACE: [f64; 2] = [0.4, 2.0];
/// Values are cut off here, in robust deviations of the target: where points are
/// weighted, and where all count.
const WEIGHTED_CUT: f64 = 20.0;
const UNWEIGHTED_CUT: f64 = 6.0;
/// Degrees of freedom of the Student distribution.
const FREEDOM: f64 = 3.0;
/// Rounds of weighting.
const WEIGHTINGS: usize = 4;
/// Share of the points that is left out at first.
const LEFT_OUT: f64 = 0.25;
/// A few steps: a start need not be at its minimum.
const ROUGH: (usize, f64) = (5, 0.1);

/// All starts, the shortest description first, each outliers' set once.
pub(super) fn starts<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    kernel: &K,
) -> Vec<Candidate<T, K>> {
    let dim = engine.sample.dim;
    let unit = count::<T>(dim).sqrt();
    let lengths: &[f64] = if dim == 1 { &ON_A_LINE } else { &IN_SPACE };
    let rough = Effort { evaluations: ROUGH.0, tolerance: constant(ROUGH.1) };
    let clipped = engine.sample.clipped(UNWEIGHTED_CUT);
    let mut found: Vec<Candidate<T, K>> = vec![];
    for &length in lengths {
        let mut state = State::of(kernel.clone(), engine.fixed_lambda);
        state.set_lengths(unit * constant(length));
        if engine.robust
            && let Some(doubtful) = least_weight(engine, &state)
        {
            let mut state = state.clone();
            if engine.tune(&mut state, &doubtful, true, rough).is_some() {
                found.extend(select_and_settle(engine, state, &doubtful, rough));
            }
        }
        let few = clipped.part(&super::subset::representative(clipped.points(), engine.most));
        if engine.climb(&mut state, &few, true, rough).is_some() {
            found.extend(select_and_settle(engine, state, &[], rough));
        }
    }
    found.sort_by(|a, b| ascending(&a.score, &b.score));
    let mut distinct: Vec<Candidate<T, K>> = vec![];
    for candidate in found {
        if distinct.iter().all(|d| d.support != candidate.support) {
            distinct.push(candidate);
        }
    }
    distinct
}

/// States with each of the lengths.
pub(super) fn states<T: Real, K: Tunable<T>>(
    engine: &Engine<'_, T>,
    kernel: &K,
) -> Vec<State<T, K>> {
    let dim = engine.sample.dim;
    let unit = count::<T>(dim).sqrt();
    let lengths: &[f64] = if dim == 1 { &ON_A_LINE } else { &IN_SPACE };
    lengths
        .iter()
        .map(|&length| {
            let mut state = State::of(kernel.clone(), engine.fixed_lambda);
            state.set_lengths(unit * constant(length));
            state
        })
        .collect()
}

fn select_and_settle<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    state: State<T, K>,
    known: &[usize],
    effort: Effort<T>,
) -> Option<Candidate<T, K>> {
    let support = engine.select(&state, known, true)?;
    engine.settle(state, support, true, effort)
}

/// The quarter of the points with the least Student weight, ascending.
fn least_weight<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    state: &State<T, K>,
) -> Option<Vec<usize>> {
    let n = engine.sample.len();
    let lambda = state.lambda();
    let base = &engine.sample.noise;
    let mut weighted: Sample<T> = engine.sample.clipped(WEIGHTED_CUT).at(state);
    let nu = constant::<T>(FREEDOM);
    let mut z = vec![T::zero(); n];
    for _ in 0..WEIGHTINGS {
        let memory = &mut engine.memory;
        let solved = memory.solve(&weighted, &state.kernel, lambda, engine.penalty, false)?;
        memory.residual_maker(n, &solved)?;
        for (i, z) in z.iter_mut().enumerate() {
            let q = memory.matrix[i * n + i];
            // The error's variance with the point's own noise, without its weight.
            let variance = q.recip() - lambda * (weighted.noise[i] - base[i]);
            *z = (solved.a[i] / q).abs() / variance.max(lambda * base[i]).sqrt();
            // A point that nothing is known of but itself agrees with all others.
            if !z.is_finite() {
                *z = T::zero();
            }
        }
        let scale = constant::<T>(DEVIATION_PER_MEDIAN) * weighted.middle(&mut z.clone(), &[]);
        let scale = scale.max(engine.floor).max(T::min_positive_value());
        for ((noise, &base), &z) in weighted.noise.iter_mut().zip(base).zip(&z) {
            let z = z / scale;
            *noise = base * (nu + z * z) / (nu + T::one());
        }
    }
    let relative = |i: usize| weighted.noise[i] / base[i];
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| ascending(&relative(b), &relative(a)));
    order.truncate((count::<T>(n) * constant(LEFT_OUT)).to_usize().unwrap_or(0));
    order.sort_unstable();
    Some(order)
}
