// What the pixels around say about a pixel: what it is worth as a candidate for an
// outlier, and the image without those that look like impulses. The twin of
// src/denoise/impulses.rs and judge.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;
// The image without suspects, and what each pixel is worth as a candidate.
@group(0) @binding(2) var<storage, read_write> looks: array<vec2<f32>>;
// The judge's network: the weights of each input for four units at a time, then what the
// units begin with, what each adds, and what their sum begins with.
@group(0) @binding(3) var<storage, read> network: array<vec4<f32>>;

override WG: u32 = 64u;
// Pixels of a row over which the spread is averaged; WG is a multiple.
const BLOCK = 16u;
// Inputs of the network: patterns, then circumstances. The numbers of
// src/denoise/judge/weights.rs and judge.rs.
const PATTERNS = 32u;
const INPUTS = 35u;
const UNITS = 8u;
const DIFFERENCES = vec2(-1.0, 2.0);
const SPREAD = 1.5;

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

// The same of a power of two of patterns, from `first` on.
fn sort_patterns(v: ptr<function, array<f32, PATTERNS>>, first: u32, values: u32) {
    for (var p = 1u; p < values; p *= 2u) {
        for (var k = p; k > 0u; k /= 2u) {
            let odd = select(1u, 0u, k == p);
            for (var low = k % p; low + k < values; low++) {
                if (low / k) % 2u == odd && low / (2u * p) == (low + k) / (2u * p) {
                    let a = first + low;
                    let pair = vec2((*v)[a], (*v)[a + k]);
                    (*v)[a] = min(pair.x, pair.y);
                    (*v)[a + k] = max(pair.x, pair.y);
                }
            }
        }
    }
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

// How much less than usual is wanted of a pixel, given the spread around it: the judge's
// network on what is around, in units of the impulses' size and turned to the side that the
// pixel is off to.
fn spared(x: i32, y: i32, here: f32, middle: f32, spread_around: f32) -> f32 {
    let scale = select(1.0, -1.0, here < middle) / tile.amplitude;
    var v = array<f32, PATTERNS>();
    // Eight neighbours, the sixteen around them, four pairs of opposite neighbours and
    // four lines.
    var near = 0u;
    var far = 8u;
    for (var down = -2; down <= 2; down++) {
        for (var across = -2; across <= 2; across++) {
            let distance = max(abs(down), abs(across));
            let off = difference(x + across, y + down, here, scale);
            if distance == 1 {
                v[near] = off;
                near += 1u;
            } else if distance == 2 {
                v[far] = off;
                far += 1u;
            }
        }
    }
    for (var line = 0u; line < 4u; line++) {
        // To the right, down, and down to either side.
        let down = select(1, 0, line == 0u);
        let across = select(select(-1, 1, line % 2u == 0u), 0, line == 1u);
        let a = difference(x - across, y - down, here, scale);
        let b = difference(x + across, y + down, here, scale);
        let c = difference(x - 2 * across, y - 2 * down, here, scale);
        let d = difference(x + 2 * across, y + 2 * down, here, scale);
        v[24u + line] = max(a, b);
        // The second largest of four.
        v[28u + line] = max(min(max(a, b), max(c, d)), max(min(a, b), min(c, d)));
    }
    sort_patterns(&v, 0u, 8u);
    sort_patterns(&v, 8u, 16u);
    sort_patterns(&v, 24u, 4u);
    sort_patterns(&v, 28u, 4u);
    let around = min(spread_around / tile.amplitude, SPREAD);
    let circumstances = vec3(tile.floor_ / tile.amplitude, tile.impulses, around);
    var sum = network[(INPUTS + 2u) * UNITS / 4u].x;
    for (var units = 0u; units < UNITS / 4u; units++) {
        var own = network[INPUTS * UNITS / 4u + units];
        for (var i = 0u; i < PATTERNS; i++) {
            own += v[i] * network[i * UNITS / 4u + units];
        }
        for (var i = PATTERNS; i < INPUTS; i++) {
            own += circumstances[i - PATTERNS] * network[i * UNITS / 4u + units];
        }
        sum += dot(network[(INPUTS + 1u) * UNITS / 4u + units], max(own, vec4<f32>()));
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
        let less = spared(x, y, here, middle, around);
        let wanted = clamp(1.0 - less, tile.wanted_least, tile.wanted_most);
        worth = 1.0 / (wanted * wanted);
    }
    looks[at] = vec2(calm, worth);
}
