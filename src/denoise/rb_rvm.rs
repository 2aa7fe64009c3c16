//! The denoiser that the paper compares with: RB-RVM in every region.

use crate::baselines::rb_rvm::RbRvm;
use crate::image::grid::lattice;
use crate::image::{Grid, Plane, PlaneBuf};
use crate::parallel::each;
use crate::stats::median;
use crate::{Error, Kernel, Points, Real};
use alloc::vec::Vec;

/// An image that RB-RVM has denoised.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RbRvmDenoised<T> {
    /// The image without outliers and noise.
    pub image: PlaneBuf<T>,
    /// What was added to each pixel that is an outlier; zero elsewhere.
    pub outliers: PlaneBuf<T>,
    /// The median of the regions' standard deviations of the noise.
    pub noise: T,
}

/// Denoises an image region by region with [`RbRvm`], as the paper does for
/// comparison: regions of `region` x `region` pixels, of which the `core` x
/// `core` in the middle are used. It takes seconds where KGARD takes
/// milliseconds.
///
/// # Errors
/// As [`Grid::new`] and [`RbRvm::fit`]; [`Error::NotFinite`] if a sample is.
pub fn rb_rvm<T: Real + Send + Sync>(
    image: Plane<'_, T>,
    kernel: &(impl Kernel<T> + Clone + Sync),
    region: usize,
    core: usize,
) -> Result<RbRvmDenoised<T>, Error> {
    let grid = Grid::new(image.width(), image.height(), region, core)?;
    image.check_finite()?;
    let n = region * region;
    let points = lattice(region);
    let points = Points::new(&points, 2)?;

    let (width, height) = (image.width(), image.height());
    let strips = each(0..grid.rows(), |row| {
        let mut regions = alloc::vec![T::zero(); grid.columns() * n];
        grid.gather(image, 0, row, &mut regions);
        regions
            .chunks_exact(n)
            .map(|y| {
                let fit = RbRvm::new().fit(points, y, kernel.clone())?;
                let fitted = fit.predict_many(points)?;
                let mut outliers = alloc::vec![T::zero(); n];
                for outlier in fit.outliers() {
                    outliers[outlier.index] = outlier.value;
                }
                Ok((fitted, outliers, fit.noise_variance().sqrt()))
            })
            .collect::<Result<Vec<_>, Error>>()
    });
    let zeros = alloc::vec![T::zero(); image.area()];
    let (mut fitted, mut outliers, mut noise) = (zeros.clone(), zeros, Vec::new());
    for (row, strip) in strips.into_iter().enumerate() {
        for (column, part) in strip?.into_iter().enumerate() {
            noise.push(part.2);
            for (y, i) in (row * core..height).zip(grid.margin()..grid.margin() + core) {
                let left = column * core;
                let used = core.min(width - left);
                let from = i * region + grid.margin();
                let to = y * width + left;
                fitted[to..][..used].copy_from_slice(&part.0[from..][..used]);
                outliers[to..][..used].copy_from_slice(&part.1[from..][..used]);
            }
        }
    }
    let noise = median(&mut noise, 0);
    let [image, outliers] = [fitted, outliers].map(|plane| PlaneBuf::new(plane, width, height));
    Ok(RbRvmDenoised { image: image?, outliers: outliers?, noise })
}
