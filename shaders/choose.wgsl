// For each region the smoother of the least estimated risk (Stein), in the basis
// of the eigenvectors of its kernel matrix, and what that leaves. The twin of
// `Ladder::choose` and `residuals` in src/denoise/smooth/ladder.rs; where pixels change, the
// coefficients change with them, which the processor computes anew.

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
// Rungs evaluated together; there may be fewer.
const RUNGS = 8u;
// Blocks of a thread that change together: what changes is read once for all of them.
const TOGETHER = 5u;

var<workgroup> c: array<vec4<f32>, BLOCKS>;
// Pixels that change, and what goes into or out of each.
var<workgroup> places: array<u32, N>;
var<workgroup> changes: array<f32, N>;
// How many of them each thread has found.
var<workgroup> counts: array<u32, WG>;
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
        // Without noise the roughest is best, independent of rounding.
        var best = 0u;
        for (var k = 1u; k < tile.rungs && noise > 0.0; k++) {
            if risks[k].x < risks[best].x {
                best = k;
            }
        }
        chosen = best;
    }
    // Separates the comparison from all that take its result.
    return workgroupUniformLoad(&chosen);
}

// What a suspect adds to a pixel.
fn change_of(region: u32, pixel: u32) -> f32 {
    let b = pixel / 4u;
    let i = pixel % 4u;
    return cells[cell(DATA, region, b)][i] - cells[cell(CALM, region, b)][i];
}

// Lists the pixels that differ from the data without suspects, and by how much.
// Gives how many there are.
fn list_suspects(t: u32, region: u32) -> u32 {
    // Each thread looks at a part of the pixels, in their order.
    let share = (N + WG - 1u) / WG;
    let end = min((t + 1u) * share, N);
    var mine = 0u;
    for (var i = t * share; i < end; i++) {
        mine += select(0u, 1u, change_of(region, i) != 0.0);
    }
    counts[t] = mine;

    // Separates what each thread has counted from all that add it up.
    workgroupBarrier();

    var all = 0u;
    var at = 0u;
    for (var l = 0u; l < WG; l++) {
        at = select(at, all, l == t);
        all += counts[l];
    }
    for (var i = t * share; i < end; i++) {
        let change = change_of(region, i);
        if change != 0.0 {
            places[at] = i;
            changes[at] = change;
            at += 1u;
        }
    }
    return all;
}

// Adds the changes of so many pixels to each thread's own coefficients.
fn update(t: u32, count: u32) {
    for (var first = t; first < BLOCKS; first += TOGETHER * WG) {
        var own: array<vec4<f32>, TOGETHER>;
        for (var a = 0u; a < count; a++) {
            let row = places[a] * BLOCKS;
            let change = changes[a];
            for (var i = 0u; i < TOGETHER; i++) {
                let b = first + i * WG;
                if b < BLOCKS {
                    own[i] += change * basis[row + b];
                }
            }
        }
        for (var i = 0u; i < TOGETHER; i++) {
            let b = first + i * WG;
            if b < BLOCKS {
                c[b] += own[i];
            }
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
    }
    let count = list_suspects(t, region);
    // Its barriers also separate the changes that threads have listed from all that
    // read them.
    let rung = choose(t, tile.floor_);
    if t == 0u {
        let misfit = max(tile.floor_, sqrt(risks[rung].y));
        problems[region] = Problem(rung, tile.limit * misfit, 0u, 0u);
    }
    update(t, count);
    for (var b = t; b < BLOCKS; b += WG) {
        cells[cell(COEFFICIENTS, region, b)] = c[b];
    }
    filter_on(t, rung, region, 1.0);
}

// After the search: the outliers are removed, and the smoother is chosen for the rest.
@compute @workgroup_size(WG)
fn after(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let region = group.x;
    for (var b = t; b < BLOCKS; b += WG) {
        c[b] = cells[cell(COEFFICIENTS, region, b)];
    }
    let count = problems[region].count;
    for (var a = t; a < count; a += WG) {
        let pixel = u32(cells[cell(ORDER, region, a / 4u)][a % 4u]);
        places[a] = pixel;
        changes[a] = -cells[cell(OUTLIERS, region, pixel / 4u)][pixel % 4u];
    }

    // Separates the changes that threads have listed from all that read them.
    workgroupBarrier();

    update(t, count);
    let rung = choose(t, tile.noise);
    if t == 0u {
        problems[region].rung = rung;
    }
    // Without noise nothing is smoothed.
    filter_on(t, rung, region, select(0.0, 1.0, tile.noise > 0.0));
}
