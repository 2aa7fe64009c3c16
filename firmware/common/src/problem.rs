//! The problem that is solved everywhere: on the device, and in `f64` by the
//! build script, which shares this file.
//!
//! Only additions and multiplications of `f32`, so that every machine gets the
//! same bits.

/// Number of points.
pub const N: usize = 64;

/// Number of points of the largest plan.
pub const MANY: usize = 128;

/// The values that are wrong, and by how much.
pub const OUTLIERS: [(usize, f32); 6] =
    [(5, 1.5), (17, -2.0), (26, 1.0), (38, 2.5), (47, -1.25), (59, -1.75)];

/// Width of the Gaussian kernel.
pub const SIGMA: f32 = 0.25;
/// Weight of the RKHS penalty.
pub const RKHS_LAMBDA: f32 = 0.125;
/// Weight of the l2 penalty.
pub const L2_LAMBDA: f32 = 0.125;
/// A residual up to here is noise.
pub const EPSILON: f32 = 0.4;
/// Where the fitted function is evaluated, between two points.
pub const BETWEEN: f32 = 0.367_187_5;

/// The noise is uniform, and no larger than this.
const NOISE: f32 = 0.05;

/// The points, equally spaced in `[0, 1)`.
#[must_use]
pub fn points<const N: usize>() -> [f32; N] {
    core::array::from_fn(|i| i as f32 / N as f32)
}

/// The function behind the data: a bump between zero and one.
#[must_use]
pub fn truth(x: f32) -> f32 {
    let arch = x * (1.0 - x);
    16.0 * arch * arch
}

/// Function and noise.
#[must_use]
pub fn good<const N: usize>() -> [f32; N] {
    let mut state = 1_u32;
    points().map(|x| {
        // A linear congruential generator, of which the upper 16 bits are good.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let uniform = (state >> 16) as f32 / 32_768.0 - 1.0;
        truth(x) + NOISE * uniform
    })
}

/// The data: function, noise and outliers.
#[must_use]
pub fn data() -> [f32; N] {
    let mut y = good();
    for (index, value) in OUTLIERS {
        y[index] += value;
    }
    y
}
