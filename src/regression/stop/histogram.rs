//! The paper's histogram rule (section "Automatic computation of the
//! termination parameter").
//!
//! The absolute residuals are sorted into $\[n/10\] + 1$ bars of equal width.
//! $E_1$ is the left end of the first bar of least height $h_m$, $E_2$ that of
//! the first bar that is higher than its left neighbour, where the neighbour
//! is at most $h_m + 5$ high. $E_2$ counts only if the heights vary enough,
//! $\sqrt{\operatorname{var} h} / \operatorname{mean} h > 0.9$: then the
//! histogram falls apart into noise and outliers.

use super::Progress;
use crate::Real;
use crate::real::{constant, count};

/// How the histogram rule's threshold is taken.
///
/// As printed, $\epsilon = \min\\{E_0, E_1, E_2\\}$ at every step, the rule
/// can never be met: $E_1$ is the left end of a bar, so it lies below the
/// largest residual always. These two readings work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Reading {
    /// $\epsilon = \min\\{E_0, E_1, E_2\\}$ of the first residual, kept.
    #[default]
    Once,
    /// $\epsilon = \max\\{E_0, \min\\{E_1, E_2\\}\\}$, anew at each step.
    EveryStep,
}

/// Points per bar, on average (the paper's $\[N^2/10\] + 1$ bars).
const POINTS_PER_BAR: usize = 10;
/// How much higher than the lowest bar a bar before $E_2$ may be.
const NEAR_LOWEST: f64 = 5.0;
/// Variation of the heights from which on two parts can be told apart.
const TWO_PARTS: f64 = 0.9;

/// $\epsilon$ for this step; `kept` remembers it for [`Reading::Once`].
pub(super) fn threshold<T: Real>(
    progress: &mut Progress<'_, T>,
    e0: T,
    reading: Reading,
    kept: &mut Option<T>,
) -> T {
    match reading {
        Reading::Once => *kept.get_or_insert_with(|| e0.min(gap(progress))),
        Reading::EveryStep => e0.max(gap(progress)),
    }
}

/// $E_1$, or $\min\\{E_1, E_2\\}$ where the histogram has two parts.
fn gap<T: Real>(progress: &mut Progress<'_, T>) -> T {
    let residual = progress.residual;
    let (low, high) = residual
        .iter()
        .fold((T::infinity(), T::zero()), |(low, high), r| (low.min(r.abs()), high.max(r.abs())));
    if !(high > low) {
        return high;
    }
    let bars = residual.len() / POINTS_PER_BAR + 1;
    let heights = &mut progress.scratch[..bars.min(residual.len())];
    let bars = heights.len();
    let width = (high - low) / count(bars);
    heights.fill(T::zero());
    for r in residual {
        let bar = ((r.abs() - low) / width).to_usize().unwrap_or(0).min(bars - 1);
        heights[bar] = heights[bar] + T::one();
    }

    let lowest = heights.iter().fold(T::infinity(), |min, &h| min.min(h));
    let left_end = |bar: usize| low + width * count(bar);
    let e1 = left_end(heights.iter().position(|&h| h == lowest).unwrap_or(0));
    let mean = count::<T>(residual.len()) / count(bars);
    let squares = heights.iter().fold(T::zero(), |sum, &h| sum + (h - mean) * (h - mean));
    // The variance of a sample: divided by one less than its size.
    let deviation = (squares / count(bars.max(2) - 1)).sqrt();
    if deviation <= constant::<T>(TWO_PARTS) * mean {
        return e1;
    }
    let rises =
        |pair: &[T]| pair[1] - pair[0] >= T::one() && pair[0] <= lowest + constant(NEAR_LOWEST);
    match heights.windows(2).position(rises) {
        Some(before) => e1.min(left_end(before + 1)),
        None => e1,
    }
}
