//! The density of outliers by their size, learned from those that were found.
//!
//! With a uniform density over $\pm R / 2$, a point three deviations off is an outlier as
//! soon as there are enough others, whatever their size: thirty outliers of 15 deviations
//! among 200 points bring the limit to 2.9 deviations, and cut off the noise's own tails.
//! What size outliers have is seen from the others. With the errors $u_i$ of the $k$ other points that are taken out,
//!
//! $$ p(u) = \frac{1}{k + 1} \Bigl( \frac{1}{R} + \sum_i \frac{1}{2 \lvert u \rvert} \\, \mathcal N \bigl( \log \lvert u \rvert ; \log \lvert u_i \rvert, h^2 \bigr) \Bigr) , $$
//!
//! so that the uniform density counts as one outlier of unknown size. With the prior odds
//! $(k + 1) / (n + 1 - k)$ the factor $k + 1$ drops out.

use crate::Real;
use crate::real::constant;
use alloc::vec::Vec;

/// $h$: outliers differ in size by a factor of $e^h = 1.6$.
const SPREAD: f64 = 0.5;
/// $1 / (2 \sqrt{2 \pi})$: of a normal density on both sides of zero.
const BOTH_SIDES: f64 = 0.199_471_140_200_716_35;

/// The sizes of the points that are taken out.
pub(super) struct Sizes<T> {
    /// $\log \lvert u_i \rvert$.
    logarithms: Vec<T>,
    /// The sum over the others that are out, for each.
    sums: Vec<T>,
}

impl<T: Real> Sizes<T> {
    /// Of the errors `u` of all points that are out.
    pub(super) fn new(u: &[T]) -> Self {
        let logarithms: Vec<T> =
            u.iter().map(|u| u.abs().max(T::min_positive_value()).ln()).collect();
        let mut sizes = Self { sums: alloc::vec![T::zero(); u.len()], logarithms };
        for i in 0..u.len() {
            for j in 0..i {
                let likeness = sizes.likeness(i, j);
                sizes.sums[i] = sizes.sums[i] + likeness;
                sizes.sums[j] = sizes.sums[j] + likeness;
            }
        }
        sizes
    }

    fn likeness(&self, i: usize, j: usize) -> T {
        let z = (self.logarithms[i] - self.logarithms[j]) / constant(SPREAD);
        (-constant::<T>(0.5) * z * z).exp() * constant(BOTH_SIDES / SPREAD)
    }

    /// $(k + 1) \\, p(u_j)$, the uniform density being `uniform`.
    pub(super) fn density(&self, j: usize, uniform: T) -> T {
        uniform + self.sums[j].max(T::zero()) / self.logarithms[j].exp()
    }

    /// Point `j` is no outlier.
    pub(super) fn put_back(&mut self, j: usize) {
        for i in (0..self.sums.len()).filter(|&i| i != j) {
            self.sums[i] = self.sums[i] - self.likeness(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SPREAD, Sizes};

    /// The literal sum over the points that are still out.
    fn literal(u: &[f64], out: &[bool], j: usize, uniform: f64) -> f64 {
        let normal = |i: usize| {
            let z = (u[i].abs().ln() - u[j].abs().ln()) / SPREAD;
            (-0.5 * z * z).exp() / (SPREAD * (2.0 * core::f64::consts::PI).sqrt())
        };
        let others = (0..u.len()).filter(|&i| i != j && out[i]);
        uniform + others.map(|i| normal(i) / (2.0 * u[j].abs())).sum::<f64>()
    }

    #[test]
    fn density_is_the_literal_sum_as_points_are_put_back() {
        let u = [3.0, -2.5, 0.4, 12.0, -0.5, 2.8];
        let mut sizes = Sizes::new(&u);
        let mut out = [true; 6];
        for back in [None, Some(2), Some(4)] {
            if let Some(j) = back {
                sizes.put_back(j);
                out[j] = false;
            }
            for j in (0..6).filter(|&j| out[j]) {
                let (ours, theirs) = (sizes.density(j, 0.1), literal(&u, &out, j, 0.1));
                assert!((ours - theirs).abs() < 1e-12, "{j}: {ours} {theirs}");
            }
        }
        // The density has the mass of its points.
        let grid = (0..200_000).map(|i| 0.000_1 * (f64::from(i) + 0.5));
        let mass: f64 = grid.map(|x| 2e-4 * (literal(&[3.0, x], &[true; 2], 1, 0.0))).sum();
        assert!((mass - 1.0).abs() < 1e-3, "{mass}");
    }
}
