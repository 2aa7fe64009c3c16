// The data of all points of all problems in one buffer: sections of `stride` entries, in each
// the problems one after another, each padded with zeros to a multiple of four. One binding
// instead of eight: some devices have four.
// Same numbers as `Section` in src/gpu/cells.rs.
const DATA = 0u;
// The data without suspects.
const CALM = 1u;
// What the point is worth as a candidate for an outlier, which is nothing if it can be
// none; or that it is known to be one. After the search also that the point is an outlier: it was
// removed by more than a half.
const FLAGS = 2u;
const IS_KNOWN = -1.0;
const IS_OUTLIER = -2.0;
// In the basis of the eigenvectors of the kernel matrix.
const COEFFICIENTS = 3u;
const FILTERED = 4u;
const RESIDUALS = 5u;
// The outliers' values, zero elsewhere; and their indices in order of selection.
const OUTLIERS = 6u;
const ORDER = 7u;

// Entries of a problem of n points.
fn padded(n: u32) -> u32 {
    return (n + 3u) / 4u * 4u;
}
