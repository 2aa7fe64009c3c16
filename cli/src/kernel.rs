//! The kernel that the command line or a model file names.

use crate::error::{Error, Result};
use kgard::{
    Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Polynomial, RationalQuadratic, Real,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kernel without its width: what is left to choose is sigma.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kernel", rename_all = "kebab-case")]
pub(crate) enum Family {
    Gaussian,
    Laplacian,
    Matern32,
    Matern52,
    RationalQuadratic { alpha: f64 },
    Polynomial { degree: u32, gamma: f64, offset: f64 },
    Linear,
}

impl Family {
    /// Whether the kernel has a width.
    pub(crate) fn has_width(self) -> bool {
        !matches!(self, Self::Polynomial { .. } | Self::Linear)
    }

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Laplacian => "laplacian",
            Self::Matern32 => "matern32",
            Self::Matern52 => "matern52",
            Self::RationalQuadratic { .. } => "rational-quadratic",
            Self::Polynomial { .. } => "polynomial",
            Self::Linear => "linear",
        }
    }
}

/// A kernel and its width, as they stand in a model file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Choice {
    /// The kind, with the parameters that it has beside the width.
    #[serde(flatten)]
    pub(crate) family: Family,
    /// The width; none where the kernel has none.
    pub(crate) sigma: Option<f64>,
}

impl Choice {
    /// The kernel itself, in any scalar type.
    pub(crate) fn kernel<T: Real>(&self) -> Result<AnyKernel<T>> {
        let scalar = |x: f64| T::from(x).unwrap_or_else(T::nan);
        let missing = || Error::failed(format!("the {} kernel needs a sigma", self.family.name()));
        let sigma = || self.sigma.map(scalar).ok_or_else(missing);
        let kernel = match self.family {
            Family::Gaussian => AnyKernel::Gaussian(Gaussian::new(sigma()?)),
            Family::Laplacian => AnyKernel::Laplacian(Laplacian::new(sigma()?)),
            Family::Matern32 => AnyKernel::Matern32(Matern32::new(sigma()?)),
            Family::Matern52 => AnyKernel::Matern52(Matern52::new(sigma()?)),
            Family::RationalQuadratic { alpha } => {
                AnyKernel::RationalQuadratic(RationalQuadratic::new(sigma()?, scalar(alpha)))
            }
            Family::Polynomial { degree, gamma, offset } => {
                AnyKernel::Polynomial(Polynomial::new(scalar(gamma), scalar(offset), degree))
            }
            Family::Linear => AnyKernel::Linear(Linear),
        };
        kernel.check()?;
        Ok(kernel)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family.name())?;
        if let Some(sigma) = self.sigma {
            write!(f, ", sigma {sigma}")?;
        }
        match self.family {
            Family::RationalQuadratic { alpha } => write!(f, ", alpha {alpha}"),
            Family::Polynomial { degree, gamma, offset } => {
                write!(f, ", degree {degree}, gamma {gamma}, offset {offset}")
            }
            _ => Ok(()),
        }
    }
}

/// Any of the library's kernels, chosen when the program runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnyKernel<T> {
    Gaussian(Gaussian<T>),
    Laplacian(Laplacian<T>),
    Matern32(Matern32<T>),
    Matern52(Matern52<T>),
    RationalQuadratic(RationalQuadratic<T>),
    Polynomial(Polynomial<T>),
    Linear(Linear),
}

/// Does the same with whichever kernel it is.
macro_rules! each {
    ($any:expr, $kernel:ident => $do:expr) => {
        match $any {
            AnyKernel::Gaussian($kernel) => $do,
            AnyKernel::Laplacian($kernel) => $do,
            AnyKernel::Matern32($kernel) => $do,
            AnyKernel::Matern52($kernel) => $do,
            AnyKernel::RationalQuadratic($kernel) => $do,
            AnyKernel::Polynomial($kernel) => $do,
            AnyKernel::Linear($kernel) => $do,
        }
    };
}

impl<T: Real> Kernel<T> for AnyKernel<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        each!(self, kernel => kernel.evaluate(a, b))
    }

    fn check(&self) -> std::result::Result<(), kgard::Error> {
        each!(self, kernel => Kernel::<T>::check(kernel))
    }
}
