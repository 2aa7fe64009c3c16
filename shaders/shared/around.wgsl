// The pixels that are held for a tile, and those around each.

@group(0) @binding(0) var<uniform> tile: Tile;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;

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

// Outside of the held pixels the nearest held pixel; such blocks are not used.
fn pixel(x: i32, y: i32) -> f32 {
    let u = reflected(x, tile.width);
    let v = reflected(y, tile.height);
    let column = clamp(i32(u) - i32(tile.left), 0, i32(tile.held_width) - 1);
    let row = clamp(i32(v) - i32(tile.top), 0, i32(tile.held_height) - 1);
    return pixels[u32(row) * tile.held_width + u32(column)];
}

// Marks a candidate for the classifier, in place of its weight: it exceeds its neighbours, or
// falls below them.
const EXCEEDS = -1.0;
const FALLS_BELOW = -2.0;
