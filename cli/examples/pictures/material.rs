//! Pictures as instruments make them, from formulas and one bundled photograph, with seeds.

#[path = "../../src/noise.rs"]
#[allow(dead_code)]
mod noise;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType, ImageBuffer, Luma, Rgb};
use noise::Random;

/// A noisy picture and the truth.
pub(crate) struct Material {
    pub(crate) name: &'static str,
    /// What it is, in a line.
    pub(crate) what: String,
    pub(crate) noisy: DynamicImage,
    pub(crate) clean: DynamicImage,
    /// Columns, rows, fluxes and widths of stars.
    #[allow(dead_code)]
    pub(crate) stars: Vec<Star>,
    /// Pixels that are impulses.
    #[allow(dead_code)]
    pub(crate) impulses: Vec<usize>,
}

impl Material {
    /// The format that holds its samples.
    pub(crate) fn extension(&self) -> &'static str {
        match self.noisy {
            DynamicImage::ImageRgb32F(_) => "tiff",
            _ => "png",
        }
    }
}

/// A point source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Star {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) flux: f64,
}

/// A grey picture of real numbers, row after row.
#[derive(Clone)]
struct Grey {
    width: usize,
    height: usize,
    samples: Vec<f64>,
}

impl Grey {
    fn new(width: usize, height: usize, mut of: impl FnMut(usize, usize) -> f64) -> Self {
        let samples = (0..width * height).map(|i| of(i % width, i / width)).collect();
        Self { width, height, samples }
    }

    fn map(&self, mut of: impl FnMut(f64) -> f64) -> Self {
        Self { samples: self.samples.iter().map(|&x| of(x)).collect(), ..*self }
    }

    fn at(&self, x: usize, y: usize) -> f64 {
        self.samples[y * self.width + x]
    }

    /// The sample at a place that is mirrored into the picture.
    fn mirrored(&self, x: isize, y: isize) -> f64 {
        let fold = |i: isize, n: usize| {
            let i = i.unsigned_abs();
            if i < n { i } else { 2 * n - 2 - i }
        };
        self.at(fold(x, self.width), fold(y, self.height))
    }

    fn mean(&self) -> f64 {
        self.samples.iter().sum::<f64>() / self.samples.len() as f64
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn bytes(&self) -> DynamicImage {
        let samples = self.samples.iter().map(|x| x.round().clamp(0.0, 255.0) as u8).collect();
        let (width, height) = (self.width as u32, self.height as u32);
        ImageBuffer::<Luma<u8>, _>::from_raw(width, height, samples).expect("lengths fit").into()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn words(&self) -> DynamicImage {
        let samples: Vec<u16> =
            self.samples.iter().map(|x| x.round().clamp(0.0, 65535.0) as u16).collect();
        let (width, height) = (self.width as u32, self.height as u32);
        ImageBuffer::<Luma<u16>, _>::from_raw(width, height, samples).expect("lengths fit").into()
    }
}

/// Three grey pictures as one of bytes.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn colour([red, green, blue]: &[Grey; 3]) -> DynamicImage {
    let byte = |x: f64| x.round().clamp(0.0, 255.0) as u8;
    let pixel = |x: u32, y: u32| {
        let i = y as usize * red.width + x as usize;
        Rgb([red.samples[i], green.samples[i], blue.samples[i]].map(byte))
    };
    ImageBuffer::from_fn(red.width as u32, red.height as u32, pixel).into()
}

/// The bundled photograph (CC0).
fn photograph() -> Grey {
    let bytes = include_bytes!("../../../examples/camera.png");
    let picture = image::load_from_memory(bytes).expect("the bundled picture is read").to_luma8();
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    Grey { width, height, samples: picture.into_raw().into_iter().map(f64::from).collect() }
}

/// A number of Poisson's distribution: products of uniform numbers where it is small, the
/// rounded Gaussian where it is large.
fn poisson(random: &mut Random, mean: f64) -> f64 {
    if mean > 200.0 {
        return (mean + mean.sqrt() * random.gaussian()).round().max(0.0);
    }
    let limit = (-mean).exp();
    let (mut product, mut count) = (random.uniform(), 0.0);
    while product > limit {
        product *= random.uniform();
        count += 1.0;
    }
    count
}

/// All kinds.
pub(crate) fn all(seed: u64) -> Vec<Material> {
    let mut all = Vec::new();
    all.extend([20, 50, 100].map(|photons| microscopy(photons, seed)));
    all.push(few_photons(seed));
    all.push(demosaiced(seed));
    all.extend([70, 85, 95].map(|quality| jpeg(quality, seed)));
    all.push(grain(seed));
    all.push(clean_photograph());
    all.push(screenshot(false));
    all.push(screenshot(true));
    all.push(drawing());
    all.push(star_field(seed));
    all.push(dim_photograph(seed));
    all.push(columns(seed));
    all.extend(twelve_bits(seed));
    all.push(white(seed));
    all.extend((0..4).map(|number| cloth(number, seed)));
    all
}

/// What all of them have in common.
fn material(
    name: &'static str,
    what: impl Into<String>,
    noisy: DynamicImage,
    clean: DynamicImage,
) -> Material {
    Material { name, what: what.into(), noisy, clean, stars: Vec::new(), impulses: Vec::new() }
}

/// Counts of photons times a gain, over an offset, with the noise of reading. Prints of cells:
/// bright nuclei, filaments and a dark ground.
pub(crate) fn microscopy(photons: u32, seed: u64) -> Material {
    let (gain, offset, read) = (20.0, 400.0, 30.0);
    let mut random = Random::new("microscopy", seed, photons.into());
    let n = 256;
    let mut cells = Vec::new();
    for _ in 0..14 {
        cells.push((
            random.uniform() * n as f64,
            random.uniform() * n as f64,
            12.0 + 14.0 * random.uniform(),
            0.6 + 0.8 * random.uniform(),
            std::f64::consts::PI * random.uniform(),
        ));
    }
    let shape = Grey::new(n, n, |x, y| {
        let (x, y) = (x as f64, y as f64);
        let mut sum = 0.08;
        for &(cx, cy, radius, height, angle) in &cells {
            let (dx, dy) = (x - cx, y - cy);
            let (along, across) =
                (dx * angle.cos() + dy * angle.sin(), dy * angle.cos() - dx * angle.sin());
            let r = ((along / 1.4).powi(2) + across.powi(2)).sqrt() / radius;
            // A body with a soft edge, a brighter nucleus, and filaments.
            sum += height * 0.5 / (1.0 + ((r - 1.0) * 12.0).exp());
            sum += height * 0.6 / (1.0 + ((r - 0.45) * 20.0).exp());
            if r < 1.0 {
                let wave = (0.9 * across + 3.0 * (along / 9.0).sin()).cos();
                sum += 0.25 * height * wave.max(0.0).powi(4) * (1.0 - r);
            }
        }
        sum
    });
    let scale = f64::from(photons) / shape.mean();
    let clean = shape.map(|f| offset + gain * scale * f);
    let noisy =
        shape.map(|f| offset + gain * poisson(&mut random, scale * f) + read * random.gaussian());
    let name = match photons {
        20 => "microscopy20",
        50 => "microscopy50",
        _ => "microscopy100",
    };
    // Variance gain (y - offset) + read^2.
    let floor = read * read - gain * offset;
    material(
        name,
        format!("gain {gain}, variance at zero {floor}, {photons} photons on average"),
        noisy.words(),
        clean.words(),
    )
}

/// The photograph by 30 photons on average.
pub(crate) fn few_photons(seed: u64) -> Material {
    let (gain, read) = (4.0, 2.0);
    let mut random = Random::new("photons", seed, 0);
    let photograph = photograph();
    let scale = 30.0 / photograph.mean();
    let clean = photograph.map(|f| gain * scale * f);
    let noisy =
        photograph.map(|f| gain * poisson(&mut random, scale * f) + read * random.gaussian());
    material(
        "photons30",
        format!("gain {gain}, variance at zero {}", read * read),
        noisy.words(),
        clean.words(),
    )
}

/// The photograph with three tone curves, so that it has colours.
fn tinted() -> [Grey; 3] {
    let photograph = photograph();
    let (width, height) = (photograph.width as f64, photograph.height as f64);
    let tint = |power: f64, across: f64, down: f64| {
        Grey::new(photograph.width, photograph.height, |x, y| {
            let shade = 1.0 + across * (x as f64 / width - 0.5) + down * (y as f64 / height - 0.5);
            (235.0 * shade * (photograph.at(x, y) / 255.0).powf(power)).clamp(0.0, 255.0)
        })
    };
    [tint(0.9, 0.1, -0.1), tint(1.0, 0.0, 0.0), tint(1.15, -0.1, 0.1)]
}

/// Noise of deviation 12 in a mosaic of Bayer's, bilinearly made a colour picture.
pub(crate) fn demosaiced(seed: u64) -> Material {
    let mut random = Random::new("demosaiced", seed, 0);
    let clean = tinted();
    // The colour at a place: R G / G B.
    let colour_at = |x: isize, y: isize| match (x.rem_euclid(2), y.rem_euclid(2)) {
        (0, 0) => 0,
        (1, 1) => 2,
        _ => 1,
    };
    let mosaic = Grey::new(clean[0].width, clean[0].height, |x, y| {
        clean[colour_at(x.cast_signed(), y.cast_signed())].at(x, y) + 12.0 * random.gaussian()
    });
    let full = [0, 1, 2].map(|colour| {
        Grey::new(mosaic.width, mosaic.height, |x, y| {
            let (x, y) = (x.cast_signed(), y.cast_signed());
            // The mean of the nearest samples of this colour.
            let (mut sum, mut weights) = (0.0, 0.0);
            for dy in -1..=1 {
                for dx in -1..=1 {
                    let weight = match (colour_at(x, y) == colour, dx, dy) {
                        (true, 0, 0) => 1.0,
                        (true, ..) => 0.0,
                        // Green: four beside it, those at the corners are not green.
                        _ => 1.0,
                    };
                    if weight > 0.0 && colour_at(x + dx, y + dy) == colour {
                        sum += weight * mosaic.mirrored(x + dx, y + dy);
                        weights += weight;
                    }
                }
            }
            sum / weights
        })
    });
    material(
        "demosaiced",
        "sigma 12 in the mosaic, bilinear",
        self::colour(&full),
        self::colour(&clean),
    )
}

/// Noise of deviation 14, and then JPEG.
pub(crate) fn jpeg(quality: u8, seed: u64) -> Material {
    let mut random = Random::new("jpeg", seed, quality.into());
    let clean = photograph();
    let noisy = clean.map(|f| f + 14.0 * random.gaussian()).bytes().to_luma8();
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, quality)
        .encode(&noisy, noisy.width(), noisy.height(), ExtendedColorType::L8)
        .expect("a picture becomes a JPEG");
    let noisy = image::load_from_memory(&file).expect("it is read back");
    let name = match quality {
        70 => "jpeg70",
        85 => "jpeg85",
        _ => "jpeg95",
    };
    material(name, format!("sigma 14, JPEG of quality {quality}"), noisy, clean.bytes())
}

/// Film grain: noise of deviation 12, blurred by a Gaussian of one pixel.
pub(crate) fn grain(seed: u64) -> Material {
    let mut random = Random::new("grain", seed, 0);
    let clean = photograph();
    let white = clean.map(|_| random.gaussian());
    let weight = |d: isize| (-0.5 * (d * d) as f64).exp();
    let sum: f64 = (-3..=3).map(|d| weight(d) * weight(d)).sum();
    let noisy = Grey::new(clean.width, clean.height, |x, y| {
        let mut grain = 0.0;
        for dy in -3..=3 {
            for dx in -3..=3 {
                let (x, y) = (x.cast_signed() + dx, y.cast_signed() + dy);
                grain += weight(dx) * weight(dy) * white.mirrored(x, y);
            }
        }
        clean.at(x, y) + 12.0 * grain / sum
    });
    material("grain", "sigma 12, blurred by one pixel", noisy.bytes(), clean.bytes())
}

/// The photograph as it is.
pub(crate) fn clean_photograph() -> Material {
    let clean = photograph().bytes();
    material("photograph", "nothing added", clean.clone(), clean)
}

/// Glyphs of five by seven, a row of pixels to the number.
const GLYPHS: [(char, [u8; 7]); 12] = [
    ('a', [0, 0, 14, 1, 15, 17, 15]),
    ('e', [0, 0, 14, 17, 31, 16, 14]),
    ('i', [4, 0, 12, 4, 4, 4, 14]),
    ('k', [16, 16, 18, 20, 24, 20, 18]),
    ('l', [12, 4, 4, 4, 4, 4, 14]),
    ('n', [0, 0, 22, 25, 17, 17, 17]),
    ('o', [0, 0, 14, 17, 17, 17, 14]),
    ('r', [0, 0, 22, 25, 16, 16, 16]),
    ('s', [0, 0, 15, 16, 14, 1, 30]),
    ('t', [8, 8, 28, 8, 8, 9, 6]),
    ('.', [0, 0, 0, 0, 0, 12, 12]),
    (':', [0, 12, 12, 0, 12, 12, 0]),
];

/// A window with a title, lines of black text, small red and blue words, icons of single
/// pixels, a table with hairlines, and a shaded button; with `smooth` glyphs of grey edges.
pub(crate) fn screenshot(smooth: bool) -> Material {
    let (width, height) = (320, 240);
    let mut picture = vec![[255.0; 3]; width * height];
    let mut fill = |x: usize, y: usize, w: usize, h: usize, colour: [f64; 3]| {
        for v in y..y + h {
            picture[v * width + x..v * width + x + w].fill(colour);
        }
    };
    fill(0, 0, width, 18, [60.0, 90.0, 160.0]);
    fill(0, 18, 70, height - 18, [238.0, 238.0, 240.0]);
    for y in (30..230).step_by(20) {
        fill(80, y + 15, 230, 1, [200.0, 200.0, 200.0]);
    }
    for x in (80..320).step_by(46) {
        fill(x, 30, 1, 196, [200.0, 200.0, 200.0]);
    }
    for i in 0..20 {
        let shade = 225.0 - 2.0 * i as f64;
        fill(8, 200 + i, 54, 1, [shade, shade, shade]);
    }
    // Icons: squares of a chessboard, dots, a diagonal.
    for i in 0..8 {
        for j in 0..8 {
            if (i + j) % 2 == 0 {
                fill(8 + i, 30 + j, 1, 1, [0.0, 0.0, 0.0]);
            }
        }
        fill(24 + 2 * i, 34, 1, 1, [200.0, 0.0, 0.0]);
        fill(44 + i, 30 + i, 1, 1, [0.0, 130.0, 0.0]);
    }
    let mut write = |mut x: usize, y: usize, text: &str, colour: [f64; 3]| {
        for letter in text.chars() {
            let rows = GLYPHS.iter().find(|(glyph, _)| *glyph == letter).map(|(_, rows)| rows);
            for (v, row) in rows.into_iter().flatten().enumerate() {
                for u in 0..5 {
                    let is_ink = |u: usize| u < 5 && row >> (4 - u) & 1 == 1;
                    let beside = is_ink(u + 1) || u > 0 && is_ink(u - 1);
                    let cover = match (is_ink(u), smooth && beside) {
                        (true, _) => 1.0,
                        (false, true) => 0.3,
                        (false, false) => 0.0,
                    };
                    let pixel = &mut picture[(y + v) * width + x + u];
                    for (sample, ink) in pixel.iter_mut().zip(colour) {
                        *sample += cover * (ink - *sample);
                    }
                }
            }
            x += 6;
        }
    };
    write(6, 5, "kernel retinal silk", [255.0, 255.0, 255.0]);
    let words = [
        "a lionness is at rest.",
        "oil stains in sonata:",
        "letters are lost inn",
        "roast no taller snake",
    ];
    for line in 0..10 {
        let colour = match line % 5 {
            1 => [220.0, 0.0, 0.0],
            3 => [0.0, 0.0, 200.0],
            _ => [0.0, 0.0, 0.0],
        };
        write(84, 33 + 20 * line, words[line % 4], colour);
        write(84 + 132 + line % 3, 33 + 20 * line, "error: i.", [230.0, 20.0, 20.0]);
        write(8, 50 + 12 * line, &words[(line + 1) % 4][..8], [40.0, 40.0, 40.0]);
    }
    let channel = |c: usize| Grey::new(width, height, |x, y| picture[y * width + x][c]);
    let picture = colour(&[channel(0), channel(1), channel(2)]);
    let name = if smooth { "screenshot-smooth" } else { "screenshot" };
    material(name, "small black, red and blue text, hairlines, icons", picture.clone(), picture)
}

/// Black lines with grey edges on white: circles, rays, hatching, dots.
pub(crate) fn drawing() -> Material {
    let ink = |distance: f64, half: f64| (half + 0.5 - distance).clamp(0.0, 1.0);
    let picture = Grey::new(256, 256, |column, row| {
        let (x, y) = (column as f64, row as f64);
        let mut cover = 0.0_f64;
        for (cx, cy, r, half) in
            [(70.0, 80.0, 50.0, 1.0), (70.0, 80.0, 30.0, 0.5), (170.0, 60.0, 40.0, 0.35)]
        {
            cover = cover.max(ink((f64::hypot(x - cx, y - cy) - r).abs(), half));
        }
        for k in 0..9 {
            let angle = 0.17 * f64::from(k);
            let across = (y - 140.0) * angle.cos() - (x - 20.0) * angle.sin();
            if x > 20.0 && y > 140.0 && f64::hypot(x - 20.0, y - 140.0) < 100.0 {
                cover = cover.max(ink(across.abs(), 0.4));
            }
        }
        if (140.0..240.0).contains(&x) && (140.0..200.0).contains(&y) {
            cover = cover.max(ink(((x + 0.6 * y) % 6.0 - 3.0).abs() / 1.17, 0.3));
        }
        if y > 210.0 && x > 130.0 && column.is_multiple_of(5) && row.is_multiple_of(5) {
            cover = 1.0;
        }
        255.0 * (1.0 - cover)
    });
    material("drawing", "lines, circles, hatching and dots", picture.bytes(), picture.bytes())
}

/// Stars of 1.5 to 3 pixels (full width at half of the maximum) over the noise of the sky, and
/// hot pixels.
pub(crate) fn star_field(seed: u64) -> Material {
    let (sky, noise) = (1000.0, 20.0);
    let mut random = Random::new("stars", seed, 0);
    let n = 256;
    let mut stars = Vec::new();
    let mut clean = Grey::new(n, n, |_, _| sky);
    for k in 0..160_u32 {
        let place = |random: &mut Random| 6.0 + (n as f64 - 12.0) * random.uniform();
        let star = Star {
            x: place(&mut random),
            y: place(&mut random),
            flux: 1500.0 * random.uniform().powf(-1.0).min(200.0),
        };
        let deviation = (1.5 + 1.5 * f64::from(k % 3) / 2.0) / 2.354_82;
        for (i, sample) in clean.samples.iter_mut().enumerate() {
            let (dx, dy) = ((i % n) as f64 - star.x, (i / n) as f64 - star.y);
            if dx.abs() < 12.0 && dy.abs() < 12.0 {
                *sample += star.flux * of_pixel(dx, deviation) * of_pixel(dy, deviation);
            }
        }
        stars.push(star);
    }
    let mut noisy =
        clean.map(|f| f + (noise * noise + (f - sky).max(0.0)).sqrt() * random.gaussian());
    let impulses = random.subset(n * n, n * n / 200);
    for &i in &impulses {
        noisy.samples[i] += 150.0 + 20000.0 * random.uniform().powi(4);
    }
    let mut all = material(
        "stars",
        "stars of 1.5 to 3 pixels, 0.5 % hot pixels",
        noisy.words(),
        clean.words(),
    );
    (all.stars, all.impulses) = (stars, impulses);
    all
}

/// The part of a Gaussian in the pixel at a distance.
fn of_pixel(d: f64, deviation: f64) -> f64 {
    let below = |t: f64| 0.5 * (1.0 + libm::erf(t / (deviation * std::f64::consts::SQRT_2)));
    below(d + 0.5) - below(d - 0.5)
}

/// A photograph in the lowest fiftieth of a 16-bit file, with hot pixels.
pub(crate) fn dim_photograph(seed: u64) -> Material {
    let mut random = Random::new("dim", seed, 0);
    let clean = photograph().map(|f| 200.0 + 5.0 * f);
    let mut noisy = clean.map(|f| f + 20.0 * random.gaussian());
    let impulses = random.subset(noisy.samples.len(), noisy.samples.len() / 100);
    for &i in &impulses {
        noisy.samples[i] += 250.0 + 4000.0 * random.uniform().powi(2);
    }
    let mut all = material(
        "dim",
        "values to 1500 of 65535, sigma 20, 1 % hot pixels",
        noisy.words(),
        clean.words(),
    );
    all.impulses = impulses;
    all
}

/// Dead columns, and columns of another gain or offset.
pub(crate) fn columns(seed: u64) -> Material {
    let mut random = Random::new("columns", seed, 0);
    let clean = photograph();
    let mut noisy = clean.map(|f| f + 8.0 * random.gaussian());
    for y in 0..clean.height {
        let row = y * clean.width;
        for (x, gain, offset) in
            [(40, 0.0, 0.0), (90, 0.7, 0.0), (150, 1.0, 25.0), (200, 0.0, 255.0), (221, 1.2, -5.0)]
        {
            noisy.samples[row + x] = gain * noisy.samples[row + x] + offset;
        }
    }
    material(
        "columns",
        "sigma 8, two dead columns, three of another gain or offset",
        noisy.bytes(),
        clean.bytes(),
    )
}

/// 12-bit data in a 16-bit file, and the same at full range.
fn twelve_bits(seed: u64) -> [Material; 2] {
    let mut random = Random::new("twelve", seed, 0);
    let clean = photograph().map(|f| 16.0 * f);
    let mut noisy = clean.map(|f| f + 160.0 * random.gaussian());
    let impulses = random.subset(noisy.samples.len(), noisy.samples.len() / 10);
    for &i in &impulses {
        noisy.samples[i] += random.sign(1600.0);
    }
    let noisy = noisy.map(|y| y.round().clamp(0.0, 4095.0));
    let of = |name, factor: f64| {
        let (noisy, clean) = (noisy.map(|y| factor * y), clean.map(|y| factor * y));
        let what = format!("sigma 10 of 255, 10 % of 100, times {factor}");
        let mut all = material(name, what, noisy.words(), clean.words());
        all.impulses.clone_from(&impulses);
        all
    };
    [of("twelve-bits", 1.0), of("twelve-bits-full", 16.0)]
}

/// White noise of deviation 20, which has to stay what it was.
pub(crate) fn white(seed: u64) -> Material {
    let mut random = Random::new("white", seed, 0);
    let clean = photograph();
    let noisy = clean.map(|f| f + 20.0 * random.gaussian());
    material("white", "sigma 20", noisy.bytes(), clean.bytes())
}

/// The ways in which the threads of a cloth lie.
#[derive(Clone, Copy)]
enum Weave {
    Plain,
    Stripes,
    /// Stripes that become wider.
    Chirp,
    Twill,
    Herringbone,
    Checked,
}

/// A piece of cloth: its threads, their distance in pixels, how far they are from the mean
/// brightness, their direction, and how the piece is folded.
struct Piece {
    centre: (f64, f64),
    weave: Weave,
    period: f64,
    contrast: f64,
    angle: f64,
    fold: (f64, f64, f64),
}

impl Piece {
    fn at(&self, x: f64, y: f64) -> f64 {
        let tau = std::f64::consts::TAU;
        let (height, length, phase) = self.fold;
        let folded = x + height * (tau * (y + 0.3 * x) / length + phase).sin();
        let (u, v) = (
            folded * self.angle.cos() + y * self.angle.sin(),
            y * self.angle.cos() - folded * self.angle.sin(),
        );
        let wave = |t: f64| (tau * t / self.period).sin();
        self.contrast
            * match self.weave {
                Weave::Plain => 0.0,
                Weave::Stripes => wave(u),
                Weave::Chirp => wave(u / (1.0 + 0.5 * (tau * u / 160.0).sin().powi(2))),
                // Threads side by side, each of which is seen for a part of its length.
                Weave::Twill => 0.6 * wave(u + v / 3.0) + 0.4 * wave(u) * wave(v / 1.5),
                Weave::Herringbone => {
                    let width = 8.0 * self.period;
                    wave(0.7 * (u + (v.rem_euclid(2.0 * width) - width).abs()))
                }
                Weave::Checked => wave(u) * wave(v),
            }
    }
}

/// Cloth: pieces with regular threads, 3 to 9 pixels from each other, in folds, and plain ones,
/// each on a soft shade of its own. Noise of deviation 12 and 8 % of impulses of 100. Cloth of a
/// higher number is coarser and has more contrast.
pub(crate) fn cloth(number: usize, seed: u64) -> Material {
    const WEAVES: [Weave; 8] = [
        Weave::Stripes,
        Weave::Twill,
        Weave::Herringbone,
        Weave::Plain,
        Weave::Chirp,
        Weave::Checked,
        Weave::Stripes,
        Weave::Plain,
    ];
    let mut random = Random::new("cloth", seed, number as u64);
    let n = 320;
    let tau = std::f64::consts::TAU;
    let pieces = WEAVES.map(|weave| Piece {
        centre: (n as f64 * random.uniform(), n as f64 * random.uniform()),
        weave,
        period: (3.0 + number as f64) * (1.0 + random.uniform()) * 0.9,
        contrast: (12.0 + 8.0 * number as f64) * (1.0 + random.uniform()),
        angle: tau * random.uniform(),
        fold: (1.0 + 5.0 * random.uniform(), 60.0 + 80.0 * random.uniform(), random.uniform()),
    });
    let shades = WEAVES.map(|_| (70.0 + 110.0 * random.uniform(), tau * random.uniform()));
    let clean = Grey::new(n, n, |x, y| {
        let (x, y) = (x as f64, y as f64);
        let distance = |piece: &Piece| (piece.centre.0 - x).hypot(piece.centre.1 - y);
        let nearest = (0..pieces.len())
            .min_by(|&a, &b| distance(&pieces[a]).total_cmp(&distance(&pieces[b])))
            .unwrap_or(0);
        let (mean, phase) = shades[nearest];
        let soft = 25.0 * (tau * (x * phase.cos() + y * phase.sin()) / 220.0).sin();
        (mean + soft + pieces[nearest].at(x, y)).clamp(0.0, 255.0)
    });
    let noisy = clean.map(|f| {
        let impulse = if random.uniform() < 0.08 { random.sign(100.0) } else { 0.0 };
        f + impulse + 12.0 * random.gaussian()
    });
    let name = ["cloth0", "cloth1", "cloth2", "cloth3"][number];
    material(name, "threads; sigma 12, 8 % of impulses of 100", noisy.bytes(), clean.bytes())
}
