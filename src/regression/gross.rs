//! Gross values leave no trace.
//!
//! What is fitted with a support $S$ taken out does not depend on the values
//! of $y$ at $S$: with $v = y$ elsewhere and *any* values at $S$,
//!
//! $$ r = H v - W L^{-1} (H v)_S, \qquad f(x_S) = v_S - L^{-T} L^{-1} (H v)_S . $$
//!
//! What does depend on them is rounding: $r$ carries errors of
//! $\epsilon \max |v|$, and a value of $10^{12}$ that has long been taken out
//! still leaves its own. Then the values at $S$ are limited to the range of all
//! others, and $r$ is computed anew:
//!
//! * during the search, when the next selection would be made for less than
//!   $\sqrt\epsilon \max |v|$, that is with less than half of the digits;
//! * at its end, when $\max |v|$ was more than $\sqrt n$ times what it has to
//!   be. Rounding in sums of $n$ terms is that large anyway.
//!
//! Numbers beyond $2^{\pm 32}$ are taken in units of a power of two, which
//! changes no digit: neither sums nor squares overflow or vanish.

use super::greedy::{self, ResidualMaker};
use super::workspace::{Parts, Storage};
use crate::linalg::cholesky::Extending;
use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::vector::subtract_combination;
use crate::real::{constant, count};
use crate::{Error, Real};

/// The data are taken as they are up to this size, and down to its reciprocal:
/// their squares are ordinary numbers in `f32`, and so are the squares of
/// residuals that are smaller by its precision.
const ORDINARY: f64 = 4_294_967_296.0;

/// What the residual of a search was last computed from.
#[derive(Debug)]
pub(crate) struct Origin<'y, T> {
    y: &'y [T],
    /// Of the residual and all that follows from it: a power of two.
    unit: T,
    /// $\max |v|$.
    reach: T,
    /// Selections for less than this would be made by rounding errors; in
    /// units.
    spent: T,
    /// The first so many outliers had their values limited ...
    limited: usize,
    /// ... to this range.
    range: (T, T),
}

impl<'y, T: Real> Origin<'y, T> {
    /// $r = H y$, after the check at the door.
    pub(crate) fn start(
        maker: &impl ResidualMaker<T>,
        y: &'y [T],
        storage: &mut impl Storage<T>,
    ) -> Result<Self, Error> {
        greedy::check(maker, y, storage)?;
        let reach = y.iter().fold(T::zero(), |max, y| if y.abs() > max { y.abs() } else { max });
        let mut origin = Self {
            y,
            unit: T::one(),
            reach: T::zero(),
            spent: T::zero(),
            limited: 0,
            range: (T::zero(), T::zero()),
        };
        origin.set_reach(reach);
        let Parts { residual, columns, .. } = storage.parts();
        if origin.unit == T::one() {
            maker.residual(y, residual);
        } else {
            let v = &mut columns[..y.len()];
            for (v, &y) in v.iter_mut().zip(y) {
                *v = y / origin.unit;
            }
            maker.residual(v, residual);
        }
        Ok(origin)
    }

    fn set_reach(&mut self, reach: T) {
        self.reach = reach;
        self.unit = unit(reach);
        self.spent = T::epsilon().sqrt() * (reach / self.unit);
    }

    /// Whether a selection for `extreme` takes a fresh residual.
    pub(crate) fn is_spent(&self, extreme: T) -> bool {
        extreme < self.spent
    }

    /// Computes the residual anew if $\max |v|$ falls below one part in
    /// `factor` by that; false if it does not.
    pub(crate) fn renew(
        &mut self,
        maker: &impl ResidualMaker<T>,
        k: usize,
        factor: T,
        storage: &mut impl Storage<T>,
    ) -> bool {
        let Parts { residual, values, factor: l, columns, indices, .. } = storage.parts();
        let n = residual.len();
        let (found, rest) = columns.split_at_mut(k * n);
        let v = &mut rest[..n];
        let support = &indices[..k];
        v.copy_from_slice(self.y);
        for &j in support {
            v[j] = T::nan();
        }
        // What is no number is neither below nor above.
        let (mut low, mut high) = (T::infinity(), T::neg_infinity());
        for &v in &*v {
            low = if v < low { v } else { low };
            high = if v > high { v } else { high };
        }
        let reach = low.abs().max(high.abs());
        if !(reach * factor < self.reach) {
            return false;
        }
        self.range = (low, high);
        self.limited = k;
        self.set_reach(reach);
        for &j in support {
            v[j] = self.limit(self.y[j]);
        }
        if self.unit != T::one() {
            for v in &mut *v {
                *v = *v / self.unit;
            }
        }
        maker.residual(v, residual);
        let values = &mut values[..k];
        for (value, &j) in values.iter_mut().zip(support) {
            *value = residual[j];
        }
        Extending::resume(l, k).solve_lower(values);
        dispatch(TakeOut { residual, values, found });
        for &j in support {
            residual[j] = T::zero();
        }
        true
    }

    fn limit(&self, y: T) -> T {
        let (low, high) = self.range;
        y.max(low).min(high)
    }

    /// Shows the residual, and what the next point is chosen for, in units of
    /// the data.
    pub(crate) fn show<R>(
        &self,
        residual: &mut [T],
        extreme: T,
        look: impl FnOnce(&[T], T) -> R,
    ) -> R {
        // Where a residual is beyond all numbers, its size does not matter.
        if self.unit == T::one() || !(extreme * self.unit).is_finite() {
            return look(residual, extreme);
        }
        scale(residual, |r| r * self.unit);
        let seen = look(residual, extreme * self.unit);
        scale(residual, |r| r / self.unit);
        seen
    }

    /// After the search: the residual in units of the data, and the fitted
    /// values $f(x_S)$ at the outliers in place of their values.
    pub(crate) fn finish(
        mut self,
        maker: &impl ResidualMaker<T>,
        k: usize,
        storage: &mut impl Storage<T>,
    ) -> Result<(), Error> {
        self.renew(maker, k, count::<T>(self.y.len()).sqrt(), storage);
        let mut parts = storage.parts();
        greedy::solve_outliers(k, &mut parts);
        let Parts { residual, values, indices, .. } = parts;
        for (i, (value, &j)) in values[..k].iter_mut().zip(&*indices).enumerate() {
            let v = if i < self.limited { self.limit(self.y[j]) } else { self.y[j] };
            *value = (v / self.unit - *value) * self.unit;
        }
        if self.unit != T::one() {
            scale(residual, |r| r * self.unit);
        }
        let off = values[..k].iter().zip(&*indices).map(|(&f, &j)| self.y[j] - f);
        if residual.iter().copied().chain(off).all(|x| x.is_finite()) {
            Ok(())
        } else {
            Err(Error::Overflow { what: "the residual" })
        }
    }
}

/// The power of two that brings `reach` to an ordinary size; one where it is.
fn unit<T: Real>(reach: T) -> T {
    let step = constant::<T>(ORDINARY);
    let mut unit = T::one();
    while reach > unit * step {
        unit = unit * step;
    }
    while reach > T::zero() && reach < unit / step {
        unit = unit / step;
    }
    unit
}

/// Whether a search that never computed the residual anew should have done so.
#[cfg(feature = "gpu")]
pub(crate) fn leaves_traces<T: Real>(y: &[T], outliers: &[super::Outlier<T>]) -> bool {
    let mut is_out = alloc::vec![false; y.len()];
    for outlier in outliers {
        is_out[outlier.index] = true;
    }
    let largest = |max: T, y: &T| max.max(y.abs());
    let reach = y.iter().fold(T::zero(), largest);
    let inside = y.iter().zip(is_out).filter(|(_, is_out)| !is_out).map(|(y, _)| y);
    let needed = inside.fold(T::zero(), largest);
    unit(reach) != T::one() || needed * count::<T>(y.len()).sqrt() < reach
}

fn scale<T: Real>(residual: &mut [T], of: impl Fn(T) -> T) {
    for r in residual {
        *r = of(*r);
    }
}

/// $r \leftarrow r - W z$, several outliers at once.
struct TakeOut<'a, T> {
    residual: &'a mut [T],
    values: &'a [T],
    found: &'a [T],
}

impl<T: Real> Routine for TakeOut<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        subtract_combination::<T, FUSED>(self.residual, self.values, self.found);
    }
}
