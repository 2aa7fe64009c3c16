//! Noise of heavy tails.
//!
//! Gaussian noise leaves a gap between the good points and the outliers. Where
//! there are outliers in it, the noise itself has heavy tails, and cutting them
//! lower than [`Stop::automatic`](crate::Stop::automatic) does gives a better
//! function.

use super::second_look::{noise_of, studentize};
use crate::Real;
use crate::real::constant;
use crate::regression::stop::{DEVIATION_PER_MEDIAN, median};
use crate::regression::workspace::Growing;
use crate::{StopReason, StopRule, regression::Progress};

/// Outliers of fewer standard deviations are in the gap.
const GAP: f64 = 6.0;
/// Where the tail begins, in standard deviations.
const BEGIN: f64 = 2.25;
/// Share of a Gaussian beyond it, on both sides.
const SHARE: f64 = 0.024_449;

/// Whether the gap is filled, by more points than a Gaussian has in its tail.
pub(super) fn has_heavy_tails<T: Real>(solved: &mut Growing<T>, k: usize) -> bool {
    let limit = noise_of(solved, k) * constant(GAP);
    let filling = solved.values[..k].iter().filter(|u| u.abs() < limit).count();
    filling > expected(solved.residual.len() - k)
}

/// Points of a Gaussian's tail, rounded up.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn expected(n: usize) -> usize {
    (SHARE * n as f64) as usize + 1
}

/// Ends a search when the tail has no more residuals than a Gaussian's.
pub(super) struct Tail;

impl<T: Real> StopRule<T> for Tail {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        let (n, out) = (progress.residual.len(), progress.outliers.len());
        let z = &mut *progress.scratch;
        studentize(progress.residual, progress.variances, z);
        let begin = constant::<T>(DEVIATION_PER_MEDIAN * BEGIN) * median(z, out);
        let beyond = z.iter().filter(|&&z| z > begin).count();
        // With half of the points gone the median means nothing any more.
        let done = 2 * out >= n || beyond <= expected(n - out);
        done.then_some(StopReason::Automatic)
    }

    fn studentized(&self) -> bool {
        true
    }
}
