// Blends the regions: each pixel is the weighted mean of the regions that cover it, and its
// outlier is that of the region in whose core it lies. The same as `Strip::add` and
// `Strip::record` in src/denoise/blend.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> cells: array<f32>;
// The share of a region in its N pixels along an axis: of each column of regions,
// then of each row.
@group(0) @binding(2) var<storage, read> shares: array<f32>;
// The pixels, and the outliers: zero where there is none, the bits of its value where there is
// one, with the sign bit set where that is zero. As integers, so that they arrive as written.
@group(0) @binding(3) var<storage, read_write> result: array<vec2<u32>>;

override WG: u32 = 64u;

// The first of the regions from `first` on that reaches to pixel `p`.
fn first_over(p: u32, first: u32) -> u32 {
    let end = p + tile.margin + 1u;
    if end <= tile.region {
        return first;
    }
    return max((end - tile.region + tile.core - 1u) / tile.core, first);
}

// The one after the last, of `count`.
fn end_over(p: u32, first: u32, count: u32) -> u32 {
    return min((p + tile.margin) / tile.core + 1u, first + count);
}

// One thread a covered pixel; rows of pixels along y.
@compute @workgroup_size(WG)
fn reassemble(
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    if id.x >= tile.out_width {
        return;
    }
    let x = tile.out_left + id.x;
    let y = tile.out_top + id.y;
    let each = padded(tile.region * tile.region);
    let down = (tile.width + tile.core - 1u) / tile.core * tile.region;
    var sum = 0.0;
    for (var r = first_over(y, tile.first_row); r < end_over(y, tile.first_row, tile.rows); r++) {
        let i = y + tile.margin - r * tile.core;
        var line = 0.0;
        for (
            var c = first_over(x, tile.first_column);
            c < end_over(x, tile.first_column, tile.columns);
            c++
        ) {
            let j = x + tile.margin - c * tile.core;
            let region = (r - tile.first_row) * tile.columns + c - tile.first_column;
            let at = region * each + i * tile.region + j;
            let value = cells[DATA * tile.stride + at]
                - cells[OUTLIERS * tile.stride + at]
                - cells[RESIDUALS * tile.stride + at];
            line += shares[down + r * tile.region + i] * shares[c * tile.region + j] * value;
        }
        sum += line;
    }
    let r = y / tile.core;
    let c = x / tile.core;
    let here = r >= tile.first_row && r < tile.first_row + tile.rows
        && c >= tile.first_column && c < tile.first_column + tile.columns;
    var u = 0u;
    if here {
        let region = (r - tile.first_row) * tile.columns + c - tile.first_column;
        let i = y + tile.margin - r * tile.core;
        let j = x + tile.margin - c * tile.core;
        let at = region * each + i * tile.region + j;
        if cells[FLAGS * tile.stride + at] == IS_OUTLIER {
            u = bitcast<u32>(cells[OUTLIERS * tile.stride + at]);
            u = select(u, 0x80000000u, u == 0u);
        }
    }
    result[id.y * tile.out_width + id.x] = vec2(bitcast<u32>(sum), u);
}
