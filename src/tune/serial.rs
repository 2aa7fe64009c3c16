//! Models from files, checked.

use super::sample::features_len;
use super::{Model, Unit};
use crate::Penalty;
use crate::kernel::Tunable;
use crate::serial::{Refused, read_by_shadow};
use crate::{Error, Outlier, Real};
use alloc::vec::Vec;
use serde::Deserialize;

/// A [`Model`] as it is read.
#[derive(Deserialize)]
struct Shadow<T, K> {
    units: Vec<Unit<T>>,
    target: Unit<T>,
    standard_kernel: K,
    kernel: K,
    penalty: Penalty,
    lambda: T,
    x: Vec<T>,
    inside: Vec<usize>,
    alpha: Vec<T>,
    beta: Vec<T>,
    free: usize,
    slope_variance: T,
    noise: Vec<T>,
    gamma: Vec<T>,
    feature_means: Vec<T>,
    variance: T,
    outliers: Vec<Outlier<T>>,
    residual: Vec<T>,
    fitted: Vec<T>,
    left_out_error: T,
    r_squared: T,
}

impl<T: Real, K: Tunable<T>> TryFrom<Shadow<T, K>> for Model<T, K> {
    type Error = Refused;

    fn try_from(read: Shadow<T, K>) -> Result<Self, Refused> {
        let (dim, m, n) = (read.units.len(), read.inside.len(), read.residual.len());
        if dim == 0 {
            return Err(Error::Empty { what: "list of units" }.into());
        }
        read.standard_kernel.check()?;
        read.standard_kernel.check_dim(dim)?;
        read.kernel.check()?;
        read.kernel.check_dim(dim)?;
        for unit in read.units.iter().chain([&read.target]) {
            Error::check_finite("centre of a unit", &[unit.centre])?;
            Error::check_positive("scale of a unit", unit.scale)?;
        }
        let coordinates = m.checked_mul(dim).ok_or(Error::TooLarge { scalars: usize::MAX })?;
        Error::check_len("coordinates", read.x.len(), coordinates)?;
        Error::check_len("coefficients", read.alpha.len(), m)?;
        Error::check_len("variances of the noise", read.noise.len(), m)?;
        Error::check_len("fitted values", read.fitted.len(), n)?;
        Error::check_len("means of features", read.feature_means.len(), features_len(dim))?;
        if !read.gamma.is_empty() {
            // The last one is that of the level, on which it may not depend.
            let expected = features_len(dim);
            let without = read.gamma.len() + 1 == expected;
            let found = if without { expected } else { read.gamma.len() };
            Error::check_len("coefficients of the noise", found, expected)?;
        }
        if read.beta.len() != 1 && read.beta.len() != 1 + dim || read.free > read.beta.len() {
            return Err(Refused::Parts("a bias and slopes for another number of inputs"));
        }
        let mut taken = alloc::vec![false; n];
        for index in read.inside.iter().copied().chain(read.outliers.iter().map(|o| o.index)) {
            match taken.get_mut(index) {
                None => return Err(Error::Index { index, len: n }.into()),
                Some(true) => return Err(Error::Duplicate { index }.into()),
                Some(taken) => *taken = true,
            }
        }
        for (what, values) in [
            ("coordinate", &read.x),
            ("coefficient", &read.alpha),
            ("bias or slope", &read.beta),
            ("coefficient of the noise", &read.gamma),
            ("mean of a feature", &read.feature_means),
            ("residual", &read.residual),
            ("fitted value", &read.fitted),
        ] {
            Error::check_finite(what, values)?;
        }
        let values = read.outliers.iter().map(|outlier| outlier.value);
        Error::check_finite("value of an outlier", &values.collect::<Vec<_>>())?;
        Error::check_finite("R squared", &[read.r_squared])?;
        for &noise in &read.noise {
            Error::check_positive("variance of the noise", noise)?;
        }
        Error::check_positive("lambda", read.lambda)?;
        Error::check_positive("prior variance of slopes", read.slope_variance)?;
        Error::check_positive("variance", read.variance)?;
        Error::check_not_negative("left-out error", read.left_out_error)?;
        Error::check_finite("left-out error", &[read.left_out_error])?;
        Ok(Self {
            units: read.units,
            target: read.target,
            standard_kernel: read.standard_kernel,
            kernel: read.kernel,
            penalty: read.penalty,
            lambda: read.lambda,
            x: read.x,
            inside: read.inside,
            alpha: read.alpha,
            beta: read.beta,
            free: read.free,
            slope_variance: read.slope_variance,
            noise: read.noise,
            gamma: read.gamma,
            feature_means: read.feature_means,
            variance: read.variance,
            outliers: read.outliers,
            residual: read.residual,
            fitted: read.fitted,
            left_out_error: read.left_out_error,
            r_squared: read.r_squared,
        })
    }
}

read_by_shadow!(Shadow<T, K> => Model<T, K>, T: Real, K: Tunable<T>);
