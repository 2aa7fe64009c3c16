//! The register tile under every dense routine.
//!
//! A *panel* holds [`lanes`] vectors side by side: entry `k` of all of them is
//! one `[T; LANES]`, so that one step of the inner loop is one or two SIMD
//! registers wide. The tile multiplies a panel with [`ROWS`] or [`TALL`] plain rows:
//!
//! $$ \text{tile}\_{r,\ell} = \sum_k \text{row}\_r\[k\] \\, \text{panel}\[k\]\_\ell . $$
//!
//! Only the panel is ever packed; the rows are read where they are, which is
//! what keeps the scratch memory small enough for a microcontroller.

use super::simd::multiply_add;
use crate::Real;

/// Rows of a register tile: eight sums of 256 bits hide the latency of an addition.
pub(crate) const ROWS: usize = 4;
/// Rows of a tall tile: the same number of registers, where a register holds all lanes or only
/// half of the lanes are computed.
pub(crate) const TALL: usize = 8;

/// Whether this target has vector registers. Where it has none, loops are plain: several sums
/// at a time would only move numbers between registers and memory.
pub(crate) const VECTORS: bool = cfg!(any(
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

/// `tile[r][l] = sum over k of rows[r][k] * panel[k][l]` in the first `WIDTH` lanes, for
/// [`ROWS`] or [`TALL`] rows.
///
/// Reads `panel.len()` entries of each row.
#[inline(always)]
pub(crate) fn tile<
    T: Real,
    const LANES: usize,
    const WIDTH: usize,
    const HEIGHT: usize,
    const FUSED: bool,
>(
    rows: [&[T]; HEIGHT],
    panel: &[[T; LANES]],
) -> [[T; WIDTH]; HEIGHT] {
    if HEIGHT == TALL {
        let sums = eight::<T, LANES, WIDTH, FUSED>(core::array::from_fn(|r| rows[r]), panel);
        core::array::from_fn(|r| sums[r])
    } else {
        let sums = four::<T, LANES, WIDTH, FUSED>(core::array::from_fn(|r| rows[r]), panel);
        core::array::from_fn(|r| sums[r])
    }
}

/// Expands a tile with one variable for each row: the compiler keeps an array of sums in
/// memory, not in registers.
macro_rules! define_tile {
    ($name:ident, $rows:ident: $($sum:ident $row:ident)*) => {
        #[inline(always)]
        fn $name<T: Real, const LANES: usize, const WIDTH: usize, const FUSED: bool>(
            rows: [&[T]; $rows],
            panel: &[[T; LANES]],
        ) -> [[T; WIDTH]; $rows] {
            let depth = panel.len();
            let [$($row),*] = rows;
            $(let ($row, mut $sum) = (&$row[..depth], [T::zero(); WIDTH]);)*
            for k in 0..depth {
                let p: [T; WIDTH] = core::array::from_fn(|l| panel[k][l]);
                $(
                    let x = $row[k];
                    for l in 0..WIDTH {
                        $sum[l] = multiply_add::<T, FUSED>(x, p[l], $sum[l]);
                    }
                )*
            }
            [$($sum),*]
        }
    };
}

define_tile!(four, ROWS: s0 r0 s1 r1 s2 r2 s3 r3);
define_tile!(eight, TALL: s0 r0 s1 r1 s2 r2 s3 r3 s4 r4 s5 r5 s6 r6 s7 r7);

/// Calls `$f::<T, LANES, $more>($args)` with the panel width of `T`.
macro_rules! with_lanes {
    ($t:ty, $f:ident::<$($more:tt),+>($($arg:expr),* $(,)?)) => {
        match $crate::linalg::tile::lanes::<$t>() {
            16 => $f::<$t, 16, $($more),+>($($arg),*),
            8 => $f::<$t, 8, $($more),+>($($arg),*),
            _ => $f::<$t, 4, $($more),+>($($arg),*),
        }
    };
}
pub(crate) use with_lanes;
