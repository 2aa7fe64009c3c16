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

mod glance;
pub(crate) mod pattern;
mod study;
pub(crate) mod weights;

use self::glance::Glance;
use self::pattern::{CANDIDATES, Candidates, FAR, Lanes, NEAR, at, pattern, turn};
use self::study::Study;
use self::weights::INPUTS;
use super::sort::{sort_8, sort_16};
use super::window::{Known, Window, larger};
use crate::Real;
use crate::real::constant;
use alloc::vec::Vec;

/// What is wanted at least and at most, as a part of the limit. A pixel of which more is
/// wanted is a detail.
pub(crate) const WANTED: (f64, f64) = (0.5, 1.4);
/// A pixel is clear that is beyond all but one of its neighbours by so many times the least
/// size of an impulse, where the spread is below the other. Lines have two.
pub(crate) const CLEAR: (f64, f64) = (1.3, 0.4);
/// The glance decides where it says more than this, or less than minus this.
pub(crate) const SURE: f64 = 0.45;
/// Candidates that are studied together.
const DOUBTFUL: usize = 64;

/// What has been learned.
#[derive(Debug, Clone)]
pub(crate) struct Networks<T> {
    glance: Glance<T>,
    study: Study<T>,
}

impl<T: Real> Networks<T> {
    pub(crate) fn new() -> Self {
        Self { glance: Glance::new(), study: Study::new() }
    }
}

/// Who judges the candidates of an image.
pub(crate) struct Judge<'a, T> {
    networks: &'a Networks<T>,
    /// What is clear: beyond its neighbours by more, and a smaller spread.
    clear: (T, T),
    /// One over what nearly all impulses are off by.
    scale: T,
    /// Noise in these units, and the share of impulses.
    noise: T,
    impulses: T,
}

/// What the glance was not sure of.
pub(crate) struct Doubtful<T> {
    /// Where their worth is to be written.
    places: Vec<usize>,
    /// What is seen of them, one after the other.
    inputs: Vec<T>,
    /// Memory for their study.
    units: [Vec<T>; 2],
}

impl<T: Real> Doubtful<T> {
    pub(crate) fn new() -> Self {
        Self { places: Vec::new(), inputs: Vec::new(), units: [Vec::new(), Vec::new()] }
    }

    #[inline(always)]
    fn add(&mut self, place: usize, inputs: impl Iterator<Item = T>) {
        self.places.push(place);
        self.inputs.extend(inputs);
    }
}

impl<'a, T: Real> Judge<'a, T> {
    /// For an image of which enough is known.
    pub(crate) fn new(networks: &'a Networks<T>, known: &Known<T>) -> Option<Self> {
        let &Known { noise, impulses, amplitude, clear, .. } = known;
        if amplitude <= T::zero() {
            return None;
        }
        Some(Self { networks, clear, scale: amplitude.recip(), noise: noise / amplitude, impulses })
    }

    /// What a pixel is worth that is beyond all but one of its neighbours by so much, if that
    /// says it all.
    #[inline(always)]
    pub(crate) fn if_clear(&self, beyond: T, spread: T) -> Option<T> {
        let is_clear = beyond > self.clear.0 && spread < self.clear.1;
        is_clear.then(|| constant(1.0 / (WANTED.0 * WANTED.0)))
    }

    /// Looks at the candidates in the middle row of `window`; then there are none. Writes
    /// what they are worth into the row that begins there, or puts them down as doubtful.
    #[inline(always)]
    pub(crate) fn glance<const FUSED: bool>(
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
        let spared = self.networks.glance.spared::<FUSED>(&inputs);
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
    pub(crate) fn study(&self, doubtful: &mut Doubtful<T>, worth: &mut [T]) {
        let Doubtful { places, inputs, units } = doubtful;
        let spared = self.networks.study.spared(inputs, units);
        for (place, spared) in places.drain(..).zip(spared) {
            worth[place] = worth_of(spared);
        }
        inputs.clear();
    }

    /// What the networks look at.
    #[inline(always)]
    fn inputs(&self, window: Window<'_, T>, candidates: &Candidates<T>) -> [Lanes<T>; INPUTS] {
        let mut pattern = pattern(window, candidates, self.scale);
        turn(&mut pattern);
        let mut inputs = [[T::zero(); CANDIDATES]; INPUTS];
        let (near, rest) = inputs.split_first_chunk_mut().expect("as many inputs");
        let (far, rest) = rest.split_first_chunk_mut().expect("as many inputs");
        *near = at(&pattern, NEAR);
        *far = at(&pattern, FAR);
        sort_8(near);
        sort_16(far);
        let around = pattern.as_flattened();
        let middle = around.len() / 2;
        rest[..middle].copy_from_slice(&around[..middle]);
        rest[middle..2 * middle].copy_from_slice(&around[middle + 1..]);
        rest[2 * middle] = [self.noise; CANDIDATES];
        rest[2 * middle + 1] = [self.impulses; CANDIDATES];
        inputs
    }
}

/// What a pixel is worth as a candidate of which so much less is wanted.
#[inline(always)]
fn worth_of<T: Real>(spared: T) -> T {
    let wanted = larger(T::one() - spared, constant(WANTED.0));
    if wanted > constant(WANTED.1) { T::zero() } else { (wanted * wanted).recip() }
}
