//! The denoiser that the paper compares with: RB-RVM in every region.

use super::denoised::{ChannelReport, Denoised};
use super::noise_law::NoiseLaw;
use crate::baselines::rb_rvm::RbRvm;
use crate::image::grid::lattice;
use crate::image::{Grid, Plane, PlaneBuf};
use crate::parallel::each;
use crate::stats::median;
use crate::{Error, Kernel, Points, Real};
use alloc::vec::Vec;

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
) -> Result<Denoised<T>, Error> {
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
                let mut outliers = alloc::vec![None; n];
                for outlier in fit.outliers() {
                    outliers[outlier.index] = Some(outlier.value);
                }
                Ok((fitted, outliers, fit.noise_variance().sqrt()))
            })
            .collect::<Result<Vec<_>, Error>>()
    });
    let mut fitted = alloc::vec![T::zero(); image.area()];
    let mut outliers = alloc::vec![None; image.area()];
    let mut noise = Vec::new();
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
    let law = NoiseLaw::new(T::zero(), noise * noise);
    let mask: Vec<bool> = outliers.iter().map(Option::is_some).collect();
    let found = mask.iter().filter(|&&is_outlier| is_outlier).count();
    let values = outliers.into_iter().map(|u| u.unwrap_or(T::zero())).collect();
    Ok(Denoised::of_channel(
        PlaneBuf::of(fitted, width, height),
        PlaneBuf::of(mask, width, height),
        PlaneBuf::of(values, width, height),
        ChannelReport { noise: Some(noise), law: Some(law), ..ChannelReport::new(found) },
    ))
}
