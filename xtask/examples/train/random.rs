//! Random numbers, the same on every machine.

/// Splitmix, 64 bits.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Uniform in 0..n.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// `low` to `high`, uniform in the logarithm.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.uniform())
    }
}
