//! Vector operations, most of them inlined into a [`Routine`].

use super::simd::{Routine, dispatch, multiply_add};
use super::tile::{VECTORS, with_lanes};
use crate::Real;

/// Inner product.
#[inline(always)]
pub(crate) fn dot<T: Real, const FUSED: bool>(a: &[T], b: &[T]) -> T {
    with_lanes!(T, dot_lanes::<FUSED>(a, b))
}

/// The same by one sum.
#[inline(always)]
pub(crate) fn plain_dot<T: Real, const FUSED: bool>(a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sum = T::zero();
    for (&[a0, a1, a2, a3], &[b0, b1, b2, b3]) in a.iter().zip(b) {
        sum = multiply_add::<T, FUSED>(a0, b0, sum);
        sum = multiply_add::<T, FUSED>(a1, b1, sum);
        sum = multiply_add::<T, FUSED>(a2, b2, sum);
        sum = multiply_add::<T, FUSED>(a3, b3, sum);
    }
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        sum = multiply_add::<T, FUSED>(a, b, sum);
    }
    sum
}

#[inline(always)]
fn dot_lanes<T: Real, const LANES: usize, const FUSED: bool>(a: &[T], b: &[T]) -> T {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    // Two sums of LANES each, to hide the latency of the addition.
    let mut even = [T::zero(); LANES];
    let mut odd = [T::zero(); LANES];
    let (a_pairs, a_last) = a_blocks.as_chunks::<2>();
    let (b_pairs, b_last) = b_blocks.as_chunks::<2>();
    for (x, y) in a_pairs.iter().zip(b_pairs) {
        for l in 0..LANES {
            even[l] = multiply_add::<T, FUSED>(x[0][l], y[0][l], even[l]);
            odd[l] = multiply_add::<T, FUSED>(x[1][l], y[1][l], odd[l]);
        }
    }
    for (x, y) in a_last.iter().zip(b_last) {
        for l in 0..LANES {
            even[l] = multiply_add::<T, FUSED>(x[l], y[l], even[l]);
        }
    }
    for l in 0..LANES {
        even[l] = even[l] + odd[l];
    }
    let mut sum = sum_of(even);
    for (&x, &y) in a_rest.iter().zip(b_rest) {
        sum = multiply_add::<T, FUSED>(x, y, sum);
    }
    sum
}

/// Inner products of four rows with one vector.
#[inline(always)]
pub(crate) fn dot_4<T: Real, const FUSED: bool>(rows: [&[T]; 4], x: &[T]) -> [T; 4] {
    with_lanes!(T, dot_4_lanes::<FUSED>(rows, x))
}

#[inline(always)]
fn dot_4_lanes<T: Real, const LANES: usize, const FUSED: bool>(rows: [&[T]; 4], x: &[T]) -> [T; 4] {
    let rows = rows.map(|row| &row[..x.len()]);
    let whole = x.len() - x.len() % LANES;
    let fours = x.len() - x.len() % 4;
    let lanes = dot_4_blocks::<T, LANES, FUSED>(rows.map(|row| &row[..whole]), &x[..whole]);
    let four = dot_4_blocks::<T, 4, FUSED>(rows.map(|row| &row[whole..fours]), &x[whole..fours]);
    core::array::from_fn(|r| {
        let rest = rows[r][fours..].iter().zip(&x[fours..]);
        let sum = sum_of(lanes[r]) + sum_of(four[r]);
        rest.fold(sum, |sum, (&l, &x)| multiply_add::<T, FUSED>(l, x, sum))
    })
}

/// [`dot_4`] of a multiple of `WIDTH` entries, `WIDTH` sums of each row.
#[inline(always)]
fn dot_4_blocks<T: Real, const WIDTH: usize, const FUSED: bool>(
    rows: [&[T]; 4],
    x: &[T],
) -> [[T; WIDTH]; 4] {
    let (x, _) = x.as_chunks::<WIDTH>();
    let [r0, r1, r2, r3] = rows.map(|row| &row.as_chunks::<WIDTH>().0[..x.len()]);
    let mut sums = [[T::zero(); WIDTH]; 4];
    for (b, x) in x.iter().enumerate() {
        for (sum, row) in sums.iter_mut().zip([&r0[b], &r1[b], &r2[b], &r3[b]]) {
            for l in 0..WIDTH {
                sum[l] = multiply_add::<T, FUSED>(row[l], x[l], sum[l]);
            }
        }
    }
    sums
}

/// The sum of all lanes.
#[inline(always)]
fn sum_of<T: Real, const LANES: usize>(lanes: [T; LANES]) -> T {
    halved(lanes, |a, b| a + b)
}

/// Pairwise reduction of all lanes.
#[inline(always)]
fn halved<T: Real, const LANES: usize>(mut lanes: [T; LANES], of_two: impl Fn(T, T) -> T) -> T {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for l in 0..width {
            lanes[l] = of_two(lanes[l], lanes[l + width]);
        }
    }
    lanes[0]
}

/// `y += factor * x`.
#[inline(always)]
pub(crate) fn add_scaled<T: Real, const FUSED: bool>(y: &mut [T], factor: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = multiply_add::<T, FUSED>(factor, x, *y);
    }
}

/// `y += sum over r of factors[r] * rows[r]`: one pass over `y` for four rows.
#[inline(always)]
pub(crate) fn add_scaled_4<T: Real, const FUSED: bool>(
    y: &mut [T],
    factors: [T; 4],
    rows: [&[T]; 4],
) {
    let [r0, r1, r2, r3] = rows.map(|row| &row[..y.len()]);
    for (i, y) in y.iter_mut().enumerate() {
        let a = multiply_add::<T, FUSED>(factors[0], r0[i], *y);
        let b = multiply_add::<T, FUSED>(factors[1], r1[i], a);
        let c = multiply_add::<T, FUSED>(factors[2], r2[i], b);
        *y = multiply_add::<T, FUSED>(factors[3], r3[i], c);
    }
}

/// `y += sum over t of factors[t] * (row t of rows)`, rows of the length of `y`.
#[inline(always)]
pub(crate) fn add_combination<T: Real, const FUSED: bool>(y: &mut [T], factors: &[T], rows: &[T]) {
    combine::<T, FUSED>(y, factors, rows, T::one());
}

/// `y -= sum over t of factors[t] * (row t of rows)`.
#[inline(always)]
pub(crate) fn subtract_combination<T: Real, const FUSED: bool>(
    y: &mut [T],
    factors: &[T],
    rows: &[T],
) {
    combine::<T, FUSED>(y, factors, rows, -T::one());
}

/// Longest row that counts as short.
const SHORT: usize = 128;
/// Entries of short rows that are held in registers.
const SEVERAL: usize = 8;

/// Short rows are processed a few entries at a time, long ones four rows in a pass; the sums
/// have the same order.
#[inline(always)]
fn combine<T: Real, const FUSED: bool>(y: &mut [T], factors: &[T], rows: &[T], sign: T) {
    let n = y.len();
    if n == 0 {
        return;
    }
    if !VECTORS {
        plain_combine(y, factors, rows, sign);
        return;
    }
    if n <= SHORT {
        let terms = || factors.iter().zip(rows.chunks_exact(n));
        let (blocks, rest) = y.as_chunks_mut::<SEVERAL>();
        for (b, y) in blocks.iter_mut().enumerate() {
            let mut sum = *y;
            for (&f, row) in terms() {
                let row = &row[b * SEVERAL..][..SEVERAL];
                for l in 0..SEVERAL {
                    sum[l] = multiply_add::<T, FUSED>(f * sign, row[l], sum[l]);
                }
            }
            *y = sum;
        }
        for (&f, row) in terms() {
            add_scaled::<T, FUSED>(rest, f * sign, &row[n - rest.len()..]);
        }
        return;
    }
    let (blocks, rest) = factors.as_chunks::<4>();
    for (b, f) in blocks.iter().enumerate() {
        let row = |r: usize| &rows[(4 * b + r) * n..][..n];
        add_scaled_4::<T, FUSED>(y, f.map(|f| f * sign), [row(0), row(1), row(2), row(3)]);
    }
    let done = 4 * blocks.len();
    for (t, &f) in rest.iter().enumerate() {
        add_scaled::<T, FUSED>(y, f * sign, &rows[(done + t) * n..][..n]);
    }
}

/// The same two rows at a time, once in a program.
#[inline(never)]
fn plain_combine<T: Real>(y: &mut [T], factors: &[T], rows: &[T], sign: T) {
    let mut rest = rows;
    let (pairs, last) = factors.as_chunks::<2>();
    for &[f, g] in pairs {
        let Some((first, others)) = rest.split_at_checked(y.len()) else { return };
        let Some((second, others)) = others.split_at_checked(y.len()) else { return };
        let (f, g) = (f * sign, g * sign);
        for ((y, &a), &b) in y.iter_mut().zip(first).zip(second) {
            *y = *y + f * a + g * b;
        }
        rest = others;
    }
    for &f in last {
        add_scaled::<T, false>(y, f * sign, rest);
    }
}

/// The largest absolute value; zero for an empty slice.
pub(crate) fn max_magnitude<T: Real>(x: &[T]) -> T {
    dispatch(MaxMagnitude(x))
}

/// Index and value of the largest absolute value, the first of equals; `None` if all are zero.
pub(crate) fn largest<T: Real>(x: &[T]) -> (Option<usize>, T) {
    dispatch(Largest(x))
}

/// The same inside a [`Routine`].
#[inline(always)]
pub(crate) fn largest_of<T: Real, const FUSED: bool>(x: &[T]) -> (Option<usize>, T) {
    if !VECTORS {
        return plain_largest(x);
    }
    if x.len() <= SHORT {
        return largest_of_few::<T, FUSED>(x);
    }
    with_lanes!(T, largest_lanes::<FUSED>(x))
}

/// The same one by one, once in a program.
#[inline(never)]
fn plain_largest<T: Real>(x: &[T]) -> (Option<usize>, T) {
    let mut found = (None, T::zero());
    for (i, x) in x.iter().enumerate() {
        if x.abs() > found.1 {
            found = (Some(i), x.abs());
        }
    }
    found
}

/// Branch-free over all places: for short lists faster than mispredicted branches.
#[inline(always)]
fn largest_of_few<T: Real, const FUSED: bool>(x: &[T]) -> (Option<usize>, T) {
    const NOWHERE: u32 = u32::MAX;
    const FIRST: [u32; SEVERAL] = [0, 1, 2, 3, 4, 5, 6, 7];
    const NEXT: u32 = FIRST[SEVERAL - 1] + 1;
    let max = max_lanes::<T, SEVERAL, FUSED>(x);
    if !(max > T::zero()) {
        return (None, max);
    }
    let smaller = |a: u32, b: u32| if b < a { b } else { a };
    let (blocks, rest) = x.as_chunks::<SEVERAL>();
    let mut first = [NOWHERE; SEVERAL];
    let mut places = FIRST;
    for block in blocks {
        for l in 0..SEVERAL {
            let place = if block[l].abs() == max { places[l] } else { NOWHERE };
            first[l] = smaller(first[l], place);
            places[l] += NEXT;
        }
    }
    let first = first.into_iter().fold(NOWHERE, smaller);
    if first != NOWHERE {
        return (Some(first as usize), max);
    }
    let before = x.len() - rest.len();
    (rest.iter().position(|x| x.abs() == max).map(|at| before + at), max)
}

struct MaxMagnitude<'a, T>(&'a [T]);

impl<T: Real> Routine for MaxMagnitude<'_, T> {
    type Output = T;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> T {
        if !VECTORS {
            return largest_of::<T, FUSED>(self.0).1;
        }
        with_lanes!(T, max_lanes::<FUSED>(self.0))
    }
}

struct Largest<'a, T>(&'a [T]);

impl<T: Real> Routine for Largest<'_, T> {
    type Output = (Option<usize>, T);
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Self::Output {
        largest_of::<T, FUSED>(self.0)
    }
}

#[inline(always)]
fn max_lanes<T: Real, const LANES: usize, const FUSED: bool>(x: &[T]) -> T {
    // One comparison a lane: `Float::max` would also look for NaNs.
    let larger = |a: T, b: T| if b > a { b } else { a };
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut max = [T::zero(); LANES];
    for block in blocks {
        for l in 0..LANES {
            max[l] = larger(max[l], block[l].abs());
        }
    }
    let rest = rest.iter().fold(T::zero(), |max, x| larger(max, x.abs()));
    larger(rest, halved(max, larger))
}

#[inline(always)]
fn largest_lanes<T: Real, const LANES: usize, const FUSED: bool>(x: &[T]) -> (Option<usize>, T) {
    let max = max_lanes::<T, LANES, FUSED>(x);
    if !(max > T::zero()) {
        return (None, max);
    }
    // First the block, all lanes at once, then the place in it.
    let has = |block: &[T; LANES]| block.iter().fold(false, |any, x| any | (x.abs() == max));
    let (blocks, _) = x.as_chunks::<LANES>();
    let start = LANES * blocks.iter().position(has).unwrap_or(blocks.len());
    let at = x[start..].iter().position(|x| x.abs() == max).map(|at| start + at);
    (at, max)
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::{SHORT, largest};
    use alloc::vec::Vec;

    /// The first of the largest, by a plain loop.
    fn one_by_one(x: &[f32]) -> (Option<usize>, f32) {
        let mut found = (None, 0.0);
        for (i, x) in x.iter().enumerate() {
            if x.abs() > found.1 {
                found = (Some(i), x.abs());
            }
        }
        found
    }

    #[test]
    fn the_first_of_the_largest() {
        let mut state = 1_u32;
        for n in (0..2 * SHORT).chain([1000]) {
            // Few values, so that there are equals, of both signs.
            for values in [1, 2, 5, 1000] {
                let x: Vec<f32> = (0..n)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        ((state >> 16) % (2 * values - 1)) as f32 - (values - 1) as f32
                    })
                    .collect();
                assert_eq!(largest(&x), one_by_one(&x), "{x:?}");
            }
        }
    }
}
