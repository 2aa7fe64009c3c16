//! One point of a line and all that is known of it.

use super::message::{Left, Right, Sample};
use crate::Real;

/// Where a list of points ends.
pub(super) const NONE: u32 = u32::MAX;

/// A position as it is kept; the door has checked that it fits.
#[allow(clippy::cast_possible_truncation)]
pub(super) const fn position(i: usize) -> u32 {
    i as u32
}

/// One point of a line: the sample, the two messages that arrive at it, and
/// what follows from them. Memory of a fit, for
/// [`LineRef`](super::LineRef); its content is private.
///
/// `G` is [`Markov::Gap`](super::Markov::Gap), `D` the number of states and `B`
/// that of unpenalised columns.
///
/// What every search of a block looks at comes first and is one line of a cache, about.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Cell<T, G, const D: usize, const B: usize> {
    /// Of $y$ without a bias, divided by $s_i$. Zero if the point is not in the
    /// list; then, in the end, the prediction of it.
    pub(super) residual: T,
    /// The same for each of the unpenalised columns.
    pub(super) basis_residual: [T; B],
    /// $H_{ii}$ without a bias. In the end, for a point not in the list, the
    /// variance of its prediction.
    pub(super) diagonal: T,
    pub(super) x: T,
    pub(super) y: T,
    /// The standard deviation $s_i$ of the noise, relative to that of the others.
    pub(super) deviation: T,
    /// Neighbours in the list of points that are in.
    pub(super) previous: u32,
    pub(super) next: u32,
    /// The number of the point in the caller's order.
    pub(super) index: u32,
    /// Where its score is counted.
    pub(super) bin: u16,
    pub(super) role: Role,
    /// The distance from the point before it in the list.
    pub(super) gap: G,
    pub(super) left: Left<T, D, B>,
    pub(super) right: Right<T, D, B>,
}

/// What a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A sample that is in.
    Sample,
    /// One that was taken out.
    Outlier,
    /// There is no measurement.
    Missing,
}

impl<T: Real, G: Default, const D: usize, const B: usize> Default for Cell<T, G, D, B> {
    fn default() -> Self {
        let zero = T::zero();
        Self {
            x: zero,
            y: zero,
            deviation: T::one(),
            gap: G::default(),
            left: Left::prior([[zero; D]; D]),
            right: Right::nothing(),
            residual: zero,
            basis_residual: [zero; B],
            diagonal: zero,
            previous: NONE,
            next: NONE,
            index: 0,
            bin: 0,
            role: Role::Missing,
        }
    }
}

impl<T: Real, G, const D: usize, const B: usize> Cell<T, G, D, B> {
    pub(super) fn is_in(&self) -> bool {
        self.role == Role::Sample
    }

    /// The sample, for noise of variance `lambda`.
    #[inline(always)]
    pub(super) fn sample(&self, lambda: T, basis: &Basis<T, B>) -> Sample<T, B> {
        Sample {
            y: self.y,
            basis: basis.at(self.x),
            noise: lambda * self.deviation * self.deviation,
        }
    }
}

/// The part of the function that costs nothing: nothing (`B` = 0), a bias (1),
/// a bias and a slope (2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Basis<T, const B: usize> {
    /// The middle of the points, and half of their extent.
    pub(super) middle: T,
    pub(super) half: T,
}

impl<T: Real, const B: usize> Basis<T, B> {
    /// For points from `first` to `last`.
    pub(super) fn new(first: T, last: T) -> Self {
        let half = (last - first) / (T::one() + T::one());
        let one = T::one();
        Self { middle: first + half, half: if half > T::zero() { half } else { one } }
    }

    /// $(1, (x - m) / h)$, as far as there are columns.
    #[inline(always)]
    pub(super) fn at(&self, x: T) -> [T; B] {
        core::array::from_fn(|b| if b == 0 { T::one() } else { (x - self.middle) / self.half })
    }
}
