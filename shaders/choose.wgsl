// For each region the smoother of the least estimated risk (Stein), in the basis
// of the eigenvectors of its kernel matrix, and what that leaves. The twin of
// `Ladder::choose`, `update` and `residual` in src/denoise/ladder.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read_write> cells: array<f32>;
// What a pixel adds to the coefficients: row after row, each filled up to a multiple
// of four.
@group(0) @binding(2) var<storage, read> basis: array<f32>;
// First for each rung freedom, rho, ones and nothing; then for each coefficient the
// sum e of its eigenvector and the filter g of each rung.
@group(0) @binding(3) var<storage, read> ladder: array<f32>;
@group(0) @binding(4) var<storage, read_write> problems: array<Problem>;

override WG: u32 = 64u;
override N: u32 = 144u;
override PADDED: u32 = (N + 3u) / 4u * 4u;
// Rungs that are looked at side by side; there may be fewer.
const RUNGS = 8u;
const HEADER = 4u * RUNGS;
const ENTRY = RUNGS + 1u;

var<workgroup> c: array<f32, N>;
// What goes into or out of each pixel.
var<workgroup> changes: array<f32, N>;
// Three inner products for each rung, of each thread, then of all.
var<workgroup> parts: array<array<vec3<f32>, RUNGS>, WG>;
// The risk of each rung and the variance of what it does not fit.
var<workgroup> risks: array<vec2<f32>, RUNGS>;
var<workgroup> chosen: u32;

fn filter_of(rung: u32, i: u32) -> f32 {
    return ladder[HEADER + i * ENTRY + 1u + rung];
}

fn sum_of(i: u32) -> f32 {
    return ladder[HEADER + i * ENTRY];
}

// The rung of the least risk for noise of this size, from each thread's own
// coefficients. All threads get it. The misfit is left in `risks`.
fn choose(t: u32, noise: f32) -> u32 {
    var sums: array<vec3<f32>, RUNGS>;
    for (var i = t; i < N; i += WG) {
        let e = sum_of(i);
        let own = c[i];
        for (var k = 0u; k < RUNGS; k++) {
            let g = filter_of(k, i);
            let gc = g * own;
            sums[k] += vec3(gc * e, gc * (g * e), gc * gc);
        }
    }
    for (var k = 0u; k < RUNGS; k++) {
        parts[t][k] = sums[k];
    }

    // Separates the products of all threads from the sums over threads.
    workgroupBarrier();

    for (var k = t; k < tile.rungs; k += WG) {
        var total = vec3<f32>();
        for (var l = 0u; l < min(WG, N); l++) {
            total += parts[l][k];
        }
        let freedom = ladder[4u * k];
        let shift = ladder[4u * k + 1u] * total.x;
        let squared = max(total.z - shift * (2.0 * total.y - shift * ladder[4u * k + 2u]), 0.0);
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

// Adds the changes of the pixels to each thread's own coefficients.
fn update(t: u32) {
    for (var j = 0u; j < N; j++) {
        let change = changes[j];
        if change != 0.0 {
            for (var i = t; i < N; i += WG) {
                c[i] += change * basis[j * PADDED + i];
            }
        }
    }
}

// Writes the coefficients of the residual on a rung: G c - rho (e^T G c) G e.
fn filter_on(t: u32, rung: u32, first: u32, scale: f32) {
    var sum = 0.0;
    for (var i = t; i < N; i += WG) {
        sum += filter_of(rung, i) * sum_of(i) * c[i];
    }
    parts[t][0].x = sum;

    // Separates the threads' parts from their sum, which all of them take.
    workgroupBarrier();

    var total = 0.0;
    for (var l = 0u; l < min(WG, N); l++) {
        total += parts[l][0].x;
    }
    let shift = ladder[4u * rung + 1u] * total;
    for (var i = t; i < N; i += WG) {
        let g = filter_of(rung, i);
        let left = c[i] * g - shift * (g * sum_of(i));
        cells[FILTERED * tile.stride + first + i] = scale * left;
    }
    for (var i = N + t; i < PADDED; i += WG) {
        cells[FILTERED * tile.stride + first + i] = 0.0;
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
    let first = region * PADDED;
    for (var i = t; i < N; i += WG) {
        c[i] = cells[COEFFICIENTS * tile.stride + first + i];
        changes[i] = cells[DATA * tile.stride + first + i] - cells[CALM * tile.stride + first + i];
    }
    // Its barriers also separate the changes that threads brought from all that
    // read them.
    let rung = choose(t, tile.floor_);
    if t == 0u {
        let misfit = max(tile.floor_, sqrt(risks[rung].y));
        problems[region] = Problem(rung, tile.extreme * misfit, 0u, 0u);
    }
    update(t);
    for (var i = t; i < N; i += WG) {
        cells[COEFFICIENTS * tile.stride + first + i] = c[i];
    }
    filter_on(t, rung, first, 1.0);
}

// With the rung that the gradient has chosen, on the pixels as they are.
@compute @workgroup_size(WG)
fn given(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let first = group.x * PADDED;
    for (var i = t; i < N; i += WG) {
        c[i] = cells[COEFFICIENTS * tile.stride + first + i];
    }
    filter_on(t, problems[group.x].rung, first, 1.0);
}

// After the search: the outliers go, and what is left is smoothed as suits it
// best.
@compute @workgroup_size(WG)
fn after(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let region = group.x;
    let first = region * PADDED;
    for (var i = t; i < N; i += WG) {
        c[i] = cells[COEFFICIENTS * tile.stride + first + i];
        changes[i] = -cells[OUTLIERS * tile.stride + first + i];
    }

    // Separates the changes that threads brought from all that read them.
    workgroupBarrier();

    update(t);
    let rung = choose(t, tile.noise);
    if t == 0u {
        problems[region].rung = rung;
    }
    // Where there is no noise, nothing is smoothed away.
    filter_on(t, rung, first, select(0.0, 1.0, tile.noise > 0.0));
}
