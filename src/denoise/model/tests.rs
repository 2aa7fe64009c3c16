//! The model, held to its formulas: no tables, each pixel by itself.
#![allow(clippy::pedantic)]

use super::{Model, Pixels};
use alloc::{vec, vec::Vec};

/// Uniform and normal numbers.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Student's density with 24 degrees of freedom.
fn density(t: f64) -> f64 {
    // Gamma(25/2) / (Gamma(12) sqrt(24 pi)): the product of (k + 1/2) / (k + 1) for k from 0.
    let product: f64 = (0..11).map(|k| (f64::from(k) + 0.5) / (f64::from(k) + 1.0)).product();
    let factor = 11.5 * product / 24.0_f64.sqrt();
    factor * (1.0 + t * t / 24.0).powf(-12.5)
}

/// The probability below `t`, by Simpson's rule.
fn below(t: f64) -> f64 {
    let t = t.clamp(-200.0, 200.0);
    let steps = 2000;
    let h = t / f64::from(steps);
    let inner: f64 = (1..steps)
        .map(|i| f64::from(if i % 2 == 1 { 4 } else { 2 }) * density(h * f64::from(i)))
        .sum();
    0.5 + h / 3.0 * (density(0.0) + inner + density(t))
}

/// Probability of an impulse, and what it added, of each pixel.
fn literal(pixels: &Pixels<'_>, share: f64, rounds: usize) -> Vec<(f64, f64)> {
    let n = pixels.sample.len();
    let least = pixels.deviation.iter().fold(f64::MAX, |m, &v| m.min(v.into())).max(1.0);
    let offsets: Vec<f64> = (-84..=84).map(|k| 3.0 * f64::from(k)).collect();
    let noise = f64::from(pixels.noise).max(1.0);
    let possible = |u: f64| u.abs() >= 2.5 * noise;
    let uniform = 1.0 / offsets.iter().filter(|&&u| possible(u)).count() as f64;
    let mut parts: Vec<f64> =
        offsets.iter().map(|&u| if possible(u) { uniform } else { 0.0 }).collect();
    // Deviations in thirds of octaves, residuals in whole units.
    let spread = |i: usize| {
        let octaves = (f64::from(pixels.deviation[i]) / least).log2();
        least * ((octaves * 3.0).round().min(14.0) / 3.0).exp2()
    };
    let residual = |i: usize| f64::from(pixels.residual[i]).round().clamp(-255.0, 255.0);
    let likelihood = |i: usize, u: f64| {
        let (t, y) = ((residual(i) - u) / spread(i), pixels.sample[i]);
        if y <= pixels.ends.0 {
            below(t)
        } else if y >= pixels.ends.1 {
            below(-t)
        } else {
            density(t) / spread(i)
        }
    };
    let table: Vec<Vec<f64>> =
        (0..n).map(|i| offsets.iter().map(|&u| likelihood(i, u)).collect()).collect();
    let value = |i: usize| (pixels.sample[i].round().max(0.0) as usize).min(255);
    let mut values = vec![1.0 / 256.0; 256];
    let (mut offset, mut replaced, mut groups) = (share / 2.0, share / 2.0, [share; 2]);
    let weigh = |i: usize, parts: &[f64], values: &[f64], shares: (f64, f64), groups: [f64; 2]| {
        let log_odds = |p: f64| (p / (1.0 - p)).ln();
        let mean = log_odds(shares.0 + shares.1);
        let group = log_odds(groups[usize::from(pixels.marked[i])]);
        let prior = 1.0 / (1.0 + (-(mean + 0.25 * (group - mean))).exp());
        let of_offset: f64 = parts.iter().zip(&table[i]).map(|(part, l)| part * l).sum();
        let total = shares.0 + shares.1;
        [
            (1.0 - prior) * table[i][84],
            prior * shares.0 / total * of_offset,
            prior * shares.1 / total * values[value(i)],
        ]
    };
    for _ in 0..rounds {
        let mut new_parts = vec![0.0; offsets.len()];
        let mut new_values = vec![20.0 / 256.0; 256];
        let mut sums = [(0.0, 0.0); 2];
        let (mut new_offset, mut new_replaced, mut number) = (0.0, 0.0, 0.0);
        for i in (0..n).filter(|&i| !pixels.known[i]) {
            let kinds = weigh(i, &parts, &values, (offset, replaced), groups);
            let sum: f64 = kinds.iter().sum();
            let of_offset: f64 = parts.iter().zip(&table[i]).map(|(part, l)| part * l).sum();
            for (new, (part, l)) in new_parts.iter_mut().zip(parts.iter().zip(&table[i])) {
                *new += kinds[1] / sum * part * l / of_offset;
            }
            new_offset += kinds[1] / sum;
            if residual(i).abs() >= 3.0 * spread(i) {
                new_values[value(i)] += kinds[2] / sum;
                new_replaced += kinds[2] / sum;
            }
            sums[usize::from(pixels.marked[i])].0 += (kinds[1] + kinds[2]) / sum;
            sums[usize::from(pixels.marked[i])].1 += 1.0;
            number += 1.0;
        }
        let total: f64 = new_parts.iter().sum();
        parts = (0..169).map(|k| (new_parts[k] + new_parts[168 - k]) / (2.0 * total)).collect();
        values = new_values.iter().map(|value| value / (new_replaced + 20.0)).collect();
        (offset, replaced) = (new_offset / number, new_replaced / number);
        let all = (sums[0].0 + sums[1].0) / number;
        groups = sums.map(|(impulses, pixels)| (impulses + 50.0 * all) / (pixels + 50.0));
    }
    let judge = |i: usize| {
        let kinds = weigh(i, &parts, &values, (offset, replaced), groups);
        let impulses = kinds[1] + kinds[2];
        let impulse = impulses / (kinds[0] + impulses);
        let of_offset: f64 = parts.iter().zip(&table[i]).map(|(part, l)| part * l).sum();
        let moment = |power: i32| -> f64 {
            let terms = parts.iter().zip(&table[i]).zip(&offsets);
            terms.map(|((part, l), u)| part * l * u.powi(power)).sum::<f64>() / of_offset
        };
        let variance = moment(2) - moment(1).powi(2);
        let inside = pixels.sample[i] > pixels.ends.0 && pixels.sample[i] < pixels.ends.1;
        let known = if inside { noise * noise / (noise * noise + variance) } else { 0.0 };
        let e = f64::from(pixels.residual[i]);
        let added = e - kinds[1] / impulses * known * (e - moment(1));
        (impulse, impulse * added)
    };
    (0..n).map(judge).collect()
}

#[test]
fn the_posterior_is_that_of_the_formulas() {
    // Offsets of one size; salt and pepper; values of any size.
    for (seed, kind) in [(1, 0), (2, 1), (3, 2)] {
        let mut random = Random(seed);
        let (mut residual, mut sample, mut deviation) = (Vec::new(), Vec::new(), Vec::new());
        let (mut marked, mut known) = (Vec::new(), Vec::new());
        for i in 0..3000 {
            let (f, v) = (20.0 + 210.0 * random.uniform(), 8.0 + 12.0 * random.uniform());
            let is_impulse = random.uniform() < 0.15;
            let side = if random.uniform() < 0.5 { 1.0 } else { -1.0 };
            let noisy = f + v * random.normal();
            let y = match (is_impulse, kind) {
                (false, _) => noisy,
                (true, 0) => noisy + 100.0 * side,
                (true, 1) => 127.5 + 127.5 * side,
                (true, _) => 255.0 * random.uniform(),
            };
            let y = y.clamp(0.0, 255.0);
            residual.push((y - f) as f32);
            sample.push(y as f32);
            deviation.push(v as f32);
            marked.push(is_impulse && random.uniform() < 0.7 || random.uniform() < 0.02);
            known.push(i % 50 == 7);
        }
        let pixels = Pixels {
            residual: &residual,
            sample: &sample,
            deviation: &deviation,
            marked: &marked,
            known: &known,
            ends: (0.0, 255.0),
            noise: 8.0,
        };
        let expected = literal(&pixels, 0.1, super::ROUNDS);
        let mut model = Model::new(0.1);
        let ours = model.judge(pixels);
        for i in 0..residual.len() {
            let (impulse, added) = if known[i] { (0.0, 0.0) } else { expected[i] };
            let [p, u] = [ours.impulse[i], ours.added[i]].map(f64::from);
            assert!((p - impulse).abs() < 2e-3, "kind {kind}, {i}: {p} for {impulse}");
            assert!((u - added).abs() < 0.3, "kind {kind}, {i}: {u} for {added}");
        }
    }
}

/// Dark parts of an image are full of the least value; that makes none of it an impulse.
#[test]
fn frequent_values_are_no_impulses() {
    let mut random = Random(4);
    let f = |i: usize| if i.is_multiple_of(3) { 0.0 } else { 100.0 };
    let noisy = |i: usize, random: &mut Random| (f(i) + 2.0 * random.normal()).max(0.0);
    let sample: Vec<f32> = (0..6000).map(|i| noisy(i, &mut random) as f32).collect();
    let residual: Vec<f32> = (0..6000).map(|i| sample[i] - f(i) as f32).collect();
    let no = [false; 6000];
    let pixels = Pixels {
        residual: &residual,
        sample: &sample,
        deviation: &[2.0; 6000],
        marked: &no,
        known: &no,
        ends: (0.0, 107.0),
        noise: 2.0,
    };
    let mut model = Model::new(0.2);
    for _ in 0..5 {
        let posterior = model.judge(pixels);
        assert!(posterior.impulse.iter().filter(|&&p| p > 0.5).count() < 60);
    }
}
