//! From the caller's numbers to cells in order, and to a search.

use super::cell::{Basis, Cell, NONE, Role, position};
use super::chain::{CellOf, Chain, Model};
use super::counts::Counts;
use super::markov::MarkovOf;
use super::message::Tolerance;
use super::search::{Noted, Notes, Search};
use super::tournament::{Center, Node, Score, Tournament, tree_len};
use crate::real::{constant, count};
use crate::regression::removal::remove_until;
use crate::regression::stop::{StopReason, StopRule, has_repeats};
use crate::stats::median;
use crate::{Error, Real};

/// Rounding that messages may be off by before they are sent on, in units of
/// the scalar's.
const TOLERANCE: f64 = 256.0;

/// Points on a line, in the caller's order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a, T> {
    pub(super) x: &'a [T],
    /// Standard deviations of the noise, relative to each other.
    pub(super) deviations: Option<&'a [T]>,
    /// The points from left to right, if the caller's order is another one.
    pub(super) order: Option<&'a [u32]>,
}

/// The samples of a fit, in the caller's order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Samples<'a, T> {
    pub(super) y: &'a [T],
    /// Whether NaN stands for a sample that is missing.
    pub(super) with_gaps: bool,
    /// For each point the number of the outlier that it is, or [`NONE`].
    pub(super) known: Option<&'a [u32]>,
    /// Outliers that are known.
    pub(super) known_count: usize,
}

impl<T: Real> Given<'_, T> {
    /// The check at the door.
    pub(super) fn check(&self) -> Result<(), Error> {
        let n = self.x.len();
        if n == 0 {
            return Err(Error::Empty { what: "list of points" });
        }
        if n >= NONE as usize {
            return Err(Error::TooLarge { scalars: n });
        }
        Error::check_finite("coordinate", self.x)?;
        if let Some(deviations) = self.deviations {
            Error::check_len("deviations", deviations.len(), n)?;
            for &deviation in deviations {
                Error::check_positive("deviation of the noise", deviation)?;
            }
        }
        Ok(())
    }

    /// Fills `cells` from left to right, with `offset` off `y`.
    fn fill<G: Default, const D: usize, const B: usize>(
        &self,
        samples: &Samples<'_, T>,
        offset: T,
        cells: &mut [Cell<T, G, D, B>],
    ) {
        for (i, cell) in cells.iter_mut().enumerate() {
            let index = self.order.map_or(i, |order| order[i] as usize);
            let y = samples.y[index];
            let rank = samples.known.map_or(NONE, |known| known[index]);
            *cell = Cell {
                x: self.x[index],
                y: if y.is_nan() { T::zero() } else { y - offset },
                deviation: self.deviations.map_or_else(T::one, |deviations| deviations[index]),
                index: position(index),
                role: match () {
                    () if y.is_nan() => Role::Missing,
                    () if rank != NONE => Role::Outlier,
                    () => Role::Sample,
                },
                next: rank,
                ..Cell::default()
            };
        }
        if self.order.is_none() && !self.x.is_sorted() {
            cells.sort_unstable_by(|a, b| {
                let by_x = a.x.partial_cmp(&b.x).unwrap_or(core::cmp::Ordering::Equal);
                by_x.then(a.index.cmp(&b.index))
            });
        }
    }
}

impl<T: Real> Samples<'_, T> {
    /// The check at the door, for `n` points.
    fn check(&self, n: usize) -> Result<(), Error> {
        Error::check_len("y", self.y.len(), n)?;
        if !self.with_gaps {
            return Error::check_finite("y", self.y);
        }
        match self.y.iter().position(|y| y.is_infinite()) {
            Some(index) => Err(Error::NotFinite {
                what: "y",
                index,
                value: crate::error::as_f64(self.y[index]),
            }),
            None if self.y.iter().all(|y| y.is_nan()) => Err(Error::Empty { what: "y" }),
            None => Ok(()),
        }
    }

    /// The median, and the median of the distances from it; without a bias of the
    /// distances from zero.
    fn location_and_scale(&self, with_bias: bool, scratch: &mut [T]) -> (T, T) {
        let mut count = 0;
        for &y in self.y.iter().filter(|y| !y.is_nan()) {
            scratch[count] = y;
            count += 1;
        }
        let values = &mut scratch[..count];
        let offset = if with_bias { median(values, 0) } else { T::zero() };
        for y in &mut *values {
            *y = (*y - offset).abs();
        }
        (offset, median(values, 0))
    }
}

/// The memory of a search.
pub(super) struct Memory<'a, T: Real, G, const D: usize, const B: usize> {
    pub(super) cells: &'a mut [Cell<T, G, D, B>],
    pub(super) nodes: &'a mut [Node<T, B>],
    pub(super) counts: &'a mut [u32],
    pub(super) bins: usize,
}

/// What a search leaves beside the cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome<T, const B: usize> {
    pub(super) basis: Basis<T, B>,
    pub(super) center: Center<T, B>,
    /// What was taken off $y$.
    pub(super) offset: T,
    pub(super) outliers: usize,
    pub(super) reason: StopReason,
    /// The estimated standard deviation of the noise of a sample with $s_i = 1$.
    pub(super) noise: T,
}

impl<T: Real, const B: usize> Outcome<T, B> {
    /// What is added to the function in the middle of the points.
    pub(super) fn bias(&self) -> T {
        if B == 0 { T::zero() } else { self.offset + self.center.coefficients[0] }
    }

    /// The slope of the trend.
    pub(super) fn slope(&self) -> T {
        if B < 2 { T::zero() } else { self.center.coefficients[B - 1] / self.basis.half }
    }
}

/// Solves and searches; leaves the predictions of all points in the cells.
/// `scratch` has a scalar for each point.
pub(super) fn run<T, K, const D: usize, const B: usize>(
    kernel: &K,
    lambda: T,
    given: &Given<'_, T>,
    samples: &Samples<'_, T>,
    rule: &mut impl StopRule<T>,
    memory: &mut Memory<'_, T, K::Gap, D, B>,
    notes: &mut impl Notes<T>,
) -> Result<Outcome<T, B>, Error>
where
    T: Real,
    K: MarkovOf<T, D>,
{
    const { assert!(B <= 2, "no more unpenalised columns than a bias and a slope") };
    let n = given.x.len();
    rule.validate()?;
    samples.check(n)?;
    kernel.check()?;
    Error::check_positive("lambda", lambda)?;
    Error::check_at_least("cells", memory.cells.len(), n)?;
    Error::check_at_least("nodes", memory.nodes.len(), tree_len(n))?;
    let cells: &mut [CellOf<T, K, D, B>] = &mut memory.cells[..n];

    let (offset, scale) = samples.location_and_scale(B > 0, notes.parts().scratch);
    given.fill(samples, offset, cells);
    let basis = Basis::new(cells[0].x, cells[n - 1].x);
    let relative = T::epsilon() * constant(TOLERANCE);
    // Where more than half of the data are the same, messages have to be exact.
    let squared = |scale: T| (relative * scale * (relative * scale)).max(T::min_positive_value());
    let tolerance =
        Tolerance { relative, y_squared: squared(scale), basis_squared: squared(T::one()) };
    let model = Model { kernel, lambda, basis };
    let chain = Chain { model, cells, tolerance, first: NONE, last: NONE, count: 0 };
    let score = if rule.studentized() { Score::Studentized } else { Score::Plain };
    let tournament = Tournament::new(memory.nodes, n, score);
    let counts = Counts::new(memory.counts, memory.bins);
    let mut search = {
        let noise = (offset, given.deviations.is_none() && has_repeats(samples.y));
        Search::new(chain, tournament, counts, samples.known_count, noise)
    };
    if !search.is_finite() {
        return Err(Error::Overflow { what: "the residual" });
    }
    let reason = remove_until(&mut Noted { search: &mut search, notes, y: samples.y }, rule);
    let outliers = search.taken_out;
    let center = search.center;
    let noise = noise(search.chain.cells, &center);
    search.chain.predict_others(&center, notes.values(outliers));
    // What is finite without the outliers need not be at them.
    let fitted = |cell: &CellOf<T, K, D, B>| match cell.role {
        Role::Sample => cell.y - center.of(cell).0 * cell.deviation,
        _ => cell.predicted(basis.at(cell.x), &center),
    };
    if !search.chain.cells.iter().all(|cell| (fitted(cell) + offset).is_finite()) {
        return Err(Error::Overflow { what: "the fit" });
    }
    let outcome = Outcome { basis, center, offset, outliers, reason, noise };
    // A trend over a short extent can be steeper than any number.
    if !(outcome.bias().is_finite() && outcome.slope().is_finite()) {
        return Err(Error::Overflow { what: "the trend" });
    }
    Ok(outcome)
}

/// $\sqrt{y^T r / (n - B)}$ over the points that are in.
fn noise<T: Real, G, const D: usize, const B: usize>(
    cells: &[Cell<T, G, D, B>],
    center: &Center<T, B>,
) -> T {
    let (mut sum, mut left) = (T::zero(), 0);
    for cell in cells.iter().filter(|cell| cell.is_in()) {
        sum = sum + center.of(cell).0 * cell.y / cell.deviation;
        left += 1;
    }
    if left <= B { T::zero() } else { (sum.max(T::zero()) / count(left - B)).sqrt() }
}
