//! The map of impulses, as a picture.

use image::{DynamicImage, GrayImage, RgbImage};
use kgard::denoise::{OutlierMap, PlaneBuf};

/// Where there is no impulse.
pub(super) const NOTHING: u8 = 128;
/// What an impulse of the size of the peak differs by.
const RANGE: f32 = 127.0;

/// Mid-grey where there is no impulse; brighter where a sample was too bright
/// and darker where it was too dark, by up to half of the range, and visibly so
/// for an eyedropper even if it was by little.
pub(super) fn picture(outliers: &OutlierMap<f32>, peak: f32) -> Option<DynamicImage> {
    let first = outliers.mask.first()?;
    let (width, height) = (u32::try_from(first.width()).ok()?, u32::try_from(first.height()).ok()?);
    let channels = || outliers.mask.iter().zip(&outliers.values);
    let of = |i: usize, mask: &PlaneBuf<bool>, values: &PlaneBuf<f32>| {
        if mask.samples()[i] { level(values.samples()[i] / peak) } else { NOTHING }
    };
    let samples = (0..first.samples().len())
        .flat_map(|i| channels().map(move |(mask, values)| of(i, mask, values)))
        .collect();
    if outliers.mask.len() == 1 {
        GrayImage::from_raw(width, height, samples).map(DynamicImage::from)
    } else {
        RgbImage::from_raw(width, height, samples).map(DynamicImage::from)
    }
}

/// The level of an impulse of size `u`, of the peak.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn level(u: f32) -> u8 {
    let size = (RANGE * u.abs()).clamp(1.0, RANGE).round();
    (f32::from(NOTHING) + size.copysign(u)) as u8
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn levels() {
        let levels = [0.0, -0.0, 1e-6, -1e-6, 0.5, -0.5, 1.0, -1.0, 7.0, -7.0].map(level);
        assert_eq!(levels, [129, 127, 129, 127, 192, 64, 255, 1, 255, 1]);
    }
}
