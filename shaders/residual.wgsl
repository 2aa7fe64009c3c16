// Many vectors times one matrix: the first residuals R = H Y of all problems,
// and the way into the basis of a smoother's eigenvectors and back. The twin of
// src/linalg/batch.rs.
//
// Each thread has a tile of SIDE rows of the matrix and SIDE vectors in registers:
// an entry, read once, serves SIDE products.

struct Product {
    // Entries of a vector, and how many vectors there are.
    n: u32,
    count: u32,
    // Entries of a section of the cells.
    stride: u32,
    // Not used.
    padding: u32,
}

@group(0) @binding(0) var<uniform> product: Product;
// Transposed: entry (i, j) is at j n + i, so that neighbours read neighbours.
@group(0) @binding(1) var<storage, read> matrix: array<f32>;
@group(0) @binding(2) var<storage, read_write> cells: array<f32>;

override WG: u32 = 64u;
// The sections that the vectors are read from and written to.
override SOURCE: u32 = 0u;
override TARGET: u32 = 0u;
const SIDE = 8u;

// Threads go along the rows of the matrix first, so that neighbours share vectors.
@compute @workgroup_size(WG)
fn residual(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let n = product.n;
    let across = (n + SIDE - 1u) / SIDE;
    let thread = id.y * groups.x * WG + id.x;
    let row = thread % across * SIDE;
    let vector = thread / across * SIDE;
    if vector >= product.count {
        return;
    }
    // Rows and vectors beyond the last compute the last once more, and are not
    // written.
    let end = n - 1u;
    let r = min(vec4(row) + vec4(0u, 1u, 2u, 3u), vec4(end));
    let s = min(vec4(row) + vec4(4u, 5u, 6u, 7u), vec4(end));
    let last = product.count - 1u;
    let v = min(vec4(vector) + vec4(0u, 1u, 2u, 3u), vec4(last)) * n + SOURCE * product.stride;
    let w = min(vec4(vector) + vec4(4u, 5u, 6u, 7u), vec4(last)) * n + SOURCE * product.stride;
    // Sums of the first four rows and of the others, for each vector.
    var a0 = vec4<f32>(); var a1 = vec4<f32>(); var a2 = vec4<f32>(); var a3 = vec4<f32>();
    var a4 = vec4<f32>(); var a5 = vec4<f32>(); var a6 = vec4<f32>(); var a7 = vec4<f32>();
    var b0 = vec4<f32>(); var b1 = vec4<f32>(); var b2 = vec4<f32>(); var b3 = vec4<f32>();
    var b4 = vec4<f32>(); var b5 = vec4<f32>(); var b6 = vec4<f32>(); var b7 = vec4<f32>();
    for (var j = 0u; j < n; j++) {
        let at = j * n;
        let m = vec4(matrix[at + r.x], matrix[at + r.y], matrix[at + r.z], matrix[at + r.w]);
        let o = vec4(matrix[at + s.x], matrix[at + s.y], matrix[at + s.z], matrix[at + s.w]);
        let x = vec4(cells[v.x + j], cells[v.y + j], cells[v.z + j], cells[v.w + j]);
        let y = vec4(cells[w.x + j], cells[w.y + j], cells[w.z + j], cells[w.w + j]);
        a0 += m * x.x; a1 += m * x.y; a2 += m * x.z; a3 += m * x.w;
        a4 += m * y.x; a5 += m * y.y; a6 += m * y.z; a7 += m * y.w;
        b0 += o * x.x; b1 += o * x.y; b2 += o * x.z; b3 += o * x.w;
        b4 += o * y.x; b5 += o * y.y; b6 += o * y.z; b7 += o * y.w;
    }
    write(vector, row, a0, b0);
    write(vector + 1u, row, a1, b1);
    write(vector + 2u, row, a2, b2);
    write(vector + 3u, row, a3, b3);
    write(vector + 4u, row, a4, b4);
    write(vector + 5u, row, a5, b5);
    write(vector + 6u, row, a6, b6);
    write(vector + 7u, row, a7, b7);
}

fn write(vector: u32, row: u32, a: vec4<f32>, b: vec4<f32>) {
    if vector >= product.count {
        return;
    }
    for (var e = 0u; e < min(product.n - row, SIDE); e++) {
        cells[TARGET * product.stride + vector * product.n + row + e] = select(b[e & 3u], a[e & 3u], e < 4u);
    }
}
