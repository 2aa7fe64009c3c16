//! Impulse or detail: what the pattern around a pixel says.
//!
//! A pixel that stands alone may be an impulse, or the end of a line, a glint, a thread
//! of a cloth. Whoever looks at it knows by what else is there. The differences to the 24
//! pixels around, in units of the impulses' size, tell most of it: those of the eight
//! neighbours in their order, those of the sixteen around them in theirs, and how nearly a
//! line through the pixel goes on, in four directions. A network with one hidden layer
//! makes of these a number $z$, the larger the more the pixel looks like an impulse. It has
//! learned that from photographs with noise and impulses of many sizes and shares (see
//! ARCHITECTURE.md).
//!
//! The search has the last word, since it knows what the region is like: it wants $1 - z$
//! times as much of a pixel as usual, within bounds. What a pixel is *worth* as a candidate
//! is one over the square of that, because the search compares squares.

mod weights;

use super::impulses::{Known, REACH, Window, larger};
use crate::Real;
use crate::linalg::simd::multiply_add;
use crate::real::constant;
use alloc::vec::Vec;
pub(crate) use weights::{INPUTS, UNITS, WEIGHTS};

/// Candidates that are judged at a time.
const CANDIDATES: usize = 8;

/// What is wanted at least and at most, as a part of the limit.
pub(crate) const WANTED: (f64, f64) = (0.85, 1.3);
/// Differences are cut there, in units of the impulses' size.
const DIFFERENCES: (f64, f64) = (-1.0, 2.0);
/// And the spread around.
const SPREAD: f64 = 1.5;

/// The lines through a pixel: where in a window its neighbours on them are, and the next.
const LINES: [[Pair; 2]; 4] = [
    [((2, 1), (2, 3)), ((2, 0), (2, 4))],
    [((1, 2), (3, 2)), ((0, 2), (4, 2))],
    [((1, 1), (3, 3)), ((0, 0), (4, 4))],
    [((1, 3), (3, 1)), ((0, 4), (4, 0))],
];
/// Row and column of two opposite pixels.
type Pair = ((usize, usize), (usize, usize));

/// One number of each candidate.
type Lanes<T> = [T; CANDIDATES];

/// The network, for an image.
pub(super) struct Judge<T> {
    /// The weights of each input, one for each unit; then what units begin with, and what
    /// each adds to the sum.
    weights: Vec<[T; UNITS]>,
    /// What the sum begins with.
    bias: T,
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
    spreads: Lanes<T>,
    count: usize,
}

impl<T: Real> Candidates<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        let zeros = [T::zero(); CANDIDATES];
        Self { columns: [0; CANDIDATES], sides: zeros, spreads: zeros, count: 0 }
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count == CANDIDATES
    }

    /// Adds the pixel in a column, while there is room.
    #[inline(always)]
    pub(super) fn add(&mut self, column: usize, side: T, spread: T) {
        self.columns[self.count] = column;
        self.sides[self.count] = side;
        self.spreads[self.count] = spread;
        self.count += 1;
    }
}

impl<T: Real> Judge<T> {
    /// For an image of which enough is known.
    pub(super) fn new(known: &Known<T>) -> Option<Self> {
        let &Known { noise, impulses, amplitude, .. } = known;
        if amplitude <= T::zero() {
            return None;
        }
        let (weights, bias) = WEIGHTS.split_at((INPUTS + 2) * UNITS);
        let row = |row: &[f32]| core::array::from_fn(|h| constant(row[h].into()));
        Some(Self {
            weights: weights.chunks_exact(UNITS).map(row).collect(),
            bias: constant(bias[0].into()),
            scale: amplitude.recip(),
            noise: noise / amplitude,
            impulses,
        })
    }

    /// Writes what the candidates in the middle row of `window` are worth; then there are
    /// none.
    #[inline(always)]
    pub(super) fn weigh<const FUSED: bool>(
        &self,
        window: Window<'_, T>,
        candidates: &mut Candidates<T>,
        worth: &mut [T],
    ) {
        if candidates.count == 0 {
            return;
        }
        let spared = self.spared::<FUSED>(&self.inputs(window, candidates));
        let (least, most) = (constant::<T>(WANTED.0), constant::<T>(WANTED.1));
        for (&x, spared) in candidates.columns.iter().zip(spared).take(candidates.count) {
            let wanted = smaller(larger(T::one() - spared, least), most);
            worth[x] = (wanted * wanted).recip();
        }
        candidates.count = 0;
    }

    /// What the network looks at.
    #[inline(always)]
    fn inputs(&self, window: Window<'_, T>, candidates: &Candidates<T>) -> [Lanes<T>; INPUTS] {
        let &Candidates { columns, sides, spreads, .. } = candidates;
        let of = Compared {
            pixels: core::array::from_fn(|lane| window[REACH][columns[lane] + REACH]),
            scales: core::array::from_fn(|lane| self.scale * sides[lane]),
            columns,
        };
        let mut inputs = [[T::zero(); CANDIDATES]; INPUTS];
        let [mut near, mut far] = [0, 8];
        for down in 0..=2 * REACH {
            for across in 0..=2 * REACH {
                let at = match down.abs_diff(REACH).max(across.abs_diff(REACH)) {
                    0 => continue,
                    1 => &mut near,
                    _ => &mut far,
                };
                inputs[*at] = of.differences(window[down], across);
                *at += 1;
            }
        }
        for (line, [(a, b), (c, d)]) in LINES.into_iter().enumerate() {
            let at = |(down, across): (usize, usize)| of.differences(window[down], across);
            let (a, b, c, d) = (at(a), at(b), at(c), at(d));
            for lane in 0..CANDIDATES {
                let (near, far) = (larger(a[lane], b[lane]), larger(c[lane], d[lane]));
                let rest = larger(smaller(a[lane], b[lane]), smaller(c[lane], d[lane]));
                inputs[24 + line][lane] = near;
                // The second largest of four: if it is small, three are like the pixel.
                inputs[28 + line][lane] = larger(smaller(near, far), rest);
            }
        }
        sort::<_, 0, { exchanges(8) }>(&mut inputs, &OF_EIGHT);
        sort::<_, 8, { exchanges(16) }>(&mut inputs, &OF_SIXTEEN);
        sort::<_, 24, { exchanges(4) }>(&mut inputs, &OF_FOUR);
        sort::<_, 28, { exchanges(4) }>(&mut inputs, &OF_FOUR);
        inputs[INPUTS - 3] = [self.noise; CANDIDATES];
        inputs[INPUTS - 2] = [self.impulses; CANDIDATES];
        let most = constant(SPREAD);
        for (input, spread) in inputs[INPUTS - 1].iter_mut().zip(spreads) {
            *input = smaller(self.scale * spread, most);
        }
        inputs
    }

    /// $z$: how much less is wanted of each.
    #[inline(always)]
    fn spared<const FUSED: bool>(&self, inputs: &[Lanes<T>; INPUTS]) -> Lanes<T> {
        let (inner, outer) = self.weights.split_at(INPUTS);
        let mut sums: [Lanes<T>; UNITS] = outer[0].map(|begin| [begin; CANDIDATES]);
        for (input, weights) in inputs.iter().zip(inner) {
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                for (sum, &input) in sum.iter_mut().zip(input) {
                    *sum = multiply_add::<T, FUSED>(weight, input, *sum);
                }
            }
        }
        let mut spared = [self.bias; CANDIDATES];
        for (sum, &weight) in sums.iter().zip(&outer[1]) {
            for (spared, &sum) in spared.iter_mut().zip(sum) {
                *spared = multiply_add::<T, FUSED>(weight, larger(sum, T::zero()), *spared);
            }
        }
        spared
    }
}

/// Pixels that are compared with others.
struct Compared<T> {
    pixels: Lanes<T>,
    /// One over the impulses' size, with the sign of the side that each is off to.
    scales: Lanes<T>,
    columns: [usize; CANDIDATES],
}

impl<T: Real> Compared<T> {
    /// By how much they exceed those in a row of the window, so many columns from its left.
    #[inline(always)]
    fn differences(&self, row: &[T], across: usize) -> Lanes<T> {
        let (low, high) = (constant::<T>(DIFFERENCES.0), constant::<T>(DIFFERENCES.1));
        let mut off = [T::zero(); CANDIDATES];
        for (off, &column) in off.iter_mut().zip(&self.columns) {
            *off = row[column + across];
        }
        for ((off, &pixel), &scale) in off.iter_mut().zip(&self.pixels).zip(&self.scales) {
            *off = smaller(larger(scale * (pixel - *off), low), high);
        }
        off
    }
}

/// Exchanges that sort so many values: a power of two.
const fn exchanges(values: usize) -> usize {
    let log = values.ilog2() as usize;
    values * (log * log - log + 4) / 4 - 1
}

/// Batcher's odd-even merge sort: which places are compared.
const fn batcher<const N: usize>(values: usize) -> [(usize, usize); N] {
    let mut pairs = [(0, 0); N];
    let (mut count, mut p) = (0, 1);
    while p < values {
        let mut k = p;
        while k > 0 {
            let mut low = k % p;
            while low + k < values {
                if (low / k) % 2 == (k % p) / k && low / (2 * p) == (low + k) / (2 * p) {
                    pairs[count] = (low, low + k);
                    count += 1;
                }
                low += 1;
            }
            k /= 2;
        }
        p *= 2;
    }
    assert!(count == N);
    pairs
}

const OF_FOUR: [(usize, usize); exchanges(4)] = batcher(4);
const OF_EIGHT: [(usize, usize); exchanges(8)] = batcher(8);
const OF_SIXTEEN: [(usize, usize); exchanges(16)] = batcher(16);

/// Sorts the inputs from `FIRST` on, lane by lane.
#[inline(always)]
fn sort<T: Real, const FIRST: usize, const N: usize>(
    inputs: &mut [Lanes<T>; INPUTS],
    exchanges: &[(usize, usize); N],
) {
    for &(a, b) in exchanges {
        let (low, high) = (inputs[FIRST + a], inputs[FIRST + b]);
        for lane in 0..CANDIDATES {
            // With a choice of the two instead, compilers write only where it changes
            // something, and what is written in part is late for the next exchange.
            inputs[FIRST + a][lane] = low[lane].min(high[lane]);
            inputs[FIRST + b][lane] = low[lane].max(high[lane]);
        }
    }
}

#[inline(always)]
fn smaller<T: Real>(a: T, b: T) -> T {
    if b < a { b } else { a }
}
