// One matrix times many vectors: the first residuals R = H Y of all problems, and the
// transforms to and from the eigenvector basis. The same as src/linalg/batch.rs.
//
// Each thread has a tile of SIDE rows of the matrix and SIDE vectors in registers:
// an entry, read once, serves SIDE products. All is read in blocks of four.

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
// Transposed: entry (i, j) is in row j. Rows are filled up with zeros to a multiple
// of four, and so are the vectors; there are rows of zeros up to a multiple of four.
@group(0) @binding(1) var<storage, read> matrix: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> cells: array<vec4<f32>>;

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
    // Blocks of a vector, and of a section.
    let blocks = (product.n + 3u) / 4u;
    let section = product.stride / 4u;
    let across = (blocks + 1u) / 2u;
    let thread = id.y * groups.x * WG + id.x;
    let row = thread % across * 2u;
    let vector = thread / across * SIDE;
    if vector >= product.count {
        return;
    }
    // Rows and vectors beyond the last compute the last once more, and are not
    // written.
    let other = min(row + 1u, blocks - 1u);
    let last = product.count - 1u;
    let source = SOURCE * section;
    let v = min(vec4(vector) + vec4(0u, 1u, 2u, 3u), vec4(last)) * blocks + source;
    let w = min(vec4(vector) + vec4(4u, 5u, 6u, 7u), vec4(last)) * blocks + source;
    // Sums of the first four rows and of the others, for each vector.
    var a0 = vec4<f32>(); var a1 = vec4<f32>(); var a2 = vec4<f32>(); var a3 = vec4<f32>();
    var a4 = vec4<f32>(); var a5 = vec4<f32>(); var a6 = vec4<f32>(); var a7 = vec4<f32>();
    var b0 = vec4<f32>(); var b1 = vec4<f32>(); var b2 = vec4<f32>(); var b3 = vec4<f32>();
    var b4 = vec4<f32>(); var b5 = vec4<f32>(); var b6 = vec4<f32>(); var b7 = vec4<f32>();
    for (var j = 0u; j < blocks; j++) {
        let at = 4u * j * blocks;
        let m = mat4x4(
            matrix[at + row],
            matrix[at + blocks + row],
            matrix[at + 2u * blocks + row],
            matrix[at + 3u * blocks + row],
        );
        let o = mat4x4(
            matrix[at + other],
            matrix[at + blocks + other],
            matrix[at + 2u * blocks + other],
            matrix[at + 3u * blocks + other],
        );
        let x0 = cells[v.x + j]; a0 += m * x0; b0 += o * x0;
        let x1 = cells[v.y + j]; a1 += m * x1; b1 += o * x1;
        let x2 = cells[v.z + j]; a2 += m * x2; b2 += o * x2;
        let x3 = cells[v.w + j]; a3 += m * x3; b3 += o * x3;
        let x4 = cells[w.x + j]; a4 += m * x4; b4 += o * x4;
        let x5 = cells[w.y + j]; a5 += m * x5; b5 += o * x5;
        let x6 = cells[w.z + j]; a6 += m * x6; b6 += o * x6;
        let x7 = cells[w.w + j]; a7 += m * x7; b7 += o * x7;
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
    let blocks = (product.n + 3u) / 4u;
    let at = TARGET * (product.stride / 4u) + vector * blocks + row;
    cells[at] = a;
    if row + 1u < blocks {
        cells[at + 1u] = b;
    }
}
