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
//! A small network is asked first, and a large one about those pixels of which the small one is not
//! sure: to ask the large one about all would give the same and take longer.
//!
//! The networks' $z$ is a multiple of the log-odds of an impulse (0.15 of them:
//! `models/classifier.toml`). The search has the last word, since it knows what the region is like:
//! the limit of a residual is $e^{-z}$ times as large, so that $z$ adds to the logarithm of a
//! score. What a pixel is *worth* as a candidate is $e^{2z}$, because the search compares squares. That
//! holds for residuals that noise may explain; a line has residuals of any size, and only the
//! pattern tells. So what is unlikely enough is no candidate at all.

mod glance;
pub(crate) mod pattern;
mod study;
pub(crate) mod weights;

use self::glance::Glance;
use self::pattern::{CANDIDATES, Candidates, FAR, Lanes, NEAR, at, pattern, turn};
use self::study::Study;
use self::weights::INPUTS;
use super::sort::{sort_8, sort_16};
use super::window::{Known, Window};
use crate::Real;
use crate::real::constant;
use alloc::vec::Vec;

/// The glance decides where it says more than this, or less than minus this.
pub(crate) const SURE: f64 = 0.45;
/// The $z$ below which a pixel is a detail, however large its residual: odds of one to seven.
pub(crate) const DETAIL: f64 = -0.3;
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
        let &Known { noise, impulses, amplitude, .. } = known;
        if amplitude <= T::zero() {
            return None;
        }
        Some(Self { networks, scale: amplitude.recip(), noise: noise / amplitude, impulses })
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

/// What a pixel with this $z$ is worth as a candidate; nothing if it is a detail.
#[inline(always)]
fn worth_of<T: Real>(z: T) -> T {
    if z < constant(DETAIL) { T::zero() } else { (z + z).exp() }
}
