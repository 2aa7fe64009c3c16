//! The rank-one extension: one more row and column of $A$.
//!
//! $$ \begin{bmatrix} A & a \\\\ a^T & \alpha \end{bmatrix} = \begin{bmatrix} L & 0 \\\\ d^T & b \end{bmatrix} \begin{bmatrix} L^T & d \\\\ 0 & b \end{bmatrix}, \qquad L d = a, \quad b = \sqrt{\alpha - d^T d} $$
//!
//! (the paper's "Efficient Implementations"). The factor is stored packed, row
//! after row, so that a row is appended where the last one ended: nothing
//! moves and nothing is allocated.

use crate::checked::{entry, piece, piece_mut, set, split_mut};
use crate::{Error, Real};

/// A Cholesky factor that grows by one row at a time, in the caller's memory.
///
/// ```
/// use kgard::linalg::cholesky::Extending;
/// let mut memory = [0.0; Extending::<f64>::len(2)];
/// let mut factor = Extending::new(&mut memory);
/// factor.push(&[], 4.0)?; // A = [4]
/// factor.push(&[2.0], 10.0)?; // A = [4 2; 2 10]
/// let mut x = [8.0, 22.0];
/// factor.solve(&mut x)?;
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug)]
pub struct Extending<'a, T> {
    packed: &'a mut [T],
    size: usize,
}

impl<'a, T: Real> Extending<'a, T> {
    /// Scalars that a factor of `k` rows takes.
    #[must_use]
    pub const fn len(k: usize) -> usize {
        // One of the two factors is even; a length beyond usize saturates.
        let (half, other) = if k.is_multiple_of(2) { (k / 2, k + 1) } else { (k / 2 + 1, k) };
        half.saturating_mul(other)
    }

    /// An empty factor in `memory`.
    pub fn new(memory: &'a mut [T]) -> Self {
        Self { packed: memory, size: 0 }
    }

    /// The factor of `size` rows that is in `memory` already.
    pub(crate) fn resume(memory: &'a mut [T], size: usize) -> Self {
        Self { packed: memory, size }
    }

    /// Rows so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Row `i` of `L`, up to its diagonal.
    fn row(&self, i: usize) -> &[T] {
        piece(self.packed, Self::len(i), i + 1)
    }

    /// Extends $A$ by the column `a` above the diagonal entry `diagonal`.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] if the extended matrix is not positive
    /// definite, and the factor stays as it was; [`Error::Length`] if `a` is
    /// not as long as the factor is large; [`Error::TooShort`] if the memory
    /// is full.
    pub fn push(&mut self, a: &[T], diagonal: T) -> Result<(), Error> {
        let k = self.size;
        Error::check_len("column", a.len(), k)?;
        Error::check_at_least("memory of the factor", self.packed.len(), Self::len(k + 1))?;
        let (rows, d) = self.packed.split_at_mut(Self::len(k));
        for i in 0..k {
            let row = &rows[Self::len(i)..][..=i];
            let known = row[..i].iter().zip(&*d).fold(a[i], |sum, (&l, &d)| sum - l * d);
            d[i] = known / row[i];
        }
        self.close_row(diagonal).map(|_| ())
    }

    /// Extends by a row `d` that is known already: here $d = L^{-1} a$ has
    /// been found on the way. Gives the new diagonal entry `b`.
    pub(crate) fn push_solved(
        &mut self,
        d: impl Iterator<Item = T>,
        diagonal: T,
    ) -> Result<T, Error> {
        for (entry, d) in piece_mut(self.packed, Self::len(self.size), self.size).iter_mut().zip(d)
        {
            *entry = d;
        }
        self.close_row(diagonal)
    }

    /// The last row so far, without its diagonal entry.
    pub(crate) fn last_row(&self) -> &[T] {
        let before = self.size.saturating_sub(1);
        piece(self.packed, Self::len(before), before)
    }

    /// With `d` in place behind the last row: $b = \sqrt{\alpha - d^T d}$.
    fn close_row(&mut self, diagonal: T) -> Result<T, Error> {
        let k = self.size;
        let row = piece_mut(self.packed, Self::len(k), k + 1);
        let squared = row.iter().take(k).fold(diagonal, |sum, &d| sum - d * d);
        // What is left must be more than the rounding of what was taken away.
        let rounding = diagonal.abs() * T::epsilon() * crate::real::count(k + 1);
        if !(squared > rounding && squared.is_finite()) {
            return Err(Error::not_positive_definite(k, squared));
        }
        let b = squared.sqrt();
        set(row, k, b);
        self.size += 1;
        Ok(b)
    }

    /// Solves $L L^T x = b$ in place.
    ///
    /// # Errors
    /// [`Error::Length`] if `x` is not as long as the factor is large.
    pub fn solve(&self, x: &mut [T]) -> Result<(), Error> {
        Error::check_len("right-hand side", x.len(), self.size)?;
        self.solve_lower(x);
        self.solve_upper(x);
        Ok(())
    }

    /// Solves $L x = b$ in place.
    pub(crate) fn solve_lower(&self, x: &mut [T]) {
        for i in 0..self.size {
            let row = self.row(i);
            let start = entry(x, i);
            let known = row.iter().zip(&*x).take(i).fold(start, |sum, (&l, &x)| sum - l * x);
            set(x, i, known / entry(row, i));
        }
    }

    /// Solves $L^T x = b$ in place.
    pub(crate) fn solve_upper(&self, x: &mut [T]) {
        for i in (0..self.size).rev() {
            let row = self.row(i);
            let here = entry(x, i) / entry(row, i);
            set(x, i, here);
            for (x, &l) in split_mut(x, i).0.iter_mut().zip(row) {
                *x = *x - l * here;
            }
        }
    }
}
