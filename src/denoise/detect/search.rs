//! The search for outliers in one region: Algorithm 1 on a residual maker that
//! knows which pixels can be outliers.

use crate::real::constant;
use crate::regression::greedy::{Score, search_by};
use crate::regression::workspace::Parts;
use crate::{Error, Progress, Real, ResidualMaker, StopReason, StopRule, Workspace};
use alloc::vec::Vec;

/// How far from the limit, as a part of it, a score leaves doubts.
pub(crate) const DOUBT: f64 = 0.2;

/// Points in a vector register.
const WHOLE: usize = 8;

/// Memory for searching one region after another.
pub(crate) struct Searcher<T> {
    n: usize,
    scalars: Vec<T>,
    indices: Vec<usize>,
    /// How much of each outlier is taken out.
    shares: Vec<T>,
    listed: List<T>,
}

/// The pixels of a region that matter, in their order.
struct List<T> {
    /// As many as there are, then room for all.
    points: Vec<usize>,
    pixels: Vec<T>,
    worth: Vec<T>,
    /// Places in the list of those known to be bad.
    known: Vec<usize>,
}

/// A region to be searched.
#[derive(Clone, Copy)]
pub(crate) struct Region<'a, T> {
    /// $H$ of its plan, row-major.
    pub(crate) maker: &'a [T],
    /// Its pixels.
    pub(crate) pixels: &'a [T],
    /// $H y$.
    pub(crate) residual: &'a [T],
    /// What pixels are worth as candidates for outliers; nothing if they can be none.
    pub(crate) worth: &'a [T],
    /// Pixels that are.
    pub(crate) known: &'a [usize],
    /// The studentised residual of an outlier, and what it is off by, at least.
    pub(crate) limit: T,
    pub(crate) size: T,
    /// So far from the limit, as a part of it, are points that are taken out in part.
    pub(crate) doubt: T,
}

/// What was found.
pub(crate) struct Found<'a, T> {
    pub(crate) indices: &'a mut [usize],
    /// What is taken out: of what leaves doubts a part.
    pub(crate) values: &'a [T],
    /// Which part.
    pub(crate) shares: &'a [T],
}

impl<T: Real> Searcher<T> {
    /// Memory for regions of `n` pixels.
    pub(crate) fn new(n: usize) -> Self {
        let scalars = alloc::vec![T::zero(); Workspace::<T>::len(n, n)];
        let listed = List {
            points: alloc::vec![0; n],
            pixels: Vec::with_capacity(n),
            worth: Vec::with_capacity(n),
            known: Vec::with_capacity(n),
        };
        let shares = Vec::with_capacity(n);
        Self { n, scalars, indices: alloc::vec![0; n], shares, listed }
    }

    /// Finds the outliers, until the largest studentised residual is within the limit. Residuals
    /// of pixels that can be no outliers are not computed, and they are most: the region is
    /// smoothed anew afterwards.
    pub(crate) fn search(&mut self, region: Region<'_, T>) -> Result<Found<'_, T>, Error> {
        let cap = self.cap();
        let shares = &mut self.shares;
        let List { points, pixels, worth, known } = &mut self.listed;
        known.clear();
        let mut count = 0;
        for (j, &worth) in region.worth.iter().enumerate() {
            let is_known = region.known.get(known.len()) == Some(&j);
            if is_known {
                known.push(count);
            }
            // Written in any case, and kept if it is to be: no jump to be guessed.
            points[count] = j;
            count += usize::from(worth > T::zero() || is_known);
        }
        // Whole vectors of points are quicker than some left over: what fills the last is
        // worth nothing.
        let listed = count;
        while count % WHOLE != 0 && count < self.n {
            points[count] = 0;
            count += 1;
        }
        let points = &points[..count];
        pixels.clear();
        pixels.extend(points.iter().map(|&j| region.pixels[j]));
        worth.clear();
        worth.extend(points[..listed].iter().map(|&j| region.worth[j]));
        worth.resize(count, T::zero());
        let mut rule = Extreme::new(&region, known.len(), cap, shares);
        let mut work = Workspace::new(points.len(), &mut self.scalars, &mut self.indices)?;
        let listed = Listed { region, points };
        let scores = Weighted { per_unit: region.size / region.limit, worth };
        let (k, _) = search_by(&listed, pixels, known, &mut rule, &scores, &mut work)?;
        let found = found(work, k, shares);
        for place in &mut *found.indices {
            *place = points[*place];
        }
        Ok(found)
    }

    /// With more than half of the pixels gone, the rest means nothing.
    fn cap(&self) -> usize {
        self.n / 2
    }
}

/// The first `k` outliers, each as far as it is taken out.
fn found<'a, T: Real>(work: Workspace<'a, T>, k: usize, shares: &'a [T]) -> Found<'a, T> {
    let Parts { values, indices, .. } = work.into_parts();
    for (value, &share) in values[..k].iter_mut().zip(shares) {
        *value = share * *value;
    }
    Found { indices: &mut indices[..k], values: &values[..k], shares: &shares[..k] }
}

/// The listed points of a region.
struct Listed<'a, T> {
    region: Region<'a, T>,
    points: &'a [usize],
}

impl<T: Real> ResidualMaker<T> for Listed<'_, T> {
    fn len(&self) -> usize {
        self.points.len()
    }

    fn residual(&self, _: &[T], out: &mut [T]) {
        for (out, &j) in out.iter_mut().zip(self.points) {
            *out = self.region.residual[j];
        }
    }

    fn column(&self, place: usize, out: &mut [T]) {
        let n = self.region.pixels.len();
        let column = &self.region.maker[self.points[place] * n..][..n];
        for (out, &j) in out.iter_mut().zip(self.points) {
            *out = column[j];
        }
    }

    fn diagonal(&self, out: &mut [T], _: &mut [T]) {
        for (out, &j) in out.iter_mut().zip(self.points) {
            *out = self.region.variance(j);
        }
    }
}

impl<T: Real> Region<'_, T> {
    fn variance(&self, j: usize) -> T {
        self.maker[j * self.pixels.len() + j]
    }
}

/// A studentised residual counts only as far as the pixel's leave-one-out residual is `per_unit`
/// times as much, and by the pixel's weight as a candidate.
///
/// $\min(\lvert r_j \rvert / \sqrt{H_{jj}}, \lvert r_j \rvert / (H_{jj} p))$, where $r_j / H_{jj}$ is
/// the residual of the fit without pixel $j$: where the function follows the data closely, $H_{jj}$
/// is small, and a residual that is extreme for the noise may still be that of a detail.
struct Weighted<'a, T> {
    /// The least magnitude of an outlier in units of the limit, the $p$ of the formula.
    per_unit: T,
    /// What the square of each score is multiplied with.
    worth: &'a [T],
}

impl<T: Real> Score<T> for Weighted<'_, T> {
    #[inline(always)]
    fn squares(&self, residual: &[T], variances: &[T], out: &mut [T]) {
        let squared = self.per_unit * self.per_unit;
        let points = out.iter_mut().zip(residual).zip(variances).zip(self.worth);
        for (((out, &r), &v), &worth) in points {
            let by_size = squared * v;
            let weight = if by_size > T::one() { by_size } else { T::one() };
            *out = r * r / (v * weight) * worth;
        }
    }
}

/// Until no studentised residual is beyond the limit. What is about as large as that is an
/// outlier or a detail, and who cannot tell does least harm by half of it: the part that is
/// taken out grows from nothing to all around the limit.
struct Extreme<'a, T> {
    limit: T,
    doubt: T,
    cap: usize,
    /// The part of each, in order of selection.
    shares: &'a mut Vec<T>,
}

impl<'a, T: Real> Extreme<'a, T> {
    /// For a region with so many outliers that are known, of which all is taken out.
    fn new(region: &Region<'_, T>, known: usize, cap: usize, shares: &'a mut Vec<T>) -> Self {
        shares.clear();
        shares.resize(known, T::one());
        Self { limit: region.limit, doubt: region.doubt, cap, shares }
    }
}

impl<T: Real> StopRule<T> for Extreme<'_, T> {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        let beyond = progress.extreme() / self.limit - T::one();
        if beyond <= -self.doubt {
            return Some(StopReason::Automatic);
        }
        let is_sure = beyond >= self.doubt;
        let half = constant::<T>(0.5);
        self.shares.push(if is_sure { T::one() } else { half + half * beyond / self.doubt });
        None
    }

    fn cap(&self) -> usize {
        self.cap
    }

    fn studentized(&self) -> bool {
        true
    }
}
