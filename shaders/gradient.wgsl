// The mean gradient of each region, and the paper's choice of lambda by it:
// detail, ordinary, or smooth. The twin of `gradients` in
// src/denoise/survey.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;
@group(0) @binding(2) var<storage, read_write> problems: array<Problem>;

override WG: u32 = 64u;

var<workgroup> partial: array<f32, WG>;

fn pixel(x: u32, y: u32) -> f32 {
    return pixels[(y - tile.top) * tile.held_width + x - tile.left];
}

// One workgroup a region.
@compute @workgroup_size(WG)
fn gradient(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let region = group.x;
    let column = tile.first_column + region % tile.columns;
    let row = tile.first_row + region / tile.columns;
    let n = tile.region * tile.region;
    var sum = 0.0;
    for (var i = t; i < n; i += WG) {
        let x = pixel_of(tile, column, i % tile.region, tile.width);
        let y = pixel_of(tile, row, i / tile.region, tile.height);
        let left = max(x, 1u) - 1u;
        let right = min(x + 1u, tile.width - 1u);
        let above = max(y, 1u) - 1u;
        let below = min(y + 1u, tile.height - 1u);
        let across = 0.5 * (pixel(right, y) - pixel(left, y));
        let down = 0.5 * (pixel(x, below) - pixel(x, above));
        sum += sqrt(across * across + down * down);
    }
    partial[t] = sum;

    // Separates the partial sums from the one thread that adds them up.
    workgroupBarrier();

    if t == 0u {
        var total = 0.0;
        for (var i = 0u; i < WG; i++) {
            total += partial[i];
        }
        let mean = total / f32(n);
        var rung = 1u;
        if mean > tile.detailed {
            rung = 0u;
        } else if mean < tile.smooth_ {
            rung = 2u;
        }
        problems[region] = Problem(rung, tile.extreme * tile.floor_, 0u, 0u);
    }
}
