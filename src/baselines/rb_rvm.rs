//! RB-RVM, the robust relevance vector machine: sparse Bayesian learning with
//! a column for every possible outlier.
//!
//! The dictionary $\Phi = [K \\; 1 \\; I]$ holds the kernel at every point, the
//! bias, and for every point the unit vector that an outlier there would add:
//!
//! $$ y = \Phi w + \eta, \quad \eta \sim \mathcal N(0, s^2 I), \quad w_m \sim \mathcal N(0, \gamma_m), \quad \gamma_m = 1 / \alpha_m . $$
//!
//! With $\Gamma = \mathrm{diag}(\gamma)$, the weights have the posterior
//!
//! $$ \Sigma = (s^{-2} \Phi^T \Phi + \Gamma^{-1})^{-1}, \qquad \mu = s^{-2} \Sigma \Phi^T y, $$
//!
//! and the variances $\gamma$ are those that maximise the marginal likelihood
//!
//! $$ \mathcal L = -\tfrac12 \left( n \log 2 \pi + \log |C| + y^T C^{-1} y \right), \qquad C = s^2 I + \Phi \Gamma \Phi^T . $$
//!
//! Most of them become zero: what stays are a few kernel columns, which are
//! the function, and identity columns, which are the outliers. At a new point,
//! where $\varphi$ are the kernel and bias columns, the prediction has the mean
//! $\mu^T \varphi$ and the variance $s^2 + \varphi^T \Sigma \varphi$.
//!
//! The ascent is the fast sequential one: of all columns, the one is added,
//! re-estimated or deleted whose best $\gamma_m$ raises $\mathcal L$ most, at
//! O(n^2) a step.
//!
//! ```
//! use kgard::Gaussian;
//! use kgard::baselines::rb_rvm::RbRvm;
//!
//! let x: Vec<f64> = (0..100).map(|i| i as f64 / 100.0).collect();
//! let mut y: Vec<f64> =
//!     x.iter().enumerate().map(|(i, x)| (10.0 * x).sin() + 0.1 * (17.0 * i as f64).cos()).collect();
//! for wrong in [13, 50, 77] {
//!     y[wrong] += 4.0;
//! }
//!
//! let fit = RbRvm::new().fit(&x, &y, Gaussian::new(0.2))?;
//!
//! let far_off = fit.outliers().iter().filter(|o| o.value.abs() > 1.0);
//! let found: Vec<usize> = far_off.map(|o| o.index).collect();
//! assert_eq!(found, [13, 50, 77]);
//! let (mean, variance) = fit.predict_with_variance(&[0.5])?;
//! assert!((mean - 5.0_f64.sin()).abs() < 0.1);
//! assert!((0.05..0.2).contains(&variance.sqrt()));
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! # What differs from the published method
//!
//! As published, the method degenerates. An identity column raises
//! $\mathcal L$ as soon as the point deviates by more than *one* standard
//! deviation, which a third of all good points do; with these taken out the
//! noise is estimated lower, which takes out more points, until nearly every
//! point is an outlier and $s^2$ next to nothing. Here,
//!
//! * an identity column enters only if it raises $\mathcal L$ by
//!   $\tfrac12 \log n$ (two at least), which is what the Bayesian information
//!   criterion charges for a parameter and lets one Gaussian residual in
//!   about two hundred pass ([`RbRvm::outlier_evidence`]);
//! * the search begins with the noise at the spread of the data and lowers it
//!   step by step to a robust estimate $\hat s$, the median of the
//!   leave-one-out residuals of the points inside the model: points in any
//!   dimension have these, and many outliers do not harm them, since they are
//!   outside by then. In this phase one unit of $\mathcal L$ is enough for an
//!   outlier; what has less than the above is dismissed at its end. Still
//!   lower noise is tried, and kept where it leads to a model that is better
//!   even when every outlier is charged with that evidence;
//! * from there on $s^2$ is re-estimated, but never below $\hat s^2 / 2$;
//! * the median of `y` is taken off first, so that the prior of the bias does
//!   not depend on where the zero of the data is.
//!
//! After the first phase no iteration lowers $\mathcal L$, up to rounding:
//! each step moves one $\gamma_m$ to where $\mathcal L$ is largest, and the
//! noise takes MacKay's update $s^2 = \lVert y - \Phi \mu \rVert^2 / (n - \sum_m (1 - \Sigma_{mm} / \gamma_m))$
//! only where that raises $\mathcal L$, else the one of expectation
//! maximisation, which always does. It is a local maximum that is found: with
//! kernels much wider than the details of the function, the search may end
//! with few columns and too much noise.
//!
//! As with any relevance vector machine the variances are on the small side,
//! for they take the chosen columns for granted: of nominal 95 % intervals for
//! the function 57 % to 85 % hold in the paper's experiments.
//!
//! # References
//!
//! * M. E. Tipping, A. C. Faul: *Fast marginal likelihood maximisation for
//!   sparse Bayesian models*, AISTATS 2003.
//! * K. Mitra, A. Veeraraghavan, R. Chellappa: *Robust RVM regression using
//!   sparse outlier model*, CVPR 2010.

mod afresh;
mod evidence;
mod fit;
mod products;
mod search;
#[cfg(feature = "serde")]
mod serial;
mod standardised;

pub use fit::RbRvmFit;

use crate::kernel::gram;
use crate::linalg::zeros;
use crate::real::{constant, count};
use crate::{Error, Kernel, Points, Real};
use evidence::Evidence;
use search::search;
use standardised::Standardised;

/// Iterations allowed unless told otherwise.
const MAX_ITERATIONS: usize = 5000;

/// Gain of log-likelihood that is not worth another step.
const TOLERANCE: f64 = 1e-3;

/// The method and its options; it needs none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RbRvm<T> {
    max_iterations: usize,
    tolerance: T,
    noise_variance: Option<T>,
    outlier_evidence: Option<T>,
}

impl<T: Real> Default for RbRvm<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> RbRvm<T> {
    /// Everything from the data.
    #[must_use]
    pub fn new() -> Self {
        Self {
            max_iterations: MAX_ITERATIONS,
            tolerance: constant(TOLERANCE),
            noise_variance: None,
            outlier_evidence: None,
        }
    }

    /// At most so many changes of the model.
    #[must_use]
    pub fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// The gain of log-likelihood below which a step is not worth taking.
    #[must_use]
    pub fn tolerance(mut self, tolerance: T) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The variance of the noise, if it is known; it is not estimated then.
    #[must_use]
    pub fn noise_variance(mut self, noise_variance: T) -> Self {
        self.noise_variance = Some(noise_variance);
        self
    }

    /// By how much an outlier must raise the log-likelihood to be taken for
    /// one. Zero is the published rule, which takes out good points by the
    /// dozen.
    #[must_use]
    pub fn outlier_evidence(mut self, outlier_evidence: T) -> Self {
        self.outlier_evidence = Some(outlier_evidence);
        self
    }

    /// Fits `y`.
    ///
    /// # Errors
    /// If the data, the kernel or the options are wrong, there is not enough
    /// memory, or numbers overflow.
    pub fn fit<'p, K: Kernel<T>>(
        &self,
        points: impl Into<Points<'p, T>>,
        y: &[T],
        kernel: K,
    ) -> Result<RbRvmFit<T, K>, Error> {
        let points = points.into();
        self.check(points, y)?;
        let n = y.len();
        let mut matrix = zeros(n.saturating_mul(n))?;
        gram(points, &kernel, &mut matrix)?;
        check_squares(&matrix, n)?;

        let data = Standardised::new(y)?;
        let known = self.noise_variance.map(|noise| data.shrink(noise));
        let start = known.unwrap_or_else(T::zero).max(T::one());
        let mut evidence = Evidence::new(&matrix, &data.values, start);
        let found = search(&mut evidence, &Self { noise_variance: known, ..*self })?;
        data.finish(&evidence, found, points, y, kernel)
    }

    fn check(&self, points: Points<'_, T>, y: &[T]) -> Result<(), Error> {
        points.check()?;
        Error::check_len("y", y.len(), points.len())?;
        Error::check_finite("y", y)?;
        Error::check_not_negative("tolerance", self.tolerance)?;
        Error::check_not_negative(
            "outlier evidence",
            self.outlier_evidence.unwrap_or_else(T::zero),
        )?;
        self.noise_variance.map_or(Ok(()), |v| Error::check_positive("noise variance", v))
    }
}

/// The inner products of kernel columns must be numbers.
fn check_squares<T: Real>(gram: &[T], n: usize) -> Result<(), Error> {
    let largest = crate::linalg::vector::max_magnitude(gram);
    if (largest * largest * count(n)).is_finite() {
        Ok(())
    } else {
        Err(Error::Overflow { what: "the inner product of kernel columns" })
    }
}
