//! The one matrix that has to be factored, and the residual maker behind it.
//!
//! For a fixed support $S$ put $v = y - I_S u$. Minimising over $\alpha$ and
//! $c$ makes the residual linear in $v$, $r = H v$, with
//!
//! * Tikhonov and l2, penalty $\alpha^T P \alpha + d_c c^2$:
//!   $\quad H = M^{-1}$, $\quad M = I + K P^{-1} K + \mathbf{1}\mathbf{1}^T / d_c$,
//!   $\quad \alpha = P^{-1} K r$, $\quad c = \mathbf{1}^T r / d_c$;
//! * RKHS norm, $A = K + \lambda I$, $a = A^{-1} \mathbf{1}$, $s = \mathbf{1}^T a$:
//!   $\quad H = \lambda (A^{-1} - a a^T / s)$, $\quad \alpha = r / \lambda$,
//!   $\quad c = a^T v / s$.
//!
//! With sample weights $W$ all of this is of the whitened data: $W^{1/2} y$ stands in the
//! place of $y$, $W^{1/2} \mathbf 1$ in that of $\mathbf 1$, and $W^{1/2} K$ in that of $K$
//! (of the RKHS norm: $W^{1/2} K W^{1/2}$), so that $r$ is $W^{1/2}$ times the residual.
//! [`Model`] has the way back: with the residual $r$ of the data as they are,
//! $\alpha = P^{-1} K W r$ and $c = \mathbf 1^T W r / d_c$, or $\alpha = W r / \lambda$.
//!
//! Neither inverts $K$ nor the $(n+1)$-sized normal matrix of the paper's
//! Algorithm 1, so duplicate points are harmless and `f32` will do.

use super::greedy::ResidualMaker;
use super::regularizer::{Form, Regularizer};
use crate::checked::entry;
use crate::kernel::gram;
use crate::linalg::cholesky::{self, backward, forward, inverse_column};
use crate::linalg::{multiply_transposed, self_product, self_product_scratch_len};
use crate::real::count;
use crate::{Error, Kernel, Points, Real};

/// The factored system of one regression problem, in the caller's memory.
///
/// As a [`ResidualMaker`] it computes the columns of $H$ by two triangular
/// solves each, which is the cheaper way for a single fit.
/// [`PlanRef::new`](super::PlanRef::new) turns it into $H$ itself.
#[derive(Debug)]
pub struct System<'a, T> {
    pub(crate) n: usize,
    /// The Cholesky factor of $M$ or $A$.
    pub(crate) factor: &'a mut [T],
    /// $s$, zero if there is no free bias.
    pub(crate) sum: T,
    pub(crate) model: Model<'a, T>,
}

/// How coefficients and bias follow from the residual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Model<'a, T> {
    /// $\alpha$ = sum of $r_i$ times row `i` of `map`; $c$ = weighted sum of $r$
    /// times `bias`.
    Mapped { map: &'a [T], bias: T, roots: &'a [T] },
    /// $\alpha = W r / \lambda$; $c = g \cdot W^{1/2} v$ with $g = a / s$ in `bias`, zero
    /// if there is no bias.
    Scaled { lambda: T, bias: &'a [T], roots: &'a [T] },
}

impl<'a, T: Real> System<'a, T> {
    /// Scalars of memory for `n` points and the l2 or Tikhonov penalty.
    #[must_use]
    pub const fn l2_len(n: usize) -> usize {
        n.saturating_mul(n).saturating_mul(2)
    }

    /// Scalars of memory for `n` points and the RKHS penalty.
    #[must_use]
    pub const fn rkhs_len(n: usize) -> usize {
        n.saturating_mul(n).saturating_add(n)
    }

    /// Scalars of memory for `n` points and this regularizer.
    #[must_use]
    pub const fn len_for(n: usize, regularizer: &Regularizer<'_, T>) -> usize {
        let len = match regularizer.form {
            Form::Rkhs { .. } => Self::rkhs_len(n),
            _ => Self::l2_len(n),
        };
        if regularizer.sample_weights.is_some() { len.saturating_add(n) } else { len }
    }

    /// Scalars of scratch that building takes with the l2 or RKHS penalty.
    #[must_use]
    pub const fn scratch_len(n: usize) -> usize {
        max(cholesky::factor_scratch_len::<T>(n), self_product_scratch_len::<T>(n))
    }

    /// Scalars of scratch that building takes with the Tikhonov penalty.
    #[must_use]
    pub const fn tikhonov_scratch_len(n: usize) -> usize {
        n.saturating_mul(n).saturating_add(Self::scratch_len(n))
    }

    /// Scalars of scratch that building takes with this regularizer.
    #[must_use]
    pub const fn scratch_len_for(n: usize, regularizer: &Regularizer<'_, T>) -> usize {
        match regularizer.form {
            Form::Tikhonov { .. } => Self::tikhonov_scratch_len(n),
            _ => Self::scratch_len(n),
        }
    }

    /// Builds and factors the system in `memory`
    /// ([`len_for`](Self::len_for) scalars).
    ///
    /// # Errors
    /// If the points, the kernel, the regularizer or the buffers are wrong, or
    /// the system is not positive definite.
    pub fn new<'p>(
        points: impl Into<Points<'p, T>>,
        kernel: &impl Kernel<T>,
        regularizer: Regularizer<'_, T>,
        memory: &'a mut [T],
        scratch: &mut [T],
    ) -> Result<Self, Error> {
        let points = points.into();
        points.check()?;
        let n = points.len();
        regularizer.check(n)?;
        let needed = Self::len_for(n, &regularizer);
        Error::check_at_least("memory", memory.len(), needed)?;
        let needed = Self::scratch_len_for(n, &regularizer);
        Error::check_at_least("scratch", scratch.len(), needed)?;
        let (memory, rest) = memory.split_at_mut(needed_for_matrices(n, &regularizer));
        let roots: &'a [T] = match regularizer.sample_weights {
            Some(weights) => {
                let roots = &mut rest[..n];
                for (root, &weight) in roots.iter_mut().zip(weights) {
                    *root = weight.sqrt();
                }
                roots
            }
            None => &[],
        };
        let (matrix, rest) = memory.split_at_mut(n * n);
        match regularizer.form {
            Form::Rkhs { lambda } => {
                gram(points, kernel, matrix)?;
                scale_rows(matrix, roots);
                for row in matrix.chunks_exact_mut(n) {
                    scale(row, roots);
                }
                let bias = &mut rest[..n];
                Self::scaled(matrix, bias, roots, lambda, regularizer.bias, scratch)
            }
            Form::L2 { lambda } => {
                let map = &mut rest[..n * n];
                gram(points, kernel, map)?;
                let whitening = Whitening::Weights { lambda, weights: regularizer.weights };
                let bias = if regularizer.bias { lambda.recip() } else { T::zero() };
                Self::mapped(matrix, map, roots, &whitening, bias, scratch)
            }
            Form::Tikhonov { psi, bias_lambda } => {
                let map = &mut rest[..n * n];
                gram(points, kernel, map)?;
                let (factor, scratch) = scratch.split_at_mut(n * n);
                squared(psi, n, factor);
                cholesky::factor(factor, n, scratch)?;
                let bias = if regularizer.bias { bias_lambda.recip() } else { T::zero() };
                Self::mapped(matrix, map, roots, &Whitening::Factor(factor), bias, scratch)
            }
        }
    }

    /// RKHS norm: `factor` comes with $K$.
    fn scaled(
        factor: &'a mut [T],
        bias: &'a mut [T],
        roots: &'a [T],
        lambda: T,
        with_bias: bool,
        scratch: &mut [T],
    ) -> Result<Self, Error> {
        let n = bias.len();
        for i in 0..n {
            factor[i * n + i] = factor[i * n + i] + lambda;
        }
        factor_well(factor, n, scratch)?;
        let mut sum = T::zero();
        if with_bias {
            bias.fill(T::one());
            scale(bias, roots);
            cholesky::solve(factor, bias)?;
            sum = total(bias.iter().copied(), roots);
            for a in bias.iter_mut() {
                *a = *a / sum;
            }
        } else {
            bias.fill(T::zero());
        }
        Ok(Self { n, factor, sum, model: Model::Scaled { lambda, bias, roots } })
    }

    /// l2 and Tikhonov: `map` comes with $K$. With $P = L_P L_P^T$ and
    /// $Z = K L_P^{-T}$ we have $M = I + Z Z^T + \mathbf{1}\mathbf{1}^T / d_c$,
    /// and the coefficients are $\alpha = (Z L_P^{-1})^T r$.
    fn mapped(
        matrix: &'a mut [T],
        map: &'a mut [T],
        roots: &'a [T],
        whitening: &Whitening<'_, T>,
        bias: T,
        scratch: &mut [T],
    ) -> Result<Self, Error> {
        let n = map.len().isqrt();
        whitening.apply(map, n, true);
        scale_rows(map, roots);
        for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
            let row = &mut row[..=i];
            row.fill(roots.get(i).map_or(bias, |&root| bias * root));
            scale(row, roots);
            row[i] = row[i] + T::one();
        }
        self_product(map, n, matrix, scratch)?;
        whitening.apply(map, n, false);
        // The map takes residuals as they are.
        scale_rows(map, roots);
        factor_well(matrix, n, scratch)?;
        Ok(Self { n, factor: matrix, sum: T::zero(), model: Model::Mapped { map, bias, roots } })
    }
}

/// Scalars of the matrices and the bias.
const fn needed_for_matrices<T: Real>(n: usize, regularizer: &Regularizer<'_, T>) -> usize {
    match regularizer.form {
        Form::Rkhs { .. } => System::<T>::rkhs_len(n),
        _ => System::<T>::l2_len(n),
    }
}

/// Multiplies entry `i` by `roots[i]`; no roots stand for ones.
pub(crate) fn scale<T: Real>(values: &mut [T], roots: &[T]) {
    for (x, &root) in values.iter_mut().zip(roots) {
        *x = *x * root;
    }
}

/// Multiplies row `i` by `roots[i]`.
fn scale_rows<T: Real>(matrix: &mut [T], roots: &[T]) {
    if roots.is_empty() {
        return;
    }
    for (row, &root) in matrix.chunks_exact_mut(roots.len()).zip(roots) {
        for x in row {
            *x = *x * root;
        }
    }
}

/// The sum, weighted by `roots` if there are any.
fn total<T: Real>(values: impl Iterator<Item = T>, roots: &[T]) -> T {
    if roots.is_empty() {
        values.fold(T::zero(), |sum, x| sum + x)
    } else {
        values.zip(roots).fold(T::zero(), |sum, (x, &root)| sum + x * root)
    }
}

/// Factors $M$ or $A$, unless it is too ill-conditioned.
///
/// Of the condition $\kappa$, $L^{-1}$ has errors of $\epsilon \sqrt\kappa$, so
/// that residuals have, and predictions amplify these by $\kappa$. So
/// $\epsilon \kappa^{3/2}$ must be below one. Estimated is
/// $\kappa \approx \max_i A_{ii} \\, \lVert A^{-1} s \rVert / \sqrt n$ with signs
/// $s$ in no order, which all eigenvectors have their part in. The smallest
/// pivot is no such estimate: it may be all rounding.
fn factor_well<T: Real>(matrix: &mut [T], n: usize, scratch: &mut [T]) -> Result<(), Error> {
    let largest = matrix.iter().step_by(n + 1).fold(T::zero(), |max, &a| a.max(max));
    cholesky::factor(matrix, n, scratch)?;
    let solved = &mut scratch[..n];
    for (i, s) in solved.iter_mut().enumerate() {
        let hash = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *s = if hash >> 63 == 0 { T::one() } else { -T::one() };
    }
    cholesky::solve(matrix, solved)?;
    let squared = solved.iter().fold(T::zero(), |sum, &z| sum + (z * largest) * (z * largest));
    let condition = (squared / count(n)).sqrt();
    if T::epsilon() * condition * (T::epsilon() * condition) * condition < T::one() {
        return Ok(());
    }
    let smallest = (0..n).fold((0, T::infinity()), |(at, least), i| {
        let pivot = matrix[i * n + i] * matrix[i * n + i];
        if pivot < least { (i, pivot) } else { (at, least) }
    });
    Err(Error::not_positive_definite(smallest.0, smallest.1))
}

/// The factor $L_P$ of the penalty matrix $P$.
enum Whitening<'a, T> {
    /// Diagonal, of $\lambda \psi_i$.
    Weights { lambda: T, weights: Option<&'a [T]> },
    /// Lower triangular.
    Factor(&'a [T]),
}

impl<T: Real> Whitening<'_, T> {
    /// Multiplies each row of `matrix` from the right by $L_P^{-T}$
    /// (`transposed`) or $L_P^{-1}$.
    fn apply(&self, matrix: &mut [T], n: usize, transposed: bool) {
        for row in matrix.chunks_exact_mut(n) {
            match *self {
                Self::Weights { lambda, weights: None } => {
                    let scale = lambda.sqrt().recip();
                    for x in row {
                        *x = *x * scale;
                    }
                }
                Self::Weights { lambda, weights: Some(weights) } => {
                    for (x, &weight) in row.iter_mut().zip(weights) {
                        *x = *x / (lambda * weight).sqrt();
                    }
                }
                // x L^-T is solved by L z = x, x L^-1 by L^T z = x.
                Self::Factor(l) if transposed => forward(l, row, 0),
                Self::Factor(l) => backward(l, row),
            }
        }
    }
}

/// Lower triangle of $\Psi^T \Psi$.
fn squared<T: Real>(psi: &[T], n: usize, out: &mut [T]) {
    out.fill(T::zero());
    for row in psi.chunks_exact(n) {
        for i in 0..n {
            for j in 0..=i {
                out[i * n + j] = out[i * n + j] + row[i] * row[j];
            }
        }
    }
}

impl<T: Real> ResidualMaker<T> for System<'_, T> {
    fn len(&self) -> usize {
        self.n
    }

    fn residual(&self, v: &[T], out: &mut [T]) {
        out.copy_from_slice(v);
        if let Model::Scaled { lambda, bias, roots } = self.model {
            // H v = lambda A^-1 (v - c W^1/2 1).
            let c = inner_product(bias, v);
            for (i, x) in out.iter_mut().enumerate() {
                *x = lambda * (*x - roots.get(i).map_or(c, |&root| c * root));
            }
        }
        forward(self.factor, out, 0);
        backward(self.factor, out);
    }

    fn column(&self, j: usize, out: &mut [T]) {
        inverse_column(self.factor, j, out);
        if let Model::Scaled { lambda, bias, .. } = self.model {
            let along = self.sum * bias[j];
            for (x, &g) in out.iter_mut().zip(bias) {
                *x = lambda * (*x - along * g);
            }
        }
    }

    fn diagonal(&self, out: &mut [T], scratch: &mut [T]) {
        if cholesky::inverse_diagonal(self.factor, out, scratch).is_err() {
            // Too little scratch for all lanes at once.
            for (j, entry) in out.iter_mut().enumerate() {
                inverse_column(self.factor, j, &mut scratch[..self.n]);
                *entry = scratch[j];
            }
        }
        if let Model::Scaled { lambda, bias, .. } = self.model {
            for (x, &g) in out.iter_mut().zip(bias) {
                *x = lambda * (*x - self.sum * g * g);
            }
        }
    }
}

impl<T: Real> Model<'_, T> {
    /// Coefficients $\alpha$ from the residual.
    pub(crate) fn coefficients(&self, residual: &[T], out: &mut [T]) -> Result<(), Error> {
        match *self {
            Self::Mapped { map, .. } => multiply_transposed(map, residual, out),
            Self::Scaled { lambda, roots, .. } => {
                for (a, &r) in out.iter_mut().zip(residual) {
                    *a = r / lambda;
                }
                scale(out, roots);
                scale(out, roots);
            }
        }
        match Error::check_finite("coefficient", out) {
            Ok(()) => Ok(()),
            Err(_) => Err(Error::Overflow { what: "a coefficient" }),
        }
    }

    /// Bias $c$ from the residual and $v = y - u$.
    pub(crate) fn bias(&self, residual: &[T], v: impl Iterator<Item = T>) -> T {
        match *self {
            Self::Mapped { bias, roots, .. } => {
                let weighted = residual
                    .iter()
                    .enumerate()
                    .map(|(i, &r)| roots.get(i).map_or(r, |&root| r * root));
                total(weighted, roots) * bias
            }
            // g . v.
            Self::Scaled { bias, roots, .. } => total(v.zip(bias).map(|(v, &g)| g * v), roots),
        }
    }

    /// The square roots of the sample weights; none where all are one.
    pub(crate) const fn roots(&self) -> &[T] {
        match self {
            Self::Mapped { roots, .. } | Self::Scaled { roots, .. } => roots,
        }
    }
}

/// After a search among data that were whitened by these `roots`: residuals, and the function's
/// values at the outliers, in the units of the data.
pub(crate) fn unwhiten<T: Real>(
    roots: &[T],
    residual: &mut [T],
    values: &mut [T],
    indices: &[usize],
) {
    if roots.is_empty() {
        return;
    }
    for (r, &root) in residual.iter_mut().zip(roots) {
        *r = *r / root;
    }
    for (f, &j) in values.iter_mut().zip(indices) {
        *f = *f / entry(roots, j);
    }
}

pub(crate) fn inner_product<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (&a, &b)| sum + a * b)
}

/// The larger one, at compile time too.
pub(crate) const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}
