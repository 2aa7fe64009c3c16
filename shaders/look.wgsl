// What the pixels around say about a pixel: what it is worth as a candidate for an
// outlier, and the image without those that look like impulses. The twin of
// src/denoise/impulses.rs and judge.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;
// The image without suspects, and what each pixel is worth as a candidate.
@group(0) @binding(2) var<storage, read_write> looks: array<vec2<f32>>;
// The judge's networks, the small one and the large one, four units at a time: the weights of
// each input and what units begin with, of the first layer and of the second; what each unit
// adds, and what their sum begins with.
@group(0) @binding(3) var<storage, read> networks: array<vec4<f32>>;

override WG: u32 = 64u;
// Pixels of a row over which the spread is averaged; WG is a multiple.
const BLOCK = 16u;
// The networks: how far they look, what they see there, units of both layers, where the
// differences are cut, and what makes a glance sure. The numbers of
// src/denoise/judge/weights.rs and judge.rs.
const REACH = 3;
const INPUTS = 74u;
const GLANCE = vec2(16u, 8u);
const STUDY = vec2(128u, 32u);
const DIFFERENCES = vec2(-1.0, 2.0);
const SURE = 0.45;
// Where they begin.
const OF_GLANCE = 0u;
const OF_STUDY = OF_GLANCE
    + ((INPUTS + 1u) * GLANCE.x + (GLANCE.x + 1u) * GLANCE.y + GLANCE.y) / 4u + 1u;

var<workgroup> spread: array<f32, WG>;
// Threads whose pixels are doubtful, and how many.
var<workgroup> doubtful: array<u32, WG>;
var<workgroup> counted: atomic<u32>;
var<workgroup> doubts: u32;
// What is seen of the one that is studied, what the first units say to it, and what four of
// the second add to the sum.
var<workgroup> seen: array<f32, INPUTS>;
var<workgroup> first_units: array<vec4<f32>, STUDY.x / 4u>;
var<workgroup> parts: array<f32, STUDY.y / 4u>;

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

// What the networks see of a pixel, in units of the impulses' size and turned to the side that
// the pixel is off to.
fn inputs_of(x: i32, y: i32, here: f32, middle: f32) -> array<f32, INPUTS> {
    let scale = select(1.0, -1.0, here < middle) / tile.amplitude;
    var around = array<array<f32, 2 * REACH + 1>, 2 * REACH + 1>();
    // Of how like the pixel they are: to the left, to the top, and beside rather than above.
    var to_left = 0.0;
    var to_top = 0.0;
    var beside = 0.0;
    var inputs = array<f32, INPUTS>();
    // Those next to it, and those around these.
    var near = 0u;
    var far = 8u;
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
            let distance = max(abs(i - REACH), abs(j - REACH));
            if distance == 1 {
                inputs[near] = off;
                near += 1u;
            } else if distance == 2 {
                inputs[far] = off;
                far += 1u;
            }
        }
    }
    sort_inputs(&inputs, 0u, near);
    sort_inputs(&inputs, near, far - near);
    var next = far;
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
    return inputs;
}

// Batcher's odd-even merge sort of a part of them, whose length is a power of two.
fn sort_inputs(inputs: ptr<function, array<f32, INPUTS>>, start: u32, count: u32) {
    for (var length = 1u; length < count; length *= 2u) {
        for (var step = length; step > 0u; step /= 2u) {
            for (var low = step % length; low + step < count; low++) {
                // Two of each are compared, then as many skipped.
                let is_first = (low - step % length) / step % 2u == 0u;
                if is_first && low / (2u * length) == (low + step) / (2u * length) {
                    let a = (*inputs)[start + low];
                    let b = (*inputs)[start + low + step];
                    (*inputs)[start + low] = min(a, b);
                    (*inputs)[start + low + step] = max(a, b);
                }
            }
        }
    }
}

// Where the second layer of a network with so many units begins, and what its units add.
fn of_second(first: u32) -> u32 {
    return (INPUTS + 1u) * first / 4u;
}

fn of_last(first: u32, second: u32) -> u32 {
    return of_second(first) + (first + 1u) * second / 4u;
}

// How much less than usual is wanted of a pixel, as far as the small network can tell.
fn spared_at_a_glance(inputs: ptr<function, array<f32, INPUTS>>) -> f32 {
    var first = array<vec4<f32>, GLANCE.x / 4u>();
    for (var u = 0u; u < GLANCE.x / 4u; u++) {
        var own = networks[OF_GLANCE + INPUTS * GLANCE.x / 4u + u];
        for (var i = 0u; i < INPUTS; i++) {
            own += (*inputs)[i] * networks[OF_GLANCE + i * GLANCE.x / 4u + u];
        }
        first[u] = max(own, vec4<f32>());
    }
    let second = OF_GLANCE + of_second(GLANCE.x);
    let last = OF_GLANCE + of_last(GLANCE.x, GLANCE.y);
    var sum = networks[last + GLANCE.y / 4u].x;
    for (var u = 0u; u < GLANCE.y / 4u; u++) {
        var own = networks[second + GLANCE.x * GLANCE.y / 4u + u];
        for (var i = 0u; i < GLANCE.x; i++) {
            own += first[i / 4u][i % 4u] * networks[second + i * GLANCE.y / 4u + u];
        }
        sum += dot(networks[last + u], max(own, vec4<f32>()));
    }
    return sum;
}

// What the first units of the large network say to what is seen, each thread four.
fn study_first(t: u32) {
    for (var u = t; u < STUDY.x / 4u; u += WG) {
        var own = networks[OF_STUDY + INPUTS * STUDY.x / 4u + u];
        for (var i = 0u; i < INPUTS; i++) {
            own += seen[i] * networks[OF_STUDY + i * STUDY.x / 4u + u];
        }
        first_units[u] = max(own, vec4<f32>());
    }
}

// What the second units add to the sum.
fn study_second(t: u32) {
    let second = OF_STUDY + of_second(STUDY.x);
    let last = OF_STUDY + of_last(STUDY.x, STUDY.y);
    for (var u = t; u < STUDY.y / 4u; u += WG) {
        var own = networks[second + STUDY.x * STUDY.y / 4u + u];
        for (var i = 0u; i < STUDY.x; i++) {
            own += first_units[i / 4u][i % 4u] * networks[second + i * STUDY.y / 4u + u];
        }
        parts[u] = dot(networks[last + u], max(own, vec4<f32>()));
    }
}

// How much less than usual is wanted of the pixel that was studied.
fn spared() -> f32 {
    var sum = networks[OF_STUDY + of_last(STUDY.x, STUDY.y) + STUDY.y / 4u].x;
    for (var u = 0u; u < STUDY.y / 4u; u++) {
        sum += parts[u];
    }
    return sum;
}

// What a pixel is worth as a candidate of which so much less is wanted.
fn worth_of(spared: f32) -> f32 {
    let wanted = max(1.0 - spared, tile.wanted_least);
    return select(1.0 / (wanted * wanted), 0.0, wanted > tile.wanted_most);
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

    let first = t - t % BLOCK;
    let count = min(BLOCK, max(tile.held_width, column - t % BLOCK) - (column - t % BLOCK));
    var sum = 0.0;
    for (var i = 0u; i < count; i++) {
        sum += spread[first + i];
    }
    let around = sum / f32(max(count, 1u));
    let limit = max(tile.suspect, around * tile.spread_factor);
    let middle = 0.5 * (v[3] + v[4]);
    let calm = select(here, middle, by > limit);
    // A pixel in a clump has good neighbours as well.
    var can_be = inside && by > tile.alone_enough && abs(here - middle) > tile.off_enough;
    if inside && !can_be && max(here - v[2], v[5] - here) > tile.clump {
        can_be = in_clump(x, y, here);
    }
    var worth = select(0.0, 1.0, can_be);
    var inputs = array<f32, INPUTS>();
    if can_be && tile.amplitude > 0.0 {
        if max(here - v[6], v[1] - here) > tile.clear_by && around < tile.clear_spread {
            worth = 1.0 / (tile.wanted_least * tile.wanted_least);
        } else {
            inputs = inputs_of(x, y, here, middle);
            let at_a_glance = spared_at_a_glance(&inputs);
            worth = worth_of(at_a_glance);
            if abs(at_a_glance) <= SURE {
                doubtful[atomicAdd(&counted, 1u)] = t;
            }
        }
    }

    // Separates the list of doubtful pixels from those who read it.
    workgroupBarrier();
    if t == 0u {
        doubts = atomicLoad(&counted);
    }
    // All threads study one after the other.
    for (var k = 0u; k < workgroupUniformLoad(&doubts); k++) {
        let mine = doubtful[k] == t;
        if mine {
            for (var i = 0u; i < INPUTS; i++) {
                seen[i] = inputs[i];
            }
        }
        // Separates what is seen from the first units, these from the second, and what they
        // add from their sum; the next is seen when the first units have been heard.
        workgroupBarrier();
        study_first(t);
        workgroupBarrier();
        study_second(t);
        workgroupBarrier();
        if mine {
            worth = worth_of(spared());
        }
    }
    if inside {
        looks[row * tile.held_width + column] = vec2(calm, worth);
    }
}
