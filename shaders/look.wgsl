// What the eight neighbours say about a pixel: how far it stands alone, and the
// image without those that look like impulses. The twin of
// src/denoise/impulses.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;
// The image without suspects, and how alone each pixel is.
@group(0) @binding(2) var<storage, read_write> looks: array<vec2<f32>>;

override WG: u32 = 64u;
// Pixels of a row over which the spread is averaged; WG is a multiple.
const BLOCK = 16u;

var<workgroup> spread: array<f32, WG>;

// The image is reflected at its border, so that no pixel is its own neighbour,
// unless there is no other.
fn reflected(at: i32, length: u32) -> u32 {
    let last = i32(length) - 1;
    var p = abs(at);
    if p > last {
        p = max(2 * last - p, 0);
    }
    return u32(p);
}

// Outside of what is held the nearest held pixel: such blocks are not used.
fn pixel(x: i32, y: i32) -> f32 {
    let u = reflected(x, tile.width);
    let v = reflected(y, tile.height);
    let column = clamp(i32(u) - i32(tile.left), 0, i32(tile.held_width) - 1);
    let row = clamp(i32(v) - i32(tile.top), 0, i32(tile.held_height) - 1);
    return pixels[u32(row) * tile.held_width + u32(column)];
}

fn exchange(v: ptr<function, array<f32, 8>>, a: u32, b: u32) {
    let low = min((*v)[a], (*v)[b]);
    let high = max((*v)[a], (*v)[b]);
    (*v)[a] = low;
    (*v)[b] = high;
}

// Batcher's odd-even merge sort.
fn sort(v: ptr<function, array<f32, 8>>) {
    exchange(v, 0u, 1u); exchange(v, 2u, 3u); exchange(v, 4u, 5u); exchange(v, 6u, 7u);
    exchange(v, 0u, 2u); exchange(v, 1u, 3u); exchange(v, 4u, 6u); exchange(v, 5u, 7u);
    exchange(v, 1u, 2u); exchange(v, 5u, 6u); exchange(v, 0u, 4u); exchange(v, 3u, 7u);
    exchange(v, 1u, 5u); exchange(v, 2u, 6u);
    exchange(v, 1u, 4u); exchange(v, 3u, 6u);
    exchange(v, 2u, 4u); exchange(v, 3u, 5u);
    exchange(v, 3u, 4u);
}

// Whether a pixel exceeds nearly all of the sixteen around its neighbours, or falls below
// them.
fn in_clump(x: i32, y: i32, here: f32) -> bool {
    var above = 0u;
    var below = 0u;
    for (var down = -2; down <= 2; down++) {
        // All of the first and the last row, the ends of the others.
        let step = select(4, 1, abs(down) == 2);
        for (var across = -2; across <= 2; across += step) {
            let around = pixel(x + across, y + down);
            above += select(0u, 1u, here - around > tile.clump);
            below += select(0u, 1u, around - here > tile.clump);
        }
    }
    return max(above, below) + tile.like_a_clump >= 16u;
}

// One thread a pixel of a held row; the workgroup is several blocks of it.
@compute @workgroup_size(WG)
fn look(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let column = group.x * WG + t;
    let row = group.y;
    let x = i32(tile.left + column);
    let y = i32(tile.top + row);
    let here = pixel(x, y);
    var v = array<f32, 8>(
        pixel(x - 1, y - 1), pixel(x, y - 1), pixel(x + 1, y - 1),
        pixel(x - 1, y), pixel(x + 1, y),
        pixel(x - 1, y + 1), pixel(x, y + 1), pixel(x + 1, y + 1),
    );
    sort(&v);
    let c = tile.witnesses;
    let by = max(here - v[7u - c], v[c] - here);
    let inside = column < tile.held_width;
    spread[t] = select(0.0, v[5] - v[2], inside);

    // Separates each thread's spread from the sums over blocks.
    workgroupBarrier();

    if !inside {
        return;
    }
    let first = t - t % BLOCK;
    let count = min(BLOCK, tile.held_width - (column - t % BLOCK));
    var sum = 0.0;
    for (var i = 0u; i < count; i++) {
        sum += spread[first + i];
    }
    let limit = max(tile.suspect, sum / f32(count) * tile.spread_factor);
    let at = row * tile.held_width + column;
    let calm = select(here, 0.5 * (v[3] + v[4]), by > limit);
    var alone = by;
    // A pixel in a clump has good neighbours as well.
    let may_be = by < tile.clump && max(here - v[2], v[5] - here) > tile.clump;
    if may_be && in_clump(x, y, here) {
        alone = tile.clump;
    }
    looks[at] = vec2(calm, alone);
}
