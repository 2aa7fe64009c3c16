//! BM3D as one would explain it: every block cut out, every distance summed,
//! every transform a product with a matrix from its definition.

use kgard::denoise::bm3d::{Bm3d, Stage, Transform};

pub type Matrix = Vec<Vec<f64>>;

struct Image {
    pixels: Vec<f64>,
    width: usize,
    height: usize,
}

impl Image {
    /// Continued by mirroring until references at multiples of the step end at
    /// its edges.
    fn new(pixels: &[f64], width: usize, height: usize, stage: &Stage<f64>) -> Self {
        let fit = |n: usize| {
            let mut fit = stage.block;
            while fit < n {
                fit += stage.step;
            }
            fit
        };
        let mirror =
            |i: usize, n: usize| if (i / n).is_multiple_of(2) { i % n } else { n - 1 - i % n };
        let (w, h) = (fit(width), fit(height));
        let pixel = |i: usize| pixels[mirror(i / w, height) * width + mirror(i % w, width)];
        Self { pixels: (0..w * h).map(pixel).collect(), width: w, height: h }
    }

    fn block(&self, x: usize, y: usize, n: usize) -> Matrix {
        (0..n).map(|r| self.pixels[(y + r) * self.width + x..][..n].to_vec()).collect()
    }
}

/// All channels through both stages; the deviations of the coefficients of each channel's noise, as
/// multiples of its deviation, if it is not white.
pub fn bm3d(
    settings: &Bm3d<f64>,
    channels: &[(&[f64], f64)],
    width: usize,
    height: usize,
    spectra: Option<&[Matrix]>,
) -> Vec<Vec<f64>> {
    let noisy: Vec<&[f64]> = channels.iter().map(|c| c.0).collect();
    let sigmas: Vec<f64> = channels.iter().map(|c| c.1).collect();
    let size = (width, height);
    let levels: Vec<f64> = sigmas.iter().map(|s| settings.threshold * s).collect();
    let white = |n: usize| vec![vec![1.0; n]; n];
    let spectrum = |c: usize, stage: &Stage<f64>| match spectra {
        Some(spectra) => spectra[c].clone(),
        None => white(stage.block),
    };
    let basic = stage(
        &settings.first,
        noisy[0],
        &noisy,
        size,
        |c, group, _| threshold(group, levels[c], &spectrum(c, &settings.first)),
        &noisy,
    );
    if !settings.wiener {
        return basic;
    }
    let basic: Vec<&[f64]> = basic.iter().map(|b| &b[..]).collect();
    stage(
        &settings.second,
        basic[0],
        &noisy,
        size,
        |c, group, basic| {
            wiener(group, basic, sigmas[c] * sigmas[c], &spectrum(c, &settings.second))
        },
        &basic,
    )
}

#[allow(clippy::too_many_arguments)]
fn stage(
    stage: &Stage<f64>,
    guide: &[f64],
    noisy: &[&[f64]],
    (width, height): (usize, usize),
    shrink: impl Fn(usize, &mut [Matrix], &[Matrix]) -> f64,
    basic: &[&[f64]],
) -> Vec<Vec<f64>> {
    let n = stage.block;
    let image = |pixels: &[f64]| Image::new(pixels, width, height, stage);
    let guide = image(guide);
    let noisy: Vec<Image> = noisy.iter().map(|p| image(p)).collect();
    let basic: Vec<Image> = basic.iter().map(|p| image(p)).collect();
    let (w, h) = (guide.width, guide.height);
    let (forward, inverse) = matrices(stage.transform, n);
    let window = kaiser(n, stage.beta);
    let mut sums = vec![(vec![0.0; w * h], vec![0.0; w * h]); noisy.len()];
    for y in (0..=h - n).step_by(stage.step) {
        for x in (0..=w - n).step_by(stage.step) {
            let group = matches(stage, &guide, x, y);
            for (c, (above, below)) in sums.iter_mut().enumerate() {
                let spectrum = |image: &Image| {
                    let mut blocks: Vec<Matrix> =
                        group.iter().map(|&(x, y)| both(&forward, &image.block(x, y, n))).collect();
                    across(&mut blocks, &haar(group.len()));
                    blocks
                };
                let mut blocks = spectrum(&noisy[c]);
                let weight = shrink(c, &mut blocks, &spectrum(&basic[c]));
                across(&mut blocks, &transpose(&haar(group.len())));
                for (&(x, y), block) in group.iter().zip(&blocks) {
                    let block = both(&inverse, block);
                    for r in 0..n {
                        for s in 0..n {
                            let weight = weight * window[r] * window[s];
                            above[(y + r) * w + x + s] += weight * block[r][s];
                            below[(y + r) * w + x + s] += weight;
                        }
                    }
                }
            }
        }
    }
    sums.iter()
        .map(|(above, below)| {
            let pixel = |i: usize| {
                let at = i / width * w + i % width;
                above[at] / below[at]
            };
            (0..width * height).map(pixel).collect()
        })
        .collect()
}

/// The reference, and the nearest blocks to it.
fn matches(stage: &Stage<f64>, guide: &Image, x: usize, y: usize) -> Vec<(usize, usize)> {
    let (n, r) = (stage.block, stage.radius);
    let here = guide.block(x, y, n);
    let mut found = Vec::new();
    for v in y.saturating_sub(r)..=(y + r).min(guide.height - n) {
        for u in x.saturating_sub(r)..=(x + r).min(guide.width - n) {
            if (u, v) == (x, y) {
                continue;
            }
            let there = guide.block(u, v, n);
            let mut distance = 0.0;
            for i in 0..n {
                for j in 0..n {
                    distance += (here[i][j] - there[i][j]).powi(2);
                }
            }
            if distance < stage.max_distance * (n * n) as f64 {
                found.push((distance, (u, v)));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut group = vec![(x, y)];
    group.extend(found.iter().map(|f| f.1).take(stage.group - 1));
    while !group.len().is_power_of_two() {
        group.pop();
    }
    group
}

fn threshold(group: &mut [Matrix], limit: f64, spectrum: &Matrix) -> f64 {
    let mean = group[0][0][0];
    let mut left = 0.0;
    for block in &mut *group {
        for (c, q) in block.iter_mut().flatten().zip(spectrum.iter().flatten()) {
            if c.abs() > limit * q {
                left += q * q;
            } else {
                *c = 0.0;
            }
        }
    }
    group[0][0][0] = mean;
    1.0 / f64::max(left, 1.0)
}

fn wiener(group: &mut [Matrix], basic: &[Matrix], variance: f64, spectrum: &Matrix) -> f64 {
    let mean = group[0][0][0];
    let mut left = 0.0;
    for (block, basic) in group.iter_mut().zip(basic) {
        let pairs = block.iter_mut().flatten().zip(basic.iter().flatten());
        for ((c, b), q) in pairs.zip(spectrum.iter().flatten()) {
            let gain = b * b / (b * b + variance * q * q);
            *c *= gain;
            left += gain * gain * q * q;
        }
    }
    group[0][0][0] = mean;
    1.0 / left.max(1.0)
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |i: usize, j: usize| (0..b.len()).map(|k| a[i][k] * b[k][j]).sum();
    (0..a.len()).map(|i| (0..b[0].len()).map(|j| entry(i, j)).collect()).collect()
}

fn transpose(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// F B Fᵀ.
fn both(f: &Matrix, b: &Matrix) -> Matrix {
    product(&product(f, b), &transpose(f))
}

/// A transform of the k-th blocks' coefficients for each coefficient.
fn across(blocks: &mut [Matrix], f: &Matrix) {
    let n = blocks[0].len();
    for r in 0..n {
        for s in 0..n {
            let column: Matrix = blocks.iter().map(|b| vec![b[r][s]]).collect();
            for (block, value) in blocks.iter_mut().zip(product(f, &column)) {
                block[r][s] = value[0];
            }
        }
    }
}

/// The orthonormal Haar matrix.
fn haar(n: usize) -> Matrix {
    let mut rows = vec![vec![1.0; n]];
    let mut len = n;
    while len > 1 {
        for start in (0..n).step_by(len) {
            let sign = |j: usize| match j {
                j if j < start || j >= start + len => 0.0,
                j if j < start + len / 2 => 1.0,
                _ => -1.0,
            };
            rows.push((0..n).map(sign).collect());
        }
        len /= 2;
    }
    rows.into_iter().map(unit).collect()
}

fn unit(row: Vec<f64>) -> Vec<f64> {
    let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    row.into_iter().map(|x| x / norm).collect()
}

/// A transform with rows of norm one, and its inverse.
pub fn matrices(transform: Transform, n: usize) -> (Matrix, Matrix) {
    let forward: Matrix = match transform {
        Transform::Bior15 => wavelet(n).into_iter().map(unit).collect(),
        _ => (0..n)
            .map(|k| {
                let angle = std::f64::consts::PI * k as f64 / n as f64;
                unit((0..n).map(|j| (angle * (j as f64 + 0.5)).cos()).collect())
            })
            .collect(),
    };
    let inverse = invert(&forward);
    (forward, inverse)
}

/// bior1.5 by its filters: every level filters the averages of the last one,
/// periodically, and keeps every second value.
fn wavelet(n: usize) -> Matrix {
    let low = [3.0, -3.0, -22.0, 22.0, 128.0, 128.0, 22.0, -22.0, -3.0, 3.0];
    let mut averages: Matrix =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut rows = Vec::new();
    while averages.len() > 1 {
        let len = averages.len();
        let combine = |taps: &[f64], first: isize, i: usize| -> Vec<f64> {
            let mut sum = vec![0.0; n];
            for (t, tap) in taps.iter().enumerate() {
                let at = (2 * i as isize + first + t as isize).rem_euclid(len as isize);
                for (sum, value) in sum.iter_mut().zip(&averages[at as usize]) {
                    *sum += tap * value;
                }
            }
            sum
        };
        let details: Matrix = (0..len / 2).map(|i| combine(&[1.0, -1.0], 0, i)).collect();
        rows.splice(0..0, details);
        averages = (0..len / 2).map(|i| combine(&low, -4, i)).collect();
    }
    rows.splice(0..0, averages);
    rows
}

/// Gauss-Jordan with pivoting.
fn invert(a: &Matrix) -> Matrix {
    let n = a.len();
    let mut rows: Matrix = a.clone();
    for (i, row) in rows.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()));
        rows.swap(k, pivot.unwrap());
        let scale = rows[k][k];
        rows[k].iter_mut().for_each(|x| *x /= scale);
        for i in (0..n).filter(|&i| i != k) {
            let factor = rows[i][k];
            for j in 0..2 * n {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// The Kaiser window, its Bessel functions as integrals.
fn kaiser(n: usize, beta: f64) -> Vec<f64> {
    let bessel = |x: f64| {
        let steps = 1000;
        let angle = |k: usize| std::f64::consts::PI * (k as f64 + 0.5) / steps as f64;
        (0..steps).map(|k| (x * angle(k).cos()).exp()).sum::<f64>() / steps as f64
    };
    (0..n)
        .map(|i| {
            let t = 2.0 * i as f64 / (n as f64 - 1.0) - 1.0;
            bessel(beta * (1.0 - t * t).max(0.0).sqrt()) / bessel(beta)
        })
        .collect()
}
