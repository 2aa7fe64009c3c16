//! Quantiles of the normal distribution.

use crate::Real;
use crate::real::constant;

/// How many standard deviations to each side hold the share `level` of a normal
/// distribution, $0 < $ `level` $ < 1$.
///
/// Abramowitz and Stegun's rational approximation 26.2.23, whose error is below
/// $4.5 \cdot 10^{-4}$ deviations: an estimated deviation has fewer digits.
pub(super) fn half_width<T: Real>(level: T) -> T {
    let c = constant::<T>;
    let tail = (T::one() - level) * c(0.5);
    let t = (c(-2.0) * tail.ln()).sqrt();
    let numerator = c(2.515_517) + t * (c(0.802_853) + t * c(0.010_328));
    let denominator = T::one() + t * (c(1.432_788) + t * (c(0.189_269) + t * c(0.001_308)));
    (t - numerator / denominator).max(T::zero())
}

#[cfg(test)]
mod tests {
    use super::half_width;

    #[test]
    fn tabulated_quantiles() {
        for (level, z) in [(0.5, 0.674_49), (0.9, 1.644_85), (0.95, 1.959_96), (0.999, 3.290_53)] {
            assert!((half_width::<f64>(level) - z).abs() < 4.5e-4, "{level}");
        }
    }
}
