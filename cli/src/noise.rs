//! Noise for experiments, the same on every machine.
//!
//! The numbers come from ChaCha12, the mathematical functions from `libm`
//! instead of the platform: a seed and a stream determine every bit.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::f64::consts::{FRAC_PI_2, PI};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    source: ChaCha12Rng,
    /// The other half of a pair that Box and Muller's method gave.
    spare: Option<f64>,
}

impl Random {
    /// The stream `stream` of the experiment `name`. Different names, seeds
    /// and streams are independent of each other.
    ///
    /// # Panics
    /// If the name has more than 16 bytes.
    pub(crate) fn new(name: &str, seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[16..][..name.len()].copy_from_slice(name.as_bytes());
        let mut source = ChaCha12Rng::from_seed(key);
        source.set_stream(stream);
        Self { source, spare: None }
    }

    /// Uniform in (0, 1), the ends excluded.
    pub(crate) fn uniform(&mut self) -> f64 {
        /// 2^-52
        const STEP: f64 = 1.0 / (1_u64 << 52) as f64;
        ((self.source.next_u64() >> 12) as f64 + 0.5) * STEP
    }

    /// Uniform in 0..n.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn below(&mut self, n: usize) -> usize {
        // Lemire's method: the high half of a product, low halves that would
        // favour some results thrown away.
        let n = n as u64;
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.source.next_u64()) * u128::from(n);
            let (high, low) = ((product >> 64) as usize, product & u128::from(u64::MAX));
            if low >= u128::from(unfair) {
                return high;
            }
        }
    }

    /// `x` or `-x`.
    pub(crate) fn sign(&mut self, x: f64) -> f64 {
        if self.below(2) == 0 { x } else { -x }
    }

    /// Gaussian with mean 0 and variance 1 (Box and Muller).
    pub(crate) fn gaussian(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        let angle = 2.0 * PI * self.uniform();
        self.spare = Some(radius * libm::sin(angle));
        radius * libm::cos(angle)
    }

    /// Symmetric alpha-stable of scale 1, centred at 0 (Chambers, Mallows and
    /// Stuck): Cauchy for alpha = 1, N(0, 2) for alpha = 2.
    pub(crate) fn stable(&mut self, alpha: f64) -> f64 {
        let angle = PI * self.uniform() - FRAC_PI_2;
        let wait = -libm::log(self.uniform());
        if (alpha - 1.0).abs() < 1e-9 {
            return libm::tan(angle);
        }
        let rest = libm::cos((1.0 - alpha) * angle) / wait;
        libm::sin(alpha * angle) / libm::pow(libm::cos(angle), 1.0 / alpha)
            * libm::pow(rest, (1.0 - alpha) / alpha)
    }

    /// `k` different numbers in 0..n, sorted.
    ///
    /// # Panics
    /// If `k` is larger than `n`.
    pub(crate) fn subset(&mut self, n: usize, k: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for i in 0..k {
            let j = i + self.below(n - i);
            all.swap(i, j);
        }
        all.truncate(k);
        all.sort_unstable();
        all
    }

    /// Adds `size` or `-size` to a random `fraction` of the values; tells
    /// which.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn add_outliers(&mut self, y: &mut [f64], fraction: f64, size: f64) -> Vec<usize> {
        let count = (fraction.clamp(0.0, 1.0) * y.len() as f64).round() as usize;
        let chosen = self.subset(y.len(), count);
        for &i in &chosen {
            y[i] += self.sign(size);
        }
        chosen
    }

    /// Adds Gaussian noise of standard deviation `sigma`.
    pub(crate) fn add_gaussian(&mut self, y: &mut [f64], sigma: f64) {
        for y in y {
            *y += sigma * self.gaussian();
        }
    }

    /// Adds symmetric alpha-stable noise of scale `gamma`.
    pub(crate) fn add_stable(&mut self, y: &mut [f64], alpha: f64, gamma: f64) {
        for y in y {
            *y += gamma * self.stable(alpha);
        }
    }
}

/// The standard deviation of noise that is `db` decibels below a signal.
pub(crate) fn sigma_at(db: f64, signal: &[f64]) -> f64 {
    let power = signal.iter().map(|x| x * x).sum::<f64>() / signal.len() as f64;
    libm::sqrt(power / libm::pow(10.0, db / 10.0))
}

#[cfg(test)]
mod tests {
    use super::{PI, Random, sigma_at};

    const MANY: usize = 20_000;

    /// The distance of Kolmogorov and Smirnov from a distribution function.
    fn distance(mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        sample.sort_by(f64::total_cmp);
        let n = sample.len() as f64;
        let off = |(i, &x): (usize, &f64)| {
            let p = cdf(x);
            (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
        };
        sample.iter().enumerate().map(off).fold(0.0, f64::max)
    }

    #[track_caller]
    fn follows(name: &str, mut draw: impl FnMut(&mut Random) -> f64, cdf: impl Fn(f64) -> f64) {
        let mut random = Random::new(name, 1, 0);
        let sample = (0..MANY).map(|_| draw(&mut random)).collect();
        let d = distance(sample, cdf) * (MANY as f64).sqrt();
        // Exceeded once in a million: 2 exp(-2 d^2).
        assert!(d < 2.7, "{name}: {d}");
        assert!(d > 0.3, "{name}: {d} is too good");
    }

    fn normal(x: f64) -> f64 {
        0.5 * libm::erfc(-x / 2.0_f64.sqrt())
    }

    #[test]
    fn distributions() {
        follows("uniform", Random::uniform, |x| x);
        follows("gaussian", Random::gaussian, normal);
        follows("stable 2", |r| r.stable(2.0), |x| normal(x / 2.0_f64.sqrt()));
        follows("stable 1", |r| r.stable(1.0), |x| 0.5 + x.atan() / PI);
        // The general formula near alpha = 1 is the Cauchy distribution still.
        follows("stable 1.00001", |r| r.stable(1.00001), |x| 0.5 + x.atan() / PI);
    }

    /// E cos(t X) = exp(-|t|^alpha).
    #[test]
    fn characteristic_function_of_stable_noise() {
        for alpha in [0.7, 1.2, 1.7] {
            let mut random = Random::new("stable", 2, 0);
            let sample: Vec<f64> = (0..MANY).map(|_| random.stable(alpha)).collect();
            for t in [0.3, 1.0, 2.0_f64] {
                let mean = sample.iter().map(|x| (t * x).cos()).sum::<f64>() / MANY as f64;
                let expected = (-t.powf(alpha)).exp();
                let error = (mean - expected) * (2.0 * MANY as f64).sqrt();
                assert!(error.abs() < 5.0, "alpha {alpha}, t {t}: {mean}, {expected}");
            }
        }
    }

    #[test]
    fn subsets_are_uniform() {
        let mut random = Random::new("subset", 3, 0);
        let mut counts = [0; 10];
        for _ in 0..MANY {
            let subset = random.subset(10, 3);
            assert!(subset.is_sorted_by(|a, b| a < b) && subset.len() == 3);
            for i in subset {
                counts[i] += 1;
            }
        }
        let expected = 0.3 * MANY as f64;
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!(chi2 < 40.0, "{chi2}");
        assert_eq!(random.subset(4, 4), [0, 1, 2, 3]);
        assert!(random.subset(4, 0).is_empty());
    }

    #[test]
    fn outliers_have_both_signs_and_the_right_number() {
        let mut random = Random::new("outliers", 4, 0);
        let mut y = vec![1.0; 199];
        let chosen = random.add_outliers(&mut y, 0.05, 15.0);
        assert_eq!(chosen.len(), 10);
        for (i, &y) in y.iter().enumerate() {
            assert_eq!(y.to_bits() != 1.0_f64.to_bits(), chosen.contains(&i));
            assert!([1.0, 16.0, -14.0].contains(&y));
        }
        assert!(y.contains(&16.0) && y.contains(&-14.0));
    }

    #[test]
    fn decibels() {
        assert!((sigma_at(20.0, &[3.0, -3.0]) - 0.3).abs() < 1e-15);
        let mut noise = vec![0.0; MANY];
        Random::new("decibels", 5, 0).add_gaussian(&mut noise, 0.3);
        let power = noise.iter().map(|x| x * x).sum::<f64>() / MANY as f64;
        assert!((power / 0.09 - 1.0).abs() < 0.05, "{power}");
    }

    /// Streams differ, and never change from one release to the next.
    #[test]
    fn streams() {
        let first = |name, seed, stream| Random::new(name, seed, stream).uniform().to_bits();
        let mut all = vec![
            first("a", 0, 0),
            first("a", 0, 1),
            first("a", 0, 1 << 32),
            first("a", 1, 0),
            first("b", 0, 0),
        ];
        assert_eq!(all[0], first("a", 0, 0));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 5);
        let mut random = Random::new("table1", 1, 7);
        let some = [random.uniform(), random.gaussian(), random.gaussian(), random.stable(1.2)];
        assert_eq!(some.map(f64::to_bits), PINNED);
    }

    const PINNED: [u64; 4] = [
        4_605_132_575_272_028_955,
        13_825_696_871_555_236_929,
        4_609_051_820_762_474_735,
        4_599_841_989_999_003_707,
    ];
}
