//! One strip of references: matched, grouped, filtered, summed up.

use super::aggregate::{Quotient, Sums};
use super::lattice::{Lattice, Samples};
use super::matching::{Displacement, Phases, Scratch, displacements};
use super::nearest::{Nearest, TILE};
use super::settings::Stage;
use super::shrink::{self, Noise};
use super::transform::{Basis, Block, haar, haar_back};
use crate::Real;
use crate::denoise::NoiseSpectrum;
use crate::linalg::simd::Routine;
use crate::real::count;
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
    /// The noise of each coefficient, if it is not white.
    pub(super) spectrum: Option<&'a NoiseSpectrum<T>>,
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
    pub(super) number: usize,
}

impl<T: Real, const N: usize> Routine for Strip<'_, T, N> {
    /// A quotient for each channel.
    type Output = Vec<Quotient<T>>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Vec<Quotient<T>> {
        let Self { stage, lattice, basis, guide, channels, number } = self;
        let (width, rows) = (lattice.width(), lattice.rows(number));
        let references = lattice.references(number);
        let mut filters = Vec::with_capacity(channels.len());
        for &Channel { noisy, basic, level, spectrum } in channels {
            let noisy = row_transforms::<T, N, FUSED>(noisy, lattice, number, basis);
            let basic = match basic {
                Some(basic) => row_transforms::<T, N, FUSED>(basic, lattice, number, basis),
                None => Vec::new(),
            };
            let sums = Sums::new(width, rows.len(), stage.beta);
            let noise = Noise::new(spectrum, level, basic.is_empty());
            filters.push(Filter { noisy, basic, noise, sums });
        }

        let displacements = displacements(lattice.radius, lattice.reach(), stage.spacing);
        let phases = Phases::new(guide, lattice, number);
        let mut scratch = Scratch::new(lattice, number);
        let mut nearest = Nearest::new(references.len(), stage.group - 1);
        let limit = stage.max_distance * count(N * N);
        let mut group = Vec::with_capacity(stage.group);
        let mut blocks = [(); 2].map(|()| vec![[[T::zero(); N]; N]; stage.group]);
        let tile = Phases::<T>::tile_len(lattice);
        for first in (0..lattice.across).step_by(tile) {
            let tile = first..(first + tile).min(lattice.across);
            nearest.clear(tile.len(), limit);
            phases.search::<FUSED>(&tile, &displacements, &mut scratch, &mut nearest);
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
                        filter.run::<FUSED>(&group, basis, width, &mut blocks);
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
    noise: Noise<T, N>,
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
        [noisy, basic]: &mut [Vec<Block<T, N>>; 2],
    ) {
        let noisy = &mut noisy[..group.len()];
        spectrum::<T, N, FUSED>(&self.noisy, group, basis, width, noisy);
        let weight = if self.basic.is_empty() {
            shrink::threshold(noisy, &self.noise)
        } else {
            let basic = &mut basic[..group.len()];
            spectrum::<T, N, FUSED>(&self.basic, group, basis, width, basic);
            shrink::wiener::<T, N, FUSED>(noisy, basic, &self.noise)
        };
        haar_back(noisy);
        for (block, &at) in noisy.iter_mut().zip(group) {
            basis.columns_back::<FUSED>(block);
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
