//! What files hold, before it is believed.
//!
//! A type that promises something (a positive width, lengths that fit) is not
//! read directly: what is read is its shadow, which promises nothing, and
//! becomes the type only if the checks at the door let it pass. A file that was
//! cut off, edited or made to do harm is an error of the deserialiser.
//!
//! The shadows of types with private parts are child modules of those.

/// Reads a type by way of its shadow.
macro_rules! read_by_shadow {
    ($shadow:ty => $type:ty $(, $generic:ident: $bound:path)*) => {
        impl<'de, $($generic),*> serde::Deserialize<'de> for $type
        where
            $($generic: $bound + serde::Deserialize<'de>),*
        {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read = <$shadow as serde::Deserialize>::deserialize(deserializer)?;
                read.try_into().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use read_by_shadow;

#[cfg(feature = "alloc")]
mod denoise;

use crate::kernel::serial as kernel;
use crate::{Error, Real};
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why what was read is not believed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A number or a length is wrong.
    Value(Error),
    /// The parameters are those of another kernel.
    Kernel { expected: kernel::Name, found: kernel::Name },
    /// The parts are well formed but do not belong together.
    #[cfg(feature = "alloc")]
    Parts(&'static str),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Value(error)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(error) => error.fmt(f),
            Self::Kernel { expected, found } => {
                write!(f, "the kernel is {found:?}, but {expected:?} is asked for")
            }
            #[cfg(feature = "alloc")]
            Self::Parts(what) => f.write_str(what),
        }
    }
}

/// A number that may be infinite, which many formats cannot say: nothing stands
/// for infinity.
pub(crate) mod unlimited {
    use super::{Deserialize, Deserializer, Real, Serialize, Serializer};

    pub(crate) fn serialize<T: Real + Serialize, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (*value != T::infinity()).then_some(value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Real + Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_else(T::infinity))
    }
}

/// Not negative, and finite.
#[cfg(feature = "alloc")]
fn check_deviation<T: Real>(what: &'static str, value: T) -> Result<(), Error> {
    Error::check_not_negative(what, value)?;
    Error::check_finite(what, &[value])
}
