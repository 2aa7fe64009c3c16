//! RAM, the refined alternating minimisation of Mateos and Giannakis, "Robust
//! nonparametric regression via sparsity control with application to load
//! curve data cleansing" (2012).
//!
//! Instead of counting the outliers it penalises their sizes:
//!
//! $$ \min_{\alpha, c, o} \lVert y - K \alpha - c \mathbf 1 - o \rVert^2 + \text{penalty}(\alpha, c) + \mu \sum_i w_i |o_i| , $$
//!
//! first with all $w_i = 1$, then *refined*: solved again with
//! $w_i = 1 / (|o_i| + \delta)$, which comes closer to counting. As it stands
//! this weight depends on the unit of $y$; see [`Ram::unit`].
//!
//! Minimised over $\alpha$ and $c$, the first two terms are
//! $(y - o)^T H (y - o)$ with the residual maker $H$ of the
//! [`Plan`], so that one plan serves, and what is left is a
//! problem in $o$ alone whose gradient is $-2 r$, $r = H (y - o)$. The
//! alternating minimisation of the paper is a gradient step of length 1/2 on
//! it; here each coordinate is minimised exactly in turn, those that are zero
//! being passed over until they want to move, which takes some ten sweeps over
//! the outliers instead of hundreds over all points. At the minimum
//!
//! $$ r_i = \tfrac{\mu w_i}{2} \operatorname{sign} o_i \ \text{ where } o_i \ne 0, \qquad |r_i| \le \tfrac{\mu w_i}{2} \ \text{ elsewhere.} $$

use super::center_and_spread;
use crate::linalg::vector::max_magnitude;
use crate::real::{constant, count};
use crate::regression::Found;
use crate::regression::stop::extreme_deviation;
use crate::{Error, Fit, Kernel, Outlier, Plan, PlanRef, Real, ResidualMaker, StopReason};
use alloc::vec;
use alloc::vec::Vec;

/// The method and its parameters.
///
/// ```
/// use kgard::baselines::Ram;
/// use kgard::{Gaussian, Plan, Regularizer};
/// let x: Vec<f64> = (0..50).map(|i| i as f64 / 50.0).collect();
/// let mut y: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
/// y[17] += 5.0;
/// let plan = Plan::new(&x, Gaussian::new(0.3), Regularizer::rkhs(0.05))?;
/// let fit = Ram::new(1.0).fit(&plan, &y)?;
/// assert_eq!(fit.outliers()[0].index, 17);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ram<T> {
    mu: T,
    reweightings: usize,
    unit: T,
    delta: T,
    tolerance: T,
    max_sweeps: usize,
}

impl<T: Real> Ram<T> {
    /// The weight $\mu$ > 0 of the outliers' sizes, and one reweighting with
    /// $\delta$ = 1e-5.
    #[must_use]
    pub fn new(mu: T) -> Self {
        Self {
            mu,
            reweightings: 1,
            unit: T::one(),
            delta: constant(1e-5),
            tolerance: constant::<T>(1e-9).max(constant::<T>(16.0) * T::epsilon()),
            max_sweeps: 10_000,
        }
    }

    /// Reweighted stages after the first; none leaves the plain l1 problem.
    #[must_use]
    pub fn reweightings(mut self, stages: usize) -> Self {
        self.reweightings = stages;
        self
    }

    /// The unit $s$ > 0 in which the weights see the outliers,
    /// $w_i = 1 / (|o_i| / s + \delta)$. Published is $s = 1$, which suits
    /// data whose noise is of that size; with an $s$ in proportion to the data,
    /// such as $\mu / 2$, the method gives the same in any unit of measurement.
    #[must_use]
    pub fn unit(mut self, unit: T) -> Self {
        self.unit = unit;
        self
    }

    /// $\delta$ > 0 of the weights $1 / (|o_i| + \delta)$.
    #[must_use]
    pub fn delta(mut self, delta: T) -> Self {
        self.delta = delta;
        self
    }

    /// How far the conditions of a minimum may be missed, relative to the
    /// largest $|y - o|$.
    #[must_use]
    pub fn tolerance(mut self, tolerance: T) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sweeps over the points, for each stage, before giving up.
    #[must_use]
    pub fn max_sweeps(mut self, sweeps: usize) -> Self {
        self.max_sweeps = sweeps;
        self
    }

    /// Fits `y` with the points, the kernel and the penalty of `plan`. The
    /// outliers of the fit are in order of size; its
    /// [`stop_reason`](Fit::stop_reason) is [`StopReason::Tolerance`], or
    /// [`StopReason::IterationLimit`] if a stage was not done in time.
    ///
    /// # Errors
    /// If a parameter is not positive, `y` has the wrong length or is not
    /// finite, the plan has sample weights, or the fit overflows.
    pub fn fit<K: Kernel<T> + Clone>(
        &self,
        plan: &Plan<T, K>,
        y: &[T],
    ) -> Result<Fit<T, K>, Error> {
        Error::check_positive("mu", self.mu)?;
        Error::check_positive("unit", self.unit)?;
        Error::check_positive("delta", self.delta)?;
        Error::check_positive("tolerance", self.tolerance)?;
        let n = plan.len();
        if !plan.as_ref().roots().is_empty() {
            return Err(Error::Unsupported { what: "RAM on a plan with sample weights" });
        }
        Error::check_len("y", y.len(), n)?;
        Error::check_finite("y", y)?;
        // The minimum is the same from wherever the search begins; from where
        // nothing is gross it is near.
        let (center, spread) = center_and_spread(y);
        let reach = spread * extreme_deviation(n);
        let (low, high) = (center - reach, center + reach);
        let mut descent = Descent {
            maker: plan.as_ref(),
            y,
            v: y.iter().map(|y| y.max(low).min(high)).collect(),
            residual: vec![T::zero(); n],
            reach: T::infinity(),
            thresholds: vec![self.mu / count(2); n],
            tolerance: self.tolerance,
        };
        let (mut iterations, mut reason) = descent.run(self.max_sweeps);
        for _ in 0..self.reweightings {
            for (j, threshold) in descent.thresholds.iter_mut().enumerate() {
                let o = y[j] - descent.v[j];
                *threshold = self.mu / count(2) / (o.abs() / self.unit + self.delta);
            }
            let (sweeps, end) = descent.run(self.max_sweeps);
            iterations += sweeps;
            if end == StopReason::IterationLimit {
                reason = end;
            }
        }
        let Descent { maker, v, mut residual, .. } = descent;
        // Without the rounding of the way there.
        maker.residual(&v, &mut residual);
        let mut outliers: Vec<Outlier<T>> = (0..n)
            .filter(|&i| v[i] != y[i])
            .map(|index| Outlier { index, value: y[index] - v[index] })
            .collect();
        outliers.sort_by(|a, b| {
            let order = b.value.abs().partial_cmp(&a.value.abs());
            order.unwrap_or(core::cmp::Ordering::Equal)
        });
        let fitted = v.iter().zip(&residual).map(|(&v, &r)| v - r).collect();
        plan.assemble(Found { residual, outliers, fitted, iterations, reason })
    }
}

/// Coordinate descent on $v^T H v + 2 \sum t_i |o_i|$, $v = y - o$. It is $v$
/// that is kept: however large an outlier, $v$ there is as large as elsewhere.
struct Descent<'a, T> {
    maker: PlanRef<'a, T>,
    y: &'a [T],
    v: Vec<T>,
    /// $r = H v$, kept up to date.
    residual: Vec<T>,
    /// $\max |v|$ when the residual was computed.
    reach: T,
    /// $t_i = \mu w_i / 2$.
    thresholds: Vec<T>,
    /// Relative to $\max |v|$.
    tolerance: T,
}

impl<T: Real> Descent<'_, T> {
    /// Gives the number of sweeps and why they ended.
    fn run(&mut self, max_sweeps: usize) -> (usize, StopReason) {
        let n = self.v.len();
        for sweeps in 0..max_sweeps {
            let renewed = self.renew();
            let tolerance = self.tolerance * self.reach;
            // Worst first among those that are zero would be the lasso's path;
            // in order of the points does as well.
            let mut moved = false;
            for j in 0..n {
                if self.violation(j) > tolerance {
                    self.minimize(j);
                    moved = true;
                }
            }
            if !(moved || renewed) {
                return (sweeps, StopReason::Tolerance);
            }
        }
        (max_sweeps, StopReason::IterationLimit)
    }

    /// Computes the residual anew if it carries the rounding of values that are
    /// gone.
    fn renew(&mut self) -> bool {
        let reach = max_magnitude(&self.v);
        let spent = reach * count(2) < self.reach;
        if spent {
            self.reach = reach;
            self.maker.residual(&self.v, &mut self.residual);
        }
        spent
    }

    /// How far the condition of a minimum is missed at coordinate `j`.
    fn violation(&self, j: usize) -> T {
        let (r, t) = (self.residual[j], self.thresholds[j]);
        if self.y[j] > self.v[j] {
            (r - t).abs()
        } else if self.y[j] < self.v[j] {
            (r + t).abs()
        } else {
            r.abs() - t
        }
    }

    /// Minimises over coordinate `j`: a soft threshold.
    fn minimize(&mut self, j: usize) {
        let n = self.v.len();
        let column = &self.maker.h[j * n..][..n];
        let (r, t, h) = (self.residual[j], self.thresholds[j], column[j]);
        // The residual if nothing were taken out of this point.
        let free = (self.y[j] - self.v[j]) * h + r;
        let new = if h > T::zero() && free > t {
            self.v[j] - (r - t) / h
        } else if h > T::zero() && free < -t {
            self.v[j] - (r + t) / h
        } else {
            self.y[j]
        };
        let change = new - self.v[j];
        self.v[j] = new;
        for (r, &h) in self.residual.iter_mut().zip(column) {
            *r = *r + change * h;
        }
    }
}
