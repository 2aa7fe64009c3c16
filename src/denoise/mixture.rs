//! Noise and impulses told apart by how often which residual occurs.
//!
//! What a denoised image leaves of an image is noise on most pixels, and an
//! impulse besides on some. So the residuals $r$ are drawn from a mixture,
//!
//! $$ (1 - f) \\, \mathcal N(0, s^2) + \tfrac f 2 \\, \mathcal N(\pm a, t^2), \qquad t \ge s, $$
//!
//! whose parameters the EM algorithm finds. It needs no decision on any single
//! pixel, and sees impulses that drown in the noise where a pixel and its
//! neighbours do not show them.

use crate::Real;
use crate::error::as_f64;
use num_traits::{Float, ToPrimitive};

/// Classes of residuals to a standard deviation of the noise, and all of them.
const CLASSES_PER_DEVIATION: f64 = 8.0;
const CLASSES: usize = 128;
/// How often the parameters are improved.
const ROUNDS: usize = 50;
/// A share of residuals that are noise for certain, the smallest, and what
/// bounds as large a share of a normal variable of deviation one.
const SMALLEST: f64 = 0.25;
const NORMAL_SMALLEST: f64 = 0.318_639_363_964_375_2;
/// The share and the size of impulses to begin with.
const FIRST_SHARE: f64 = 0.1;
const FIRST_AMPLITUDE: f64 = 3.5;

/// What residuals are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mixture {
    /// $s$, the standard deviation of the noise.
    pub(super) noise: f64,
    /// $f$, the share of the impulses.
    pub(super) share: f64,
    /// $a$, their size.
    pub(super) amplitude: f64,
}

impl Mixture {
    /// The mixture that `residuals` are drawn from, where `noise` is about its
    /// noise; none if there is nothing to tell apart.
    pub(super) fn of<T: Real>(residuals: impl Iterator<Item = T>, noise: T) -> Option<Self> {
        if noise <= T::zero() {
            return None;
        }
        let class = as_f64(noise) / CLASSES_PER_DEVIATION;
        let mut counts = [0.0; CLASSES];
        for residual in residuals {
            let at = (as_f64(residual.abs()) / class).to_usize();
            counts[at.unwrap_or(CLASSES).min(CLASSES - 1)] += 1.0;
        }
        let middle = |at: usize| (at as f64 + 0.5) * class;
        let mut below = 0.0;
        let smallest = SMALLEST * counts.iter().sum::<f64>();
        let first = counts.iter().position(|count| {
            below += count;
            below > smallest
        });
        let mut noise = middle(first?) / NORMAL_SMALLEST;
        let (mut share, mut amplitude) = (FIRST_SHARE, FIRST_AMPLITUDE * noise);
        let mut spread = noise;
        for _ in 0..ROUNDS {
            let (mut good, mut bad) = (Moments::default(), Moments::default());
            for (at, &count) in counts.iter().enumerate() {
                let r = middle(at);
                let is_noise = 2.0 * (1.0 - share) * normal(r, noise);
                let is_impulse =
                    share * (normal(r - amplitude, spread) + normal(r + amplitude, spread));
                // Both vanish far out, where there is no noise.
                let noise_part = is_noise / (is_noise + is_impulse).max(f64::MIN_POSITIVE);
                good.add(count * noise_part, r);
                bad.add(count * (1.0 - noise_part), r);
            }
            if good.weight <= 0.0 || bad.weight <= 0.0 {
                return None;
            }
            noise = Float::sqrt(good.mean_square());
            share = bad.weight / (good.weight + bad.weight);
            amplitude = bad.mean();
            let variance = bad.mean_square() - amplitude * amplitude;
            spread = Float::sqrt(variance.max(noise * noise));
        }
        Some(Self { noise, share, amplitude })
    }
}

/// Where, in units of the noise, impulses begin to be more likely than noise: the
/// likelihoods of $\mathcal N(0, 1)$ and $\mathcal N(\pm a, 1)$ are equal, weighted,
/// at $a / 2 + \ln(2 (1 - f) / (f \, \text{cost})) / a$.
pub(super) fn more_likely(share: f64, amplitude: f64, cost: f64) -> f64 {
    let odds = 2.0 * (1.0 - share) / (share * cost);
    amplitude / 2.0 + Float::ln(odds) / amplitude
}

/// The density of a normal variable, but for a factor.
fn normal(x: f64, deviation: f64) -> f64 {
    let x = x / deviation;
    Float::exp(-0.5 * x * x) / deviation
}

#[derive(Default)]
struct Moments {
    weight: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, weight: f64, x: f64) {
        self.weight += weight;
        self.sum += weight * x;
        self.squares += weight * x * x;
    }

    fn mean(&self) -> f64 {
        self.sum / self.weight
    }

    fn mean_square(&self) -> f64 {
        self.squares / self.weight
    }
}
