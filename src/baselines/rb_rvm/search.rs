//! The ascent of the marginal likelihood, and where it begins.

use super::RbRvm;
use super::afresh::Posterior;
use super::evidence::{Change, Evidence};
use crate::real::{constant, count};
use crate::stats::{DEVIATION_PER_MEDIAN, median};
use crate::{Error, Real, StopReason};
use alloc::vec::Vec;

/// Evidence that takes a point for an outlier while the noise is still
/// unknown: low, for an outlier missed then bends the function.
const FIRST_EVIDENCE: f64 = 1.0;

/// The least evidence for an outlier; $\tfrac12 \log n$ passes it from 55
/// points on.
const LEAST_EVIDENCE: f64 = 2.0;

/// Tolerance while the noise is still unknown, against the final one.
const FIRST_TOLERANCE: f64 = 10.0;

/// The noise variance falls at most to this part of itself at a time.
const LARGEST_FALL: f64 = 0.25;

/// An estimate that falls to no less than this part has settled.
const SETTLED: f64 = 0.9;

/// The bound on the noise variance, against its robust estimate.
const BOUND: f64 = 0.5;

/// Relative change of the noise variance that ends its re-estimation.
const NOISE_TOLERANCE: f64 = 0.01;

/// What the search leaves beside the evidence.
pub(super) struct Found<T> {
    pub(super) posterior: Posterior<T>,
    pub(super) history: Vec<T>,
    pub(super) iterations: usize,
    pub(super) stop: StopReason,
}

/// Raises the likelihood of the model, which is empty yet; `options` with a
/// noise variance in units of the evidence.
pub(super) fn search<T: Real>(
    evidence: &mut Evidence<'_, T>,
    options: &RbRvm<T>,
) -> Result<Found<T>, Error> {
    let required = options.outlier_evidence.unwrap_or_else(|| {
        let half_log = count::<T>(evidence.len()).ln() * constant(0.5);
        half_log.max(constant(LEAST_EVIDENCE))
    });
    let mut ascent = Ascent { evidence, limit: options.max_iterations, iterations: 0 };
    let tolerance = options.tolerance;
    let first = tolerance * constant(FIRST_TOLERANCE);
    let known = options.noise_variance;
    ascent.settle_noise(known, first, required.min(constant(FIRST_EVIDENCE)))?;
    ascent.dismiss_outliers(required)?;
    if known.is_none() {
        ascent.try_lower_noise(first, required)?;
    }
    let bound = ascent.bound();

    let mut history = Vec::new();
    let mut end = ascent.climb(tolerance, required, &mut history)?;
    while known.is_none() && end == StopReason::Tolerance && ascent.reestimate_noise(bound)? {
        end = ascent.climb(tolerance, required, &mut history)?;
        if end == StopReason::Tolerance && ascent.iterations >= ascent.limit {
            end = StopReason::IterationLimit;
        }
    }
    let iterations = ascent.iterations;
    let posterior = evidence.recompute()?;
    history.push(evidence.likelihood());
    Ok(Found { posterior, history, iterations, stop: end })
}

/// A state whose likelihood was computed afresh.
struct Checkpoint<T> {
    likelihood: T,
    variances: Vec<T>,
    /// Length of the history.
    steps: usize,
}

struct Ascent<'e, 'a, T> {
    evidence: &'e mut Evidence<'a, T>,
    limit: usize,
    iterations: usize,
}

impl<T: Real> Ascent<'_, '_, T> {
    /// Changes one column after the other, always the one that gains most,
    /// until no gain is above `tolerance`. An outlier enters if its gain is
    /// `required` or more.
    fn climb(
        &mut self,
        tolerance: T,
        required: T,
        history: &mut Vec<T>,
    ) -> Result<StopReason, Error> {
        self.evidence.refresh()?;
        let mut sure = self.checkpoint(history);
        let mut end = StopReason::Tolerance;
        while let Some(change) = self.best(required).filter(|best| best.gain > tolerance) {
            if self.iterations >= self.limit {
                end = StopReason::IterationLimit;
                break;
            }
            self.iterations += 1;
            self.evidence.apply(change)?;
            history.push(self.evidence.likelihood());
            if self.evidence.is_long() && !self.confirm(&mut sure, history)? {
                return Ok(end);
            }
        }
        self.confirm(&mut sure, history)?;
        Ok(end)
    }

    fn checkpoint(&self, history: &mut Vec<T>) -> Checkpoint<T> {
        history.push(self.evidence.likelihood());
        Checkpoint {
            likelihood: self.evidence.likelihood(),
            variances: self.evidence.variances().to_vec(),
            steps: history.len(),
        }
    }

    /// Computes afresh what the steps since the checkpoint have gained. If it
    /// is less than nothing, which only rounding can do, they are taken back.
    fn confirm(&mut self, sure: &mut Checkpoint<T>, history: &mut Vec<T>) -> Result<bool, Error> {
        self.evidence.refresh()?;
        let likelihood = self.evidence.likelihood();
        if likelihood >= sure.likelihood {
            for value in &mut history[sure.steps..] {
                *value = value.min(likelihood);
            }
            *sure = self.checkpoint(history);
            Ok(true)
        } else {
            history.truncate(sure.steps);
            self.evidence.set_variances(&sure.variances);
            self.evidence.refresh()?;
            Ok(false)
        }
    }

    fn best(&self, required: T) -> Option<Change<T>> {
        let n = self.evidence.len();
        let variances = self.evidence.variances();
        let changes = (0..=2 * n).filter_map(|column| self.evidence.best_change(column));
        let is_new_outlier = |c: &Change<T>| c.column > n && variances[c.column] == T::zero();
        changes.filter(|c| !(is_new_outlier(c) && c.gain < required)).fold(None, |best, c| {
            match best {
                Some(Change { gain, .. }) if gain >= c.gain => best,
                _ => Some(c),
            }
        })
    }

    /// Lowers the noise from the spread of the data, where nothing stands out
    /// and only the coarse course of the function shows, to its robust
    /// estimate.
    fn settle_noise(&mut self, known: Option<T>, tolerance: T, required: T) -> Result<(), Error> {
        loop {
            let end = self.climb(tolerance, required, &mut Vec::new())?;
            let noise = self.evidence.noise();
            let estimate = self.estimate().min(noise).max(known.unwrap_or_else(T::zero));
            let falls = estimate < noise * constant(SETTLED);
            if end == StopReason::Tolerance && falls {
                self.evidence.set_noise(estimate.max(noise * constant(LARGEST_FALL)));
            } else {
                self.evidence.set_noise(known.unwrap_or(noise));
                return Ok(());
            }
        }
    }

    /// Goes on from lower noise, as long as that leads to a better model. Wide
    /// kernels need it: when much is still taken for noise, no column alone
    /// is of much use. The outliers of a model count against it with the
    /// evidence that each must have.
    fn try_lower_noise(&mut self, tolerance: T, required: T) -> Result<(), Error> {
        let ignored = &mut Vec::new();
        let score = |evidence: &Evidence<'_, T>| {
            let outliers = &evidence.variances()[evidence.len() + 1..];
            let number = outliers.iter().filter(|v| **v > T::zero()).count();
            evidence.likelihood() - required * count(number)
        };
        let mut end = self.climb(tolerance, required, ignored)?;
        while end == StopReason::Tolerance {
            let (noise, best) = (self.evidence.noise(), score(self.evidence));
            let variances = self.evidence.variances().to_vec();
            let lower = (noise * constant(LARGEST_FALL)).max(resolution());
            if !(lower < noise) {
                break;
            }
            self.evidence.set_noise(lower);
            end = self.climb(tolerance, required, ignored)?;
            if end == StopReason::Tolerance && self.reestimate_noise(lower)? {
                end = self.climb(tolerance, required, ignored)?;
            }
            if !(score(self.evidence) > best) {
                self.evidence.set_noise(noise);
                self.evidence.set_variances(&variances);
                break;
            }
        }
        self.evidence.refresh()
    }

    /// The variance of the noise, by the median of the leave-one-out residuals
    /// of the points that are not outliers.
    fn estimate(&self) -> T {
        let n = self.evidence.len();
        let outliers = &self.evidence.variances()[n + 1..];
        let inside = (0..n).filter(|&i| outliers[i] == T::zero());
        let mut residuals: Vec<T> =
            inside.map(|i| self.evidence.left_out_residual(i).abs()).collect();
        let deviation = median(&mut residuals, 0) * constant(DEVIATION_PER_MEDIAN);
        (deviation * deviation).max(resolution())
    }

    /// The least that the noise variance may be.
    fn bound(&self) -> T {
        (self.estimate().min(self.evidence.noise()) * constant(BOUND)).max(resolution())
    }

    /// Takes the outliers out that the likelihood does not need that much.
    fn dismiss_outliers(&mut self, required: T) -> Result<(), Error> {
        self.evidence.refresh()?;
        let n = self.evidence.len();
        for column in n + 1..=2 * n {
            let active = self.evidence.variances()[column] > T::zero();
            if active && !(self.evidence.worth(column) >= required) {
                self.evidence.remove(column);
            }
        }
        Ok(())
    }

    /// Another noise variance, not below `bound`, with which the likelihood is
    /// not lower; false if there is none worth the change.
    ///
    /// MacKay's update, which is the longer step, and where it goes too far
    /// that of expectation maximisation, which never does: what it maximises
    /// has one maximum, so that the bound does no harm either.
    fn reestimate_noise(&mut self, bound: T) -> Result<bool, Error> {
        let (square, freedom) = self.evidence.residual();
        let n = count::<T>(self.evidence.len());
        let (noise, likelihood) = (self.evidence.noise(), self.evidence.likelihood());
        let mackay = square / (n - freedom).max(T::one());
        let expected = (square + noise * freedom) / n;
        for update in [mackay, expected] {
            let update = update.max(bound);
            if !((update / noise).ln().abs() > constant(NOISE_TOLERANCE)) {
                break;
            }
            self.iterations += 1;
            self.evidence.set_noise(update);
            self.evidence.refresh()?;
            if self.evidence.likelihood() >= likelihood {
                return Ok(true);
            }
        }
        self.evidence.set_noise(noise);
        self.evidence.refresh()?;
        Ok(false)
    }
}

/// The least noise variance that the scalar type can tell from none, against
/// data of unit spread.
fn resolution<T: Real>() -> T {
    T::epsilon().sqrt()
}
