//! The methods that the paper compares KGARD with.

pub mod ram;
pub mod rb_rvm;

pub use ram::Ram;
pub use rb_rvm::RbRvm;

use crate::Real;
use crate::real::constant;
use crate::stats::{DEVIATION_PER_MEDIAN, median};
use alloc::vec::Vec;

/// The center of the data, and their spread: the median, and the standard
/// deviation by the median of the deviations from it; where more than half are
/// equal, of those that are not. The spread is zero where all are equal.
fn center_and_spread<T: Real>(y: &[T]) -> (T, T) {
    let mut sorted = y.to_vec();
    let center = median(&mut sorted, 0);
    let mut deviations: Vec<T> = y.iter().map(|&y| (y - center).abs()).collect();
    let mut middle = median(&mut deviations, 0);
    if middle.is_zero() {
        let equal = deviations.iter().filter(|d| d.is_zero()).count();
        middle = median(&mut deviations, equal);
    }
    (center, middle * constant(DEVIATION_PER_MEDIAN))
}

/// Values beyond this range take more than half of the digits of a sum in
/// which they occur, $1/\sqrt\epsilon$ standard deviations: no noise.
fn ordinary_range<T: Real>(y: &[T]) -> (T, T) {
    let (center, spread) = center_and_spread(y);
    let reach = spread / T::epsilon().sqrt();
    ((center - reach).max(T::min_value()), (center + reach).min(T::max_value()))
}
