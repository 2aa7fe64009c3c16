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

use crate::linalg::cholesky::{self, factor_scratch_len, invert_scratch_len};
use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::vector::{add_scaled, dot};
use crate::linalg::{multiply, self_product, self_product_scratch_len, zeros};
use crate::parallel::each;
use crate::real::{constant, count};
use crate::regression::removal::Removal;
use crate::regression::stop::{
    Progress, StopReason, StopRule, Summary, TAIL, common_step, extreme_deviation, has_repeats,
    least_noise_of, usual_tail,
};
use crate::stats::{DEVIATION_PER_MEDIAN, median, nth_smallest};
use crate::{Error, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Points that a thread works on at a time.
const CHUNK: usize = 1024;
/// Points of a block, which has one bound.
const BLOCK: usize = 128;
/// The least $\rho$ that bounds are made for.
const LEAST_SHRINK: f64 = 0.5;
/// What a factorisation tries to prove when $\rho$ falls below that.
const PROVEN_SHRINK: f64 = 0.75;

/// The rows of a model, and what all points together make of them.
#[derive(Debug, Clone)]
pub(super) struct Normal<T> {
    /// $A$, all of it.
    matrix: Vec<T>,
    inverse: Vec<T>,
    leverages: Vec<T>,
}

impl<T: Real> Normal<T> {
    /// For `rows` of `width` entries each, the last of which is not penalised.
    pub(super) fn new(rows: &[T], width: usize, lambda: T) -> Result<Self, Error> {
        let mut matrix = zeros(width.saturating_mul(width))?;
        let mut panel = vec![T::zero(); CHUNK * width];
        let mut scratch = vec![T::zero(); self_product_scratch_len::<T>(CHUNK)];
        for rows in rows.chunks(CHUNK * width) {
            let depth = rows.len() / width;
            for (i, row) in rows.chunks_exact(width).enumerate() {
                for (j, &entry) in row.iter().enumerate() {
                    panel[j * depth + i] = entry;
                }
            }
            self_product(&panel[..depth * width], width, &mut matrix, &mut scratch)?;
        }
        for i in 0..width - 1 {
            matrix[i * width + i] = matrix[i * width + i] + lambda;
        }
        crate::linalg::mirror_lower(&mut matrix, width);
        let (inverse, leverages) = inverse_and_leverages(&matrix, rows, width)?;
        Ok(Self { matrix, inverse, leverages })
    }
}

/// $A^{-1}$, and $g_i^T A^{-1} g_i$ of all rows.
fn inverse_and_leverages<T: Real>(
    matrix: &[T],
    rows: &[T],
    width: usize,
) -> Result<(Vec<T>, Vec<T>), Error> {
    let mut factor = matrix.to_vec();
    let mut scratch =
        vec![T::zero(); factor_scratch_len::<T>(width).max(invert_scratch_len::<T>(width))];
    cholesky::factor(&mut factor, width, &mut scratch)?;
    let leverages = each(rows.chunks(CHUNK * width), |rows| {
        let mut z = vec![T::zero(); width];
        let mut leverages = Vec::with_capacity(rows.len() / width);
        for row in rows.chunks_exact(width) {
            z.copy_from_slice(row);
            cholesky::forward(&factor, &mut z, 0);
            leverages.push(inner(&z, &z));
        }
        leverages
    });
    cholesky::invert(&mut factor, width, &mut scratch)?;
    Ok((factor, leverages.concat()))
}

/// Points that leave one after the other.
#[derive(Debug)]
pub(super) struct Search<'a, T> {
    rows: &'a [T],
    width: usize,
    lambda: T,
    /// The data as given, and in the units of the search.
    y: &'a [T],
    pub(super) units: Units<T>,
    values: Vec<T>,
    matrix: Vec<T>,
    pub(super) inverse: Vec<T>,
    pub(super) theta: Vec<T>,
    /// $r^T r + \lambda \lVert \beta \rVert^2$.
    pub(super) objective: T,
    is_out: Vec<bool>,
    pub(super) support: Vec<usize>,
    /// Points that are in.
    left: usize,
    known: Known<T>,
    studentized: bool,
    /// Whether the resolution of the data may matter.
    coarse: bool,
    /// Residuals computed since all were.
    computed: usize,
    /// Removals since the inverse was.
    updates: usize,
    /// The largest of the values when the residuals were computed.
    size: T,
    /// Upper bound of the noise's scale, when last computed.
    scale: T,
    notes: Notes<T>,
}

/// What was computed for all points, and how far it holds.
#[derive(Debug)]
struct Known<T> {
    theta: Vec<T>,
    residual: Vec<T>,
    /// $\lVert \theta - \theta_0 \rVert_{A_0}$.
    distance: T,
    matrix: Vec<T>,
    /// $\sqrt{h_{i0}}$.
    reach: Vec<T>,
    /// Upper bound of $1 / \sqrt{H_{ii}}$, while $\rho$ is not below its least.
    weight: Vec<T>,
    shrink: T,
    /// The largest $\lvert r_{i0} \rvert$ and $\sqrt{h_{i0}}$ of a block, weighted.
    blocks: Vec<(T, T)>,
}

/// What rules look at that look at all residuals.
#[derive(Debug)]
struct Notes<T> {
    residual: Vec<T>,
    variances: Vec<T>,
    scratch: Vec<T>,
}

impl<T> Notes<T> {
    fn empty() -> Self {
        Self { residual: Vec::new(), variances: Vec::new(), scratch: Vec::new() }
    }
}

/// The units of a search: $v = (y - c) / s$, cut off where rounding would
/// carry a gross value into the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units<T> {
    pub(super) centre: T,
    pub(super) scale: T,
}

impl<T: Real> Units<T> {
    /// Median and median deviation; where that is zero a higher quantile's.
    fn of(y: &[T]) -> Self {
        let mut sorted = y.to_vec();
        let centre = median(&mut sorted, 0);
        let half = constant::<T>(0.5);
        for (deviation, &y) in sorted.iter_mut().zip(y) {
            // Halves, so that the difference is a number.
            *deviation = (y * half - centre * half).abs();
        }
        let n = y.len();
        let ranks = [n / 2, n - 1 - n / 4, n - 1 - n / 10, n - 1 - n / 100, n - 1];
        let quantiles = ranks.map(|rank| nth_smallest(&mut sorted, rank));
        let scale = quantiles.into_iter().find(|&s| s > T::zero()).unwrap_or_else(T::one);
        Self { centre, scale: scale.min(T::max_value() * constant(0.25)) / half }
    }

    fn apply(&self, y: T) -> T {
        let half = constant::<T>(0.5);
        let v = (y * half - self.centre * half) / (self.scale * half);
        let most = T::epsilon().sqrt().recip();
        v.max(-most).min(most)
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

    fn row(&self, i: usize) -> &'a [T] {
        &self.rows[i * self.width..][..self.width]
    }

    /// The residual of point `i`, in the units of the search.
    fn residual(&self, i: usize) -> T {
        self.values[i] - inner(self.row(i), &self.theta)
    }

    /// $H_{ii}$.
    fn variance(&self, i: usize, scratch: &mut [T]) -> T {
        let row = self.row(i);
        self.times_inverse(row, scratch);
        (T::one() - inner(row, scratch)).max(T::epsilon())
    }

    fn times_inverse(&self, row: &[T], out: &mut [T]) {
        let done = multiply(&self.inverse, row, out);
        debug_assert!(done.is_ok());
    }

    /// Takes these leverages, of the present matrix, as known.
    fn know_leverages(&mut self, leverages: &[T]) {
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
    fn renew_leverages(&mut self) {
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
    fn renew(&mut self) {
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
    fn penalty(&self) -> T {
        let beta = &self.theta[..self.width - 1];
        self.lambda * inner(beta, beta)
    }

    /// The largest score of all points and where it is, none if all are zero; and
    /// how many residuals that took.
    fn find(&self, studentized: bool) -> (Option<usize>, T, usize) {
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
    fn find_in(
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
    fn take_out(&mut self, j: usize) -> bool {
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
    fn is_at_least(&self, shrink: T) -> bool {
        let pairs = self.matrix.iter().zip(&self.known.matrix);
        let mut difference: Vec<T> = pairs.map(|(&a, &known)| a - shrink * known).collect();
        let mut scratch = vec![T::zero(); factor_scratch_len::<T>(self.width)];
        cholesky::factor(&mut difference, self.width, &mut scratch).is_ok()
    }

    /// Bounds of the studentised residuals of the points that are in.
    fn bounds(&self) -> impl Iterator<Item = (T, T)> + '_ {
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

    /// The automatic rule ([`Stop::automatic`](crate::Stop::automatic)): no studentised
    /// residual stands out from the noise. `largest` is the largest of them.
    fn is_clean(&mut self, largest: T) -> bool {
        let (n, left) = (self.y.len(), self.left);
        // With half of the points gone the median means nothing any more.
        if 2 * left <= n {
            return true;
        }
        let least = least_noise_of(self.size, self.penalty(), n);
        let clean = 'decided: {
            if self.stands_out(largest, least) {
                break 'decided false;
            }
            for attempt in 0..3 {
                match attempt {
                    0 => {}
                    1 => self.renew(),
                    _ => self.renew_leverages(),
                }
                if let Some(clean) = self.decide(largest, least) {
                    break 'decided clean;
                }
            }
            true
        };
        clean || self.coarse && self.is_last_digit(largest)
    }

    /// Whether the largest residual or the tail is surely too much, with what is
    /// known of the scale.
    fn stands_out(&self, largest: T, least: T) -> bool {
        let left = self.left;
        let per = constant::<T>(DEVIATION_PER_MEDIAN);
        let tail = constant::<T>(TAIL);
        let by_largest = largest / extreme_deviation(left);
        let scale = self.scale * constant(1.01);
        let (mut below_largest, mut below_scale, mut beyond) = (0, 0, 0);
        let Known { residual, reach, weight, distance, .. } = &self.known;
        for i in (0..residual.len()).filter(|&i| !self.is_out[i]) {
            let (r, by) = (residual[i].abs(), reach[i] * *distance);
            let most = (r + by) * weight[i] * per;
            below_largest += usize::from(most < by_largest);
            below_scale += usize::from(most < scale);
            beyond += usize::from(r - by > scale * tail);
        }
        let half = left / 2;
        let tail_is_heavy =
            below_scale > half && least < scale && count::<T>(beyond) > usual_tail(left);
        below_largest > half && least < by_largest || tail_is_heavy
    }

    /// The same from bounds of all residuals; none where they leave it open.
    fn decide(&mut self, largest: T, least: T) -> Option<bool> {
        let left = self.left;
        let (mut low, mut high): (Vec<T>, Vec<T>) = self.bounds().unzip();
        let per = constant::<T>(DEVIATION_PER_MEDIAN);
        let scale_low = (per * median(&mut low, 0)).max(least);
        let scale_high = (per * median(&mut high, 0)).max(least);
        self.scale = scale_high;
        let (limit, tail) = (extreme_deviation::<T>(left), constant::<T>(TAIL));
        let beyond = |scores: &[T], scale: T| {
            count::<T>(scores.iter().filter(|&&z| z > scale * tail).count())
        };
        let allowed = usual_tail(left);
        if largest > scale_high * limit || beyond(&low, scale_high) > allowed {
            return Some(false);
        }
        let quiet = largest <= scale_low * limit && beyond(&high, scale_low) <= allowed;
        quiet.then_some(true)
    }

    /// Whether nothing stands out from noise of half of the data's resolution.
    fn is_last_digit(&mut self, largest: T) -> bool {
        let left = self.left;
        let needed = largest / extreme_deviation(left) * self.units.scale;
        let within = || self.y.iter().zip(&self.is_out).filter(|(_, out)| !**out).map(|(&y, _)| y);
        let size = within().fold(T::zero(), |size, y| size.max(y.abs()));
        let two = constant::<T>(2.0);
        let step = common_step(within(), size, two * needed * (T::one() - T::epsilon())) / two;
        if !(step > T::zero() && step >= needed) {
            return false;
        }
        self.renew_leverages();
        let step = step / self.units.scale;
        let (low, _): (Vec<T>, Vec<T>) = self.bounds().unzip();
        let mut sorted = low.clone();
        let scale = constant::<T>(DEVIATION_PER_MEDIAN) * median(&mut sorted, 0);
        let beyond = low.iter().filter(|&&z| z > step * constant(TAIL)).count();
        step > scale && count::<T>(beyond) <= usual_tail(left)
    }

    /// All residuals, their variances if they are asked for, in the units of the data.
    fn write_notes(&mut self) {
        if self.studentized {
            self.renew_leverages();
        } else {
            self.renew();
        }
        let Self { known, notes, units, .. } = self;
        let Notes { residual, variances, scratch } = notes;
        residual.clear();
        residual.extend(known.residual.iter().map(|&r| r * units.scale));
        scratch.resize(residual.len(), T::zero());
        variances.clear();
        if self.studentized {
            let variance = |&h: &T| (T::one() - h * h).max(T::epsilon());
            variances.extend(known.reach.iter().map(variance));
        }
    }

    /// After the search: residuals of all points in the units of the data, zero at
    /// the outliers, from data without them.
    pub(super) fn finish(&mut self) -> Vec<T> {
        self.renew();
        let scale = self.units.scale;
        self.known.residual.iter().map(|&r| r * scale).collect()
    }
}

impl<T: Real> Removal<T> for Search<'_, T> {
    fn len(&self) -> usize {
        self.y.len()
    }

    fn removed(&self) -> usize {
        self.y.len() - self.left
    }

    fn next(&mut self) -> (Option<usize>, T) {
        if self.computed > self.y.len() || self.updates > self.width {
            self.renew();
        }
        loop {
            let (j, extreme, computed) = self.find(self.studentized);
            self.computed += computed;
            // What gross values left of rounding is no residual: they have left.
            let spent = T::epsilon().sqrt() * self.size;
            let size = self.size;
            if extreme < spent && self.known.distance > T::zero() {
                self.renew();
                if self.size < size {
                    continue;
                }
            }
            return (j, extreme);
        }
    }

    fn check(&mut self, extreme: T, rule: &mut impl StopRule<T>) -> Option<StopReason> {
        let looks = rule.looks_at_residuals();
        if looks {
            self.write_notes();
        }
        let mut notes = core::mem::replace(&mut self.notes, Notes::empty());
        let (data, scale) = (self.y, self.units.scale);
        let support = core::mem::take(&mut self.support);
        let met = {
            let mut summary = Kept { search: self, largest: extreme };
            rule.check(&mut Progress {
                residual: if looks { &notes.residual } else { &[] },
                variances: if looks { &notes.variances } else { &[] },
                outliers: &support,
                extreme: extreme * scale,
                data,
                scratch: &mut notes.scratch,
                summary: Some(&mut summary),
            })
        };
        self.support = support;
        self.notes = notes;
        met
    }

    fn reserve(&mut self) -> bool {
        true
    }

    fn remove(&mut self, j: usize) -> bool {
        self.take_out(j)
    }
}

/// A [`Summary`] of a search.
#[derive(Debug)]
struct Kept<'s, 'a, T> {
    search: &'s mut Search<'a, T>,
    largest: T,
}

impl<T: Real> Summary<T> for Kept<'_, '_, T> {
    fn norm(&self) -> T {
        let Search { objective, units, .. } = &*self.search;
        (*objective - self.search.penalty()).max(T::zero()).sqrt() * units.scale
    }

    fn max(&self) -> T {
        let largest =
            if self.search.studentized { self.search.find(false).1 } else { self.largest };
        largest * self.search.units.scale
    }

    fn is_clean(&mut self) -> bool {
        self.search.is_clean(self.largest)
    }
}

/// Inner product of two rows.
pub(super) fn inner<T: Real>(a: &[T], b: &[T]) -> T {
    struct Inner<'a, T>(&'a [T], &'a [T]);
    impl<T: Real> Routine for Inner<'_, T> {
        type Output = T;
        #[inline(always)]
        fn run<const FUSED: bool>(self) -> T {
            dot::<T, FUSED>(self.0, self.1)
        }
    }
    dispatch(Inner(a, b))
}

/// `sum` $+$ `factor` $\cdot$ `row`.
struct Add<'a, T> {
    sum: &'a mut [T],
    factor: T,
    row: &'a [T],
}

impl<T: Real> Routine for Add<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        add_scaled::<T, FUSED>(self.sum, self.factor, self.row);
    }
}

/// A symmetric matrix plus `factor` times the row's product with itself.
struct Rank1<'a, T> {
    matrix: &'a mut [T],
    factor: T,
    row: &'a [T],
}

impl<T: Real> Routine for Rank1<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let rows = self.matrix.chunks_exact_mut(self.row.len());
        for (line, &entry) in rows.zip(self.row) {
            add_scaled::<T, FUSED>(line, self.factor * entry, self.row);
        }
    }
}
