//! The eigenvectors of a region's kernel matrix.
//!
//! A kernel of a distance does not know up from down: turned over, a region has the same
//! matrix. Then half of the eigenvectors are the same upside down, the others change
//! their sign, and each half needs only the upper rows of a region: the sums of
//! opposite rows, or their differences. That is half the work of a product with all.

use super::grid::lattice;
use crate::kernel::gram;
use crate::linalg::batch::Packed;
use crate::linalg::eigen;
use crate::real::{constant, count};
use crate::{Error, Kernel, Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Regions that are turned into coefficients at a time.
const AT_A_TIME: usize = 16;

/// $E$, whose rows are the eigenvectors, in parts.
#[derive(Debug, Clone)]
pub(crate) struct Basis<T> {
    side: usize,
    /// $E^T$: row `j` is what pixel `j` adds to the coefficients.
    pub(crate) pixels: Vec<T>,
    /// The eigenvalues.
    pub(super) values: Vec<T>,
    /// One part, or those that are the same upside down and those that are not.
    parts: Vec<Part<T>>,
}

/// Eigenvectors of one kind.
#[derive(Debug, Clone)]
struct Part<T> {
    /// The first of them.
    start: usize,
    analysis: Packed<T>,
    synthesis: Packed<T>,
}

impl<T: Real> Basis<T> {
    /// Of regions of `side` x `side` pixels.
    pub(super) fn new(side: usize, kernel: &impl Kernel<T>) -> Result<Self, Error> {
        let n = side * side;
        let points = lattice(side);
        let mut k = vec![T::zero(); n * n];
        gram(Points::new(&points, 2)?, kernel, &mut k)?;
        let mut basis = Self {
            side,
            pixels: vec![T::zero(); n * n],
            values: Vec::with_capacity(n),
            parts: Vec::with_capacity(2),
        };
        if is_same_upside_down(&k, side) {
            let (middle, upper) = (side.div_ceil(2) * side, side / 2 * side);
            basis.add_part(folded(&k, side, middle, T::one()), T::one())?;
            basis.add_part(folded(&k, side, upper, -T::one()), -T::one())?;
        } else {
            basis.add_part(k, T::zero())?;
        }
        Ok(basis)
    }

    /// Adds the eigenvectors of a part's matrix, which are turned over with this `sign`;
    /// zero if there is no such thing.
    fn add_part(&mut self, mut vectors: Vec<T>, sign: T) -> Result<(), Error> {
        let (n, start) = (self.side * self.side, self.values.len());
        let m = vectors.len().isqrt();
        let mut values = vec![T::zero(); m];
        let mut scratch = vec![T::zero(); eigen::symmetric_scratch_len(m)];
        eigen::symmetric(&mut vectors, m, &mut values, &mut scratch)?;
        self.values.extend(values);
        let root_half = constant::<T>(0.5).sqrt();
        for (i, vector) in vectors.chunks_exact_mut(m).enumerate() {
            for (j, x) in vector.iter_mut().enumerate() {
                let opposite = opposite(j, self.side);
                if sign != T::zero() && opposite != j {
                    // Two rows share what one stood for.
                    *x = *x * root_half;
                    self.pixels[opposite * n + start + i] = sign * *x;
                }
                self.pixels[j * n + start + i] = *x;
            }
        }
        let transposed: Vec<T> = (0..m)
            .flat_map(|j| (0..m).map(move |i| (i, j)))
            .map(|(i, j)| vectors[i * m + j])
            .collect();
        let (analysis, synthesis) = (Packed::new(&vectors, m), Packed::new(&transposed, m));
        self.parts.push(Part { start, analysis, synthesis });
        Ok(())
    }

    /// The coefficients of many regions.
    pub(super) fn analyse(&self, regions: &[T], coefficients: &mut [T]) {
        let [whole] = &self.parts[..] else { return self.analyse_folded(regions, coefficients) };
        whole.analysis.multiply(regions, coefficients);
    }

    /// The regions of many coefficients.
    pub(super) fn synthesise(&self, coefficients: &[T], regions: &mut [T]) {
        let [whole] = &self.parts[..] else { return self.synthesise_folded(coefficients, regions) };
        whole.synthesis.multiply(coefficients, regions);
    }

    fn analyse_folded(&self, regions: &[T], coefficients: &mut [T]) {
        let n = self.side * self.side;
        let mut folded = vec![T::zero(); AT_A_TIME * n];
        let several = regions.chunks(AT_A_TIME * n).zip(coefficients.chunks_mut(AT_A_TIME * n));
        for (regions, coefficients) in several {
            let folded = &mut folded[..regions.len()];
            for (region, folded) in regions.chunks_exact(n).zip(folded.chunks_exact_mut(n)) {
                self.fold(region, folded);
            }
            for part in &self.parts {
                part.analysis.multiply_part(folded, coefficients, n, part.start);
            }
        }
    }

    fn synthesise_folded(&self, coefficients: &[T], regions: &mut [T]) {
        let n = self.side * self.side;
        let mut folded = vec![T::zero(); AT_A_TIME * n];
        let several = coefficients.chunks(AT_A_TIME * n).zip(regions.chunks_mut(AT_A_TIME * n));
        for (coefficients, regions) in several {
            let folded = &mut folded[..regions.len()];
            for part in &self.parts {
                part.synthesis.multiply_part(coefficients, folded, n, part.start);
            }
            for (region, folded) in regions.chunks_exact_mut(n).zip(folded.chunks_exact(n)) {
                self.unfold(folded, region);
            }
        }
    }

    /// The sums of opposite rows, and the row in the middle if there is one; then their
    /// differences.
    fn fold(&self, region: &[T], folded: &mut [T]) {
        let (side, rows) = (self.side, self.side / 2);
        let (sums, differences) = folded.split_at_mut(side.div_ceil(2) * side);
        for r in 0..rows {
            let (upper, lower) =
                (&region[r * side..][..side], &region[(side - 1 - r) * side..][..side]);
            let sums = &mut sums[r * side..][..side];
            let differences = &mut differences[r * side..][..side];
            for j in 0..side {
                sums[j] = upper[j] + lower[j];
                differences[j] = upper[j] - lower[j];
            }
        }
        sums[rows * side..].copy_from_slice(&region[rows * side..][..side % 2 * side]);
    }

    /// The transpose of [`fold`](Self::fold): opposite rows are a sum and a difference.
    fn unfold(&self, folded: &[T], region: &mut [T]) {
        let (side, rows) = (self.side, self.side / 2);
        let (sums, differences) = folded.split_at(side.div_ceil(2) * side);
        let (above, below) = region.split_at_mut(rows * side);
        let (middle, below) = below.split_at_mut(side % 2 * side);
        middle.copy_from_slice(&sums[rows * side..]);
        for (r, lower) in below.chunks_exact_mut(side).rev().enumerate() {
            let upper = &mut above[r * side..][..side];
            let (sums, differences) = (&sums[r * side..][..side], &differences[r * side..][..side]);
            for j in 0..side {
                upper[j] = sums[j] + differences[j];
                lower[j] = sums[j] - differences[j];
            }
        }
    }
}

/// The pixel in the opposite row.
fn opposite(pixel: usize, side: usize) -> usize {
    (side - 1 - pixel / side) * side + pixel % side
}

/// Whether turning regions over does not change their kernel matrix, but for rounding.
fn is_same_upside_down<T: Real>(k: &[T], side: usize) -> bool {
    let n = side * side;
    let largest = k.iter().fold(T::zero(), |largest, k| largest.max(k.abs()));
    let rounding = count::<T>(n) * T::epsilon() * largest;
    (0..n).all(|i| {
        let turned = &k[opposite(i, side) * n..][..n];
        (0..n).all(|j| (k[i * n + j] - turned[opposite(j, side)]).abs() <= rounding)
    })
}

/// The kernel matrix of the first `m` pixels and those opposite, with this `sign`.
fn folded<T: Real>(k: &[T], side: usize, m: usize, sign: T) -> Vec<T> {
    let n = side * side;
    let root_half = constant::<T>(0.5).sqrt();
    // A row in the middle is opposite to itself, and counts once.
    let share = |i: usize| if opposite(i, side) == i { root_half } else { T::one() };
    let entry = |(i, j): (usize, usize)| {
        (k[i * n + j] + sign * k[i * n + opposite(j, side)]) * share(i) * share(j)
    };
    (0..m).flat_map(|i| (0..m).map(move |j| (i, j))).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::Basis;
    use crate::{Matern32, kernel::Kernel};
    use alloc::vec;
    use alloc::vec::Vec;

    /// One that knows up from down.
    struct Slanted;

    impl Kernel<f64> for Slanted {
        fn evaluate(&self, a: &[f64], b: &[f64]) -> f64 {
            let slope = |x: &[f64]| 1.0 + x[0] * x[0];
            slope(a) * slope(b) * Matern32::new(0.4).evaluate(a, b)
        }
    }

    fn check(side: usize, kernel: &impl Kernel<f64>, parts: usize) {
        let n = side * side;
        let basis = Basis::new(side, kernel).unwrap();
        assert_eq!(basis.parts.len(), parts);
        let points: Vec<f64> = super::lattice(side);
        let at = |i: usize| &points[2 * i..][..2];
        // K e = mu e, and the rows of E are orthonormal.
        for i in 0..n {
            let vector: Vec<f64> = (0..n).map(|j| basis.pixels[j * n + i]).collect();
            for a in 0..n {
                let image: f64 = (0..n).map(|b| kernel.evaluate(at(a), at(b)) * vector[b]).sum();
                assert!((image - basis.values[i] * vector[a]).abs() < 1e-10, "{side}");
            }
            for l in 0..n {
                let product: f64 = (0..n).map(|j| vector[j] * basis.pixels[j * n + l]).sum();
                assert!((product - f64::from(u8::from(i == l))).abs() < 1e-12, "{side}");
            }
        }
        // The products are those with E and its transpose.
        let count = 19;
        let regions: Vec<f64> = (0..count * n).map(|i| ((i * i) % 101) as f64).collect();
        let mut coefficients = vec![0.0; count * n];
        basis.analyse(&regions, &mut coefficients);
        for (region, found) in regions.chunks(n).zip(coefficients.chunks(n)) {
            for (i, found) in found.iter().enumerate() {
                let expected: f64 = (0..n).map(|j| basis.pixels[j * n + i] * region[j]).sum();
                assert!((expected - found).abs() < 1e-9, "{side}");
            }
        }
        let mut back = vec![0.0; count * n];
        basis.synthesise(&coefficients, &mut back);
        for (expected, found) in regions.iter().zip(&back) {
            assert!((expected - found).abs() < 1e-9, "{side}");
        }
    }

    #[test]
    fn eigenvectors_of_regions_that_can_be_turned_over() {
        for side in [2, 3, 5, 8] {
            check(side, &Matern32::new(0.3), 2);
        }
    }

    #[test]
    fn eigenvectors_of_those_that_cannot() {
        for side in [2, 5, 6] {
            check(side, &Slanted, 1);
        }
    }
}
