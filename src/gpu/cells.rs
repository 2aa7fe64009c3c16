//! The data of all points of all problems of a batch: `shaders/shared/cells.wgsl`.

use super::{Gpu, GpuError};
use alloc::vec::Vec;

/// The sections of the buffer, each with one entry for every point of every problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Data,
    Calm,
    Flags,
    Coefficients,
    Filtered,
    Residuals,
    Outliers,
    Order,
}

impl Section {
    /// The same numbers as in the shaders.
    pub(super) const ALL: [Self; 8] = [
        Self::Data,
        Self::Calm,
        Self::Flags,
        Self::Coefficients,
        Self::Filtered,
        Self::Residuals,
        Self::Outliers,
        Self::Order,
    ];
}

/// Entries of a problem of `n` points: blocks of four.
pub(super) const fn padded(n: u32) -> u32 {
    n.next_multiple_of(4)
}

/// A row-major `n` x `n` matrix, its rows padded with zeros to [`padded`].
pub(super) fn padded_rows(matrix: &[f32], n: usize) -> Vec<f32> {
    let width = n.next_multiple_of(4);
    let mut padded = Vec::with_capacity(matrix.len() / n * width);
    for row in matrix.chunks_exact(n) {
        padded.extend_from_slice(row);
        padded.resize(padded.len() + width - n, 0.0);
    }
    padded
}

/// The same with rows of zeros to make it square, for products.
pub(super) fn padded_square(matrix: &[f32], n: usize) -> Vec<f32> {
    let width = n.next_multiple_of(4);
    let mut square = padded_rows(matrix, n);
    square.resize(width * width, 0.0);
    square
}

/// The buffer.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) buffer: wgpu::Buffer,
    /// Entries of a section.
    pub(super) stride: u32,
}

impl Cells {
    /// Bytes of one problem of `n` points.
    pub(super) const fn bytes(n: u32) -> u64 {
        4 * Section::ALL.len() as u64 * padded(n) as u64
    }

    /// A buffer for `most` problems of `n` points.
    pub(super) fn new(gpu: &Gpu, n: u32, most: usize) -> Result<Self, GpuError> {
        let stride = padded(n) as usize * most;
        let buffer = gpu.storage("cells", Section::ALL.len() * stride)?;
        Ok(Self { buffer, stride: super::tile::word(stride) })
    }

    /// Where a section begins, in bytes.
    pub(super) fn offset(&self, section: Section) -> u64 {
        4 * section as u64 * u64::from(self.stride)
    }
}
