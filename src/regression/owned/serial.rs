//! Plans and fits in files.

use super::{Fit, Inputs, Kind, Outlier, Plan, StopReason};
use crate::serial::{Refused, read_by_shadow};
use crate::{Error, Kernel, Points, Real};
use alloc::vec::Vec;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename = "Plan")]
struct PlanShadow<T, K> {
    inputs: Inputs<T, K>,
    matrices: Vec<T>,
    penalty: Kind<T>,
}

impl<T: Real, K: Kernel<T>> Inputs<T, K> {
    /// Gives the number of points.
    fn check(&self) -> Result<usize, Error> {
        let points = Points::new(&self.coordinates, self.dim)?;
        points.check()?;
        self.kernel.check()?;
        Ok(points.len())
    }
}

impl<T: Real, K: Kernel<T>> TryFrom<PlanShadow<T, K>> for Plan<T, K> {
    type Error = Refused;

    fn try_from(read: PlanShadow<T, K>) -> Result<Self, Refused> {
        let PlanShadow { inputs, matrices: memory, penalty: kind } = read;
        let n = inputs.check()?;
        let square = n.checked_mul(n).ok_or(Error::TooLarge { scalars: usize::MAX })?;
        let rest = match kind {
            Kind::Mapped { bias } => {
                Error::check_not_negative("multiple of the bias", bias)?;
                Error::check_finite("multiple of the bias", &[bias])?;
                square
            }
            Kind::Scaled { lambda } => {
                Error::check_positive("lambda", lambda)?;
                n
            }
        };
        let plain = square.saturating_add(rest);
        if memory.len() == plain.saturating_add(n) {
            // Sample weights: their square roots.
            memory[plain..].iter().try_for_each(|&w| Error::check_positive("sample weight", w))?;
        } else {
            Error::check_len("plan", memory.len(), plain)?;
        }
        Error::check_finite("plan", &memory)?;
        let is_symmetric = (0..n).all(|i| (0..i).all(|j| memory[i * n + j] == memory[j * n + i]));
        if !is_symmetric {
            return Err(Refused::Parts("the plan's residual maker is not symmetric"));
        }
        Ok(Self { inputs, memory, kind })
    }
}

read_by_shadow!(PlanShadow<T, K> => Plan<T, K>, T: Real, K: Kernel<T>);

#[derive(Deserialize)]
#[serde(rename = "Fit")]
struct FitShadow<T, K> {
    inputs: Inputs<T, K>,
    coefficients: Vec<T>,
    bias: T,
    outliers: Vec<Outlier<T>>,
    residual: Vec<T>,
    fitted: Vec<T>,
    iterations: usize,
    stop_reason: StopReason,
}

impl<T: Real, K: Kernel<T>> TryFrom<FitShadow<T, K>> for Fit<T, K> {
    type Error = Error;

    fn try_from(read: FitShadow<T, K>) -> Result<Self, Error> {
        let n = read.inputs.check()?;
        for (what, values) in [
            ("coefficients", &read.coefficients),
            ("residual", &read.residual),
            ("fitted values", &read.fitted),
        ] {
            Error::check_len(what, values.len(), n)?;
            Error::check_finite(what, values)?;
        }
        Error::check_finite("bias", &[read.bias])?;
        let mut seen = alloc::vec![false; n];
        for &Outlier { index, value } in &read.outliers {
            let seen = seen.get_mut(index).ok_or(Error::Index { index, len: n })?;
            if core::mem::replace(seen, true) {
                return Err(Error::Duplicate { index });
            }
            Error::check_finite("outlier", &[value])?;
        }
        let FitShadow { inputs, coefficients, bias, outliers, .. } = read;
        let FitShadow { residual, fitted, iterations, stop_reason, .. } = read;
        Ok(Self { inputs, coefficients, bias, outliers, residual, fitted, iterations, stop_reason })
    }
}

read_by_shadow!(FitShadow<T, K> => Fit<T, K>, T: Real, K: Kernel<T>);
