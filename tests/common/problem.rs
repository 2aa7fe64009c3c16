//! Problems to solve: reproducible, with a generator that needs no crate.

/// A 64-bit generator (splitmix), uniform in [0, 1).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }
}

/// A smooth function of `dim` coordinates with noise and outliers.
#[derive(Debug, Clone)]
pub struct Problem {
    pub dim: usize,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub wrong: Vec<usize>,
}

impl Problem {
    pub fn new(n: usize, dim: usize, outliers: usize, noise: f64, seed: u64) -> Self {
        let mut random = Random(seed);
        let x: Vec<f64> = if dim == 1 {
            (0..n).map(|i| i as f64 / n as f64).collect()
        } else {
            (0..n * dim).map(|_| random.uniform()).collect()
        };
        let mut y: Vec<f64> = x
            .chunks(dim)
            .map(|p| p.iter().map(|v| (5.0 * v).sin()).sum::<f64>() + noise * random.normal())
            .collect();
        let mut wrong = Vec::new();
        while wrong.len() < outliers.min(n) {
            let j = random.below(n);
            if !wrong.contains(&j) {
                y[j] += if random.uniform() < 0.5 { -1.0 } else { 1.0 } * (3.0 + random.uniform());
                wrong.push(j);
            }
        }
        Self { dim, x, y, wrong }
    }

    /// The paper's first experiment: n = 199, sinc, 20 dB, +-15.
    pub fn table1(outliers: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let x: Vec<f64> = (0..199).map(|i| -0.99 + 0.01 * i as f64).collect();
        let f: Vec<f64> = x
            .iter()
            .map(|x| {
                let t = std::f64::consts::PI * 2.0 * std::f64::consts::PI * x;
                20.0 * if t == 0.0 { 1.0 } else { t.sin() / t }
            })
            .collect();
        let power = f.iter().map(|f| f * f).sum::<f64>() / 199.0;
        let noise = (power / 100.0).sqrt();
        let mut y: Vec<f64> = f.iter().map(|f| f + noise * random.normal()).collect();
        let mut wrong = Vec::new();
        while wrong.len() < outliers {
            let j = random.below(199);
            if !wrong.contains(&j) {
                y[j] += if random.uniform() < 0.5 { -15.0 } else { 15.0 };
                wrong.push(j);
            }
        }
        Self { dim: 1, x, y, wrong }
    }

    pub fn points(&self) -> kgard::Points<'_, f64> {
        kgard::Points::new(&self.x, self.dim).unwrap()
    }

    pub fn n(&self) -> usize {
        self.y.len()
    }
}
