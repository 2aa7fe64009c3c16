//! Algorithm 1 on a line: the largest residual leaves, until a rule says so.

use super::cell::Cell;
use super::chain::Chain;
use super::counts::{Counts, Scores};
use super::markov::MarkovOf;
use super::tournament::{Center, Score, Tournament};
use crate::Real;
use crate::regression::removal::Removal;
use crate::regression::stop::{Progress, StopReason, StopRule, Summary, least_noise_of};

/// What a search keeps from step to step.
pub(super) struct Search<'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> {
    pub(super) chain: Chain<'a, T, K, D, B>,
    pub(super) tournament: Tournament<'a, T, B>,
    pub(super) counts: Counts<'a, T>,
    pub(super) center: Center<T, B>,
    /// What was taken off the data.
    offset: T,
    /// Whether the data may have a resolution that matters: some are equal, and
    /// their noise is of one size.
    coarse: bool,
    /// Outliers that were taken out.
    pub(super) taken_out: usize,
}

/// Where outliers are noted, and what a rule looks at that looks at residuals.
pub(super) trait Notes<T> {
    /// Makes room for `k` outliers, or says that there is none.
    fn reserve(&mut self, k: usize) -> bool;
    /// The outliers, and the slices of [`Progress`] in the caller's order.
    fn parts(&mut self) -> NoteParts<'_, T>;
    /// Room for the values of `k` outliers.
    fn values(&mut self, k: usize) -> &mut [T];
}

/// Slices of [`Notes`].
pub(super) struct NoteParts<'a, T> {
    pub(super) indices: &'a mut [usize],
    pub(super) residual: &'a mut [T],
    pub(super) variances: &'a mut [T],
    pub(super) scratch: &'a mut [T],
}

impl<'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> Search<'a, T, K, D, B> {
    /// Solves for the points that are in.
    pub(super) fn new(
        mut chain: Chain<'a, T, K, D, B>,
        tournament: Tournament<'a, T, B>,
        counts: Counts<'a, T>,
        known: usize,
        (offset, coarse): (T, bool),
    ) -> Self {
        chain.link();
        chain.solve();
        let zero = T::zero();
        let center = Center { coefficients: [zero; B], inverse: [[zero; B]; B] };
        let mut search =
            Self { chain, tournament, counts, center, offset, coarse, taken_out: known };
        let Self { chain, tournament, .. } = &mut search;
        tournament.begin(chain.cells, &chain.model.basis, offset);
        search.center = search.tournament.center();
        search
    }

    /// Whether nothing has overflowed.
    pub(super) fn is_finite(&self) -> bool {
        let mut cells = self.chain.cells.iter().filter(|cell| cell.is_in());
        cells.all(|cell| self.center.of(cell).0.is_finite())
    }

    /// Point `j` leaves as the next outlier, unless it is needed to determine the
    /// fit.
    pub(super) fn take_out(&mut self, j: usize) -> bool {
        let k = self.taken_out;
        let cell = &self.chain.cells[j];
        let variance = self.center.of(cell).1;
        let rounding = cell.diagonal * T::epsilon() * crate::real::count(k + 1);
        if !(variance > rounding) || self.chain.count <= B {
            return false;
        }
        self.counts.forget(cell);
        let changed = self.chain.remove(j);
        let basis = &self.chain.model.basis;
        self.tournament.touch(changed, j, self.chain.cells, basis, self.offset);
        self.chain.cells[j].next = super::cell::position(k);
        self.center = self.tournament.center();
        self.taken_out += 1;
        true
    }
}

/// A search whose outliers are noted.
pub(super) struct Noted<'s, 'a, T, K, N, const D: usize, const B: usize>
where
    T: Real,
    K: MarkovOf<T, D>,
{
    pub(super) search: &'s mut Search<'a, T, K, D, B>,
    pub(super) notes: &'s mut N,
    /// The data in the caller's order.
    pub(super) y: &'s [T],
}

impl<T, K, N, const D: usize, const B: usize> Removal<T> for Noted<'_, '_, T, K, N, D, B>
where
    T: Real,
    K: MarkovOf<T, D>,
    N: Notes<T>,
{
    fn len(&self) -> usize {
        self.search.taken_out + self.search.chain.count
    }

    fn removed(&self) -> usize {
        self.search.taken_out
    }

    fn next(&mut self) -> (Option<usize>, T) {
        let Search { chain, tournament, counts, center, .. } = &mut *self.search;
        if counts.is_begun() {
            counts.move_by(&tournament.drift(center));
            tournament.find(chain.cells, center, &mut |cell, score| counts.recount(cell, score))
        } else {
            tournament.find(chain.cells, center, &mut |_, _| ())
        }
    }

    fn check(&mut self, extreme: T, rule: &mut impl StopRule<T>) -> Option<StopReason> {
        let Search { chain, tournament, counts, center, offset, coarse, taken_out } =
            &mut *self.search;
        let (center, left) = (*center, chain.count);
        let (size, penalty) = tournament.size_and_penalty(&center);
        let mut summary = Kept {
            scores: Scores {
                cells: chain.cells,
                center,
                left,
                largest: extreme,
                least_noise: least_noise_of(size, penalty, left + *taken_out).max(nothing()),
                size,
                offset: *offset,
                coarse: *coarse,
            },
            tournament,
            counts,
            taken_out: *taken_out,
        };
        let NoteParts { indices, residual, variances, scratch } = self.notes.parts();
        let variances = if rule.studentized() { variances } else { &mut [] };
        let (mut shown, mut with): (&[T], &[T]) = (&[], &[]);
        if rule.looks_at_residuals() {
            summary.write(residual, variances);
            (shown, with) = (residual, variances);
        }
        rule.check(&mut Progress {
            residual: shown,
            variances: with,
            outliers: &indices[..*taken_out],
            extreme,
            data: self.y,
            scratch,
            summary: Some(&mut summary),
        })
    }

    fn reserve(&mut self) -> bool {
        self.notes.reserve(self.search.taken_out + 1)
    }

    fn remove(&mut self, j: usize) -> bool {
        let k = self.search.taken_out;
        let taken = self.search.take_out(j);
        if taken {
            self.notes.parts().indices[k] = self.search.chain.cells[j].index as usize;
        }
        taken
    }
}

/// What messages that have to be exact may be off by, and residuals with them.
fn nothing<T: Real>() -> T {
    T::min_positive_value().sqrt() / T::epsilon()
}

/// A [`Summary`] of a search.
#[derive(Debug)]
struct Kept<'s, 'a, T, G, const D: usize, const B: usize> {
    scores: Scores<'s, T, G, D, B>,
    tournament: &'s Tournament<'a, T, B>,
    counts: &'s mut Counts<'a, T>,
    taken_out: usize,
}

impl<T: Real, G, const D: usize, const B: usize> Kept<'_, '_, T, G, D, B> {
    /// Writes the residual and its variances in the caller's order.
    fn write(&self, residual: &mut [T], variances: &mut [T]) {
        for cell in &*self.scores.cells {
            let (r, v) =
                if cell.is_in() { self.scores.center.of(cell) } else { (T::zero(), T::one()) };
            residual[cell.index as usize] = r * cell.deviation;
            if !variances.is_empty() {
                variances[cell.index as usize] = v * cell.deviation * cell.deviation;
            }
        }
    }
}

impl<T, G, const D: usize, const B: usize> Summary<T> for Kept<'_, '_, T, G, D, B>
where
    T: Real,
    G: core::fmt::Debug + Send + Sync,
{
    fn norm(&self) -> T {
        self.tournament.norm(&self.scores.center)
    }

    fn max(&self) -> T {
        match self.tournament.score {
            Score::Plain => self.scores.largest,
            Score::Studentized => {
                self.tournament.largest_residual(self.scores.cells, &self.scores.center)
            }
        }
    }

    fn is_clean(&mut self) -> bool {
        // With half of the points gone the median means nothing any more.
        let left = self.scores.left;
        left <= self.taken_out || self.counts.is_met(&mut self.scores)
    }
}

impl<T: Real, G, const D: usize, const B: usize> Cell<T, G, D, B> {
    /// The prediction at a point that is not in, once
    /// [`Chain::predict_others`] is through.
    pub(super) fn predicted(&self, basis: [T; B], center: &Center<T, B>) -> T {
        (0..B).fold(self.residual, |sum, b| {
            sum + center.coefficients[b] * (basis[b] - self.basis_residual[b])
        })
    }
}
