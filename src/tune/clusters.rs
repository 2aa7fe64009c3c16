//! A look at outliers in clusters, which may be the function.
//!
//! Narrow peaks on flat ground, floods, or a decade of growth are a small share of the
//! points and far from the others: with a long length they are outliers, with a short one
//! the function. The likelihood knows one amplitude for all of the function, and is in
//! favour of the former. But outliers agree with each other by chance only. So where
//! they lie side by side, on the same side of the function, more often than by chance, they
//! are put back, the parameters are tuned to them, and what each point is told by the others
//! decides ([`Engine::left_out`]): a peak is told by its own points, a burst of errors
//! with its edges is not.

use super::chain::{Candidate, Engine};
use super::minimize::Effort;
use super::search::{fine, shorter};
use super::start::states;
use crate::Real;
use crate::kernel::Tunable;
use crate::real::{constant, count};
use crate::stats::ascending;
use alloc::vec;
use alloc::vec::Vec;

/// Clusters are looked at from so many outliers in company on, and from so many standard
/// deviations above what chance gives.
const FEWEST: usize = 3;
const DEVIATIONS: f64 = 2.0;
/// Points of a cluster, at the least: two are neighbours by chance.
const CLUSTER: usize = 3;
/// What is at this many distances of the nearest is a neighbour as well.
const AS_NEAR: f64 = 1.01;
/// Outliers that may have come to be put back beside a cluster, and are taken out again.
const AMONG: usize = 2;
/// Evaluations of a start.
const ROUGH: (usize, f64) = (8, 0.1);
/// Evaluations of the climb from the best start: far, where there is no noise.
const PATIENT: usize = 60;
/// Nats that each point must gain that is put back: each is told by others of its cluster,
/// and nobody pays for the first of them.
const SHAPE: f64 = 1.4;
/// Part of the squares of what is put back that the others may fail to tell: half of its size.
const TOLD: f64 = 0.25;
/// Looks at the most.
const LOOKS: usize = 3;

/// Looks until nothing changes.
pub(super) fn look<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    kernels: &[K],
    mut best: Candidate<T, K>,
) -> Candidate<T, K> {
    for _ in 0..LOOKS {
        let next = look_once(engine, best.clone(), |engine, alone| {
            kernels.iter().flat_map(|kernel| trusting(engine, kernel, alone)).collect()
        });
        if next.support == best.support {
            break;
        }
        best = next;
    }
    best
}

/// Looks once, from the candidate's own parameters.
pub(super) fn look_from<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    best: Candidate<T, K>,
) -> Candidate<T, K> {
    let from = best.state.clone();
    look_once(engine, best, |engine, alone| {
        let found = engine.settle(from.clone(), alone.to_vec(), false, fine());
        found.into_iter().flat_map(|found| chained(engine, found)).collect()
    })
}

/// The better of a candidate and one in which its clusters of outliers are the function, of
/// those that `trust` finds with the outliers that stand alone.
fn look_once<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    best: Candidate<T, K>,
    trust: impl Fn(&mut Engine<'_, T>, &[usize]) -> Vec<Candidate<T, K>>,
) -> Candidate<T, K> {
    let Some(company) = clusters(engine, &best.support) else { return best };
    // Two side by side are a narrow part of the function, or neighbours by chance.
    let pairs = in_company(engine, &best.support, 2);
    let without = |put_back: &[usize]| -> Vec<usize> {
        best.support.iter().copied().filter(|i| put_back.binary_search(i).is_err()).collect()
    };
    let mut candidates = trust(engine, &without(&company));
    if pairs != company {
        candidates.extend(trust(engine, &without(&pairs)));
    }
    let Some((before, _)) = engine.left_out(&best) else { return best };
    let Some(function) = engine.function(&best) else { return best };
    let mut chosen = best.clone();
    let mut most = (false, T::zero());
    for found in candidates {
        let Some((after, errors)) = engine.left_out(&found) else { continue };
        let is_back = |i: &&usize| found.support.binary_search(i).is_err();
        let back: Vec<usize> = best.support.iter().filter(is_back).copied().collect();
        let after = after + constant::<T>(SHAPE) * count(back.len());
        let squares =
            |of: &dyn Fn(usize) -> T| back.iter().fold(T::zero(), |s, &i| s + of(i) * of(i));
        let size = squares(&|i| engine.sample.v[i] - function[i]);
        let is_told = squares(&|i| errors[i]) <= constant::<T>(TOLD) * size;
        // Either description may be the shorter one.
        let mut gain = before - after;
        if found.level.is_empty() {
            gain = gain.max(best.score - found.score);
        }
        // What is a peak of the function is one throughout.
        let key = (clusters(engine, &found.support).is_none(), gain);
        if is_told && gain > T::zero() && key > most {
            most = key;
            chosen = found;
        }
    }
    chosen
}

/// Parameters tuned to all points but those `alone`, and the outliers that are left with them.
fn trusting<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    kernel: &K,
    alone: &[usize],
) -> Vec<Candidate<T, K>> {
    let patient = Effort { evaluations: PATIENT, tolerance: constant(ROUGH.1) };
    let rough = Effort { evaluations: ROUGH.0, tolerance: constant(ROUGH.1) };
    let mut first: Option<Candidate<T, K>> = None;
    for state in states(engine, kernel) {
        let found = engine.settle(state, alone.to_vec(), true, rough);
        first = match first {
            Some(first) => Some(shorter(first, found)),
            None => found,
        };
    }
    let Some(first) = first else { return vec![] };
    let mut support = first.support;
    let mut found = vec![];
    for _ in 0..=AMONG {
        let settled = engine.settle(first.state.clone(), support.clone(), false, patient);
        let Some(settled) = settled else { break };
        let errors = engine.left_out(&settled).map(|(_, errors)| errors);
        found.extend(chained(engine, settled));
        // The worst one is taken out, and parameters are tuned anew.
        let Some(errors) = errors else { break };
        let worst =
            (0..errors.len()).max_by(|&a, &b| ascending(&errors[a].abs(), &errors[b].abs()));
        support.extend(worst);
        support.sort_unstable();
        support.dedup();
    }
    found
}

/// A candidate without more outliers, and those of chains from it.
fn chained<T: Real, K: Tunable<T>>(
    engine: &mut Engine<'_, T>,
    settled: Candidate<T, K>,
) -> Vec<Candidate<T, K>> {
    let settled = Candidate { trusting: true, ..settled };
    let chained = engine.chain(settled.state.clone(), settled.support.clone(), fine(), 0);
    let uneven = engine.uneven_noise.then(|| engine.uneven(&settled, fine())).flatten();
    [Some(settled), chained, uneven].into_iter().flatten().collect()
}

/// The outliers in clusters, if these are many more than by chance.
fn clusters<T: Real>(engine: &Engine<'_, T>, support: &[usize]) -> Option<Vec<usize>> {
    let company = in_company(engine, support, CLUSTER);
    let chance = count::<T>(support.len() * support.len()) / count(engine.sample.len());
    let least = chance + constant::<T>(DEVIATIONS) * chance.sqrt() + count(FEWEST);
    (count::<T>(company.len()) >= least).then_some(company)
}

/// Of the outliers those in clusters of `least` points and more: neighbours that are outliers as
/// well, on the same side of the target's middle; ascending.
fn in_company<T: Real>(engine: &Engine<'_, T>, support: &[usize], least: usize) -> Vec<usize> {
    let sample = engine.sample;
    // The first of the support that is known to be in the same cluster.
    let mut cluster: Vec<usize> = (0..support.len()).collect();
    for (a, &i) in support.iter().enumerate() {
        let distance = |j: usize| {
            let pairs = sample.point(i).iter().zip(sample.point(j));
            pairs.fold(T::zero(), |s, (&a, &b)| s + (a - b) * (a - b))
        };
        let others = (0..sample.len()).filter(|&j| j != i);
        let nearest = others.map(distance).fold(T::infinity(), T::min);
        // On a lattice several are as near, but for rounding.
        let near = nearest * constant(AS_NEAR * AS_NEAR);
        for (b, &j) in support.iter().enumerate() {
            let is_same = (sample.v[i] > T::zero()) == (sample.v[j] > T::zero());
            if a != b && is_same && distance(j) <= near {
                let (first, other) = (cluster[a].min(cluster[b]), cluster[a].max(cluster[b]));
                cluster.iter_mut().filter(|c| **c == other).for_each(|c| *c = first);
            }
        }
    }
    let size = |of: usize| cluster.iter().filter(|&&c| c == of).count();
    let is_in_one = |a: &usize| size(cluster[*a]) >= least;
    (0..support.len()).filter(is_in_one).map(|a| support[a]).collect()
}
