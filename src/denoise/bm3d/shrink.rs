//! Shrinkage of the coefficients of a group.
//!
//! First stage, hard threshold, with N the number of coefficients that stay:
//!
//! $$ \hat c = c \,[\,|c| > \lambda_{3D}\,\sigma\,], \qquad w = 1 / \max(N, 1) . $$
//!
//! Second stage, empirical Wiener filter, with b the coefficients of the basic
//! estimate:
//!
//! $$ \hat c = W c, \quad W = \frac{b^2}{b^2 + \sigma^2}, \qquad w = 1 / \max(\textstyle\sum W^2, 1) . $$
//!
//! The mean of the group, its first coefficient, always stays: shrunk, it would
//! make dark pictures darker, and no constant would come through unchanged.
//!
//! w weighs the group when its blocks are put back. The factor $\sigma^{-2}$
//! that the literature has in it is the same for all groups of a channel.

use super::lanes::total;
use super::transform::Block;
use crate::Real;
use crate::linalg::simd::multiply_add;
use crate::real::count;

/// Sets coefficients up to `limit` to zero; gives the weight of the group.
#[inline(always)]
pub(super) fn threshold<T: Real, const N: usize>(group: &mut [Block<T, N>], limit: T) -> T {
    let mean = group[0][0][0];
    let mut kept = 0_u32;
    for c in group.as_flattened_mut().as_flattened_mut() {
        let keep = c.abs() > limit;
        *c = if keep { *c } else { T::zero() };
        kept += u32::from(keep);
    }
    group[0][0][0] = mean;
    count::<T>(kept.max(1) as usize).recip()
}

/// Wiener filter of `group` with the spectrum of `basic`, which is replaced by
/// the factors; gives the weight.
#[inline(always)]
pub(super) fn wiener<T: Real, const N: usize, const FUSED: bool>(
    group: &mut [Block<T, N>],
    basic: &mut [Block<T, N>],
    variance: T,
) -> T {
    let mean = group[0][0][0];
    let coefficients = group.as_flattened_mut().as_flattened_mut();
    for (c, b) in coefficients.iter_mut().zip(basic.as_flattened_mut().as_flattened_mut()) {
        let power = *b * *b;
        *b = power / (power + variance);
        *c = *c * *b;
    }
    group[0][0][0] = mean;
    // In a loop of its own: together, the lanes would be divided two by two.
    let mut energy = [T::zero(); N];
    for gain in basic.as_flattened() {
        for l in 0..N {
            energy[l] = multiply_add::<T, FUSED>(gain[l], gain[l], energy[l]);
        }
    }
    let energy = total(energy);
    if energy > T::one() { energy.recip() } else { T::one() }
}
