//! Algorithm 1 with $K = F F^T$: exact, with bounds instead of $n$ residuals a step.
//!
//! With the rows $g_i = (F_i, 1)$ and $\Lambda = \operatorname{diag}(\lambda, \dots, \lambda, 0)$
//! the fit of the points that are in is $\theta = A^{-1} b$,
//! $A = \sum g_i g_i^T + \Lambda$, $b = \sum v_i g_i$, and
//! $r_i = v_i - g_i^T \theta$, $H_{ii} = 1 - h_i$ with the leverage
//! $h_i = g_i^T A^{-1} g_i$. Point $j$ leaves by
//!
//! $$ q = A^{-1} g_j, \quad \theta \leftarrow \theta - q \\, r_j / H_{jj}, \quad A \leftarrow A - g_j g_j^T, \quad A^{-1} \leftarrow A^{-1} + q q^T / H_{jj} . $$
//!
//! Since $\theta_0$, $A_0$ and $h_i$ were computed for all points,
//!
//! $$ \lvert r_i - r_{i0} \rvert \le \sqrt{h_{i0}} \\, D, \quad D = \lVert \theta - \theta_0 \rVert_{A_0}, \qquad h_{i0} \le h_i \le h_{i0} / \rho \quad\text{where}\quad A \succeq \rho A_0 , $$
//!
//! so that a score has an upper bound, and only points whose bound is above the
//! best score so far are looked at. $\rho$ is at least one minus the leverages of
//! the points that left, and now and then a Cholesky factorisation of
//! $A - \rho A_0$ proves a larger one.

use super::normal::{Add, CHUNK, Normal, Rank1, Units, inner, inverse_and_leverages};
use crate::linalg::cholesky::{self, factor_scratch_len, invert_scratch_len};
use crate::linalg::simd::dispatch;
use crate::linalg::{multiply, zeros};
use crate::parallel::each;
use crate::real::{constant, count};
use crate::regression::stop::has_repeats;
use crate::{Error, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Points of a block, which has one bound.
const BLOCK: usize = 128;
/// The least $\rho$ that bounds are made for.
const LEAST_SHRINK: f64 = 0.5;
/// What a factorisation tries to prove when $\rho$ falls below that.
const PROVEN_SHRINK: f64 = 0.75;

/// Points that leave one after the other.
#[derive(Debug)]
pub(super) struct Search<'a, T> {
    pub(super) rows: &'a [T],
    pub(super) width: usize,
    pub(super) lambda: T,
    /// The data as given, and in the units of the search.
    pub(super) y: &'a [T],
    pub(super) units: Units<T>,
    pub(super) values: Vec<T>,
    pub(super) matrix: Vec<T>,
    pub(super) inverse: Vec<T>,
    pub(super) theta: Vec<T>,
    /// $r^T r + \lambda \lVert \beta \rVert^2$.
    pub(super) objective: T,
    pub(super) is_out: Vec<bool>,
    pub(super) support: Vec<usize>,
    /// Points that are in.
    pub(super) left: usize,
    pub(super) known: Known<T>,
    pub(super) studentized: bool,
    /// Whether the resolution of the data may matter.
    pub(super) coarse: bool,
    /// Residuals computed since all were.
    pub(super) computed: usize,
    /// Removals since the inverse was.
    pub(super) updates: usize,
    /// The largest of the values when the residuals were computed.
    pub(super) size: T,
    /// Upper bound of the noise's scale, when last computed.
    pub(super) scale: T,
    pub(super) notes: Notes<T>,
}

/// What was computed for all points, and how far it holds.
#[derive(Debug)]
pub(super) struct Known<T> {
    pub(super) theta: Vec<T>,
    pub(super) residual: Vec<T>,
    /// $\lVert \theta - \theta_0 \rVert_{A_0}$.
    pub(super) distance: T,
    pub(super) matrix: Vec<T>,
    /// $\sqrt{h_{i0}}$.
    pub(super) reach: Vec<T>,
    /// Upper bound of $1 / \sqrt{H_{ii}}$, while $\rho$ is not below its least.
    pub(super) weight: Vec<T>,
    pub(super) shrink: T,
    /// The largest $\lvert r_{i0} \rvert$ and $\sqrt{h_{i0}}$ of a block, weighted.
    pub(super) blocks: Vec<(T, T)>,
}

/// What rules look at that look at all residuals.
#[derive(Debug)]
pub(super) struct Notes<T> {
    pub(super) residual: Vec<T>,
    pub(super) variances: Vec<T>,
    pub(super) scratch: Vec<T>,
}

impl<T> Notes<T> {
    pub(super) fn empty() -> Self {
        Self { residual: Vec::new(), variances: Vec::new(), scratch: Vec::new() }
    }
}

impl<'a, T: Real> Search<'a, T> {
    pub(super) fn new(
        normal: &Normal<T>,
        (rows, width): (&'a [T], usize),
        lambda: T,
        y: &'a [T],
        studentized: bool,
    ) -> Result<Self, Error> {
        let n = y.len();
        let units = Units::of(y);
        let values: Vec<T> = y.iter().map(|&y| units.apply(y)).collect();
        let known = Known {
            theta: vec![T::zero(); width],
            residual: zeros(n)?,
            distance: T::zero(),
            matrix: Vec::new(),
            reach: zeros(n)?,
            weight: zeros(n)?,
            shrink: T::one(),
            blocks: vec![(T::zero(), T::zero()); n.div_ceil(BLOCK)],
        };
        let mut search = Self {
            rows,
            width,
            lambda,
            y,
            units,
            values,
            matrix: normal.matrix.clone(),
            inverse: normal.inverse.clone(),
            theta: vec![T::zero(); width],
            objective: T::zero(),
            is_out: vec![false; n],
            support: Vec::new(),
            left: n,
            known,
            studentized,
            coarse: has_repeats(y),
            computed: 0,
            updates: 0,
            size: T::zero(),
            scale: T::infinity(),
            notes: Notes::empty(),
        };
        search.know_leverages(&normal.leverages);
        search.renew();
        Ok(search)
    }

    pub(super) fn row(&self, i: usize) -> &'a [T] {
        &self.rows[i * self.width..][..self.width]
    }

    /// The residual of point `i`, in the units of the search.
    pub(super) fn residual(&self, i: usize) -> T {
        self.values[i] - inner(self.row(i), &self.theta)
    }

    /// $H_{ii}$.
    pub(super) fn variance(&self, i: usize, scratch: &mut [T]) -> T {
        let row = self.row(i);
        self.times_inverse(row, scratch);
        (T::one() - inner(row, scratch)).max(T::epsilon())
    }

    pub(super) fn times_inverse(&self, row: &[T], out: &mut [T]) {
        let done = multiply(&self.inverse, row, out);
        debug_assert!(done.is_ok());
    }

    /// Takes these leverages, of the present matrix, as known.
    pub(super) fn know_leverages(&mut self, leverages: &[T]) {
        let Known { matrix, reach, weight, shrink, .. } = &mut self.known;
        matrix.clear();
        matrix.extend_from_slice(&self.matrix);
        *shrink = T::one();
        let grown = constant::<T>(LEAST_SHRINK).recip();
        for (i, &h) in leverages.iter().enumerate() {
            (reach[i], weight[i]) = if self.is_out[i] {
                (T::zero(), T::zero())
            } else if self.studentized {
                (h.sqrt(), (T::one() - h * grown).max(T::epsilon()).sqrt().recip())
            } else {
                (h.sqrt(), T::one())
            };
        }
    }

    /// Computes $A^{-1}$ and all leverages anew.
    pub(super) fn renew_leverages(&mut self) {
        // The matrix is positive definite: each point that left had H_jj > 0.
        if let Ok((inverse, leverages)) = inverse_and_leverages(&self.matrix, self.rows, self.width)
        {
            self.inverse = inverse;
            self.updates = 0;
            self.know_leverages(&leverages);
        }
        self.renew();
    }

    /// Computes $\theta$ and all residuals anew, from the points that are in.
    pub(super) fn renew(&mut self) {
        let width = self.width;
        if self.updates > 0 {
            let mut factor = self.matrix.clone();
            let scratch = factor_scratch_len::<T>(width).max(invert_scratch_len::<T>(width));
            let mut scratch = vec![T::zero(); scratch];
            let done = cholesky::factor(&mut factor, width, &mut scratch)
                .and_then(|()| cholesky::invert(&mut factor, width, &mut scratch));
            if done.is_ok() {
                self.inverse = factor;
            }
            self.updates = 0;
        }
        let parts = (0..self.y.len()).step_by(CHUNK).map(|first| {
            let last = (first + CHUNK).min(self.y.len());
            first..last
        });
        let sums = each(parts.clone(), |part| {
            let mut sum = vec![T::zero(); width];
            for i in part.filter(|&i| !self.is_out[i]) {
                dispatch(Add { sum: &mut sum, factor: self.values[i], row: self.row(i) });
            }
            sum
        });
        let mut b = vec![T::zero(); width];
        for sum in sums {
            for (b, s) in b.iter_mut().zip(sum) {
                *b = *b + s;
            }
        }
        let mut theta = vec![T::zero(); width];
        self.times_inverse(&b, &mut theta);
        self.theta = theta;
        let residual = each(parts, |part| {
            part.map(|i| if self.is_out[i] { T::zero() } else { self.residual(i) })
                .collect::<Vec<T>>()
        });
        self.known.residual = residual.concat();
        self.known.theta.copy_from_slice(&self.theta);
        self.known.distance = T::zero();
        self.computed = 0;
        let within = self.values.iter().zip(&self.is_out).filter(|(_, out)| !**out);
        self.size = within.fold(T::zero(), |size, (v, _)| size.max(v.abs()));
        let squares = self.known.residual.iter().fold(T::zero(), |s, &r| s + r * r);
        self.objective = squares + self.penalty();
        let Known { residual, reach, weight, blocks, .. } = &mut self.known;
        for (b, block) in blocks.iter_mut().enumerate() {
            let end = ((b + 1) * BLOCK).min(residual.len());
            *block = (b * BLOCK..end).fold((T::zero(), T::zero()), |(r, h), i| {
                (r.max(residual[i].abs() * weight[i]), h.max(reach[i] * weight[i]))
            });
        }
    }

    /// $\lambda \lVert \beta \rVert^2 = r^T f$.
    pub(super) fn penalty(&self) -> T {
        let beta = &self.theta[..self.width - 1];
        self.lambda * inner(beta, beta)
    }

    /// The largest score of all points and where it is, none if all are zero; and
    /// how many residuals that took.
    pub(super) fn find(&self, studentized: bool) -> (Option<usize>, T, usize) {
        let Known { distance, blocks, .. } = &self.known;
        let bound = |&(r, h): &(T, T)| r + h * *distance;
        let first = (0..blocks.len())
            .fold(0, |best, b| if bound(&blocks[b]) > bound(&blocks[best]) { b } else { best });
        let mut best = (None, T::zero());
        let mut computed = 0;
        let mut scratch = vec![T::zero(); self.width];
        let others = (0..blocks.len()).filter(|&b| b != first);
        for b in core::iter::once(first).chain(others) {
            if bound(&blocks[b]) > best.1 {
                computed += self.find_in(b, studentized, &mut best, &mut scratch);
            }
        }
        (best.0, best.1, computed)
    }

    /// The same in block `b`, where it is above the best so far; tells how many
    /// residuals that took.
    pub(super) fn find_in(
        &self,
        b: usize,
        studentized: bool,
        best: &mut (Option<usize>, T),
        scratch: &mut [T],
    ) -> usize {
        let Known { residual, reach, weight, distance, .. } = &self.known;
        let mut computed = 0;
        for i in b * BLOCK..((b + 1) * BLOCK).min(residual.len()) {
            let weight = if studentized { weight[i] } else { T::one() };
            if self.is_out[i] || !((residual[i].abs() + reach[i] * *distance) * weight > best.1) {
                continue;
            }
            computed += 1;
            let size = self.residual(i).abs();
            if size * weight > best.1 {
                let deviation =
                    if studentized { self.variance(i, scratch).sqrt() } else { T::one() };
                if size / deviation > best.1 {
                    *best = (Some(i), size / deviation);
                }
            }
        }
        computed
    }

    /// Point `j` leaves; false if it is needed to determine the fit.
    pub(super) fn take_out(&mut self, j: usize) -> bool {
        let row = self.row(j);
        let mut q = vec![T::zero(); self.width];
        self.times_inverse(row, &mut q);
        let variance = T::one() - inner(row, &q);
        let rounding = T::epsilon() * count(self.y.len() - self.left + 1);
        if !(variance > rounding) || self.left <= 1 {
            return false;
        }
        let r = self.residual(j);
        let per = variance.recip();
        dispatch(Add { sum: &mut self.theta, factor: -r * per, row: &q });
        dispatch(Rank1 { matrix: &mut self.matrix, factor: -T::one(), row });
        dispatch(Rank1 { matrix: &mut self.inverse, factor: per, row: &q });
        self.updates += 1;
        self.objective = (self.objective - r * r * per).max(T::zero());
        self.is_out[j] = true;
        self.support.push(j);
        self.left -= 1;
        let known = &mut self.known;
        known.shrink = known.shrink - known.reach[j] * known.reach[j];
        (known.residual[j], known.reach[j]) = (T::zero(), T::zero());
        let moved: Vec<T> = self.theta.iter().zip(&known.theta).map(|(&a, &b)| a - b).collect();
        let mut product = vec![T::zero(); self.width];
        let done = multiply(&known.matrix, &moved, &mut product);
        debug_assert!(done.is_ok());
        known.distance = inner(&moved, &product).max(T::zero()).sqrt();
        if known.shrink < constant(LEAST_SHRINK) {
            if self.is_at_least(constant(PROVEN_SHRINK)) {
                self.known.shrink = constant(PROVEN_SHRINK);
            } else {
                self.renew_leverages();
            }
        }
        true
    }

    /// Whether $A \succeq \rho A_0$.
    pub(super) fn is_at_least(&self, shrink: T) -> bool {
        let pairs = self.matrix.iter().zip(&self.known.matrix);
        let mut difference: Vec<T> = pairs.map(|(&a, &known)| a - shrink * known).collect();
        let mut scratch = vec![T::zero(); factor_scratch_len::<T>(self.width)];
        cholesky::factor(&mut difference, self.width, &mut scratch).is_ok()
    }

    /// Bounds of the studentised residuals of the points that are in.
    pub(super) fn bounds(&self) -> impl Iterator<Item = (T, T)> + '_ {
        let Known { residual, reach, distance, shrink, .. } = &self.known;
        let grown = shrink.recip();
        (0..residual.len()).filter(|&i| !self.is_out[i]).map(move |i| {
            let (r, by) = (residual[i].abs(), reach[i] * *distance);
            let h = reach[i] * reach[i];
            let (largest, least) = (T::one() - h, T::one() - h * grown);
            let least = least.max(T::epsilon());
            ((r - by).max(T::zero()) / largest.max(least).sqrt(), (r + by) / least.sqrt())
        })
    }
}
