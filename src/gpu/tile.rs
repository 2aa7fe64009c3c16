//! A rectangle of regions, laid out as in `shaders/shared/tile.wgsl`.

use crate::denoise::facade::{BLOCK, Job, MOST_WITNESSES, REACH, SUSPECT};
use crate::image::Grid;
use bytemuck::{Pod, Zeroable};
use core::ops::Range;

/// A rectangle of regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

impl Cut {
    /// The next rectangle of at most `most` regions among `rows`, from row and
    /// column `at` on: whole rows if there is room for one, a part of a row
    /// otherwise.
    pub(super) fn next(
        grid: &Grid,
        rows: &Range<usize>,
        at: (usize, usize),
        most: usize,
    ) -> Option<Self> {
        let (row, column) = at;
        if row >= rows.end {
            return None;
        }
        let most = most.max(1);
        if column == 0 && most >= grid.columns() {
            let end = (row + most / grid.columns()).min(rows.end);
            return Some(Self { rows: row..end, columns: 0..grid.columns() });
        }
        let end = (column + most).min(grid.columns());
        Some(Self { rows: row..row + 1, columns: column..end })
    }

    /// Where the next one begins.
    pub(super) fn end(&self, grid: &Grid) -> (usize, usize) {
        if self.columns.end == grid.columns() {
            (self.rows.end, 0)
        } else {
            (self.rows.start, self.columns.end)
        }
    }

    /// Number of regions.
    pub(super) fn count(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// The columns of pixels that the regions cover.
    pub(super) fn out_columns(&self, grid: &Grid) -> Range<usize> {
        let first = (self.columns.start * grid.core()).saturating_sub(grid.margin());
        first..(self.columns.end * grid.core() + grid.margin()).min(grid.width())
    }

    /// The columns of pixels held: those the regions cover and their neighbours, in whole blocks.
    pub(super) fn held_columns(&self, grid: &Grid) -> Range<usize> {
        let out = self.out_columns(grid);
        let first = (out.start / BLOCK * BLOCK).saturating_sub(BLOCK);
        first..(out.end.next_multiple_of(BLOCK) + BLOCK).min(grid.width())
    }

    /// The rows of pixels held: those the regions cover, with the rows of the pattern around.
    pub(super) fn held_rows(&self, grid: &Grid) -> Range<usize> {
        let out = grid.covered_by(self.rows.clone());
        out.start.saturating_sub(REACH)..(out.end + REACH).min(grid.height())
    }
}

/// The structure of the same name in the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(super) struct Tile {
    width: u32,
    height: u32,
    left: u32,
    top: u32,
    held_width: u32,
    held_height: u32,
    region: u32,
    core: u32,
    margin: u32,
    first_column: u32,
    first_row: u32,
    columns: u32,
    rows: u32,
    out_left: u32,
    out_top: u32,
    out_width: u32,
    out_height: u32,
    witnesses: u32,
    suspect: f32,
    alone_enough: f32,
    off_enough: f32,
    floor: f32,
    noise: f32,
    limit: f32,
    rungs: u32,
    masked: u32,
    stride: u32,
    impulses: f32,
    amplitude: f32,
}

/// A count as `u32`; no image is larger.
pub(super) fn word(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[allow(clippy::cast_possible_truncation)]
impl Tile {
    pub(super) fn new(job: &Job<'_, f32>, cut: &Cut, masked: bool, stride: u32) -> Self {
        let grid = &job.grid;
        let (columns, rows) = (cut.held_columns(grid), cut.held_rows(grid));
        let (across, down) = (cut.out_columns(grid), grid.covered_by(cut.rows.clone()));
        let conditions = job.conditions;
        let known = job.known();
        Self {
            width: word(grid.width()),
            height: word(grid.height()),
            left: word(columns.start),
            top: word(rows.start),
            held_width: word(columns.len()),
            held_height: word(rows.len()),
            region: word(grid.region()),
            core: word(grid.core()),
            margin: word(grid.margin()),
            first_column: word(cut.columns.start),
            first_row: word(cut.rows.start),
            columns: word(cut.columns.len()),
            rows: word(cut.rows.len()),
            out_left: word(across.start),
            out_top: word(down.start),
            out_width: word(across.len()),
            out_height: word(down.len()),
            witnesses: word(known.witnesses.min(MOST_WITNESSES)),
            suspect: SUSPECT as f32 * known.noise,
            // The shaders know no infinity.
            alone_enough: known.alone_enough.max(f32::MIN),
            off_enough: known.off_enough.max(f32::MIN),
            floor: known.noise,
            noise: conditions.noise,
            limit: conditions.limit,
            rungs: word(job.ladder.rungs.len()),
            masked: u32::from(masked),
            stride,
            impulses: known.impulses,
            amplitude: known.amplitude,
        }
    }

    /// Pixels held.
    pub(super) fn held(&self) -> (u32, u32) {
        (self.held_width, self.held_height)
    }

    /// Pixels covered.
    pub(super) fn out(&self) -> (u32, u32) {
        (self.out_width, self.out_height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{look, tests::same_layout};
    use alloc::vec::Vec;

    #[test]
    fn the_tile_is_laid_out_as_in_the_shaders() {
        same_layout!(
            look::SHADER,
            Tile,
            "Tile",
            width,
            height,
            left,
            top,
            held_width,
            held_height,
            region,
            core,
            margin,
            first_column,
            first_row,
            columns,
            rows,
            out_left,
            out_top,
            out_width,
            out_height,
            witnesses,
            suspect,
            alone_enough,
            off_enough,
            floor,
            noise,
            limit,
            rungs,
            masked,
            stride,
            impulses,
            amplitude
        );
    }

    #[test]
    fn cuts_take_every_region_once() {
        for (width, height) in [(1, 1), (100, 37), (513, 64), (8, 900)] {
            let grid = Grid::new(width, height, 12, 8).unwrap();
            for most in [1, 3, 7, 64, 100_000] {
                let rows = 0..grid.rows();
                let mut at = (0, 0);
                let mut taken = Vec::new();
                while let Some(cut) = Cut::next(&grid, &rows, at, most) {
                    assert!(cut.count() <= most);
                    for row in cut.rows.clone() {
                        taken.extend(cut.columns.clone().map(|column| (row, column)));
                    }
                    at = cut.end(&grid);
                }
                let all = rows.flat_map(|r| (0..grid.columns()).map(move |c| (r, c)));
                assert!(taken.into_iter().eq(all), "{width} x {height}, {most}");
            }
        }
    }
}
