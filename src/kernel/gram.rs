//! Gram matrices: a kernel between all pairs of points.

use super::Kernel;
use crate::error::as_f64;
use crate::linalg::mirror_lower;
use crate::{Error, Points, Real};

/// Writes the Gram matrix $K_{ij} = \kappa(x_i, x_j)$ to `out` (row-major,
/// exactly symmetric: one half is evaluated and mirrored).
///
/// # Errors
/// If the points, the kernel's parameters or the length of `out` are wrong.
pub fn gram<'a, T: Real>(
    points: impl Into<Points<'a, T>>,
    kernel: &impl Kernel<T>,
    out: &mut [T],
) -> Result<(), Error> {
    let points = points.into();
    points.check()?;
    kernel.check()?;
    kernel.check_dim(points.dim())?;
    let n = points.len();
    Error::check_square("Gram matrix", out.len(), n)?;
    let (coordinates, dim) = (points.coordinates(), points.dim());
    for (i, (a, row)) in points.iter().zip(out.chunks_exact_mut(n)).enumerate() {
        let before = Points::of_dim(&coordinates[..(i + 1) * dim], dim);
        checked_row(kernel, a, before, i, &mut row[..=i])?;
    }
    mirror_lower(out, n);
    Ok(())
}

/// Writes the kernel between the points `a` (rows) and `b` (columns) to `out`.
///
/// # Errors
/// If the points, the kernel's parameters or the length of `out` are wrong, or
/// the points have different dimensions.
pub fn cross_gram<'a, 'b, T: Real>(
    a: impl Into<Points<'a, T>>,
    b: impl Into<Points<'b, T>>,
    kernel: &impl Kernel<T>,
    out: &mut [T],
) -> Result<(), Error> {
    let (a, b) = (a.into(), b.into());
    a.check()?;
    b.check()?;
    kernel.check()?;
    if a.dim() != b.dim() {
        return Err(Error::Dimension { expected: a.dim(), found: b.dim() });
    }
    kernel.check_dim(a.dim())?;
    let entries = a.len().checked_mul(b.len()).ok_or(Error::TooLarge { scalars: usize::MAX })?;
    Error::check_len("Gram matrix", out.len(), entries)?;
    for (i, (a, row)) in a.iter().zip(out.chunks_exact_mut(b.len())).enumerate() {
        checked_row(kernel, a, b, i, row)?;
    }
    Ok(())
}

/// Row number `row` of a matrix, if its entries are numbers.
#[inline]
fn checked_row<T: Real>(
    kernel: &impl Kernel<T>,
    a: &[T],
    points: Points<'_, T>,
    row: usize,
    out: &mut [T],
) -> Result<(), Error> {
    kernel.evaluate_row(a, points, out);
    match out.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(column) => Err(Error::Kernel { row, column, value: as_f64(out[column]) }),
    }
}
