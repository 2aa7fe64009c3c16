//! Memory of one fit.

use super::system::scale;
use crate::checked::{copy, piece_mut, split_mut};
use crate::linalg::cholesky::Extending;
use crate::{Error, Real};

/// The caller's memory for one fit of `n` points with at most `k` outliers.
///
/// `k` is the length of the list of indices, and a cap on the outliers.
///
/// ```
/// use kgard::Workspace;
/// const N: usize = 64;
/// const K: usize = 8;
/// let mut scalars = [0.0_f32; Workspace::<f32>::len(N, K)];
/// let mut indices = [0; K];
/// let work = Workspace::new(N, &mut scalars, &mut indices)?;
/// # let _ = work;
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug)]
pub struct Workspace<'a, T> {
    residual: &'a mut [T],
    variances: &'a mut [T],
    values: &'a mut [T],
    factor: &'a mut [T],
    columns: &'a mut [T],
    indices: &'a mut [usize],
    /// What is left of the memory.
    rest: &'a mut [T],
}

impl<'a, T: Real> Workspace<'a, T> {
    /// Scalars that a fit of `n` points with at most `k` outliers takes: the
    /// residual and its variances, the outliers' values, the factor $L$ and the columns $W$
    /// with room for one more.
    #[must_use]
    pub const fn len(n: usize, k: usize) -> usize {
        let columns = n.saturating_mul(k.saturating_add(2));
        columns.saturating_add(Extending::<T>::len(k)).saturating_add(n).saturating_add(k)
    }

    /// Scalars that a fit with
    /// [sample weights](crate::Regularizer::with_sample_weights) takes: `n` more, for the
    /// whitened data.
    #[must_use]
    pub const fn weighted_len(n: usize, k: usize) -> usize {
        Self::len(n, k).saturating_add(n)
    }

    /// Divides up the caller's memory.
    ///
    /// # Errors
    /// [`Error::TooShort`] if there are fewer than
    /// [`len`](Self::len)`(n, indices.len())` scalars.
    pub fn new(n: usize, scalars: &'a mut [T], indices: &'a mut [usize]) -> Result<Self, Error> {
        // More outliers than points there cannot be.
        let k = indices.len().min(n);
        Error::check_at_least("workspace", scalars.len(), Self::len(n, k))?;
        let (residual, rest) = split_mut(scalars, n);
        let (variances, rest) = split_mut(rest, n);
        let (values, rest) = split_mut(rest, k);
        let (factor, rest) = split_mut(rest, Extending::<T>::len(k));
        let (columns, rest) = split_mut(rest, n * (k + 1));
        let indices = piece_mut(indices, 0, k);
        Ok(Self { residual, variances, values, factor, columns, indices, rest })
    }

    /// The data in units of each sample's noise, in memory of this workspace; none if
    /// there are no weights.
    pub(crate) fn whiten(&mut self, y: &[T], roots: &[T]) -> Result<Option<&'a [T]>, Error> {
        if roots.is_empty() {
            return Ok(None);
        }
        Error::check_len("y", y.len(), roots.len())?;
        let (rest, n) = (core::mem::take(&mut self.rest), y.len());
        if rest.len() < n {
            let len = Self::len(self.residual.len(), self.indices.len());
            let needed = len.saturating_add(n);
            return Err(Error::TooShort { what: "workspace", needed, found: len + rest.len() });
        }
        let white = piece_mut(rest, 0, n);
        copy(white, y);
        scale(white, roots);
        Ok(Some(white))
    }
}

/// Where the greedy loop keeps what it finds: borrowed memory of a fixed size,
/// or memory that grows.
pub(crate) trait Storage<T> {
    /// Makes room for `k` outliers, or says that there is none.
    fn reserve(&mut self, k: usize) -> bool;
    /// The memory.
    fn parts(&mut self) -> Parts<'_, T>;
}

/// The memory of the greedy loop, for a capacity of `k` outliers.
pub(crate) struct Parts<'a, T> {
    /// $r$, length `n`.
    pub(crate) residual: &'a mut [T],
    /// The diagonal of $H - W W^T$: the variances of the residual, for noise of
    /// variance one, as leave-one-out sees them; length `n`. Kept only where
    /// they are asked for.
    pub(crate) variances: &'a mut [T],
    /// First $L^{-1} (H y)_S$, in the end $u_S$; length `k`.
    pub(crate) values: &'a mut [T],
    /// The packed factor $L$ of $H_{SS}$.
    pub(crate) factor: &'a mut [T],
    /// The columns $W$, one after another, with room for one more.
    pub(crate) columns: &'a mut [T],
    /// $S$ in order of selection; length `k`.
    pub(crate) indices: &'a mut [usize],
}

impl<T: Real> Storage<T> for Workspace<'_, T> {
    fn reserve(&mut self, k: usize) -> bool {
        k <= self.indices.len()
    }

    fn parts(&mut self) -> Parts<'_, T> {
        Parts {
            residual: self.residual,
            variances: self.variances,
            values: self.values,
            factor: self.factor,
            columns: self.columns,
            indices: self.indices,
        }
    }
}

impl<'a, T: Real> Workspace<'a, T> {
    /// The memory again, once the loop is done.
    pub(crate) fn into_parts(self) -> Parts<'a, T> {
        let Self { residual, variances, values, factor, columns, indices, rest: _ } = self;
        Parts { residual, variances, values, factor, columns, indices }
    }
}

/// Memory that grows with the outliers, so that a fit of `n` points takes
/// O(n k) scalars whatever the cap.
#[cfg(feature = "alloc")]
pub(crate) struct Growing<T> {
    pub(crate) residual: alloc::vec::Vec<T>,
    pub(crate) variances: alloc::vec::Vec<T>,
    pub(crate) values: alloc::vec::Vec<T>,
    factor: alloc::vec::Vec<T>,
    columns: alloc::vec::Vec<T>,
    pub(crate) indices: alloc::vec::Vec<usize>,
}

#[cfg(feature = "alloc")]
impl<T: Real> Growing<T> {
    /// Memory for `n` points, with room for `k` outliers before it has to move.
    pub(crate) fn new(n: usize, k: usize) -> Self {
        use alloc::vec::Vec;
        let mut growing = Self {
            residual: alloc::vec![T::zero(); n],
            variances: alloc::vec![T::zero(); n],
            values: Vec::with_capacity(k),
            factor: Vec::with_capacity(Extending::<T>::len(k)),
            columns: Vec::with_capacity(n * (k + 1)),
            indices: Vec::with_capacity(k),
        };
        growing.resize(0);
        growing
    }

    fn resize(&mut self, k: usize) {
        let n = self.residual.len();
        self.values.resize(k, T::zero());
        self.factor.resize(Extending::<T>::len(k), T::zero());
        self.columns.resize(n * (k + 1), T::zero());
        self.indices.resize(k, 0);
    }
}

#[cfg(feature = "alloc")]
impl<T: Real> Storage<T> for Growing<T> {
    fn reserve(&mut self, k: usize) -> bool {
        if k > self.indices.len() {
            self.resize(k);
        }
        true
    }

    fn parts(&mut self) -> Parts<'_, T> {
        Parts {
            residual: &mut self.residual,
            variances: &mut self.variances,
            values: &mut self.values,
            factor: &mut self.factor,
            columns: &mut self.columns,
            indices: &mut self.indices,
        }
    }
}
