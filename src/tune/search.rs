//! The whole search: starts, chains from the best of them, clusters of outliers, other
//! kernels, waves, and uneven noise; the shortest description wins.

use super::chain::{Candidate, Engine, ROBUST_ROUNDS};
use super::clusters;
use super::minimize::Effort;
use super::parameters::State;
use super::sample::FEATURES;
use super::start::starts;
use super::subset::representative;
use super::waves;
use crate::Real;
use crate::kernel::{Role, Tunable};
use crate::real::constant;
use alloc::vec;

/// Starts that are followed to the end.
const FOLLOWED: usize = 2;
/// Slopes' prior variance, times the usual one, where the trend is most of the
/// function.
const STEEP: f64 = 1e3;
/// Evaluations of one climb at the most, and the nats that are not worth a step.
const FINE: (usize, f64) = (25, 0.1);

/// The shortest description with any of the `kernels`, the first of which is the
/// one that starts are made with, or any of those for functions that look like outliers
/// in clusters; none where no system could be solved.
///
/// Of more points than the engine takes at once, a part is searched; what was
/// found there is where the search among all begins.
pub(super) fn search<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    kernels: &[K],
    of_clusters: &[K],
) -> Option<Candidate<T, K>> {
    if engine.sample.len() <= engine.most {
        return search_all(engine, kernels, of_clusters);
    }
    let indices = representative(engine.sample.points(), engine.most);
    let part = engine.sample.part(&indices);
    let found = engine.of(&part, |few| search_all(few, kernels, of_clusters))?;
    let support = found.support.iter().map(|&i| indices[i]).collect();
    let from = Candidate { support, level: vec![], ..found };
    let chain = |engine: &mut Engine<'_, T>| {
        let (state, support) = (from.state.clone(), from.support.clone());
        let first = engine.chain(state, support, fine(), from.robust_rounds())?;
        Some(look_again(engine, first))
    };
    if !from.state.gamma.is_empty() {
        return engine.leveled(&from, chain);
    }
    let found = chain(engine)?;
    Some(if engine.robust { clusters::look_from(engine, found) } else { found })
}

/// The usual effort.
pub(super) fn fine<T: Real>() -> Effort<T> {
    Effort { evaluations: FINE.0, tolerance: constant(FINE.1) }
}

fn search_all<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    kernels: &[K],
    of_clusters: &[K],
) -> Option<Candidate<T, K>> {
    let (first, others) = kernels.split_first()?;
    let mut best: Option<Candidate<T, K>> = None;
    for start in starts(engine, first).into_iter().take(FOLLOWED) {
        if let Some(found) = engine.chain(start.state, start.support, fine(), ROBUST_ROUNDS) {
            let found = look_again(engine, found);
            best = Some(match best {
                Some(best) => shorter(best, Some(found)),
                None => found,
            });
        }
    }
    let mut best = best?;
    if engine.robust {
        best = clusters::look(engine, of_clusters, best);
    }
    if best.trusting {
        return Some(best);
    }
    // Each kernel begins where the one before it has come to.
    let mut from = best.clone();
    for kernel in others {
        let mut state = from.state.clone();
        state.kernel = with_lengths_of(kernel, &from.state.kernel);
        if let Some(found) = engine.chain(state, from.support.clone(), fine(), ROBUST_ROUNDS) {
            from = found.clone();
            best = shorter(best, Some(found));
        }
    }
    if let Some(state) = waves::start(engine, kernels, &best) {
        let support = best.support.clone();
        best = shorter(best, engine.chain(state, support, fine(), ROBUST_ROUNDS));
    }
    if engine.steep_trend {
        let mut state = best.state.clone();
        // What the trend explains, the process need not: its variance begins anew.
        let fresh = State::of(state.kernel.clone(), engine.fixed_lambda);
        state = State { slope_variance: state.slope_variance * constant(STEEP), ..fresh };
        let support = best.support.clone();
        best = shorter(best, engine.chain(state, support, fine(), ROBUST_ROUNDS));
    }
    if !engine.uneven_noise {
        return Some(best);
    }
    let state = best.state.with_uneven_noise(FEATURES * engine.sample.dim);
    let support = best.support.clone();
    Some(shorter(best, engine.chain(state, support, fine(), ROBUST_ROUNDS)))
}

/// The better of a candidate and what a second look at its outliers leads to.
fn look_again<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    candidate: Candidate<T, K>,
) -> Candidate<T, K> {
    if !engine.robust {
        return candidate;
    }
    match engine.second_look(&candidate.state, &candidate.support) {
        Some(support) if support != candidate.support => {
            let other =
                engine.chain(candidate.state.clone(), support, fine(), candidate.robust_rounds());
            shorter(candidate, other)
        }
        _ => candidate,
    }
}

/// The shorter description of two, where there is a second one.
pub(super) fn shorter<T: Real, K>(
    one: Candidate<T, K>,
    other: Option<Candidate<T, K>>,
) -> Candidate<T, K> {
    match other {
        Some(other) if other.score < one.score => other,
        _ => one,
    }
}

/// A kernel with the lengths of another one, if it has as many parameters. Else, with one
/// input, its lengths and periods are in units of the other's length.
fn with_lengths_of<T: Real, K: Tunable<T>>(kernel: &K, from: &K) -> K {
    let mut kernel = kernel.clone();
    let alike = kernel.parameters() == from.parameters();
    for i in 0..kernel.parameters() {
        if !alike && kernel.role(i) != Role::Pure {
            kernel.set_parameter(i, kernel.parameter(i) * from.parameter(0));
        } else if alike && kernel.role(i) == from.role(i) {
            kernel.set_parameter(i, from.parameter(i));
        }
    }
    kernel
}
