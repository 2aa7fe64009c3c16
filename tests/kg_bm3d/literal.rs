//! The loop of KG-BM3D written down as it is described: each pixel by itself, no tables, double
//! precision. KGARD, BM3D and the noise level are the library's own.

use kgard::denoise::bm3d::{Bm3d, Transform};
use kgard::denoise::{Denoiser, Plane, noise_level};

const OFFSETS: usize = 169;
const VALUES: usize = 256;

/// What is known of a pixel.
struct Pixel {
    sample: f64,
    /// The residual of the pilot, to whole units.
    residual: f64,
    /// The deviation of the residuals there, to thirds of octaves.
    deviation: f64,
    marked: bool,
    /// Whether the sample is at the lower or the upper end of the range.
    end: (bool, bool),
    /// The likelihoods of all offsets.
    along: Vec<f64>,
}

/// Shares and histograms.
struct Model {
    offset: f64,
    replaced: f64,
    /// The parts of offsets from -252 to 252 in steps of three.
    offsets: Vec<f64>,
    values: Vec<f64>,
    /// Impulses among unmarked and marked pixels.
    groups: [f64; 2],
}

fn offset(k: usize) -> f64 {
    3.0 * (k as f64 - 84.0)
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
    let h = t.clamp(-100.0, 100.0) / 400.0;
    let inner: f64 = (1..400)
        .map(|i| f64::from(if i % 2 == 1 { 4 } else { 2 }) * density(h * f64::from(i)))
        .sum();
    0.5 + h / 3.0 * (density(0.0) + inner + density(400.0 * h))
}

impl Pixel {
    /// The likelihood of the pixel as an offset one.
    fn likelihood(&self, u: f64) -> f64 {
        let t = (self.residual - u) / self.deviation;
        match self.end {
            (true, _) => below(t),
            (_, true) => below(-t),
            _ => density(t) / self.deviation,
        }
    }

    fn value(&self, (least, greatest): (f64, f64)) -> usize {
        ((self.sample - least) * 255.0 / (greatest - least)).round() as usize
    }
}

impl Model {
    fn new(share: f64) -> Self {
        Self {
            offset: share / 2.0,
            replaced: share / 2.0,
            offsets: vec![1.0; OFFSETS],
            values: vec![1.0 / VALUES as f64; VALUES],
            groups: [share; 2],
        }
    }

    /// Prior times likelihood of clean, offset, replaced.
    fn weigh(&self, pixel: &Pixel, ends: (f64, f64)) -> [f64; 3] {
        let log_odds = |p: f64| (p / (1.0 - p)).ln();
        let bounded = |p: f64| p.clamp(1e-6, 0.999);
        let share = self.offset + self.replaced;
        let mean = log_odds(bounded(share));
        let group = log_odds(bounded(self.groups[usize::from(pixel.marked)]));
        let prior = 1.0 / (1.0 + (-(mean + 0.25 * (group - mean))).exp());
        let of_offset: f64 = (0..OFFSETS).map(|k| self.offsets[k] * pixel.along[k]).sum();
        let density = self.values[pixel.value(ends)] * 255.0 / (ends.1 - ends.0);
        [
            (1.0 - prior) * pixel.along[OFFSETS / 2],
            prior * self.offset / share * of_offset,
            prior * self.replaced / share * density,
        ]
    }

    /// A round of EM.
    fn round(&mut self, pixels: &[Pixel], ends: (f64, f64)) {
        let mut offsets = vec![0.0; OFFSETS];
        let mut values = vec![20.0 / VALUES as f64; VALUES];
        let (mut offset_sum, mut replaced, mut counted) = (0.0, 0.0, 20.0);
        let mut groups = [(0.0, 0.0); 2];
        for pixel in pixels {
            let parts = self.weigh(pixel, ends);
            let sum: f64 = parts.iter().sum();
            let [_, is_offset, is_replaced] = parts.map(|part| part / sum);
            let along: Vec<f64> = (0..OFFSETS).map(|k| self.offsets[k] * pixel.along[k]).collect();
            let total: f64 = along.iter().sum::<f64>().max(1e-30);
            for (sum, part) in offsets.iter_mut().zip(along) {
                *sum += is_offset * part / total;
            }
            offset_sum += is_offset;
            if pixel.residual.abs() >= 3.0 * pixel.deviation {
                values[pixel.value(ends)] += is_replaced;
                replaced += is_replaced;
                counted += is_replaced;
            }
            let group = &mut groups[usize::from(pixel.marked)];
            *group = (group.0 + is_offset + is_replaced, group.1 + 1.0);
        }
        let total: f64 = offsets.iter().sum();
        for k in 0..OFFSETS {
            self.offsets[k] = (offsets[k] + offsets[OFFSETS - 1 - k]) / 2.0 / total;
        }
        self.values = values.iter().map(|value| value / counted).collect();
        let n = pixels.len() as f64;
        self.offset = (offset_sum / n).max(1e-6);
        self.replaced = (replaced / n).max(1e-6);
        let all = (groups[0].0 + groups[1].0) / n;
        self.groups = groups.map(|(impulses, n)| (impulses + 50.0 * all) / (n + 50.0));
    }

    /// EM; then of each pixel, with its exact residual and deviation, the probability of an impulse
    /// and the mean of what it added. At last the mean variance of what is left.
    fn judge(
        &mut self,
        pixels: &[Pixel],
        exact: &[(f64, f64)],
        ends: (f64, f64),
        noise: f64,
    ) -> (Vec<[f64; 2]>, f64) {
        let measured_noise = noise.max(1.0);
        for (k, part) in self.offsets.iter_mut().enumerate() {
            let is_seen = offset(k).abs() >= 2.5 * measured_noise;
            *part = if is_seen { part.max(1e-7) } else { 0.0 };
        }
        let sum: f64 = self.offsets.iter().sum();
        self.offsets.iter_mut().for_each(|part| *part /= sum);
        for _ in 0..10 {
            self.round(pixels, ends);
        }
        let mut variance = 0.0;
        let of_pixels = pixels.iter().map(|pixel| {
            let [clean, is_offset, is_replaced] = self.weigh(pixel, ends);
            let p = (is_offset + is_replaced) / (clean + is_offset + is_replaced);
            // Mean and variance of the offset.
            let moment = |power: i32| -> f64 {
                let along =
                    (0..OFFSETS).map(|k| self.offsets[k] * pixel.along[k] * offset(k).powi(power));
                along.sum()
            };
            let total = moment(0).max(1e-30);
            let mean = moment(1) / total;
            let spread = moment(2) / total - mean * mean;
            let square = measured_noise * measured_noise;
            // How far the pixel is a measurement in spite of the impulse.
            let measured = match pixel.end {
                (false, false) => {
                    is_offset / (is_offset + is_replaced) * square / (square + spread)
                }
                _ => 0.0,
            };
            (p, mean, measured, square)
        });
        let judged: Vec<_> = of_pixels.collect();
        let result = exact.iter().zip(judged).map(|(&(e, v), (p, mean, measured, square))| {
            let added = e - measured * (e - mean);
            variance += (1.0 - p) * noise * noise
                + p * (measured * square + (1.0 - measured) * v * v)
                + p * (1.0 - p) * added * added;
            [p, p * added]
        });
        let result = result.collect();
        (result, variance / pixels.len() as f64)
    }
}

/// The deviation of residuals around each pixel but that of itself.
fn misfit(residual: &[f64], weight: &[f64], width: usize, noise: f64) -> Vec<f64> {
    let height = residual.len() / width;
    let around = |i: usize, counts: &dyn Fn(usize) -> bool| {
        let (x, y) = (i % width, i / width);
        let (mut sum, mut weights) = (noise * noise, 1.0);
        for v in y.saturating_sub(2)..(y + 3).min(height) {
            for u in x.saturating_sub(2)..(x + 3).min(width) {
                let j = v * width + u;
                if j != i && counts(j) {
                    sum += weight[j] * residual[j] * residual[j];
                    weights += weight[j];
                }
            }
        }
        (sum / weights).max(noise * noise).sqrt()
    };
    let all = 0..residual.len();
    let first: Vec<f64> = all.clone().map(|i| around(i, &|_| true)).collect();
    all.map(|i| around(i, &|j| residual[j].abs() <= 3.0 * first[j])).collect()
}

/// The marks that are part of a drawing: where those of one sign are side by side more often than by
/// chance, all that have such a neighbour.
fn drawn(u: &[f32], width: usize) -> Vec<usize> {
    let sign = |i: usize| u[i].partial_cmp(&0.0).map_or(0, |order| order as i32);
    let neighbours = |i: usize| {
        let (x, y, height) = (i % width, i / width, u.len() / width);
        let right = (x + 1 < width).then_some(i + 1);
        let below = (y + 1 < height).then_some(i + width);
        let left = (x > 0).then(|| i - 1);
        let above = (y > 0).then(|| i - width);
        [right, below, left, above]
    };
    let is_like = |i: usize, j: usize| sign(i) != 0 && sign(i) == sign(j);
    let (mut pairs, mut counts) = (0.0, [0.0, 0.0]);
    for i in (0..u.len()).filter(|&i| sign(i) != 0) {
        counts[usize::from(sign(i) > 0)] += 1.0;
        let forward = neighbours(i).into_iter().take(2).flatten();
        pairs += forward.filter(|&j| is_like(i, j)).count() as f64;
    }
    let places = 2.0 * (counts[0] + counts[1]);
    let by_chance = 2.0 * (counts[0] * counts[0] + counts[1] * counts[1]) / u.len() as f64;
    let least = pairs - 3.0 * (2.0 * by_chance).sqrt();
    // Twice the odds.
    if least * (places - by_chance) <= 2.0 * by_chance * (places - least) {
        return vec![];
    }
    let has_twin = |i: usize| neighbours(i).into_iter().flatten().any(|j| is_like(i, j));
    (0..u.len()).filter(|&i| has_twin(i)).collect()
}

/// A BM3D to judge by.
fn pilot(image: &[f32], width: usize, sigma: f32) -> Vec<f32> {
    let mut bm3d = Bm3d::for_noise(sigma, 255.0);
    for stage in [&mut bm3d.first, &mut bm3d.second] {
        stage.step = 5;
        stage.radius = 14;
        stage.max_distance = f32::INFINITY;
    }
    bm3d.first.transform = Transform::Dct;
    let plane = Plane::new(image, width, image.len() / width).unwrap();
    bm3d.denoise(plane, sigma).unwrap().into_samples()
}

/// What the loop makes of a picture: pixels, noise, and which are impulses.
pub(crate) struct Result {
    pub(crate) pixels: Vec<f32>,
    pub(crate) noise: f32,
    pub(crate) impulses: Vec<bool>,
}

/// The whole method on a grey picture without dead lines, gross values, and noise that grows with the
/// brightness.
pub(crate) fn kg_bm3d(image: &[f32], width: usize) -> Result {
    let n = image.len();
    let denoised = |samples: &[f32]| {
        let image = Plane::new(samples, width, n / width).unwrap();
        Denoiser::<f32>::new().denoise(image).unwrap()
    };
    let ends = |samples: &[f32]| {
        let low = samples.iter().copied().fold(f32::INFINITY, f32::min);
        (low, samples.iter().copied().fold(f32::NEG_INFINITY, f32::max))
    };
    // Units: first the range of the picture, then that of what KGARD makes of it.
    let (low, high) = ends(image);
    let whole: Vec<f32> = image.iter().map(|y| (y - low) / (high - low) * 255.0).collect();
    let kgard = denoised(&whole);
    let (inner_low, inner_high) = ends(kgard.channels[0].samples());
    let per_unit = (inner_high - inner_low) / 255.0;
    let y: Vec<f32> = whole.iter().map(|y| (y - inner_low) / per_unit).collect();
    let u: Vec<f32> = kgard.outliers.values[0].samples().iter().map(|u| u / per_unit).collect();
    let mut marked: Vec<bool> = u.iter().map(|&u| u != 0.0).collect();
    let share = marked.iter().filter(|&&marked| marked).count() as f64 / n as f64;
    for i in drawn(&u, width) {
        marked[i] = false;
    }

    let noise_of_windows = |p: &[f64]| {
        let ignore: Vec<bool> = p.iter().map(|&p| p > 0.5).collect();
        let (image, ignore) = (
            Plane::new(&y[..], width, n / width).unwrap(),
            Plane::new(&ignore[..], width, n / width).unwrap(),
        );
        f64::from(noise_level(image, Some(ignore)).unwrap())
    };
    let mut p: Vec<f64> = marked.iter().map(|&marked| if marked { 0.9 } else { 0.0 }).collect();
    let left = |i: usize| if marked[i] { u[i].clamp(-100.0, 100.0) } else { 0.0 };
    let left: Vec<f32> = (0..n).map(left).collect();
    let mut cleaned: Vec<f32> =
        (0..n).map(|i| if marked[i] { y[i] - (u[i] - left[i]) } else { y[i] }).collect();
    let squares: f64 = left.iter().map(|&u| f64::from(u * u)).sum();
    let mut strength = noise_of_windows(&p).max((squares / n as f64).sqrt());
    let mut model = Model::new(share);
    let (least, greatest) = ends(&y);
    let (least, greatest) = (f64::from(least), f64::from(greatest));
    let mut bound = f64::INFINITY;
    for round in 1..=6 {
        let pilot = pilot(&cleaned, width, strength.max(0.3) as f32);
        let residual: Vec<f64> = y.iter().zip(&pilot).map(|(y, f)| f64::from(y - f)).collect();
        let (mut noise, mut rms, mut variance) = (0.0, 0.0, 0.0);
        for _ in 0..if round == 1 { 3 } else { 1 } {
            let windows = noise_of_windows(&p);
            noise = windows.min(bound);
            let weight: Vec<f64> = p.iter().map(|p| 1.0 - p).collect();
            let deviation = misfit(&residual, &weight, width, noise);
            let first = deviation.iter().copied().fold(f64::INFINITY, f64::min).max(1.0);
            let pixels: Vec<Pixel> = (0..n)
                .map(|i| {
                    let thirds = (3.0 * (deviation[i] / first).max(1.0).log2()).round().min(14.0);
                    let sample = f64::from(y[i]);
                    let mut pixel = Pixel {
                        along: vec![],
                        sample,
                        residual: residual[i].round().clamp(-255.0, 255.0),
                        deviation: first * (thirds / 3.0).exp2(),
                        marked: marked[i],
                        end: (sample <= least, sample >= greatest),
                    };
                    pixel.along = (0..OFFSETS).map(|k| pixel.likelihood(offset(k))).collect();
                    pixel
                })
                .collect();
            let exact: Vec<(f64, f64)> = residual.iter().copied().zip(deviation).collect();
            let (posterior, left) = model.judge(&pixels, &exact, (least, greatest), noise);
            variance = left;
            for (i, [probability, added]) in posterior.into_iter().enumerate() {
                p[i] = probability;
                cleaned[i] = y[i] - added as f32;
            }
            // What is left of the pixels that are clean and not cut off.
            let (mut squares, mut weights) = (0.0, 0.0);
            for i in (0..n).filter(|&i| pixels[i].end == (false, false)) {
                squares += (1.0 - p[i]) * residual[i] * residual[i];
                weights += 1.0 - p[i];
            }
            rms = (squares / weights).sqrt();
            if strength >= windows {
                bound = bound.min(rms / 0.96);
            }
        }
        let has_settled = rms < 2.0 * noise.max(1.0);
        let mut next = variance.sqrt();
        if !has_settled {
            next = next.max(rms.min(strength / 1.5));
        }
        strength = (next * next * strength.max(next)).cbrt();
        if round >= 3 && has_settled {
            break;
        }
    }
    let noise = noise_of_windows(&p).min(bound) as f32;
    let cleaned = Plane::new(&cleaned[..], width, n / width).unwrap();
    let filtered = Bm3d::for_noise(noise, 255.0).denoise(cleaned, noise).unwrap();
    let scale = (high - low) / 255.0;
    let in_samples = |x: &f32| low + (inner_low + x * per_unit) * scale;
    Result {
        pixels: filtered.samples().iter().map(in_samples).collect(),
        noise: noise * per_unit * scale,
        impulses: p.iter().map(|&p| p > 0.5).collect(),
    }
}
