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

mod large;
pub(crate) mod pattern;
mod small;
pub(crate) mod weights;

use self::large::Large;
use self::pattern::{CANDIDATES, Candidates, FAR, Lanes, NEAR, at, pattern, turn};
use self::small::Small;
use self::weights::INPUTS;
use super::sort::{sort_8, sort_16};
use super::window::{Known, Window};
use crate::Real;
use crate::real::constant;
use alloc::vec::Vec;

/// The small network decides where its $z$ is more than this, or less than minus this.
pub(crate) const SURE: f64 = 0.45;
/// The $z$ below which a pixel is a detail, however large its residual: odds of one to fourteen.
pub(crate) const DETAIL: f64 = -0.4;
/// Doubtful candidates of which the large network is asked together.
const DOUBTFUL: usize = 64;

/// What has been learned.
#[derive(Debug, Clone)]
pub(crate) struct Networks<T> {
    small: Small<T>,
    large: Large<T>,
}

impl<T: Real> Networks<T> {
    pub(crate) fn new() -> Self {
        Self { small: Small::new(), large: Large::new() }
    }
}

/// Classifies the candidates of an image.
pub(crate) struct Classifier<'a, T> {
    networks: &'a Networks<T>,
    /// One over what nearly all impulses are off by.
    scale: T,
    /// Noise in these units, and the share of impulses.
    noise: T,
    impulses: T,
}

/// Candidates of which the small network is not sure.
pub(crate) struct Doubtful<T> {
    /// Where their worth is to be written.
    places: Vec<usize>,
    /// The networks' inputs, one candidate after the other.
    inputs: Vec<T>,
    /// Memory for the large network.
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

impl<'a, T: Real> Classifier<'a, T> {
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
    pub(crate) fn classify<const FUSED: bool>(
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
        let z = self.networks.small.z_of::<FUSED>(&inputs);
        for lane in 0..candidates.count {
            let place = row + candidates.columns[lane];
            if z[lane].abs() > constant(SURE) {
                worth[place] = worth_of(z[lane]);
            } else {
                doubtful.add(place, inputs.iter().map(|input| input[lane]));
            }
        }
        candidates.count = 0;
        if doubtful.places.len() >= DOUBTFUL {
            self.classify_doubtful(doubtful, worth);
        }
    }

    /// Asks the large network about the doubtful; then there are none.
    pub(crate) fn classify_doubtful(&self, doubtful: &mut Doubtful<T>, worth: &mut [T]) {
        let Doubtful { places, inputs, units } = doubtful;
        let all = self.networks.large.z_of(inputs, units);
        for (place, z) in places.drain(..).zip(all) {
            worth[place] = worth_of(z);
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
