// Batcher's odd-even merge sort of eight or sixteen values: the twin of src/denoise/detect/sort.rs.

fn exchange(v: ptr<function, array<f32, 16>>, a: u32, b: u32) {
    let low = min((*v)[a], (*v)[b]);
    let high = max((*v)[a], (*v)[b]);
    (*v)[a] = low;
    (*v)[b] = high;
}

// Eight of them, from the first one on.
fn sort_8(v: ptr<function, array<f32, 16>>, f: u32) {
    exchange(v, f, f + 1u); exchange(v, f + 2u, f + 3u);
    exchange(v, f + 4u, f + 5u); exchange(v, f + 6u, f + 7u);
    exchange(v, f, f + 2u); exchange(v, f + 1u, f + 3u);
    exchange(v, f + 4u, f + 6u); exchange(v, f + 5u, f + 7u);
    exchange(v, f + 1u, f + 2u); exchange(v, f + 5u, f + 6u);
    exchange(v, f, f + 4u); exchange(v, f + 3u, f + 7u);
    exchange(v, f + 1u, f + 5u); exchange(v, f + 2u, f + 6u);
    exchange(v, f + 1u, f + 4u); exchange(v, f + 3u, f + 6u);
    exchange(v, f + 2u, f + 4u); exchange(v, f + 3u, f + 5u);
    exchange(v, f + 3u, f + 4u);
}

// Both halves, which are then merged.
fn sort_16(v: ptr<function, array<f32, 16>>) {
    sort_8(v, 0u);
    sort_8(v, 8u);
    exchange(v, 0u, 8u); exchange(v, 1u, 9u); exchange(v, 2u, 10u); exchange(v, 3u, 11u);
    exchange(v, 4u, 12u); exchange(v, 5u, 13u); exchange(v, 6u, 14u); exchange(v, 7u, 15u);
    exchange(v, 4u, 8u); exchange(v, 5u, 9u); exchange(v, 6u, 10u); exchange(v, 7u, 11u);
    exchange(v, 2u, 4u); exchange(v, 3u, 5u); exchange(v, 6u, 8u); exchange(v, 7u, 9u);
    exchange(v, 10u, 12u); exchange(v, 11u, 13u);
    exchange(v, 1u, 2u); exchange(v, 3u, 4u); exchange(v, 5u, 6u); exchange(v, 7u, 8u);
    exchange(v, 9u, 10u); exchange(v, 11u, 12u); exchange(v, 13u, 14u);
}
