//! Fits in files.

use super::RbRvmFit;
use crate::serial::{Refused, read_by_shadow};
use crate::{Error, Fit, Kernel, Real};
use alloc::vec::Vec;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename = "RbRvmFit")]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>, K: Kernel<T> + Deserialize<'de>"))]
struct Shadow<T, K> {
    fit: Fit<T, K>,
    center: T,
    noise_variance: T,
    prior_variances: Vec<T>,
    active: Vec<usize>,
    factor: Vec<T>,
    history: Vec<T>,
}

impl<T: Real, K: Kernel<T>> TryFrom<Shadow<T, K>> for RbRvmFit<T, K> {
    type Error = Refused;

    fn try_from(read: Shadow<T, K>) -> Result<Self, Refused> {
        let n = read.fit.coefficients().len();
        let m = read.active.len();
        Error::check_finite("center", &[read.center])?;
        Error::check_positive("noise variance", read.noise_variance)?;
        Error::check_len("prior variances", read.prior_variances.len(), 2 * n + 1)?;
        Error::check_finite("prior variances", &read.prior_variances)?;
        for &variance in &read.prior_variances {
            Error::check_not_negative("prior variance", variance)?;
        }
        if let Some(&index) = read.active.iter().find(|&&column| column > n) {
            return Err(Error::Index { index, len: n + 1 }.into());
        }
        // The bias, which is column n, is the last one.
        if !read.active.is_sorted_by(|a, b| a < b) {
            return Err(Refused::Parts("the columns of the model are not in order"));
        }
        Error::check_square("factor", read.factor.len(), m)?;
        Error::check_finite("factor", &read.factor)?;
        for pivot in 0..m {
            Error::check_positive("pivot of the factor", read.factor[pivot * m + pivot])?;
        }
        Error::check_finite("log-likelihood", &read.history)?;
        let Shadow { fit, center, noise_variance, prior_variances, active, factor, history } = read;
        Ok(Self { fit, center, noise_variance, prior_variances, active, factor, history })
    }
}

read_by_shadow!(Shadow<T, K> => RbRvmFit<T, K>, T: Real, K: Kernel<T>);
