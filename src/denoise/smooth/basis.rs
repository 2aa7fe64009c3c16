//! The eigenvectors of a region's kernel matrix.
//!
//! A kernel of a distance does not know up from down or left from right: turned over, a
//! region has the same matrix. Then each eigenvector is the same upside down or changes its
//! sign, and the same from left to right: four kinds, and each needs only a quarter of a
//! region: the sums of opposite rows or their differences, and of these the sums of opposite
//! columns or their differences. That is a quarter of the work of a product with all.

use crate::image::grid::lattice;
use crate::kernel::gram;
use crate::linalg::batch::{Entries, Packed};
use crate::linalg::eigen;
use crate::real::count;
use crate::{Error, Kernel, Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Regions that are turned into coefficients at a time.
const AT_A_TIME: usize = 16;

/// The side of a region as a rule: loops of a known length are quicker.
const USUAL: usize = 12;

/// Whether eigenvectors change their sign upside down, and from left to right.
type Kind = (bool, bool);

const KINDS: [Kind; 4] = [(false, false), (false, true), (true, false), (true, true)];

/// $E$, whose rows are the eigenvectors, in parts.
#[derive(Debug, Clone)]
pub(crate) struct Basis<T> {
    side: usize,
    /// $E^T$: row `j` is what pixel `j` adds to the coefficients.
    pub(crate) pixels: Vec<T>,
    /// $E \mathbf 1$, as far as it is not zero: what changes its sign has no sum.
    pub(crate) sums: Vec<T>,
    /// The eigenvalues.
    pub(crate) values: Vec<T>,
    /// One part, or one of each kind.
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
    pub(crate) fn new(side: usize, kernel: &impl Kernel<T>) -> Result<Self, Error> {
        let n = side * side;
        let points = lattice(side);
        let mut k = vec![T::zero(); n * n];
        gram(Points::new(&points, 2)?, kernel, &mut k)?;
        let mut basis = Self {
            side,
            pixels: vec![T::zero(); n * n],
            sums: Vec::new(),
            values: Vec::with_capacity(n),
            parts: Vec::with_capacity(KINDS.len()),
        };
        if is_same_turned(&k, side) {
            for kind in KINDS {
                let orbits = orbits(side, kind);
                if !orbits.is_empty() {
                    basis.add_part(folded(&k, n, &orbits), &orbits)?;
                }
            }
        } else {
            let pixels: Vec<Orbit<T>> = (0..n).map(|j| vec![(j, T::one())]).collect();
            basis.add_part(k, &pixels)?;
        }
        let first = basis.parts.get(1).map_or(n, |part| part.start);
        basis.sums = (0..first)
            .map(|i| (0..n).fold(T::zero(), |sum, j| sum + basis.pixels[j * n + i]))
            .collect();
        Ok(basis)
    }

    /// Adds the eigenvectors of a part's matrix, of which each entry stands for the pixels
    /// of an orbit.
    fn add_part(&mut self, mut vectors: Vec<T>, orbits: &[Orbit<T>]) -> Result<(), Error> {
        let (n, start) = (self.side * self.side, self.values.len());
        let m = orbits.len();
        let mut values = vec![T::zero(); m];
        let mut scratch = vec![T::zero(); eigen::symmetric_scratch_len(m)];
        eigen::symmetric(&mut vectors, m, &mut values, &mut scratch)?;
        self.values.extend(values);
        for (i, vector) in vectors.chunks_exact_mut(m).enumerate() {
            for (x, orbit) in vector.iter_mut().zip(orbits) {
                // The pixels share what one stood for.
                *x = *x / count::<T>(orbit.len()).sqrt();
                for &(pixel, sign) in orbit {
                    self.pixels[pixel * n + start + i] = sign * *x;
                }
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
    pub(crate) fn analyse(&self, regions: &[T], coefficients: &mut [T]) {
        let n = self.side * self.side;
        let mut folded = vec![T::zero(); AT_A_TIME * n];
        let several = regions.chunks(AT_A_TIME * n).zip(coefficients.chunks_mut(AT_A_TIME * n));
        for (regions, coefficients) in several {
            let folded = &mut folded[..regions.len()];
            for (region, folded) in regions.chunks_exact(n).zip(folded.chunks_exact_mut(n)) {
                self.fold(region, folded);
            }
            for &Part { start, ref analysis, .. } in &self.parts {
                let part = Entries { of: &*folded, stride: n, start };
                analysis.multiply(part, Entries { of: coefficients, stride: n, start });
            }
        }
    }

    /// The regions of many coefficients.
    pub(crate) fn synthesise(&self, coefficients: &[T], regions: &mut [T]) {
        let n = self.side * self.side;
        let mut folded = vec![T::zero(); AT_A_TIME * n];
        let several = coefficients.chunks(AT_A_TIME * n).zip(regions.chunks_mut(AT_A_TIME * n));
        for (coefficients, regions) in several {
            let folded = &mut folded[..regions.len()];
            for &Part { start, ref synthesis, .. } in &self.parts {
                let part = Entries { of: coefficients, stride: n, start };
                synthesis.multiply(part, Entries { of: &mut *folded, stride: n, start });
            }
            for (region, folded) in regions.chunks_exact_mut(n).zip(folded.chunks_exact(n)) {
                self.unfold(folded, region);
            }
        }
    }

    /// What the parts are multiplied with: sums and differences of opposite rows, and of each
    /// the sums and differences of opposite columns.
    fn fold(&self, region: &[T], folded: &mut [T]) {
        match self.side {
            _ if self.parts.len() == 1 => folded.copy_from_slice(region),
            USUAL => fold(USUAL, region, folded),
            side => fold(side, region, folded),
        }
    }

    /// The transpose of [`fold`](Self::fold).
    fn unfold(&self, folded: &[T], region: &mut [T]) {
        match self.side {
            _ if self.parts.len() == 1 => region.copy_from_slice(folded),
            USUAL => unfold(USUAL, folded, region),
            side => unfold(side, folded, region),
        }
    }
}

#[inline(always)]
fn fold<T: Real>(side: usize, region: &[T], folded: &mut [T]) {
    let half = side / 2;
    let more = side - half;
    let (sums, differences) = folded.split_at_mut(more * side);
    let (same, across) = sums.split_at_mut(more * more);
    let (down, both) = differences.split_at_mut(half * more);
    for r in 0..more {
        let (same, across) = (&mut same[r * more..][..more], &mut across[r * half..][..half]);
        let upper = &region[r * side..][..side];
        let lower = &region[(side - 1 - r) * side..][..side];
        if r == half {
            fold_row(|j| upper[j], same, across);
            break;
        }
        fold_row(|j| upper[j] + lower[j], same, across);
        let (down, both) = (&mut down[r * more..][..more], &mut both[r * half..][..half]);
        fold_row(|j| upper[j] - lower[j], down, both);
    }
}

#[inline(always)]
fn unfold<T: Real>(side: usize, folded: &[T], region: &mut [T]) {
    let half = side / 2;
    let more = side - half;
    let (sums, differences) = folded.split_at(more * side);
    let (same, across) = sums.split_at(more * more);
    let (down, both) = differences.split_at(half * more);
    let (above, below) = region.split_at_mut(more * side);
    for (r, upper) in above.chunks_exact_mut(side).enumerate() {
        unfold_row(&same[r * more..][..more], &across[r * half..][..half], upper);
        if r == half {
            break;
        }
        let lower = &mut below[(half - 1 - r) * side..][..side];
        unfold_row(&down[r * more..][..more], &both[r * half..][..half], lower);
        for (upper, lower) in upper.iter_mut().zip(lower) {
            (*upper, *lower) = (*upper + *lower, *upper - *lower);
        }
    }
}

/// Sums of opposite entries, with the one in the middle if there is one, and differences.
#[inline(always)]
fn fold_row<T: Real>(entry: impl Fn(usize) -> T, sums: &mut [T], differences: &mut [T]) {
    let (more, half) = (sums.len(), differences.len());
    for j in 0..half {
        let (left, right) = (entry(j), entry(more + half - 1 - j));
        (sums[j], differences[j]) = (left + right, left - right);
    }
    if more > half {
        sums[half] = entry(half);
    }
}

/// The transpose of [`fold_row`].
#[inline(always)]
fn unfold_row<T: Real>(sums: &[T], differences: &[T], row: &mut [T]) {
    let (left, right) = row.split_at_mut(sums.len());
    left.copy_from_slice(sums);
    let opposite = left.iter_mut().zip(right.iter_mut().rev());
    for ((left, right), &difference) in opposite.zip(differences) {
        (*left, *right) = (*left + difference, *left - difference);
    }
}

/// Pixels that stand for one another, and whether with the same sign.
type Orbit<T> = Vec<(usize, T)>;

/// What takes the place of a pixel if a region is turned over: not at all, from left to
/// right, upside down, and both.
fn turned(pixel: usize, side: usize) -> [usize; 4] {
    let (y, x) = (pixel / side * side, pixel % side);
    let (down, across) = ((side - 1) * side - y, side - 1 - x);
    [y + x, y + across, down + x, down + across]
}

/// The pixels that stand for one another in eigenvectors of one kind, in the order of
/// [`fold`](Basis::fold).
fn orbits<T: Real>(side: usize, (down, across): Kind) -> Vec<Orbit<T>> {
    let sign = |changes: bool| if changes { -T::one() } else { T::one() };
    let signs = [T::one(), sign(across), sign(down), sign(across) * sign(down)];
    let up_to = |changes: bool| if changes { side / 2 } else { side.div_ceil(2) };
    let pixels = (0..up_to(down)).flat_map(|y| (0..up_to(across)).map(move |x| y * side + x));
    let orbit = |pixel| {
        let mut orbit: Orbit<T> = turned(pixel, side).into_iter().zip(signs).collect();
        orbit.sort_by_key(|&(pixel, _)| pixel);
        // A pixel in the middle is opposite to itself, and counts once.
        orbit.dedup_by_key(|&mut (pixel, _)| pixel);
        orbit
    };
    pixels.map(orbit).collect()
}

/// Whether turning regions over does not change their kernel matrix, but for rounding.
fn is_same_turned<T: Real>(k: &[T], side: usize) -> bool {
    let n = side * side;
    let largest = k.iter().fold(T::zero(), |largest, k| largest.max(k.abs()));
    let rounding = count::<T>(n) * T::epsilon() * largest;
    let is_same = |i: usize, j: usize| {
        let turned = turned(i, side).into_iter().zip(turned(j, side));
        turned.into_iter().all(|(a, b)| (k[i * n + j] - k[a * n + b]).abs() <= rounding)
    };
    (0..n).all(|i| (0..n).all(|j| is_same(i, j)))
}

/// The kernel matrix between what orbits stand for: unit vectors.
fn folded<T: Real>(k: &[T], n: usize, orbits: &[Orbit<T>]) -> Vec<T> {
    let entry = |(a, b): (&Orbit<T>, &Orbit<T>)| {
        let (i, sign) = a[0];
        let sum = b.iter().fold(T::zero(), |sum, &(j, other)| sum + other * k[i * n + j]);
        // Turned over with it, each pixel of the one sees the same of the other.
        sign * sum * (count::<T>(a.len()) / count(b.len())).sqrt()
    };
    orbits.iter().flat_map(|a| orbits.iter().map(move |b| (a, b))).map(entry).collect()
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
        for side in [2, 3, 5, 8, 12] {
            check(side, &Matern32::new(0.3), 4);
        }
    }

    #[test]
    fn eigenvectors_of_those_that_cannot() {
        for side in [2, 5, 6] {
            check(side, &Slanted, 1);
        }
    }
}
