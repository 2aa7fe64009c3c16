//! What can be wrong with the input, with the numbers that were wrong.

use crate::Real;
use core::fmt;

/// Why an operation was refused.
///
/// Every variant carries the offending values, and its text says what to do.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to work on.
    Empty {
        /// What is empty.
        what: &'static str,
    },
    /// A slice has another length than the data call for.
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// The length it must have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A buffer of the caller is too short.
    TooShort {
        /// Which buffer.
        what: &'static str,
        /// The least length that does.
        needed: usize,
        /// The length it has.
        found: usize,
    },
    /// Coordinates do not come in groups of the dimension.
    Dimension {
        /// Coordinates a point must have.
        expected: usize,
        /// Coordinates given.
        found: usize,
    },
    /// The problem is too large for this machine.
    TooLarge {
        /// Scalars that would be needed; `usize::MAX` stands for "uncountable".
        scalars: usize,
    },
    /// A NaN or an infinity.
    NotFinite {
        /// Where it is.
        what: &'static str,
        /// Its position there.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Finite input, but a result that is not.
    Overflow {
        /// What has become too large.
        what: &'static str,
    },
    /// A kernel's value that is NaN or infinite.
    Kernel {
        /// The first point.
        row: usize,
        /// The second point.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A parameter that must be positive and finite is not.
    NotPositive {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A parameter that must not be negative (or NaN) is.
    Negative {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A setting that only takes certain values has another.
    Setting {
        /// Which setting.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The values it can take.
        allowed: &'static str,
    },
    /// A matrix that must be positive definite is not, or so close to singular
    /// that rounding would decide the predictions.
    NotPositiveDefinite {
        /// The pivot at which the factorisation broke down.
        pivot: usize,
        /// Its value: too small, negative, or not finite.
        value: f64,
    },
    /// A kernel matrix is not near one of low rank.
    RankTooHigh {
        /// The highest rank allowed.
        rank: usize,
        /// What the kernel's variance at a point loses at this rank, on average.
        error: f64,
    },
    /// An iteration has not settled.
    NoConvergence {
        /// Which one.
        what: &'static str,
    },
    /// Weights were given for a penalty that has none.
    WeightsNeedL2,
    /// An index points outside of the data.
    Index {
        /// The index.
        index: usize,
        /// How many points there are.
        len: usize,
    },
    /// The same index twice.
    Duplicate {
        /// The index.
        index: usize,
    },
    /// Images, channels or masks that must be of one size and are not.
    ImageSize {
        /// What has the wrong size.
        what: &'static str,
        /// The width and the height it must have.
        expected: (usize, usize),
        /// The width and the height it has.
        found: (usize, usize),
    },
    /// Sizes of image regions that do not fit together.
    Regions {
        /// Side of a region.
        region: usize,
        /// Side of its core.
        core: usize,
    },
    /// Input of a kind that is not handled.
    Unsupported {
        /// What it is.
        what: &'static str,
    },
    /// Bytes that are not a plan, or not one for this scalar type.
    Format {
        /// What does not fit.
        what: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty { what: "image" } => {
                write!(f, "the image has no pixels, or no channel: give at least one")
            }
            Self::Empty { what } => write!(f, "{what} is empty: give at least one point"),
            Self::Length { what, expected, found } => {
                write!(f, "{what} has length {found}, but {expected} is needed")
            }
            Self::TooShort { what, needed, found } => {
                write!(f, "{what} has length {found}: make it at least {needed}")
            }
            Self::Dimension { expected: 0, .. } => {
                write!(f, "points of dimension 0: a point needs at least one coordinate")
            }
            Self::Dimension { expected, found } => write!(
                f,
                "{found} coordinates given where points have {expected} each: \
                 the number must be a multiple of {expected}"
            ),
            Self::TooLarge { scalars: usize::MAX } => {
                write!(f, "more numbers would be needed than can be counted: use fewer points")
            }
            Self::TooLarge { scalars } => {
                write!(f, "no memory for {scalars} numbers: use fewer points or a narrower type")
            }
            Self::NotFinite { what, index, value } => {
                write!(f, "{what} at index {index} is {value}: remove it or replace it")
            }
            Self::Overflow { what } => {
                write!(f, "{what} overflows: scale the data down or use a wider scalar type")
            }
            Self::Kernel { row, column, value } => write!(
                f,
                "the kernel of points {row} and {column} is {value}: check its parameters and \
                 the scale of the points"
            ),
            Self::NotPositive { what, value } => {
                write!(f, "{what} is {value}: it must be positive and finite")
            }
            Self::Negative { what, value } => {
                write!(f, "{what} is {value}: it must be zero or more")
            }
            Self::Setting { what, value, allowed } => {
                write!(f, "{what} is {value}: it can be {allowed}")
            }
            Self::NotPositiveDefinite { pivot, value } => write!(
                f,
                "not positive definite to working precision at pivot {pivot} (value {value:e}): \
                 raise lambda, use a wider scalar type, or check that the kernel is positive \
                 definite"
            ),
            Self::RankTooHigh { rank, error } => write!(
                f,
                "a kernel matrix of rank {rank} leaves {error:.2e} of a point's variance: allow a \
                 higher rank, raise lambda or the kernel's length, or fit in regions"
            ),
            Self::NoConvergence { what } => {
                write!(f, "{what} did not converge: scale the data to ordinary size")
            }
            Self::WeightsNeedL2 => write!(
                f,
                "weights apply to the l2 penalty only: use Regularizer::l2, \
                 or drop the weights"
            ),
            Self::Index { index, len } => {
                write!(f, "index {index} is outside of the data: there are {len} points")
            }
            Self::Duplicate { index } => write!(f, "index {index} is given twice"),
            Self::ImageSize { what, expected: (width, height), found } => write!(
                f,
                "{what} is {} x {} pixels, the image {width} x {height}: they must be of one size",
                found.0, found.1
            ),
            Self::Regions { region, core } => write!(
                f,
                "regions of {region} pixels with cores of {core}: the region must be larger than \
                 its core by an even number, and at most 64"
            ),
            Self::Unsupported { what } => {
                write!(f, "{what} is not supported: convert it first")
            }
            Self::Format { what } => write!(f, "not a usable plan: {what}"),
        }
    }
}

impl core::error::Error for Error {}

// The checks stand here, out of the generic numerical code.
impl Error {
    #[cold]
    pub(crate) fn not_positive_definite<T: Real>(pivot: usize, value: T) -> Self {
        Self::NotPositiveDefinite { pivot, value: as_f64(value) }
    }

    pub(crate) const fn check_len(
        what: &'static str,
        found: usize,
        expected: usize,
    ) -> Result<(), Self> {
        if found == expected { Ok(()) } else { Err(Self::Length { what, expected, found }) }
    }

    pub(crate) const fn check_square(
        what: &'static str,
        found: usize,
        n: usize,
    ) -> Result<(), Self> {
        match n.checked_mul(n) {
            Some(expected) => Self::check_len(what, found, expected),
            None => Err(Self::TooLarge { scalars: usize::MAX }),
        }
    }

    pub(crate) const fn check_at_least(
        what: &'static str,
        found: usize,
        needed: usize,
    ) -> Result<(), Self> {
        if found >= needed { Ok(()) } else { Err(Self::TooShort { what, needed, found }) }
    }

    pub(crate) fn check_finite<T: Real>(what: &'static str, values: &[T]) -> Result<(), Self> {
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(index) => Err(Self::NotFinite { what, index, value: as_f64(values[index]) }),
        }
    }

    pub(crate) fn check_positive<T: Real>(what: &'static str, value: T) -> Result<(), Self> {
        if value > T::zero() && value.is_finite() {
            Ok(())
        } else {
            Err(Self::NotPositive { what, value: as_f64(value) })
        }
    }

    pub(crate) fn check_not_negative<T: Real>(what: &'static str, value: T) -> Result<(), Self> {
        if value >= T::zero() { Ok(()) } else { Err(Self::Negative { what, value: as_f64(value) }) }
    }
}

pub(crate) fn as_f64<T: Real>(value: T) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}
