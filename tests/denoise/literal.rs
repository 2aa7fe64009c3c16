//! Both denoising algorithms, written down as they are described, with no
//! thought of speed: full matrices, full sorts, one pixel at a time.

use self::weights::{INPUTS, UNITS, WEIGHTS};
use crate::common::oracle::{self, Penalty as Literal};
use kgard::denoise::Penalty;
use kgard::{Gaussian, Kernel, Matern32, Plan, Points, Regularizer};

#[path = "../../src/denoise/judge/weights.rs"]
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

/// Algorithm 2, stopped by the largest residual: denoised image and outliers.
#[allow(clippy::too_many_arguments)]
pub(crate) fn paper(
    image: &[f64],
    width: usize,
    region: usize,
    core: usize,
    sigma: f64,
    penalty: Penalty,
    lambda: f64,
    epsilon: f64,
) -> (Vec<f64>, Vec<f64>) {
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

    let (mut fitted, mut outliers) = (vec![0.0; image.len()], vec![0.0; image.len()]);
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
        let mut support = vec![];
        let state = loop {
            let state = oracle::solve_step(&k, &y, &literal, true, &support);
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
                fitted[pixel] = y[i] - u[i] - state.residual[i];
                outliers[pixel] = u[i];
            }
        }
    }
    (fitted, outliers)
}

pub(crate) struct Automatic {
    pub(crate) noise: f64,
    pub(crate) witnesses: usize,
    pub(crate) extreme: f64,
    pub(crate) size: f64,
    pub(crate) image: Vec<f64>,
    pub(crate) outliers: Vec<f64>,
}

/// The automatic algorithm.
pub(crate) fn automatic(
    image: &[f64],
    width: usize,
    region: usize,
    core: usize,
    peak: f64,
) -> Automatic {
    let height = image.len() / width;
    let n = region * region;
    let mirror = |at: isize, length: usize| {
        let last = length as isize - 1;
        let at = if at.abs() > last { 2 * last - at.abs() } else { at.abs() };
        at.max(0) as usize
    };
    let neighbours = |i: usize| {
        let (x, y) = ((i % width) as isize, (i / width) as isize);
        let mut values = vec![];
        for (dx, dy) in [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)] {
            values.push(image[mirror(y + dy, height) * width + mirror(x + dx, width)]);
        }
        values.sort_by(f64::total_cmp);
        values
    };
    let sorted: Vec<Vec<f64>> = (0..image.len()).map(neighbours).collect();
    let alone = |i: usize, c: usize| (image[i] - sorted[i][7 - c]).max(sorted[i][c] - image[i]);
    let in_clump = |i: usize, by: f64| {
        let (x, y) = ((i % width) as isize, (i / width) as isize);
        let around = (-2..=2_isize).flat_map(|dy| (-2..=2_isize).map(move |dx| (dx, dy)));
        let around = around.filter(|&(dx, dy)| dx.abs() == 2 || dy.abs() == 2);
        let off: Vec<f64> = around
            .map(|(dx, dy)| {
                image[i] - image[mirror(y + dy, height) * width + mirror(x + dx, width)]
            })
            .collect();
        let neighbours = &sorted[i];
        let stands_out = image[i] - neighbours[2] > by || neighbours[5] - image[i] > by;
        let above = off.iter().filter(|&&d| d > by).count();
        let below = off.iter().filter(|&&d| -d > by).count();
        assert_eq!(off.len(), 16);
        stands_out && above.max(below) >= 13
    };
    let spread = |i: usize| {
        let (x, y) = (i % width, i / width);
        let block = x / 16 * 16..(x / 16 * 16 + 16).min(width);
        let sum: f64 = block.clone().map(|x| &sorted[y * width + x]).map(|v| v[5] - v[2]).sum();
        sum / block.len() as f64
    };
    let middle = |i: usize| (sorted[i][3] + sorted[i][4]) / 2.0;
    let calm = |c: usize, limit: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..image.len())
            .map(|i| if alone(i, c) > limit(i) { middle(i) } else { image[i] })
            .collect()
    };

    // The survey.
    let first = calm(3, &|i| 2.0 * spread(i));
    let clamped = |x: isize, y: isize| {
        let (x, y) = (x.clamp(0, width as isize - 1), y.clamp(0, height as isize - 1));
        first[y as usize * width + x as usize]
    };
    let (columns, rows) = (width.div_ceil(core), height.div_ceil(core));
    let mut levels = vec![];
    for (column, row) in (0..rows).flat_map(|row| (0..columns).map(move |c| (c, row))) {
        let (mut sum, mut used) = (0.0, 0);
        for y in row * core..(row * core + core).min(height) {
            for x in column * core..(column * core + core).min(width) {
                if first[y * width + x] == image[y * width + x] {
                    let (x, y) = (x as isize, y as isize);
                    let mask = [1.0, -2.0, 1.0];
                    let mut filtered = 0.0;
                    for (j, a) in mask.iter().enumerate() {
                        for (i, b) in mask.iter().enumerate() {
                            filtered += a * b * clamped(x + i as isize - 1, y + j as isize - 1);
                        }
                    }
                    sum += filtered.abs();
                    used += 1;
                }
            }
        }
        levels.push((std::f64::consts::PI / 2.0).sqrt() / 6.0 * sum / f64::max(used as f64, 1.0));
    }
    levels.sort_by(f64::total_cmp);
    let noise = 1.19 / (1.0 - 0.56 / core as f64) * levels[(levels.len() - 1) / 5];
    let class = |value: f64| ((value.log2() + 40.0).max(0.0) * 8.0) as usize;
    let mut beyond: Vec<usize> = (0..image.len())
        .filter(|&i| first[i] != image[i])
        .map(|i| class((image[i] - first[i]).abs()))
        .filter(|&c| c > class((3.5 * noise).max(10.0 / 255.0 * peak)))
        .collect();
    beyond.sort_unstable();
    let share = (beyond.len() as f64 / image.len() as f64).min(0.5);
    let choose = |k: usize| (1..=k).map(|i| (9 - i) as f64 / i as f64).product::<f64>();
    let p = share / 2.0;
    let at_most = |c: usize| -> f64 {
        (0..=c).map(|k| choose(k) * p.powi(k as i32) * (1.0 - p).powi(8 - k as i32)).sum()
    };
    let witnesses = (1..5).find(|&c| share * (1.0 - at_most(c)) <= 4.2e-5).unwrap_or(5);
    let exceeded = |one_in: usize| {
        let at = beyond.len().div_ceil(one_in) - 1;
        (beyond[at] as f64 / 8.0 - 40.0).exp2()
    };
    let size = if beyond.is_empty() { 0.0 } else { 0.6 * exceeded(10) };
    let extreme = if beyond.is_empty() {
        4.0
    } else {
        let amplitude = exceeded(2) / noise;
        let odds: f64 = 2.0 * (1.0 - share) / (8.0 * share);
        (amplitude / 2.0 + odds.ln() / amplitude).clamp(2.6, 4.0)
    };

    // The regions.
    let floor = noise.max(1.0 / 255.0 * peak);
    let calm = calm(witnesses, &|i| (1.5 * floor).max(spread(i) * (1.0 - 2.0 * share)));
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
        extreme,
        size,
        image: vec![0.0; image.len()],
        outliers: vec![0.0; image.len()],
    };
    let mut weights = vec![0.0; image.len()];
    for (column, row) in (0..rows).flat_map(|row| (0..columns).map(move |c| (c, row))) {
        let pixels = region_of(column, row, (width, height), region, core);
        let y: Vec<f64> = pixels.iter().map(|&(i, _)| image[i]).collect();
        let smooth: Vec<f64> = pixels.iter().map(|&(i, _)| calm[i]).collect();
        let (k, misfit) = best(&smooth, floor);
        let limit = extreme * floor.max(misfit);
        let wanted: Vec<Option<f64>> = pixels
            .iter()
            .map(|&(i, _)| {
                let can_be = alone(i, witnesses) > extreme * floor / 2.0
                    && (image[i] - middle(i)).abs() > 0.75 * size
                    || witnesses >= 3 && in_clump(i, 3.0 * floor);
                let around = |dx: isize, dy: isize| {
                    let (x, y) = ((i % width) as isize, (i / width) as isize);
                    image[mirror(y + dy, height) * width + mirror(x + dx, width)]
                };
                let part = |amplitude: f64| {
                    judged(&around, amplitude, [floor / amplitude, share, spread(i) / amplitude])
                };
                let is_judged = size > 0.0 && noise > 0.0;
                can_be.then(|| if is_judged { part(size / 0.6) } else { 1.0 })
            })
            .collect();
        let (support, u) = outliers(&makers[k], &y, (limit, size), &wanted);
        let mut v = y.clone();
        for (&j, &u) in support.iter().zip(&u) {
            v[j] -= u;
            if pixels[j].1 && in_core(j, region, core) {
                result.outliers[pixels[j].0] = u;
            }
        }
        let (k, _) = best(&v, noise);
        let residual = if noise > 0.0 { times(&makers[k], &v) } else { vec![0.0; n] };
        let margin = (region - core) / 2;
        let ramp =
            |i: usize| f64::min((2 * i.min(region - 1 - i) + 1) as f64 / (4 * margin) as f64, 1.0);
        for (i, &(pixel, inside)) in pixels.iter().enumerate() {
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

/// What the judge sees of a pixel and the `around` of it.
pub(crate) fn seen(
    around: &dyn Fn(isize, isize) -> f64,
    amplitude: f64,
    [noise, share, spread]: [f64; 3],
) -> [f64; INPUTS] {
    let sorted = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        values
    };
    let ring = |distance: isize| {
        let all = (-2..=2_isize).flat_map(|dy| (-2..=2_isize).map(move |dx| (dx, dy)));
        all.filter(move |(dx, dy)| dx.abs().max(dy.abs()) == distance)
    };
    let neighbours = sorted(ring(1).map(|(dx, dy)| around(dx, dy)).collect());
    let is_below = around(0, 0) < (neighbours[3] + neighbours[4]) / 2.0;
    let off = |(dx, dy): (isize, isize)| {
        let off = (around(0, 0) - around(dx, dy)) / amplitude;
        (if is_below { -off } else { off }).clamp(-1.0, 2.0)
    };
    let lines = [(1, 0), (0, 1), (1, 1), (-1, 1)];
    let pair = |(dx, dy): (isize, isize)| off((dx, dy)).max(off((-dx, -dy)));
    let second = |(dx, dy): (isize, isize)| {
        let line = [-2, -1, 1, 2].map(|along| off((along * dx, along * dy)));
        sorted(line.to_vec())[2]
    };
    let inputs = [
        sorted(ring(1).map(off).collect()),
        sorted(ring(2).map(off).collect()),
        sorted(lines.map(pair).to_vec()),
        sorted(lines.map(second).to_vec()),
        vec![noise, share, spread.min(1.5)],
    ]
    .concat();
    inputs.try_into().expect("as many as there are")
}

/// What is wanted of a pixel, as a part of the limit: the network on what is around.
fn judged(around: &dyn Fn(isize, isize) -> f64, amplitude: f64, circumstances: [f64; 3]) -> f64 {
    let inputs = seen(around, amplitude, circumstances);
    let weight = |row: usize, unit: usize| f64::from(WEIGHTS[row * UNITS + unit]);
    let unit = |unit: usize| {
        let sum: f64 = inputs.iter().enumerate().map(|(i, x)| weight(i, unit) * x).sum();
        (sum + weight(INPUTS, unit)).max(0.0) * weight(INPUTS + 1, unit)
    };
    let spared = (0..UNITS).map(unit).sum::<f64>() + weight(INPUTS + 2, 0);
    (1.0 - spared).clamp(0.85, 1.3)
}

/// Takes out the most extreme studentised residual that may be an outlier,
/// until none is beyond the limit and off by the size, as far as is wanted of it;
/// everything solved anew at each step.
fn outliers(
    h: &[f64],
    y: &[f64],
    (limit, size): (f64, f64),
    wanted: &[Option<f64>],
) -> (Vec<usize>, Vec<f64>) {
    let n = y.len();
    let mut support: Vec<usize> = vec![];
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
            Some((j, extreme)) if extreme > 1.0 && k < n / 2 => support.push(j),
            _ => return (support, u),
        }
    }
}
