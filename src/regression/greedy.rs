//! Algorithm 1 of the paper: ridge regression alternating with the selection
//! of one outlier.
//!
//! With $r = H y$ to begin with, and $S$ empty, each step takes
//! $j = \arg\max |r_j|$ and
//!
//! $$ \begin{aligned} d &= L^{-1} H_{S,j}, \quad b = \sqrt{H_{jj} - d^T d}, \quad L \leftarrow \begin{bmatrix} L & 0 \ d^T & b \end{bmatrix} \ w &= (H e_j - W d) / b, \quad W \leftarrow [W \\; w] \ r &\leftarrow r - w \\, (r_j / b) \end{aligned} $$
//!
//! where $L L^T = H_{SS}$ and $W = H_{:,S} L^{-T}$, so that $d$ is simply row
//! $j$ of $W$. In the end $L L^T u = (H y)_S$ gives the outliers. The same
//! selections and the same solution as the normal equations of Algorithm 1,
//! at O(nk) a step.

use super::gross::{Origin, change_units};
use super::removal::{Removal, remove_until};
use super::stop::{Progress, StopReason, StopRule};
use super::workspace::{Parts, Storage};
use crate::checked::{entry, piece, piece_mut, set, split_mut};
use crate::linalg::cholesky::Extending;
use crate::linalg::simd::{Routine, dispatch, multiply_add};
use crate::linalg::vector::{largest, largest_of, subtract_combination};
use crate::real::constant;
use crate::{Error, Real};

/// The symmetric positive semi-definite matrix $H$ that makes residuals,
/// $r = H v$.
///
/// The greedy loop needs no more of it than this. A plan has $H$ at hand; a
/// [`System`](super::System) computes its columns when they are asked for;
/// bring your own for a structure that neither knows of.
pub trait ResidualMaker<T: Real> {
    /// Number of points.
    fn len(&self) -> usize;

    /// Whether there are no points.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The square roots of sample weights, if $H$ takes and gives data that are whitened by them:
    /// [`fit_on`](crate::fit_on) multiplies $y$ with them first. None unless told otherwise.
    fn roots(&self) -> &[T] {
        &[]
    }

    /// `out` $= H v$.
    fn residual(&self, v: &[T], out: &mut [T]);

    /// `out` $= H e_j$, column $j$ of $H$.
    fn column(&self, j: usize, out: &mut [T]);

    /// `out` $= \operatorname{diag} H$, for studentised selection. `scratch` has
    /// room for one column at least; as it stands, all columns are computed.
    fn diagonal(&self, out: &mut [T], scratch: &mut [T]) {
        let n = self.len();
        for (j, entry) in out.iter_mut().enumerate() {
            self.column(j, &mut scratch[..n]);
            *entry = scratch[j];
        }
    }
}

/// Columns' worth of scratch that a search offers to
/// [`ResidualMaker::diagonal`], where its memory grows.
const DIAGONAL_COLUMNS: usize = 20;

/// Algorithm 1 for `y` on a `maker` that gives the residual of any vector: runs
/// until `rule` says so, and gives the number of outliers and why it ended. In
/// the storage are the outliers and, as values, the fitted values there, which
/// are right to rounding whatever the sizes of the outliers: see
/// [`gross`](super::gross).
pub(crate) fn fit<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    rule: &mut impl StopRule<T>,
    storage: &mut impl Storage<T>,
) -> Result<(usize, StopReason), Error> {
    rule.validate()?;
    let mut origin = Origin::start(maker, y, storage)?;
    prepare(maker, rule.studentized(), storage)?;
    let (k, reason) = select(maker, y, 0, rule, &Studentized, Some(&mut origin), storage);
    origin.finish(maker, k, storage)?;
    Ok((k, reason))
}

/// The same with a support that is known: the least-squares fit with the
/// points `support` taken out.
pub(crate) fn fit_support<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    support: &[usize],
    storage: &mut impl Storage<T>,
) -> Result<usize, Error> {
    check_support(maker.len(), support)?;
    let origin = Origin::start(maker, y, storage)?;
    prepare(maker, false, storage)?;
    let k = take_out_all(maker, support, false, storage)?;
    origin.finish(maker, k, storage)?;
    Ok(k)
}

/// The loop on a `maker` that may know the residual of this `y` only, and for
/// points `known` to be outliers: values in the storage are the outliers'
/// values, and the residual carries the rounding of the largest of them.
#[cfg(feature = "alloc")]
pub(crate) fn search<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    known: &[usize],
    rule: &mut impl StopRule<T>,
    storage: &mut impl Storage<T>,
) -> Result<(usize, StopReason), Error> {
    search_by(maker, y, known, rule, &Studentized, storage)
}

/// The same with a score of one's own for the selection.
#[cfg(feature = "alloc")]
pub(crate) fn search_by<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    known: &[usize],
    rule: &mut impl StopRule<T>,
    score: &impl Score<T>,
    storage: &mut impl Storage<T>,
) -> Result<(usize, StopReason), Error> {
    rule.validate()?;
    let k = with_residual(maker, y, known, rule.studentized(), storage)?;
    let (k, reason) = select(maker, y, k, rule, score, None, storage);
    solve_outliers(k, &mut storage.parts());
    Ok((k, reason))
}

/// The score by which points are selected where residuals are studentised.
pub(crate) trait Score<T> {
    /// The squares of all scores, from the residual and its variances for noise of variance one.
    /// Inlined into the loop, so that it is compiled for the processor's instruction set.
    fn squares(&self, residual: &[T], variances: &[T], out: &mut [T]);
}

/// The studentised residual, $r_j^2 / H_{jj}$.
struct Studentized;

impl<T: Real> Score<T> for Studentized {
    #[inline(always)]
    fn squares(&self, residual: &[T], variances: &[T], out: &mut [T]) {
        for ((out, &r), &v) in out.iter_mut().zip(residual).zip(variances) {
            *out = r * r / v;
        }
    }
}

/// The same with a support that is known, and with the variances of the
/// residual.
#[cfg(feature = "alloc")]
pub(crate) fn with_support<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    support: &[usize],
    with_variances: bool,
    storage: &mut impl Storage<T>,
) -> Result<usize, Error> {
    let k = with_residual(maker, y, support, with_variances, storage)?;
    solve_outliers(k, &mut storage.parts());
    Ok(k)
}

/// $r = H y$, and the points `support` taken out.
#[cfg(feature = "alloc")]
fn with_residual<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    support: &[usize],
    with_variances: bool,
    storage: &mut impl Storage<T>,
) -> Result<usize, Error> {
    check_support(maker.len(), support)?;
    check(maker, y, storage)?;
    maker.residual(y, storage.parts().residual);
    prepare(maker, with_variances, storage)?;
    take_out_all(maker, support, with_variances, storage)
}

/// The loop: takes out one point after the other, after the first `k`. With an
/// `origin` the residual is computed anew where rounding takes over.
fn select<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    k: usize,
    rule: &mut impl StopRule<T>,
    score: &impl Score<T>,
    origin: Option<&mut Origin<'_, T>>,
    storage: &mut impl Storage<T>,
) -> (usize, StopReason) {
    let studentized = rule.studentized();
    let mut dense = Dense { maker, y, k, studentized, score, origin, storage };
    let reason = remove_until(&mut dense, rule);
    (dense.k, reason)
}

/// The points of a residual maker, `k` of which are taken out.
struct Dense<'a, 'o, T, M, C, S> {
    maker: &'a M,
    y: &'a [T],
    k: usize,
    studentized: bool,
    score: &'a C,
    origin: Option<&'a mut Origin<'o, T>>,
    storage: &'a mut S,
}

impl<T, M, C, S> Removal<T> for Dense<'_, '_, T, M, C, S>
where
    T: Real,
    M: ResidualMaker<T>,
    C: Score<T>,
    S: Storage<T>,
{
    fn len(&self) -> usize {
        self.maker.len()
    }

    fn removed(&self) -> usize {
        self.k
    }

    fn next(&mut self) -> (Option<usize>, T) {
        loop {
            let Parts { residual, variances, columns, .. } = self.storage.parts();
            let (j, extreme) = if self.studentized {
                let scratch = piece_mut(columns, self.k * residual.len(), residual.len());
                most_extreme(residual, variances, self.score, scratch)
            } else {
                largest(residual)
            };
            if let Some(origin) = &mut self.origin
                && origin.is_spent(extreme)
                && origin.renew(self.maker, self.k, constant(2.0), self.storage)
            {
                continue;
            }
            return (j, extreme);
        }
    }

    fn check(&mut self, extreme: T, rule: &mut impl StopRule<T>) -> Option<StopReason> {
        let Parts { residual, variances, columns, indices, .. } = self.storage.parts();
        let scratch = piece_mut(columns, self.k * residual.len(), residual.len());
        let variances = if self.studentized { &*variances } else { &[] };
        // The rule is shown what it knows: units of the data.
        let unit = self.origin.as_ref().map_or(T::one(), |origin| origin.unit_for(extreme));
        if unit != T::one() {
            change_units(residual, unit, T::mul);
        }
        let outliers = piece(indices, 0, self.k);
        let extreme = extreme * unit;
        let (data, summary) = (self.y, None);
        let mut progress =
            Progress { residual, variances, outliers, extreme, data, scratch, summary };
        let met = rule.check(&mut progress);
        if unit != T::one() {
            change_units(residual, unit, T::div);
        }
        met
    }

    fn reserve(&mut self) -> bool {
        self.storage.reserve(self.k + 1)
    }

    fn remove(&mut self, j: usize) -> bool {
        let taken = take_out(self.maker, j, self.k, self.studentized, self.storage.parts());
        self.k += usize::from(taken.is_ok());
        taken.is_ok()
    }
}

/// The check at the door: indices in range, none twice.
fn check_support(n: usize, support: &[usize]) -> Result<(), Error> {
    for (i, &index) in support.iter().enumerate() {
        if index >= n {
            return Err(Error::Index { index, len: n });
        }
        if support[..i].contains(&index) {
            return Err(Error::Duplicate { index });
        }
    }
    Ok(())
}

/// The check at the door: lengths that fit, and finite data.
pub(super) fn check<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    storage: &mut impl Storage<T>,
) -> Result<(), Error> {
    let points = storage.parts().residual.len();
    Error::check_len("y", y.len(), maker.len())?;
    Error::check_len("workspace's number of points", points, maker.len())?;
    Error::check_finite("y", y)
}

/// With a first residual in place: the variances, if they are asked for.
fn prepare<T: Real>(
    maker: &impl ResidualMaker<T>,
    with_variances: bool,
    storage: &mut impl Storage<T>,
) -> Result<(), Error> {
    if with_variances {
        storage.reserve(DIAGONAL_COLUMNS);
        let Parts { variances, columns, .. } = storage.parts();
        maker.diagonal(variances, columns);
    }
    match Error::check_finite("residual", storage.parts().residual) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::Overflow { what: "the residual" }),
    }
}

/// Takes the points `support` out, one after the other.
fn take_out_all<T: Real>(
    maker: &impl ResidualMaker<T>,
    support: &[usize],
    with_variances: bool,
    storage: &mut impl Storage<T>,
) -> Result<usize, Error> {
    for (k, &j) in support.iter().enumerate() {
        if !storage.reserve(k + 1) {
            return Err(Error::TooShort { what: "workspace", needed: support.len(), found: k });
        }
        take_out(maker, j, k, with_variances, storage.parts())?;
    }
    Ok(support.len())
}

/// The point of the largest score and that score; none if all are zero.
fn most_extreme<T: Real>(
    residual: &[T],
    variances: &[T],
    score: &impl Score<T>,
    scratch: &mut [T],
) -> (Option<usize>, T) {
    let (at, squared) = dispatch(MostExtreme { residual, variances, score, out: scratch });
    (at, squared.sqrt())
}

struct MostExtreme<'a, T, C> {
    residual: &'a [T],
    variances: &'a [T],
    score: &'a C,
    out: &'a mut [T],
}

impl<T: Real, C: Score<T>> Routine for MostExtreme<'_, T, C> {
    /// Where the largest is, and what it is.
    type Output = (Option<usize>, T);
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Self::Output {
        self.score.squares(self.residual, self.variances, self.out);
        largest_of::<T, FUSED>(self.out)
    }
}

/// One step: point `j` becomes outlier number `k`.
// Called in several places and long: one copy is shorter, and on a device faster.
#[inline(never)]
fn take_out<T: Real>(
    maker: &impl ResidualMaker<T>,
    j: usize,
    k: usize,
    with_variances: bool,
    parts: Parts<'_, T>,
) -> Result<(), Error> {
    let Parts { residual, variances, values, factor, columns, indices } = parts;
    let n = residual.len();
    let (found, w) = split_mut(columns, k * n);
    let w = piece_mut(w, 0, n);
    maker.column(j, w);

    let mut factor = Extending::resume(factor, k);
    let row = (0..k).map(|column| entry(found, column * n + j));
    let b = factor.push_solved(row, entry(w, j))?;
    let length = entry(residual, j) / b;
    let variances = if with_variances { variances } else { &mut [] };
    dispatch(Step { residual, variances, found, d: factor.last_row(), b, length, w });

    // Exactly: what is taken out has no residual, now and later.
    set(residual, j, T::zero());
    for &s in piece(indices, 0, k) {
        set(w, s, T::zero());
        set(residual, s, T::zero());
    }
    set(values, k, length);
    set(indices, k, j);
    Ok(())
}

/// $w = (H e_j - W d) / b$ and $r \leftarrow r - w \\, (r_j / b)$. The residual
/// maker without the outliers is $H - W W^T$, so that the variances, where they
/// are kept, lose $w^2$.
struct Step<'a, T> {
    residual: &'a mut [T],
    variances: &'a mut [T],
    found: &'a [T],
    d: &'a [T],
    b: T,
    /// $r_j / b$.
    length: T,
    w: &'a mut [T],
}

impl<T: Real> Routine for Step<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { residual, variances, found, d, b, length, w } = self;
        subtract_combination::<T, FUSED>(w, d, found);
        let scale = b.recip();
        for (w, r) in w.iter_mut().zip(residual) {
            *w = *w * scale;
            *r = multiply_add::<T, FUSED>(-length, *w, *r);
        }
        let least = T::epsilon();
        for (v, &w) in variances.iter_mut().zip(&*w) {
            let (rest, floor) = (*v - w * w, least * *v);
            *v = if rest > floor { rest } else { floor };
        }
    }
}

/// $L^T u = L^{-1} (H y)_S$, whose right-hand side the steps have collected.
pub(super) fn solve_outliers<T: Real>(k: usize, parts: &mut Parts<'_, T>) {
    Extending::resume(parts.factor, k).solve_upper(piece_mut(parts.values, 0, k));
}
