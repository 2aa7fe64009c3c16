//! The likelihood of samples on a line, from one sweep.
//!
//! The innovations $e_i$ of the messages from the left are independent, with
//! variances $S_i$: $\ln |A| = \sum \ln S_i$ and $u^T A^{-1} v = \sum e_i^u e_i^v / S_i$
//! for $A = K + \lambda S^2$.

use super::message::Innovation;
use crate::Real;
use crate::real::{constant, count};

/// Sums over the innovations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence<T, const B: usize> {
    count: usize,
    log_determinant: T,
    /// A product of variances whose logarithm is still to be taken.
    product: T,
    yy: T,
    by: [T; B],
    bb: [[T; B]; B],
}

impl<T: Real, const B: usize> Evidence<T, B> {
    pub(super) fn new() -> Self {
        let zero = T::zero();
        Self {
            count: 0,
            log_determinant: zero,
            product: T::one(),
            yy: zero,
            by: [zero; B],
            bb: [[zero; B]; B],
        }
    }

    /// One more sample.
    #[inline(always)]
    pub(super) fn add(&mut self, innovation: &Innovation<T, B>) {
        let weight = innovation.variance.recip();
        self.count += 1;
        // A logarithm for some sixteen samples.
        let product = self.product * innovation.variance;
        if self.count.is_multiple_of(16) || !is_ordinary(product) {
            self.log_determinant = self.log_determinant + self.product.ln();
            self.product = innovation.variance;
        } else {
            self.product = product;
        }
        let error = innovation.error * weight;
        self.yy = self.yy + innovation.error * error;
        for k in 0..B {
            self.by[k] = self.by[k] + innovation.basis[k] * error;
            for l in 0..B {
                self.bb[k][l] = self.bb[k][l] + innovation.basis[k] * innovation.basis[l] * weight;
            }
        }
    }

    /// The unpenalised columns taken off, by a Cholesky factor of $b^T A^{-1} b$.
    pub(super) fn profile(mut self) -> Profile<T> {
        let mut profile = Profile {
            degrees: self.count.saturating_sub(B),
            squares: self.yy,
            log_determinants: self.log_determinant + self.product.ln(),
        };
        for k in 0..B {
            let pivot = self.bb[k][k];
            if !(pivot > T::zero()) {
                profile.degrees = 0;
                break;
            }
            profile.log_determinants = profile.log_determinants + pivot.ln();
            profile.squares = profile.squares - self.by[k] * self.by[k] / pivot;
            for l in k + 1..B {
                let ratio = self.bb[l][k] / pivot;
                self.by[l] = self.by[l] - ratio * self.by[k];
                for m in k + 1..B {
                    self.bb[l][m] = self.bb[l][m] - ratio * self.bb[k][m];
                }
            }
        }
        profile
    }
}

/// Whether a product is far from overflow and underflow.
#[inline(always)]
fn is_ordinary<T: Real>(product: T) -> bool {
    let small = T::min_positive_value().sqrt();
    product > small && product < small.recip()
}

/// What the likelihood is made of; that of independent series is their sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profile<T> {
    /// Samples less unpenalised columns.
    degrees: usize,
    /// $(y - b c)^T A^{-1} (y - b c)$.
    squares: T,
    /// $\ln |A| + \ln |b^T A^{-1} b|$.
    log_determinants: T,
}

impl<T: Real> Profile<T> {
    #[cfg(feature = "alloc")]
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            degrees: self.degrees + other.degrees,
            squares: self.squares + other.squares,
            log_determinants: self.log_determinants + other.log_determinants,
        }
    }

    /// The restricted likelihood with the variance of the function at its best, but
    /// no less than `floor`.
    pub(super) fn log_likelihood(&self, floor: T) -> T {
        if self.degrees == 0 {
            return T::neg_infinity();
        }
        let degrees = count::<T>(self.degrees);
        let tau = constant::<T>(core::f64::consts::TAU);
        let variance = (self.squares / degrees).max(floor).max(T::min_positive_value());
        let log = degrees * (tau * variance).ln() + self.squares / variance;
        -(log + self.log_determinants) / constant(2.0)
    }
}
