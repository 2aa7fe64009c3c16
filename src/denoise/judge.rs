//! Impulse or detail: what the pattern around a pixel says.
//!
//! A pixel that stands alone may be an impulse, or the end of a line, a glint, a thread
//! of a cloth. Whoever looks at it knows by what else is there. The differences to the 48
//! pixels around, in units of the impulses' size, tell most of it: in the order of their
//! size, for the eight next to it and for the sixteen around these, and in their places. A
//! pattern means the same from whichever side it is looked at: it is turned until those like
//! the pixel lie rather to its left than to its right, rather above than below, and rather
//! beside than above it. A network with two hidden layers makes of this a number $z$, the
//! larger the more the pixel looks like an impulse. It has learned that from photographs with
//! noise and impulses of many sizes and shares (see ARCHITECTURE.md).
//!
//! Most pixels are judged at a glance, by a small network; those that it is not sure of are
//! studied by a large one. Nobody has to be asked where a pixel stands alone by far and its
//! neighbours are alike.
//!
//! The search has the last word, since it knows what the region is like: it wants $1 - z$
//! times as much of a pixel as usual, within bounds. What a pixel is *worth* as a candidate
//! is one over the square of that, because the search compares squares.

mod weights;

use super::impulses::{Known, REACH, Window, larger};
use crate::Real;
use crate::linalg::batch::{Entries, Packed};
use crate::linalg::simd::multiply_add;
use crate::real::{constant, count};
use alloc::vec::Vec;
pub(crate) use weights::{GLANCE, INPUTS, OF_GLANCE, OF_STUDY, STUDY};

/// Candidates that are glanced at together, and those that are studied together.
const CANDIDATES: usize = 8;
const DOUBTFUL: usize = 64;
/// Units of the network at a time, so that their sums stay in registers.
const UNITS: usize = 8;

/// What is wanted at least and at most, as a part of the limit. A pixel of which more is
/// wanted is a detail.
pub(crate) const WANTED: (f64, f64) = (0.75, 1.2);
/// A pixel is clear that is alone by so many times the least size of an impulse, where the
/// spread is below the other.
pub(crate) const CLEAR: (f64, f64) = (1.3, 0.4);
/// The glance decides where it says more than this, or less than minus this.
pub(crate) const SURE: f64 = 0.3;
/// Differences are cut there, in units of the impulses' size.
pub(crate) const DIFFERENCES: (f64, f64) = (-1.0, 2.0);

/// Rows and columns of the pattern.
const SIDE: usize = 2 * REACH + 1;

/// One number of each candidate.
type Lanes<T> = [T; CANDIDATES];
/// What is around each, row by row.
type Pattern<T> = [[Lanes<T>; SIDE]; SIDE];

/// What has been learned.
#[derive(Debug, Clone)]
pub(super) struct Networks<T> {
    glance: Vec<T>,
    study: Study<T>,
}

impl<T: Real> Networks<T> {
    pub(super) fn new() -> Self {
        let glance = OF_GLANCE.iter().map(|&weight| constant(weight.into())).collect();
        Self { glance, study: Study::new() }
    }
}

/// Who judges the candidates of an image.
pub(super) struct Judge<'a, T> {
    networks: &'a Networks<T>,
    /// What is clear: alone by more, and a smaller spread.
    clear: (T, T),
    /// One over what nearly all impulses are off by.
    scale: T,
    /// Noise in these units, and the share of impulses.
    noise: T,
    impulses: T,
}

/// Pixels of a row that wait for their judgement.
pub(super) struct Candidates<T> {
    columns: [usize; CANDIDATES],
    /// Whether each exceeds its neighbours, or falls below them: plus or minus one.
    sides: Lanes<T>,
    count: usize,
}

/// What the glance was not sure of.
pub(super) struct Doubtful<T> {
    /// Where their worth is to be written.
    places: Vec<usize>,
    /// What is seen of them, one after the other.
    inputs: Vec<T>,
}

impl<T: Real> Doubtful<T> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), inputs: Vec::new() }
    }

    #[inline(always)]
    fn add(&mut self, place: usize, inputs: impl Iterator<Item = T>) {
        self.places.push(place);
        self.inputs.extend(inputs);
    }
}

impl<T: Real> Candidates<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { columns: [0; CANDIDATES], sides: [T::zero(); CANDIDATES], count: 0 }
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count == CANDIDATES
    }

    /// Adds the pixel in a column, while there is room.
    #[inline(always)]
    pub(super) fn add(&mut self, column: usize, side: T) {
        self.columns[self.count] = column;
        self.sides[self.count] = side;
        self.count += 1;
    }
}

impl<'a, T: Real> Judge<'a, T> {
    /// For an image of which enough is known.
    pub(super) fn new(networks: &'a Networks<T>, known: &Known<T>) -> Option<Self> {
        let &Known { noise, impulses, amplitude, clear, .. } = known;
        if amplitude <= T::zero() {
            return None;
        }
        Some(Self { networks, clear, scale: amplitude.recip(), noise: noise / amplitude, impulses })
    }

    /// What a pixel is worth that is alone `by` so much, if that says it all.
    #[inline(always)]
    pub(super) fn if_clear(&self, by: T, spread: T) -> Option<T> {
        let is_clear = by > self.clear.0 && spread < self.clear.1;
        is_clear.then(|| constant(1.0 / (WANTED.0 * WANTED.0)))
    }

    /// Looks at the candidates in the middle row of `window`; then there are none. Writes
    /// what they are worth into the row that begins there, or puts them down as doubtful.
    #[inline(always)]
    pub(super) fn glance<const FUSED: bool>(
        &self,
        window: Window<'_, T>,
        candidates: &mut Candidates<T>,
        (worth, row): (&mut [T], usize),
        doubtful: &mut Doubtful<T>,
    ) {
        if candidates.count == 0 {
            return;
        }
        let inputs = self.inputs(window, candidates);
        let spared = self.spared_at_a_glance::<FUSED>(&inputs);
        for lane in 0..candidates.count {
            let place = row + candidates.columns[lane];
            if spared[lane].abs() > constant(SURE) {
                worth[place] = worth_of(spared[lane]);
            } else {
                doubtful.add(place, inputs.iter().map(|input| input[lane]));
            }
        }
        candidates.count = 0;
        if doubtful.places.len() >= DOUBTFUL {
            self.study(doubtful, worth);
        }
    }

    /// Writes what those are worth that the glance was not sure of; then there are none.
    pub(super) fn study(&self, doubtful: &mut Doubtful<T>, worth: &mut [T]) {
        let Doubtful { places, inputs } = doubtful;
        let spared = self.networks.study.spared(inputs);
        for (place, spared) in places.drain(..).zip(spared) {
            worth[place] = worth_of(spared);
        }
        inputs.clear();
    }

    /// What the network looks at.
    #[inline(always)]
    fn inputs(&self, window: Window<'_, T>, candidates: &Candidates<T>) -> [Lanes<T>; INPUTS] {
        let mut pattern = self.pattern(window, candidates);
        turn(&mut pattern);
        let mut inputs = [[T::zero(); CANDIDATES]; INPUTS];
        let (near, rest) = inputs.split_at_mut(8);
        let (far, rest) = rest.split_at_mut(16);
        for (distance, ring) in [(1, near), (2, far)] {
            for (input, (i, j)) in ring.iter_mut().zip(at_distance(distance)) {
                *input = pattern[i][j];
            }
            sort(ring);
        }
        let around = pattern.as_flattened();
        let middle = around.len() / 2;
        rest[..middle].copy_from_slice(&around[..middle]);
        rest[middle..2 * middle].copy_from_slice(&around[middle + 1..]);
        rest[2 * middle] = [self.noise; CANDIDATES];
        rest[2 * middle + 1] = [self.impulses; CANDIDATES];
        inputs
    }

    /// By how much the candidates exceed what is around them, or fall below.
    #[inline(always)]
    fn pattern(&self, window: Window<'_, T>, candidates: &Candidates<T>) -> Pattern<T> {
        let &Candidates { columns, sides, .. } = candidates;
        let (low, high) = (constant::<T>(DIFFERENCES.0), constant::<T>(DIFFERENCES.1));
        let mut scales = sides;
        let mut pixels = [T::zero(); CANDIDATES];
        for ((pixel, scale), column) in pixels.iter_mut().zip(&mut scales).zip(columns) {
            *pixel = window[REACH][column + REACH];
            *scale = *scale * self.scale;
        }
        let mut pattern = [[[T::zero(); CANDIDATES]; SIDE]; SIDE];
        for (row, line) in pattern.iter_mut().zip(window) {
            for (across, off) in row.iter_mut().enumerate() {
                for (off, column) in off.iter_mut().zip(columns) {
                    *off = line[column + across];
                }
                for ((off, &pixel), &scale) in off.iter_mut().zip(&pixels).zip(&scales) {
                    *off = smaller(larger(scale * (pixel - *off), low), high);
                }
            }
        }
        pattern
    }

    /// $z$, as far as the small network can tell: how much less is wanted of each.
    #[inline(always)]
    fn spared_at_a_glance<const FUSED: bool>(&self, inputs: &[Lanes<T>; INPUTS]) -> Lanes<T> {
        const FIRST: usize = GLANCE.0;
        const SECOND: usize = GLANCE.1;
        let (first, rest) = self.networks.glance.split_at((INPUTS + 1) * FIRST);
        let (second, last) = rest.split_at((FIRST + 1) * SECOND);
        let units = layer::<T, INPUTS, FIRST, FUSED>(inputs, first);
        let units = layer::<T, FIRST, SECOND, FUSED>(&units, second);
        let mut spared = [last[SECOND]; CANDIDATES];
        for (units, &weight) in units.iter().zip(last) {
            for (spared, &unit) in spared.iter_mut().zip(units) {
                *spared = multiply_add::<T, FUSED>(weight, unit, *spared);
            }
        }
        spared
    }
}

/// What a pixel is worth as a candidate of which so much less is wanted.
#[inline(always)]
fn worth_of<T: Real>(spared: T) -> T {
    let wanted = larger(T::one() - spared, constant(WANTED.0));
    if wanted > constant(WANTED.1) { T::zero() } else { (wanted * wanted).recip() }
}

/// The large network.
#[derive(Debug, Clone)]
struct Study<T> {
    first: Layer<T>,
    second: Layer<T>,
    /// What each unit of the second layer adds to the sum, and what that begins with.
    last: Vec<T>,
}

/// Hidden units: the weights of their inputs, and what their sums begin with.
#[derive(Debug, Clone)]
struct Layer<T> {
    weights: Packed<T>,
    begin: Vec<T>,
}

impl<T: Real> Study<T> {
    fn new() -> Self {
        let (first, rest) = OF_STUDY.split_at((INPUTS + 1) * STUDY.0);
        let (second, last) = rest.split_at((STUDY.0 + 1) * STUDY.1);
        Self {
            first: Layer::new(first, INPUTS),
            second: Layer::new(second, STUDY.0),
            last: last.iter().map(|&weight| constant(weight.into())).collect(),
        }
    }

    /// $z$: how much less is wanted of each, from what is seen of all.
    fn spared(&self, inputs: &[T]) -> impl Iterator<Item = T> {
        let units = self.second.units(&self.first.units(inputs));
        let sum = |units: &[T]| {
            let weighted = units.iter().zip(&self.last).map(|(&unit, &weight)| unit * weight);
            weighted.fold(self.last[STUDY.1], |sum, x| sum + x)
        };
        let spared: Vec<T> = units.chunks_exact(STUDY.1).map(sum).collect();
        spared.into_iter()
    }
}

impl<T: Real> Layer<T> {
    /// From a table of the weights of each input, and then what units begin with.
    fn new(table: &[f32], inputs: usize) -> Self {
        let units = table.len() / (inputs + 1);
        let entry = |input: usize, unit: usize| constant(table[input * units + unit].into());
        let weights: Vec<T> = (0..units)
            .flat_map(|unit| (0..inputs).map(move |i| (i, unit)))
            .map(|(i, u)| entry(i, u))
            .collect();
        let begin = (0..units).map(|unit| entry(inputs, unit)).collect();
        Self { weights: Packed::new(&weights, inputs), begin }
    }

    /// What units say to inputs: the sum of these with the weights of each, and one more, as
    /// far as it is positive.
    fn units(&self, inputs: &[T]) -> Vec<T> {
        let (length, units) = (self.weights.columns(), self.begin.len());
        let mut out = alloc::vec![T::zero(); inputs.len() / length * units];
        let inputs = Entries { of: inputs, stride: length, start: 0 };
        self.weights.multiply(inputs, Entries { of: &mut out[..], stride: units, start: 0 });
        for out in out.chunks_exact_mut(units) {
            for (out, &begin) in out.iter_mut().zip(&self.begin) {
                *out = larger(*out + begin, T::zero());
            }
        }
        out
    }
}

/// Where the pixels of a pattern are that have this distance from its middle.
fn at_distance(distance: usize) -> impl Iterator<Item = (usize, usize)> {
    let all = (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j)));
    all.filter(move |(i, j)| i.abs_diff(REACH).max(j.abs_diff(REACH)) == distance)
}

/// Batcher's odd-even merge sort of a power of two values, lane by lane.
#[inline(always)]
fn sort<T: Real>(values: &mut [Lanes<T>]) {
    let count = values.len();
    let mut length = 1;
    while length < count {
        let mut step = length;
        while step > 0 {
            for first in (step % length..count - step).step_by(2 * step) {
                for low in first..(first + step).min(count - step) {
                    if low / (2 * length) == (low + step) / (2 * length) {
                        let (a, b) = (values[low], values[low + step]);
                        for lane in 0..CANDIDATES {
                            values[low][lane] = smaller(a[lane], b[lane]);
                            values[low + step][lane] = larger(a[lane], b[lane]);
                        }
                    }
                }
            }
            step /= 2;
        }
        length *= 2;
    }
}

/// Turns and flips patterns, each for itself, until they lie as the network knows them.
#[inline(always)]
fn turn<T: Real>(pattern: &mut Pattern<T>) {
    // The more a pixel is like the candidate, the more it weighs.
    let (mut rows, mut columns) =
        ([[T::zero(); CANDIDATES]; SIDE], [[T::zero(); CANDIDATES]; SIDE]);
    for (down, row) in pattern.iter().enumerate() {
        for (across, off) in row.iter().enumerate() {
            for lane in 0..CANDIDATES {
                let like = larger(T::one() - off[lane], T::zero());
                let weight = like * like;
                rows[down][lane] = rows[down][lane] + weight;
                columns[across][lane] = columns[across][lane] + weight;
            }
        }
    }
    let [mut to_left, mut to_top, mut beside] = [[T::zero(); CANDIDATES]; 3];
    for distance in 1..=REACH {
        let (low, high) = (REACH - distance, REACH + distance);
        let distance: T = count(distance);
        for lane in 0..CANDIDATES {
            let (left, right) = (columns[low][lane], columns[high][lane]);
            let (above, below) = (rows[low][lane], rows[high][lane]);
            to_left[lane] = to_left[lane] + distance * (left - right);
            to_top[lane] = to_top[lane] + distance * (above - below);
            let more = (left + right) - (above + below);
            beside[lane] = beside[lane] + distance * distance * more;
        }
    }
    for i in 0..SIDE {
        for j in 0..REACH {
            exchange(pattern, (i, j), (i, SIDE - 1 - j), &to_left);
        }
    }
    for i in 0..REACH {
        for j in 0..SIDE {
            exchange(pattern, (i, j), (SIDE - 1 - i, j), &to_top);
        }
    }
    for i in 0..SIDE {
        for j in 0..i {
            exchange(pattern, (i, j), (j, i), &beside);
        }
    }
}

/// Exchanges two places of the patterns for which a number is negative.
#[inline(always)]
fn exchange<T: Real>(
    pattern: &mut Pattern<T>,
    a: (usize, usize),
    b: (usize, usize),
    of: &Lanes<T>,
) {
    let (here, there) = (pattern[a.0][a.1], pattern[b.0][b.1]);
    for lane in 0..CANDIDATES {
        let is_negative = of[lane] < T::zero();
        pattern[a.0][a.1][lane] = if is_negative { there[lane] } else { here[lane] };
        pattern[b.0][b.1][lane] = if is_negative { here[lane] } else { there[lane] };
    }
}

/// What units say to `inputs`: the sum of these with the weights of each, and one more,
/// as far as it is positive.
#[inline(always)]
fn layer<T: Real, const IN: usize, const OUT: usize, const FUSED: bool>(
    inputs: &[Lanes<T>; IN],
    weights: &[T],
) -> [Lanes<T>; OUT] {
    let (weights, begin) = weights.split_at(IN * OUT);
    let mut units = [[T::zero(); CANDIDATES]; OUT];
    for (block, units) in units.chunks_exact_mut(UNITS).enumerate() {
        let block = block * UNITS..(block + 1) * UNITS;
        let mut sums = [[T::zero(); CANDIDATES]; UNITS];
        for (sum, &begin) in sums.iter_mut().zip(&begin[block.clone()]) {
            *sum = [begin; CANDIDATES];
        }
        for (input, weights) in inputs.iter().zip(weights.chunks_exact(OUT)) {
            for (sum, &weight) in sums.iter_mut().zip(&weights[block.clone()]) {
                for (sum, &input) in sum.iter_mut().zip(input) {
                    *sum = multiply_add::<T, FUSED>(weight, input, *sum);
                }
            }
        }
        for (unit, sum) in units.iter_mut().zip(sums) {
            for (unit, sum) in unit.iter_mut().zip(sum) {
                *unit = larger(sum, T::zero());
            }
        }
    }
    units
}

#[inline(always)]
fn smaller<T: Real>(a: T, b: T) -> T {
    if b < a { b } else { a }
}
