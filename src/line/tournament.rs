//! The largest score, found in a tournament, and sums over all points.
//!
//! With residuals $r_y$ of $y$ and $r_b$ of the unpenalised columns $b$, all
//! without these columns, the least-squares coefficients are
//! $c = G^{-1} b^T r_y$ with $G = b^T r_b$; the residuals are
//! $r = r_y - r_b c$, and the diagonal of $H$ loses $r_b^T G^{-1} r_b$. So every
//! point that is taken out moves all scores. But a score moves by at most
//! $|\Delta c|$ times the largest $|r_b|$ of its block, and a studentised score
//! grows by a factor that follows from the change of $G^{-1}$: a block whose
//! bound is below the best score so far need not be opened. Blocks of blocks
//! likewise.

use super::cell::{Basis, Cell, NONE};
use crate::Real;
use crate::real::constant;

/// Points in a block.
const BLOCK: usize = 128;
/// Blocks in a block of blocks.
const FAN: usize = 16;
/// Rounding of a bound, in units of the scalar's.
const SLACK: f64 = 32.0;

/// What is known of a block: memory of a fit, for
/// [`LineRef`](super::LineRef); its content is private.
#[derive(Debug, Clone, Copy)]
pub struct Node<T, const B: usize> {
    sums: Sums<T, B>,
    /// The largest score at `center`, or a bound on it.
    bound: T,
    /// Where it is, in a block of points.
    at: u32,
    /// The largest $|r_b|$, in units of $\sqrt{H_{ii}}$ without bias if
    /// studentised.
    reach: [T; B],
    /// The least share of $H_{ii}$ that the unpenalised columns leave, if
    /// studentised.
    least: T,
    center: Center<T, B>,
}

impl<T: Real, const B: usize> Default for Node<T, B> {
    fn default() -> Self {
        let zero = T::zero();
        Self {
            sums: Sums::zero(),
            bound: zero,
            at: u32::MAX,
            reach: [zero; B],
            least: T::one(),
            center: Center { coefficients: [zero; B], inverse: [[zero; B]; B] },
        }
    }
}

/// Inner products over points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums<T, const B: usize> {
    /// $b^T r_b$.
    gram: [[T; B]; B],
    /// $b^T r_y$.
    right: [T; B],
    /// $r_y^T r_y$, $r_b^T r_y$ and $r_b^T r_b$.
    yy: T,
    by: [T; B],
    bb: [[T; B]; B],
    /// $y^T r_y$; $y^T r_b$ is $b^T r_y$.
    data: T,
    /// The largest $|y|$.
    size: T,
}

impl<T: Real, const B: usize> Sums<T, B> {
    fn zero() -> Self {
        let (zero, zeros) = (T::zero(), [T::zero(); B]);
        Self {
            gram: [zeros; B],
            right: zeros,
            yy: zero,
            by: zeros,
            bb: [zeros; B],
            data: zero,
            size: zero,
        }
    }

    fn add(&mut self, other: &Self) {
        self.yy = self.yy + other.yy;
        self.data = self.data + other.data;
        self.size = self.size.max(other.size);
        for k in 0..B {
            self.right[k] = self.right[k] + other.right[k];
            self.by[k] = self.by[k] + other.by[k];
            for l in 0..B {
                self.gram[k][l] = self.gram[k][l] + other.gram[k][l];
                self.bb[k][l] = self.bb[k][l] + other.bb[k][l];
            }
        }
    }

    /// A point with $y$, its residual, the columns and their residuals.
    fn add_point(&mut self, y: T, r: T, basis: [T; B], of_basis: &[T; B]) {
        self.yy = self.yy + r * r;
        self.data = self.data + y * r;
        for k in 0..B {
            self.right[k] = self.right[k] + basis[k] * r;
            self.by[k] = self.by[k] + of_basis[k] * r;
            for l in 0..B {
                self.gram[k][l] = self.gram[k][l] + basis[k] * of_basis[l];
                self.bb[k][l] = self.bb[k][l] + of_basis[k] * of_basis[l];
            }
        }
    }

    /// The coefficients of the unpenalised columns.
    fn center(&self) -> Center<T, B> {
        let inverse = inverse(&self.gram);
        let row = |k: usize| (0..B).fold(T::zero(), |sum, l| sum + inverse[k][l] * self.right[l]);
        Center { coefficients: core::array::from_fn(row), inverse }
    }

    /// $r^T f$, the penalty of the fit, for coefficients $c$.
    fn penalty(&self, c: &[T; B]) -> T {
        (0..B).fold(self.data, |sum, k| sum - c[k] * self.right[k]) - self.squares(c)
    }

    /// $\lVert r \rVert^2$ for coefficients $c$.
    fn squares(&self, c: &[T; B]) -> T {
        let mut sum = self.yy;
        for k in 0..B {
            sum = sum - (c[k] + c[k]) * self.by[k];
            for l in 0..B {
                sum = sum + c[k] * c[l] * self.bb[k][l];
            }
        }
        sum
    }
}

/// $A^{-1}$ of a symmetric positive definite matrix of at most two rows; zero
/// where there is nothing to determine.
fn inverse<T: Real, const B: usize>(a: &[[T; B]; B]) -> [[T; B]; B] {
    let mut out = [[T::zero(); B]; B];
    if B >= 1 && a[0][0] > T::zero() {
        out[0][0] = a[0][0].recip();
    }
    if B >= 2 {
        let ratio = a[0][1] * out[0][0];
        let rest = a[1][1] - ratio * a[0][1];
        if rest > T::epsilon() * a[1][1] {
            let rest = rest.recip();
            out[1][1] = rest;
            out[0][1] = -ratio * rest;
            out[1][0] = out[0][1];
            out[0][0] = out[0][0] + ratio * ratio * rest;
        }
    }
    out
}

/// The coefficients $c$ and $G^{-1}$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Center<T, const B: usize> {
    pub(super) coefficients: [T; B],
    pub(super) inverse: [[T; B]; B],
}

impl<T: Real, const B: usize> Center<T, B> {
    /// The residual of a point (divided by its deviation) and $H_{ii}$.
    #[inline(always)]
    pub(super) fn of<G, const D: usize>(&self, cell: &Cell<T, G, D, B>) -> (T, T) {
        let mut residual = cell.residual;
        let mut lost = T::zero();
        for k in 0..B {
            residual = residual - self.coefficients[k] * cell.basis_residual[k];
            for l in 0..B {
                lost = lost + self.inverse[k][l] * cell.basis_residual[k] * cell.basis_residual[l];
            }
        }
        let (rest, floor) = (cell.diagonal - lost, T::epsilon() * cell.diagonal);
        (residual, if rest > floor { rest } else { floor })
    }
}

/// What points are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Score {
    /// $|r_i|$.
    Plain,
    /// $|r_i| / \sqrt{H_{ii}}$.
    Studentized,
}

impl Score {
    #[inline(always)]
    pub(super) fn of<T: Real>(self, residual: T, variance: T) -> T {
        match self {
            Self::Plain => residual.abs(),
            Self::Studentized => residual.abs() / variance.sqrt(),
        }
    }
}

/// How far scores may have moved since they were computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drift<T> {
    pub(super) shift: T,
    pub(super) growth: T,
}

impl<T: Real> Drift<T> {
    /// The largest that a score can have become.
    pub(super) fn above(&self, score: T) -> T {
        (score + self.shift) * self.growth
    }
}

impl<T: Real, const B: usize> Node<T, B> {
    /// How far the scores of this block have moved, and what `least` is now.
    fn drift(&self, score: Score, now: &Center<T, B>) -> (Drift<T>, T) {
        let mut shift = T::zero();
        let mut lost = T::zero();
        for k in 0..B {
            let moved = now.coefficients[k] - self.center.coefficients[k];
            shift = shift + moved.abs() * self.reach[k];
            for l in 0..B {
                let moved = now.inverse[k][l] - self.center.inverse[k][l];
                lost = lost + moved.abs() * self.reach[k] * self.reach[l];
            }
        }
        if score == Score::Plain {
            lost = T::zero();
        }
        let left = self.least - lost;
        if !(left > T::zero()) {
            return (Drift { shift: T::infinity(), growth: T::one() }, T::zero());
        }
        let slack = T::one() + constant::<T>(SLACK) * T::epsilon();
        let growth = (self.least / left).sqrt() * slack;
        (Drift { shift: shift / self.least.sqrt(), growth }, left)
    }
}

/// The tree of blocks over a chain.
#[derive(Debug)]
pub(super) struct Tournament<'a, T, const B: usize> {
    pub(super) nodes: &'a mut [Node<T, B>],
    pub(super) score: Score,
    points: usize,
}

/// Nodes of a tree over `n` points.
pub(super) const fn tree_len(n: usize) -> usize {
    let mut level = n.div_ceil(BLOCK);
    let mut sum = level;
    while level > 1 {
        level = level.div_ceil(FAN);
        sum += level;
    }
    sum
}

impl<'a, T: Real, const B: usize> Tournament<'a, T, B> {
    pub(super) fn new(nodes: &'a mut [Node<T, B>], points: usize, score: Score) -> Self {
        Self { nodes: &mut nodes[..tree_len(points)], score, points }
    }

    /// Sums and bounds anew for all points; `offset` was taken off the data.
    pub(super) fn begin<G, const D: usize>(
        &mut self,
        cells: &[Cell<T, G, D, B>],
        basis: &Basis<T, B>,
        offset: T,
    ) {
        let leaves = self.leaves();
        for block in 0..leaves {
            self.renew_block(block, None, cells, basis, offset);
            self.renew_above(block, Some(block + 1).filter(|&next| next < leaves));
        }
    }

    /// Sums and bounds anew where point `removed` has left and the points of the
    /// list in `changed` have changed; it still knows its neighbours. Follows the list:
    /// points that left long ago
    /// cost nothing, however many there are side by side.
    pub(super) fn touch<G, const D: usize>(
        &mut self,
        changed: core::ops::Range<usize>,
        removed: usize,
        cells: &[Cell<T, G, D, B>],
        basis: &Basis<T, B>,
        offset: T,
    ) {
        let (high, own) = ((changed.end - 1) / BLOCK, removed / BLOCK);
        let mut block = changed.start / BLOCK;
        loop {
            let after = self.renew_block(block, Some(removed), cells, basis, offset);
            let listed = after.map(|i| i / BLOCK).filter(|&next| next <= high);
            // There may be no point of it left that the list leads to.
            let own = (block < own).then_some(own);
            let next = listed.into_iter().chain(own).min();
            self.renew_above(block, next);
            match next {
                Some(next) => block = next,
                None => return,
            }
        }
    }

    /// Blocks of points.
    fn leaves(&self) -> usize {
        self.points.div_ceil(BLOCK)
    }

    /// A block of points; gives the point of the list behind its last one, the removed
    /// one included.
    fn renew_block<G, const D: usize>(
        &mut self,
        block: usize,
        removed: Option<usize>,
        cells: &[Cell<T, G, D, B>],
        basis: &Basis<T, B>,
        offset: T,
    ) -> Option<usize> {
        let mut sums = Sums::zero();
        let start = block * BLOCK;
        let end = self.points.min(start + BLOCK);
        let mut after = NONE;
        for (i, cell) in cells[start..end].iter().enumerate() {
            if cell.is_in() {
                let scale = cell.deviation.recip();
                let columns = basis.at(cell.x).map(|b| b * scale);
                let y = cell.y * scale;
                sums.add_point(y, cell.residual, columns, &cell.basis_residual);
                sums.size = sums.size.max((y + offset * scale).abs());
            }
            if cell.is_in() || removed == Some(start + i) {
                after = cell.next;
            }
        }
        self.renew(block, sums);
        (after != NONE).then_some(after as usize)
    }

    /// The nodes above a block that are not above `next`, the next block to be
    /// renewed.
    fn renew_above(&mut self, block: usize, mut next: Option<usize>) {
        let (mut first, mut len, mut at) = (0, self.leaves(), block);
        while len > 1 {
            at /= FAN;
            next = next.map(|next| next / FAN);
            if next == Some(at) {
                return;
            }
            let mut sums = Sums::zero();
            for child in at * FAN..len.min((at + 1) * FAN) {
                sums.add(&self.nodes[first + child].sums);
            }
            self.renew(first + len + at, sums);
            (first, len) = (first + len, len.div_ceil(FAN));
        }
    }

    fn renew(&mut self, node: usize, sums: Sums<T, B>) {
        let node = &mut self.nodes[node];
        node.sums = sums;
        node.bound = T::infinity();
    }

    fn root(&self) -> &Node<T, B> {
        &self.nodes[self.nodes.len() - 1]
    }

    /// The coefficients of the unpenalised columns.
    pub(super) fn center(&self) -> Center<T, B> {
        self.root().sums.center()
    }

    /// $\lVert r \rVert_2$.
    pub(super) fn norm(&self, center: &Center<T, B>) -> T {
        self.root().sums.squares(&center.coefficients).max(T::zero()).sqrt()
    }

    /// The largest of the data, and the penalty $r^T f$ of the fit.
    pub(super) fn size_and_penalty(&self, center: &Center<T, B>) -> (T, T) {
        let sums = &self.root().sums;
        (sums.size, sums.penalty(&center.coefficients))
    }

    /// How far any score moves when the coefficients go from where they were at
    /// the last search to `now`.
    pub(super) fn drift(&self, now: &Center<T, B>) -> Drift<T> {
        self.root().drift(self.score, now).0
    }

    /// The point with the largest score, and the score; none if all are zero.
    /// `visit` is told the score of each point that is looked at: of all that have
    /// changed at least.
    pub(super) fn find<G, const D: usize>(
        &mut self,
        cells: &mut [Cell<T, G, D, B>],
        center: &Center<T, B>,
        visit: &mut impl FnMut(&mut Cell<T, G, D, B>, T),
    ) -> (Option<usize>, T) {
        let mut best = (u32::MAX, T::zero());
        let root = self.nodes.len() - 1;
        let leaves = self.leaves();
        self.open(root, root, leaves, cells, center, &mut best, visit);
        ((best.0 != u32::MAX).then_some(best.0 as usize), best.1)
    }

    /// The largest $|r_i|$, where points are compared by something else: no
    /// $H_{ii}$ is above one, so that it is at most the studentised score.
    pub(super) fn largest_residual<G, const D: usize>(
        &self,
        cells: &[Cell<T, G, D, B>],
        center: &Center<T, B>,
    ) -> T {
        let mut largest = T::zero();
        for (block, node) in self.nodes[..self.leaves()].iter().enumerate() {
            if node.drift(self.score, center).0.above(node.bound) <= largest {
                continue;
            }
            let end = self.points.min((block + 1) * BLOCK);
            for cell in cells[block * BLOCK..end].iter().filter(|cell| cell.is_in()) {
                largest = largest.max(center.of(cell).0.abs());
            }
        }
        largest
    }

    /// Looks into a node whose level begins at `first`, above levels over
    /// `leaves` blocks.
    #[allow(clippy::too_many_arguments)]
    fn open<G, const D: usize>(
        &mut self,
        node: usize,
        first: usize,
        leaves: usize,
        cells: &mut [Cell<T, G, D, B>],
        center: &Center<T, B>,
        best: &mut (u32, T),
        visit: &mut impl FnMut(&mut Cell<T, G, D, B>, T),
    ) {
        if first == 0 {
            self.play(node, cells, center, visit);
            let node = &self.nodes[node];
            if node.bound > best.1 {
                *best = (node.at, node.bound);
            }
            return;
        }
        // The level below.
        let (mut below, mut len) = (0, leaves);
        while below + len < first {
            (below, len) = (below + len, len.div_ceil(FAN));
        }
        let start = (node - first) * FAN;
        let children = below + start..below + len.min(start + FAN);
        let count = children.len();
        let mut bounds = [T::neg_infinity(); FAN];
        let mut bound = T::zero();
        for (child, bound) in self.nodes[children.clone()].iter().zip(&mut bounds) {
            *bound = child.drift(self.score, center).0.above(child.bound);
        }
        loop {
            let mut largest = 0;
            for k in 1..count {
                if bounds[k] > bounds[largest] {
                    largest = k;
                }
            }
            if !(bounds[largest] > best.1) {
                bound = bound.max(bounds[largest]);
                break;
            }
            self.open(children.start + largest, below, leaves, cells, center, best, visit);
            bound = bound.max(self.nodes[children.start + largest].bound);
            bounds[largest] = T::neg_infinity();
        }
        let mut reach = [T::zero(); B];
        let mut least = T::one();
        for child in children {
            let child = &self.nodes[child];
            for k in 0..B {
                reach[k] = reach[k].max(child.reach[k]);
            }
            least = least.min(child.drift(self.score, center).1);
        }
        let node = &mut self.nodes[node];
        (node.bound, node.reach, node.least, node.center) = (bound, reach, least, *center);
    }

    /// Scores of all points of a block.
    fn play<G, const D: usize>(
        &mut self,
        block: usize,
        cells: &mut [Cell<T, G, D, B>],
        center: &Center<T, B>,
        visit: &mut impl FnMut(&mut Cell<T, G, D, B>, T),
    ) {
        let mut best = (u32::MAX, T::zero());
        let mut reach = [T::zero(); B];
        let mut least = T::one();
        let start = block * BLOCK;
        let end = self.points.min(start + BLOCK);
        for (i, cell) in cells[start..end].iter_mut().enumerate() {
            if !cell.is_in() {
                continue;
            }
            let (residual, variance) = center.of(cell);
            let score = self.score.of(residual, variance);
            if score > best.1 {
                best = (super::cell::position(start + i), score);
            }
            let unit = match self.score {
                Score::Plain => T::one(),
                Score::Studentized => {
                    least = least.min(variance / cell.diagonal);
                    cell.diagonal.sqrt()
                }
            };
            for k in 0..B {
                reach[k] = reach[k].max(cell.basis_residual[k].abs() / unit);
            }
            visit(cell, score);
        }
        let node = &mut self.nodes[block];
        (node.at, node.bound) = best;
        (node.reach, node.least, node.center) = (reach, least, *center);
    }
}
