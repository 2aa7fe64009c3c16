// The parameters of every shader of an image: a rectangle of regions, the pixels held for it,
// and the statistics of the whole image.
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
    // Number of neighbours of an impulse that may be like it.
    witnesses: u32,
    // Threshold of a suspect: the larger of this and the spread.
    suspect: f32,
    // How alone a pixel must be to be an outlier, and how much it must differ from the
    // median of its neighbours.
    alone_enough: f32,
    off_enough: f32,
    // The noise that outliers are measured by, the noise that is smoothed
    // away, and the limit of a residual in units of the misfit.
    floor_: f32,
    noise: f32,
    limit: f32,
    rungs: u32,
    masked: u32,
    // Entries of a section of the cells.
    stride: u32,
    // Share of the impulses, and what nearly all of them are off by; zero if that is not
    // known.
    impulses: f32,
    amplitude: f32,
}

// Where pixel `i` of region number `r` is, along an axis of `length` pixels:
// outside of the image the pixel at its border stands for it.
fn pixel_of(tile: Tile, r: u32, i: u32, length: u32) -> u32 {
    return u32(clamp(i32(r * tile.core + i) - i32(tile.margin), 0, i32(length) - 1));
}
