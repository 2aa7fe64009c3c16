//! Waves that are left in the errors of a function of one input.
//!
//! A climb finds a period only from near it: with few samples a period, or with many periods,
//! the likelihood has a narrow peak for it and is flat beside it. So the periodogram of
//! what a function leaves,
//!
//! $$ P(f) = \frac{2}{n \sum r_i^2} \Bigl\lvert \sum_i r_i e^{2 \pi i f x_i} \Bigr\rvert^2 , $$
//!
//! says where to begin: a wave is there if it shortens the description of these errors,
//! $-\tfrac n2 \log (1 - P)$, by more than its frequency, amplitude and phase cost.

use super::chain::{Candidate, Engine};
use super::parameters::State;
use crate::Real;
use crate::kernel::{Role, Tunable};
use crate::real::{constant, count};
use crate::stats::nth_smallest;
use alloc::vec::Vec;

/// Frequencies up to that of two samples a period, half of the lowest apart.
const PER_LOWEST: usize = 2;
/// The largest part of the variance that a wave is said to explain.
const MOST: f64 = 0.999;
const TWO_PI: f64 = core::f64::consts::TAU;

/// Where to begin with a kernel that has a period, if there are waves in what the candidate
/// leaves.
pub(super) fn start<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    kernels: &[K],
    candidate: &Candidate<T, K>,
) -> Option<State<T, K>> {
    let sample = engine.sample;
    let has_period = |k: &&K| (0..k.parameters()).any(|i| k.role(i) == Role::Period);
    let kernel = kernels.iter().find(has_period).filter(|_| sample.dim == 1)?;
    let function = engine.function(candidate)?;
    let inside = engine.inside(&candidate.support);
    let x: Vec<T> = inside.iter().map(|&i| sample.x[i]).collect();
    let r: Vec<T> = inside.iter().map(|&i| sample.v[i] - function[i]).collect();
    let n = x.len();
    let mut sorted = x.clone();
    // The extent, were the points spread evenly, without what is far away.
    let tenth = n / 10;
    let (low, high) = (nth_smallest(&mut sorted, tenth), nth_smallest(&mut sorted, n - 1 - tenth));
    let extent = (high - low) * count(n) / count((n - 2 * tenth).max(1));
    let energy = r.iter().fold(T::zero(), |s, &r| s + r * r);
    if !(extent > T::zero() && energy > T::zero()) {
        return None;
    }
    let mut best = (T::zero(), T::one());
    for k in PER_LOWEST..n * PER_LOWEST / 2 {
        let frequency = count::<T>(k) / (extent * count(PER_LOWEST));
        let (sine, cosine) = x.iter().zip(&r).fold((T::zero(), T::zero()), |(s, c), (&x, &r)| {
            let (sine, cosine) = (constant::<T>(TWO_PI) * frequency * x).sin_cos();
            (s + r * sine, c + r * cosine)
        });
        let power = sine * sine + cosine * cosine;
        if power > best.0 {
            best = (power, frequency);
        }
    }
    let (power, frequency) = best;
    let part = (constant::<T>(2.0) * power / (count::<T>(n) * energy)).min(constant(MOST));
    let half = constant::<T>(0.5);
    let gain = -half * count::<T>(n) * (T::one() - part).ln();
    // Amplitude and phase, known to one over the root of n; and which frequency.
    if gain <= count::<T>(n).ln() + count::<T>(n * PER_LOWEST / 2).ln() {
        return None;
    }
    let mut state = State::of(kernel.clone(), engine.fixed_lambda);
    state.set_lengths(extent * half);
    for i in 0..state.kernel.parameters() {
        if state.kernel.role(i) == Role::Period {
            state.kernel.set_parameter(i, frequency.recip());
        }
    }
    Some(state)
}
