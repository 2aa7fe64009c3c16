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
    let coordinates = points.coordinates();
    match points.dim() {
        1 => lower(&coordinates.as_chunks::<1>().0.iter(), kernel, n, out)?,
        2 => lower(&coordinates.as_chunks::<2>().0.iter(), kernel, n, out)?,
        3 => lower(&coordinates.as_chunks::<3>().0.iter(), kernel, n, out)?,
        _ => lower(&points.iter(), kernel, n, out)?,
    }
    mirror_lower(out, n);
    Ok(())
}

/// The lower triangle. The low dimensions come as arrays, whose loops the
/// compiler unrolls.
fn lower<'a, T: Real, P: AsRef<[T]> + ?Sized + 'a>(
    points: &(impl Iterator<Item = &'a P> + Clone),
    kernel: &impl Kernel<T>,
    n: usize,
    out: &mut [T],
) -> Result<(), Error> {
    for (i, (a, row)) in points.clone().zip(out.chunks_exact_mut(n)).enumerate() {
        for (j, (b, entry)) in points.clone().zip(&mut row[..=i]).enumerate() {
            *entry = checked(kernel, a.as_ref(), b.as_ref(), i, j)?;
        }
    }
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
        for (j, (b, entry)) in b.iter().zip(row).enumerate() {
            *entry = checked(kernel, a, b, i, j)?;
        }
    }
    Ok(())
}

/// The kernel's value, if it is a number.
#[inline]
fn checked<T: Real>(
    kernel: &impl Kernel<T>,
    a: &[T],
    b: &[T],
    row: usize,
    column: usize,
) -> Result<T, Error> {
    let value = kernel.evaluate(a, b);
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Error::Kernel { row, column, value: as_f64(value) })
    }
}
