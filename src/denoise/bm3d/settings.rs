//! The parameters, with the normal and the high-noise profile.

use super::Transform;
use crate::real::constant;
use crate::{Error, Real};

/// How the blocks of one stage are taken, matched and put back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage<T> {
    /// Side of a block: 4, 8, 12 or 16 pixels.
    pub block: usize,
    /// Pixels from one reference block to the next, at most the side of a
    /// block.
    pub step: usize,
    /// How far from its reference a match may lie, in rows and in columns:
    /// the search window has 2 `radius` + 1 of each.
    pub radius: usize,
    /// The most blocks in a group, a power of two.
    pub group: usize,
    /// Blocks whose mean squared difference from the reference is not below
    /// this are no matches.
    pub max_distance: T,
    /// Shape of the Kaiser window with which blocks are put back; zero weighs
    /// all their pixels alike.
    pub beta: T,
    /// The transform of a block.
    pub transform: Transform,
}

/// BM3D with its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm3d<T> {
    /// The first stage.
    pub first: Stage<T>,
    /// The second stage.
    pub second: Stage<T>,
    /// Threshold of the first stage.
    pub threshold: T,
}

impl<T: Real> Default for Bm3d<T> {
    fn default() -> Self {
        let first = Stage {
            block: 8,
            step: 3,
            radius: 19,
            group: 16,
            max_distance: constant(3000.0),
            beta: constant(2.0),
            transform: Transform::Bior15,
        };
        let second = Stage {
            group: 32,
            max_distance: constant(400.0),
            transform: Transform::Dct,
            ..first
        };
        Self { first, second, threshold: constant(2.7) }
    }
}

use super::lattice::Samples;
use super::strip::Channel;
use super::stage::run;
use crate::denoise::{Plane, PlaneBuf};
impl<T: Real> Bm3d<T> {
    /// Denoises.
    ///
    /// # Errors
    /// TODO
    pub fn denoise(&self, plane: Plane<'_, T>, sigma: T) -> Result<PlaneBuf<T>, Error> {
        let (width, height) = (plane.width(), plane.height());
        let values = plane.to_vec();
        let noisy = Samples { values: &values, width, height };
        let channel = Channel { noisy, basic: None, level: self.threshold * sigma };
        let basic = run(&self.first, noisy, &[channel]).remove(0);
        let basic = Samples { values: &basic, width, height };
        let channel = Channel { noisy, basic: Some(basic), level: sigma * sigma };
        PlaneBuf::new(run(&self.second, basic, &[channel]).remove(0), width, height)
    }
}
