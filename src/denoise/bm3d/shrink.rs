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

/// Sets coefficients up to `limit` to zero; gives the weight of the group.
#[inline(always)]
pub(super) fn threshold<T: Real, const N: usize>(group: &mut [Block<T, N>], limit: T) -> T {
    let mean = group[0][0][0];
    let mut kept = [T::zero(); N];
    for row in group.iter_mut().flatten() {
        let mut c = *row;
        for l in 0..N {
            let keep = if c[l].abs() > limit { T::one() } else { T::zero() };
            c[l] = keep * c[l];
            kept[l] = kept[l] + keep;
        }
        *row = c;
    }
    group[0][0][0] = mean;
    total(kept).max(T::one()).recip()
}

/// Wiener filter of `group` with the spectrum of `basic`; gives the weight.
#[inline(always)]
pub(super) fn wiener<T: Real, const N: usize, const FUSED: bool>(
    group: &mut [Block<T, N>],
    basic: &[Block<T, N>],
    variance: T,
) -> T {
    let mean = group[0][0][0];
    let mut energy = [T::zero(); N];
    for (row, &b) in group.iter_mut().flatten().zip(basic.iter().flatten()) {
        let (mut c, mut gain) = (*row, b);
        for l in 0..N {
            let power = b[l] * b[l];
            gain[l] = power / (power + variance);
            c[l] = c[l] * gain[l];
            energy[l] = multiply_add::<T, FUSED>(gain[l], gain[l], energy[l]);
        }
        *row = c;
    }
    group[0][0][0] = mean;
    total(energy).max(T::one()).recip()
}
