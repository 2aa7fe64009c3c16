//! The automatic rule for regions: one threshold for all.
//!
//! A region alone knows the scale of the noise to some per cent, and compares its
//! largest residual with that of so few points. So every region is searched to the
//! beginning of the noise's tail first, its studentised residuals are put together,
//! and the rule tells where the search on all of them would have ended.

use crate::real::{constant, count};
use crate::regression::stop::{
    Progress, StopReason, StopRule, TAIL, extreme_deviation, usual_tail,
};
use crate::stats::{DEVIATION_PER_MEDIAN, median};
use crate::{Real, Stop};
use alloc::vec::Vec;

/// A search that goes on from the end of the automatic rule to the tail of the noise.
#[derive(Debug)]
pub(super) struct Trace<T> {
    rule: Stop<T>,
    /// The least score so far, at each point that left.
    pub(super) left_at: Vec<T>,
    /// Outliers when the rule was met.
    met: Option<usize>,
    /// The score at which the noise's tail begins; none if the region has less noise
    /// than residuals, and its own rule has the last word.
    tail: Option<T>,
    /// Studentised residuals in the end: zero at the points that left.
    pub(super) scores: Vec<T>,
}

impl<T: Real> Trace<T> {
    pub(super) fn new() -> Self {
        Self {
            rule: Stop::automatic(),
            left_at: Vec::new(),
            met: None,
            tail: None,
            scores: Vec::new(),
        }
    }

    /// Outliers if all scores beyond `threshold` are.
    pub(super) fn outliers(&self, threshold: T) -> usize {
        match self.tail {
            Some(_) => self.left_at.partition_point(|&score| score > threshold),
            None => self.met.unwrap_or(self.left_at.len()),
        }
    }

    /// Whether its scores count among those of all regions.
    pub(super) fn is_noisy(&self) -> bool {
        self.tail.is_some()
    }

    fn note(&mut self, progress: &Progress<'_, T>) {
        let score = |(&r, &v): (&T, &T)| r.abs() / v.sqrt();
        self.scores.clear();
        self.scores.extend(progress.residual.iter().zip(progress.variances).map(score));
    }
}

impl<T: Real> StopRule<T> for &mut Trace<T> {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        let trace = &mut **self;
        if trace.met.is_none()
            && let Some(reason) = trace.rule.check(progress)
        {
            trace.note(progress);
            let out = progress.outliers.len();
            trace.met = Some(out);
            let left = progress.residual.len() - out;
            let mut scores = trace.scores.clone();
            for &j in progress.outliers {
                scores[j] = T::infinity();
            }
            scores.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal));
            let scale = constant::<T>(DEVIATION_PER_MEDIAN) * median(&mut scores[..left], 0);
            if 2 * out >= progress.residual.len()
                || progress.extreme > scale * extreme_deviation(left)
            {
                return Some(reason);
            }
            trace.tail = Some(scale * constant(TAIL));
        }
        if trace.tail.is_some_and(|tail| progress.extreme <= tail) {
            trace.note(progress);
            return Some(StopReason::Automatic);
        }
        let least = trace.left_at.last().map_or(progress.extreme, |&s| s.min(progress.extreme));
        trace.left_at.push(least);
        None
    }

    fn studentized(&self) -> bool {
        true
    }
}

/// Above which of these scores the automatic rule takes points out.
pub(super) fn threshold<T: Real>(mut scores: Vec<T>) -> T {
    scores.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal));
    let n = scores.len();
    for left in (n / 2 + 1..=n).rev() {
        let inside = &scores[..left];
        let scale = constant::<T>(DEVIATION_PER_MEDIAN) * inside[left / 2];
        let largest = inside[left - 1];
        let tail = left - inside.partition_point(|&z| z <= scale * constant(TAIL));
        if largest <= scale * extreme_deviation(left) && count::<T>(tail) <= usual_tail(left) {
            return largest;
        }
    }
    T::zero()
}

#[cfg(test)]
mod tests {
    use super::threshold;
    use alloc::vec::Vec;

    #[test]
    fn ends_below_what_stands_out() {
        // The quantiles of noise, and three outliers.
        let normal = |i: usize| crate::stats::upper_quantile((1000.5 - i as f64) / 2000.0);
        let mut scores: Vec<f64> = (0..1000).map(normal).collect();
        let beyond = |scores: &[f64]| {
            let threshold = threshold(scores.to_vec());
            scores.iter().filter(|&&z| z > threshold).count()
        };
        assert_eq!(beyond(&scores), 0);
        scores.extend([6.0, 7.0, 50.0]);
        assert_eq!(beyond(&scores), 3);
    }
}
