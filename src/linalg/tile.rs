//! The register tile under every dense routine.
//!
//! A *panel* holds [`lanes`] vectors side by side: entry `k` of all of them is
//! one `[T; LANES]`, so that one step of the inner loop is one or two SIMD
//! registers wide. The tile multiplies a panel with [`ROWS`] plain rows:
//!
//! $$ \text{tile}\_{r,\ell} = \sum_k \text{row}\_r\[k\] \\, \text{panel}\[k\]\_\ell . $$
//!
//! Only the panel is ever packed; the rows are read where they are, which is
//! what keeps the scratch memory small enough for a microcontroller.

use super::simd::multiply_add;
use crate::Real;

/// Rows of a register tile.
pub(crate) const ROWS: usize = 4;

/// Whether this target has vector registers worth filling.
const VECTORS: bool = cfg!(any(
    target_arch = "x86",
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "wasm32"
));

/// Width of a panel for `T`: two 256-bit registers where there are vectors,
/// otherwise as many scalars as leave a tile in the register file.
pub(crate) const fn lanes<T>() -> usize {
    match size_of::<T>() {
        4 if VECTORS => 16,
        8 if VECTORS => 8,
        _ => 4,
    }
}

/// One register tile.
pub(crate) type Tile<T, const LANES: usize> = [[T; LANES]; ROWS];

/// `tile[r][l] = sum over k of rows[r][k] * panel[k][l]`.
///
/// Only as many entries as the panel is deep are read of each row.
#[inline(always)]
pub(crate) fn tile<T: Real, const LANES: usize, const FUSED: bool>(
    rows: [&[T]; ROWS],
    panel: &[[T; LANES]],
) -> Tile<T, LANES> {
    let depth = panel.len();
    let [r0, r1, r2, r3] = rows.map(|row| &row[..depth]);
    let mut sum = [[T::zero(); LANES]; ROWS];
    for k in 0..depth {
        let p = &panel[k];
        for (acc, x) in sum.iter_mut().zip([r0[k], r1[k], r2[k], r3[k]]) {
            for l in 0..LANES {
                acc[l] = multiply_add::<T, FUSED>(x, p[l], acc[l]);
            }
        }
    }
    sum
}

/// Calls `$f::<T, LANES, FUSED>($args)` with the panel width of `T`.
macro_rules! with_lanes {
    ($t:ty, $f:ident::<$fused:ident>($($arg:expr),* $(,)?)) => {
        match $crate::linalg::tile::lanes::<$t>() {
            16 => $f::<$t, 16, $fused>($($arg),*),
            8 => $f::<$t, 8, $fused>($($arg),*),
            _ => $f::<$t, 4, $fused>($($arg),*),
        }
    };
}
pub(crate) use with_lanes;
