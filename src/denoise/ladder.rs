//! The smoothers of a region, from rough to smooth.
//!
//! All have one kernel matrix $K = E^T M E$ and differ in $\lambda$ only, so that in
//! the basis of its eigenvectors each residual maker is a filter with a
//! correction for the bias:
//!
//! $$ H = G - \rho \\, (G \mathbf 1)(G \mathbf 1)^T, \qquad G = E^T \operatorname{diag}(g) \\, E, $$
//!
//! with $g = \lambda / (\mu + \lambda)$ and $\rho = 1 / \mathbf 1^T G \mathbf 1$ for the RKHS norm,
//! $g = 1 / (1 + \mu^2 / \lambda)$ and $\rho = 1 / (\lambda + \mathbf 1^T G \mathbf 1)$ for the l2
//! penalty. One product with $E$ serves the residuals of all rungs, and what
//! each would cost: Stein's unbiased estimate of the risk,
//! $\lVert r \rVert^2 + 2 \sigma^2 \operatorname{tr}(I - H)$ up to a constant.

use super::basis::Basis;
use crate::linalg::simd::{Routine, dispatch, multiply_add};
use crate::linalg::vector::{add_scaled_4, dot};
use crate::real::{constant, count};
use crate::{Error, Kernel, Real};
use alloc::vec::Vec;

/// Which norm is penalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Penalty {
    /// The norm of the function; the bias is free. The better smoother of
    /// images.
    #[default]
    Rkhs,
    /// The sum of squares of coefficients and bias, the paper's main model.
    L2,
}

/// The smoothers of one kernel on regions of `side` x `side` pixels.
#[derive(Debug, Clone)]
pub(crate) struct Ladder<T> {
    pub(crate) n: usize,
    pub(crate) basis: Basis<T>,
    pub(crate) rungs: Vec<Rung<T>>,
}

/// The smoother of one $\lambda$.
#[derive(Debug, Clone)]
pub(crate) struct Rung<T> {
    pub(crate) lambda: T,
    /// $H$, row-major.
    pub(crate) maker: Vec<T>,
    /// $\operatorname{tr}(I - H)$: the degrees of freedom of the fit.
    pub(crate) freedom: T,
    pub(crate) g: Vec<T>,
    g_squared: Vec<T>,
    /// $g e$ and $g^2 e$, where $e = E \mathbf 1$.
    pub(crate) ge: Vec<T>,
    g_squared_e: Vec<T>,
    pub(crate) rho: T,
    /// $\lVert G \mathbf 1 \rVert^2$.
    pub(crate) ones: T,
}

impl<T: Real> Ladder<T> {
    pub(super) fn new(
        side: usize,
        kernel: &impl Kernel<T>,
        penalty: Penalty,
        lambdas: &[T],
    ) -> Result<Self, Error> {
        let basis = Basis::new(side, kernel)?;
        let n = side * side;
        let values = || basis.values.iter().copied();
        let (least, largest) =
            (values().fold(T::infinity(), T::min), values().fold(T::zero(), T::max));
        if penalty == Penalty::Rkhs && least < -(count::<T>(n) * T::epsilon() * largest) {
            return Err(Error::not_positive_definite(n - 1, least));
        }
        let mut ladder = Self { n, basis, rungs: Vec::with_capacity(lambdas.len()) };
        for &lambda in lambdas {
            Error::check_positive("lambda", lambda)?;
            ladder.rungs.push(ladder.rung(penalty, lambda));
        }
        Ok(ladder)
    }

    fn rung(&self, penalty: Penalty, lambda: T) -> Rung<T> {
        let (n, basis) = (self.n, &self.basis);
        // What rounding leaves of a zero eigenvalue may be negative.
        let filter = |&mu: &T| {
            let mu = mu.max(T::zero());
            match penalty {
                Penalty::Rkhs => lambda / (mu + lambda),
                Penalty::L2 => lambda / (mu * mu + lambda),
            }
        };
        let g: Vec<T> = basis.values.iter().map(filter).collect();
        let e = (0..n).map(|i| (0..n).fold(T::zero(), |sum, j| sum + basis.pixels[j * n + i]));
        let ge: Vec<T> = g.iter().zip(e.clone()).map(|(&g, e)| g * e).collect();
        let g_squared: Vec<T> = g.iter().map(|&g| g * g).collect();
        let g_squared_e: Vec<T> = ge.iter().zip(&g).map(|(&ge, &g)| ge * g).collect();
        let sum = ge.iter().zip(e).fold(T::zero(), |sum, (&ge, e)| sum + ge * e);
        let ones = ge.iter().fold(T::zero(), |sum, &ge| sum + ge * ge);
        let rho = match penalty {
            Penalty::Rkhs => sum.recip(),
            Penalty::L2 => (sum + lambda).recip(),
        };
        let trace = g.iter().fold(T::zero(), |sum, &g| sum + g) - rho * ones;

        let mut scaled = basis.pixels.clone();
        for row in scaled.chunks_exact_mut(n) {
            for (x, &g) in row.iter_mut().zip(&g) {
                *x = *x * g;
            }
        }
        let mut maker = alloc::vec![T::zero(); n * n];
        basis.synthesise(&scaled, &mut maker);
        let mut bias = alloc::vec![T::zero(); n];
        basis.synthesise(&ge, &mut bias);
        for (row, &a) in maker.chunks_exact_mut(n).zip(&bias) {
            for (x, &b) in row.iter_mut().zip(&bias) {
                *x = *x - rho * (a * b);
            }
        }
        let freedom = count::<T>(n) - trace;
        Rung { lambda, maker, freedom, g, g_squared, ge, g_squared_e, rho, ones }
    }

    /// What changes in the coefficients if these pixels change by `scale` times that.
    pub(super) fn update(&self, coefficients: &mut [T], pixels: &[usize], by: &[T], scale: T) {
        // Four at a time, each coefficient being read and written once; what is
        // missing of the last four does not change.
        for (pixels, by) in pixels.chunks(4).zip(by.chunks(4)) {
            let change = |i: usize| match by.get(i) {
                Some(&by) => (pixels[i], scale * by),
                None => (pixels[0], T::zero()),
            };
            let four = [change(0), change(1), change(2), change(3)];
            let rows = four.map(|(pixel, _)| &self.basis.pixels[pixel * self.n..][..self.n]);
            dispatch(AddScaled { y: coefficients, factors: four.map(|(_, by)| by), rows });
        }
    }

    /// The rung of the least estimated risk for noise of standard deviation
    /// `noise`, and the standard deviation of what it does not fit.
    pub(super) fn choose(&self, coefficients: &[T], squares: &mut [T], noise: T) -> (usize, T) {
        dispatch(Choose { ladder: self, coefficients, squares, noise })
    }

    /// Replaces coefficients by those of the residual on a rung.
    pub(super) fn residual(&self, rung: usize, coefficients: &mut [T]) {
        dispatch(Residual { rung: &self.rungs[rung], coefficients });
    }
}

struct AddScaled<'a, T> {
    y: &'a mut [T],
    factors: [T; 4],
    rows: [&'a [T]; 4],
}

impl<T: Real> Routine for AddScaled<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        add_scaled_4::<T, FUSED>(self.y, self.factors, self.rows);
    }
}

struct Choose<'a, T> {
    ladder: &'a Ladder<T>,
    coefficients: &'a [T],
    squares: &'a mut [T],
    noise: T,
}

impl<T: Real> Routine for Choose<'_, T> {
    type Output = (usize, T);
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> (usize, T) {
        let Self { ladder, coefficients: c, squares, noise } = self;
        for (square, &c) in squares.iter_mut().zip(c) {
            *square = c * c;
        }
        let two = constant::<T>(2.0);
        let price = two * noise * noise;
        let mut best = (T::infinity(), 0, T::zero());
        for (k, rung) in ladder.rungs.iter().enumerate() {
            // |G c - rho t G e|^2 with t = e^T G c.
            let shift = rung.rho * dot::<T, FUSED>(&rung.ge, c);
            let cross = dot::<T, FUSED>(&rung.g_squared_e, c);
            let squared = dot::<T, FUSED>(&rung.g_squared, squares)
                - shift * (two * cross - shift * rung.ones);
            let squared = squared.max(T::zero());
            let risk = multiply_add::<T, FUSED>(price, rung.freedom, squared);
            if risk < best.0 {
                let free = count::<T>(ladder.n) - rung.freedom;
                best = (risk, k, squared / free);
            }
        }
        (best.1, best.2.sqrt())
    }
}

struct Residual<'a, T> {
    rung: &'a Rung<T>,
    coefficients: &'a mut [T],
}

impl<T: Real> Routine for Residual<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { rung, coefficients: c } = self;
        let shift = rung.rho * dot::<T, FUSED>(&rung.ge, c);
        for ((c, &g), &ge) in c.iter_mut().zip(&rung.g).zip(&rung.ge) {
            *c = multiply_add::<T, FUSED>(-shift, ge, *c * g);
        }
    }
}
