// What the pixels around say about a pixel: what it is worth as a candidate for an
// outlier, and the image without those that look like impulses. The twin of
// src/denoise/impulses.rs and judge.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;
// The image without suspects, and what each pixel is worth as a candidate.
@group(0) @binding(2) var<storage, read_write> looks: array<vec2<f32>>;
// The judge's network, four units at a time: the weights of each input and what units begin
// with, of the first layer and of the second; what each unit adds, and what their sum begins
// with.
@group(0) @binding(3) var<storage, read> network: array<vec4<f32>>;

override WG: u32 = 64u;
// Pixels of a row over which the spread is averaged; WG is a multiple.
const BLOCK = 16u;
// The network: how far it looks, the pixels there and two circumstances, units of both
// layers, and where the differences are cut. The numbers of src/denoise/judge/weights.rs and
// judge.rs.
const REACH = 2;
const INPUTS = 26u;
const FIRST = 32u;
const SECOND = 16u;
const DIFFERENCES = vec2(-1.0, 2.0);

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

// How much less than usual is wanted of a pixel: the judge's network on what is around, in
// units of the impulses' size and turned to the side that the pixel is off to.
fn spared(x: i32, y: i32, here: f32, middle: f32) -> f32 {
    let scale = select(1.0, -1.0, here < middle) / tile.amplitude;
    var around = array<array<f32, 2 * REACH + 1>, 2 * REACH + 1>();
    // Of how like the pixel they are: to the left, to the top, and beside rather than above.
    var to_left = 0.0;
    var to_top = 0.0;
    var beside = 0.0;
    for (var i = 0; i <= 2 * REACH; i++) {
        for (var j = 0; j <= 2 * REACH; j++) {
            let off = difference(x + j - REACH, y + i - REACH, here, scale);
            let like = max(1.0 - off, 0.0);
            let down = f32(i - REACH);
            let across = f32(j - REACH);
            to_left -= like * like * across;
            to_top -= like * like * down;
            beside += like * like * (across * across - down * down);
            around[i][j] = off;
        }
    }
    var inputs = array<f32, INPUTS>();
    var next = 0u;
    for (var i = 0; i <= 2 * REACH; i++) {
        for (var j = 0; j <= 2 * REACH; j++) {
            let down = select(i, j, beside < 0.0);
            let across = select(j, i, beside < 0.0);
            if i != REACH || j != REACH {
                let row = select(down, 2 * REACH - down, to_top < 0.0);
                let column = select(across, 2 * REACH - across, to_left < 0.0);
                inputs[next] = around[row][column];
                next += 1u;
            }
        }
    }
    inputs[INPUTS - 2u] = tile.floor_ / tile.amplitude;
    inputs[INPUTS - 1u] = tile.impulses;

    var first = array<vec4<f32>, FIRST / 4u>();
    for (var u = 0u; u < FIRST / 4u; u++) {
        var own = network[INPUTS * FIRST / 4u + u];
        for (var i = 0u; i < INPUTS; i++) {
            own += inputs[i] * network[i * FIRST / 4u + u];
        }
        first[u] = max(own, vec4<f32>());
    }
    let second = (INPUTS + 1u) * FIRST / 4u;
    let last = second + (FIRST + 1u) * SECOND / 4u;
    var sum = network[last + SECOND / 4u].x;
    for (var u = 0u; u < SECOND / 4u; u++) {
        var own = network[second + FIRST * SECOND / 4u + u];
        for (var i = 0u; i < FIRST; i++) {
            own += first[i / 4u][i % 4u] * network[second + i * SECOND / 4u + u];
        }
        sum += dot(network[last + u], max(own, vec4<f32>()));
    }
    return sum;
}

// By how much a pixel exceeds another.
fn difference(x: i32, y: i32, here: f32, scale: f32) -> f32 {
    return clamp(scale * (here - pixel(x, y)), DIFFERENCES.x, DIFFERENCES.y);
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
    let around = sum / f32(count);
    let limit = max(tile.suspect, around * tile.spread_factor);
    let at = row * tile.held_width + column;
    let middle = 0.5 * (v[3] + v[4]);
    let calm = select(here, middle, by > limit);
    // A pixel in a clump has good neighbours as well.
    var can_be = by > tile.alone_enough && abs(here - middle) > tile.off_enough;
    if !can_be && max(here - v[2], v[5] - here) > tile.clump {
        can_be = in_clump(x, y, here);
    }
    var worth = select(0.0, 1.0, can_be);
    if can_be && tile.amplitude > 0.0 {
        var wanted = tile.wanted_least;
        if !(by > tile.clear_by && around < tile.clear_spread) {
            wanted = max(1.0 - spared(x, y, here, middle), wanted);
        }
        worth = select(1.0 / (wanted * wanted), 0.0, wanted > tile.wanted_most);
    }
    looks[at] = vec2(calm, worth);
}
