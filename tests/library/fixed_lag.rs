//! Streams held to the definition: covariances of all samples so far, written down in full
//! and solved by Gaussian elimination.

use crate::common::oracle::gauss;
use crate::common::problem::Random;
use kgard::line::{Cleaned, FixedLag, Line, MarkovOf};
use kgard::{Error, Kernel, Laplacian, Matern32, Matern52, Progress, StopReason, StopRule};

const THRESHOLD: f64 = 4.0;
const LEVEL_VARIANCE: f64 = 10.0;
const STEP_PRICE: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    Sample,
    Outlier,
    Missing,
}

/// All samples so far, as the definition has them.
struct Literal<K> {
    kernel: K,
    lambda: f64,
    noise: f64,
    /// Variance of the level by distance.
    drift: f64,
    x: Vec<f64>,
    y: Vec<f64>,
    role: Vec<Role>,
    step: Vec<f64>,
}

impl<K: Kernel<f64>> Literal<K> {
    fn covariance(&self, i: usize, j: usize) -> f64 {
        let (x, first) = (&self.x, i.min(j));
        let steps = self.step[..=first].iter().filter(|&&step| step != 0.0).count() as f64;
        self.kernel.evaluate(&[x[i]], &[x[j]])
            + LEVEL_VARIANCE * (1.0 + steps)
            + self.drift * (x[first] - x[0])
    }

    fn inside(&self) -> Vec<usize> {
        (0..self.x.len()).filter(|&i| self.role[i] == Role::Sample).collect()
    }

    /// The samples that are in, without the steps.
    fn centred(&self, inside: &[usize]) -> Vec<f64> {
        inside.iter().map(|&i| self.y[i] - self.shift(i)).collect()
    }

    fn shift(&self, i: usize) -> f64 {
        self.step[..=i].iter().sum()
    }

    fn solve(&self, inside: &[usize], right: Vec<f64>) -> Vec<f64> {
        let m = inside.len();
        let mut a = vec![0.0; m * m];
        for k in 0..m {
            for l in 0..m {
                a[k * m + l] = self.covariance(inside[k], inside[l]);
            }
            a[k * m + k] += self.lambda;
        }
        gauss(a, right)
    }

    /// The quadratic form, the outlier and the step from `start` on that explain most.
    fn sweep(&self, start: usize) -> (f64, Option<usize>, Option<(usize, f64)>) {
        let inside = self.inside();
        let y = self.centred(&inside);
        let u = self.solve(&inside, y.clone());
        let price = THRESHOLD * THRESHOLD * self.noise * self.noise / self.lambda;
        let misfit = y.iter().zip(&u).map(|(y, u)| y * u).sum();
        let (mut most, mut outlier) = (price, None);
        for (k, &i) in inside.iter().enumerate().filter(|(_, i)| **i >= start) {
            let mut unit = vec![0.0; inside.len()];
            unit[k] = 1.0;
            let square = u[k] * u[k] / self.solve(&inside, unit)[k];
            if square > most {
                (most, outlier) = (square, Some(i));
            }
        }
        let (mut most, mut shift) = (STEP_PRICE as f64 * price, None);
        for at in (start..self.x.len()).filter(|&at| self.step[at] == 0.0) {
            let from: Vec<f64> = inside.iter().map(|&i| f64::from(u8::from(i >= at))).collect();
            let solved = self.solve(&inside, from.clone());
            let along: f64 = from.iter().zip(&u).map(|(s, u)| s * u).sum();
            let information: f64 = from.iter().zip(&solved).map(|(s, t)| s * t).sum();
            if along * along / information > most {
                (most, shift) = (along * along / information, Some((at, along / information)));
            }
        }
        (misfit, outlier, shift)
    }

    /// Takes outliers out, and tells what the window costs.
    fn search(&mut self, start: usize, steps: usize) -> f64 {
        let window = start..self.x.len();
        loop {
            let (misfit, outlier, _) = self.sweep(start);
            let outliers = window.clone().filter(|&i| self.role[i] == Role::Outlier).count();
            let Some(at) = outlier else {
                let price = THRESHOLD * THRESHOLD * self.noise * self.noise / self.lambda;
                return misfit + price * (outliers + STEP_PRICE * steps) as f64;
            };
            let present = window.clone().filter(|&i| self.role[i] != Role::Missing).count();
            if 2 * (outliers + 1) > present {
                return f64::INFINITY;
            }
            self.role[at] = Role::Outlier;
        }
    }

    /// Algorithm 1 on the samples from `start` on, with steps.
    fn decide(&mut self, start: usize) {
        let n = self.x.len();
        for i in start..n {
            self.step[i] = 0.0;
            if self.role[i] == Role::Outlier {
                self.role[i] = Role::Sample;
            }
        }
        let mut cost = self.search(start, 0);
        for steps in 1.. {
            let kept = self.role.clone();
            let is_outlier = |i: usize| i >= start && i < n && kept[i] == Role::Outlier;
            let in_a_row: Vec<usize> = (start..n)
                .filter(|&i| is_outlier(i) && (is_outlier(i + 1) || i > 0 && is_outlier(i - 1)))
                .collect();
            for &i in &in_a_row {
                self.role[i] = Role::Sample;
            }
            let Some((at, step)) = self.sweep(start).2.filter(|_| !in_a_row.is_empty()) else {
                self.role = kept;
                break;
            };
            self.step[at] = step;
            let with_step = self.search(start, steps);
            if with_step >= cost {
                self.step[at] = 0.0;
                self.role = kept;
                break;
            }
            cost = with_step;
        }
        assert!(cost.is_finite(), "the series of the test are no ruins");
    }

    /// The function at a sample.
    fn value(&self, i: usize) -> f64 {
        let inside = self.inside();
        let u = self.solve(&inside, self.centred(&inside));
        let row = inside.iter().map(|&j| self.covariance(i, j));
        self.shift(i) + row.zip(&u).map(|(k, u)| k * u).sum::<f64>()
    }
}

fn median(mut y: Vec<f64>) -> f64 {
    y.sort_by(f64::total_cmp);
    y[(y.len() - 1) / 2]
}

/// Cleans a series by the definition, with a window of `lag`.
fn literal<K: Kernel<f64> + Clone>(
    kernel: &K,
    (lambda, noise, drift): (f64, f64, f64),
    series: &Series,
    lag: usize,
) -> Vec<(f64, bool, bool)> {
    let first = series.y[..lag].iter().copied().filter(|y| y.is_finite()).collect();
    let offset = median(first);
    let mut all = Literal {
        kernel: kernel.clone(),
        lambda,
        noise,
        drift: drift * drift * lambda / (noise * noise),
        x: Vec::new(),
        y: Vec::new(),
        role: Vec::new(),
        step: Vec::new(),
    };
    let (mut out, mut decided) = (Vec::new(), 0);
    let mut give = |all: &Literal<_>, range: core::ops::Range<usize>| {
        for i in range {
            let flags = (all.role[i] == Role::Outlier, all.step[i] != 0.0);
            out.push((all.value(i) + offset, flags.0, flags.1));
        }
    };
    let mut x = 0.0;
    for (gap, &y) in series.gaps.iter().zip(&series.y) {
        if all.x.len() - decided == lag {
            all.decide(decided);
            give(&all, decided..decided + lag / 4);
            decided += lag / 4;
        }
        // The second and later samples of a stride come while decided ones are still inside.
        x += gap;
        all.x.push(x);
        all.y.push(if y.is_finite() { y - offset } else { 0.0 });
        all.role.push(if y.is_finite() { Role::Sample } else { Role::Missing });
        all.step.push(0.0);
    }
    // What a drain meets: the undecided ones, all at once.
    all.decide(decided);
    give(&all, decided..all.x.len());
    out
}

struct Series {
    gaps: Vec<f64>,
    y: Vec<f64>,
    truth: Vec<f64>,
    spikes: Vec<bool>,
}

/// What a series is like; sizes in units of its noise of 0.05.
#[derive(Clone, Copy)]
struct Kind {
    n: usize,
    regular: bool,
    missing: f64,
    /// A step of up to 40 for so many samples.
    steps: usize,
    spikes: (f64, f64),
}

const NOISE: f64 = 0.05;

fn series(kind: Kind, random: &mut Random) -> Series {
    let (mut x, mut level) = (0.0, 0.0);
    let mut all = Series { gaps: vec![], y: vec![], truth: vec![], spikes: vec![] };
    for i in 0..kind.n {
        let gap = if kind.regular { 1.0 } else { 2.0 * random.uniform() };
        x += gap;
        if kind.steps > 0 && i % kind.steps == kind.steps - 1 {
            level += 80.0 * NOISE * (random.uniform() - 0.5);
        }
        let truth = (0.05 * x).sin() + 0.5 * (0.0185 * x + 1.0).cos() + level;
        let spike = random.uniform() < 0.03;
        let size = kind.spikes.0 + (kind.spikes.1 - kind.spikes.0) * random.uniform();
        let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
        let off = if spike { sign * size * NOISE } else { 0.0 };
        let sample = truth + NOISE * random.normal() + off;
        let is_missing = i > 0 && random.uniform() < kind.missing;
        all.gaps.push(gap);
        all.y.push(if is_missing { f64::NAN } else { sample });
        all.truth.push(truth);
        all.spikes.push(spike && !is_missing);
    }
    all
}

const SPIKES: (f64, f64) = (8.0, 20.0);
const PLAIN: Kind = Kind { n: 20_000, regular: true, missing: 0.0, steps: 0, spikes: SPIKES };

fn run<K: MarkovOf<f64, D>, const D: usize, const L: usize>(
    mut stream: FixedLag<f64, K, D, L>,
    series: &Series,
) -> Vec<Cleaned<f64>> {
    let mut out = Vec::new();
    for (&gap, &y) in series.gaps.iter().zip(&series.y) {
        out.extend(stream.push_after(gap, y).unwrap());
    }
    assert_eq!(stream.len(), L.min(series.y.len()));
    out.extend(core::iter::from_fn(|| stream.drain()));
    assert!(stream.is_empty());
    assert_eq!(out.len(), series.y.len());
    out
}

fn against_literal<K: MarkovOf<f64, D> + Clone, const D: usize>(kernel: &K, seed: u64) {
    let mut random = Random(seed);
    let (lambda, noise, drift) = (0.01, NOISE, 0.01);
    let (mut outliers, mut steps) = (0, 0);
    for (regular, missing) in [(true, 0.0), (false, 0.1)] {
        let kind = Kind { n: 90, regular, missing, steps: 40, spikes: SPIKES };
        let series = series(kind, &mut random);
        let expected = literal(kernel, (lambda, noise, drift), &series, 12);
        let stream = FixedLag::<f64, K, D, 12>::new(kernel.clone(), lambda, noise).unwrap();
        let found = run(stream.with_drift(drift).unwrap(), &series);
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!((found.outlier, found.step), (expected.1, expected.2), "{i}");
            assert!((found.value - expected.0).abs() < 1e-9, "{i}: {found:?} {expected:?}");
            assert_eq!(found.missing, series.y[i].is_nan());
        }
        outliers += found.iter().filter(|cleaned| cleaned.outlier).count();
        steps += found.iter().filter(|cleaned| cleaned.step).count();
    }
    assert!(outliers > 2 && steps > 1, "{outliers} outliers, {steps} steps");
}

#[test]
fn equals_the_dense_method() {
    against_literal(&Laplacian::new(60.0), 1);
    against_literal(&Matern32::new(30.0), 1);
    against_literal(&Matern52::new(25.0), 1);
}

fn rmse(found: impl IntoIterator<Item = f64>, truth: &[f64]) -> f64 {
    let squares = found.into_iter().zip(truth).map(|(f, t)| (f - t) * (f - t));
    (squares.sum::<f64>() / truth.len() as f64).sqrt()
}

fn windows(y: &[f64]) -> impl Iterator<Item = Vec<f64>> {
    (0..y.len()).map(|i| {
        let mut window = y[i.saturating_sub(3)..(i + 4).min(y.len())].to_vec();
        window.sort_by(f64::total_cmp);
        window
    })
}

fn moving_median(y: &[f64]) -> Vec<f64> {
    windows(y).map(|window| window[window.len() / 2]).collect()
}

/// Three times the scaled median deviation of a window of seven.
fn hampel(y: &[f64]) -> Vec<f64> {
    let clean = |(&y, window): (&f64, Vec<f64>)| {
        let middle = window[window.len() / 2];
        let mut off: Vec<f64> = window.iter().map(|y| (y - middle).abs()).collect();
        off.sort_by(f64::total_cmp);
        let limit = 3.0 * 1.4826 * off[off.len() / 2];
        if (y - middle).abs() > limit { middle } else { y }
    };
    y.iter().zip(windows(y)).map(clean).collect()
}

/// Recall and precision.
fn quality(found: &[Cleaned<f64>], spikes: &[bool]) -> (f64, f64) {
    let hits = found.iter().zip(spikes).filter(|(c, s)| c.outlier && **s).count() as f64;
    let flagged = found.iter().filter(|c| c.outlier).count() as f64;
    (hits / spikes.iter().filter(|s| **s).count() as f64, hits / flagged)
}

fn stream<const L: usize>() -> FixedLag<f64, Matern32<f64>, 2, L> {
    FixedLag::new(Matern32::new(30.0), 0.01, NOISE).unwrap()
}

#[test]
fn finds_spikes_and_beats_the_hampel_filter() {
    for seed in 1..4 {
        let series = series(PLAIN, &mut Random(seed));
        let found = run(stream::<10>(), &series);
        let (recall, precision) = quality(&found, &series.spikes);
        assert!(recall >= 0.97 && precision >= 0.97, "{recall} {precision}");
        let error = rmse(found.iter().map(|c| c.value), &series.truth);
        let rival = rmse(hampel(&series.y), &series.truth);
        println!("recall {recall:.4}, precision {precision:.4}, {error:.4}, Hampel {rival:.4}");
        assert!(2.0 * error <= rival, "{error} {rival}");
        for (i, cleaned) in found.iter().enumerate().take(PLAIN.n - 10) {
            assert!((8..10).contains(&cleaned.lag), "{i}: {}", cleaned.lag);
            assert_eq!(cleaned.sample.to_bits(), series.y[i].to_bits());
        }
    }
}

#[test]
fn steps_are_no_worse_than_with_a_median() {
    for seed in 1..4 {
        let series = series(Kind { steps: 200, ..PLAIN }, &mut Random(seed));
        let found = run(stream::<10>(), &series);
        let (recall, precision) = quality(&found, &series.spikes);
        let error = rmse(found.iter().map(|c| c.value), &series.truth);
        let rival = rmse(moving_median(&series.y), &series.truth);
        println!("recall {recall:.4}, precision {precision:.4}, {error:.4}, median {rival:.4}");
        assert!(error <= rival, "{error} {rival}");
        assert!(recall >= 0.97 && precision >= 0.95, "{recall} {precision}");
    }
}

#[test]
fn approaches_the_batch_as_the_lag_grows() {
    let series = series(Kind { n: 400, ..PLAIN }, &mut Random(5));
    let batch = run(stream::<400>(), &series);
    let apart = |found: Vec<Cleaned<f64>>| {
        let flags = found.iter().zip(&batch).filter(|(a, b)| a.outlier != b.outlier).count();
        let values: Vec<f64> = batch.iter().map(|c| c.value).collect();
        (flags, rmse(found.iter().map(|c| c.value), &values) / NOISE)
    };
    let all = [
        apart(run(stream::<8>(), &series)),
        apart(run(stream::<16>(), &series)),
        apart(run(stream::<32>(), &series)),
        apart(run(stream::<64>(), &series)),
    ];
    println!("flags and values (in units of the noise) that differ: {all:?}");
    assert!(all[1].1 < 0.2 * all[0].1 && all[3].1 < 0.05 * all[0].1, "{all:?}");
    assert!(all[3].0 == 0 && all[3].1 < 0.002, "{all:?}");
}

/// Above four standard deviations, studentised.
struct Above(f64);

impl StopRule<f64> for Above {
    fn check(&mut self, progress: &mut Progress<'_, f64>) -> Option<StopReason> {
        (progress.extreme() <= self.0).then_some(StopReason::UserRule)
    }
    fn studentized(&self) -> bool {
        true
    }
    fn looks_at_residuals(&self) -> bool {
        false
    }
}

#[test]
fn a_window_over_all_is_the_line() {
    let series = series(Kind { n: 400, ..PLAIN }, &mut Random(6));
    let all = run(stream::<400>().with_drift(0.0).unwrap(), &series);
    let x: Vec<f64> = (0..400).map(f64::from).collect();
    let line = Line::new(&x, Matern32::new(30.0), 0.01).unwrap();
    let fit = line.fit(&series.y, Above(THRESHOLD * NOISE)).unwrap();
    let mut of_line: Vec<usize> = fit.outliers().iter().map(|outlier| outlier.index).collect();
    of_line.sort_unstable();
    let of_stream: Vec<usize> = (0..400).filter(|&i| all[i].outlier).collect();
    assert!(of_line.len() > 5);
    assert_eq!(of_stream, of_line);
    // The level is free there, and has a wide prior here.
    for (cleaned, fitted) in all.iter().zip(fit.fitted()) {
        assert!((cleaned.value - fitted).abs() < 0.02 * NOISE, "{cleaned:?} {fitted}");
    }
}

fn single(series: &Series) -> Vec<Cleaned<f32>> {
    let kernel = Matern32::new(30.0_f32);
    let mut stream = FixedLag::<f32, _, 2, 10>::new(kernel, 0.01, NOISE as f32).unwrap();
    let mut out: Vec<_> = series.y.iter().filter_map(|&y| stream.push(y as f32)).collect();
    out.extend(core::iter::from_fn(|| stream.drain()));
    out
}

#[test]
fn single_precision_finds_the_same() {
    // Far from zero, and long.
    let mut series = series(Kind { n: 300_000, steps: 500, ..PLAIN }, &mut Random(7));
    for y in series.y.iter_mut().chain(&mut series.truth) {
        *y = f64::from((*y + 100.0) as f32);
    }
    let (narrow, wide) = (single(&series), run(stream::<10>(), &series));
    let pairs = || narrow.iter().zip(&wide);
    let flags = pairs().filter(|(a, b)| (a.outlier, a.step) != (b.outlier, b.step)).count();
    let spikes = series.spikes.iter().filter(|s| **s).count();
    println!("{flags} flags differ in {spikes} spikes");
    assert!(flags * 1000 < spikes);
    let far = pairs().filter(|(a, b)| (f64::from(a.value) - b.value).abs() > 0.05 * NOISE).count();
    assert!(far < 300, "{far}");
    let error = rmse(narrow.iter().map(|c| f64::from(c.value)), &series.truth);
    let expected = rmse(wide.iter().map(|c| c.value), &series.truth);
    assert!((error / expected - 1.0).abs() < 0.01, "{error} {expected}");
}

#[test]
fn what_no_sensor_should_send() {
    let new = || FixedLag::<f32, _, 2, 12>::new(Matern32::new(20.0), 0.01, 0.1).unwrap();
    let wave = |i: usize| (0.05 * i as f32).sin();
    let absurd = [f32::MAX, -f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e30, -1e20];
    let mut stream = new();
    let mut seen = 0;
    for i in 0..2000 {
        let sample = if i % 10 == 7 { absurd[i / 10 % 7] } else { wave(i) };
        let Some(cleaned) = stream.push(sample) else { continue };
        assert!((cleaned.value - wave(seen)).abs() < 0.1, "{seen}: {cleaned:?}");
        let finite = cleaned.sample.is_finite();
        assert_eq!((cleaned.missing, cleaned.outlier), (!finite, finite && seen % 10 == 7));
        seen += 1;
    }

    // Nothing at all, for long, and after long.
    let mut stream = new();
    assert_eq!(stream.drain(), None);
    for _ in 0..1000 {
        if let Some(cleaned) = stream.push(f32::NAN) {
            assert!(cleaned.missing && cleaned.value == 0.0);
        }
    }
    for gap in [0.0, 1e30, 1e-30, f32::MAX, 3.0] {
        for i in 0..50 {
            let cleaned = stream.push_after(gap, 1000.0 + 0.1 * (i % 2) as f32).unwrap();
            assert!(cleaned.is_none_or(|c| c.value.is_finite()), "{gap}: {cleaned:?}");
        }
    }
    let last = core::iter::from_fn(|| stream.drain()).last().unwrap();
    assert!((last.value - 1000.05).abs() < 0.1 && !last.outlier);

    // It goes on after a drain, and after a distance that is refused.
    assert_eq!(
        stream.push_after(-1.0, 1.0).unwrap_err(),
        Error::Negative { what: "distance", value: -1.0 }
    );
    assert!(
        stream.push_after(f32::NAN, 1.0).is_err() && stream.push_after(f32::INFINITY, 1.0).is_err()
    );
    assert!(stream.push(1000.0).is_none() && stream.len() == 1);

    let matern = Matern32::new(20.0);
    assert!(FixedLag::<f64, _, 2, 8>::new(matern, 0.0, 0.1).is_err());
    assert!(FixedLag::<f64, _, 2, 8>::new(matern, 0.1, f64::NAN).is_err());
    assert!(FixedLag::<f64, _, 2, 8>::new(Matern32::new(-1.0), 0.1, 0.1).is_err());
    let stream = FixedLag::<f64, _, 2, 8>::new(matern, 0.1, 0.1).unwrap();
    assert!(stream.clone().with_drift(-1.0).is_err() && stream.clone().with_interval(0.0).is_err());
    assert!(stream.clone().with_threshold(0.0).is_err() && stream.with_tracked_noise(0.0).is_err());
}

#[test]
fn a_new_level_is_no_outlier() {
    for size in [10.0, -100.0, 1e4, 1e9] {
        let mut random = Random(8);
        let mut series = series(Kind { n: 400, spikes: (0.0, 0.0), ..PLAIN }, &mut random);
        for i in 0..400 {
            series.y[i] += if i >= 200 { size * NOISE } else { 0.0 };
        }
        let found = run(stream::<16>(), &series);
        let steps: Vec<usize> = (0..400).filter(|&i| found[i].step).collect();
        assert_eq!(steps, [200], "{size}");
        assert!(found.iter().all(|cleaned| !cleaned.outlier), "{size}");
    }
}

#[test]
fn a_short_burst_is_outliers_and_a_long_one_is_two_steps() {
    for (length, is_burst) in [(2, true), (4, true), (30, false)] {
        let mut random = Random(9);
        let mut series = series(Kind { n: 400, spikes: (0.0, 0.0), ..PLAIN }, &mut random);
        for i in 200..200 + length {
            series.y[i] += 1.0;
        }
        let found = run(stream::<16>(), &series);
        let outliers: Vec<usize> = (0..400).filter(|&i| found[i].outlier).collect();
        let steps: Vec<usize> = (0..400).filter(|&i| found[i].step).collect();
        if is_burst {
            assert_eq!((outliers, steps), ((200..200 + length).collect(), vec![]));
        } else {
            assert_eq!((outliers, steps), (vec![], vec![200, 200 + length]));
        }
    }
}

/// Whatever the signal does, good samples come back: a ramp far steeper than the kernel
/// allows, and noise a hundred times as large as it was said to be.
#[test]
fn a_wrong_model_takes_out_few() {
    let mut random = Random(10);
    let ramp: Vec<f64> = (0..5000).map(|i| 5.0 * f64::from(i) + NOISE * random.normal()).collect();
    let noisy: Vec<f64> = (0..5000).map(|_| 100.0 * NOISE * random.normal()).collect();
    let saw: Vec<f64> = (0..5000).map(|i| f64::from(i % 25)).collect();
    for y in [ramp, noisy, saw] {
        let mut stream = stream::<16>();
        let found: Vec<Cleaned<f64>> = y.iter().filter_map(|&y| stream.push(y)).collect();
        let outliers = found.iter().filter(|cleaned| cleaned.outlier).count();
        println!("{outliers} of {}", found.len());
        assert!(outliers * 5 < found.len(), "{outliers}");
        let mut run = 0;
        for cleaned in &found {
            run = if cleaned.outlier { run + 1 } else { 0 };
            assert!(run <= 16);
        }
    }
}

#[test]
fn the_noise_is_tracked() {
    let series = series(PLAIN, &mut Random(11));
    for (given, floor) in [(0.2, 1e-3), (30.0, 1e-3), (0.01, 1e-3)] {
        let stream = FixedLag::<f64, _, 2, 16>::new(Matern32::new(30.0), 0.01, given * NOISE);
        let mut stream = stream.unwrap().with_tracked_noise(floor).unwrap();
        let found: Vec<Cleaned<f64>> = series.y.iter().filter_map(|&y| stream.push(y)).collect();
        assert!((stream.noise() / NOISE - 1.0).abs() < 0.25, "{}", stream.noise());
        let (recall, precision) = quality(&found[1000..], &series.spikes[1000..]);
        assert!(recall > 0.97 && precision > 0.97, "{given}: {recall} {precision}");
    }
    // Constant but for the last digit of the converter.
    let stream = FixedLag::<f64, _, 2, 16>::new(Matern32::new(30.0), 0.01, 1.0).unwrap();
    let mut stream = stream.with_tracked_noise(1.0 / 3.0).unwrap();
    let found = (0..5000).filter_map(|i| stream.push(f64::from(u8::from(i % 97 == 0))));
    assert_eq!(found.filter(|cleaned| cleaned.outlier).count(), 0);
}
