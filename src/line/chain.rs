//! The points that are in, as a list from left to right, and the two sweeps
//! that keep it solved.
//!
//! With mean $\mu$ and variance $v$ of what point $i$ is predicted as from the
//! others,
//!
//! $$ H_{ii} = \frac{\lambda_i}{v + \lambda_i}, \qquad r_i = H_{ii} (y_i - \mu), \qquad u_j = y_j - \mu \text{ for an outlier.} $$
//!
//! With the RKHS penalty an outlier is a missing sample. It leaves the list,
//! its neighbours become neighbours, and messages are sent anew to the right
//! and to the left until they are what they were before.

use super::cell::{Basis, Cell, NONE, Role, position};
use super::markov::{Markov, MarkovOf};
use super::message::{Left, Right, Tolerance, combine};
use super::tournament::Center;
use crate::Real;
use crate::linalg::simd::{Routine, dispatch};

/// The kernel and the penalty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model<'a, T, K, const B: usize> {
    pub(super) kernel: &'a K,
    pub(super) lambda: T,
    pub(super) basis: Basis<T, B>,
}

/// Cells of a kernel.
pub(super) type CellOf<T, K, const D: usize, const B: usize> = Cell<T, <K as Markov<T>>::Gap, D, B>;

/// The points that are in.
#[derive(Debug)]
pub(super) struct Chain<'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> {
    pub(super) model: Model<'a, T, K, B>,
    pub(super) cells: &'a mut [CellOf<T, K, D, B>],
    pub(super) tolerance: Tolerance<T>,
    /// Ends of the list.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Points in the list.
    pub(super) count: usize,
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> Chain<'_, T, K, D, B> {
    /// Links the cells that are in, in their order.
    pub(super) fn link(&mut self) {
        let mut before = NONE;
        self.count = 0;
        self.first = NONE;
        let mut known: Option<(T, K::Gap)> = None;
        for i in 0..self.cells.len() {
            if !self.cells[i].is_in() {
                continue;
            }
            let here = position(i);
            self.cells[i].previous = before;
            if before == NONE {
                self.first = here;
            } else {
                let distance = self.cells[i].x - self.cells[before as usize].x;
                let gap = gap_of(self.model.kernel, distance, &mut known);
                self.cells[i].gap = gap;
                self.cells[before as usize].next = here;
            }
            before = here;
            self.count += 1;
        }
        self.last = before;
        if before != NONE {
            self.cells[before as usize].next = NONE;
        }
    }

    /// All messages anew, and what follows from them.
    pub(super) fn solve(&mut self) {
        dispatch(Forward { chain: self });
        dispatch(Backward { chain: self });
    }

    /// Takes point `j` out; tells which points this has changed.
    pub(super) fn remove(&mut self, j: usize) -> core::ops::Range<usize> {
        let Cell { previous, next, .. } = self.cells[j];
        if previous == NONE {
            self.first = next;
        } else {
            self.cells[previous as usize].next = next;
        }
        if next == NONE {
            self.last = previous;
        } else {
            self.cells[next as usize].previous = previous;
            if previous != NONE {
                let distance = self.cells[next as usize].x - self.cells[previous as usize].x;
                self.cells[next as usize].gap = self.model.kernel.gap(distance);
            }
        }
        let cell = &mut self.cells[j];
        cell.role = Role::Outlier;
        cell.residual = T::zero();
        cell.basis_residual = [T::zero(); B];
        self.count -= 1;
        dispatch(Remove { chain: self, j, previous, next })
    }

    /// The prediction for points that are not in, which the list passes by, and
    /// the values of the outliers.
    pub(super) fn predict_others(&mut self, center: &Center<T, B>, values: &mut [T]) {
        let mut before = NONE;
        for i in 0..self.cells.len() {
            if self.cells[i].is_in() {
                before = position(i);
            } else {
                self.cells[i].previous = before;
            }
        }
        let mut after = NONE;
        for i in (0..self.cells.len()).rev() {
            if self.cells[i].is_in() {
                after = position(i);
                continue;
            }
            let Cell { x, previous, .. } = self.cells[i];
            let estimate = estimate_at(&self.model, self.cells, x, previous, after);
            let cell = &mut self.cells[i];
            cell.residual = estimate.mean;
            cell.basis_residual = estimate.basis;
            cell.diagonal = estimate.variance;
            if cell.role == Role::Outlier {
                // Its number stood there.
                values[cell.next as usize] =
                    cell.y - cell.predicted(self.model.basis.at(x), center);
            }
            cell.next = after;
        }
    }

    #[inline(always)]
    fn forward_from<const FUSED: bool>(&self, i: usize, gap: &K::Gap) -> Left<T, D, B> {
        let Model { kernel, lambda, basis } = &self.model;
        let cell = &self.cells[i];
        cell.left.forward::<FUSED>(&cell.sample(*lambda, basis), &kernel.transition(gap))
    }

    #[inline(always)]
    fn backward_from<const FUSED: bool>(&self, i: usize) -> Right<T, D, B> {
        let Model { kernel, lambda, basis } = &self.model;
        let cell = &self.cells[i];
        cell.right.backward::<FUSED>(&cell.sample(*lambda, basis), &kernel.transition(&cell.gap))
    }

    /// Residual and diagonal of a point from its messages.
    #[inline(always)]
    fn recombine<const FUSED: bool>(&mut self, i: usize) {
        let Model { lambda, basis, .. } = &self.model;
        let cell = &mut self.cells[i];
        let estimate = combine::<T, D, B, FUSED>(&cell.left, &cell.right);
        let sample = cell.sample(*lambda, basis);
        let share = sample.noise / (estimate.variance + sample.noise);
        // Divided by the deviation of the noise, so that H is symmetric.
        let scale = share / cell.deviation;
        cell.diagonal = share;
        cell.residual = scale * (sample.y - estimate.mean);
        for b in 0..B {
            cell.basis_residual[b] = scale * (sample.basis[b] - estimate.basis[b]);
        }
    }
}

/// The prediction at `x`, between two neighbours in the list.
pub(super) fn estimate_at<T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize>(
    model: &Model<'_, T, K, B>,
    cells: &[CellOf<T, K, D, B>],
    x: T,
    before: u32,
    after: u32,
) -> super::message::Estimate<T, B> {
    let Model { kernel, lambda, basis } = model;
    let step = |distance: T| kernel.transition(&kernel.gap(distance));
    let left = if before == NONE {
        Left::prior(kernel.stationary())
    } else {
        let cell = &cells[before as usize];
        cell.left.forward::<false>(&cell.sample(*lambda, basis), &step(x - cell.x))
    };
    let right = if after == NONE {
        Right::nothing()
    } else {
        let cell = &cells[after as usize];
        cell.right.backward::<false>(&cell.sample(*lambda, basis), &step(cell.x - x))
    };
    combine::<T, D, B, false>(&left, &right)
}

/// What has to be known of a distance. On a regular grid all are the same: the
/// last one is remembered.
#[inline(always)]
pub(super) fn gap_of<T: Real, K: Markov<T>>(
    kernel: &K,
    distance: T,
    known: &mut Option<(T, K::Gap)>,
) -> K::Gap {
    match *known {
        Some((of, gap)) if is_same_distance(of, distance) => gap,
        _ => {
            let gap = kernel.gap(distance);
            *known = Some((distance, gap));
            gap
        }
    }
}

/// Two distances are the same but for rounding of the points.
fn is_same_distance<T: Real>(a: T, b: T) -> bool {
    // 1e-12 in double precision.
    (a - b).abs() <= T::epsilon() * crate::real::constant(4096.0) * a
}

/// All messages from the left.
struct Forward<'c, 'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> {
    chain: &'c mut Chain<'a, T, K, D, B>,
}

impl<T, K, const D: usize, const B: usize> Routine for Forward<'_, '_, T, K, D, B>
where
    T: Real,
    K: MarkovOf<T, D>,
{
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { chain } = self;
        let mut left = Left::prior(chain.model.kernel.stationary());
        let mut i = chain.first;
        while i != NONE {
            let cell = &mut chain.cells[i as usize];
            cell.left = left;
            let next = cell.next;
            if next != NONE {
                let gap = chain.cells[next as usize].gap;
                left = chain.forward_from::<FUSED>(i as usize, &gap);
            }
            i = next;
        }
    }
}

/// All messages from the right, and what follows from both.
struct Backward<'c, 'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> {
    chain: &'c mut Chain<'a, T, K, D, B>,
}

impl<T, K, const D: usize, const B: usize> Routine for Backward<'_, '_, T, K, D, B>
where
    T: Real,
    K: MarkovOf<T, D>,
{
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { chain } = self;
        let mut right = Right::nothing();
        let mut i = chain.last;
        while i != NONE {
            chain.cells[i as usize].right = right;
            chain.recombine::<FUSED>(i as usize);
            right = chain.backward_from::<FUSED>(i as usize);
            i = chain.cells[i as usize].previous;
        }
    }
}

/// The messages that change when point `j` between `previous` and `next` leaves.
struct Remove<'c, 'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> {
    chain: &'c mut Chain<'a, T, K, D, B>,
    j: usize,
    previous: u32,
    next: u32,
}

impl<T, K, const D: usize, const B: usize> Routine for Remove<'_, '_, T, K, D, B>
where
    T: Real,
    K: MarkovOf<T, D>,
{
    /// The points whose messages have changed.
    type Output = core::ops::Range<usize>;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Self::Output {
        let Self { chain, j, previous, next } = self;
        let (mut low, mut high) = (j, j);
        let mut i = next;
        let mut before = previous;
        while i != NONE {
            let at = i as usize;
            let left = if before == NONE {
                Left::prior(chain.model.kernel.stationary())
            } else {
                let gap = chain.cells[at].gap;
                chain.forward_from::<FUSED>(before as usize, &gap)
            };
            let near = left.is_near(&chain.cells[at].left, &chain.tolerance);
            chain.cells[at].left = left;
            chain.recombine::<FUSED>(at);
            high = at;
            if near {
                break;
            }
            before = i;
            i = chain.cells[at].next;
        }
        let mut i = previous;
        let mut after = next;
        while i != NONE {
            let at = i as usize;
            let right = if after == NONE {
                Right::nothing()
            } else {
                chain.backward_from::<FUSED>(after as usize)
            };
            let near = right.is_near(&chain.cells[at].right, &chain.tolerance);
            chain.cells[at].right = right;
            chain.recombine::<FUSED>(at);
            low = at;
            if near {
                break;
            }
            after = i;
            i = chain.cells[at].previous;
        }
        low..high + 1
    }
}
