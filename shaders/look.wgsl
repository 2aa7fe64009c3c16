// Order statistics of the neighbours: the candidates for outliers, and the image without
// suspects. The same rule as src/denoise/detect/neighbourhood.rs.

// The image without suspects, and the weight of each pixel as a candidate.
@group(0) @binding(2) var<storage, read_write> looks: array<vec2<f32>>;

override WG: u32 = 64u;
// Pixels of a row over which the spread is averaged; WG is a multiple.
const BLOCK = 16u;

var<workgroup> spread: array<f32, WG>;

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
    // Eight of them.
    var v = array<f32, 16>();
    v[0] = pixel(x - 1, y - 1);
    v[1] = pixel(x, y - 1);
    v[2] = pixel(x + 1, y - 1);
    v[3] = pixel(x - 1, y);
    v[4] = pixel(x + 1, y);
    v[5] = pixel(x - 1, y + 1);
    v[6] = pixel(x, y + 1);
    v[7] = pixel(x + 1, y + 1);
    sort_8(&v, 0u);
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
    let limit = max(tile.suspect, around);
    let middle = 0.5 * (v[3] + v[4]);
    let calm = select(here, middle, by > limit);
    let can_be = inside && by > tile.alone_enough && abs(here - middle) > tile.off_enough;
    var worth = select(0.0, 1.0, can_be);
    if can_be && tile.amplitude > 0.0 {
        worth = select(EXCEEDS, FALLS_BELOW, here < middle);
    }
    if inside {
        looks[row * tile.held_width + column] = vec2(calm, worth);
    }
}
