//! The automatic rule by counting.
//!
//! [`Stop::automatic`](crate::Stop::automatic) asks for the median of all
//! studentised residuals and for the number in their tail, at every step. Here
//! they are counted in narrow bins. A step changes the bins of the points near
//! the one that left; the others move, with the bias, by less than a bound that
//! is kept. Bins and bound give an interval for the median and for the tail,
//! which nearly always decides; where it does not, all residuals are looked at.

use super::cell::Cell;
use super::tournament::{Center, Drift, Score};
use crate::Real;
use crate::real::{constant, count};
use crate::regression::stop::{TAIL, common_step, extreme_deviation, usual_tail};
use crate::stats::DEVIATION_PER_MEDIAN;

/// Bins in a group, whose sum is kept as well.
const GROUP: usize = 256;
/// Standard deviations that the bins reach to.
const SPAN: f64 = 16.0;
/// Rounds in which the interval of the median is divided by the number of bins,
/// before it has to be enough; four are, with 65536 bins and double precision.
const ROUNDS: usize = 64;

/// Counts of studentised residuals.
#[derive(Debug)]
pub(super) struct Counts<'a, T> {
    /// Bins, and behind them groups of [`GROUP`].
    memory: &'a mut [u32],
    bins: usize,
    /// The width of a bin, and its reciprocal; zero before the first look.
    width: T,
    per_width: T,
    drift: Drift<T>,
}

/// Numbers that so many bins and their groups take.
pub(super) const fn counts_len(bins: usize) -> usize {
    bins + bins.div_ceil(GROUP)
}

/// What is counted.
#[derive(Debug)]
pub(super) struct Scores<'a, T, G, const D: usize, const B: usize> {
    pub(super) cells: &'a mut [Cell<T, G, D, B>],
    pub(super) center: Center<T, B>,
    /// Points that are in.
    pub(super) left: usize,
    /// The largest score.
    pub(super) largest: T,
    /// The least scale that the noise can have.
    pub(super) least_noise: T,
    /// The largest of the data.
    pub(super) size: T,
    /// What was taken off the data.
    pub(super) offset: T,
    /// Whether the data may have a resolution that matters: some are equal, and
    /// their noise is of one size.
    pub(super) coarse: bool,
}

impl<T: Real, G, const D: usize, const B: usize> Scores<'_, T, G, D, B> {
    /// Half of the data's resolution, if no score stands out from noise of that
    /// size and it is more than `scale`.
    fn is_last_digit(&mut self, scale: T) -> bool {
        let least = scale.max(self.largest / extreme_deviation(self.left));
        let twice = |x: T| x + x;
        let inside = self.cells.iter().filter(|cell| cell.is_in());
        let values = inside.map(|cell| cell.y + self.offset);
        // With a rounding to spare: the last word is said below.
        let least = twice(least) * (T::one() - twice(twice(T::epsilon())));
        let step = if self.coarse { common_step(values, self.size, least) } else { T::zero() };
        let step = step / twice(T::one());
        if !(step > scale && self.largest <= step * extreme_deviation(self.left)) {
            return false;
        }
        let mut tail = 0;
        self.each(|_, score| tail += usize::from(score > step * constant(TAIL)));
        count::<T>(tail) <= usual_tail(self.left)
    }

    fn each(&mut self, mut visit: impl FnMut(&mut Cell<T, G, D, B>, T)) {
        for cell in self.cells.iter_mut().filter(|cell| cell.is_in()) {
            let (residual, variance) = self.center.of(cell);
            visit(cell, Score::Studentized.of(residual, variance));
        }
    }
}

impl<'a, T: Real> Counts<'a, T> {
    /// Counts in `bins` bins, at most 65536.
    pub(super) fn new(memory: &'a mut [u32], bins: usize) -> Self {
        let memory = &mut memory[..counts_len(bins)];
        let drift = Drift { shift: T::zero(), growth: T::one() };
        Self { memory, bins, width: T::zero(), per_width: T::zero(), drift }
    }

    /// Whether points have bins.
    pub(super) fn is_begun(&self) -> bool {
        self.width > T::zero()
    }

    /// All scores have moved.
    pub(super) fn move_by(&mut self, drift: &Drift<T>) {
        self.drift.shift = (self.drift.shift + drift.shift) * drift.growth;
        self.drift.growth = self.drift.growth * drift.growth;
    }

    /// A point has a score of its own.
    pub(super) fn recount<G, const D: usize, const B: usize>(
        &mut self,
        cell: &mut Cell<T, G, D, B>,
        score: T,
    ) {
        let bin = self.bin(score);
        if bin != cell.bin {
            self.add(cell.bin, false);
            self.add(bin, true);
            cell.bin = bin;
        }
    }

    /// A point has left.
    pub(super) fn forget<G, const D: usize, const B: usize>(&mut self, cell: &Cell<T, G, D, B>) {
        if self.is_begun() {
            self.add(cell.bin, false);
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn bin(&self, score: T) -> u16 {
        let last = self.bins - 1;
        (score * self.per_width).to_usize().map_or(last, |bin| bin.min(last)) as u16
    }

    fn add(&mut self, bin: u16, more: bool) {
        let bin = usize::from(bin);
        for at in [bin, self.bins + bin / GROUP] {
            let sum = self.memory[at];
            self.memory[at] = if more { sum + 1 } else { sum - 1 };
        }
    }

    /// The bin of the score that has `rank` smaller ones.
    fn bin_of_rank(&self, rank: usize) -> usize {
        let mut before = 0;
        let groups = &self.memory[self.bins..];
        let mut group = 0;
        while group + 1 < groups.len() && before + groups[group] as usize <= rank {
            before += groups[group] as usize;
            group += 1;
        }
        let mut bin = group * GROUP;
        while bin + 1 < self.bins && before + self.memory[bin] as usize <= rank {
            before += self.memory[bin] as usize;
            bin += 1;
        }
        bin
    }

    /// Scores in the bins from `bin`.
    fn count_from(&self, bin: usize) -> usize {
        let sum = |counts: &[u32]| counts.iter().map(|&c| c as usize).sum::<usize>();
        let bin = bin.min(self.bins);
        let group = bin.div_ceil(GROUP);
        let edge = (group * GROUP).min(self.bins);
        sum(&self.memory[bin..edge]) + sum(&self.memory[self.bins + group..])
    }

    /// Whether no score stands out any more.
    pub(super) fn is_met<G, const D: usize, const B: usize>(
        &mut self,
        scores: &mut Scores<'_, T, G, D, B>,
    ) -> bool {
        if self.is_begun() {
            match self.decide(scores) {
                Some((true, _)) => return true,
                // The resolution may be more than the least that the scale can be:
                // the scale itself is needed then.
                Some((false, scale)) if !scores.is_last_digit(scale) => return false,
                _ => {}
            }
        }
        let scale = constant::<T>(DEVIATION_PER_MEDIAN) * self.median(scores);
        let scale = scale.max(scores.least_noise);
        let tail = self.begin(scores, scale);
        let clean = scores.largest <= scale * extreme_deviation(scores.left)
            && count::<T>(tail) <= usual_tail(scores.left);
        clean || scores.is_last_digit(scale)
    }

    /// An interval of the median.
    fn bracket(&self, left: usize) -> (T, T) {
        let bin = self.bin_of_rank(left / 2);
        let Drift { shift, growth } = self.drift;
        let edge = |bin: usize| self.width * count(bin);
        let high =
            if bin + 1 < self.bins { (edge(bin + 1) + shift) * growth } else { T::infinity() };
        ((edge(bin) - shift).max(T::zero()), high)
    }

    /// The same from bins and bounds, if they are enough, but for the last digit; and
    /// a lower bound of the scale.
    fn decide<G, const D: usize, const B: usize>(
        &self,
        scores: &Scores<'_, T, G, D, B>,
    ) -> Option<(bool, T)> {
        let Scores { left, largest, least_noise, .. } = *scores;
        let Drift { shift, growth } = self.drift;
        let deviation = constant::<T>(DEVIATION_PER_MEDIAN);
        let (low, high) = self.bracket(left);
        let (low, high) = (deviation * low, deviation * high);
        let (low, high) = (low.max(least_noise), high.max(least_noise));
        let limit = extreme_deviation::<T>(left);
        if largest > high * limit {
            return Some((false, low));
        }
        let at = |score: T| (score.max(T::zero()) * self.per_width).to_usize();
        let tail = constant::<T>(TAIL);
        let allowed = usual_tail::<T>(left);
        let surely = at(high * tail + shift).map_or(0, |bin| self.count_from(bin + 1));
        if count::<T>(surely) > allowed {
            return Some((false, low));
        }
        let perhaps = at(low * tail / growth - shift).map_or(0, |bin| self.count_from(bin));
        (largest <= low * limit && count::<T>(perhaps) <= allowed).then_some((true, low))
    }

    /// The median of the scores: the interval that it is in, divided again and
    /// again.
    fn median<G, const D: usize, const B: usize>(
        &mut self,
        scores: &mut Scores<'_, T, G, D, B>,
    ) -> T {
        let rank = scores.left / 2;
        let (mut low, mut high) = (T::zero(), scores.largest);
        if self.is_begun() {
            let known = self.bracket(scores.left);
            let slack = (T::epsilon() + T::epsilon()) * known.1;
            (low, high) = ((known.0 - slack).max(low), (known.1 + slack).min(high));
        }
        for _ in 0..ROUNDS {
            self.memory.fill(0);
            let bins = self.bins;
            let width = (high - low) / count(bins);
            let per_width = width.recip();
            if !(width > T::zero() && per_width.is_finite()) {
                break;
            }
            let mut below = 0;
            let memory = &mut *self.memory;
            scores.each(|_, score| {
                if score < low {
                    below += 1;
                } else if score <= high {
                    let bin = ((score - low) * per_width).to_usize().unwrap_or(bins).min(bins - 1);
                    memory[bin] += 1;
                    memory[bins + bin / GROUP] += 1;
                }
            });
            let bin = self.bin_of_rank(rank.saturating_sub(below));
            let inside = self.memory[bin] as usize;
            // One rounding to each side, so that no score is lost between two rounds.
            let slack = (T::epsilon() + T::epsilon()) * high;
            let next = (
                (low + width * count(bin) - slack).max(T::zero()),
                low + width * count(bin + 1) + slack,
            );
            let is_done = inside == 1 || !(next.1 - next.0 < high - low);
            (low, high) = next;
            if is_done {
                break;
            }
        }
        nth_from(scores, low, rank)
    }

    /// Puts all points into bins for scores of this scale, and counts the tail.
    fn begin<G, const D: usize, const B: usize>(
        &mut self,
        scores: &mut Scores<'_, T, G, D, B>,
        scale: T,
    ) -> usize {
        let reach = if scale > T::zero() { scale * constant(SPAN) } else { scores.largest };
        self.width = reach / count(self.bins);
        self.per_width = self.width.recip();
        self.drift = Drift { shift: T::zero(), growth: T::one() };
        let begins = scale * constant(TAIL);
        let mut tail = 0;
        if !self.per_width.is_finite() {
            self.width = T::zero();
            scores.each(|_, score| tail += usize::from(score > begins));
            return tail;
        }
        self.memory.fill(0);
        scores.each(|cell, score| {
            cell.bin = self.bin(score);
            self.add(cell.bin, true);
            tail += usize::from(score > begins);
        });
        tail
    }
}

/// The score that has `rank` smaller ones, `low` or a little above it.
fn nth_from<T: Real, G, const D: usize, const B: usize>(
    scores: &mut Scores<'_, T, G, D, B>,
    low: T,
    rank: usize,
) -> T {
    // Below `low` first; then one value after the other.
    let (mut value, mut is_first) = (low, true);
    loop {
        let (mut passed, mut least, mut equal) = (0, T::infinity(), 0);
        scores.each(|_, score| {
            if score < value || (score == value && !is_first) {
                passed += 1;
            } else if score < least {
                (least, equal) = (score, 1);
            } else if score == least {
                equal += 1;
            }
        });
        if equal == 0 {
            return value;
        }
        if passed + equal > rank {
            return least;
        }
        (value, is_first) = (least, false);
    }
}
