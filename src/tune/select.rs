//! The outliers at given parameters: Algorithm 1 with a rule of odds, and the
//! way back.
//!
//! With the points $S$ taken out, point $i$ is predicted by the others up to
//! $e_i = a_i / Q_{ii}$, with the deviation $d_i = s / \sqrt{Q_{ii}}$. As an
//! outlier it would have the density $1 / R$, $R$ being the range of outliers,
//! and the prior odds $\pi / (1 - \pi)$, $\pi = (k + 1) / (n + 2)$. It is one if
//!
//! $$ e_i^2 / d_i^2 > 2 \log \frac{R}{\sqrt{2 \pi} \\, d_i} + 2 \log \frac{1 - \pi}{\pi} , $$
//!
//! the greater of which is taken out first ([`Odds`]). What agrees with the
//! others' prediction is put back ([`Removed::put_back`]), one point at a time, by
//! what is known of the other outliers' sizes ([`Sizes`]):
//! with $B = (Q_{SS})^{-1}$ and $u = B (Q v)_S$ that is the sweep
//! $B \leftarrow B - b_j b_j^T / B_{jj}$, $u \leftarrow u - b_j u_j / B_{jj}$.

use super::likelihood::{Memory, Solved};
use super::sample::Sample;
use super::sizes::Sizes;
use crate::Penalty;
use crate::kernel::Tunable;
use crate::linalg::cholesky::Extending;
use crate::linalg::multiply;
use crate::real::{constant, count};
use crate::regression::greedy::{self, ResidualMaker};
use crate::regression::workspace::{Growing, Parts, Storage};
use crate::stats::{DEVIATION_PER_MEDIAN, ascending};
use crate::{Real, StopReason, StopRule, regression::Progress};
use alloc::vec;
use alloc::vec::Vec;

/// $R$: outliers lie within so many robust deviations of the target.
const RANGE: f64 = 12.0;
/// $\sqrt{2 \pi}$.
const ROOT_OF_CIRCLE: f64 = 2.506_628_274_631;
/// Points closer than this many deviations are never outliers.
const LEAST: f64 = 2.85;
/// What is put back must be so far inside the limit, lest it go to and fro.
const INSIDE: f64 = 0.9;
/// Part of the points that may be outliers.
const MOST: f64 = 0.45;
/// The robust deviation may be so much smaller than the usual one.
const SMALLEST: f64 = 0.05;
/// Leverage is high from so many times its mean on.
const HIGH_LEVERAGE: f64 = 1.5;

/// The limit of $|e| / d$ with `k` of `n` points out, all sizes being as likely.
fn limit<T: Real>(deviation: T, k: usize, n: usize) -> T {
    let c = constant::<T>;
    let range = (c(RANGE) / (deviation * c(ROOT_OF_CIRCLE))).max(c(1.5));
    let share = count::<T>(k + 1) / count(n + 2);
    limit_of(range * ((T::one() - share) / share))
}

/// The same for point `j`, by the `sizes` of the others that are out.
fn limit_by_size<T: Real>(deviation: T, k: usize, n: usize, sizes: &Sizes<T>, j: usize) -> T {
    let c = constant::<T>;
    let density = sizes.density(j, c(RANGE).recip());
    limit_of(count::<T>(n + 2 - k) / (c(ROOT_OF_CIRCLE) * deviation * density))
}

/// The limit where a good point at the middle of the noise has these `odds` to an outlier.
fn limit_of<T: Real>(odds: T) -> T {
    let squared = constant::<T>(2.0) * odds.max(T::one()).ln();
    squared.max(constant(LEAST * LEAST)).sqrt()
}

/// $Q$ of all points.
pub(super) struct Maker<T> {
    n: usize,
    q: Vec<T>,
}

impl<T: Real> ResidualMaker<T> for Maker<T> {
    fn len(&self) -> usize {
        self.n
    }

    fn residual(&self, v: &[T], out: &mut [T]) {
        let fits = multiply(&self.q, v, out);
        debug_assert!(fits.is_ok(), "the lengths are checked at the door");
    }

    fn column(&self, j: usize, out: &mut [T]) {
        out.copy_from_slice(&self.q[j * self.n..][..self.n]);
    }

    fn diagonal(&self, out: &mut [T], _: &mut [T]) {
        for (i, entry) in out.iter_mut().enumerate() {
            *entry = self.q[i * self.n + i];
        }
    }
}

impl<T: Real> Maker<T> {
    /// $Q$ at these parameters; none where the system cannot be solved.
    pub(super) fn new<K: Tunable<T>>(
        memory: &mut Memory<T>,
        sample: &Sample<T>,
        kernel: &K,
        lambda: T,
        penalty: Penalty,
    ) -> Option<(Self, Solved<T>)> {
        let solved = memory.solve(sample, kernel, lambda, penalty, false)?;
        let n = sample.len();
        memory.residual_maker(n, &solved)?;
        Some((Self { n, q: core::mem::take(&mut memory.matrix) }, solved))
    }

    /// The memory of $Q$ again.
    pub(super) fn give_back(self, memory: &mut Memory<T>) {
        memory.matrix = self.q;
    }
}

/// What selection needs to know beside $Q$.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<T> {
    /// The deviation that is rounding of the target, or of its digits.
    pub(super) floor: T,
    /// Whether the scale is the smaller one of the likelihood's and of the median's.
    pub(super) robust: bool,
}

/// Ends the search when no point is an outlier by its odds.
struct Odds<'a, T> {
    sample: &'a Sample<T>,
    setting: Setting<T>,
    /// The scale at the end.
    scale: T,
}

impl<T: Real> Odds<'_, T> {
    /// $s$, by the likelihood or by the median of the studentised residuals in `z`.
    fn scale(&self, energy: T, z: &mut [T], taken: &[usize]) -> T {
        let freedom = self.sample.freedom(z.len() - taken.len());
        let scale = (energy.max(T::zero()) / freedom).sqrt();
        if self.sample.has_atoms() {
            return scale.max(constant::<T>(DEVIATION_PER_MEDIAN) * self.sample.middle(z, taken));
        }
        if !self.setting.robust {
            return scale;
        }
        let middle = constant::<T>(DEVIATION_PER_MEDIAN) * self.sample.middle(z, taken);
        middle.min(scale).max(constant::<T>(SMALLEST) * scale)
    }
}

impl<T: Real> StopRule<T> for Odds<'_, T> {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        let (n, k) = (progress.residual.len(), progress.outliers.len());
        let mut energy = T::zero();
        let mut extreme = (T::zero(), T::one());
        for (i, z) in progress.scratch.iter_mut().enumerate() {
            let (r, variance) = (progress.residual[i], progress.variances[i]);
            energy = energy + r * self.sample.v[i];
            *z = r.abs() / variance.sqrt();
            if *z > extreme.0 {
                extreme = (*z, variance);
            }
        }
        self.scale = self.scale(energy, progress.scratch, progress.outliers);
        let (z, variance) = extreme;
        let deviation = (self.scale / variance.sqrt()).max(self.setting.floor);
        let error = z / variance.sqrt();
        let most = constant::<T>(MOST) * count(n);
        let done = error <= deviation * limit(deviation, k, n) || count::<T>(k + 1) > most;
        done.then_some(StopReason::Automatic)
    }

    fn studentized(&self) -> bool {
        true
    }
}

/// The support at these parameters, from the points `known` on: outliers are
/// taken out, and what agrees after all is put back.
pub(super) fn select<T: Real>(
    maker: &Maker<T>,
    sample: &Sample<T>,
    known: &[usize],
    setting: Setting<T>,
) -> Option<Vec<usize>> {
    let mut rule = Odds { sample, setting, scale: T::one() };
    let mut storage = Growing::new(sample.len(), known.len());
    let (k, _) = greedy::search(maker, &sample.v, known, &mut rule, &mut storage).ok()?;
    storage.indices.truncate(k);
    if k == 0 {
        return Some(vec![]);
    }
    let mut removed = Removed::new(&mut storage, sample, setting, rule.scale)?;
    removed.put_back(Order::Closest, constant(INSIDE));
    Some(removed.left())
}

/// A second look: points of high leverage are taken out as well, and what
/// agrees with the others is put back, the surest prediction first.
pub(super) fn second_look<T: Real>(
    maker: &Maker<T>,
    sample: &Sample<T>,
    support: &[usize],
    setting: Setting<T>,
) -> Option<Vec<usize>> {
    let n = sample.len();
    let mut storage = Growing::new(n, support.len());
    greedy::with_support(maker, &sample.v, support, true, &mut storage).ok()?;
    let mut inside: Vec<(T, usize)> =
        (0..n).filter(|i| !support.contains(i)).map(|i| (storage.variances[i], i)).collect();
    // The least of all Q_ii has the highest leverage; its mean is the mean of 1 - lambda Q_ii.
    inside.sort_by(|a, b| ascending(&a.0, &b.0));
    let mean = inside.iter().fold(T::zero(), |s, x| s + x.0) / count(inside.len().max(1));
    let largest = inside.last()?.0;
    // Leverage 1 - Q_ii / max Q_ii stands in for 1 - lambda Q_ii.
    let high = constant::<T>(HIGH_LEVERAGE) * (T::one() - mean / largest);
    let most = (n / 2).saturating_sub(support.len());
    let mut out = support.to_vec();
    out.extend(inside.iter().filter(|x| T::one() - x.0 / largest > high).map(|x| x.1).take(most));
    if out.is_empty() {
        return None;
    }
    let mut storage = Growing::new(n, out.len());
    greedy::with_support(maker, &sample.v, &out, true, &mut storage).ok()?;
    let mut z: Vec<T> =
        storage.residual.iter().zip(&storage.variances).map(|(r, v)| r.abs() / v.sqrt()).collect();
    let energy = inner(&storage.residual, &sample.v);
    let rule = Odds { sample, setting, scale: T::one() };
    let scale = rule.scale(energy, &mut z, &out);
    let mut removed = Removed::new(&mut storage, sample, setting, scale)?;
    removed.put_back(Order::Surest, T::one());
    Some(removed.left())
}

fn inner<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |s, (&a, &b)| s + a * b)
}

/// In which order points are put back.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// The least error for its limit first.
    Closest,
    /// The least variance first.
    Surest,
}

/// Points that are taken out, as the others see them.
struct Removed<T> {
    indices: Vec<usize>,
    is_out: Vec<bool>,
    /// $u$: the errors of their predictions.
    u: Vec<T>,
    /// $B$: the covariance of these errors, in units of $s^2$.
    b: Vec<T>,
    n: usize,
    scale: T,
    floor: T,
}

impl<T: Real> Removed<T> {
    fn new(
        storage: &mut Growing<T>,
        sample: &Sample<T>,
        setting: Setting<T>,
        scale: T,
    ) -> Option<Self> {
        let n = sample.len();
        let Parts { values, factor, indices, .. } = storage.parts();
        let k = indices.len();
        let mut b = vec![T::zero(); k * k];
        for (j, column) in b.chunks_exact_mut(k.max(1)).enumerate() {
            column[j] = T::one();
            Extending::resume(factor, k).solve(column).ok()?;
        }
        Some(Self {
            indices: indices.to_vec(),
            is_out: vec![true; k],
            u: values.to_vec(),
            b,
            n,
            scale,
            floor: setting.floor,
        })
    }

    /// Puts back all points whose error is within `inside` of its limit.
    fn put_back(&mut self, order: Order, inside: T) {
        let k = self.indices.len();
        let mut out = k;
        // Of points that are out for their leverage, most are good, of no size to learn from.
        let mut sizes = (order == Order::Closest).then(|| Sizes::new(&self.u));
        loop {
            let mut best: Option<(T, usize)> = None;
            for j in (0..k).filter(|&j| self.is_out[j]) {
                let variance = self.b[j * k + j];
                let deviation = (self.scale * variance.sqrt()).max(self.floor);
                let limit = match &sizes {
                    Some(sizes) => limit_by_size(deviation, out, self.n, sizes, j),
                    None => limit(deviation, out, self.n),
                };
                let excess = self.u[j].abs() / (deviation * limit);
                let key = if order == Order::Surest { variance } else { excess };
                if excess < inside && best.is_none_or(|(least, _)| key < least) {
                    best = Some((key, j));
                }
            }
            let Some((_, j)) = best else { break };
            self.sweep(j);
            if let Some(sizes) = &mut sizes {
                sizes.put_back(j);
            }
            out -= 1;
        }
    }

    fn sweep(&mut self, j: usize) {
        let k = self.indices.len();
        let column = self.b[j * k..][..k].to_vec();
        let (error, variance) = (self.u[j], column[j]);
        for (i, &b_i) in column.iter().enumerate() {
            self.u[i] = self.u[i] - b_i * error / variance;
            for (x, &b_j) in self.b[i * k..][..k].iter_mut().zip(&column) {
                *x = *x - b_i * b_j / variance;
            }
        }
        self.is_out[j] = false;
    }

    /// What is still out, ascending.
    fn left(&self) -> Vec<usize> {
        let left = self.indices.iter().zip(&self.is_out).filter(|&(_, &out)| out);
        let mut left: Vec<usize> = left.map(|(&i, _)| i).collect();
        left.sort_unstable();
        left
    }
}
