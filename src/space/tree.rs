//! A tree that divides points into cells.

use crate::real::constant;
use crate::{Kernel, Points, Real};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Halvings in which an extent is compared with the kernel's length.
const HALVINGS: usize = 60;

/// Points, divided at medians.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Tree<T> {
    /// A cell by its number.
    Cell(usize),
    /// Points with a smaller coordinate, and the others.
    Split { axis: usize, at: T, below: Box<Tree<T>>, above: Box<Tree<T>> },
}

/// The points of a cell, and the box around them.
#[derive(Debug, Clone)]
pub(super) struct Cell<T> {
    pub(super) points: Vec<usize>,
    pub(super) low: Vec<T>,
    pub(super) high: Vec<T>,
}

impl<T: Real> Tree<T> {
    /// Divides until no cell has more than `most` points, along the axis that is
    /// the longest for the kernel.
    pub(super) fn new<K: Kernel<T>>(
        points: Points<'_, T>,
        kernel: &K,
        most: usize,
    ) -> (Self, Vec<Cell<T>>) {
        let mut cells = Vec::new();
        let all = (0..points.len()).collect();
        (divide(points, kernel, all, most, &mut cells), cells)
    }

    /// The number of the cell that a point is in.
    pub(super) fn cell(&self, x: &[T]) -> usize {
        let mut tree = self;
        loop {
            match tree {
                Self::Cell(cell) => return *cell,
                Self::Split { axis, at, below, above } => {
                    tree = if x[*axis] < *at { below } else { above };
                }
            }
        }
    }
}

fn divide<T: Real, K: Kernel<T>>(
    points: Points<'_, T>,
    kernel: &K,
    mut part: Vec<usize>,
    most: usize,
    cells: &mut Vec<Cell<T>>,
) -> Tree<T> {
    let dim = points.dim();
    let coordinate = |i: usize, axis: usize| points.coordinates()[i * dim + axis];
    let fold = |axis: usize, pick: fn(T, T) -> T, first: T| {
        part.iter().fold(first, |extreme, &i| pick(extreme, coordinate(i, axis)))
    };
    let low: Vec<T> = (0..dim).map(|axis| fold(axis, T::min, T::infinity())).collect();
    let high: Vec<T> = (0..dim).map(|axis| fold(axis, T::max, T::neg_infinity())).collect();
    let longest = (0..dim).map(|axis| (halvings(kernel, &low, &high, axis), axis)).max();
    let axis = longest.map_or(0, |(_, axis)| axis);
    if part.len() > most && high[axis] > low[axis] {
        let order = |&a: &usize, &b: &usize| {
            let (a, b) = (coordinate(a, axis), coordinate(b, axis));
            a.partial_cmp(&b).unwrap_or(core::cmp::Ordering::Equal)
        };
        let middle = part.len() / 2;
        part.select_nth_unstable_by(middle, order);
        // Equal coordinates stay together.
        let mut at = coordinate(part[middle], axis);
        if at == low[axis] {
            let larger = part.iter().map(|&i| coordinate(i, axis)).filter(|&x| x > at);
            at = larger.fold(T::infinity(), T::min);
        }
        let (below, above): (Vec<_>, Vec<_>) =
            part.into_iter().partition(|&i| coordinate(i, axis) < at);
        let below = Box::new(divide(points, kernel, below, most, cells));
        let above = Box::new(divide(points, kernel, above, most, cells));
        return Tree::Split { axis, at, below, above };
    }
    part.sort_unstable();
    cells.push(Cell { points: part, low, high });
    Tree::Cell(cells.len() - 1)
}

/// How often the extent along an axis is halved until the kernel of its ends is
/// half of what it is for a point and itself.
fn halvings<T: Real, K: Kernel<T>>(kernel: &K, low: &[T], high: &[T], axis: usize) -> usize {
    let mut end = low.to_vec();
    let half = constant::<T>(0.5);
    let enough = kernel.evaluate(low, low) * half;
    let mut extent = high[axis] - low[axis];
    for halvings in 0..HALVINGS {
        end[axis] = low[axis] + extent;
        if end[axis] == low[axis] {
            return 0;
        }
        if kernel.evaluate(low, &end) >= enough {
            return halvings;
        }
        extent = extent * half;
    }
    HALVINGS
}

impl<T: Real> Cell<T> {
    /// The point of the cell's box that is the nearest to `x`.
    pub(super) fn nearest(&self, x: &[T], out: &mut [T]) {
        let edges = self.low.iter().zip(&self.high);
        for ((out, &x), (&low, &high)) in out.iter_mut().zip(x).zip(edges) {
            *out = x.max(low).min(high);
        }
    }
}
