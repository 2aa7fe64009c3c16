//! The parameters, and the profiles of the literature.
//!
//! Dabov: K. Dabov, A. Foi, V. Katkovnik, K. Egiazarian, "Image denoising by
//! sparse 3-D transform-domain collaborative filtering", IEEE Trans. Image
//! Processing 16(8), 2007, Table I. Lebrun: M. Lebrun, "An analysis and
//! implementation of the BM3D image denoising method", Image Processing On
//! Line 2, 2012.

use super::Transform;
use crate::denoise::noise_spectrum::SIDE;
use crate::real::constant;
use crate::{Error, Real};

/// How one stage takes, matches and puts back its blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(bound(serialize = "T: crate::Real + serde::Serialize"))
)]
pub struct Stage<T> {
    /// Side of a block: 4, 8, 12 or 16 pixels.
    pub block: usize,
    /// Pixels from one reference block to the next, at most the side of a
    /// block.
    pub step: usize,
    /// How far from its reference a match may lie, in rows and in columns:
    /// the search window has 2 `radius` + 1 of each.
    pub radius: usize,
    /// Only every so many rows and columns of the window are tried. Blocks that are a few pixels
    /// apart share correlated noise, and would match because of it.
    pub spacing: usize,
    /// The most blocks in a group, a power of two.
    pub group: usize,
    /// Only blocks whose mean squared difference from the reference is below
    /// this are matches; it may be infinite.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serial::unlimited::serialize"))]
    pub max_distance: T,
    /// Shape of the Kaiser window with which blocks are put back; zero weighs
    /// all their pixels alike.
    pub beta: T,
    /// The transform of a block.
    pub transform: Transform,
}

/// BM3D with its parameters; by default those of the normal profile.
///
/// `max_distance` of the profiles is for pixels from 0 to 255; see
/// [`for_range`](Self::for_range) for others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(bound(serialize = "T: crate::Real + serde::Serialize"))
)]
pub struct Bm3d<T> {
    /// The first stage: hard threshold.
    pub first: Stage<T>,
    /// The second stage: Wiener filter.
    pub second: Stage<T>,
    /// Coefficients of the first stage up to this many deviations of the
    /// noise become zero.
    pub threshold: T,
    /// Whether there is a second stage. Without it the result is the basic
    /// estimate, in less than half the time.
    pub wiener: bool,
}

/// The range of pixels that the distances of the literature are for.
const RANGE: f64 = 255.0;

/// Above this deviation of the noise, for pixels of [`RANGE`], the literature
/// uses the profile for high noise.
const HIGH_NOISE: f64 = 40.0;

/// Distance of candidates in correlation lengths of the noise.
const SPACING: f64 = 1.8;

impl<T: Real> Default for Bm3d<T> {
    fn default() -> Self {
        Self::normal()
    }
}

impl<T: Real> Bm3d<T> {
    /// The normal profile: Dabov's Table I, for deviations up to 40.
    ///
    /// The distance of the first stage is the 3000 of the authors' program;
    /// the paper prints 2500 (as does Lebrun), which makes no difference that
    /// could be measured.
    #[must_use]
    pub fn normal() -> Self {
        let first = Stage {
            block: 8,
            step: 3,
            radius: 19,
            spacing: 1,
            group: 16,
            max_distance: constant(3000.0),
            beta: constant(2.0),
            transform: Transform::Bior15,
        };
        let second =
            Stage { group: 32, max_distance: constant(400.0), transform: Transform::Dct, ..first };
        Self { first, second, threshold: constant(2.7), wiener: true }
    }

    /// The profile for deviations above 40: larger blocks, more tolerant
    /// matching.
    ///
    /// Dabov matches thresholded blocks of 12 x 12 here, with a distance of
    /// 25000; this matches plain ones, and as noise alone makes equal blocks
    /// differ, does not limit their distance.
    #[must_use]
    pub fn high_noise() -> Self {
        let normal = Self::normal();
        let first = Stage {
            block: 12,
            step: 4,
            max_distance: T::infinity(),
            transform: Transform::Dct,
            ..normal.first
        };
        let second = Stage { block: 12, step: 4, max_distance: constant(3500.0), ..normal.second };
        Self { first, second, threshold: constant(2.8), wiener: true }
    }

    /// About half the work of the normal profile, for a few hundredths of a
    /// decibel: references farther apart, a smaller window.
    #[must_use]
    pub fn fast() -> Self {
        let normal = Self::normal();
        Self {
            first: Stage { step: 4, radius: 16, ..normal.first },
            second: Stage { step: 4, radius: 16, ..normal.second },
            ..normal
        }
    }

    /// The same for noise that is not white, of this correlation length in pixels: the DCT of 8 x 8
    /// pixels in both stages. Such noise makes equal blocks differ by much or by little, so that
    /// their distance has no limit in the first stage; and candidates are 1.8 lengths
    /// apart, where little noise is common to them.
    #[must_use]
    pub fn correlated(mut self, length: T) -> Self {
        let spacing = (length * constant(SPACING)).to_usize().unwrap_or(1).clamp(1, SIDE / 2);
        for stage in [&mut self.first, &mut self.second] {
            (stage.block, stage.transform) = (SIDE, Transform::Dct);
            (stage.step, stage.spacing) = (stage.step.min(SIDE), spacing);
        }
        self.first.max_distance = T::infinity();
        self
    }

    /// The profile of the literature for noise of deviation `sigma` on pixels
    /// from 0 to `range`.
    #[must_use]
    pub fn for_noise(sigma: T, range: T) -> Self {
        if sigma * constant(RANGE) > range * constant(HIGH_NOISE) {
            Self::high_noise().for_range(range)
        } else {
            Self::normal().for_range(range)
        }
    }

    /// The same for pixels from 0 to `range` in place of 255.
    #[must_use]
    pub fn for_range(mut self, range: T) -> Self {
        let factor = range / constant(RANGE);
        for stage in [&mut self.first, &mut self.second] {
            stage.max_distance = stage.max_distance * factor * factor;
        }
        self
    }

    /// Refuses blocks whose coefficients a spectrum does not describe.
    pub(super) fn check_spectral(&self) -> Result<(), Error> {
        let mut stages = [&self.first, &self.second].into_iter();
        if stages.all(|stage| stage.block == SIDE && stage.transform == Transform::Dct) {
            return Ok(());
        }
        let (what, allowed) = ("side of a block", "8, with the DCT, for noise with a spectrum");
        Err(Error::Setting { what, value: self.first.block, allowed })
    }

    /// Refuses parameters that mean nothing.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.first.check()?;
        self.second.check()?;
        Error::check_not_negative("threshold", self.threshold)
    }
}

/// The farthest a match may be looked for: the time grows with its square.
const MAX_RADIUS: usize = 1 << 10;

/// The largest group.
const MAX_GROUP: usize = 1 << 10;

impl<T: Real> Stage<T> {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Self { block, step, radius, group, .. } = *self;
        let check = |what, value, allowed, is_allowed| {
            if is_allowed { Ok(()) } else { Err(Error::Setting { what, value, allowed }) }
        };
        check("side of a block", block, "4, 8, 12 or 16", [4, 8, 12, 16].contains(&block))?;
        if self.transform == Transform::Bior15 {
            check("side of a block", block, "4, 8 or 16 for bior1.5", block.is_power_of_two())?;
        }
        check("step", step, "from 1 to the side of a block", (1..=block).contains(&step))?;
        check("search radius", radius, "at most 1024", radius <= MAX_RADIUS)?;
        let is_group = group.is_power_of_two() && group <= MAX_GROUP;
        check("spacing", self.spacing, "at least 1", self.spacing > 0)?;
        check("group size", group, "a power of two, at most 1024", is_group)?;
        Error::check_not_negative("largest distance", self.max_distance)?;
        let beta = self.beta.to_usize().unwrap_or(usize::MAX);
        check("beta", beta, "from 0 to 20", self.beta <= constant(MAX_BETA))?;
        Error::check_not_negative("beta", self.beta)
    }
}

/// Beyond this the corners of a block would have no weight that a narrow type
/// can tell from none.
const MAX_BETA: f64 = 20.0;
