//! Pictures with strokes, noise and impulses, and the candidates in them.

use crate::candidates::{Pixels, seen};
use crate::network::Candidate;
use crate::random::Random;
use kgard::denoise::{Band, Denoiser, Masks, Plane, SampleRange};

/// The largest part of a picture that is spoiled at a time: rows and columns.
pub(crate) const SIDE: usize = 256;
/// One in so many candidates is learned from.
const ONE_IN: f64 = 3.0;
/// The cost of missing an impulse; a clean pixel costs the square of its distance from its
/// neighbours' median, in units of the impulses' size, if it is taken for one.
const MISSING: f32 = 1.5;
/// The part of the pictures with strokes: with 0.15 KGARD took 0.62 of thin lines among as large
/// impulses for these, with 0.35 and 0.6 about 0.43.
const DRAWN: f64 = 0.6;

/// A grey picture.
pub(crate) struct Picture {
    pub(crate) samples: Vec<f64>,
    pub(crate) width: usize,
}

impl Picture {
    /// A part of the picture, [`SIDE`] pixels a side where it is as large.
    fn part(&self, random: &mut Random) -> Self {
        let height = self.samples.len() / self.width;
        let (across, down) = (self.width.min(SIDE), height.min(SIDE));
        let left = random.below(self.width - across + 1);
        let top = random.below(height - down + 1);
        let rows = self.samples.chunks_exact(self.width).skip(top).take(down);
        let samples = rows.flat_map(|row| row[left..left + across].iter().copied());
        Self { samples: samples.collect(), width: across }
    }
}

/// A picture from formulas: gratings, threads and soft shades in pieces, 3 to 12 pixels a period.
pub(crate) fn texture(number: u64) -> Picture {
    let mut random = Random(0x7e87 + number);
    let tau = std::f64::consts::TAU;
    let n = 512;
    let pieces: Vec<[f64; 8]> =
        (0..16).map(|_| std::array::from_fn(|_| random.uniform())).collect();
    let sample = |x: f64, y: f64| {
        let distance = |p: &[f64; 8]| {
            let (dx, dy) = (p[0] * n as f64 - x, p[1] * n as f64 - y);
            dx * dx + dy * dy
        };
        let nearest = (0..pieces.len())
            .min_by(|&a, &b| distance(&pieces[a]).total_cmp(&distance(&pieces[b])))
            .unwrap_or(0);
        let [_, _, period, contrast, angle, bend, mean, shade] = pieces[nearest];
        let period = 3.0 * libm::pow(4.0, period);
        let (sin, cos) = libm::sincos(tau * angle);
        let x = x + 6.0 * bend * libm::sin(tau * y / (60.0 + 80.0 * bend));
        let (u, v) = (x * cos + y * sin, y * cos - x * sin);
        let wave = |t: f64| libm::sin(tau * t / period);
        let threads = match nearest % 4 {
            0 => wave(u),
            1 => wave(u) * wave(v),
            2 => 0.6 * wave(u + v / 3.0) + 0.4 * wave(u) * wave(v / 1.5),
            _ => 0.0,
        };
        let soft = 25.0 * libm::sin(tau * (u / 220.0 + shade));
        (70.0 + 110.0 * mean + soft + 60.0 * contrast * threads).clamp(0.0, 255.0)
    };
    let samples = (0..n * n).map(|i| sample((i % n) as f64, (i / n) as f64));
    Picture { samples: samples.collect(), width: n }
}

/// Draws strokes of one pixel, straight and bent, as in drawings and letters.
fn draw(Picture { samples, width }: &mut Picture, random: &mut Random) {
    let (width, height) = (*width, samples.len() / *width);
    let pixels_per_stroke = random.between(1500.0, 12000.0);
    for _ in 0..(samples.len() as f64 / pixels_per_stroke) as usize {
        let tone = 255.0 * random.uniform();
        let quarter = std::f64::consts::FRAC_PI_2;
        let turns = 4.0 * random.uniform();
        let mut angle = quarter * if random.uniform() < 0.4 { turns.floor() } else { turns };
        let bend = if random.uniform() < 0.5 { 0.4 * (random.uniform() - 0.5) } else { 0.0 };
        let (mut x, mut y) = (width as f64 * random.uniform(), height as f64 * random.uniform());
        // Letters are short, rulings long.
        let longest = if random.uniform() < 0.7 { 48.0 } else { 160.0 };
        for _ in 0..random.between(4.0, longest) as usize {
            if !(0.0..width as f64).contains(&x) || !(0.0..height as f64).contains(&y) {
                break;
            }
            samples[y as usize * width + x as usize] = tone;
            // One pixel along the longer axis.
            let (sin, cos) = libm::sincos(angle);
            let step = 1.0 / sin.abs().max(cos.abs());
            (x, y, angle) = (x + step * cos, y + step * sin, angle + bend);
        }
    }
}

/// The candidates of a part of a picture with noise and impulses, all by chance.
pub(crate) fn candidates(picture: &Picture, seed: u64) -> Vec<Candidate> {
    let mut random = Random(seed);
    let mut clean = picture.part(&mut random);
    if random.uniform() < DRAWN {
        draw(&mut clean, &mut random);
    }
    let width = clean.width;
    // Signal to noise: 13 to 30 dB, and 12 more in 15 % of the pictures.
    let decibels =
        13.0 + 17.0 * random.uniform() + if random.uniform() < 0.15 { 12.0 } else { 0.0 };
    let power = clean.samples.iter().map(|c| c * c).sum::<f64>() / clean.samples.len() as f64;
    let sigma = (power * libm::pow(10.0, -decibels / 10.0)).sqrt();
    // 5 % of the pictures have no impulses, the others 1.5 to 24 %.
    let share = if random.uniform() < 0.05 { 0.0 } else { random.between(0.015, 0.24) };
    let size = random.between(50.0, 200.0);
    let kind = random.uniform();
    let (mut pixels, mut is_impulse) = (vec![], vec![]);
    for c in &clean.samples {
        let noisy = c + sigma * random.normal();
        let is_hit = random.uniform() < share;
        let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
        let pixel = match kind {
            _ if !is_hit => noisy,
            0.0..0.1 => 127.5 * (1.0 + sign),
            0.1..0.2 => 255.0 * random.uniform(),
            _ => noisy + sign * size,
        };
        pixels.push(pixel as f32);
        is_impulse.push(is_hit && (pixel - c).abs() > 2.5 * sigma);
    }
    let height = pixels.len() / width;
    let rows = Plane::new(&pixels, width, height).expect("a rectangle");
    let plan = Denoiser::<f32>::new().plan().expect("the defaults are valid");
    let grid = plan.grid(width, height).expect("large enough");
    let band = Band { rows, masks: Masks::default(), top: 0, height };
    let known = plan
        .survey(band, 0..grid.rows(), SampleRange::new(0.0, 255.0).expect("a range"))
        .and_then(|survey| survey.conditions())
        .expect("finite samples");
    let (noise, size) = (f64::from(known.noise.max(1.0)), f64::from(known.size));
    if size <= 0.0 {
        return vec![];
    }
    let pixels: Vec<f64> = pixels.into_iter().map(f64::from).collect();
    let pixels = Pixels::new(&pixels, width);
    let amplitude = size / 0.575;
    let circumstances = [noise / amplitude, f64::from(known.impulses)];
    let mut all = vec![];
    for (i, &is_impulse) in is_impulse.iter().enumerate() {
        let is_candidate = pixels.can_be(i, known.witnesses, known.limit.into(), noise, size);
        if is_candidate && random.uniform() * ONE_IN < 1.0 {
            let off = (pixels.off(i).abs() / amplitude).clamp(0.2, 1.0) as f32;
            all.push(Candidate {
                inputs: seen(&pixels, i, amplitude, circumstances).map(|x| x as f32),
                is_impulse,
                weight: if is_impulse { MISSING } else { off * off },
            });
        }
    }
    all
}
