//! How the judge has learned what it knows: from photographs with noise and impulses, and
//! from which of the pixels that stand alone were impulses.
//!
//! ```sh
//! KGARD_PICTURES=folder cargo test --release --test denoise judge -- --ignored --nocapture
//! ```
//!
//! writes `src/denoise/judge/weights.rs` anew. The table that is there was learned in the same
//! way by a program that came before this one; what this one has learned brought Lena, boat and
//! Barbara to within 0.04 dB of it.

use super::common::problem::Random;
use super::literal::seen;
use super::literal::weights::{INPUTS, UNITS};
use image::imageops::{FilterType, resize};
use kgard::denoise::{Denoiser, Plane};
use rayon::prelude::*;
use std::fmt::Write;

/// Sizes of each photograph, and times that each is spoilt.
const SCALES: [f64; 3] = [1.0, 0.6, 0.4];
const TIMES: u64 = 24;
/// Of the training.
const EPOCHS: usize = 6;
const BATCH: usize = 1024;
const RATE: f64 = 0.01;
/// How much more it matters to miss an impulse.
const MISSING: f64 = 1.5;
/// What log-odds are multiplied with to be a part of the limit.
const SLOPE: f64 = 0.1;

/// One pixel that stands alone.
struct Candidate {
    inputs: [f32; INPUTS],
    is_impulse: bool,
    /// How much it matters: good pixels by the square of what they are off by.
    weight: f64,
}

/// The candidates of a photograph with noise and impulses of its own.
fn candidates(clean: &[f64], width: usize, seed: u64) -> Vec<Candidate> {
    let mut random = Random(seed);
    let decibels =
        13.0 + 17.0 * random.uniform() + if random.uniform() < 0.15 { 12.0 } else { 0.0 };
    let power = clean.iter().map(|c| c * c).sum::<f64>() / clean.len() as f64;
    let sigma = (power / 10_f64.powf(decibels / 10.0)).sqrt();
    // Clean photographs have details only.
    let share = if random.uniform() < 0.05 { 0.0 } else { 0.015 * 16_f64.powf(random.uniform()) };
    let size = 50.0 * 4_f64.powf(random.uniform());
    let kind = random.uniform();
    let (mut pixels, mut is_impulse) = (vec![], vec![]);
    for c in clean {
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
    let known = Denoiser::new(255.0_f32).denoise(image).unwrap().report.conditions;
    let (noise, least) = (f64::from(known.noise.max(1.0)), f64::from(known.size));
    let (amplitude, alone_enough) = (least / 0.6, f64::from(known.extreme) * noise / 2.0);
    if amplitude <= 0.0 {
        return vec![];
    }

    let height = pixels.len() / width;
    let mirror = |at: isize, length: usize| {
        let last = length as isize - 1;
        (if at.abs() > last { 2 * last - at.abs() } else { at.abs() }).max(0) as usize
    };
    let at = |x: isize, y: isize| f64::from(pixels[mirror(y, height) * width + mirror(x, width)]);
    let neighbours: Vec<[f64; 8]> = (0..pixels.len() as isize)
        .map(|i| {
            let (x, y) = (i % width as isize, i / width as isize);
            let mut all = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]
                .map(|(dx, dy)| at(x + dx, y + dy));
            all.sort_by(f64::total_cmp);
            all
        })
        .collect();
    let c = known.witnesses;
    let mut found = vec![];
    for (i, sorted) in neighbours.iter().enumerate() {
        let pixel = f64::from(pixels[i]);
        let alone = (pixel - sorted[7 - c]).max(sorted[c] - pixel);
        let off = (pixel - (sorted[3] + sorted[4]) / 2.0).abs();
        if alone <= alone_enough || off <= 0.75 * least {
            continue;
        }
        let (x, y) = (i % width, i / width);
        let block = y * width + x / 16 * 16..y * width + (x / 16 * 16 + 16).min(width);
        let spreads = neighbours[block.clone()].iter().map(|v| v[5] - v[2]).sum::<f64>();
        let spread = spreads / block.len() as f64;
        let around = |dx: isize, dy: isize| at(x as isize + dx, y as isize + dy);
        let circumstances = [noise / amplitude, f64::from(known.impulses), spread / amplitude];
        found.push(Candidate {
            inputs: seen(&around, amplitude, circumstances).map(|x| x as f32),
            is_impulse: is_impulse[i],
            weight: if is_impulse[i] { MISSING } else { (off / amplitude).clamp(0.2, 1.0).powi(2) },
        });
    }
    found
}

/// Everything that is learned: for each input, and the constant one, a weight for each
/// unit; what each unit adds to the log-odds, and what these begin with.
const LEARNED: usize = (INPUTS + 2) * UNITS + 1;

/// The log-odds, and what the units say.
fn log_odds(learned: &[f64; LEARNED], inputs: &[f64; INPUTS]) -> (f64, [f64; UNITS]) {
    let mut units: [f64; UNITS] = std::array::from_fn(|u| learned[INPUTS * UNITS + u]);
    for (weights, x) in learned.chunks_exact(UNITS).zip(inputs) {
        for (unit, weight) in units.iter_mut().zip(weights) {
            *unit += weight * x;
        }
    }
    let units = units.map(|unit| unit.max(0.0));
    let outer = &learned[(INPUTS + 1) * UNITS..];
    (units.iter().zip(outer).map(|(a, b)| a * b).sum::<f64>() + outer[UNITS], units)
}

/// Adds the gradient of a candidate's cross-entropy, of whose log-odds this is the error.
fn add_gradient(
    learned: &[f64; LEARNED],
    inputs: &[f64; INPUTS],
    units: &[f64; UNITS],
    error: f64,
    out: &mut [f64; LEARNED],
) {
    let outer = (INPUTS + 1) * UNITS;
    for u in 0..UNITS {
        out[outer + u] += error * units[u];
        if units[u] > 0.0 {
            let share = error * learned[outer + u];
            for (i, x) in inputs.iter().enumerate() {
                out[i * UNITS + u] += share * x;
            }
            out[INPUTS * UNITS + u] += share;
        }
    }
    out[outer + UNITS] += error;
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
    let count = all.len() as f64;
    println!("{count} candidates");

    // In units of their deviation.
    let mean = |f: &dyn Fn(&Candidate) -> f64| all.iter().map(f).sum::<f64>() / count;
    let means: [f64; INPUTS] = std::array::from_fn(|i| mean(&|c| c.inputs[i].into()));
    let deviations: [f64; INPUTS] = std::array::from_fn(|i| {
        mean(&|c| (f64::from(c.inputs[i]) - means[i]).powi(2)).sqrt().max(1e-6)
    });
    let scaled = |c: &Candidate| -> [f64; INPUTS] {
        std::array::from_fn(|i| (f64::from(c.inputs[i]) - means[i]) / deviations[i])
    };

    // Adam, with a rate that falls to nothing.
    let mut random = Random(0);
    let mut learned = [0.0; LEARNED];
    for weight in &mut learned[..INPUTS * UNITS] {
        *weight = random.normal() / (INPUTS as f64).sqrt();
    }
    for weight in &mut learned[(INPUTS + 1) * UNITS..LEARNED - 1] {
        *weight = random.normal() / (UNITS as f64).sqrt();
    }
    let (mut first, mut second) = ([0.0; LEARNED], [0.0; LEARNED]);
    let steps = EPOCHS * all.len().div_ceil(BATCH);
    let mut step = 0;
    let mut losses = vec![];
    for epoch in 0..EPOCHS {
        for i in (1..all.len()).rev() {
            all.swap(i, random.below(i + 1));
        }
        let mut loss = 0.0;
        for batch in all.chunks(BATCH) {
            let mut slope = [0.0; LEARNED];
            for candidate in batch {
                let inputs = scaled(candidate);
                let (odds, units) = log_odds(&learned, &inputs);
                let share = 1.0 / (1.0 + (-odds).exp());
                let truth = f64::from(u8::from(candidate.is_impulse));
                let right = if candidate.is_impulse { share } else { 1.0 - share };
                loss -= candidate.weight * right.max(1e-9).ln() / count;
                let error = candidate.weight * (share - truth) / batch.len() as f64;
                add_gradient(&learned, &inputs, &units, error, &mut slope);
            }
            step += 1;
            let rate =
                RATE * 0.5 * (1.0 + (std::f64::consts::PI * f64::from(step) / steps as f64).cos());
            for (((weight, first), second), slope) in
                learned.iter_mut().zip(&mut first).zip(&mut second).zip(slope)
            {
                *first += 0.1 * (slope - *first);
                *second += 0.001 * (slope * slope - *second);
                let (a, b) = (1.0 - 0.9_f64.powi(step), 1.0 - 0.999_f64.powi(step));
                *weight -= rate * (*first / a) / ((*second / b).sqrt() + 1e-8);
            }
        }
        println!("epoch {epoch}: {loss:.5}");
        losses.push(loss);
    }
    assert!(losses.is_sorted_by(|before, after| after < before), "{losses:?}");

    // In the inputs' own units, and as a part of the limit.
    for u in 0..UNITS {
        for i in 0..INPUTS {
            learned[i * UNITS + u] /= deviations[i];
            learned[INPUTS * UNITS + u] -= learned[i * UNITS + u] * means[i];
        }
    }
    for weight in &mut learned[(INPUTS + 1) * UNITS..] {
        *weight *= SLOPE;
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/denoise/judge/weights.rs");
    let before = std::fs::read_to_string(file).unwrap();
    let mut text = before.split_inclusive("= [\n").next().unwrap().to_owned();
    for row in learned.chunks(UNITS) {
        let numbers: Vec<String> = row.iter().map(|weight| format!("{weight:.4}")).collect();
        writeln!(text, "    {},", numbers.join(", ")).unwrap();
    }
    text.push_str("];\n");
    std::fs::write(file, text).unwrap();
}
