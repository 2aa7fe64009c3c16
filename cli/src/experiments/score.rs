//! How good an estimate is, and the average over many runs.

use super::Sample;
use super::method::Estimate;

/// One method on one sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Score {
    /// Mean squared error at the validation points.
    mse: f64,
    /// Percent of the outliers found, and wrongly flagged points in percent of
    /// all points.
    support: Option<(f64, f64)>,
    seconds: f64,
}

impl Score {
    pub(crate) fn new(estimate: &Estimate, sample: &Sample) -> Self {
        let errors = estimate.predicted.iter().zip(&sample.truth).map(|(p, t)| (p - t) * (p - t));
        let support = match (&estimate.flagged, &sample.outliers) {
            (Some(flagged), Some(outliers)) => Some(support(flagged, outliers, sample.y.len())),
            _ => None,
        };
        Self {
            mse: errors.sum::<f64>() / sample.truth.len() as f64,
            support,
            seconds: estimate.seconds,
        }
    }
}

/// Percent of the outliers that were flagged, and the others that were, in
/// percent of `n`.
pub(crate) fn support(flagged: &[usize], outliers: &[usize], n: usize) -> (f64, f64) {
    let hits = flagged.iter().filter(|index| outliers.binary_search(index).is_ok()).count();
    let correct =
        if outliers.is_empty() { 100.0 } else { 100.0 * hits as f64 / outliers.len() as f64 };
    (correct, 100.0 * (flagged.len() - hits) as f64 / n as f64)
}

/// The average of many scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Average {
    pub(crate) mse: f64,
    /// The standard error of `mse`.
    pub(crate) mse_error: f64,
    /// Half of the runs have a smaller error than this.
    pub(crate) mse_median: f64,
    /// Percent of the runs in which every outlier was found, and the mean error
    /// of these.
    pub(crate) complete: Option<f64>,
    pub(crate) mse_complete: Option<f64>,
    pub(crate) correct: Option<f64>,
    pub(crate) wrong: Option<f64>,
    pub(crate) seconds: f64,
}

impl Average {
    /// Of at least one score.
    pub(crate) fn of(scores: &[Score]) -> Self {
        let mse = mean(scores.iter().map(|s| s.mse));
        let spread: f64 = scores.iter().map(|s| (s.mse - mse) * (s.mse - mse)).sum();
        let n = scores.len() as f64;
        let all = |value: fn(&Score) -> Option<f64>| {
            scores.iter().map(value).collect::<Option<Vec<f64>>>().map(mean)
        };
        let is_complete = |s: &&Score| s.support.is_some_and(|(correct, _)| correct >= 100.0);
        let complete: Vec<f64> = scores.iter().filter(is_complete).map(|s| s.mse).collect();
        let correct = all(|s| s.support.map(|(correct, _)| correct));
        Self {
            mse,
            complete: correct.map(|_| 100.0 * complete.len() as f64 / n),
            mse_complete: (!complete.is_empty()).then(|| mean(complete)),
            mse_median: median(scores.iter().map(|s| s.mse).collect()),
            mse_error: (spread / (n * (n - 1.0).max(1.0))).sqrt(),
            correct,
            wrong: all(|s| s.support.map(|(_, wrong)| wrong)),
            seconds: mean(scores.iter().map(|s| s.seconds)),
        }
    }
}

/// Of at least one number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { values[half - 1].midpoint(values[half]) }
}

/// Of at least one number.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.into_iter().fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::{Average, Score, support};

    #[test]
    fn shares() {
        let same = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            assert!((a - c).abs() < 1e-12 && (b - d).abs() < 1e-12, "{a} {b}");
        };
        same(support(&[7, 1, 4], &[1, 2, 4, 9], 50), (50.0, 2.0));
        same(support(&[], &[1], 50), (0.0, 0.0));
        same(support(&[3], &[], 50), (100.0, 2.0));
    }

    #[test]
    fn averages() {
        let score = |mse| Score { mse, support: None, seconds: mse };
        let average = Average::of(&[score(1.0), score(3.0)]);
        assert!((average.mse - 2.0).abs() < 1e-15 && (average.mse_error - 1.0).abs() < 1e-15);
        assert!((average.mse_median - 2.0).abs() < 1e-15);
        assert_eq!((average.correct, average.wrong), (None, None));
        assert_eq!((average.complete, average.mse_complete), (None, None));
        assert!(Average::of(&[score(1.0)]).mse_error.abs() < 1e-15);
    }

    #[test]
    fn runs_that_missed_an_outlier_are_told_apart() {
        let score = |mse, correct| Score { mse, support: Some((correct, 0.0)), seconds: 0.0 };
        let average = Average::of(&[score(1.0, 100.0), score(3.0, 100.0), score(80.0, 99.0)]);
        assert_eq!(average.mse_complete, Some(2.0));
        assert!((average.complete.unwrap() - 200.0 / 3.0).abs() < 1e-12);
        let none = Average::of(&[score(1.0, 50.0)]);
        assert_eq!((none.complete, none.mse_complete), (Some(0.0), None));
    }
}
