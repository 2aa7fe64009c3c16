//! Blocks put back into the image, as weighted means:
//!
//! $$ \hat y(x) = \frac{\sum_B w_B\, k(x - x_B)\, \hat B(x - x_B)}{\sum_B w_B\, k(x - x_B)} , $$
//!
//! over the blocks B at x_B with weight w_B, with a Kaiser window k.
//!
//! k is a product of a window down and one across, and the transform of a block
//! works on columns and on rows. So blocks are summed up when only their
//! columns are back, times the window down; their rows follow once, for the
//! sums. The denominator needs the sum of the weights at each position only,
//! and is two short convolutions of it.

use super::lanes::{add_scaled, scale};
use super::transform::{Basis, Block};
use crate::Real;
use crate::linalg::simd::multiply_add;
use crate::real::constant;
use alloc::vec;
use alloc::vec::Vec;
use core::array::from_fn;
use num_traits::Float;

/// Sums over the blocks of a strip.
pub(super) struct Sums<T, const N: usize> {
    width: usize,
    window: [T; N],
    /// For every pixel: the coefficients of the blocks' rows that begin there.
    rows: Vec<[T; N]>,
    /// For every pixel: the weights of the blocks that begin there.
    weights: Vec<T>,
}

/// Numerator and denominator for the pixels of a strip.
pub(super) struct Quotient<T> {
    pub(super) numerator: Vec<T>,
    pub(super) denominator: Vec<T>,
}

impl<T: Real, const N: usize> Sums<T, N> {
    pub(super) fn new(width: usize, height: usize, beta: T) -> Self {
        Self {
            width,
            window: kaiser(crate::error::as_f64(beta)).map(constant),
            rows: vec![[T::zero(); N]; width * height],
            weights: vec![T::zero(); width * height],
        }
    }

    /// Adds a block whose columns are back, at the pixel number `at`.
    #[inline(always)]
    pub(super) fn add<const FUSED: bool>(&mut self, block: &Block<T, N>, at: usize, weight: T) {
        self.weights[at] = self.weights[at] + weight;
        let end = at + (N - 1) * self.width + 1;
        let rows = self.rows[at..end].iter_mut().step_by(self.width);
        for ((sum, &row), &window) in rows.zip(block).zip(&self.window) {
            *sum = add_scaled::<T, N, FUSED>(*sum, weight * window, row);
        }
    }

    /// The rows back, and all windows applied.
    #[inline(always)]
    pub(super) fn finish<const FUSED: bool>(&self, basis: &Basis<T, N>) -> Quotient<T> {
        let inverse = basis.inverse_matrix();
        let back: Block<T, N> = from_fn(|k| from_fn(|j| inverse[j][k] * self.window[j]));
        let mut numerator = vec![T::zero(); self.rows.len()];
        let mut denominator = vec![T::zero(); self.rows.len()];
        let mut column = vec![T::zero(); self.width];
        let rows = numerator.chunks_exact_mut(self.width);
        for (y, (above, below)) in rows.zip(denominator.chunks_exact_mut(self.width)).enumerate() {
            column.fill(T::zero());
            for (r, &window) in self.window.iter().enumerate().take(y + 1) {
                let weights = &self.weights[(y - r) * self.width..][..self.width];
                for (sum, &weight) in column.iter_mut().zip(weights) {
                    *sum = multiply_add::<T, FUSED>(window, weight, *sum);
                }
            }
            let coefficients = &self.rows[y * self.width..];
            for x in 0..=self.width - N {
                // Nothing begins here.
                if column[x] == T::zero() {
                    continue;
                }
                let mut row = scale(coefficients[x][0], back[0]);
                for k in 1..N {
                    row = add_scaled::<T, N, FUSED>(row, coefficients[x][k], back[k]);
                }
                for l in 0..N {
                    above[x + l] = above[x + l] + row[l];
                    below[x + l] =
                        multiply_add::<T, FUSED>(column[x], self.window[l], below[x + l]);
                }
            }
        }
        Quotient { numerator, denominator }
    }
}

/// The Kaiser window of N points.
fn kaiser<const N: usize>(beta: f64) -> [f64; N] {
    let peak = bessel_i0(beta);
    from_fn(|i| {
        let t = 2.0 * i as f64 / (N as f64 - 1.0) - 1.0;
        bessel_i0(beta * Float::sqrt(1.0 - t * t)) / peak
    })
}

/// The modified Bessel function of order zero, by its series.
fn bessel_i0(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut k = 1.0;
    while term > f64::EPSILON * sum {
        term *= (x / 2.0 / k) * (x / 2.0 / k);
        sum += term;
        k += 1.0;
    }
    sum
}
