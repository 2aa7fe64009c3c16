//! A stream: samples come one by one, and leave a window later.

use crate::Wrong;
use kgard::Matern32;
use kgard::line::{Cleaned, FixedLag};

/// Samples in the window.
pub const LAG: usize = 16;
/// The stream that is run everywhere.
pub type Stream = FixedLag<f32, Matern32<f32>, 2, LAG>;

/// Samples of the test.
pub const SAMPLES: usize = 1000;
/// Standard deviation of the noise, which is uniform.
const NOISE: f32 = 0.05;
/// Off by this, one sample in 33.
const SPIKE: f32 = 1.0;
/// How far the cleaned samples may be off the true function.
const FROM_TRUTH: f32 = 0.12;

/// The stream for the series below.
///
/// # Errors
/// If the library refuses.
pub fn stream() -> Result<Stream, Wrong> {
    Ok(Stream::new(Matern32::new(30.0), 0.01, NOISE)?)
}

/// A series of arches with noise, spikes and a step, one sample after the other.
#[derive(Debug, Clone)]
pub struct Series {
    state: u32,
    at: usize,
}

/// A sample, and what it should be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Truth {
    /// The sample.
    pub sample: f32,
    /// The function.
    pub value: f32,
    /// Whether a spike was added.
    pub spike: bool,
}

impl Series {
    /// From the beginning.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: 1, at: 0 }
    }

    fn uniform(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 16) as f32 / 65_536.0
    }
}

impl Default for Series {
    fn default() -> Self {
        Self::new()
    }
}

impl Iterator for Series {
    type Item = Truth;
    fn next(&mut self) -> Option<Truth> {
        let phase = (self.at % 200) as f32 / 200.0;
        let level = if self.at < SAMPLES / 2 { 20.0 } else { 23.0 };
        let value = level + 16.0 * phase * phase * (1.0 - phase) * (1.0 - phase);
        self.at += 1;
        // Of this standard deviation: sqrt(12).
        let noise = 3.464_1 * NOISE * (self.uniform() - 0.5);
        let spike = self.uniform() < 1.0 / 33.0;
        let sign = if self.uniform() < 0.5 { -1.0 } else { 1.0 };
        let sample = value + noise + if spike { sign * SPIKE } else { 0.0 };
        Some(Truth { sample, value, spike })
    }
}

/// What the stream of [`Series`] has been like.
#[derive(Debug, Clone)]
pub struct Judge {
    expected: Series,
    wrong_flags: usize,
    farthest: f32,
    /// Samples that came out.
    pub count: usize,
}

impl Judge {
    /// Nothing seen.
    #[must_use]
    pub const fn new() -> Self {
        Self { expected: Series::new(), wrong_flags: 0, farthest: 0.0, count: 0 }
    }

    /// Looks at the next sample that comes out.
    pub fn see(&mut self, cleaned: Cleaned<f32>) {
        let Some(truth) = self.expected.next() else { return };
        self.wrong_flags += usize::from(cleaned.outlier != truth.spike);
        self.farthest = self.farthest.max((cleaned.value - truth.value).abs());
        self.count += 1;
    }

    /// All of them.
    ///
    /// # Errors
    /// Whatever is wrong.
    pub fn conclude(&self) -> Result<(), Wrong> {
        if self.wrong_flags > 0 || self.count != SAMPLES {
            return Err(Wrong::Outliers);
        }
        if self.farthest <= FROM_TRUTH { Ok(()) } else { Err(Wrong::Truth(self.farthest)) }
    }
}

impl Default for Judge {
    fn default() -> Self {
        Self::new()
    }
}

/// Cleans the series, and checks the result.
///
/// # Errors
/// Whatever is wrong with it.
pub fn check_stream() -> Result<(), Wrong> {
    let mut stream = stream()?;
    let mut judge = Judge::new();
    for truth in Series::new().take(SAMPLES) {
        if let Some(cleaned) = stream.push(truth.sample) {
            judge.see(cleaned);
        }
    }
    while let Some(cleaned) = stream.drain() {
        judge.see(cleaned);
    }
    judge.conclude()
}
