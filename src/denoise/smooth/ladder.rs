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
use crate::linalg::batch::{Entries, Packed};
use crate::linalg::simd::{Routine, dispatch, multiply_add};
use crate::linalg::vector::dot;
use crate::real::{constant, count};
use crate::{Error, Kernel, Penalty, Real};
use alloc::vec::Vec;

/// The smoothers of one kernel on regions of `side` x `side` pixels.
#[derive(Debug, Clone)]
pub(crate) struct Ladder<T> {
    pub(crate) n: usize,
    pub(crate) basis: Basis<T>,
    pub(crate) rungs: Vec<Rung<T>>,
    /// $g^2$ of all rungs.
    squares: Packed<T>,
    /// $g e$ of all rungs, then $g^2 e$, where $e = E \mathbf 1$ is not zero.
    biases: Packed<T>,
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
    /// $G e$, as far as $e = E \mathbf 1$ is not zero.
    ge: Vec<T>,
    pub(crate) rho: T,
    /// $\lVert G \mathbf 1 \rVert^2$.
    pub(crate) ones: T,
}

impl<T: Real> Ladder<T> {
    pub(crate) fn new(
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
        for &lambda in lambdas {
            Error::check_positive("lambda", lambda)?;
        }
        let rungs: Vec<Rung<T>> =
            lambdas.iter().map(|&lambda| Rung::new(&basis, penalty, lambda)).collect();
        let times_g = |rung: &Rung<T>, x: &[T]| -> Vec<T> {
            rung.g.iter().zip(x).map(|(&g, &x)| g * x).collect()
        };
        let squares: Vec<T> = rungs.iter().flat_map(|rung| times_g(rung, &rung.g)).collect();
        let twice = rungs.iter().flat_map(|rung| times_g(rung, &rung.ge));
        let biases: Vec<T> = rungs.iter().flat_map(|rung| &rung.ge).copied().chain(twice).collect();
        let (squares, biases) = (Packed::new(&squares, n), Packed::new(&biases, basis.sums.len()));
        Ok(Self { n, basis, rungs, squares, biases })
    }

    /// For each region the rung of the least estimated risk for noise of standard deviation
    /// `noise`, and the standard deviation of what it does not fit.
    pub(crate) fn choose(&self, coefficients: &[T], noise: T) -> Vec<(usize, T)> {
        let (n, rungs) = (self.n, self.rungs.len());
        let regions = coefficients.len() / n;
        let all = |of| Entries { of, stride: n, start: 0 };
        let squared: Vec<T> = coefficients.iter().map(|&c| c * c).collect();
        let mut squares = alloc::vec![T::zero(); regions * rungs];
        let out = Entries { of: &mut squares[..], stride: rungs, start: 0 };
        self.squares.multiply(all(&squared[..]), out);
        let mut biases = alloc::vec![T::zero(); regions * 2 * rungs];
        let out = Entries { of: &mut biases[..], stride: 2 * rungs, start: 0 };
        self.biases.multiply(all(coefficients), out);
        let regions = squares.chunks_exact(rungs).zip(biases.chunks_exact(2 * rungs));
        regions.map(|(squares, biases)| self.least_risk(squares, biases, noise)).collect()
    }

    /// The same for one region, of which each rung makes $\sum (g c)^2$, and then $e^T G c$
    /// and $e^T G^2 c$.
    fn least_risk(&self, squares: &[T], biases: &[T], noise: T) -> (usize, T) {
        let two = constant::<T>(2.0);
        let price = two * noise * noise;
        let (once, twice) = biases.split_at(self.rungs.len());
        let mut best = (T::infinity(), 0, T::zero());
        for (k, rung) in self.rungs.iter().enumerate() {
            // |G c - rho t G e|^2 with t = e^T G c.
            let shift = rung.rho * once[k];
            let squared = squares[k] - shift * (two * twice[k] - shift * rung.ones);
            let squared = squared.max(T::zero());
            let risk = squared + price * rung.freedom;
            if risk < best.0 {
                best = (risk, k, squared / (count::<T>(self.n) - rung.freedom));
            }
        }
        (best.1, best.2.sqrt())
    }

    /// The residuals of regions on their rungs, from the coefficients of their pixels, which
    /// become those of the residuals.
    pub(crate) fn residuals(
        &self,
        choices: &[(usize, T)],
        coefficients: &mut [T],
        residuals: &mut [T],
    ) {
        for (coefficients, &(rung, _)) in coefficients.chunks_exact_mut(self.n).zip(choices) {
            dispatch(Residual { rung: &self.rungs[rung], coefficients });
        }
        self.basis.synthesise(coefficients, residuals);
    }
}

impl<T: Real> Rung<T> {
    fn new(basis: &Basis<T>, penalty: Penalty, lambda: T) -> Self {
        let n = basis.values.len();
        // What rounding leaves of a zero eigenvalue may be negative.
        let filter = |&mu: &T| {
            let mu = mu.max(T::zero());
            match penalty {
                Penalty::Rkhs => lambda / (mu + lambda),
                Penalty::L2 => lambda / (mu * mu + lambda),
            }
        };
        let g: Vec<T> = basis.values.iter().map(filter).collect();
        let ge: Vec<T> = g.iter().zip(&basis.sums).map(|(&g, &e)| g * e).collect();
        let sum = ge.iter().zip(&basis.sums).fold(T::zero(), |sum, (&ge, &e)| sum + ge * e);
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
        let (mut coefficients, mut bias) = (ge.clone(), alloc::vec![T::zero(); n]);
        coefficients.resize(n, T::zero());
        basis.synthesise(&coefficients, &mut bias);
        for (row, &a) in maker.chunks_exact_mut(n).zip(&bias) {
            for (x, &b) in row.iter_mut().zip(&bias) {
                *x = *x - rho * (a * b);
            }
        }
        let freedom = count::<T>(n) - trace;
        Self { lambda, maker, freedom, g, ge, rho, ones }
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
        for (c, &g) in c.iter_mut().zip(&rung.g) {
            *c = *c * g;
        }
        for (c, &ge) in c.iter_mut().zip(&rung.ge) {
            *c = multiply_add::<T, FUSED>(-shift, ge, *c);
        }
    }
}
