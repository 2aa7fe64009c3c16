//! Fits in files.

use super::found::Found;
use super::low_rank::LowRankFit;
use super::regions::{Part, RegionsFit};
use super::tree::Tree;
use super::{Exact, Function, SpaceFit, Way};
use crate::serial::{Refused, read_by_shadow};
use crate::{Error, Fit, Kernel, Points, Real};
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<T: Real> Found<T> {
    fn check(&self) -> Result<(), Error> {
        let n = self.fitted.len();
        Error::check_len("residual", self.residual.len(), n)?;
        Error::check_finite("residual", &self.residual)?;
        Error::check_finite("fitted values", &self.fitted)?;
        for outlier in &self.outliers {
            if outlier.index >= n {
                return Err(Error::Index { index: outlier.index, len: n });
            }
            Error::check_finite("outlier", &[outlier.value])?;
        }
        Ok(())
    }
}

/// What both have.
fn check<T: Real, K: Kernel<T>>(
    kernel: &K,
    dim: usize,
    lambda: T,
    noise: T,
    found: &Found<T>,
) -> Result<(), Error> {
    kernel.check()?;
    kernel.check_dim(dim)?;
    Error::check_positive("lambda", lambda)?;
    Error::check_not_negative("noise", noise)?;
    found.check()
}

#[derive(Deserialize)]
#[serde(rename = "LowRankFit")]
struct LowRankShadow<T, K> {
    kernel: K,
    lambda: T,
    pivots: Vec<T>,
    dim: usize,
    bias: T,
    coefficients: Vec<T>,
    factor: Vec<T>,
    inverse: Vec<T>,
    noise: T,
    found: Found<T>,
}

impl<T: Real, K: Kernel<T>> TryFrom<LowRankShadow<T, K>> for LowRankFit<T, K> {
    type Error = Refused;

    fn try_from(read: LowRankShadow<T, K>) -> Result<Self, Refused> {
        let LowRankShadow { kernel, lambda, pivots, dim, bias, coefficients, .. } = read;
        let LowRankShadow { factor, inverse, noise, found, .. } = read;
        check(&kernel, dim, lambda, noise, &found)?;
        let m = coefficients.len();
        // A constant function has no pivots.
        if m > 0 {
            Points::new(&pivots, dim)?.check()?;
        }
        for (what, values, len) in [
            ("pivots", &pivots, m.checked_mul(dim)),
            ("factor", &factor, m.checked_mul(m)),
            ("inverse", &inverse, (m + 1).checked_mul(m + 1)),
        ] {
            let len = len.ok_or(Error::TooLarge { scalars: usize::MAX })?;
            Error::check_len(what, values.len(), len)?;
            Error::check_finite(what, values)?;
        }
        Error::check_finite("coefficients", &coefficients)?;
        Error::check_finite("bias", &[bias])?;
        (0..m).try_for_each(|i| Error::check_positive("factor", factor[i * m + i]))?;
        Ok(Self { kernel, lambda, pivots, dim, bias, coefficients, factor, inverse, noise, found })
    }
}

read_by_shadow!(LowRankShadow<T, K> => LowRankFit<T, K>, T: Real, K: Kernel<T>);

#[derive(Deserialize)]
#[serde(rename = "RegionsFit")]
struct RegionsShadow<T, K> {
    kernel: K,
    lambda: T,
    dim: usize,
    tree: Tree<T>,
    parts: Vec<Part<T>>,
    noise: T,
    found: Found<T>,
}

impl<T: Real, K: Kernel<T>> TryFrom<RegionsShadow<T, K>> for RegionsFit<T, K> {
    type Error = Refused;

    fn try_from(read: RegionsShadow<T, K>) -> Result<Self, Refused> {
        let RegionsShadow { kernel, lambda, dim, tree, parts, noise, found } = read;
        check(&kernel, dim, lambda, noise, &found)?;
        let mut seen = vec![false; parts.len()];
        if !tree.is_sound(dim, &mut seen) || !seen.iter().all(|&seen| seen) {
            return Err(Refused::Parts("the tree does not have one cell for each region"));
        }
        for part in &parts {
            let points = Points::new(&part.points, dim)?;
            points.check()?;
            Error::check_len("coefficients", part.coefficients.len(), points.len())?;
            Error::check_finite("coefficients", &part.coefficients)?;
            Error::check_finite("bias", &[part.bias])?;
        }
        Ok(Self { kernel, lambda, dim, tree, parts, noise, found })
    }
}

read_by_shadow!(RegionsShadow<T, K> => RegionsFit<T, K>, T: Real, K: Kernel<T>);

#[derive(Deserialize)]
#[serde(
    rename = "SpaceFit",
    bound(deserialize = "T: Real + Deserialize<'de>, K: Kernel<T> + Deserialize<'de>")
)]
struct SpaceShadow<T, K> {
    way: Way<T>,
    lambda: T,
    function: Function<T, K>,
}

impl<T: Real, K: Kernel<T>> TryFrom<SpaceShadow<T, K>> for SpaceFit<T, K> {
    type Error = Error;

    fn try_from(read: SpaceShadow<T, K>) -> Result<Self, Error> {
        let SpaceShadow { way, lambda, function } = read;
        Error::check_positive("lambda", lambda)?;
        Ok(Self { way, lambda, function })
    }
}

read_by_shadow!(SpaceShadow<T, K> => SpaceFit<T, K>, T: Real, K: Kernel<T>);

/// A dense fit says what it found itself.
impl<T: Serialize, K: Serialize> Serialize for Exact<T, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fit.serialize(serializer)
    }
}

impl<'de, T, K> Deserialize<'de> for Exact<T, K>
where
    T: Real + Deserialize<'de>,
    K: Kernel<T> + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fit::deserialize(deserializer).map(Self::new)
    }
}

impl<T: Real> Tree<T> {
    /// Whether inputs and cells exist, each cell once.
    fn is_sound(&self, dim: usize, seen: &mut [bool]) -> bool {
        match self {
            Self::Cell(cell) => {
                seen.get_mut(*cell).is_some_and(|seen| !core::mem::replace(seen, true))
            }
            Self::Split { axis, at, below, above } => {
                *axis < dim
                    && at.is_finite()
                    && below.is_sound(dim, seen)
                    && above.is_sound(dim, seen)
            }
        }
    }
}
