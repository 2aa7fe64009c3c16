//! KGARD and KG-BM3D for images as the paper prints them (Algorithm 2).
//!
//! ```text
//!  1  Input: the noisy image I and lambda_0, sigma, E_0, N, L               PaperKgard
//!  3  Build the kernel matrix K                                             PaperKgard::plan
//!  4  Pad the image to multiples of L; pad it by (N - L) / 2 on each side   Grid
//!  9  Divide it into N x N regions; compute lambda of each region           lambdas
//! 10  For each region:                                                      region_row
//! 12      run KGARD with lambda, stop at epsilon                            search
//! 14      denoised region = K a + c
//! 16      its core, the L x L pixels in the middle, into the image
//! 20      the core of its outliers into the map of outliers                 beside
//! 23  Remove the padding                                                    beside
//! ```
//!
//! $\lambda$ of a region is $\lambda_0$, $5 \lambda_0$ or $15 \lambda_0$ by the mean magnitude of
//! its gradient. Three values make three plans, each for all regions. The search for outliers
//! ends when no residual exceeds $\epsilon$, by the paper's histogram rule; as printed it
//! cannot end, and [`Reading`] has the two readings that can.
//!
//! One thing the paper does not say: no more than half of the pixels of a region are taken out.
//!
//! The automatic method of this crate, [`Denoiser`](super::Denoiser), shares Algorithm 1 with this
//! one and nothing else.

use super::bm3d::{Bm3d, denoise_image};
use super::denoised::{ChannelReport, Denoised};
use super::noise_law::NoiseLaw;
use super::noise_level::noise_level;
use crate::image::grid::lattice;
use crate::image::{Grid, Plane, PlaneBuf};
use crate::linalg::batch::{Entries, Packed};
use crate::parallel::each;
use crate::real::{constant, count};
use crate::regression::greedy::search;
use crate::regression::stop::Reading;
use crate::regression::workspace::Parts;
use crate::{Error, Gaussian, Penalty, Plan, Points, Real, ResidualMaker, Stop, Workspace};
use alloc::vec::Vec;

/// The paper's $N$, $L$, $\sigma$, $\lambda_0$ and, for samples up to 255, $E_0$.
const REGION: usize = 12;
const CORE: usize = 8;
const SIGMA: f64 = 0.3;
const LAMBDA: f64 = 1.0;
const E0: f64 = 40.0 / 255.0;
/// $\lambda$ of regions with fine detail, of others, and of smooth ones, in units of $\lambda_0$.
const MULTIPLES: [f64; 3] = [1.0, 5.0, 15.0];
/// A region is smooth if its mean gradient is below $m - s / 10$.
const SMOOTH: f64 = 10.0;

/// When the search for outliers in a region ends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum PaperStop<T> {
    /// By the paper's histogram rule.
    Histogram {
        /// The paper's $E_0$, in units of the samples.
        e0: T,
        /// How the rule is read.
        reading: Reading,
    },
    /// When no residual exceeds this, in units of the samples.
    MaxResidual(T),
}

/// The paper's KGARD for images. The defaults are those of its experiments: $N = 12$, $L = 8$,
/// $\sigma = 0.3$, $\lambda_0 = 1$, $E_0 = 40$, the l2 penalty.
///
/// ```
/// use kgard::denoise::{PaperKgard, Plane};
/// # let mut pixels: Vec<f32> = (0..40 * 30).map(|i| (i % 40) as f32 + 50.0).collect();
/// # pixels[615] += 100.0;
/// let image = Plane::new(&pixels, 40, 30)?;
/// let denoised = PaperKgard::new(255.0).lambda(0.3).denoise(image)?;
/// assert!(denoised.outliers.mask[0].samples()[615]);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PaperKgard<T> {
    region: usize,
    core: usize,
    sigma: T,
    lambda: T,
    penalty: Penalty,
    stop: PaperStop<T>,
}

impl<T: Real> PaperKgard<T> {
    /// The paper's settings for samples from 0 to `peak`: $E_0$ is 40 of 255.
    pub fn new(peak: T) -> Self {
        Self {
            region: REGION,
            core: CORE,
            sigma: constant(SIGMA),
            lambda: constant(LAMBDA),
            penalty: Penalty::L2,
            stop: PaperStop::Histogram { e0: peak * constant(E0), reading: Reading::default() },
        }
    }

    /// The paper's $N$ and $L$: sides of the regions and of their cores.
    pub fn regions(self, region: usize, core: usize) -> Self {
        Self { region, core, ..self }
    }

    /// The width of the Gaussian kernel, where a region has width 1.
    pub fn sigma(self, sigma: T) -> Self {
        Self { sigma, ..self }
    }

    /// The paper's $\lambda_0$.
    pub fn lambda(self, lambda: T) -> Self {
        Self { lambda, ..self }
    }

    /// The norm that is penalised: of the coefficients and the bias (the paper's eq. 4), or of
    /// the function (eq. 5).
    pub fn penalty(self, penalty: Penalty) -> Self {
        Self { penalty, ..self }
    }

    /// When the search for outliers ends.
    pub fn stop(self, stop: PaperStop<T>) -> Self {
        Self { stop, ..self }
    }

    /// Refuses settings out of range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        Grid::new(1, 1, self.region, self.core)?;
        Error::check_positive("sigma", self.sigma)?;
        Error::check_positive("lambda", self.lambda)?;
        match self.stop {
            PaperStop::Histogram { e0, .. } => Error::check_not_negative("E0", e0),
            PaperStop::MaxResidual(epsilon) => Error::check_not_negative("epsilon", epsilon),
        }
    }

    /// Does once what is the same for all images: a plan for each $\lambda$.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn plan(&self) -> Result<PaperPlan<T>, Error> {
        self.check()?;
        let points = lattice(self.region);
        let points = Points::new(&points, 2)?;
        let maker = |multiple| {
            let lambda = self.lambda * constant(multiple);
            let regularizer = self.penalty.regularizer(lambda);
            let plan = Plan::new(points, Gaussian::new(self.sigma), regularizer)?;
            let h = plan.as_ref().residual_maker();
            Ok(Maker { lambda, packed: Packed::new(h, points.len()), h: h.to_vec() })
        };
        let makers = MULTIPLES.into_iter().map(maker).collect::<Result<_, Error>>()?;
        Ok(PaperPlan { settings: self.clone(), makers })
    }
}

impl<T: Real + Send + Sync> PaperKgard<T> {
    /// Denoises one channel; [`plan`](Self::plan) first for many.
    ///
    /// # Errors
    /// If a setting is wrong, or a sample not finite.
    pub fn denoise(&self, image: Plane<'_, T>) -> Result<Denoised<T>, Error> {
        self.plan()?.denoise(image)
    }
}

/// The paper's KGARD with its three plans, for any number of images.
#[derive(Debug, Clone)]
pub struct PaperPlan<T> {
    settings: PaperKgard<T>,
    makers: Vec<Maker<T>>,
}

/// The plan of one $\lambda$, as far as it is needed: its residual maker $H$.
#[derive(Debug, Clone)]
struct Maker<T> {
    lambda: T,
    h: Vec<T>,
    /// The same for products with many regions.
    packed: Packed<T>,
}

/// One row of regions, solved.
struct RegionRow<T> {
    /// $K \hat \alpha + \hat c$ of each region.
    fitted: Vec<T>,
    /// Outliers of each region: flags and values $\hat u$.
    mask: Vec<bool>,
    values: Vec<T>,
}

impl<T: Real + Send + Sync> PaperPlan<T> {
    /// Denoises one channel (Algorithm 2).
    ///
    /// # Errors
    /// [`Error::NotFinite`] if a sample is.
    pub fn denoise(&self, image: Plane<'_, T>) -> Result<Denoised<T>, Error> {
        image.check_finite()?;
        let PaperKgard { region, core, .. } = self.settings;
        let grid = Grid::new(image.width(), image.height(), region, core)?;
        let mut classes = lambdas(image, &grid);
        let rows = classes.chunks_exact(grid.columns()).enumerate();
        let rows = each(rows, |(row, classes)| self.region_row(image, &grid, row, classes));
        let rows = rows.into_iter().collect::<Result<Vec<_>, Error>>()?;

        let fitted = beside(&grid, &rows, |row| &row.fitted);
        let mask = beside(&grid, &rows, |row| &row.mask);
        let values = beside(&grid, &rows, |row| &row.values);
        let outliers = mask.samples().iter().filter(|&&is_outlier| is_outlier).count();
        classes.sort_unstable();
        let lambda = Some(self.makers[classes[classes.len() / 2]].lambda);
        let report = ChannelReport { lambda, ..ChannelReport::new(outliers) };
        Ok(Denoised::of_channel(fitted, mask, values, report))
    }

    /// Denoises the channels of an image, each by itself.
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise), [`Error::Empty`] without a channel, [`Error::ImageSize`] if
    /// the channels differ in size.
    pub fn denoise_all(&self, image: &[Plane<'_, T>]) -> Result<Denoised<T>, Error> {
        let first = image.first().ok_or(Error::Empty { what: "image" })?;
        let mut denoised = Denoised::empty();
        for channel in image {
            first.check_size("channel", channel)?;
            denoised.append(self.denoise(*channel)?);
        }
        Ok(denoised)
    }

    /// The modified KGARD on each region of a row, given which $\lambda$ it has.
    fn region_row(
        &self,
        image: Plane<'_, T>,
        grid: &Grid,
        row: usize,
        classes: &[usize],
    ) -> Result<RegionRow<T>, Error> {
        let n = grid.region() * grid.region();
        let area = grid.columns() * n;
        let mut regions = alloc::vec![T::zero(); area];
        grid.gather(image, 0, row, &mut regions);
        let mut out = RegionRow {
            fitted: regions.clone(),
            mask: alloc::vec![false; area],
            values: alloc::vec![T::zero(); area],
        };
        let mut scalars = alloc::vec![T::zero(); Workspace::<T>::len(n, n)];
        let mut indices = alloc::vec![0; n];
        for (class, maker) in self.makers.iter().enumerate() {
            // The first residuals H y of all regions of this lambda, by one product.
            let columns: Vec<usize> =
                (0..grid.columns()).filter(|&column| classes[column] == class).collect();
            let ys: Vec<T> =
                columns.iter().flat_map(|&column| &regions[column * n..][..n]).copied().collect();
            let mut residuals = alloc::vec![T::zero(); ys.len()];
            maker.packed.multiply(
                Entries { of: &ys[..], stride: n, start: 0 },
                Entries { of: &mut residuals[..], stride: n, start: 0 },
            );
            let regions = ys.chunks_exact(n).zip(residuals.chunks_exact(n));
            for (&column, (y, residual)) in columns.iter().zip(regions) {
                let region = Region { h: &maker.h, residual };
                let mut work = Workspace::new(n, &mut scalars, &mut indices)?;
                let mut stop = self.stop_at_most(n / 2);
                let (k, _) = search(&region, y, &[], &mut stop, &mut work)?;
                let Parts { residual, values, indices, .. } = work.into_parts();
                // K a + c = y - u - r
                let at = column * n;
                for (fitted, &r) in out.fitted[at..][..n].iter_mut().zip(&*residual) {
                    *fitted = *fitted - r;
                }
                for (&j, &u) in indices[..k].iter().zip(&*values) {
                    out.fitted[at + j] = out.fitted[at + j] - u;
                    out.mask[at + j] = true;
                    out.values[at + j] = u;
                }
            }
        }
        Ok(out)
    }

    fn stop_at_most(&self, cap: usize) -> Stop<T> {
        match self.settings.stop {
            PaperStop::Histogram { e0, reading } => Stop::histogram(e0, reading).at_most(cap),
            PaperStop::MaxResidual(epsilon) => Stop::max_residual(epsilon).at_most(cap),
        }
    }
}

/// Section "Automatic selection of the regularization parameter": for each region which of the
/// [`MULTIPLES`] it has, by the mean magnitude of its gradient.
fn lambdas<T: Real>(image: Plane<'_, T>, grid: &Grid) -> Vec<usize> {
    let n = grid.region() * grid.region();
    let gradient = gradient(image);
    let mut regions = alloc::vec![T::zero(); grid.columns() * n];
    let mut means = Vec::with_capacity(grid.rows() * grid.columns());
    for row in 0..grid.rows() {
        grid.gather(gradient.as_plane(), 0, row, &mut regions);
        means.extend(regions.chunks_exact(n).map(|region| sum(region) / count(n)));
    }
    let m = sum(&means) / count(means.len());
    let squares: Vec<T> = means.iter().map(|&mean| (mean - m) * (mean - m)).collect();
    let s = (sum(&squares) / count(means.len())).sqrt();
    let class = |mean: T| {
        if mean > m + s {
            0
        } else if mean < m - s / constant(SMOOTH) {
            2
        } else {
            1
        }
    };
    means.into_iter().map(class).collect()
}

/// $\lvert \nabla I \rvert$ by central differences; at the border by those to the pixel itself.
fn gradient<T: Real>(image: Plane<'_, T>) -> PlaneBuf<T> {
    let (width, height) = (image.width(), image.height());
    let half = constant::<T>(0.5);
    let samples = image.to_vec();
    let mut magnitude = Vec::with_capacity(samples.len());
    for y in 0..height {
        let row = |y: usize| &samples[y * width..][..width];
        let (above, here, below) = (row(y.saturating_sub(1)), row(y), row((y + 1).min(height - 1)));
        magnitude.extend((0..width).map(|x| {
            let across = half * (here[(x + 1).min(width - 1)] - here[x.saturating_sub(1)]);
            let down = half * (below[x] - above[x]);
            (across * across + down * down).sqrt()
        }));
    }
    PlaneBuf::of(magnitude, width, height)
}

fn sum<T: Real>(values: &[T]) -> T {
    values.iter().fold(T::zero(), |sum, &x| sum + x)
}

/// The cores of all regions side by side, without the padding.
fn beside<T: Real, S: Copy>(
    grid: &Grid,
    rows: &[RegionRow<T>],
    of: impl Fn(&RegionRow<T>) -> &[S],
) -> PlaneBuf<S> {
    let (width, height) = (grid.width(), grid.height());
    let (side, core, margin) = (grid.region(), grid.core(), grid.margin());
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        let line = (margin + y % core) * side + margin;
        for region in of(&rows[y / core]).chunks_exact(side * side) {
            let left = pixels.len() - y * width;
            pixels.extend_from_slice(&region[line..][..core.min(width - left)]);
        }
    }
    PlaneBuf::of(pixels, width, height)
}

/// A region for Algorithm 1: its residual maker, and $H y$, which is known.
struct Region<'a, T> {
    h: &'a [T],
    residual: &'a [T],
}

impl<T: Real> ResidualMaker<T> for Region<'_, T> {
    fn len(&self) -> usize {
        self.residual.len()
    }

    fn residual(&self, _: &[T], out: &mut [T]) {
        out.copy_from_slice(self.residual);
    }

    fn column(&self, j: usize, out: &mut [T]) {
        let n = self.len();
        out.copy_from_slice(&self.h[j * n..][..n]);
    }
}

/// The paper's KG-BM3D: [`PaperKgard`] finds the outliers, which are subtracted from the noisy
/// image, and BM3D removes the noise from the rest. One pass, no judging again.
///
/// ```
/// use kgard::denoise::{PaperKgBm3d, PaperKgard, Plane};
/// # let mut pixels: Vec<f32> = (0..40 * 30).map(|i| ((i % 40) + i * i % 7) as f32 + 50.0).collect();
/// # pixels[615] += 100.0;
/// let image = Plane::new(&pixels, 40, 30)?;
/// let denoised = PaperKgBm3d::new(255.0).kgard(PaperKgard::new(255.0).lambda(0.3)).denoise(image)?;
/// assert!(denoised.outliers.mask[0].samples()[615]);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PaperKgBm3d<T> {
    kgard: PaperKgard<T>,
    noise: Option<T>,
    peak: T,
}

impl<T: Real> PaperKgBm3d<T> {
    /// The paper's settings for samples from 0 to `peak`.
    pub fn new(peak: T) -> Self {
        Self { kgard: PaperKgard::new(peak), noise: None, peak }
    }

    /// KGARD's settings.
    pub fn kgard(self, kgard: PaperKgard<T>) -> Self {
        Self { kgard, ..self }
    }

    /// The paper's $s$: the standard deviation of the noise for BM3D. Unless it is given it is
    /// estimated from the image without outliers.
    pub fn noise(self, noise: T) -> Self {
        Self { noise: Some(noise), ..self }
    }

    /// Refuses settings out of range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.kgard.check()?;
        Error::check_positive("peak", self.peak)?;
        if let Some(noise) = self.noise {
            Error::check_not_negative("noise", noise)?;
            Error::check_finite("noise", &[noise])?;
        }
        Ok(())
    }

    /// Does once what is the same for all images.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn plan(&self) -> Result<PaperKgBm3dPlan<T>, Error> {
        self.check()?;
        Ok(PaperKgBm3dPlan { kgard: self.kgard.plan()?, noise: self.noise, peak: self.peak })
    }
}

impl<T: Real + Send + Sync> PaperKgBm3d<T> {
    /// Denoises one channel; [`plan`](Self::plan) first for many, and for colour.
    ///
    /// # Errors
    /// If a setting is wrong, or a sample not finite.
    pub fn denoise(&self, image: Plane<'_, T>) -> Result<Denoised<T>, Error> {
        self.plan()?.denoise(&[image])
    }
}

/// The paper's KG-BM3D with its plans, for any number of images.
#[derive(Debug, Clone)]
pub struct PaperKgBm3dPlan<T> {
    kgard: PaperPlan<T>,
    noise: Option<T>,
    peak: T,
}

impl<T: Real + Send + Sync> PaperKgBm3dPlan<T> {
    /// Denoises an image. Three channels are red, green and blue: BM3D filters them together.
    ///
    /// # Errors
    /// As [`PaperPlan::denoise`]; [`Error::Empty`] without a channel, [`Error::ImageSize`] if the
    /// channels differ in size.
    pub fn denoise(&self, image: &[Plane<'_, T>]) -> Result<Denoised<T>, Error> {
        self.filter(self.repair(image)?)
    }

    /// The first step: the image without outliers, in `channels`, and these.
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise).
    pub fn repair(&self, image: &[Plane<'_, T>]) -> Result<Denoised<T>, Error> {
        let mut repaired = self.kgard.denoise_all(image)?;
        for ((repaired, values), channel) in
            repaired.channels.iter_mut().zip(&repaired.outliers.values).zip(image)
        {
            let noisy = (0..channel.height()).flat_map(|y| channel.row(y));
            for ((pixel, y), &u) in
                repaired.samples_mut().iter_mut().zip(noisy).zip(values.samples())
            {
                *pixel = y - u;
            }
        }
        Ok(repaired)
    }

    /// The second step: BM3D on what [`repair`](Self::repair) gave.
    ///
    /// # Errors
    /// As [`Bm3d::denoise`].
    pub fn filter(&self, mut repaired: Denoised<T>) -> Result<Denoised<T>, Error> {
        let mut noisy = Vec::with_capacity(repaired.channels.len());
        for (channel, mask) in repaired.channels.iter().zip(&repaired.outliers.mask) {
            let noise = match self.noise {
                Some(noise) => noise,
                None => noise_level(channel.as_plane(), Some(mask.as_plane()))?,
            };
            noisy.push((channel.as_plane(), noise));
        }
        for (report, &(_, noise)) in repaired.report.channels.iter_mut().zip(&noisy) {
            report.noise = Some(noise);
            report.law = Some(NoiseLaw::new(T::zero(), noise * noise));
        }
        let channels = denoise_image(&noisy, None, |sigma| Bm3d::for_noise(sigma, self.peak))?;
        Ok(Denoised { channels, ..repaired })
    }
}
