//! The marginal likelihood of kernel parameters and $\lambda$, outliers apart.
//!
//! The function is a Gaussian process of covariance $s^2 K$ plus a linear
//! combination of basis functions $F$: the bias, whose prior is flat, and the
//! inputs themselves where there is a trend, whose slopes have the prior variance
//! $s^2 / \rho_j$. The noise has the variance $s^2 \lambda / w_i$:
//!
//! $$ C = K + \lambda W^{-1}, \quad G = F^T C^{-1} F + \operatorname{diag} \rho, \quad Q = C^{-1} - C^{-1} F G^{-1} F^T C^{-1}, \quad a = Q v . $$
//!
//! With $F$'s coefficients integrated out and $s^2 = v^T a / (m - p)$ put in, $p$
//! being the number of flat priors, minus the logarithm of the likelihood is, up
//! to a constant,
//!
//! $$ f = \tfrac{m - p}{2} \log s^2 + \tfrac12 \log |C| + \tfrac12 \log |G| - \tfrac12 \sum \log \rho_j, \qquad \partial f = \operatorname{tr}\bigl( \tfrac12 (Q - a a^T / s^2) \\, \partial C \bigr) . $$
//!
//! With the l2 penalty $K^2$ stands in the place of $K$: the coefficients
//! themselves are then independent and of one variance.

use super::sample::Sample;
use crate::Penalty;
use crate::kernel::Tunable;
use crate::linalg::cholesky::{self, factor_scratch_len, invert_scratch_len};
use crate::linalg::{mirror_lower, self_product, self_product_scratch_len};
use crate::real::{constant, count};
use crate::regression::system::inner_product;
use crate::{Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// The system of a sample at certain parameters, and what follows from it.
#[derive(Debug, Clone)]
pub(super) struct Solved<T> {
    /// Minus the logarithm of the likelihood, up to a constant.
    pub(super) f: T,
    /// $s^2$.
    pub(super) variance: T,
    /// $a = Q v$.
    pub(super) a: Vec<T>,
    /// Coefficients of the basis.
    pub(super) beta: Vec<T>,
    /// $C^{-1} F L_G^{-T}$, row after row.
    pub(super) u: Vec<T>,
    /// Cholesky factor $L_G$ of $G$, row after row.
    pub(super) basis_factor: Vec<T>,
}

/// Memory that evaluations share.
#[derive(Debug, Default)]
pub(super) struct Memory<T> {
    /// $C$, then its factor, then its inverse.
    pub(super) matrix: Vec<T>,
    /// $K$, where the penalty is l2.
    gram: Vec<T>,
    /// Derivatives of $K$, pair after pair of the lower triangle.
    derivatives: Vec<T>,
    scratch: Vec<T>,
    /// The diagonal of $\tfrac12 (Q - a a^T / s^2)$, after a gradient.
    pub(super) weights: Vec<T>,
}

impl<T: Real> Memory<T> {
    pub(super) fn new() -> Self {
        Self { matrix: vec![], gram: vec![], derivatives: vec![], scratch: vec![], weights: vec![] }
    }

    /// Builds and factors $C$ and solves with it; none where it is not
    /// positive definite or numbers overflow.
    pub(super) fn solve<K: Tunable<T>>(
        &mut self,
        sample: &Sample<T>,
        kernel: &K,
        lambda: T,
        penalty: Penalty,
        with_derivatives: bool,
    ) -> Option<Solved<T>> {
        let m = sample.len();
        self.fill(sample, kernel, with_derivatives);
        if penalty == Penalty::L2 {
            self.square(m)?;
        }
        for i in 0..m {
            self.matrix[i * m + i] = self.matrix[i * m + i] + lambda * sample.noise[i];
        }
        let len = factor_scratch_len::<T>(m).max(invert_scratch_len::<T>(m));
        self.scratch.resize(len.max(self.scratch.len()), T::zero());
        cholesky::factor(&mut self.matrix, m, &mut self.scratch).ok()?;
        self.solve_factored(sample)
    }

    /// The lower triangle of $K$.
    fn fill<K: Tunable<T>>(&mut self, sample: &Sample<T>, kernel: &K, with_derivatives: bool) {
        let m = sample.len();
        let parameters = kernel.parameters();
        self.matrix.resize(m * m, T::zero());
        if !with_derivatives {
            for i in 0..m {
                let before = Points::of_dim(&sample.x[..(i + 1) * sample.dim], sample.dim);
                kernel.evaluate_row(sample.point(i), before, &mut self.matrix[i * m..][..=i]);
            }
            return;
        }
        self.derivatives.resize(m * (m + 1) / 2 * parameters, T::zero());
        let mut rest = &mut self.derivatives[..];
        for i in 0..m {
            let before = Points::of_dim(&sample.x[..(i + 1) * sample.dim], sample.dim);
            let (here, after) = rest.split_at_mut((i + 1) * parameters);
            let row = &mut self.matrix[i * m..][..=i];
            kernel.evaluate_row_with_gradient(sample.point(i), before, row, here);
            rest = after;
        }
    }

    /// $K^2$ in the place of $K$.
    fn square(&mut self, m: usize) -> Option<()> {
        mirror_lower(&mut self.matrix, m);
        self.gram.clone_from(&self.matrix);
        self.matrix.fill(T::zero());
        let len = self_product_scratch_len::<T>(m);
        self.scratch.resize(len.max(self.scratch.len()), T::zero());
        self_product(&self.gram, m, &mut self.matrix, &mut self.scratch).ok()
    }

    fn solve_factored(&self, sample: &Sample<T>) -> Option<Solved<T>> {
        let (m, p) = (sample.len(), sample.columns);
        let two = constant::<T>(2.0);
        let determinant = (0..m).fold(T::zero(), |s, i| s + self.matrix[i * m + i].ln()) * two;
        let mut c = sample.v.clone();
        cholesky::solve(&self.matrix, &mut c).ok()?;
        // B = C^-1 F, column after column.
        let mut b = vec![T::zero(); m * p];
        for (column, b) in b.chunks_exact_mut(m).enumerate() {
            for (i, b) in b.iter_mut().enumerate() {
                *b = sample.basis[i * p + column];
            }
            cholesky::solve(&self.matrix, b).ok()?;
        }
        let mut g = vec![T::zero(); p * p];
        let mut beta = vec![T::zero(); p];
        for i in 0..p {
            for j in 0..=i {
                let column = &b[j * m..][..m];
                g[i * p + j] =
                    (0..m).fold(T::zero(), |s, r| s + sample.basis[r * p + i] * column[r]);
            }
            if i >= sample.free {
                g[i * p + i] = g[i * p + i] + sample.slope_variance.recip();
            }
            beta[i] = inner_product(&b[i * m..][..m], &sample.v);
        }
        factor_small(&mut g, p)?;
        let priors = count::<T>(p.saturating_sub(sample.free)) * sample.slope_variance.ln();
        let basis_determinant = (0..p).fold(T::zero(), |s, i| s + g[i * p + i].ln()) * two + priors;
        cholesky::solve(&g, &mut beta).ok()?;
        for (column, &beta) in b.chunks_exact(m).zip(&beta) {
            for (a, &b) in c.iter_mut().zip(column) {
                *a = *a - beta * b;
            }
        }
        // U = B L_G^-T, row after row: L_G u = b.
        let mut u = vec![T::zero(); m * p];
        for (r, u) in u.chunks_exact_mut(p).enumerate() {
            for i in 0..p {
                let known = (0..i).fold(b[i * m + r], |s, j| s - g[i * p + j] * u[j]);
                u[i] = known / g[i * p + i];
            }
        }
        let freedom = sample.freedom(m);
        let variance = (inner_product(&sample.v, &c) / freedom).max(T::min_positive_value());
        let half = constant::<T>(0.5);
        let f = half * (freedom * variance.ln() + determinant + basis_determinant);
        let solved = Solved { f, variance, a: c, beta, u, basis_factor: g };
        f.is_finite().then_some(solved)
    }

    /// Replaces the factor by $C^{-1}$.
    pub(super) fn invert(&mut self, m: usize) -> Option<()> {
        cholesky::invert(&mut self.matrix, m, &mut self.scratch).ok()
    }

    /// Replaces the factor by $Q$.
    pub(super) fn residual_maker(&mut self, m: usize, solved: &Solved<T>) -> Option<()> {
        self.invert(m)?;
        let columns = solved.columns();
        for (i, row) in self.matrix.chunks_exact_mut(m).enumerate() {
            for u in columns.chunks_exact(m) {
                subtract(row, u[i], u);
            }
        }
        Some(())
    }

    /// The gradient of $f$ by the logarithms of the kernel's parameters and of
    /// $\lambda$, after a [`solve`](Self::solve) with derivatives; the factor
    /// is gone then.
    pub(super) fn gradient(
        &mut self,
        sample: &Sample<T>,
        solved: &Solved<T>,
        lambda: T,
        penalty: Penalty,
        out: &mut [T],
    ) -> Option<()> {
        let m = sample.len();
        self.invert(m)?;
        let half = constant::<T>(0.5);
        let scale = solved.variance.recip();
        let columns = solved.columns();
        // W = (Q - a a^T / s^2) / 2 in place, the lower triangle.
        for i in 0..m {
            let row = &mut self.matrix[i * m..][..=i];
            for u in columns.chunks_exact(m) {
                subtract(row, u[i], u);
            }
            let a_i = solved.a[i] * scale;
            for (w, &a) in row.iter_mut().zip(&solved.a) {
                *w = half * (*w - a_i * a);
            }
        }
        self.weights.clear();
        self.weights.extend((0..m).map(|i| self.matrix[i * m + i]));
        let (by_kernel, by_lambda) = out.split_at_mut(out.len() - 1);
        by_lambda[0] =
            (0..m).fold(T::zero(), |s, i| s + self.matrix[i * m + i] * sample.noise[i]) * lambda;
        if penalty == Penalty::L2 {
            self.times_gram(m);
        }
        by_kernel.fill(T::zero());
        if by_kernel.is_empty() {
            return Some(());
        }
        // The triangle above the diagonal is the same as that below.
        for i in 0..m {
            let row = &mut self.matrix[i * m..][..=i];
            row[i] = row[i] * half;
        }
        let mut rest = &self.derivatives[..];
        for i in 0..m {
            let (here, after) = rest.split_at((i + 1) * by_kernel.len());
            add_products(&self.matrix[i * m..][..=i], here, by_kernel);
            rest = after;
        }
        for sum in by_kernel.iter_mut() {
            *sum = *sum + *sum;
        }
        out.iter().all(|g| g.is_finite()).then_some(())
    }

    /// $W K + K W$ in the place of $W$: $\partial K^2 = \partial K K + K \partial K$.
    fn times_gram(&mut self, m: usize) {
        mirror_lower(&mut self.matrix, m);
        let product = crate::linalg::batch::Packed::new(&self.gram, m);
        let mut out = vec![T::zero(); m * m];
        product.multiply(
            crate::linalg::batch::Entries { of: &self.matrix, stride: m, start: 0 },
            crate::linalg::batch::Entries { of: &mut out, stride: m, start: 0 },
        );
        for i in 0..m {
            for j in 0..=i {
                self.matrix[i * m + j] = out[i * m + j] + out[j * m + i];
            }
        }
    }
}

impl<T: Real> Solved<T> {
    /// $C^{-1} F L_G^{-T}$, column after column.
    fn columns(&self) -> Vec<T> {
        let (m, p) = (self.a.len(), self.u.len() / self.a.len().max(1));
        (0..p).flat_map(|c| (0..m).map(move |r| self.u[r * p + c])).collect()
    }
}

/// Subtracts `factor` times `column` from `row`, which may be shorter.
fn subtract<T: Real>(row: &mut [T], factor: T, column: &[T]) {
    for (row, &column) in row.iter_mut().zip(column) {
        *row = *row - factor * column;
    }
}

/// Adds the sums of weights times derivatives, of which each weight has as many as there are
/// `sums`.
fn add_products<T: Real>(weights: &[T], derivatives: &[T], sums: &mut [T]) {
    match sums.len() {
        1 => sums[0] = sums[0] + inner_product(weights, derivatives),
        2 => add_products_of::<T, 2>(weights, derivatives, sums),
        3 => add_products_of::<T, 3>(weights, derivatives, sums),
        4 => add_products_of::<T, 4>(weights, derivatives, sums),
        5 => add_products_of::<T, 5>(weights, derivatives, sums),
        6 => add_products_of::<T, 6>(weights, derivatives, sums),
        count => {
            for (&w, derivatives) in weights.iter().zip(derivatives.chunks_exact(count.max(1))) {
                for (sum, &d) in sums.iter_mut().zip(derivatives) {
                    *sum = *sum + w * d;
                }
            }
        }
    }
}

/// The same with sums in registers.
fn add_products_of<T: Real, const COUNT: usize>(weights: &[T], derivatives: &[T], sums: &mut [T]) {
    let mut own = [T::zero(); COUNT];
    for (&w, derivatives) in weights.iter().zip(derivatives.as_chunks::<COUNT>().0) {
        for (sum, &d) in own.iter_mut().zip(derivatives) {
            *sum = *sum + w * d;
        }
    }
    for (sum, own) in sums.iter_mut().zip(own) {
        *sum = *sum + own;
    }
}

/// The Cholesky factor of a small matrix, in place, row after row.
fn factor_small<T: Real>(a: &mut [T], n: usize) -> Option<()> {
    let mut scratch = vec![T::zero(); factor_scratch_len::<T>(n)];
    cholesky::factor(a, n, &mut scratch).ok()
}

#[cfg(test)]
mod tests {
    use super::{Memory, Penalty, Sample};
    use crate::Kernel;
    use crate::kernel::{AnyKernel, Tunable};
    use crate::tune::Trend;
    use alloc::vec::Vec;

    /// Eleven points of two inputs, with uneven noise.
    fn sample(trend: Trend) -> Sample<f64> {
        let at = |i: usize, k: usize| ((i * k) % 11) as f64 / 4.0 - 1.2;
        let x: Vec<f64> = (0..11).flat_map(|i| [at(i, 3), at(i, 7)]).collect();
        let v: Vec<f64> = (0..11).map(f64::from).map(|i| (i * 1.7).sin() + 0.3 * i).collect();
        let noise: Vec<f64> = (0..11).map(|i| 0.5 + 0.1 * f64::from(i)).collect();
        Sample::new(x, 2, v, noise, trend)
    }

    fn value(sample: &Sample<f64>, kernel: &AnyKernel<f64>, lambda: f64, penalty: Penalty) -> f64 {
        Memory::new().solve(sample, kernel, lambda, penalty, false).unwrap().f
    }

    /// The gradient against central differences, for both penalties and all trends.
    #[test]
    fn gradient_is_that_of_the_value() {
        let kernel: AnyKernel<f64> = "matern52(~0.8, ~1.7) + ~0.3 * gaussian(~2)".parse().unwrap();
        let (count, h, lambda) = (kernel.parameters(), 1e-5, 0.2);
        for penalty in [Penalty::Rkhs, Penalty::L2] {
            for trend in [Trend::None, Trend::Automatic, Trend::Free] {
                let sample = sample(trend);
                let mut memory = Memory::new();
                let solved = memory.solve(&sample, &kernel, lambda, penalty, true).unwrap();
                let mut gradient = alloc::vec![0.0; count + 1];
                memory.gradient(&sample, &solved, lambda, penalty, &mut gradient).unwrap();
                for (i, &g) in gradient.iter().enumerate() {
                    let moved = |by: f64| {
                        let mut kernel = kernel.clone();
                        if i == count {
                            return value(&sample, &kernel, lambda * by.exp(), penalty);
                        }
                        kernel.set_parameter(i, kernel.parameter(i) * by.exp());
                        value(&sample, &kernel, lambda, penalty)
                    };
                    let difference = (moved(h) - moved(-h)) / (2.0 * h);
                    let off = (g - difference).abs();
                    assert!(off < 1e-6 * difference.abs().max(1.0), "{penalty:?} {trend:?} {i}");
                }
                // Of the noise's coefficients, too.
                let gamma = [0.1, -0.2, 0.05, 0.3, 0.2];
                let uneven =
                    |gamma: &[f64]| Sample { noise: sample.noise_with(gamma), ..sample.clone() };
                let there = uneven(&gamma);
                let solved = memory.solve(&there, &kernel, lambda, penalty, true).unwrap();
                memory.gradient(&there, &solved, lambda, penalty, &mut gradient).unwrap();
                let mut by_gamma = [0.0; 5];
                there.by_gamma(&memory.weights, lambda, &mut by_gamma);
                for (i, &g) in by_gamma.iter().enumerate() {
                    let moved = |by: f64| {
                        let mut gamma = gamma;
                        gamma[i] += by;
                        value(&uneven(&gamma), &kernel, lambda, penalty)
                    };
                    let difference = (moved(h) - moved(-h)) / (2.0 * h);
                    assert!((g - difference).abs() < 1e-6 * difference.abs().max(1.0));
                }
            }
        }
    }

    /// $Q$ takes the basis out, and makes the residuals of the ridge regression
    /// whose slopes are penalised.
    #[test]
    fn residual_maker_solves_the_normal_equations() {
        let kernel: AnyKernel<f64> = "gaussian(1.3)".parse().unwrap();
        let sample = sample(Trend::Automatic);
        let mut memory = Memory::new();
        let lambda = 0.2;
        let solved = memory.solve(&sample, &kernel, lambda, Penalty::Rkhs, false).unwrap();
        let n = sample.len();
        memory.residual_maker(n, &solved).unwrap();
        for i in 0..n {
            let row = &memory.matrix[i * n..][..n];
            let product: f64 = row.iter().zip(&sample.v).map(|(q, v)| q * v).sum();
            assert!((product - solved.a[i]).abs() < 1e-10);
            let f: f64 = (0..n)
                .map(|j| solved.a[j] * kernel.evaluate(sample.point(i), sample.point(j)))
                .sum();
            let linear: f64 =
                sample.basis[i * 3..][..3].iter().zip(&solved.beta).map(|(h, b)| h * b).sum();
            let r = lambda * sample.noise[i] * solved.a[i];
            assert!((sample.v[i] - f - linear - r).abs() < 1e-10);
        }
        // Stationary in the bias, and in the slopes up to their penalty.
        assert!(solved.a.iter().sum::<f64>().abs() < 1e-10);
        for j in 1..3 {
            let along: f64 = (0..n).map(|i| solved.a[i] * sample.basis[i * 3 + j]).sum();
            assert!((along - solved.beta[j] / sample.slope_variance).abs() < 1e-9);
        }
    }
}
