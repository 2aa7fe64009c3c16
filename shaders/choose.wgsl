// For each region the smoother of the least estimated risk (Stein), in the basis
// of the eigenvectors of its kernel matrix, and what that leaves. The twin of
// `Ladder::choose`, `update` and `residual` in src/denoise/ladder.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read_write> cells: array<vec4<f32>>;
// What a pixel adds to the coefficients, a row for each, in blocks of four.
@group(0) @binding(2) var<storage, read> basis: array<vec4<f32>>;
// First for each rung freedom, rho, ones and nothing; then the sums e of the
// eigenvectors; then the filter g of each rung.
@group(0) @binding(3) var<storage, read> ladder: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> problems: array<Problem>;

override WG: u32 = 64u;
override N: u32 = 144u;
override BLOCKS: u32 = (N + 3u) / 4u;
// Rungs that are looked at side by side; there may be fewer.
const RUNGS = 8u;

var<workgroup> c: array<vec4<f32>, BLOCKS>;
// What goes into or out of each pixel.
var<workgroup> changes: array<vec4<f32>, BLOCKS>;
// Three inner products for each rung, of each thread, then of all.
var<workgroup> parts: array<array<vec3<f32>, RUNGS>, WG>;
// The risk of each rung and the variance of what it does not fit.
var<workgroup> risks: array<vec2<f32>, RUNGS>;
var<workgroup> chosen: u32;

fn filter_of(rung: u32, block: u32) -> vec4<f32> {
    return ladder[RUNGS + (1u + rung) * BLOCKS + block];
}

fn sums_of(block: u32) -> vec4<f32> {
    return ladder[RUNGS + block];
}

// Where a block of a region is in a section of the cells.
fn cell(section: u32, region: u32, block: u32) -> u32 {
    return section * (tile.stride / 4u) + region * BLOCKS + block;
}

// The parts of e^T G c, e^T G^2 c and |G c|^2 in a block.
fn products(g: vec4<f32>, own: vec4<f32>, e: vec4<f32>) -> vec3<f32> {
    let gc = g * own;
    return vec3(dot(gc, e), dot(gc, g * e), dot(gc, gc));
}

// The rung of the least risk for noise of this size, from each thread's own
// coefficients. All threads get it. The misfit is left in `risks`.
fn choose(t: u32, noise: f32) -> u32 {
    // Written out, so that the sums stay in registers.
    var s0 = vec3<f32>(); var s1 = vec3<f32>(); var s2 = vec3<f32>(); var s3 = vec3<f32>();
    var s4 = vec3<f32>(); var s5 = vec3<f32>(); var s6 = vec3<f32>(); var s7 = vec3<f32>();
    for (var b = t; b < BLOCKS; b += WG) {
        let e = sums_of(b);
        let own = c[b];
        s0 += products(filter_of(0u, b), own, e); s1 += products(filter_of(1u, b), own, e);
        s2 += products(filter_of(2u, b), own, e); s3 += products(filter_of(3u, b), own, e);
        s4 += products(filter_of(4u, b), own, e); s5 += products(filter_of(5u, b), own, e);
        s6 += products(filter_of(6u, b), own, e); s7 += products(filter_of(7u, b), own, e);
    }
    parts[t][0] = s0; parts[t][1] = s1; parts[t][2] = s2; parts[t][3] = s3;
    parts[t][4] = s4; parts[t][5] = s5; parts[t][6] = s6; parts[t][7] = s7;

    // Separates the products of all threads from the sums over threads.
    workgroupBarrier();

    for (var k = t; k < tile.rungs; k += WG) {
        var total = vec3<f32>();
        for (var l = 0u; l < min(WG, BLOCKS); l++) {
            total += parts[l][k];
        }
        let rung = ladder[k];
        let freedom = rung.x;
        let shift = rung.y * total.x;
        let squared = max(total.z - shift * (2.0 * total.y - shift * rung.z), 0.0);
        risks[k] = vec2(squared + 2.0 * noise * noise * freedom, squared / (f32(N) - freedom));
    }

    // Separates the risks of the rungs from the thread that compares them, and the
    // sums over threads from the next use of their memory.
    workgroupBarrier();

    if t == 0u {
        var best = 0u;
        for (var k = 1u; k < tile.rungs; k++) {
            if risks[k].x < risks[best].x {
                best = k;
            }
        }
        chosen = best;
    }
    // Separates the comparison from all that take its result.
    return workgroupUniformLoad(&chosen);
}

// Adds the change of a pixel to each thread's own coefficients.
fn add(t: u32, pixel: u32, change: f32) {
    // Most pixels do not change.
    if change != 0.0 {
        for (var b = t; b < BLOCKS; b += WG) {
            c[b] += change * basis[pixel * BLOCKS + b];
        }
    }
}

fn update(t: u32) {
    for (var b = 0u; b < BLOCKS; b++) {
        let change = changes[b];
        if any(change != vec4<f32>()) {
            add(t, 4u * b, change.x);
            add(t, 4u * b + 1u, change.y);
            add(t, 4u * b + 2u, change.z);
            add(t, 4u * b + 3u, change.w);
        }
    }
}

// Writes the coefficients of the residual on a rung: G c - rho (e^T G c) G e.
fn filter_on(t: u32, rung: u32, region: u32, scale: f32) {
    var sum = 0.0;
    for (var b = t; b < BLOCKS; b += WG) {
        sum += dot(filter_of(rung, b) * sums_of(b), c[b]);
    }
    parts[t][0].x = sum;

    // Separates the threads' parts from their sum, which all of them take.
    workgroupBarrier();

    var total = 0.0;
    for (var l = 0u; l < min(WG, BLOCKS); l++) {
        total += parts[l][0].x;
    }
    let shift = ladder[rung].y * total;
    for (var b = t; b < BLOCKS; b += WG) {
        let g = filter_of(rung, b);
        let left = c[b] * g - shift * (g * sums_of(b));
        cells[cell(FILTERED, region, b)] = scale * left;
    }
}

// Before the search: the choice is made without suspects, which then come back.
// One workgroup a region.
@compute @workgroup_size(WG)
fn before(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let region = group.x;
    for (var b = t; b < BLOCKS; b += WG) {
        c[b] = cells[cell(COEFFICIENTS, region, b)];
        changes[b] = cells[cell(DATA, region, b)] - cells[cell(CALM, region, b)];
    }
    // Its barriers also separate the changes that threads brought from all that
    // read them.
    let rung = choose(t, tile.floor_);
    if t == 0u {
        let misfit = max(tile.floor_, sqrt(risks[rung].y));
        problems[region] = Problem(rung, tile.extreme * misfit, 0u, 0u);
    }
    update(t);
    for (var b = t; b < BLOCKS; b += WG) {
        cells[cell(COEFFICIENTS, region, b)] = c[b];
    }
    filter_on(t, rung, region, 1.0);
}

// With the rung that the gradient has chosen, on the pixels as they are.
@compute @workgroup_size(WG)
fn given(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let region = group.x;
    for (var b = t; b < BLOCKS; b += WG) {
        c[b] = cells[cell(COEFFICIENTS, region, b)];
    }
    filter_on(t, problems[region].rung, region, 1.0);
}

// After the search: the outliers go, and what is left is smoothed as suits it
// best.
@compute @workgroup_size(WG)
fn after(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let region = group.x;
    for (var b = t; b < BLOCKS; b += WG) {
        c[b] = cells[cell(COEFFICIENTS, region, b)];
        changes[b] = -cells[cell(OUTLIERS, region, b)];
    }

    // Separates the changes that threads brought from all that read them.
    workgroupBarrier();

    update(t);
    let rung = choose(t, tile.noise);
    if t == 0u {
        problems[region].rung = rung;
    }
    // Where there is no noise, nothing is smoothed away.
    filter_on(t, rung, region, select(0.0, 1.0, tile.noise > 0.0));
}
