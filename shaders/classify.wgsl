// Impulse or detail: what the pattern around a candidate says about it. The twin of
// src/denoise/detect/classifier.rs.

// The image without suspects, and what each pixel is worth as a candidate.
@group(0) @binding(2) var<storage, read_write> looks: array<vec2<f32>>;

// At least as many threads as pixels are classified together.
override WG: u32 = 32u;
// What makes the small network sure, and the z below which a pixel is a detail.
override SURE: f32;
override DETAIL: f32;
// Pixels along a side of the square that a workgroup classifies, how many it classifies together, and
// how many of these a thread.
const SIDE = 24u;
const TOGETHER = 16u;
const QUAD = 4u;
// Units that a thread asks, if there are as many.
const BLOCK = 16u;
// The networks: how far they look, what they see there, units of both layers, where the
// differences are cut. The numbers of
// src/denoise/detect/classifier/weights.rs and classifier.rs.
const REACH = 3;
const INPUTS = 74u;
const SMALL = vec2(16u, 8u);
const LARGE = vec2(128u, 32u);
const DIFFERENCES = vec2(-1.0, 2.0);
// Where they begin, and their length. Four units at a time: the weights of each input and what
// units begin with, of the first layer and of the second; what each unit adds, and what their
// sum begins with.
const OF_SMALL = 0u;
const OF_LARGE = OF_SMALL
    + ((INPUTS + 1u) * SMALL.x + (SMALL.x + 1u) * SMALL.y + SMALL.y) / 4u + 1u;
const NETWORKS = OF_LARGE
    + ((INPUTS + 1u) * LARGE.x + (LARGE.x + 1u) * LARGE.y + LARGE.y) / 4u + 1u;

// Pixels of the square that are to be classified.
var<workgroup> list: array<u32, SIDE * SIDE>;
var<workgroup> listed: atomic<u32>;
var<workgroup> count: u32;
// One number of each that are classified together, then the next: what is seen of them, what the
// first units say to that, and what blocks of the second add to the sum.
const SEEN = 0u;
const FIRST = SEEN + INPUTS;
const SECOND = FIRST + LARGE.x;
var<workgroup> numbers: array<f32, (SECOND + LARGE.y / BLOCK) * TOGETHER>;

// By how much a pixel exceeds another.
fn difference(x: i32, y: i32, here: f32, scale: f32) -> f32 {
    return clamp(scale * (here - pixel(x, y)), DIFFERENCES.x, DIFFERENCES.y);
}

// What the networks see of a held pixel, in units of the impulses' size, turned to the side
// that it is off to and until the pattern lies as they know it.
fn see(t: u32, at: u32) {
    let x = i32(tile.left + at % tile.held_width);
    let y = i32(tile.top + at / tile.held_width);
    let side = select(1.0, -1.0, looks[at].y == FALLS_BELOW);
    let here = pixel(x, y);
    let scale = side / tile.amplitude;

    // Those next to it and those around these, in the order of their size.
    var v = array<f32, 16>();
    v[0] = difference(x - 1, y - 1, here, scale);
    v[1] = difference(x, y - 1, here, scale);
    v[2] = difference(x + 1, y - 1, here, scale);
    v[3] = difference(x - 1, y, here, scale);
    v[4] = difference(x + 1, y, here, scale);
    v[5] = difference(x - 1, y + 1, here, scale);
    v[6] = difference(x, y + 1, here, scale);
    v[7] = difference(x + 1, y + 1, here, scale);
    sort_8(&v, 0u);
    for (var i = 0u; i < 8u; i++) {
        numbers[(SEEN + i) * TOGETHER + t] = v[i];
    }
    v[0] = difference(x - 2, y - 2, here, scale);
    v[1] = difference(x - 1, y - 2, here, scale);
    v[2] = difference(x, y - 2, here, scale);
    v[3] = difference(x + 1, y - 2, here, scale);
    v[4] = difference(x + 2, y - 2, here, scale);
    v[5] = difference(x - 2, y - 1, here, scale);
    v[6] = difference(x + 2, y - 1, here, scale);
    v[7] = difference(x - 2, y, here, scale);
    v[8] = difference(x + 2, y, here, scale);
    v[9] = difference(x - 2, y + 1, here, scale);
    v[10] = difference(x + 2, y + 1, here, scale);
    v[11] = difference(x - 2, y + 2, here, scale);
    v[12] = difference(x - 1, y + 2, here, scale);
    v[13] = difference(x, y + 2, here, scale);
    v[14] = difference(x + 1, y + 2, here, scale);
    v[15] = difference(x + 2, y + 2, here, scale);
    sort_16(&v);
    for (var i = 0u; i < 16u; i++) {
        numbers[(SEEN + 8u + i) * TOGETHER + t] = v[i];
    }

    // How like the pixel they are: to the left, to the top, and beside rather than above.
    var to_left = 0.0;
    var to_top = 0.0;
    var beside = 0.0;
    for (var i = -REACH; i <= REACH; i++) {
        for (var j = -REACH; j <= REACH; j++) {
            let like = max(1.0 - difference(x + j, y + i, here, scale), 0.0);
            to_left -= like * like * f32(j);
            to_top -= like * like * f32(i);
            beside += like * like * f32(j * j - i * i);
        }
    }
    let across = select(1, -1, to_left < 0.0);
    let down = select(1, -1, to_top < 0.0);
    var next = 24u;
    for (var i = -REACH; i <= REACH; i++) {
        for (var j = -REACH; j <= REACH; j++) {
            if i != 0 || j != 0 {
                let u = across * select(j, i, beside < 0.0);
                let v = down * select(i, j, beside < 0.0);
                numbers[(SEEN + next) * TOGETHER + t] = difference(x + u, y + v, here, scale);
                next++;
            }
        }
    }
    numbers[(SEEN + next) * TOGETHER + t] = tile.floor_ / tile.amplitude;
    numbers[(SEEN + next + 1u) * TOGETHER + t] = tile.impulses;
}

// What a block of units says to four pixels: a column for each unit.
struct Said {
    a: mat4x4<f32>,
    b: mat4x4<f32>,
    c: mat4x4<f32>,
    d: mat4x4<f32>,
}

// Each number of one vector times the other.
fn products(w: vec4<f32>, of_pixels: vec4<f32>) -> mat4x4<f32> {
    return mat4x4(w.x * of_pixels, w.y * of_pixels, w.z * of_pixels, w.w * of_pixels);
}

fn positive(m: mat4x4<f32>) -> mat4x4<f32> {
    let zero = vec4<f32>();
    return mat4x4(max(m[0], zero), max(m[1], zero), max(m[2], zero), max(m[3], zero));
}

// Adds the weights from there on, of half a block or of a whole one, times what is heard.
fn add(said: ptr<function, Said>, at: u32, is_whole: bool, of_pixels: vec4<f32>) {
    (*said).a += products(networks[at], of_pixels);
    (*said).b += products(networks[at + 1u], of_pixels);
    if is_whole {
        (*said).c += products(networks[at + 2u], of_pixels);
        (*said).d += products(networks[at + 3u], of_pixels);
    }
}

// What a block of the units of a layer says to four pixels, of which it hears as many numbers
// from the row `first` on. The layer's weights begin there.
fn ask(weights: u32, units: u32, first: u32, inputs: u32, block: u32, quad: u32) -> Said {
    let is_whole = units >= BLOCK;
    var said = Said();
    var at = weights + block * BLOCK / 4u;
    for (var row = first; row < first + inputs; row++) {
        let n = row * TOGETHER + quad * QUAD;
        let input = vec4(numbers[n], numbers[n + 1u], numbers[n + 2u], numbers[n + 3u]);
        add(&said, at, is_whole, input);
        at += units / 4u;
    }
    // What units begin with is the last row.
    add(&said, at, is_whole, vec4(1.0));
    return Said(positive(said.a), positive(said.b), positive(said.c), positive(said.d));
}

fn write(row: u32, quad: u32, of_pixels: vec4<f32>) {
    for (var p = 0u; p < QUAD; p++) {
        numbers[row * TOGETHER + quad * QUAD + p] = of_pixels[p];
    }
}

// How much less than usual is wanted of pixel number `t`, if a network with so many units,
// which begins there, hears what was seen of as many pixels.
fn z_of(network: u32, units: vec2<u32>, pixels: u32, t: u32) -> f32 {
    let quads = (pixels + QUAD - 1u) / QUAD;
    let blocks = (units + BLOCK - 1u) / BLOCK;
    // Separates what is seen from the first units, and these from the second.
    workgroupBarrier();
    for (var i = t; i < quads * blocks.x; i += WG) {
        let quad = i % quads;
        let block = i / quads;
        let said = ask(network, units.x, SEEN, INPUTS, block, quad);
        for (var u = 0u; u < 4u; u++) {
            let row = FIRST + block * BLOCK + u;
            write(row, quad, said.a[u]);
            write(row + 4u, quad, said.b[u]);
            write(row + 8u, quad, said.c[u]);
            write(row + 12u, quad, said.d[u]);
        }
    }
    workgroupBarrier();
    let second = network + (INPUTS + 1u) * units.x / 4u;
    let last = second + (units.x + 1u) * units.y / 4u;
    for (var i = t; i < quads * blocks.y; i += WG) {
        let quad = i % quads;
        let block = i / quads;
        let said = ask(second, units.y, FIRST, units.x, block, quad);
        let at = last + block * BLOCK / 4u;
        var sum = said.a * networks[at] + said.b * networks[at + 1u];
        if units.y >= BLOCK {
            sum += said.c * networks[at + 2u] + said.d * networks[at + 3u];
        }
        write(SECOND + block, quad, sum);
    }
    // Separates what the second add from their sum.
    workgroupBarrier();
    var sum = networks[last + units.y / 4u].x;
    for (var block = 0u; block < blocks.y; block++) {
        sum += numbers[(SECOND + block) * TOGETHER + min(t, TOGETHER - 1u)];
    }
    return sum;
}

// What a pixel with this z is worth as a candidate; nothing if it is a detail.
fn worth_of(z: f32) -> f32 {
    return select(exp(z + z), 0.0, z < DETAIL);
}

// Has a network classify the listed pixels. Those that it is not sure of are the next list.
fn classify_all(network: u32, units: vec2<u32>, sure: f32, t: u32) {
    if t == 0u {
        count = atomicExchange(&listed, 0u);
    }
    let all = workgroupUniformLoad(&count);
    for (var first = 0u; first < all; first += TOGETHER) {
        let pixels = min(all - first, TOGETHER);
        var at = 0u;
        if t < pixels {
            at = list[first + t];
            see(t, at);
        }
        let z = z_of(network, units, pixels, t);
        if t < pixels {
            if abs(z) > sure {
                looks[at].y = worth_of(z);
            } else {
                // All of these pixels have been read, and the next list is not longer.
                list[atomicAdd(&listed, 1u)] = at;
            }
        }
    }

    // Separates the next list from those who read it.
    workgroupBarrier();
}

// A workgroup looks for the candidates of a square of held pixels and classifies them: by the
// small network, and those that are doubtful then by the large one.
@compute @workgroup_size(WG)
fn classify(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    for (var i = t; i < SIDE * SIDE; i += WG) {
        let column = group.x * SIDE + i % SIDE;
        let row = group.y * SIDE + i / SIDE;
        if column < tile.held_width && row < tile.held_height {
            let at = row * tile.held_width + column;
            if looks[at].y < 0.0 {
                list[atomicAdd(&listed, 1u)] = at;
            }
        }
    }

    // Separates the list from those who read it.
    workgroupBarrier();
    // One after the other, so that what is long is compiled once.
    for (var step = 0u; step < 2u; step++) {
        let is_small = step == 0u;
        let network = select(OF_LARGE, OF_SMALL, is_small);
        classify_all(network, select(LARGE, SMALL, is_small), select(-1.0, SURE, is_small), t);
    }
}
