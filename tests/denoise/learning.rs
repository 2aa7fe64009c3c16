//! How the judge has learned what it knows: from photographs with noise and impulses, and
//! from which of the pixels that stand alone were impulses.
//!
//! ```sh
//! KGARD_PICTURES=folder cargo test --release --features rayon --test denoise judge_learns -- --ignored --nocapture
//! ```
//!
//! writes `src/denoise/detect/classifier/weights.rs` anew.

use super::common::problem::Random;
use super::literal::weights::{GLANCE, INPUTS, STUDY, numbers};
use super::literal::{Pixels, seen};
use image::imageops::{FilterType, resize};
use kgard::denoise::{Denoiser, Plane};
use rayon::prelude::*;
use std::fmt::Write;

/// Sizes of each photograph, and times that each is spoilt.
const SCALES: [f64; 3] = [1.0, 0.6, 0.4];
const TIMES: u64 = 60;
/// The part of these that have been drawn on.
const DRAWN: f64 = 0.15;
/// Of the training.
const EPOCHS: usize = 8;
const BATCH: usize = 2048;
const RATE: f32 = 0.004;
/// How much more it matters to miss an impulse.
const MISSING: f32 = 1.5;
/// What log-odds are multiplied with to be a part of the limit, and what is taken off them
/// before: some of what missing an impulse was given more.
const SLOPE: f64 = 0.15;
const CAUTION: f64 = 0.13;

/// One pixel that stands alone, but not clearly.
struct Candidate {
    inputs: [f32; INPUTS],
    is_impulse: bool,
    /// How much it matters: good pixels by the square of what they are off by.
    weight: f32,
}

/// Draws strokes of one pixel, straight and bent, as pens and letters have them.
fn draw(pixels: &mut [f64], width: usize, random: &mut Random) {
    let height = pixels.len() / width;
    let density = 1500.0 * 8_f64.powf(random.uniform());
    for _ in 0..(pixels.len() as f64 / density) as usize {
        let tone = 255.0 * random.uniform();
        let quarter = std::f64::consts::FRAC_PI_2;
        let turns = 4.0 * random.uniform();
        let mut angle = quarter * if random.uniform() < 0.4 { turns.floor() } else { turns };
        let bend = if random.uniform() < 0.5 { 0.4 * (random.uniform() - 0.5) } else { 0.0 };
        let (mut x, mut y) = (width as f64 * random.uniform(), height as f64 * random.uniform());
        for _ in 0..(4.0 * 16_f64.powf(random.uniform())) as usize {
            if !(0.0..width as f64).contains(&x) || !(0.0..height as f64).contains(&y) {
                break;
            }
            pixels[y as usize * width + x as usize] = tone;
            // One pixel along the longer axis.
            let (sin, cos) = angle.sin_cos();
            let step = 1.0 / sin.abs().max(cos.abs());
            (x, y, angle) = (x + step * cos, y + step * sin, angle + bend);
        }
    }
}

/// The candidates of a photograph with noise and impulses of its own.
fn candidates(clean: &[f64], width: usize, seed: u64) -> Vec<Candidate> {
    let mut random = Random(seed);
    let mut clean = clean.to_vec();
    if random.uniform() < DRAWN {
        draw(&mut clean, width, &mut random);
    }
    let decibels =
        13.0 + 17.0 * random.uniform() + if random.uniform() < 0.15 { 12.0 } else { 0.0 };
    let power = clean.iter().map(|c| c * c).sum::<f64>() / clean.len() as f64;
    let sigma = (power / 10_f64.powf(decibels / 10.0)).sqrt();
    // Clean photographs have details only.
    let share = if random.uniform() < 0.05 { 0.0 } else { 0.015 * 16_f64.powf(random.uniform()) };
    let size = 50.0 * 4_f64.powf(random.uniform());
    let kind = random.uniform();
    let (mut pixels, mut is_impulse) = (vec![], vec![]);
    for c in &clean {
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
    let image = Plane::new(&pixels, width, pixels.len() / width).unwrap();
    let known = Denoiser::new().denoise(image).unwrap().report.channels[0].conditions.unwrap();
    let (noise, size) = (f64::from(known.noise.max(1.0)), f64::from(known.size));
    if size <= 0.0 {
        return vec![];
    }

    let pixels: Vec<f64> = pixels.into_iter().map(f64::from).collect();
    let pixels = Pixels::new(&pixels, width);
    let amplitude = size / 0.575;
    let circumstances = [noise / amplitude, f64::from(known.impulses)];
    let is_judged = |&i: &usize| {
        pixels.can_be(i, known.witnesses, known.extreme.into(), noise, size)
            && !pixels.is_clear(i, size)
    };
    let candidate = |i: usize| {
        let off = (pixels.off(i).abs() / amplitude).clamp(0.2, 1.0) as f32;
        Candidate {
            inputs: seen(&pixels, i, amplitude, circumstances).map(|x| x as f32),
            is_impulse: is_impulse[i],
            weight: if is_impulse[i] { MISSING } else { off * off },
        }
    };
    (0..is_impulse.len()).filter(is_judged).map(candidate).collect()
}

/// Where the weights of the second layer begin in a table, and those of its units: for each
/// input, and the constant one, there is a weight for each unit, of the first layer and of the
/// second; then what each unit of that adds to the log-odds, and what these begin with.
const fn layers(first: usize, second: usize) -> (usize, usize) {
    let second_from = (INPUTS + 1) * first;
    (second_from, second_from + (first + 1) * second)
}

/// What units say.
fn layer<const UNITS: usize>(weights: &[f32], inputs: &[f32]) -> [f32; UNITS] {
    let (weights, begin) = weights.split_at(inputs.len() * UNITS);
    let mut units: [f32; UNITS] = std::array::from_fn(|unit| begin[unit]);
    for (weights, x) in weights.chunks_exact(UNITS).zip(inputs) {
        for (unit, weight) in units.iter_mut().zip(weights) {
            *unit += weight * x;
        }
    }
    units.map(|unit| unit.max(0.0))
}

/// Adds to the gradient of a layer's weights, given that of what its units say; gives that
/// of its inputs.
fn back<const UNITS: usize, const INPUTS: usize>(
    weights: &[f32],
    inputs: &[f32; INPUTS],
    units: &[f32; UNITS],
    mut slope: [f32; UNITS],
    gradient: &mut [f32],
) -> [f32; INPUTS] {
    for (slope, unit) in slope.iter_mut().zip(units) {
        if *unit <= 0.0 {
            *slope = 0.0;
        }
    }
    let (gradient, begin) = gradient.split_at_mut(INPUTS * UNITS);
    for (begin, slope) in begin.iter_mut().zip(slope) {
        *begin += slope;
    }
    let rows = gradient.chunks_exact_mut(UNITS).zip(weights.chunks_exact(UNITS));
    let mut of_inputs = [0.0; INPUTS];
    for (((gradient, weights), x), of_input) in rows.zip(inputs).zip(&mut of_inputs) {
        for ((gradient, weight), slope) in gradient.iter_mut().zip(weights).zip(slope) {
            *gradient += x * slope;
            *of_input += weight * slope;
        }
    }
    of_inputs
}

/// The cross-entropy of candidates, and its gradient.
fn loss<const FIRST: usize, const SECOND: usize>(
    learned: &[f32],
    batch: &[Candidate],
) -> (f32, Vec<f32>) {
    let (second_from, last_from) = layers(FIRST, SECOND);
    let (mut loss, mut gradient) = (0.0, vec![0.0; learned.len()]);
    for candidate in batch {
        let first: [f32; FIRST] = layer(&learned[..second_from], &candidate.inputs);
        let second: [f32; SECOND] = layer(&learned[second_from..last_from], &first);
        let last = &learned[last_from..];
        let odds = second.iter().zip(last).map(|(a, b)| a * b).sum::<f32>() + last[SECOND];
        let share = 1.0 / (1.0 + (-odds).exp());
        let right = if candidate.is_impulse { share } else { 1.0 - share };
        loss -= candidate.weight * right.max(1e-9).ln();

        let error = candidate.weight * (share - f32::from(u8::from(candidate.is_impulse)));
        let slope: [f32; SECOND] = std::array::from_fn(|unit| error * last[unit]);
        for (gradient, unit) in gradient[last_from..].iter_mut().zip(second.iter().chain(&[1.0])) {
            *gradient += error * unit;
        }
        let gradient_of = &mut gradient[second_from..last_from];
        let slope = back(&learned[second_from..last_from], &first, &second, slope, gradient_of);
        let inputs = &candidate.inputs;
        back(&learned[..second_from], inputs, &first, slope, &mut gradient[..second_from]);
    }
    (loss, gradient)
}

/// Brings inputs to units of their deviation from their mean; gives both of each.
fn standardise(all: &mut [Candidate]) -> Vec<(f64, f64)> {
    let count = all.len() as f64;
    let mean = |f: &dyn Fn(&Candidate) -> f64| all.iter().map(f).sum::<f64>() / count;
    let of = |i: usize| {
        let center = mean(&|c| c.inputs[i].into());
        let deviation = mean(&|c| (f64::from(c.inputs[i]) - center).powi(2)).sqrt();
        (center, deviation.max(1e-6))
    };
    let scales: Vec<(f64, f64)> = (0..INPUTS).map(of).collect();
    for candidate in all {
        for (input, (mean, deviation)) in candidate.inputs.iter_mut().zip(&scales) {
            *input = ((f64::from(*input) - mean) / deviation) as f32;
        }
    }
    scales
}

/// A network with so many units learns from candidates: its table, in the inputs' own units.
fn learn<const FIRST: usize, const SECOND: usize>(
    all: &mut [Candidate],
    scales: &[(f64, f64)],
    epochs: usize,
) -> Vec<f64> {
    let (second_from, last_from) = layers(FIRST, SECOND);
    let count = all.len() as f64;
    // Adam, with a rate that falls to nothing.
    let mut random = Random(0);
    let mut learned = vec![0.0_f32; numbers((FIRST, SECOND))];
    let of_layers = [(0, INPUTS, FIRST), (second_from, FIRST, SECOND), (last_from, SECOND, 1)];
    for (from, inputs, units) in of_layers {
        for weight in &mut learned[from..from + inputs * units] {
            *weight = (random.normal() * (2.0 / inputs as f64).sqrt()) as f32;
        }
    }
    let (mut first, mut second) = (vec![0.0; learned.len()], vec![0.0; learned.len()]);
    let steps = epochs * all.len().div_ceil(BATCH);
    let mut step = 0;
    let mut losses = vec![];
    for epoch in 0..epochs {
        for i in (1..all.len()).rev() {
            all.swap(i, random.below(i + 1));
        }
        let mut sum = 0.0;
        for batch in all.chunks(BATCH) {
            // In parts of their own, so that the sum is the same whoever computes them.
            let parts: Vec<_> = batch
                .par_chunks(BATCH / 4)
                .map(|part| loss::<FIRST, SECOND>(&learned, part))
                .collect();
            sum += parts.iter().map(|(loss, _)| f64::from(*loss)).sum::<f64>() / count;
            step += 1;
            let falling = std::f32::consts::PI * step as f32 / steps as f32;
            let rate = RATE * 0.5 * (1.0 + falling.cos());
            let (a, b) = (1.0 - 0.9_f32.powi(step), 1.0 - 0.999_f32.powi(step));
            for (i, weight) in learned.iter_mut().enumerate() {
                let slope = parts.iter().map(|(_, gradient)| gradient[i]).sum::<f32>();
                let slope = slope / batch.len() as f32;
                first[i] += 0.1 * (slope - first[i]);
                second[i] += 0.001 * (slope * slope - second[i]);
                *weight -= rate * (first[i] / a) / ((second[i] / b).sqrt() + 1e-8);
            }
        }
        println!("epoch {epoch}: {sum:.5}");
        losses.push(sum);
    }
    assert!(losses.is_sorted_by(|before, after| after < before), "{losses:?}");

    // In the inputs' own units, and as a part of the limit.
    let mut learned: Vec<f64> = learned.into_iter().map(f64::from).collect();
    for unit in 0..FIRST {
        for (i, (mean, deviation)) in scales.iter().enumerate() {
            learned[i * FIRST + unit] /= deviation;
            learned[INPUTS * FIRST + unit] -= learned[i * FIRST + unit] * mean;
        }
    }
    learned[last_from + SECOND] -= CAUTION;
    for weight in &mut learned[last_from..] {
        *weight *= SLOPE;
    }
    learned
}

#[test]
#[ignore = "writes a file of the source; wants KGARD_PICTURES"]
fn the_judge_learns() {
    let folder = std::env::var("KGARD_PICTURES").expect("a folder of photographs");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let mut pictures = vec![];
    for file in files {
        let whole = image::open(&file).unwrap().into_luma8();
        for scale in SCALES {
            let size = |length: u32| (f64::from(length) * scale) as u32;
            let (width, height) = (size(whole.width()), size(whole.height()));
            let picture = resize(&whole, width, height, FilterType::CatmullRom);
            pictures.push((picture.pixels().map(|p| f64::from(p.0[0])).collect::<Vec<_>>(), width));
        }
    }
    let spoilt: Vec<_> =
        pictures.iter().flat_map(|picture| (0..TIMES).map(move |time| (picture, time))).collect();
    let mut all: Vec<Candidate> = spoilt
        .par_iter()
        .enumerate()
        .flat_map_iter(|(i, ((clean, width), _))| candidates(clean, *width as usize, i as u64))
        .collect();
    println!("{} candidates", all.len());
    let scales = standardise(&mut all);
    let tables = [
        learn::<{ GLANCE.0 }, { GLANCE.1 }>(&mut all, &scales, EPOCHS / 2),
        learn::<{ STUDY.0 }, { STUDY.1 }>(&mut all, &scales, EPOCHS),
    ];
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/denoise/detect/classifier/weights.rs");
    let before = std::fs::read_to_string(file).unwrap();
    // The numbers are between what opens an array and what closes it.
    let mut parts = before.split_inclusive("= [\n");
    let mut text = parts.next().unwrap().to_owned();
    for (table, after) in tables.iter().zip(parts) {
        for row in table.chunks(8) {
            let numbers: Vec<String> = row.iter().map(|weight| format!("{weight:.4}")).collect();
            writeln!(text, "    {},", numbers.join(", ")).unwrap();
        }
        text.push_str(&after[after.find("];").unwrap()..]);
    }
    std::fs::write(file, text).unwrap();
}
