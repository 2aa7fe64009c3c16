//! One strip of references: matched, grouped, filtered, summed up.

use super::aggregate::{Quotient, Sums};
use super::lattice::{Lattice, Samples};
use super::matching::{Displacement, Phases, Scratch, TrustIn, displacements};
use super::nearest::{Nearest, TILE};
use super::settings::Stage;
use super::shrink;
use super::transform::{Basis, Block, haar, haar_back};
use crate::Real;
use crate::linalg::simd::Routine;
use crate::real::{constant, count};
use alloc::vec;
use alloc::vec::Vec;

/// What a stage does to the coefficients of one channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Channel<'a, T> {
    /// What is filtered.
    pub(super) noisy: Samples<'a, T>,
    /// The basic estimate; without it, the coefficients are thresholded.
    pub(super) basic: Option<Samples<'a, T>>,
    /// The threshold, or the variance of the noise if there is an estimate.
    pub(super) level: T,
}

/// Where and how pixels are trusted less than others.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrustUse<'a, T> {
    /// In matching; with the squared difference that noise alone makes.
    pub(super) matching: Option<(Samples<'a, T>, T)>,
    /// In aggregation: blocks count by the mean trust in their pixels.
    pub(super) aggregation: Option<Samples<'a, T>>,
}

/// The work on one strip.
#[derive(Clone, Copy)]
pub(super) struct Strip<'a, T, const N: usize> {
    pub(super) stage: &'a Stage<T>,
    pub(super) lattice: &'a Lattice,
    pub(super) basis: &'a Basis<T, N>,
    /// Where blocks are matched.
    pub(super) guide: Samples<'a, T>,
    pub(super) channels: &'a [Channel<'a, T>],
    pub(super) trust: TrustUse<'a, T>,
    pub(super) number: usize,
}

impl<T: Real, const N: usize> Routine for Strip<'_, T, N> {
    /// A quotient for each channel.
    type Output = Vec<Quotient<T>>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Vec<Quotient<T>> {
        let Self { stage, lattice, basis, guide, channels, trust, number } = self;
        let (width, rows) = (lattice.width(), lattice.rows(number));
        let references = lattice.references(number);
        let mut filters = Vec::with_capacity(channels.len());
        for &Channel { noisy, basic, level } in channels {
            let noisy = row_transforms::<T, N, FUSED>(noisy, lattice, number, basis);
            let basic = match basic {
                Some(basic) => row_transforms::<T, N, FUSED>(basic, lattice, number, basis),
                None => Vec::new(),
            };
            let sums = Sums::new(width, rows.len(), stage.beta);
            filters.push(Filter { noisy, basic, level, sums });
        }

        let displacements = displacements(lattice.radius, lattice.reach());
        let phases = Phases::new(guide, lattice, number);
        let trust_in = match trust.matching {
            Some((samples, expected)) => {
                Some(TrustIn { phases: Phases::new(samples, lattice, number), expected })
            }
            None => None,
        };
        let known = trust_in.as_ref().map_or(T::zero(), |trust| trust.expected);
        let trust_of_blocks = match trust.aggregation {
            Some(samples) => block_means::<T, N>(samples, lattice, number),
            None => Vec::new(),
        };
        let mut scratch = Scratch::new(lattice, number);
        let mut nearest = Nearest::new(references.len(), stage.group - 1);
        let limit = (stage.max_distance - known) * count(N * N);
        let mut group = Vec::with_capacity(stage.group);
        let mut blocks = [(); 2].map(|()| vec![[[T::zero(); N]; N]; stage.group]);
        let tile = Phases::<T>::tile_len(lattice);
        for first in (0..lattice.across).step_by(tile) {
            let tile = first..(first + tile).min(lattice.across);
            nearest.clear(tile.len(), limit);
            phases.search::<FUSED>(
                &tile,
                &displacements,
                trust_in.as_ref(),
                &mut scratch,
                &mut nearest,
            );
            for (row, y) in references.clone().enumerate() {
                for (i, x) in tile.clone().enumerate() {
                    // Pixel numbers, of the block at displacement zero first.
                    let (x, y) = (x * lattice.step, y * lattice.step - rows.start);
                    group.clear();
                    group.push(y * width + x);
                    for &number in nearest.sorted(row * TILE + i) {
                        let Displacement { down, right } = displacements[number as usize];
                        group
                            .push((y + down - lattice.radius) * width + x + right - lattice.radius);
                    }
                    group.truncate(1 << group.len().ilog2());
                    for filter in &mut filters {
                        filter.run::<FUSED>(&group, basis, width, &trust_of_blocks, &mut blocks);
                    }
                }
            }
        }
        let mut quotients = Vec::with_capacity(filters.len());
        for filter in filters {
            quotients.push(filter.sums.finish::<FUSED>(basis));
        }
        quotients
    }
}

/// One channel of a strip.
struct Filter<T, const N: usize> {
    /// Row transforms at every pixel.
    noisy: Vec<[T; N]>,
    /// The same for the basic estimate; empty if there is none.
    basic: Vec<[T; N]>,
    level: T,
    sums: Sums<T, N>,
}

impl<T: Real, const N: usize> Filter<T, N> {
    /// Filters the blocks at the pixels numbered in `group`.
    #[inline(always)]
    fn run<const FUSED: bool>(
        &mut self,
        group: &[usize],
        basis: &Basis<T, N>,
        width: usize,
        trust: &[T],
        [noisy, basic]: &mut [Vec<Block<T, N>>; 2],
    ) {
        let noisy = &mut noisy[..group.len()];
        spectrum::<T, N, FUSED>(&self.noisy, group, basis, width, noisy);
        let weight = if self.basic.is_empty() {
            shrink::threshold(noisy, self.level)
        } else {
            let basic = &mut basic[..group.len()];
            spectrum::<T, N, FUSED>(&self.basic, group, basis, width, basic);
            shrink::wiener::<T, N, FUSED>(noisy, basic, self.level)
        };
        haar_back(noisy);
        for (block, &at) in noisy.iter_mut().zip(group) {
            basis.columns_back::<FUSED>(block);
            let weight = if trust.is_empty() { weight } else { weight * trust[at] };
            self.sums.add::<FUSED>(block, at, weight);
        }
    }
}

/// The coefficients of a group of blocks.
#[inline(always)]
fn spectrum<T: Real, const N: usize, const FUSED: bool>(
    rows: &[[T; N]],
    group: &[usize],
    basis: &Basis<T, N>,
    width: usize,
    blocks: &mut [Block<T, N>],
) {
    for (block, &at) in blocks.iter_mut().zip(group) {
        let end = at + (N - 1) * width + 1;
        for (row, &from) in block.iter_mut().zip(rows[at..end].iter().step_by(width)) {
            *row = from;
        }
        basis.columns::<FUSED>(block);
    }
    haar(blocks);
}

/// The row transforms at every pixel of the rows a strip can use.
#[inline(always)]
fn row_transforms<T: Real, const N: usize, const FUSED: bool>(
    samples: Samples<'_, T>,
    lattice: &Lattice,
    strip: usize,
    basis: &Basis<T, N>,
) -> Vec<[T; N]> {
    let (width, rows) = (lattice.width(), lattice.rows(strip));
    let mut table = vec![[T::zero(); N]; width * rows.len()];
    let mut row = Vec::with_capacity(width);
    for (y, out) in rows.zip(table.chunks_exact_mut(width)) {
        samples.continued_row(y, &mut row, width);
        basis.rows::<FUSED>(&row, out);
    }
    table
}

/// The mean of the block at every pixel, of the rows a strip can use; above
/// zero, so that every pixel is covered by something.
fn block_means<T: Real, const N: usize>(
    samples: Samples<'_, T>,
    lattice: &Lattice,
    strip: usize,
) -> Vec<T> {
    let (width, rows) = (lattice.width(), lattice.rows(strip));
    let mut means = vec![T::zero(); width * rows.len()];
    let mut row = Vec::with_capacity(width);
    for (i, y) in rows.enumerate() {
        samples.continued_row(y, &mut row, width);
        for x in 0..=width - N {
            let mut sum = T::zero();
            for &value in &row[x..x + N] {
                sum = sum + value;
            }
            // This row is in the blocks that begin in the N rows up to it.
            for above in i.saturating_sub(N - 1)..=i {
                means[above * width + x] = means[above * width + x] + sum;
            }
        }
    }
    for mean in &mut means {
        *mean = (*mean / count(N * N)).max(constant(LEAST_TRUST));
    }
    means
}

/// The weight of a block none of whose pixels are trusted.
const LEAST_TRUST: f64 = 1e-3;
