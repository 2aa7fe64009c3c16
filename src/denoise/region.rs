//! The search for outliers in one region: Algorithm 1 on a residual maker that
//! knows which pixels can be outliers.

use super::Detection;
use crate::regression::greedy::search;
use crate::regression::workspace::Parts;
use crate::{Error, Progress, Real, ResidualMaker, Stop, StopReason, StopRule, Workspace};
use alloc::vec::Vec;

/// Memory for searching one region after another.
pub(super) struct Searcher<T> {
    n: usize,
    scalars: Vec<T>,
    indices: Vec<usize>,
}

/// A region to be searched.
#[derive(Clone, Copy)]
pub(super) struct Region<'a, T> {
    /// $H$ of its plan, row-major.
    pub(super) maker: &'a [T],
    /// Its pixels.
    pub(super) pixels: &'a [T],
    /// $H y$.
    pub(super) residual: &'a [T],
    /// Pixels that can be outliers.
    pub(super) eligible: &'a [bool],
    /// Pixels that are.
    pub(super) known: &'a [usize],
}

/// What was found.
pub(super) struct Found<'a, T> {
    pub(super) indices: &'a [usize],
    pub(super) values: &'a [T],
    pub(super) residual: &'a [T],
}

impl<T: Real> Searcher<T> {
    /// Memory for regions of `n` pixels.
    pub(super) fn new(n: usize) -> Self {
        let scalars = alloc::vec![T::zero(); Workspace::<T>::len(n, n)];
        Self { n, scalars, indices: alloc::vec![0; n] }
    }

    /// Finds the outliers: until the largest studentised residual is within
    /// `limit`, or until the paper's rule says so.
    pub(super) fn search(
        &mut self,
        region: Region<'_, T>,
        detection: Detection<T>,
        limit: T,
    ) -> Result<Found<'_, T>, Error> {
        // With more than half of the pixels gone, the rest means nothing.
        let cap = self.n / 2;
        let mut work = Workspace::new(self.n, &mut self.scalars, &mut self.indices)?;
        let Region { pixels, known, .. } = region;
        let (k, _) = match detection {
            Detection::Automatic => {
                search(&region, pixels, known, &mut Extreme { limit, cap }, &mut work)?
            }
            Detection::Histogram { e0, reading } => {
                let mut stop = Stop::histogram(e0, reading).at_most(cap);
                search(&region, pixels, known, &mut stop, &mut work)?
            }
            Detection::MaxResidual(epsilon) => {
                let mut stop = Stop::max_residual(epsilon).at_most(cap);
                search(&region, pixels, known, &mut stop, &mut work)?
            }
        };
        let Parts { residual, values, indices, .. } = work.into_parts();
        Ok(Found { indices: &indices[..k], values: &values[..k], residual })
    }
}

impl<T: Real> ResidualMaker<T> for Region<'_, T> {
    fn len(&self) -> usize {
        self.pixels.len()
    }

    fn residual(&self, _: &[T], out: &mut [T]) {
        out.copy_from_slice(self.residual);
    }

    fn column(&self, j: usize, out: &mut [T]) {
        let n = self.len();
        out.copy_from_slice(&self.maker[j * n..][..n]);
    }

    /// A pixel that cannot be an outlier has an infinite variance: no residual
    /// of it is extreme.
    fn diagonal(&self, out: &mut [T], _: &mut [T]) {
        let n = self.len();
        for (j, (out, &eligible)) in out.iter_mut().zip(self.eligible).enumerate() {
            *out = if eligible { self.maker[j * n + j] } else { T::infinity() };
        }
    }
}

/// Until no studentised residual is beyond the limit.
struct Extreme<T> {
    limit: T,
    cap: usize,
}

impl<T: Real> StopRule<T> for Extreme<T> {
    fn check(&mut self, progress: &mut Progress<'_, T>) -> Option<StopReason> {
        (progress.extreme() <= self.limit).then_some(StopReason::Automatic)
    }

    fn cap(&self) -> usize {
        self.cap
    }

    fn studentized(&self) -> bool {
        true
    }
}
