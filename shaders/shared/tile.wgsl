// What every shader of an image knows: a rectangle of regions, the pixels that
// are held for it, and the conditions of the whole image.
// Same layout as `Tile` in src/gpu/tile.rs.

struct Tile {
    // Pixels of the image.
    width: u32,
    height: u32,
    // The rectangle of pixels that is held.
    left: u32,
    top: u32,
    held_width: u32,
    held_height: u32,
    // Side of a region, side of its core, and how far it exceeds that.
    region: u32,
    core: u32,
    margin: u32,
    // The rectangle of regions.
    first_column: u32,
    first_row: u32,
    columns: u32,
    rows: u32,
    // The rectangle of pixels that the regions cover.
    out_left: u32,
    out_top: u32,
    out_width: u32,
    out_height: u32,
    // What neighbours of an impulse may be like it.
    witnesses: u32,
    // What makes a pixel suspect: so much, or the spread times the other.
    suspect: f32,
    spread_factor: f32,
    // How alone a pixel must be to be an outlier, and how much it must differ from the
    // median of its neighbours.
    alone_enough: f32,
    off_enough: f32,
    // The paper's bounds on the mean gradient.
    detailed: f32,
    smooth_: f32,
    // The noise that outliers are measured by, the noise that is smoothed
    // away, and where an outlier begins in units of the misfit.
    floor_: f32,
    noise: f32,
    extreme: f32,
    rungs: u32,
    masked: u32,
    // Entries of a section of the cells.
    stride: u32,
    // By how much a pixel in a clump differs from those around, and how many of them may
    // be like it.
    clump: f32,
    like_a_clump: u32,
    // Share of the impulses, and what nearly all of them are off by; zero if that is not
    // known.
    impulses: f32,
    amplitude: f32,
    // What is wanted of a pixel at least and at most, as a part of the limit.
    wanted_least: f32,
    wanted_most: f32,
    // A pixel is clearly an impulse that is beyond all but one of its neighbours by more than
    // this where the spread is less than that.
    clear_by: f32,
    clear_spread: f32,
}

// Where pixel `i` of region number `r` is, along an axis of `length` pixels:
// outside of the image the pixel at its border stands for it.
fn pixel_of(tile: Tile, r: u32, i: u32, length: u32) -> u32 {
    return u32(clamp(i32(r * tile.core + i) - i32(tile.margin), 0, i32(length) - 1));
}
