//! Input points: a flat slice and a dimension.

use crate::{Error, Real};

/// A borrowed list of points in $\mathbb{R}^{d}$, stored one after another.
///
/// Most functions take `impl Into<Points>`, so that a slice of numbers (points
/// on a line) or of fixed-size arrays can be given as it is:
///
/// ```
/// use kgard::Points;
/// let line = Points::from(&[0.0, 0.5, 1.0]);
/// let plane = Points::from(&[[0.0, 0.0], [0.0, 1.0]]);
/// let flat = Points::new(&[0.0, 0.0, 0.0, 1.0], 2)?;
/// assert_eq!((line.len(), plane.len(), flat.len()), (3, 2, 2));
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Points<'a, T> {
    coordinates: &'a [T],
    dim: usize,
}

impl<'a, T: Real> Points<'a, T> {
    /// Points of `dim` coordinates each.
    ///
    /// # Errors
    /// [`Error::Dimension`] if `dim` is zero or does not divide the length.
    pub const fn new(coordinates: &'a [T], dim: usize) -> Result<Self, Error> {
        if dim == 0 || !coordinates.len().is_multiple_of(dim) {
            return Err(Error::Dimension { expected: dim, found: coordinates.len() });
        }
        Ok(Self { coordinates, dim })
    }

    /// [`new`](Self::new) where the dimension is known to fit.
    pub(crate) const fn of_dim(coordinates: &'a [T], dim: usize) -> Self {
        Self { coordinates, dim }
    }

    /// Number of points.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.coordinates.len().checked_div(self.dim) {
            Some(len) => len,
            None => 0,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Coordinates per point.
    #[must_use]
    pub const fn dim(&self) -> usize {
        self.dim
    }

    /// All coordinates, point after point.
    #[must_use]
    pub const fn coordinates(&self) -> &'a [T] {
        self.coordinates
    }

    /// The points, each a slice of `dim` coordinates.
    pub fn iter(&self) -> core::slice::ChunksExact<'a, T> {
        self.coordinates.chunks_exact(self.dim.max(1))
    }

    /// The check at the door: at least one point, all coordinates finite.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.dim == 0 {
            return Err(Error::Dimension { expected: 0, found: 0 });
        }
        if self.is_empty() {
            return Err(Error::Empty { what: "list of points" });
        }
        Error::check_finite("coordinate", self.coordinates)
    }
}

impl<'a, T: Real> IntoIterator for &Points<'a, T> {
    type Item = &'a [T];
    type IntoIter = core::slice::ChunksExact<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Real> From<&'a [T]> for Points<'a, T> {
    fn from(coordinates: &'a [T]) -> Self {
        Self { coordinates, dim: 1 }
    }
}

impl<'a, T: Real, const N: usize> From<&'a [T; N]> for Points<'a, T> {
    fn from(coordinates: &'a [T; N]) -> Self {
        Self { coordinates, dim: 1 }
    }
}

impl<'a, T: Real, const D: usize> From<&'a [[T; D]]> for Points<'a, T> {
    fn from(points: &'a [[T; D]]) -> Self {
        Self { coordinates: points.as_flattened(), dim: D }
    }
}

impl<'a, T: Real, const D: usize, const N: usize> From<&'a [[T; D]; N]> for Points<'a, T> {
    fn from(points: &'a [[T; D]; N]) -> Self {
        Self { coordinates: points.as_flattened(), dim: D }
    }
}

#[cfg(feature = "alloc")]
impl<'a, T: Real> From<&'a alloc::vec::Vec<T>> for Points<'a, T> {
    fn from(coordinates: &'a alloc::vec::Vec<T>) -> Self {
        Self { coordinates, dim: 1 }
    }
}

#[cfg(feature = "alloc")]
impl<'a, T: Real, const D: usize> From<&'a alloc::vec::Vec<[T; D]>> for Points<'a, T> {
    fn from(points: &'a alloc::vec::Vec<[T; D]>) -> Self {
        Self { coordinates: points.as_flattened(), dim: D }
    }
}
