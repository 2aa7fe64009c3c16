//! Which of many places stand out in most of several views.
//!
//! Place $j$ has in view $t$ the deviation $z_{tj}$, in units of what is usual around it. With
//! $F$ views, its score is the greatest $a_j$ that $|z_{tj}|$ reaches in more than half of them,
//! $k = \lfloor F / 2 \rfloor + 1$. A place that is like all others exceeds $a$ in a view with
//! the probability $G(a)$, the share of places that do, and in independent views
//!
//! $$ P(a_j > a) = \sum_{i = k}^{F} \binom{F}{i} G(a)^i \left(1 - G(a)\right)^{F - i} . $$
//!
//! The threshold is the least $a$ at which so many of all places would be expected beyond it by
//! chance. Places beyond it do not count for $G$.
//!
//! Views need not be independent: a fixed pattern of the sensor, or the same scene, adds to each
//! place a deviation that is the same in all. Its share $\rho$ of the variance is the mean
//! correlation of two views, from the signs of deviations ($\sin (\pi r / 2)$, where the mean
//! product of signs is $r$). Such a part exceeds its quantile $q \sqrt{\rho}$, of a normal
//! variable, by chance as often as is allowed; the threshold is raised by this.

use crate::stats::upper_quantile;
use alloc::vec::Vec;
use num_traits::Float;

/// Deviations are kept in steps of one part in so many, in a byte.
const STEPS: f64 = 8.0;
/// The largest of a byte.
const MOST: usize = i8::MAX as usize;

/// A deviation as it is kept.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn step(deviation: f64) -> i8 {
    let most = f64::from(i8::MAX);
    Float::round(STEPS * deviation).clamp(-most, most) as i8
}

/// Places that stand out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    pub(super) mask: Vec<bool>,
    /// From which deviation on, if any is clear enough.
    pub(super) threshold: Option<f64>,
    /// The share of the variance that is the same in all views.
    pub(super) shared: f64,
}

/// Judges places by their deviations in all `views`, so that `false_alarms` are expected.
pub(super) fn judge(views: &[Vec<i8>], false_alarms: f64) -> Verdict {
    let places = views.first().map_or(0, Vec::len);
    let majority = views.len() / 2 + 1;
    let mut sizes: Vec<usize> = alloc::vec![0; views.len()];
    let mut scores: Vec<u8> = alloc::vec![0; places];
    // How often a place of a score has a deviation of a size.
    let mut counts = alloc::vec![[0_u64; MOST + 1]; MOST + 1];
    for j in 0..places {
        for (size, view) in sizes.iter_mut().zip(views) {
            *size = view[j].unsigned_abs().into();
        }
        let at = views.len() - majority;
        let score = *sizes.select_nth_unstable(at).1;
        scores[j] = u8::try_from(score).unwrap_or(u8::MAX);
        for &size in &sizes {
            counts[score.min(MOST)][size.min(MOST)] += 1;
        }
    }
    let chance = |threshold: usize| {
        let usual = &counts[..=threshold];
        let all: u64 = usual.iter().flatten().sum();
        let beyond: u64 = usual.iter().flat_map(|sizes| &sizes[threshold + 1..]).sum();
        let g = beyond as f64 / (all as f64).max(1.0);
        places as f64 * at_least(majority, views.len(), g)
    };
    let clear = (0..MOST).rev().take_while(|&threshold| chance(threshold) <= false_alarms);
    let Some(threshold) = clear.last() else {
        return Verdict { mask: alloc::vec![false; places], threshold: None, shared: 0.0 };
    };
    let shared = shared(views, |j| usize::from(scores[j]) <= threshold);
    let quantile = upper_quantile((false_alarms / places as f64 / 2.0).min(0.5));
    let threshold = threshold as f64 + STEPS * quantile * Float::sqrt(shared);
    Verdict {
        mask: scores.iter().map(|&score| f64::from(score) > threshold).collect(),
        threshold: Some(threshold / STEPS),
        shared,
    }
}

/// The probability of `least` or more of `n` independent events of probability `p`.
fn at_least(least: usize, n: usize, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p > 0.0 { 1.0 } else { 0.0 };
    }
    let ways = (0..least).map(|i| Float::ln((n - i) as f64 / (i + 1) as f64)).sum::<f64>();
    let first = ways + least as f64 * Float::ln(p) + (n - least) as f64 * Float::ln(1.0 - p);
    let mut term = Float::exp(first);
    let mut sum = 0.0;
    for i in least..=n {
        sum += term;
        term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
    }
    sum
}

/// The mean correlation of two views, from signs, over the places that count.
fn shared(views: &[Vec<i8>], counts: impl Fn(usize) -> bool) -> f64 {
    let (mut together, mut pairs) = (0.0, 0.0);
    for j in (0..views.first().map_or(0, Vec::len)).filter(|&j| counts(j)) {
        let (mut sum, mut number) = (0.0, 0.0);
        for view in views {
            let sign = f64::from(view[j].signum());
            sum += sign;
            number += sign * sign;
        }
        together += sum * sum - number;
        pairs += number * number - number;
    }
    if pairs == 0.0 {
        return 0.0;
    }
    Float::sin(core::f64::consts::FRAC_PI_2 * (together / pairs).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::{at_least, judge, step};
    use alloc::vec::Vec;

    #[test]
    fn binomial_tails() {
        assert!((at_least(2, 3, 0.5) - 0.5).abs() < 1e-12);
        assert!((at_least(1, 4, 0.1) - (1.0 - 0.9_f64.powi(4))).abs() < 1e-12);
        assert!(at_least(3, 5, 0.0) < 1e-12 && at_least(3, 5, 1.0) > 1.0 - 1e-12);
    }

    /// Normal deviations, with or without a part that all views share.
    fn views(frames: usize, places: usize, shared: f64) -> Vec<Vec<i8>> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let fixed: Vec<f64> = (0..places).map(|_| normal()).collect();
        let mut deviation = |j: usize| shared.sqrt() * fixed[j] + (1.0 - shared).sqrt() * normal();
        (0..frames).map(|_| (0..places).map(|j| step(deviation(j))).collect()).collect()
    }

    #[test]
    fn few_false_alarms_and_all_that_is_clear() {
        for (frames, shared) in [(2, 0.0), (3, 0.0), (8, 0.0), (20, 0.0), (8, 0.3), (8, 0.9)] {
            let mut views = views(frames, 20_000, shared);
            let clean = judge(&views, 1.0);
            let alarms = clean.mask.iter().filter(|&&out| out).count();
            assert!(alarms <= 4, "{frames} {shared}: {alarms}");
            assert!((clean.shared - shared).abs() < 0.03, "{shared}: {}", clean.shared);
            // More than one in a hundred, which must not pass for what is usual.
            for view in &mut views {
                view.iter_mut().step_by(70).for_each(|z| *z = step(12.0));
            }
            let found = judge(&views, 1.0);
            assert!(found.mask.iter().step_by(70).all(|&out| out), "{frames} {shared}");
            let all = found.mask.iter().filter(|&&out| out).count();
            assert!(all <= 20_000_usize.div_ceil(70) + 4, "{frames} {shared}: {all}");
        }
    }
}
