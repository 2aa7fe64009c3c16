//! Rows of Gram matrices, with loops over few coordinates unrolled.

use super::Kernel;
use crate::linalg::simd::multiply_add;
use crate::{Points, Real};
use core::any::TypeId;

/// What is between two points; a closure would not always be inlined.
pub(super) trait Entry<T> {
    fn entry(&self, a: &[T], b: &[T]) -> T;
}

/// The kernel itself, one entry at a time.
pub(super) struct Evaluated<'a, K: ?Sized>(pub(super) &'a K);

impl<T: Real, K: Kernel<T> + ?Sized> Entry<T> for Evaluated<'_, K> {
    #[inline(always)]
    fn entry(&self, a: &[T], b: &[T]) -> T {
        self.0.evaluate(a, b)
    }
}

/// Writes the entries between `a` and all `points` to `out`. Points of low
/// dimension come as arrays, whose loops the compiler unrolls.
#[inline(always)]
pub(super) fn fill<T: Real>(
    a: &[T],
    points: Points<'_, T>,
    out: &mut [T],
    entries: &impl Entry<T>,
) {
    let coordinates = points.coordinates();
    match *a {
        [x] => fill_from(&[x], coordinates.as_chunks::<1>().0, out, entries),
        [x, y] => fill_from(&[x, y], coordinates.as_chunks::<2>().0, out, entries),
        [x, y, z] => fill_from(&[x, y, z], coordinates.as_chunks::<3>().0, out, entries),
        _ => {
            for (b, out) in points.iter().zip(out) {
                *out = entries.entry(a, b);
            }
        }
    }
}

#[inline(always)]
fn fill_from<T: Real, const DIM: usize>(
    a: &[T; DIM],
    points: &[[T; DIM]],
    out: &mut [T],
    entries: &impl Entry<T>,
) {
    for (b, out) in points.iter().zip(out) {
        *out = entries.entry(a, b);
    }
}

/// $e^{-q}$ for $q \ge 0$, right to two units in the last place, in loops that the compiler
/// turns into vectors: a call of a function would stay a call for each entry.
///
/// Zero where $e^{-q}$ is below the smallest normal number, nearly.
#[inline(always)]
pub(super) fn exp_of_minus<T: Real, const FUSED: bool>(q: T) -> T {
    let result = if TypeId::of::<T>() == TypeId::of::<f64>() {
        q.to_f64().and_then(|q| T::from(exp_64::<FUSED>(q)))
    } else if TypeId::of::<T>() == TypeId::of::<f32>() {
        q.to_f32().and_then(|q| T::from(exp_32::<FUSED>(q)))
    } else {
        Some((-q).exp())
    };
    result.unwrap_or_else(T::nan)
}

/// $e^{-q} = 2^k e^r$ with $|r| \le \tfrac12 \ln 2$; $e^r$ by Taylor's polynomial, whose next
/// term is less than a tenth of the last place. Adding 1.5 times two to the number of bits of
/// the significand rounds to the integer $k$ and leaves it in the lowest bits. The first part
/// of $\ln 2$ has so few bits that its product with $k$ is exact.
macro_rules! exp {
    ($name:ident, $float:ty, $log2_e:expr, $rounding:expr, $last:expr, $ln_2:expr, $bits:expr, $bias:expr,
     [$highest:expr $(, $coefficient:expr)*]) => {
        #[inline(always)]
        fn $name<const FUSED: bool>(q: $float) -> $float {
            let product = multiply_add::<$float, FUSED>;
            let rounded = product(-q, $log2_e, $rounding);
            let k = rounded - $rounding;
            let r = product(k, -$ln_2.1, product(k, -$ln_2.0, -q));
            let p = $highest;
            $(let p = product(p, r, $coefficient);)*
            let e_r = product(r * r, p, r) + 1.0;
            let power = <$float>::from_bits((rounded.to_bits() << $bits).wrapping_add($bias << $bits));
            // Not the other way round: what is no number stays none.
            if q > $last { 0.0 } else { e_r * power }
        }
    };
}

exp!(
    exp_64,
    f64,
    core::f64::consts::LOG2_E,
    6_755_399_441_055_744.0,
    708.0,
    (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10),
    52,
    1023_u64,
    [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5
    ]
);
exp!(
    exp_32,
    f32,
    core::f32::consts::LOG2_E,
    12_582_912.0,
    87.0,
    (355.0 / 512.0, -2.121_944_4e-4),
    23,
    127_u32,
    [1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5]
);

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::float_cmp, reason = "exact zeros and ones")]
mod tests {
    use super::exp_of_minus;

    /// Errors in units in the last place, against the standard library in double precision,
    /// with and without fused multiply-add.
    #[test]
    fn exponentials_are_right_to_two_units_in_the_last_place() {
        let (mut worst_64, mut worst_32) = (0.0_f64, 0.0_f64);
        for i in 0..200_000_u32 {
            // Evenly, and densely near zero.
            for q in [f64::from(i) * 0.003_54, (f64::from(i) * -0.000_2).exp2()] {
                let exact = (-q).exp();
                for ours in [exp_of_minus::<f64, true>(q), exp_of_minus::<f64, false>(q)] {
                    worst_64 = worst_64.max((ours / exact - 1.0).abs() / f64::EPSILON);
                }
                let q = if q < 708.0 { (q / 8.2) as f32 } else { continue };
                let exact = (-f64::from(q)).exp();
                for ours in [exp_of_minus::<f32, true>(q), exp_of_minus::<f32, false>(q)] {
                    let off = (f64::from(ours) / exact - 1.0).abs();
                    worst_32 = worst_32.max(off / f64::from(f32::EPSILON));
                }
            }
        }
        assert!(worst_64 <= 2.0 && worst_32 <= 2.0, "{worst_64} {worst_32}");
        assert!(exp_of_minus::<f64, false>(f64::NAN).is_nan());
        assert!(exp_of_minus::<f32, true>(f32::NAN).is_nan());
        for far in [709.0, f64::MAX, f64::INFINITY] {
            assert_eq!(exp_of_minus::<f64, true>(far), 0.0);
            assert_eq!(exp_of_minus::<f32, false>(far as f32), 0.0);
        }
        assert_eq!(exp_of_minus::<f64, false>(0.0), 1.0);
    }
}
