//! When to stop looking for outliers.

mod automatic;
mod histogram;
#[cfg(feature = "serde")]
mod serial;

#[cfg(feature = "gpu")]
pub(crate) use automatic::resolution;
pub(crate) use automatic::{
    TAIL, common_step, extreme_deviation, has_repeats, least_noise_of, usual_tail,
};
pub use histogram::Reading;

use crate::linalg::vector::max_magnitude;
use crate::{Error, Real};
use core::fmt;

/// What a stopping rule may look at: the state after some outliers have been
/// taken out.
#[derive(Debug)]
pub struct Progress<'a, T> {
    /// The residual $r_{(k)}$; exactly zero at the outliers.
    pub residual: &'a [T],
    /// The variances of the residual for noise of variance one, where the rule
    /// asked for them ([`StopRule::studentized`]); empty otherwise.
    pub variances: &'a [T],
    /// The outliers so far, in order of selection.
    pub outliers: &'a [usize],
    /// What the next outlier is chosen for.
    pub(crate) extreme: T,
    /// $y$.
    pub(crate) data: &'a [T],
    /// As many scalars as there are points, to be used as the rule likes.
    pub scratch: &'a mut [T],
    /// What a rule asks for, where it is known without looking at all residuals;
    /// the slices are then empty.
    pub(crate) summary: Option<&'a mut dyn Summary<T>>,
}

/// What stopping rules ask for, kept from step to step.
pub(crate) trait Summary<T>: fmt::Debug + Send + Sync {
    /// $\lVert r \rVert_2$.
    fn norm(&self) -> T;
    /// $\lVert r \rVert_\infty$.
    fn max(&self) -> T;
    /// Whether the automatic rule is met.
    fn is_clean(&mut self) -> bool;
}

impl<T: Real> Progress<'_, T> {
    /// $\lVert r \rVert_2$.
    #[must_use]
    pub fn norm(&self) -> T {
        self.summary.as_ref().map_or_else(|| norm(self.residual), |summary| summary.norm())
    }

    /// $\lVert r \rVert_\infty$.
    #[must_use]
    pub fn max(&self) -> T {
        if let Some(summary) = &self.summary {
            return summary.max();
        }
        if self.variances.is_empty() { self.extreme } else { max_magnitude(self.residual) }
    }

    /// What the next outlier would be chosen for: the largest $|r_j|$, or the
    /// largest $|r_j| / \sqrt{H_{jj}}$ where the rule is studentised.
    #[must_use]
    pub fn extreme(&self) -> T {
        self.extreme
    }
}

/// The Euclidean norm, safe from overflow of the squares.
pub(crate) fn norm<T: Real>(r: &[T]) -> T {
    let largest = max_magnitude(r);
    if largest == T::zero() || !largest.is_finite() {
        return largest;
    }
    let sum = r.iter().fold(T::zero(), |sum, &r| sum + (r / largest) * (r / largest));
    largest * sum.sqrt()
}

/// Decides, after each step, whether the fit is done.
///
/// A closure `FnMut(&mut Progress<T>) -> bool` is a rule: it returns `true` to
/// stop.
pub trait StopRule<T: Real> {
    /// `Some` reason to stop, or `None` to take out one more outlier.
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason>;

    /// The most outliers that may be taken out.
    fn cap(&self) -> usize {
        usize::MAX
    }

    /// Whether the next outlier is the largest residual in units of its own
    /// standard deviation, $|r_j| / \sqrt{H_{jj}}$, instead of the largest
    /// residual: points of high leverage are then looked at more closely.
    fn studentized(&self) -> bool {
        false
    }

    /// Whether the rule looks at [`Progress::residual`] and the other slices.
    /// For a rule that asks for [`Progress::norm`], [`Progress::max`] and
    /// [`Progress::extreme`] only, say no: they may then be empty, and a step on a
    /// [line](crate::line) does not take O(n).
    fn looks_at_residuals(&self) -> bool {
        true
    }

    /// Checks the rule's own parameters; called once, before the first step.
    ///
    /// # Errors
    /// Whatever is wrong with them.
    fn validate(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl<T: Real, F: FnMut(&mut Progress<'_, T>) -> bool> StopRule<T> for F {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        self(progress).then_some(StopReason::UserRule)
    }
}

/// Why a fit ended. Each is an ordinary end: none is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum StopReason {
    /// $\lVert r \rVert_2 \le \epsilon$.
    ResidualNorm,
    /// $\lVert r \rVert_\infty \le \epsilon$.
    MaxResidual,
    /// The histogram rule was met.
    Histogram,
    /// The automatic rule found no outlier any more.
    Automatic,
    /// A rule of the user's own was met.
    UserRule,
    /// As many outliers as allowed have been taken out.
    Cap,
    /// Nothing is left to take out: the residual is zero, or the points that
    /// remain are needed to determine the fit.
    Exhausted,
    /// The outliers were given, not searched for.
    GivenSupport,
    /// An iteration has settled to its tolerance.
    Tolerance,
    /// An iteration has reached its limit first.
    IterationLimit,
}

impl StopReason {
    /// A short name, for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ResidualNorm => "residual_norm",
            Self::MaxResidual => "max_residual",
            Self::Histogram => "histogram",
            Self::Automatic => "automatic",
            Self::UserRule => "user_rule",
            Self::Cap => "cap",
            Self::Exhausted => "exhausted",
            Self::GivenSupport => "given_support",
            Self::Tolerance => "tolerance",
            Self::IterationLimit => "iteration_limit",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The stopping rules of the paper, and an automatic one.
///
/// ```
/// use kgard::Stop;
/// let paper = Stop::residual_norm(10.0);
/// let at_most_five = Stop::max_residual(3.0).at_most(5);
/// let nothing_to_choose = Stop::<f64>::automatic();
/// # let _ = (paper, at_most_five, nothing_to_choose);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop<T> {
    pub(crate) rule: Rule<T>,
    cap: usize,
    studentized: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule<T> {
    ResidualNorm(T),
    MaxResidual(T),
    Histogram { floor: T, reading: Reading, kept: Option<T> },
    Automatic,
    Never,
}

impl<T> Stop<T> {
    const fn new(rule: Rule<T>) -> Self {
        Self { rule, cap: usize::MAX, studentized: false }
    }

    /// Until $\lVert r \rVert_2 \le \epsilon$ (Algorithm 1).
    pub const fn residual_norm(epsilon: T) -> Self {
        Self::new(Rule::ResidualNorm(epsilon))
    }

    /// Until $\lVert r \rVert_\infty \le \epsilon$ (section "Automatic
    /// computation of the termination parameter").
    pub const fn max_residual(epsilon: T) -> Self {
        Self::new(Rule::MaxResidual(epsilon))
    }

    /// Until the largest residual is below a threshold that is read off the
    /// histogram of the residuals and off `e0`; see [`Reading`].
    pub const fn histogram(e0: T, reading: Reading) -> Self {
        Self::new(Rule::Histogram { floor: e0, reading, kept: None })
    }

    /// Until no residual stands out from the others: until, in units of their
    /// own standard deviations, the largest is within what the most extreme of
    /// so many Gaussian residuals would be, and no more than usual are in their
    /// tail. Their scale is estimated from their median. Studentised.
    ///
    /// It is never taken for less than data without any noise would leave:
    /// rounding of the largest $|y|$, what the penalty takes off the function,
    /// $\sqrt{r^T f / n}$, and half of the resolution if all data are multiples
    /// of one number. So smooth data without noise have no outliers, constants
    /// have none, and one step of the last digit is none.
    #[must_use]
    pub const fn automatic() -> Self {
        Self { rule: Rule::Automatic, cap: usize::MAX, studentized: true }
    }

    /// Exactly `count` outliers. Zero makes it plain kernel ridge regression.
    #[must_use]
    pub const fn count(count: usize) -> Self {
        Self { rule: Rule::Never, cap: count, studentized: false }
    }

    /// Whether the number of outliers is limited.
    #[cfg(feature = "alloc")]
    pub(crate) const fn has_cap(&self) -> bool {
        self.cap < usize::MAX
    }

    /// The same rule, with the outliers selected by their studentised residual
    /// ([`StopRule::studentized`]).
    #[must_use]
    pub const fn studentized(mut self) -> Self
    where
        T: Copy,
    {
        self.studentized = true;
        self
    }

    /// The same rule, with no more than `cap` outliers.
    #[must_use]
    pub const fn at_most(mut self, cap: usize) -> Self
    where
        T: Copy,
    {
        if cap < self.cap {
            self.cap = cap;
        }
        self
    }
}

impl<T: Real> StopRule<T> for Stop<T> {
    // Where the rule is known, the code of the others is not linked.
    #[inline(always)]
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        let (met, reason) = match &mut self.rule {
            Rule::Never => return None,
            Rule::ResidualNorm(epsilon) => (progress.norm() <= *epsilon, StopReason::ResidualNorm),
            Rule::MaxResidual(epsilon) => (progress.max() <= *epsilon, StopReason::MaxResidual),
            Rule::Histogram { floor, reading, kept } => {
                let threshold = histogram::threshold(progress, *floor, *reading, kept);
                (progress.max() <= threshold, StopReason::Histogram)
            }
            Rule::Automatic => (automatic::is_met(progress), StopReason::Automatic),
        };
        met.then_some(reason)
    }

    fn cap(&self) -> usize {
        self.cap
    }

    fn studentized(&self) -> bool {
        self.studentized
    }

    fn looks_at_residuals(&self) -> bool {
        matches!(self.rule, Rule::Histogram { .. })
    }

    fn validate(&self) -> Result<(), Error> {
        match self.rule {
            Rule::ResidualNorm(epsilon) | Rule::MaxResidual(epsilon) => {
                Error::check_not_negative("epsilon", epsilon)
            }
            Rule::Histogram { floor, .. } => Error::check_not_negative("E0", floor),
            Rule::Automatic | Rule::Never => Ok(()),
        }
    }
}
