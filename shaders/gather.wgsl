// Copies the regions from the image, with the weights of the candidates. The same as
// `Grid::gather` in src/image/grid.rs.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;
// The image without suspects, and the weight of each pixel as a candidate.
@group(0) @binding(2) var<storage, read> looks: array<vec2<f32>>;
// One word a held pixel: bit 0 if it is to be left as it is, bit 1 if it is known
// to be bad. A single word if there are no masks.
@group(0) @binding(3) var<storage, read> masks: array<u32>;
@group(0) @binding(4) var<storage, read_write> cells: array<f32>;

override WG: u32 = 64u;

// One thread a pixel of a region; regions along y.
@compute @workgroup_size(WG)
fn gather(
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    let n = tile.region * tile.region;
    let i = id.x;
    let region = id.y;
    let to = region * padded(n) + i;
    if i >= n {
        if i < padded(n) {
            cells[DATA * tile.stride + to] = 0.0;
            cells[CALM * tile.stride + to] = 0.0;
        }
        return;
    }
    let column = tile.first_column + region % tile.columns;
    let row = tile.first_row + region / tile.columns;
    let x = pixel_of(tile, column, i % tile.region, tile.width) - tile.left;
    let y = pixel_of(tile, row, i / tile.region, tile.height) - tile.top;
    let at = y * tile.held_width + x;
    var flag = looks[at].y;
    if tile.masked != 0u {
        let mask = masks[at];
        flag = select(flag, 0.0, (mask & 1u) != 0u);
        flag = select(flag, IS_KNOWN, (mask & 2u) != 0u);
    }
    cells[DATA * tile.stride + to] = pixels[at];
    cells[CALM * tile.stride + to] = looks[at].x;
    cells[FLAGS * tile.stride + to] = flag;
}
