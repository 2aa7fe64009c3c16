//! What is around candidates, and from which side it is looked at.

use super::super::sort::LANES;
use super::super::window::{REACH, Window, larger};
use crate::Real;
use crate::real::{constant, count};

/// Candidates that the small network is asked about together.
pub(super) const CANDIDATES: usize = LANES;
/// Differences are cut there, in units of the impulses' size.
pub(crate) const DIFFERENCES: (f64, f64) = (-1.0, 2.0);
/// Rows and columns of the pattern.
const SIDE: usize = 2 * REACH + 1;

/// One number of each candidate.
pub(super) type Lanes<T> = [T; CANDIDATES];
/// What is around each, row by row.
pub(super) type Pattern<T> = [[Lanes<T>; SIDE]; SIDE];

/// Pixels of a row that wait to be classified.
pub(crate) struct Candidates<T> {
    pub(super) columns: [usize; CANDIDATES],
    /// Whether each exceeds its neighbours, or falls below them: plus or minus one.
    pub(super) sides: Lanes<T>,
    pub(super) count: usize,
}

impl<T: Real> Candidates<T> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { columns: [0; CANDIDATES], sides: [T::zero(); CANDIDATES], count: 0 }
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.count == CANDIDATES
    }

    /// Adds the pixel in a column, while there is room.
    #[inline(always)]
    pub(crate) fn add(&mut self, column: usize, side: T) {
        self.columns[self.count] = column;
        self.sides[self.count] = side;
        self.count += 1;
    }
}

/// By how much the candidates exceed what is around them, or fall below, each times `scale`.
#[inline(always)]
pub(super) fn pattern<T: Real>(
    window: Window<'_, T>,
    candidates: &Candidates<T>,
    scale: T,
) -> Pattern<T> {
    let &Candidates { columns, sides, .. } = candidates;
    let (low, high) = (constant::<T>(DIFFERENCES.0), constant::<T>(DIFFERENCES.1));
    let mut scales = sides;
    let mut pixels = [T::zero(); CANDIDATES];
    for ((pixel, own), column) in pixels.iter_mut().zip(&mut scales).zip(columns) {
        *pixel = window[REACH][column + REACH];
        *own = *own * scale;
    }
    let mut pattern = [[[T::zero(); CANDIDATES]; SIDE]; SIDE];
    for (row, line) in pattern.iter_mut().zip(window) {
        let mut around = [&line[..SIDE]; CANDIDATES];
        for (around, column) in around.iter_mut().zip(columns) {
            *around = &line[column..][..SIDE];
        }
        for (across, off) in row.iter_mut().enumerate() {
            for (off, around) in off.iter_mut().zip(around) {
                *off = around[across];
            }
            for ((off, &pixel), &scale) in off.iter_mut().zip(&pixels).zip(&scales) {
                *off = smaller(larger(scale * (pixel - *off), low), high);
            }
        }
    }
    pattern
}

/// Where the pixels of a pattern are that are next to its middle, and those around these.
pub(super) const NEAR: [(usize, usize); 8] = at_distance(1);
pub(super) const FAR: [(usize, usize); 16] = at_distance(2);

const fn at_distance<const COUNT: usize>(distance: usize) -> [(usize, usize); COUNT] {
    let mut all = [(0, 0); COUNT];
    let (mut next, mut place) = (0, 0);
    while place < SIDE * SIDE {
        let (i, j) = (place / SIDE, place % SIDE);
        let (down, across) = (i.abs_diff(REACH), j.abs_diff(REACH));
        if down <= distance && across <= distance && (down == distance || across == distance) {
            all[next] = (i, j);
            next += 1;
        }
        place += 1;
    }
    assert!(next == COUNT);
    all
}

/// The pixels in these places of patterns.
#[inline(always)]
pub(super) fn at<T: Real, const COUNT: usize>(
    pattern: &Pattern<T>,
    places: [(usize, usize); COUNT],
) -> [Lanes<T>; COUNT] {
    places.map(|(i, j)| pattern[i][j])
}

/// Turns and flips patterns, each for itself, until they lie as the network knows them.
#[inline(always)]
pub(super) fn turn<T: Real>(pattern: &mut Pattern<T>) {
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

#[inline(always)]
fn smaller<T: Real>(a: T, b: T) -> T {
    if b < a { b } else { a }
}
