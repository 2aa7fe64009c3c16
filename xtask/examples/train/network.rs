//! A network with two hidden layers, and how it learns.
//!
//! Everything is `f32` and added up in one order: the result depends neither on the number of
//! threads nor, as functions like the exponential are those of `libm`, on the system.

use crate::random::Random;
use crate::weights::{INPUTS, numbers};

/// Candidates to a step, and the step size of Adam at the beginning; it falls to zero as half a
/// period of a cosine.
pub(crate) const BATCH: usize = 2048;
pub(crate) const RATE: f32 = 0.004;
/// Parts of a batch that are added up separately, each by one thread.
const PARTS: usize = 4;

/// A pixel that stands alone.
pub(crate) struct Candidate {
    pub(crate) inputs: [f32; INPUTS],
    pub(crate) is_impulse: bool,
    /// What an error costs.
    pub(crate) weight: f32,
}

/// Where the table of the second layer begins, and that of the output.
const fn layers(first: usize, second: usize) -> (usize, usize) {
    let second_from = (INPUTS + 1) * first;
    (second_from, second_from + (first + 1) * second)
}

/// The outputs of a layer.
fn layer<const UNITS: usize>(weights: &[f32], inputs: &[f32]) -> [f32; UNITS] {
    let (weights, biases) = weights.split_at(inputs.len() * UNITS);
    let mut units: [f32; UNITS] = std::array::from_fn(|unit| biases[unit]);
    for (weights, x) in weights.chunks_exact(UNITS).zip(inputs) {
        for (unit, weight) in units.iter_mut().zip(weights) {
            *unit += weight * x;
        }
    }
    units.map(|unit| unit.max(0.0))
}

/// Adds to the gradient of a layer's weights, given that of its outputs; returns that of its
/// inputs.
fn back<const UNITS: usize, const IN: usize>(
    weights: &[f32],
    inputs: &[f32; IN],
    units: &[f32; UNITS],
    mut slope: [f32; UNITS],
    gradient: &mut [f32],
) -> [f32; IN] {
    for (slope, unit) in slope.iter_mut().zip(units) {
        if *unit <= 0.0 {
            *slope = 0.0;
        }
    }
    let (gradient, biases) = gradient.split_at_mut(IN * UNITS);
    for (bias, slope) in biases.iter_mut().zip(slope) {
        *bias += slope;
    }
    let rows = gradient.chunks_exact_mut(UNITS).zip(weights.chunks_exact(UNITS));
    let mut of_inputs = [0.0; IN];
    for (((gradient, weights), x), of_input) in rows.zip(inputs).zip(&mut of_inputs) {
        for ((gradient, weight), slope) in gradient.iter_mut().zip(weights).zip(slope) {
            *gradient += x * slope;
            *of_input += weight * slope;
        }
    }
    of_inputs
}

/// The outputs of both hidden layers, and the probability of an impulse.
fn forward<const FIRST: usize, const SECOND: usize>(
    table: &[f32],
    inputs: &[f32; INPUTS],
) -> ([f32; FIRST], [f32; SECOND], f32) {
    let (second_from, last_from) = layers(FIRST, SECOND);
    let first: [f32; FIRST] = layer(&table[..second_from], inputs);
    let second: [f32; SECOND] = layer(&table[second_from..last_from], &first);
    let last = &table[last_from..];
    let odds = second.iter().zip(last).map(|(a, b)| a * b).sum::<f32>() + last[SECOND];
    (first, second, 1.0 / (1.0 + libm::expf(-odds)))
}

/// The weighted cross-entropy of a candidate.
fn cost(candidate: &Candidate, probability: f32) -> f32 {
    let right = if candidate.is_impulse { probability } else { 1.0 - probability };
    -candidate.weight * libm::logf(right.max(1e-9))
}

/// The cross-entropy of candidates, and its gradient.
fn gradient<const FIRST: usize, const SECOND: usize>(
    table: &[f32],
    batch: &[Candidate],
) -> (f32, Vec<f32>) {
    let (second_from, last_from) = layers(FIRST, SECOND);
    let (mut loss, mut gradient) = (0.0, vec![0.0; table.len()]);
    for candidate in batch {
        let (first, second, probability) = forward::<FIRST, SECOND>(table, &candidate.inputs);
        loss += cost(candidate, probability);
        let truth = if candidate.is_impulse { 1.0 } else { 0.0 };
        let error = candidate.weight * (probability - truth);
        let last = &table[last_from..];
        let slope: [f32; SECOND] = std::array::from_fn(|unit| error * last[unit]);
        for (gradient, unit) in gradient[last_from..].iter_mut().zip(second.iter().chain(&[1.0])) {
            *gradient += error * unit;
        }
        let of_second = &mut gradient[second_from..last_from];
        let slope = back(&table[second_from..last_from], &first, &second, slope, of_second);
        let inputs = &candidate.inputs;
        back(&table[..second_from], inputs, &first, slope, &mut gradient[..second_from]);
    }
    (loss, gradient)
}

/// A network that has learned: its table for inputs in their own units, and the mean losses of
/// the last epoch and of the candidates for validation.
pub(crate) struct Learned {
    pub(crate) table: Vec<f32>,
    pub(crate) training: f32,
    pub(crate) validation: f32,
}

/// A network with so many units learns to tell impulses.
pub(crate) fn learn<const FIRST: usize, const SECOND: usize>(
    all: &mut [Candidate],
    validation: &[Candidate],
    epochs: usize,
    seed: u64,
) -> Learned {
    let (second_from, last_from) = layers(FIRST, SECOND);
    let scales = scales(all);
    for candidate in &mut *all {
        for (input, (mean, deviation)) in candidate.inputs.iter_mut().zip(&scales) {
            *input = (*input - mean) / deviation;
        }
    }
    let mut random = Random(seed);
    let mut table = vec![0.0_f32; numbers((FIRST, SECOND))];
    for (from, inputs, units) in
        [(0, INPUTS, FIRST), (second_from, FIRST, SECOND), (last_from, SECOND, 1)]
    {
        for weight in &mut table[from..from + inputs * units] {
            *weight = random.normal() as f32 * (2.0 / inputs as f32).sqrt();
        }
    }
    // Adam.
    let (mut first, mut second) = (vec![0.0_f32; table.len()], vec![0.0_f32; table.len()]);
    let (mut a, mut b) = (1.0_f32, 1.0_f32);
    let steps = epochs * all.len().div_ceil(BATCH);
    let (mut step, mut training) = (0, 0.0);
    for epoch in 0..epochs {
        for i in (1..all.len()).rev() {
            all.swap(i, random.below(i + 1));
        }
        let mut sum = 0.0_f64;
        for batch in all.chunks(BATCH) {
            let table_now = &table[..];
            let parts: Vec<(f32, Vec<f32>)> = std::thread::scope(|scope| {
                let parts = batch.chunks(BATCH / PARTS);
                let threads: Vec<_> = parts
                    .map(|part| scope.spawn(move || gradient::<FIRST, SECOND>(table_now, part)))
                    .collect();
                threads.into_iter().map(|t| t.join().expect("a sum of numbers")).collect()
            });
            sum += parts.iter().map(|(loss, _)| f64::from(*loss)).sum::<f64>();
            step += 1;
            let falling = std::f32::consts::PI * step as f32 / steps as f32;
            let rate = RATE * 0.5 * (1.0 + libm::cosf(falling));
            (a, b) = (0.9 * a, 0.999 * b);
            for (i, weight) in table.iter_mut().enumerate() {
                let slope = parts.iter().map(|(_, gradient)| gradient[i]).sum::<f32>();
                let slope = slope / batch.len() as f32;
                first[i] += 0.1 * (slope - first[i]);
                second[i] += 0.001 * (slope * slope - second[i]);
                *weight -= rate * (first[i] / (1.0 - a)) / ((second[i] / (1.0 - b)).sqrt() + 1e-8);
            }
        }
        training = (sum / all.len() as f64) as f32;
        println!("epoch {}: {training:.5}", epoch + 1);
    }
    for candidate in &mut *all {
        for (input, (mean, deviation)) in candidate.inputs.iter_mut().zip(&scales) {
            *input = *input * deviation + mean;
        }
    }
    in_own_units::<FIRST>(&mut table, &scales);
    let costs = validation
        .iter()
        .map(|candidate| cost(candidate, forward::<FIRST, SECOND>(&table, &candidate.inputs).2));
    let validation = costs.sum::<f32>() / validation.len() as f32;
    Learned { table, training, validation }
}

/// Mean and deviation of each input.
fn scales(all: &[Candidate]) -> Vec<(f32, f32)> {
    let count = all.len() as f64;
    let mean = |f: &dyn Fn(&Candidate) -> f64| all.iter().map(f).sum::<f64>() / count;
    let scale = |i: usize| {
        let center = mean(&|c| f64::from(c.inputs[i]));
        let off = |c: &Candidate| f64::from(c.inputs[i]) - center;
        let deviation = mean(&|c| off(c) * off(c)).sqrt();
        (center as f32, deviation.max(1e-6) as f32)
    };
    (0..INPUTS).map(scale).collect()
}

/// Changes the first layer from standardised inputs to inputs as they are.
fn in_own_units<const FIRST: usize>(table: &mut [f32], scales: &[(f32, f32)]) {
    for unit in 0..FIRST {
        for (i, (mean, deviation)) in scales.iter().enumerate() {
            table[i * FIRST + unit] /= deviation;
            table[INPUTS * FIRST + unit] -= table[i * FIRST + unit] * mean;
        }
    }
}
