//! What most impulses of an image are off by.
//!
//! An impulse hides what its pixel was, and KGARD puts there what the function says. But where
//! all impulses are of one size $a$, as a flipped bit or an offset makes them, nothing is
//! hidden: without $\pm a$ the pixel is as good as any other, and that it was hit matters no
//! more. In general sizes vary around $a$ by some deviation $\tau$, and what is found to be
//! $u$ is $u$ with a variance of about that of the noise. Of the two estimates each counts by
//! the variance of the other:
//!
//! $$ u + \kappa \\, (\pm a - u), \qquad \kappa = \frac{v}{v + \tau^2}, \quad v = 1.3 \\, \sigma^2. $$
//!
//! $a$ and $\kappa$ are found by the survey of the image ([`Conditions::usual`],
//! [`Conditions::alike`]); impulses of many sizes have $\kappa = 0$. What is far from $a$ is not
//! of that size, and what is cut off at an end of the range may have been.

use super::super::conditions::Conditions;
use crate::Real;
use crate::image::range::UNITS;
use crate::real::constant;

/// The variance of what an impulse is found to be off by, in units of the noise's: its own
/// noise, and that of the function there.
const FOUND_VARIANCE: f64 = 1.3;
/// How far below and above the usual size one may be found to be that has it, in deviations.
/// What is smaller is more often a detail.
const REACH: (f64, f64) = (2.5, 4.0);
/// The usual size counts less in the last part of its reach: one in so many.
pub(crate) const FADING: f64 = 4.0;

/// The part of what is known of an impulse that its usual size tells, and not the data, if
/// sizes vary by so much.
pub(crate) fn alike(noise: f64, deviation: f64) -> f64 {
    let found = FOUND_VARIANCE * noise * noise;
    found / (found + deviation * deviation)
}

/// Whether a sample may have been clipped: it is at an end of the range.
pub(crate) fn is_cut_off<T: Real>(pixel: T) -> bool {
    pixel == T::zero() || pixel == constant(UNITS)
}

/// The size that impulses of an image usually have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usual<T> {
    pub(crate) size: T,
    /// How far it is believed, from zero to one.
    pub(crate) alike: T,
    /// So far below and above that size it does not count any more.
    pub(crate) reach: (T, T),
}

impl<T: Real> Usual<T> {
    pub(crate) fn new(conditions: &Conditions<T>) -> Self {
        let Conditions { noise, usual: size, alike, .. } = *conditions;
        // Where there is no noise, or nothing is usual, the distance does not matter.
        let known = noise > T::zero() && alike > T::zero();
        let (alike, deviation) = if known {
            (alike, noise * (constant::<T>(FOUND_VARIANCE) / alike).sqrt())
        } else {
            (T::zero(), T::one())
        };
        let reach = (constant::<T>(REACH.0) * deviation, constant::<T>(REACH.1) * deviation);
        Self { size, alike, reach }
    }

    /// What a pixel is off by that is found to be off by `u`.
    pub(crate) fn of(&self, pixel: T, u: T) -> T {
        if is_cut_off(pixel) {
            return u;
        }
        let more = self.size - u.abs();
        let reach = if more > T::zero() { self.reach.0 } else { self.reach.1 };
        let inside = T::one() - more.abs() / reach;
        let weight = (constant::<T>(FADING) * inside).max(T::zero()).min(T::one());
        u + self.alike * weight * if u < T::zero() { -more } else { more }
    }
}
