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
use crate::checked::{copy, entry, piece, piece_mut, set, split_mut};
use crate::linalg::cholesky::Extending;
use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::vector::{max_magnitude, subtract_combination};
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
    /// Selections for less than the root of this would be made with less than
    /// half of the digits; in units.
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
        let mut origin = Self {
            y,
            unit: T::one(),
            reach: T::zero(),
            spent: T::zero(),
            limited: 0,
            range: (T::zero(), T::zero()),
        };
        origin.set_reach(max_magnitude(y));
        let Parts { residual, columns, .. } = storage.parts();
        let v = if origin.unit == T::one() {
            y
        } else {
            let v = piece_mut(columns, 0, y.len());
            copy(v, y);
            change_units(v, origin.unit, T::div);
            v
        };
        maker.residual(v, residual);
        Ok(origin)
    }

    fn set_reach(&mut self, reach: T) {
        self.reach = reach;
        self.unit = unit(reach);
        let reach = reach / self.unit;
        self.spent = T::epsilon() * reach * reach;
    }

    /// Whether a selection for `extreme` takes a fresh residual.
    pub(crate) fn is_spent(&self, extreme: T) -> bool {
        extreme * extreme < self.spent
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
        let parts = storage.parts();
        let support = piece(parts.indices, 0, k);
        let least = self.reach / factor;
        let is_large = |(i, y): (usize, &T)| y.abs() >= least && !support.contains(&i);
        // Of ordinary data one of the first is.
        if k == self.y.len() || self.y.iter().enumerate().any(is_large) {
            return false;
        }
        self.compute(maker, k, storage);
        true
    }

    /// Computes the residual from data in which the outliers are limited to the
    /// range of the others.
    #[cold]
    #[inline(never)]
    fn compute(&mut self, maker: &impl ResidualMaker<T>, k: usize, storage: &mut impl Storage<T>) {
        let Parts { residual, values, factor, columns, indices, .. } = storage.parts();
        let n = residual.len();
        let (found, rest) = split_mut(columns, k * n);
        let v = piece_mut(rest, 0, n);
        let support = piece(indices, 0, k);
        copy(v, self.y);
        for &j in support {
            set(v, j, T::nan());
        }
        // What is no number is neither below nor above.
        let (mut low, mut high) = (T::infinity(), T::neg_infinity());
        for &v in &*v {
            low = if v < low { v } else { low };
            high = if v > high { v } else { high };
        }
        self.set_reach(if low.abs() > high.abs() { low.abs() } else { high.abs() });
        self.range = (low, high);
        self.limited = k;
        for &j in support {
            set(v, j, self.limit(entry(self.y, j)));
        }
        if self.unit != T::one() {
            change_units(v, self.unit, T::div);
        }
        maker.residual(v, residual);
        let values = piece_mut(values, 0, k);
        for (value, &j) in values.iter_mut().zip(support) {
            *value = entry(residual, j);
        }
        Extending::resume(factor, k).solve_lower(values);
        dispatch(TakeOut { residual, values, found });
        for &j in support {
            set(residual, j, T::zero());
        }
    }

    fn limit(&self, y: T) -> T {
        let (low, high) = self.range;
        // By comparisons: `max` is a function call on small processors.
        if y < low {
            low
        } else if y > high {
            high
        } else {
            y
        }
    }

    /// What the residual is multiplied with to be in units of the data; one
    /// where that is beyond all numbers, and its size does not matter.
    pub(crate) fn unit_for(&self, extreme: T) -> T {
        if (extreme * self.unit).is_finite() { self.unit } else { T::one() }
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
        let values = piece_mut(values, 0, k);
        for (i, (value, &j)) in values.iter_mut().zip(&*indices).enumerate() {
            let y = entry(self.y, j);
            let v = if i < self.limited { self.limit(y) } else { y };
            *value = (v / self.unit - *value) * self.unit;
        }
        let mut fits =
            values.iter().zip(&*indices).all(|(&f, &j)| (entry(self.y, j) - f).is_finite());
        if self.unit != T::one() {
            change_units(residual, self.unit, T::mul);
            fits = fits && residual.iter().all(|r| r.is_finite());
        }
        if fits { Ok(()) } else { Err(Error::Overflow { what: "the residual" }) }
    }
}

/// The power of two that brings `reach` to an ordinary size; one where it is.
pub(super) fn unit<T: Real>(reach: T) -> T {
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

/// Multiplies or divides by a unit.
#[cold]
#[inline(never)]
pub(crate) fn change_units<T: Real>(values: &mut [T], unit: T, change: impl Fn(T, T) -> T) {
    for value in values {
        *value = change(*value, unit);
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
