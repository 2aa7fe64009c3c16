//! Both denoising algorithms, written down as they are described, with no
//! thought of speed: full matrices, full sorts, one pixel at a time.

use self::candidates::{Pixels, seen};
use self::weights::{INPUTS, LARGE, OF_LARGE, OF_SMALL, SMALL};
use crate::common::oracle::{self, Penalty as Literal};
use kgard::denoise::PaperStop;
use kgard::regression::stop::Reading;
use kgard::{Gaussian, Kernel, Matern32, Penalty, Plan, Points, Regularizer};

#[path = "candidates.rs"]
mod candidates;
#[path = "../../src/denoise/detect/classifier/weights.rs"]
pub(crate) mod weights;

fn points(region: usize) -> Vec<f64> {
    let at = |i: usize| i as f64 / (region - 1) as f64;
    (0..region * region).flat_map(|i| [at(i / region), at(i % region)]).collect()
}

/// The pixels of a region, repeated at the border: where they are in the image,
/// and whether they really are.
fn region_of(
    column: usize,
    row: usize,
    (width, height): (usize, usize),
    region: usize,
    core: usize,
) -> Vec<(usize, bool)> {
    let margin = (region - core) as isize / 2;
    (0..region * region)
        .map(|i| {
            let x = (column * core + i % region) as isize - margin;
            let y = (row * core + i / region) as isize - margin;
            let inside = x >= 0 && y >= 0 && x < width as isize && y < height as isize;
            let (x, y) = (x.clamp(0, width as isize - 1), y.clamp(0, height as isize - 1));
            (y as usize * width + x as usize, inside)
        })
        .collect()
}

fn in_core(i: usize, region: usize, core: usize) -> bool {
    let margin = (region - core) / 2;
    let inside = |at: usize| (margin..margin + core).contains(&at);
    inside(i % region) && inside(i / region)
}

/// The result of Algorithm 2.
pub(crate) struct Paper {
    pub(crate) image: Vec<f64>,
    /// Which pixels are outliers, and the values of all.
    pub(crate) support: Vec<usize>,
    pub(crate) outliers: Vec<f64>,
}

/// E_1 and E_2 of the paper's histogram rule, the second as far as it counts.
fn histogram(residual: &[f64]) -> f64 {
    let sizes: Vec<f64> = residual.iter().map(|r| r.abs()).collect();
    let low = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let high = sizes.iter().copied().fold(0.0, f64::max);
    let bars = residual.len() / 10 + 1;
    let width = (high - low) / bars as f64;
    let mut h = vec![0.0; bars];
    for size in &sizes {
        h[(((size - low) / width) as usize).min(bars - 1)] += 1.0;
    }
    let lowest = h.iter().copied().fold(f64::INFINITY, f64::min);
    let left = |bar: usize| low + width * bar as f64;
    let e1 = left((0..bars).find(|&l| h[l] == lowest).unwrap());
    let mean = h.iter().sum::<f64>() / bars as f64;
    let variance = h.iter().map(|h| (h - mean) * (h - mean)).sum::<f64>() / (bars - 1) as f64;
    let e2 = (1..bars).find(|&l| h[l] - h[l - 1] >= 1.0 && h[l - 1] <= lowest + 5.0).map(left);
    if variance.sqrt() / mean > 0.9 { e1.min(e2.unwrap_or(e1)) } else { e1 }
}

/// Algorithm 2.
pub(crate) fn paper(
    image: &[f64],
    width: usize,
    (region, core): (usize, usize),
    sigma: f64,
    penalty: Penalty,
    lambda: f64,
    stop: PaperStop<f64>,
) -> Paper {
    let height = image.len() / width;
    let n = region * region;
    let points = points(region);
    let kernel = Gaussian::new(sigma);
    let k: Vec<f64> = (0..n * n)
        .map(|t| kernel.evaluate(&points[t / n * 2..][..2], &points[t % n * 2..][..2]))
        .collect();
    let at = |x: isize, y: isize| {
        let (x, y) = (x.clamp(0, width as isize - 1), y.clamp(0, height as isize - 1));
        image[y as usize * width + x as usize]
    };
    let gradient: Vec<f64> = (0..image.len())
        .map(|i| {
            let (x, y) = ((i % width) as isize, (i / width) as isize);
            let across = (at(x + 1, y) - at(x - 1, y)) / 2.0;
            let down = (at(x, y + 1) - at(x, y - 1)) / 2.0;
            across.hypot(down)
        })
        .collect();
    let regions: Vec<_> = (0..height.div_ceil(core))
        .flat_map(|row| (0..width.div_ceil(core)).map(move |column| (column, row)))
        .map(|(column, row)| region_of(column, row, (width, height), region, core))
        .collect();
    let means: Vec<f64> = regions
        .iter()
        .map(|region| region.iter().map(|&(i, _)| gradient[i]).sum::<f64>() / n as f64)
        .collect();
    let m = means.iter().sum::<f64>() / means.len() as f64;
    let s = (means.iter().map(|g| (g - m) * (g - m)).sum::<f64>() / means.len() as f64).sqrt();

    let mut result =
        Paper { image: vec![0.0; image.len()], support: vec![], outliers: vec![0.0; image.len()] };
    for (pixels, mean) in regions.iter().zip(&means) {
        let lambda = if *mean > m + s {
            lambda
        } else if *mean < m - s / 10.0 {
            15.0 * lambda
        } else {
            5.0 * lambda
        };
        let literal = match penalty {
            Penalty::Rkhs => Literal::Rkhs { lambda },
            Penalty::L2 => {
                let p = (0..n * n).map(|t| if t / n == t % n { lambda } else { 0.0 }).collect();
                Literal::Quadratic { p, d_c: lambda }
            }
            other => panic!("no such penalty when this was written: {other:?}"),
        };
        let y: Vec<f64> = pixels.iter().map(|&(i, _)| image[i]).collect();
        let (mut support, mut first) = (vec![], None);
        let state = loop {
            let state = oracle::solve_step(&k, &y, &literal, true, &support);
            let epsilon = match stop {
                PaperStop::MaxResidual(epsilon) => epsilon,
                PaperStop::Histogram { e0, reading: Reading::EveryStep } => {
                    e0.max(histogram(&state.residual))
                }
                PaperStop::Histogram { e0, .. } => {
                    *first.get_or_insert(e0.min(histogram(&state.residual)))
                }
                other => panic!("no such rule when this was written: {other:?}"),
            };
            let j = oracle::arg_max(&state.residual, &support);
            if state.residual[j].abs() <= epsilon || support.len() == n / 2 {
                break state;
            }
            support.push(j);
        };
        let mut u = vec![0.0; n];
        for (&j, &value) in support.iter().zip(&state.u) {
            u[j] = value;
        }
        for (i, &(pixel, inside)) in pixels.iter().enumerate() {
            if inside && in_core(i, region, core) {
                result.image[pixel] = y[i] - u[i] - state.residual[i];
                result.outliers[pixel] = u[i];
                if support.contains(&i) {
                    result.support.push(pixel);
                }
            }
        }
    }
    result.support.sort_unstable();
    result
}

pub(crate) struct Automatic {
    pub(crate) noise: f64,
    pub(crate) witnesses: usize,
    pub(crate) limit: f64,
    pub(crate) size: f64,
    pub(crate) image: Vec<f64>,
    pub(crate) outliers: Vec<f64>,
}

/// The noise of the calm windows of an image, of which pixels that `first` has replaced do not
/// count; as if there were no impulses.
fn noise(image: &[f64], first: &[f64], width: usize, core: usize) -> f64 {
    let height = image.len() / width;
    // The squares of 2 x 2 pixels in each window.
    let mut windows: Vec<Vec<[f64; 4]>> = vec![];
    for top in (0..height).step_by(core) {
        for left in (0..width).step_by(16) {
            let mut squares = vec![];
            for y in (top..(top + core).min(height - 1)).filter(|y| y % 2 == 0) {
                for x in (left..(left + 16).min(width - 1)).filter(|x| x % 2 == 0) {
                    let at = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
                    let at = at.map(|(x, y)| y * width + x);
                    if at.iter().all(|&i| first[i] == image[i]) {
                        squares.push(at.map(|i| image[i]));
                    }
                }
            }
            windows.push(squares);
        }
    }
    windows.retain(|squares| !squares.is_empty());
    let extreme = |of: &dyn Fn(f64, f64) -> f64| {
        windows.iter().flatten().flatten().copied().reduce(of).unwrap_or(0.0)
    };
    let (least, greatest) = (extreme(&f64::min), extreme(&f64::max));
    let whole = |squares: &&Vec<[f64; 4]>| {
        squares.iter().flatten().all(|&pixel| least < pixel && pixel < greatest)
    };
    let texture = |squares: &[[f64; 4]]| {
        let sum: f64 = squares
            .iter()
            .map(|[a, b, c, d]| ((a - b + c - d) / 2.0).powi(2) + ((a - c + b - d) / 2.0).powi(2))
            .sum();
        sum / squares.len() as f64
    };
    let mut calm: Vec<&Vec<[f64; 4]>> = windows.iter().filter(whole).collect();
    if calm.len() * 24 < windows.len() {
        calm = windows.iter().collect();
    }
    calm.sort_by(|a, b| texture(a).total_cmp(&texture(b)));
    let squares_of =
        |taken: usize| calm[..taken].iter().map(|squares| squares.len()).sum::<usize>();
    let noise_of = |taken: usize| {
        let sum: f64 = calm[..taken]
            .iter()
            .flat_map(|squares| squares.iter())
            .map(|[a, b, c, d]| ((a - b - c + d) / 2.0).abs())
            .sum();
        (std::f64::consts::PI / 2.0).sqrt() / 0.858 * sum / squares_of(taken).max(1) as f64
    };
    let mut taken = calm.len().div_ceil(24);
    while taken < calm.len() && squares_of(taken) < 200 {
        taken += 1;
    }
    for _ in 0..3 {
        let limit = 2.0 * 1.1 * (0.858 * noise_of(taken)).powi(2);
        taken = taken.max(calm.iter().filter(|squares| texture(squares) <= limit).count());
    }
    noise_of(taken)
}

/// The class of a magnitude: four to the unit.
fn class(value: f64) -> i32 {
    (4.0 * value).floor().min(1023.0) as i32
}

/// Where a class begins.
fn beginning(class: i32) -> f64 {
    f64::from(class) / 4.0
}

/// The automatic algorithm.
pub(crate) fn automatic(
    image: &[f64],
    width: usize,
    region: usize,
    core: usize,
    peak: f64,
) -> Automatic {
    let n = region * region;
    let pixels = Pixels::new(image, width);
    let height = pixels.height;
    let calm = |c: usize, limit: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..image.len())
            .map(|i| if pixels.alone(i, c) > limit(i) { pixels.middle(i) } else { image[i] })
            .collect()
    };

    // The survey.
    let first = calm(3, &|i| 2.0 * pixels.spread(i));
    let noise = noise(image, &first, width, core);
    let suspects = || (0..image.len()).filter(|&i| first[i] != image[i]);
    let off = |i: usize| (image[i] - first[i]).abs();
    let least = |noise: f64| (3.5 * noise).max(10.0 / 255.0 * peak);
    let beyond = |noise: f64| {
        let mut beyond: Vec<i32> =
            suspects().map(|i| class(off(i))).filter(|&c| c > class(least(noise))).collect();
        beyond.sort_unstable();
        let share = (beyond.len() as f64 / image.len() as f64).min(0.5);
        (beyond, share)
    };
    let noise = noise / (1.0 + beyond(noise).1);
    let (beyond, share) = beyond(noise);
    let choose = |k: usize| (1..=k).map(|i| (9 - i) as f64 / i as f64).product::<f64>();
    let p = share / 2.0;
    let at_most = |c: usize| -> f64 {
        (0..=c).map(|k| choose(k) * p.powi(k as i32) * (1.0 - p).powi(8 - k as i32)).sum()
    };
    let witnesses = (1..7).find(|&c| share * (1.0 - at_most(c)) <= 4.2e-5).unwrap_or(7);
    let exceeded = |one_in: usize| {
        let at = beyond.len().div_ceil(one_in) - 1;
        beginning(beyond[at])
    };
    let size = if beyond.is_empty() { 0.0 } else { 0.575 * exceeded(10) };
    let extreme = if beyond.is_empty() {
        4.0
    } else {
        let amplitude = exceeded(2) / noise;
        (amplitude / 2.0 + (1.0 / share - 1.0).ln() / amplitude).min(4.0)
    };

    // The regions.
    let floor = noise.max(1.0 / 255.0 * peak);
    let calm = calm(witnesses, &|i| (1.5 * floor).max(pixels.spread(i)));
    let points = points(region);
    let makers: Vec<Vec<f64>> = [0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6]
        .iter()
        .map(|&lambda| {
            let points = Points::new(&points, 2).unwrap();
            let plan = Plan::new(points, Matern32::new(0.3), Regularizer::rkhs(lambda)).unwrap();
            plan.as_ref().residual_maker().to_vec()
        })
        .collect();
    let times = |h: &[f64], v: &[f64]| -> Vec<f64> {
        h.chunks(n).map(|row| row.iter().zip(v).map(|(h, v)| h * v).sum()).collect()
    };
    let trace = |h: &[f64]| (0..n).map(|i| h[i * n + i]).sum::<f64>();
    let squares = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
    let best = |v: &[f64], noise: f64| -> (usize, f64) {
        let risk =
            |h: &Vec<f64>| squares(&times(h, v)) + 2.0 * noise * noise * (n as f64 - trace(h));
        let risks: Vec<f64> = makers.iter().map(risk).collect();
        let k = (0..risks.len()).min_by(|&a, &b| risks[a].total_cmp(&risks[b])).unwrap();
        (k, (squares(&times(&makers[k], v)) / trace(&makers[k])).sqrt())
    };
    let mut result = Automatic {
        noise,
        witnesses,
        limit: extreme,
        size,
        image: vec![0.0; image.len()],
        outliers: vec![0.0; image.len()],
    };
    let mut weights = vec![0.0; image.len()];
    let (columns, rows) = (width.div_ceil(core), height.div_ceil(core));
    for (column, row) in (0..rows).flat_map(|row| (0..columns).map(move |c| (c, row))) {
        let places = region_of(column, row, (width, height), region, core);
        let y: Vec<f64> = places.iter().map(|&(i, _)| image[i]).collect();
        let smooth: Vec<f64> = places.iter().map(|&(i, _)| calm[i]).collect();
        let (k, misfit) = best(&smooth, floor);
        let limit = extreme * floor.max(misfit);
        let wanted: Vec<Option<f64>> = places
            .iter()
            .map(|&(i, _)| {
                if !pixels.can_be(i, witnesses, extreme, floor, size) {
                    return None;
                }
                if size == 0.0 || noise == 0.0 {
                    return Some(1.0);
                }
                let amplitude = size / 0.575;
                let z = classified(&pixels, i, amplitude, [floor / amplitude, share]);
                (z >= -0.4).then(|| (-z).exp())
            })
            .collect();
        let doubt = if noise > 0.0 { 0.2 } else { 0.0 };
        let (support, u, scores) = outliers(&makers[k], &y, (limit, size), doubt, &wanted);
        let mut v = y.clone();
        for ((&j, &u), &score) in support.iter().zip(&u).zip(&scores) {
            let part = if doubt > 0.0 { (score - (1.0 - doubt)) / (2.0 * doubt) } else { 1.0 };
            let u = u * part.min(1.0);
            v[j] -= u;
            if places[j].1 && in_core(j, region, core) && score > 1.0 {
                result.outliers[places[j].0] = u;
            }
        }
        let (k, _) = best(&v, noise);
        let residual = if noise > 0.0 { times(&makers[k], &v) } else { vec![0.0; n] };
        let margin = (region - core) / 2;
        let ramp =
            |i: usize| f64::min((2 * i.min(region - 1 - i) + 1) as f64 / (4 * margin) as f64, 1.0);
        for (i, &(pixel, inside)) in places.iter().enumerate() {
            if inside {
                let weight = ramp(i % region) * ramp(i / region);
                result.image[pixel] += weight * (v[i] - residual[i]);
                weights[pixel] += weight;
            }
        }
    }
    for (pixel, weight) in result.image.iter_mut().zip(&weights) {
        *pixel /= weight;
    }
    result
}

/// The z of a pixel: the small network on what is around, and the large one where that is not sure.
fn classified(pixels: &Pixels<'_>, i: usize, amplitude: f64, circumstances: [f64; 2]) -> f64 {
    let inputs = seen(pixels, i, amplitude, circumstances);
    let layer = |inputs: &[f64], weights: &[f32]| -> Vec<f64> {
        let units = weights.len() / (inputs.len() + 1);
        let one = [1.0];
        let inputs = inputs.iter().chain(&one).enumerate();
        let sum = |unit: usize| -> f64 {
            inputs.clone().map(|(i, x)| x * f64::from(weights[i * units + unit])).sum()
        };
        (0..units).map(sum).collect()
    };
    let positive = |units: Vec<f64>| -> Vec<f64> { units.iter().map(|u| u.max(0.0)).collect() };
    let z_of = |weights: &[f32], (first, second): (usize, usize)| {
        let (first, rest) = (&weights[..(INPUTS + 1) * first], &weights[(INPUTS + 1) * first..]);
        let last = &rest[rest.len() - second - 1..];
        let second = &rest[..rest.len() - second - 1];
        layer(&positive(layer(&positive(layer(&inputs, first)), second)), last)[0]
    };
    let of_small = z_of(&OF_SMALL, SMALL);
    if of_small.abs() > 0.45 { of_small } else { z_of(&OF_LARGE, LARGE) }
}

/// Takes out the most extreme studentised residual that may be an outlier,
/// until none is beyond the limit and off by the size, as far as is wanted of it and but
/// for the doubt; everything solved anew at each step. Which, their values, and their scores.
fn outliers(
    h: &[f64],
    y: &[f64],
    (limit, size): (f64, f64),
    doubt: f64,
    wanted: &[Option<f64>],
) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
    let n = y.len();
    let (mut support, mut scores): (Vec<usize>, Vec<f64>) = (vec![], vec![]);
    loop {
        let k = support.len();
        let block: Vec<f64> =
            support.iter().flat_map(|&i| support.iter().map(move |&j| h[i * n + j])).collect();
        let first: Vec<f64> = (0..n).map(|i| (0..n).map(|j| h[i * n + j] * y[j]).sum()).collect();
        let solve =
            |right: Vec<f64>| if k == 0 { vec![] } else { oracle::gauss(block.clone(), right) };
        let u = solve(support.iter().map(|&s| first[s]).collect());
        let state = |i: usize, wanted: f64| {
            let column: Vec<f64> = support.iter().map(|&s| h[s * n + i]).collect();
            let through = solve(column.clone());
            let residual = first[i] - column.iter().zip(&u).map(|(h, u)| h * u).sum::<f64>();
            let variance =
                h[i * n + i] - column.iter().zip(&through).map(|(h, t)| h * t).sum::<f64>();
            let off = residual.abs() / wanted;
            (off / variance.sqrt() / limit).min(off / variance / size)
        };
        let best = (0..n)
            .filter(|i| !support.contains(i))
            .filter_map(|i| Some((i, state(i, wanted[i]?))))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((j, extreme)) if extreme > 1.0 - doubt && k < n / 2 => {
                support.push(j);
                scores.push(extreme);
            }
            _ => return (support, u, scores),
        }
    }
}
