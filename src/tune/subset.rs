//! A part of the points that stands for all of them.
//!
//! Half of it is spread over all points and shows long lengths; the other half
//! are neighbours in a few places and show short ones. On a line, points taken at
//! regular strides would not know of anything shorter than a stride.

use crate::stats::ascending;
use crate::{Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Places with neighbours.
const PLACES: usize = 6;

/// `most` indices of points, ascending; all of them if there are no more.
pub(crate) fn representative<T: Real>(points: Points<'_, T>, most: usize) -> Vec<usize> {
    let n = points.len();
    let point = |i: usize| &points.coordinates()[i * points.dim()..][..points.dim()];
    if n <= most {
        return (0..n).collect();
    }
    let mut taken = vec![false; n];
    for i in scattered(n, most / 2) {
        taken[i] = true;
    }
    let each = (most - most / 2) / PLACES;
    for centre in scattered(n, PLACES) {
        let mut others: Vec<(T, usize)> = (0..n)
            .filter(|&i| !taken[i])
            .map(|i| (squared_distance(point(i), point(centre)), i))
            .collect();
        let each = each.min(others.len());
        if each == 0 {
            break;
        }
        let order = |a: &(T, usize), b: &(T, usize)| ascending(&a.0, &b.0).then(a.1.cmp(&b.1));
        others.select_nth_unstable_by(each - 1, order);
        for &(_, i) in &others[..each] {
            taken[i] = true;
        }
    }
    (0..n).filter(|&i| taken[i]).collect()
}

/// `few` of `n` indices: one of each stretch, at a place that a multiplicative
/// hash chooses, so that no lattice of the points is met.
fn scattered(n: usize, few: usize) -> impl Iterator<Item = usize> {
    (0..few).map(move |i| {
        let (start, end) = (i * n / few, (i + 1) * n / few);
        let hash = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        start + usize::try_from(hash).unwrap_or(0) % (end - start)
    })
}

fn squared_distance<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |s, (&a, &b)| s + (a - b) * (a - b))
}
