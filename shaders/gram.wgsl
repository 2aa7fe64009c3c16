// The Gram matrix of two sets of points. The same as src/kernel/gram.rs.
//
// The kernel is a program for a stack machine, so that sums, products and multiples of kernels
// need no shader of their own; see `Formula` in src/gpu/gram.rs.

struct Gram {
    // Points of the first set from `first` on, points of the second, coordinates.
    first: u32,
    rows: u32,
    columns: u32,
    dim: u32,
    // Instructions of the program: what to do, and up to three numbers.
    length: u32,
    program: array<vec4<f32>, MOST>,
}

// Largest number of instructions and largest stack depth.
const MOST = 32u;
const DEPTH = 16u;

// Instructions: the numbers of `Instruction` in src/gpu/gram.rs.
const GAUSSIAN = 0u;
const LAPLACIAN = 1u;
const MATERN32 = 2u;
const MATERN52 = 3u;
const RATIONAL_QUADRATIC = 4u;
const LINEAR = 5u;
const POLYNOMIAL = 6u;
const SUM = 7u;
const PRODUCT = 8u;
const SCALE = 9u;

@group(0) @binding(0) var<uniform> gram_: Gram;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

override WG: u32 = 64u;

// x^p by squaring; `pow` is not defined for negative x.
fn integer_power(base: f32, exponent: u32) -> f32 {
    var result = 1.0;
    var x = base;
    for (var p = exponent; p > 0u; p >>= 1u) {
        if (p & 1u) != 0u {
            result *= x;
        }
        x *= x;
    }
    return result;
}

// One thread an entry; rows along y.
@compute @workgroup_size(WG)
fn gram(
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    if id.x >= gram_.columns || id.y >= gram_.rows {
        return;
    }
    var squared = 0.0;
    var absolute = 0.0;
    var inner = 0.0;
    for (var d = 0u; d < gram_.dim; d++) {
        let x = a[(gram_.first + id.y) * gram_.dim + d];
        let y = b[id.x * gram_.dim + d];
        squared += (x - y) * (x - y);
        absolute += abs(x - y);
        inner += x * y;
    }
    var stack: array<f32, DEPTH>;
    var height = 0u;
    for (var i = 0u; i < gram_.length; i++) {
        let step = gram_.program[i];
        let p = step.yzw;
        var value = 0.0;
        switch u32(step.x) {
            case GAUSSIAN: {
                value = exp(-squared * p.x);
            }
            case LAPLACIAN: {
                value = exp(-absolute * p.x);
            }
            case MATERN32: {
                let s = sqrt(3.0 * squared) * p.x;
                value = (1.0 + s) * exp(-s);
            }
            case MATERN52: {
                let s = sqrt(5.0 * squared) * p.x;
                value = (1.0 + s + s * s / 3.0) * exp(-s);
            }
            case RATIONAL_QUADRATIC: {
                value = pow(1.0 + squared * p.x, -p.y);
            }
            case LINEAR: {
                value = inner;
            }
            case POLYNOMIAL: {
                value = integer_power(p.x * inner + p.y, u32(p.z));
            }
            case SCALE: {
                height -= 1u;
                value = p.x * stack[height];
            }
            case SUM: {
                height -= 2u;
                value = stack[height] + stack[height + 1u];
            }
            default: {
                height -= 2u;
                value = stack[height] * stack[height + 1u];
            }
        }
        stack[height] = value;
        height += 1u;
    }
    out[id.y * gram_.columns + id.x] = stack[0];
}
