//! One row of regions: everything that happens to them.

use super::Detection;
use super::denoiser::{DenoisePlan, Settings, Smoothing};
use super::detect::classifier::CLEAR;
use super::detect::modal::Usual;
use super::detect::neighbourhood::Known;
use super::detect::rows::Rows;
use super::detect::search::{DOUBT, Found, Region, Searcher};
use super::smooth::ladder::Ladder;
use super::survey::{self, Conditions, PART_OF_AMPLITUDE};
use crate::image::{Grid, Masks};
use crate::real::constant;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// The multiples of $\lambda_0$ for regions full of detail, ordinary ones and
/// smooth ones (section "Automatic selection of the regularization parameter").
pub(super) const MULTIPLES: [f64; 3] = [1.0, 5.0, 15.0];

/// How much of the least size an outlier differs from the median of its neighbours.
const PART_OF_SIZE: f64 = 0.75;

/// What rows of regions have to say about the rows of pixels they cover.
pub(crate) struct Strip<T> {
    /// Which rows of regions they are.
    pub(crate) rows: Range<usize>,
    /// Their share of the denoised pixels, rows [`Grid::covered_by`].
    pub(crate) fitted: Vec<T>,
    /// The outliers in their cores.
    pub(crate) outliers: Vec<T>,
    /// How many regions were smoothed by each rung.
    pub(crate) rungs: Vec<usize>,
}

/// What is the same for all strips of an image.
pub(crate) struct Job<'a, T> {
    pub(crate) grid: Grid,
    pub(crate) settings: &'a Settings<T>,
    pub(crate) ladder: &'a Ladder<T>,
    pub(crate) conditions: &'a Conditions<T>,
    /// Shares of the columns and the rows of regions in the result.
    pub(crate) across: Vec<T>,
    pub(crate) down: Vec<T>,
}

/// Memory for one row of regions after another.
struct Buffers<T> {
    pixels: Vec<T>,
    /// The pixels without suspects, then what they are worth as candidates.
    looks: Vec<T>,
    coefficients: Vec<T>,
    residuals: Vec<T>,
    bad: Vec<bool>,
    keep: Vec<bool>,
    known: Vec<usize>,
    searcher: Searcher<T>,
}

impl<'a, T: Real> Job<'a, T> {
    pub(super) fn new(plan: &'a DenoisePlan<T>, grid: Grid, conditions: &'a Conditions<T>) -> Self {
        let DenoisePlan { settings, ladder, .. } = plan;
        let [across, down] =
            [grid.width(), grid.height()].map(|length| grid.shares(length, settings.blended));
        Self { grid, settings, ladder, conditions, across, down }
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
        let Self { grid, ladder, .. } = self;
        let n = grid.region() * grid.region();
        let Buffers { pixels, looks, coefficients, residuals, .. } = buffers;
        let Buffers { bad, keep, known, searcher, .. } = buffers;
        let first = image.range.start;
        grid.gather(image.pixels(), first, row, pixels);
        for (mask, regions) in [(masks.bad, &mut *bad), (masks.keep, &mut *keep)] {
            if let Some(mask) = mask {
                grid.gather(mask, top, row, regions);
            }
        }

        // The first residuals of all regions, from one product there and back.
        let mut choices = self.choose(row, image, looks, coefficients);
        ladder.basis.analyse(pixels, coefficients);
        ladder.residuals(&choices, coefficients, residuals);

        // The outliers, region by region.
        let worth = looks;
        grid.gather(image.worth(), first, row, worth);
        let mut outliers = alloc::vec![T::zero(); grid.core() * grid.width()];
        let (doubt, usual) = (self.doubt(), self.usual());
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
            let region = Region {
                maker: &ladder.rungs[rung].maker,
                pixels: &pixels[part.clone()],
                residual: &residuals[part.clone()],
                worth,
                known,
                limit: self.conditions.extreme * self.floor().max(misfit),
                size: self.conditions.size,
                doubt,
                usual,
            };
            let found = if self.settings.wants_residuals() {
                let found = searcher.search(region, self.settings.detection)?;
                residuals[part.clone()].copy_from_slice(found.residual);
                found
            } else {
                searcher.search_listed(region)?
            };
            self.record(row, column, &found, &mut outliers);
            for (&j, &u) in found.indices.iter().zip(found.values) {
                pixels[part.start + j] = pixels[part.start + j] - u;
            }
        }

        // What is left is smoothed as suits it best.
        if let Smoothing::Automatic = self.settings.smoothing {
            if self.conditions.noise > T::zero() {
                ladder.basis.analyse(pixels, coefficients);
                choices = ladder.choose(coefficients, self.conditions.noise);
                ladder.residuals(&choices, coefficients, residuals);
            } else {
                choices.fill((0, T::zero()));
                residuals.fill(T::zero());
            }
        }
        let mut rungs = alloc::vec![0; ladder.rungs.len()];
        for (rung, _) in choices {
            rungs[rung] += 1;
        }
        for (pixel, &r) in pixels.iter_mut().zip(&*residuals) {
            *pixel = *pixel - r;
        }
        Ok(Strip { rows: row..row + 1, fitted: self.assemble(row, pixels), outliers, rungs })
    }

    /// What is known of the image when its pixels are looked at.
    pub(crate) fn known(&self) -> Known<T> {
        let automatic = matches!(self.settings.detection, Detection::Automatic);
        let Conditions { noise, extreme, size, .. } = *self.conditions;
        Known {
            witnesses: self.conditions.witnesses,
            noise: self.floor(),
            impulses: self.conditions.impulses,
            // The paper's rules look at the residuals only.
            alone_enough: if automatic {
                extreme * self.floor() / constant(2.0)
            } else {
                T::neg_infinity()
            },
            off_enough: if automatic {
                constant::<T>(PART_OF_SIZE) * size
            } else {
                T::neg_infinity()
            },
            // Where there is no noise, nobody has to be asked what is a detail.
            amplitude: if automatic && noise > T::zero() {
                size / constant(PART_OF_AMPLITUDE)
            } else {
                T::zero()
            },
            clear: (constant::<T>(CLEAR.0) * size, constant::<T>(CLEAR.1) * size),
        }
    }

    /// The noise that outliers are measured by.
    pub(crate) fn floor(&self) -> T {
        self.conditions.noise.max(self.settings.least_noise())
    }

    /// How far from the limit there are doubts. Where there is no noise, or where nothing is
    /// smoothed after the search, whatever is taken out is taken out as a whole.
    pub(crate) fn doubt(&self) -> T {
        if self.conditions.noise > T::zero() && !self.settings.wants_residuals() {
            constant(DOUBT)
        } else {
            T::zero()
        }
    }

    /// What outliers usually are off by. The paper's rules and smoothing know nothing of it.
    pub(crate) fn usual(&self) -> Usual<T> {
        let usual = Usual::new(self.conditions, self.settings.peak);
        if self.settings.wants_residuals() { Usual { alike: T::zero(), ..usual } } else { usual }
    }

    /// For each region its rung and the standard deviation of what that does not fit.
    fn choose(
        &self,
        row: usize,
        image: &Rows<T>,
        calm: &mut [T],
        coefficients: &mut [T],
    ) -> Vec<(usize, T)> {
        let Self { grid, ladder, conditions, .. } = self;
        match self.settings.smoothing {
            Smoothing::Automatic => {
                grid.gather(image.calm(), image.range.start, row, calm);
                ladder.basis.analyse(calm, coefficients);
                ladder.choose(coefficients, self.floor())
            }
            Smoothing::Paper { .. } => {
                let gradients = survey::gradients(grid, row, image);
                let class = |gradient: T| {
                    if gradient > conditions.detailed {
                        0
                    } else if gradient < conditions.smooth {
                        2
                    } else {
                        1
                    }
                };
                gradients.into_iter().map(|g| (class(g), T::zero())).collect()
            }
        }
    }

    /// Writes the outliers of a region's core down: what is taken out by more than a half.
    fn record(&self, row: usize, column: usize, found: &Found<'_, T>, out: &mut [T]) {
        let Self { grid, .. } = self;
        let Found { indices, values, shares, .. } = found;
        let inside = |at: usize| at.checked_sub(grid.margin()).filter(|&at| at < grid.core());
        let outliers = indices.iter().zip(*values).zip(*shares);
        for ((&j, &u), _) in outliers.filter(|(_, share)| **share > constant(0.5)) {
            let (y, x) = (j / grid.region(), j % grid.region());
            if let (Some(y), Some(x)) = (inside(y), inside(x)) {
                let x = column * grid.core() + x;
                if x < grid.width() && row * grid.core() + y < grid.height() {
                    out[y * grid.width() + x] = u;
                }
            }
        }
    }

    /// The regions' shares of the rows that they cover.
    fn assemble(&self, row: usize, regions: &[T]) -> Vec<T> {
        let Self { grid, across, down, .. } = self;
        let (side, width) = (grid.region(), grid.width());
        let covered = grid.covered(row);
        let mut out = alloc::vec![T::zero(); covered.len() * width];
        for (column, region) in regions.chunks_exact(side * side).enumerate() {
            let left = column * grid.core();
            // Pixels before `first` are outside of the image.
            let first = grid.margin().saturating_sub(left);
            let last = side.min(width + grid.margin() - left);
            let shares = &across[column * side..][first..last];
            for (y, line) in covered.clone().zip(out.chunks_exact_mut(width)) {
                let i = y + grid.margin() - row * grid.core();
                let down = down[row * side + i];
                let line = &mut line[left + first - grid.margin()..][..last - first];
                let source = &region[i * side..][first..last];
                for ((out, &pixel), &share) in line.iter_mut().zip(source).zip(shares) {
                    *out = *out + down * share * pixel;
                }
            }
        }
        out
    }
}
