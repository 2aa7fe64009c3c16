//! One row of regions: smoothed for a first residual, searched for outliers, smoothed again.

use super::blend::Strip;
use super::conditions::Conditions;
use super::detect::rows::Rows;
use super::detect::search::{DOUBT, Region, Searcher};
use super::detect::window::Known;
use super::plan::DenoisePlan;
use super::smooth::ladder::Ladder;
use super::survey::PART_OF_AMPLITUDE;
use crate::image::{Grid, Masks};
use crate::real::constant;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// The least noise that outliers are measured by, in units.
const LEAST_NOISE: f64 = 1.0;

/// What is the same for all strips of an image. Everything is in units.
pub(crate) struct Job<'a, T> {
    pub(crate) grid: Grid,
    pub(crate) ladder: &'a Ladder<T>,
    pub(crate) conditions: Conditions<T>,
    /// Shares of the columns and the rows of regions in the result.
    pub(crate) across: Vec<T>,
    pub(crate) down: Vec<T>,
}

/// Memory for one row of regions after another.
struct Buffers<T> {
    pixels: Vec<T>,
    /// The pixels without suspects, then their weights as candidates.
    looks: Vec<T>,
    coefficients: Vec<T>,
    residuals: Vec<T>,
    bad: Vec<bool>,
    keep: Vec<bool>,
    known: Vec<usize>,
    searcher: Searcher<T>,
}

impl<'a, T: Real> Job<'a, T> {
    /// For an image under these `conditions`, which are in units.
    pub(super) fn new(plan: &'a DenoisePlan<T>, grid: Grid, conditions: Conditions<T>) -> Self {
        let [across, down] = [grid.width(), grid.height()].map(|length| grid.shares(length));
        Self { grid, ladder: &plan.ladder, conditions, across, down }
    }

    /// Solves the regions of `rows`. `masks` begin with row `top` of the image.
    pub(super) fn run(
        &self,
        rows: Range<usize>,
        image: &Rows<T>,
        masks: Masks<'_>,
        top: usize,
    ) -> Result<Vec<Strip<T>>, Error> {
        let n = self.grid.region() * self.grid.region();
        let area = self.grid.columns() * n;
        let zeros = || alloc::vec![T::zero(); area];
        let mask = |mask: Option<_>| alloc::vec![false; if mask.is_some() { area } else { 0 }];
        let mut buffers = Buffers {
            pixels: zeros(),
            looks: zeros(),
            coefficients: zeros(),
            residuals: zeros(),
            bad: mask(masks.bad),
            keep: mask(masks.keep),
            known: Vec::with_capacity(n),
            searcher: Searcher::new(n),
        };
        rows.map(|row| self.strip(row, image, masks, top, &mut buffers)).collect()
    }

    fn strip(
        &self,
        row: usize,
        image: &Rows<T>,
        masks: Masks<'_>,
        top: usize,
        buffers: &mut Buffers<T>,
    ) -> Result<Strip<T>, Error> {
        let Self { grid, ladder, conditions, .. } = self;
        let n = grid.region() * grid.region();
        let Buffers { pixels, looks, coefficients, residuals, .. } = buffers;
        let Buffers { bad, keep, known, searcher, .. } = buffers;
        let first = image.range.start;
        let mut strip = Strip::empty(grid, row..row + 1, ladder.rungs.len());
        grid.gather(image.pixels(), first, row, pixels);
        for (mask, regions) in [(masks.bad, &mut *bad), (masks.keep, &mut *keep)] {
            if let Some(mask) = mask {
                grid.gather(mask, top, row, regions);
            }
        }

        // Each region's lambda, without suspects, and its misfit there.
        grid.gather(image.calm(), first, row, looks);
        ladder.basis.analyse(looks, coefficients);
        let mut choices = ladder.choose(coefficients, self.floor());

        // The first residuals of all regions, from one product there and back.
        ladder.basis.analyse(pixels, coefficients);
        ladder.residuals(&choices, coefficients, residuals);

        // The outliers, region by region.
        let worth = looks;
        grid.gather(image.worth(), first, row, worth);
        let doubt = self.doubt();
        for (column, &(rung, misfit)) in choices.iter().enumerate() {
            let part = column * n..(column + 1) * n;
            let worth = &mut worth[part.clone()];
            if let Some(keep) = keep.get(part.clone()) {
                for (worth, _) in worth.iter_mut().zip(keep).filter(|(_, keep)| **keep) {
                    *worth = T::zero();
                }
            }
            known.clear();
            if let Some(bad) = bad.get(part.clone()) {
                known.extend((0..n).filter(|&j| bad[j]).take(n - grid.region()));
            }
            let found = searcher.search(Region {
                maker: &ladder.rungs[rung].maker,
                pixels: &pixels[part.clone()],
                residual: &residuals[part.clone()],
                worth,
                known,
                limit: conditions.limit * self.floor().max(misfit),
                size: conditions.size,
                doubt,
            })?;
            for ((&j, &u), &share) in found.indices.iter().zip(found.values).zip(found.shares) {
                pixels[part.start + j] = pixels[part.start + j] - u;
                // Removed by more than a half.
                if share > constant(0.5) {
                    strip.record(grid, column, j, u);
                }
            }
        }

        // The rest is smoothed with the lambda that suits it best.
        if conditions.noise > T::zero() {
            ladder.basis.analyse(pixels, coefficients);
            choices = ladder.choose(coefficients, conditions.noise);
            ladder.residuals(&choices, coefficients, residuals);
        } else {
            choices.fill((0, T::zero()));
            residuals.fill(T::zero());
        }
        for (rung, _) in choices {
            strip.rungs[rung] += 1;
        }
        for (pixel, &r) in pixels.iter_mut().zip(&*residuals) {
            *pixel = *pixel - r;
        }
        strip.add(grid, pixels, (&self.across, &self.down));
        Ok(strip)
    }

    /// What is known of the image when its pixels are looked at.
    pub(crate) fn known(&self) -> Known<T> {
        let Conditions { noise, limit, size, witnesses, impulses, .. } = self.conditions;
        Known {
            witnesses,
            noise: self.floor(),
            impulses,
            alone_enough: limit * self.floor() / constant(2.0),
            off_enough: size,
            // Without noise every candidate counts, and the classifier is not asked.
            amplitude: if noise > T::zero() {
                size / constant(PART_OF_AMPLITUDE)
            } else {
                T::zero()
            },
        }
    }

    /// The noise that outliers are measured by.
    pub(crate) fn floor(&self) -> T {
        self.conditions.noise.max(constant(LEAST_NOISE))
    }

    /// The relative distance to the limit within which a part of an outlier is removed. Without
    /// noise outliers are removed as a whole.
    pub(crate) fn doubt(&self) -> T {
        if self.conditions.noise > T::zero() { constant(DOUBT) } else { T::zero() }
    }
}
