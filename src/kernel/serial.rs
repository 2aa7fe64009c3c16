//! Kernels: their parameters, under their names, so that those of one kernel
//! are not taken for another's.

use crate::serial::{Refused, read_by_shadow};
use crate::{Kernel, Real, kernel};
use serde::{Deserialize, Serialize, Serializer};

/// The names of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Name {
    Gaussian,
    Laplacian,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    Linear,
    Polynomial,
    Sum,
    Product,
    Scaled,
}

impl Name {
    fn check(self, expected: Self) -> Result<(), Refused> {
        if self == expected { Ok(()) } else { Err(Refused::Kernel { expected, found: self }) }
    }
}

/// Serialises a kernel as the plain struct that is validated when it is read.
macro_rules! write_as_shadow {
    ($kernel:ident<$($generic:ident),*>) => {
        impl<$($generic: Clone + Serialize),*> Serialize for kernel::$kernel<$($generic),*> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$kernel<$($generic),*>>::from(self.clone()).serialize(serializer)
            }
        }
    };
}

/// Plain structs of kernels that `new` builds from their parameters.
macro_rules! shadows {
    ($($kernel:ident { $($field:ident: $type:ty),+ })+) => {$(
        #[derive(Serialize, Deserialize)]
        struct $kernel<T> {
            name: Name,
            $($field: $type),+
        }

        impl<T> From<kernel::$kernel<T>> for $kernel<T> {
            fn from(kernel: kernel::$kernel<T>) -> Self {
                let kernel::$kernel { $($field),+ } = kernel;
                Self { name: Name::$kernel, $($field),+ }
            }
        }

        impl<T: Real> TryFrom<$kernel<T>> for kernel::$kernel<T> {
            type Error = Refused;

            fn try_from(read: $kernel<T>) -> Result<Self, Refused> {
                read.name.check(Name::$kernel)?;
                let kernel = Self::new($(read.$field),+);
                kernel.check()?;
                Ok(kernel)
            }
        }

        write_as_shadow!($kernel<T>);
        read_by_shadow!($kernel<T> => kernel::$kernel<T>, T: Real);
    )+};
}

shadows! {
    Gaussian { sigma: T }
    Laplacian { sigma: T }
    Matern12 { length: T }
    Matern32 { length: T }
    Matern52 { length: T }
    RationalQuadratic { length: T, alpha: T }
    Polynomial { gamma: T, offset: T, degree: u32 }
}

#[derive(Serialize, Deserialize)]
struct Linear {
    name: Name,
}

impl From<kernel::Linear> for Linear {
    fn from(_: kernel::Linear) -> Self {
        Self { name: Name::Linear }
    }
}

impl TryFrom<Linear> for kernel::Linear {
    type Error = Refused;

    fn try_from(read: Linear) -> Result<Self, Refused> {
        read.name.check(Name::Linear)?;
        Ok(Self)
    }
}

impl Serialize for kernel::Linear {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Linear::from(*self).serialize(serializer)
    }
}

read_by_shadow!(Linear => kernel::Linear);

/// Plain structs of kernels composed of two, which have been validated.
macro_rules! pairs {
    ($($kernel:ident)+) => {$(
        #[derive(Serialize, Deserialize)]
        struct $kernel<A, B> {
            name: Name,
            of: (A, B),
        }

        impl<A, B> From<kernel::$kernel<A, B>> for $kernel<A, B> {
            fn from(kernel: kernel::$kernel<A, B>) -> Self {
                Self { name: Name::$kernel, of: (kernel.0, kernel.1) }
            }
        }

        impl<A, B> TryFrom<$kernel<A, B>> for kernel::$kernel<A, B> {
            type Error = Refused;

            fn try_from(read: $kernel<A, B>) -> Result<Self, Refused> {
                read.name.check(Name::$kernel)?;
                Ok(Self(read.of.0, read.of.1))
            }
        }

        write_as_shadow!($kernel<A, B>);
        read_by_shadow!($kernel<A, B> => kernel::$kernel<A, B>, A: Sized, B: Sized);
    )+};
}

pairs! { Sum Product }

#[derive(Serialize, Deserialize)]
struct Scaled<K, T> {
    name: Name,
    kernel: K,
    by: T,
}

impl<K, T> From<kernel::Scaled<K, T>> for Scaled<K, T> {
    fn from(kernel: kernel::Scaled<K, T>) -> Self {
        Self { name: Name::Scaled, kernel: kernel.kernel, by: kernel.by }
    }
}

impl<T: Real, K: Kernel<T>> TryFrom<Scaled<K, T>> for kernel::Scaled<K, T> {
    type Error = Refused;

    fn try_from(read: Scaled<K, T>) -> Result<Self, Refused> {
        read.name.check(Name::Scaled)?;
        let kernel = Self { kernel: read.kernel, by: read.by };
        kernel.check()?;
        Ok(kernel)
    }
}

write_as_shadow!(Scaled<K, T>);
read_by_shadow!(Scaled<K, T> => kernel::Scaled<K, T>, T: Real, K: Kernel<T>);
