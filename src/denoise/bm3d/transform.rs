//! The transforms of a block and of a group.
//!
//! A block is transformed by rows and by columns with the same N x N matrix
//! F, and comes back by F⁻¹:
//!
//! $$ C = F B F^\top, \qquad B = F^{-1} C F^{-\top} . $$
//!
//! The rows of F have norm one, so that white noise of deviation $\sigma$
//! has deviation $\sigma$ in every coefficient, whether F is orthonormal
//! (DCT) or not (bior1.5).
//!
//! The rows of a block never need transforming one by one: they are taken from
//! a table of the row transforms at every position of the image
//! ([`Basis::rows`]), and coming back they are summed before they are
//! transformed (`aggregate`). What is left per block are the columns, with the
//! N coefficients of a row side by side in SIMD lanes.

use super::lanes::{add, add_scaled, scale, sub};
use crate::Real;
use crate::linalg::simd::multiply_add;
use crate::real::constant;
use core::array::from_fn;
use core::f64::consts::{FRAC_1_SQRT_2, PI};
use num_traits::Float;

/// The two-dimensional transform of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Transform {
    /// The biorthogonal spline wavelet bior1.5, periodic, down to one
    /// coefficient; for blocks whose side is a power of two.
    Bior15,
    /// The discrete cosine transform (type II).
    Dct,
}

/// N rows of N numbers: a block, its coefficients, or a matrix.
pub(super) type Block<T, const N: usize> = [[T; N]; N];

/// A transform as matrices.
#[derive(Debug, Clone)]
pub(super) struct Basis<T, const N: usize> {
    kind: Transform,
    /// F, by rows.
    forward: Block<T, N>,
    /// F⁻¹, by rows.
    inverse: Block<T, N>,
    /// What the rows of F were divided by.
    norm: [T; N],
}

impl<T: Real, const N: usize> Basis<T, N> {
    pub(super) fn new(kind: Transform) -> Self {
        let (forward, inverse, norm) = match kind {
            Transform::Dct => dct(),
            Transform::Bior15 => bior15(),
        };
        let cast = |m: Block<f64, N>| m.map(|row| row.map(constant));
        Self { kind, forward: cast(forward), inverse: cast(inverse), norm: norm.map(constant) }
    }

    /// F⁻¹, by rows.
    pub(super) const fn inverse_matrix(&self) -> &Block<T, N> {
        &self.inverse
    }

    /// The transform of the N samples at every position of a row.
    #[inline(always)]
    pub(super) fn rows<const FUSED: bool>(&self, samples: &[T], out: &mut [[T; N]]) {
        let columns: Block<T, N> = from_fn(|j| from_fn(|k| self.forward[k][j]));
        for (window, out) in samples.windows(N).zip(out) {
            let mut sum = [T::zero(); N];
            for j in 0..N {
                sum = add_scaled::<T, N, FUSED>(sum, window[j], columns[j]);
            }
            *out = sum;
        }
    }

    /// Transforms every column.
    #[inline(always)]
    pub(super) fn columns<const FUSED: bool>(&self, block: &mut Block<T, N>) {
        match self.kind {
            Transform::Dct if N == 8 => dct8::<T, N, FUSED>(&self.forward, block),
            Transform::Bior15 if N == 8 => bior8::<T, N, FUSED>(&self.norm, block),
            _ => multiply::<T, N, FUSED>(&self.forward, block),
        }
    }

    /// Takes [`columns`](Self::columns) back.
    #[inline(always)]
    pub(super) fn columns_back<const FUSED: bool>(&self, block: &mut Block<T, N>) {
        match self.kind {
            Transform::Dct if N == 8 => dct8_back::<T, N, FUSED>(&self.forward, block),
            Transform::Bior15 if N == 8 => bior8_back::<T, N, FUSED>(&self.norm, block),
            _ => multiply::<T, N, FUSED>(&self.inverse, block),
        }
    }
}

/// `block <- matrix * block`.
#[inline(always)]
fn multiply<T: Real, const N: usize, const FUSED: bool>(
    matrix: &Block<T, N>,
    block: &mut Block<T, N>,
) {
    let from = *block;
    for k in 0..N {
        let mut sum = scale(matrix[k][0], from[0]);
        for j in 1..N {
            sum = add_scaled::<T, N, FUSED>(sum, matrix[k][j], from[j]);
        }
        block[k] = sum;
    }
}

/// F, F⁻¹, and the norms the rows of F had.
type Matrices<const N: usize> = (Block<f64, N>, Block<f64, N>, [f64; N]);

/// The orthonormal DCT.
fn dct<const N: usize>() -> Matrices<N> {
    let n = N as f64;
    let forward: Block<f64, N> = from_fn(|k| {
        let norm = Float::sqrt(if k == 0 { 1.0 } else { 2.0 } / n);
        from_fn(|j| norm * Float::cos(PI * (j as f64 + 0.5) * k as f64 / n))
    });
    (forward, from_fn(|j| from_fn(|k| forward[k][j])), [1.0; N])
}

/// bior1.5, the averages of all before the differences of the coarsest level.
fn bior15<const N: usize>() -> Matrices<N> {
    let unit = |at: usize| -> [f64; N] { from_fn(|j| if j == at { 1.0 } else { 0.0 }) };
    let columns: Block<f64, N> = from_fn(|j| {
        let mut x = unit(j);
        let mut len = N;
        while len > 1 {
            wavelet_step(&mut x[..len]);
            len /= 2;
        }
        x
    });
    let norm: [f64; N] = from_fn(|k| Float::sqrt(columns.iter().map(|c| c[k] * c[k]).sum::<f64>()));
    let back: Block<f64, N> = from_fn(|k| {
        let mut x = unit(k);
        let mut len = 2;
        while len <= N {
            wavelet_step_back(&mut x[..len]);
            len *= 2;
        }
        x
    });
    let forward = from_fn(|k| from_fn(|j| columns[j][k] / norm[k]));
    (forward, from_fn(|j| from_fn(|k| back[k][j] * norm[k])), norm)
}

/// How the averages of bior1.5 follow from the differences d around them: the
/// ten taps (3, -3, -22, 22, 128, 128, 22, -22, -3, 3) √2/256 of its low-pass
/// filter are Haar's average plus (3 d₋₂ - 22 d₋₁ + 22 d₊₁ - 3 d₊₂) / 128.
const LIFT_1: f64 = 22.0 / 128.0;
const LIFT_2: f64 = -3.0 / 128.0;

/// What the differences add to average `i`, periodically.
fn lift(d: &[f64], i: usize) -> f64 {
    let n = d.len();
    let slope = |by: usize| d[(i + by) % n] - d[(i + by * (n - 1)) % n];
    LIFT_1 * slope(1) + LIFT_2 * slope(2)
}

/// One level: averages in the first half, differences in the second.
fn wavelet_step(x: &mut [f64]) {
    let half = x.len() / 2;
    let pairs = x.to_vec();
    let (average, difference) = x.split_at_mut(half);
    for (i, d) in difference.iter_mut().enumerate() {
        *d = FRAC_1_SQRT_2 * (pairs[2 * i] - pairs[2 * i + 1]);
    }
    for (i, a) in average.iter_mut().enumerate() {
        *a = FRAC_1_SQRT_2 * (pairs[2 * i] + pairs[2 * i + 1]) + lift(difference, i);
    }
}

/// Takes [`wavelet_step`] back.
fn wavelet_step_back(x: &mut [f64]) {
    let half = x.len() / 2;
    let halves = x.to_vec();
    let (average, difference) = halves.split_at(half);
    for i in 0..half {
        let haar = average[i] - lift(difference, i);
        x[2 * i] = FRAC_1_SQRT_2 * (haar + difference[i]);
        x[2 * i + 1] = FRAC_1_SQRT_2 * (haar - difference[i]);
    }
}

/// The DCT of 8 rows by its symmetries: f is its matrix.
///
/// Written for one column: a loop over them stays a loop, and becomes one pass
/// over all lanes. Of the same with whole rows the compiler makes parts of
/// different widths.
#[inline(always)]
fn dct8<T: Real, const N: usize, const FUSED: bool>(f: &Block<T, N>, x: &mut Block<T, N>) {
    let fma = multiply_add::<T, FUSED>;
    for l in 0..N {
        let even = [x[0][l] + x[7][l], x[1][l] + x[6][l], x[2][l] + x[5][l], x[3][l] + x[4][l]];
        let odd = [x[0][l] - x[7][l], x[1][l] - x[6][l], x[2][l] - x[5][l], x[3][l] - x[4][l]];
        let (outer, inner) = (even[0] + even[3], even[1] + even[2]);
        x[0][l] = f[0][0] * (outer + inner);
        x[4][l] = f[0][0] * (outer - inner);
        let (outer, inner) = (even[0] - even[3], even[1] - even[2]);
        for k in [2, 6] {
            x[k][l] = fma(f[k][1], inner, f[k][0] * outer);
        }
        for k in [1, 3, 5, 7] {
            let first = fma(f[k][1], odd[1], f[k][0] * odd[0]);
            x[k][l] = fma(f[k][3], odd[3], fma(f[k][2], odd[2], first));
        }
    }
}

/// Takes [`dct8`] back.
#[inline(always)]
fn dct8_back<T: Real, const N: usize, const FUSED: bool>(f: &Block<T, N>, x: &mut Block<T, N>) {
    let middle = [scale(f[0][0], add(x[0], x[4])), scale(f[0][0], sub(x[0], x[4]))];
    let slope = [
        add_scaled::<T, N, FUSED>(scale(f[2][0], x[2]), f[6][0], x[6]),
        add_scaled::<T, N, FUSED>(scale(f[2][1], x[2]), f[6][1], x[6]),
    ];
    let even = [
        add(middle[0], slope[0]),
        add(middle[1], slope[1]),
        sub(middle[1], slope[1]),
        sub(middle[0], slope[0]),
    ];
    let mut odd = [x[1]; 4];
    for j in 0..4 {
        odd[j] = scale(f[1][j], x[1]);
        for k in [3, 5, 7] {
            odd[j] = add_scaled::<T, N, FUSED>(odd[j], f[k][j], x[k]);
        }
    }
    for j in 0..4 {
        x[j] = add(even[j], odd[j]);
        x[7 - j] = sub(even[j], odd[j]);
    }
}

/// bior1.5 of 8 rows: of its four lifting terms, periodicity leaves two on the
/// first level and none on the others.
#[inline(always)]
fn bior8<T: Real, const N: usize, const FUSED: bool>(norm: &[T; N], x: &mut Block<T, N>) {
    let half = constant::<T>(FRAC_1_SQRT_2);
    let (mut a, mut d) = ([x[0]; 4], [x[0]; 4]);
    for i in 0..4 {
        a[i] = scale(half, add(x[2 * i], x[2 * i + 1]));
        d[i] = scale(half, sub(x[2 * i], x[2 * i + 1]));
    }
    for i in 0..4 {
        let slope = sub(d[(i + 1) % 4], d[(i + 3) % 4]);
        a[i] = add_scaled::<T, N, FUSED>(a[i], constant(LIFT_1), slope);
    }
    let halves = [add(a[0], a[1]), add(a[2], a[3])];
    let eighth = half * half;
    x[0] = scale(eighth, add(halves[0], halves[1]));
    x[1] = scale(eighth * norm[1].recip(), sub(halves[0], halves[1]));
    x[2] = scale(half * norm[2].recip(), sub(a[0], a[1]));
    x[3] = scale(half * norm[3].recip(), sub(a[2], a[3]));
    x[4..8].copy_from_slice(&d);
}

/// Takes [`bior8`] back.
#[inline(always)]
fn bior8_back<T: Real, const N: usize, const FUSED: bool>(norm: &[T; N], x: &mut Block<T, N>) {
    let half = constant::<T>(FRAC_1_SQRT_2);
    let (mean, slope) = (scale(half, x[0]), scale(half * norm[1], x[1]));
    let halves = [add(mean, slope), sub(mean, slope)];
    let d = [x[4], x[5], x[6], x[7]];
    let fine = [scale(norm[2], x[2]), scale(norm[3], x[3])];
    let a = [
        scale(half, add(halves[0], fine[0])),
        scale(half, sub(halves[0], fine[0])),
        scale(half, add(halves[1], fine[1])),
        scale(half, sub(halves[1], fine[1])),
    ];
    for i in 0..4 {
        let lift = sub(d[(i + 3) % 4], d[(i + 1) % 4]);
        let haar = add_scaled::<T, N, FUSED>(a[i], constant(LIFT_1), lift);
        x[2 * i] = scale(half, add(haar, d[i]));
        x[2 * i + 1] = scale(half, sub(haar, d[i]));
    }
}

/// The orthonormal Haar transform across a group of 2ⁿ blocks, in place: the
/// average of a pair takes the place of its first block, the difference that
/// of its second, and so on with the averages.
#[inline(always)]
pub(super) fn haar<T: Real, const N: usize>(group: &mut [Block<T, N>]) {
    let mut apart = 1;
    while apart < group.len() {
        for pair in group.chunks_exact_mut(2 * apart) {
            let (a, b) = pair.split_at_mut(apart);
            butterfly(&mut a[0], &mut b[0]);
        }
        apart *= 2;
    }
}

/// Takes [`haar`] back.
#[inline(always)]
pub(super) fn haar_back<T: Real, const N: usize>(group: &mut [Block<T, N>]) {
    let mut apart = group.len() / 2;
    while apart > 0 {
        for pair in group.chunks_exact_mut(2 * apart) {
            let (a, b) = pair.split_at_mut(apart);
            butterfly(&mut a[0], &mut b[0]);
        }
        apart /= 2;
    }
}

/// (a, b) becomes (a + b, a - b) / √2, which is its own inverse.
#[inline(always)]
fn butterfly<T: Real, const N: usize>(a: &mut Block<T, N>, b: &mut Block<T, N>) {
    let half = constant::<T>(FRAC_1_SQRT_2);
    for (a, b) in a.iter_mut().zip(b) {
        let (sum, difference) = (scale(half, add(*a, *b)), scale(half, sub(*a, *b)));
        *a = sum;
        *b = difference;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Numbers without a pattern.
    fn block<const N: usize>(seed: usize) -> Block<f64, N> {
        from_fn(|i| from_fn(|j| ((i * 31 + j * 17 + seed) * 7919 % 1009) as f64 / 7.0 - 60.0))
    }

    fn product<const N: usize>(a: &Block<f64, N>, b: &Block<f64, N>) -> Block<f64, N> {
        from_fn(|i| from_fn(|j| (0..N).map(|k| a[i][k] * b[k][j]).sum()))
    }

    fn assert_near<const N: usize>(a: &Block<f64, N>, b: &Block<f64, N>) {
        for (a, b) in a.as_flattened().iter().zip(b.as_flattened()) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }

    fn columns_are_the_matrix<const N: usize, const FUSED: bool>(kind: Transform) {
        let basis = Basis::<f64, N>::new(kind);
        let original = block(3);
        let mut x = original;
        basis.columns::<FUSED>(&mut x);
        assert_near(&x, &product(&basis.forward, &original));
        basis.columns_back::<FUSED>(&mut x);
        assert_near(&x, &original);

        let y = block(5);
        x = y;
        basis.columns_back::<FUSED>(&mut x);
        assert_near(&x, &product(&basis.inverse, &y));
        for row in basis.forward {
            let square: f64 = row.iter().map(|v| v * v).sum();
            assert!((square - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn transforms_are_their_matrices_and_come_back() {
        columns_are_the_matrix::<4, false>(Transform::Dct);
        columns_are_the_matrix::<8, false>(Transform::Dct);
        columns_are_the_matrix::<8, true>(Transform::Dct);
        columns_are_the_matrix::<12, false>(Transform::Dct);
        columns_are_the_matrix::<16, true>(Transform::Dct);
        columns_are_the_matrix::<4, false>(Transform::Bior15);
        columns_are_the_matrix::<8, false>(Transform::Bior15);
        columns_are_the_matrix::<8, true>(Transform::Bior15);
        columns_are_the_matrix::<16, false>(Transform::Bior15);
    }

    #[test]
    fn rows_are_transformed_at_every_position() {
        let basis = Basis::<f64, 8>::new(Transform::Bior15);
        let samples: Vec<f64> = block::<8>(1).as_flattened()[..20].to_vec();
        let mut out = [[0.0; 8]; 13];
        basis.rows::<false>(&samples, &mut out);
        for (window, out) in samples.windows(8).zip(&out) {
            for k in 0..8 {
                let direct: f64 = (0..8).map(|j| basis.forward[k][j] * window[j]).sum();
                assert!((direct - out[k]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn haar_is_orthonormal_and_comes_back() {
        for size in [1, 2, 4, 16, 32] {
            let original: Vec<Block<f64, 4>> = (0..size).map(block::<4>).collect();
            let mut group = original.clone();
            haar(&mut group);
            let energy = |group: &[Block<f64, 4>]| -> f64 {
                group.as_flattened().as_flattened().iter().map(|v| v * v).sum()
            };
            assert!((energy(&group) / energy(&original) - 1.0).abs() < 1e-12);
            let sum: f64 = original.iter().map(|block| block[1][2]).sum();
            assert!((group[0][1][2] - sum / (size as f64).sqrt()).abs() < 1e-9);
            haar_back(&mut group);
            for (a, b) in group.iter().zip(&original) {
                assert_near(a, b);
            }
        }
    }
}
