//! Shrinkage of the coefficients of a group.
//!
//! First stage, hard threshold, where the noise of a coefficient has the deviation
//! $\sigma\,q$; in white noise q = 1:
//!
//! $$ \hat c = c \,[\,|c| > \lambda_{3D}\,\sigma\,q\,],
//!    \qquad w = 1 / \max(\textstyle\sum_{\hat c \ne 0} q^2, 1) . $$
//!
//! Second stage, empirical Wiener filter, with b the coefficients of the basic
//! estimate:
//!
//! $$ \hat c = W c, \quad W = \frac{b^2}{b^2 + \sigma^2 q^2},
//!    \qquad w = 1 / \max(\textstyle\sum W^2 q^2, 1) . $$
//!
//! The mean of the group, its first coefficient, always stays: shrunk, it would
//! make dark pictures darker, and no constant would come through unchanged.
//!
//! w weighs the group when its blocks are put back: the noise that is left in it. The factor
//! $\sigma^{-2}$ that the literature has in it is the same for all groups of a channel.

use super::lanes::{add, total};
use super::transform::Block;
use crate::Real;
use crate::denoise::NoiseSpectrum;
use crate::linalg::simd::multiply_add;
use core::array::from_fn;

/// The noise of the coefficients of a block.
pub(super) struct Noise<T, const N: usize> {
    /// Thresholds, or variances in the second stage.
    levels: Block<T, N>,
    /// $q^2$.
    powers: Block<T, N>,
}

impl<T: Real, const N: usize> Noise<T, N> {
    /// Noise of this `spectrum`, white without one, where `level` is the threshold or the variance
    /// of a coefficient of white noise.
    pub(super) fn new(spectrum: Option<&NoiseSpectrum<T>>, level: T, is_threshold: bool) -> Self {
        let Some(spectrum) = spectrum else {
            return Self { levels: [[level; N]; N], powers: [[T::one(); N]; N] };
        };
        let q = |v: usize, u: usize| spectrum.deviations()[v][u];
        let powers: Block<T, N> = from_fn(|v| from_fn(|u| q(v, u) * q(v, u)));
        let factor = |v: usize, u: usize| if is_threshold { q(v, u) } else { powers[v][u] };
        Self { levels: from_fn(|v| from_fn(|u| level * factor(v, u))), powers }
    }
}

/// Sets coefficients up to their thresholds to zero; gives the weight of the group.
#[inline(always)]
pub(super) fn threshold<T: Real, const N: usize>(
    group: &mut [Block<T, N>],
    noise: &Noise<T, N>,
) -> T {
    let mean = group[0][0][0];
    let mut left = [T::zero(); N];
    for block in &mut *group {
        for r in 0..N {
            let (limits, powers) = (noise.levels[r], noise.powers[r]);
            for l in 0..N {
                let c = block[r][l];
                let keep = c.abs() > limits[l];
                block[r][l] = if keep { c } else { T::zero() };
                left[l] = left[l] + if keep { powers[l] } else { T::zero() };
            }
        }
    }
    group[0][0][0] = mean;
    total(left).max(T::one()).recip()
}

/// Wiener filter of `group` with the spectrum of `basic`, which is replaced by
/// the factors; gives the weight.
#[inline(always)]
pub(super) fn wiener<T: Real, const N: usize, const FUSED: bool>(
    group: &mut [Block<T, N>],
    basic: &mut [Block<T, N>],
    noise: &Noise<T, N>,
) -> T {
    let mean = group[0][0][0];
    for (block, basic) in group.iter_mut().zip(&mut *basic) {
        for r in 0..N {
            let variances = noise.levels[r];
            for l in 0..N {
                let power = basic[r][l] * basic[r][l];
                basic[r][l] = power / (power + variances[l]);
                block[r][l] = block[r][l] * basic[r][l];
            }
        }
    }
    group[0][0][0] = mean;
    // In a loop of its own: together, the lanes would be divided two by two.
    let mut left = [T::zero(); N];
    for r in 0..N {
        let mut energy = [T::zero(); N];
        for basic in &*basic {
            for l in 0..N {
                energy[l] = multiply_add::<T, FUSED>(basic[r][l], basic[r][l], energy[l]);
            }
        }
        let powers = noise.powers[r];
        for l in 0..N {
            energy[l] = energy[l] * powers[l];
        }
        left = add(left, energy);
    }
    total(left).max(T::one()).recip()
}
