//! What the paper proves: when KGARD is certain to find the outliers.
//!
//! **Theorem 1.** Let $y = [K\ \mathbf 1] \theta + u$ with a sparse $u$ and no
//! other noise. KGARD with the l2 penalty selects the outliers before any
//! other point if
//!
//! $$ \sigma_{\max}([K\ \mathbf 1]) < \gamma \sqrt\lambda, \qquad \gamma = \sqrt{\frac{\min |u| - \sqrt{2 \lambda} \lVert \theta \rVert}{2 \lVert u \rVert - \min |u| + \sqrt{2 \lambda} \lVert \theta \rVert}} , $$
//!
//! where $\min |u|$ is over the outliers. For $\gamma$ to exist, $\lambda$ must
//! be below $(\min |u| / \lVert \theta \rVert)^2 / 2$.
//!
//! The condition is sufficient and far from necessary: in the paper's Figure 1
//! the outliers are found at a small fraction of the size it asks for.

use crate::kernel::gram;
use crate::linalg::vector::max_magnitude;
use crate::linalg::{eigen, self_product, self_product_scratch_len, zeros};
use crate::real::constant;
use crate::regression::stop::norm;
use crate::{Error, Kernel, Points, Real};

/// The quantities of Theorem 1 for one problem.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(
        serialize = "T: crate::Real + serde::Serialize",
        deserialize = "T: crate::Real + serde::Deserialize<'de>"
    ))
)]
pub struct Identification<T> {
    /// $\sigma_{\max}([K\ \mathbf 1])$.
    pub sigma_max: T,
    /// $\gamma$; none if $\lambda$ is not below its limit.
    pub gamma: Option<T>,
    /// $\gamma \sqrt\lambda$, which $\sigma_{\max}$ must stay below; zero if
    /// there is no $\gamma$.
    pub bound: T,
    /// $(\min |u| / \lVert \theta \rVert)^2 / 2$, which $\lambda$ must stay
    /// below; infinite if $\theta = 0$.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::unlimited"))]
    pub lambda_limit: T,
    /// Whether the condition holds: then the outliers are found first.
    pub holds: bool,
}

/// The largest singular value of $[K\ \mathbf 1]$: the square root of the
/// largest eigenvalue of $K K^T + \mathbf 1 \mathbf 1^T$.
///
/// # Errors
/// If the points or the kernel are wrong, there is not enough memory, or the
/// value is too large for a number.
pub fn sigma_max<'p, T: Real>(
    points: impl Into<Points<'p, T>>,
    kernel: &impl Kernel<T>,
) -> Result<T, Error> {
    let points = points.into();
    let n = points.len();
    let entries = n.checked_mul(n).ok_or(Error::TooLarge { scalars: usize::MAX })?;
    let mut k = zeros(entries)?;
    gram(points, kernel, &mut k)?;
    // In units of the largest entry, so that no square overflows or vanishes.
    let unit = max_magnitude(&k).max(T::one());
    for x in &mut k {
        *x = *x / unit;
    }
    let mut squared = zeros(entries)?;
    squared.fill((unit * unit).recip());
    let mut scratch = zeros(self_product_scratch_len::<T>(n))?;
    self_product(&k, n, &mut squared, &mut scratch)?;
    let mut values = zeros(n)?;
    let mut scratch = zeros(eigen::symmetric_scratch_len(n))?;
    eigen::symmetric(&mut squared, n, &mut values, &mut scratch)?;
    let sigma = values[0].max(T::zero()).sqrt() * unit;
    if sigma.is_finite() { Ok(sigma) } else { Err(Error::Overflow { what: "the singular value" }) }
}

/// Evaluates the condition of Theorem 1 for a given $\sigma_{\max}$: `theta`
/// are the true coefficients and the bias, `u` the true outliers (zeros are
/// passed over).
///
/// ```
/// use kgard::{Gaussian, theory};
/// let x: Vec<f64> = (0..50).map(|i| i as f64 / 49.0).collect();
/// let sigma_max = theory::sigma_max(&x, &Gaussian::new(0.1))?;
/// let mut u = vec![0.0; 50];
/// u[7] = 900.0;
/// let certain = theory::identification(sigma_max, &[0.5, -0.3], &u, 2e4)?;
/// assert!(certain.holds);
/// # Ok::<(), kgard::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotPositive`] if $\lambda$ is not positive; [`Error::Empty`] if
/// there is no outlier; [`Error::NotFinite`] for a NaN or an infinity.
pub fn identification<T: Real>(
    sigma_max: T,
    theta: &[T],
    u: &[T],
    lambda: T,
) -> Result<Identification<T>, Error> {
    Error::check_positive("lambda", lambda)?;
    Error::check_not_negative("sigma_max", sigma_max)?;
    Error::check_finite("coefficient", theta)?;
    Error::check_finite("outlier", u)?;
    let sizes = u.iter().map(|u| u.abs()).filter(|&u| u > T::zero());
    let smallest = sizes.fold(T::infinity(), T::min);
    if smallest.is_infinite() {
        return Err(Error::Empty { what: "list of outliers" });
    }
    let two = constant::<T>(2.0);
    let theta = norm(theta);
    let leak = (two * lambda).sqrt() * theta;
    let ratio = (smallest - leak) / (two * norm(u) - smallest + leak);
    let gamma = (smallest > leak).then(|| ratio.sqrt());
    let bound = gamma.map_or(T::zero(), |gamma| gamma * lambda.sqrt());
    let limit = smallest / theta;
    Ok(Identification {
        sigma_max,
        gamma,
        bound,
        lambda_limit: limit * limit / two,
        holds: sigma_max < bound,
    })
}
