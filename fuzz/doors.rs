//! The doors of the library: each takes any bytes, makes input of them, and
//! panics if what comes back is neither an error nor a finite result.
//!
//! `cargo fuzz` looks for such bytes by coverage (`fuzz/fuzz_targets`), and
//! `tests/fuzz.rs` by mutation, with any compiler.

use kgard::denoise::bm3d::{Bm3d, Transform};
use kgard::denoise::{
    Conditions, Denoiser, Grid, KgBm3d, Masks, PaperKgBm3d, PaperKgard, PaperStop, Plane, PlaneBuf,
    metrics, noise_law, noise_level,
};
use kgard::kernel::AnyKernel;
use kgard::line::{FixedLag, Line, MarkovOf};
use kgard::regression::stop::Reading;
use kgard::tune::Model;
use kgard::{
    Error, Fit, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Penalty, Plan, PlanRef,
    Points, Polynomial, Regularizer, Stop, Workspace,
};

/// What the program reads of TIFF files and EXIF data by itself.
#[path = "../cli/src/pictures/tiff.rs"]
mod tiff_file;

/// A door: what it is called, and what it does with bytes.
pub type Door = (&'static str, fn(&[u8]));

/// All of them.
pub const DOORS: [Door; 9] = [
    ("plan_bytes", plan_bytes),
    ("fit", fit),
    ("line", line),
    ("stream", stream),
    ("models", models),
    ("kernels", kernels),
    ("planes", planes),
    ("bm3d", bm3d),
    ("tiff", tiff),
];

/// Bytes that are taken one after another; zeros when there are no more.
struct Bytes<'a>(&'a [u8]);

/// Numbers at the ends of what there is.
const EXTREMES: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-320,
    1e-300,
    1e-38,
    1e-12,
    1e12,
    1e38,
    1e154,
    -1e160,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                let first = *first;
                self.0 = rest;
                first
            }
            [] => 0,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    fn is(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Mostly an ordinary number, now and then an extreme one.
    fn number(&mut self) -> f64 {
        match self.byte() {
            byte @ 240.. => EXTREMES[usize::from(byte - 240)],
            byte => f64::from(i16::from_be_bytes([byte.wrapping_sub(120), self.byte()])) / 256.0,
        }
    }

    /// A number that is usually allowed for a width or a penalty.
    fn positive(&mut self) -> f64 {
        match self.byte() {
            byte @ 240.. => EXTREMES[usize::from(byte - 240)],
            byte => 2.0_f64.powf((f64::from(byte) - 160.0) / 12.0),
        }
    }

    fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}

fn finite(what: &str, values: &[f64]) {
    for value in values {
        assert!(value.is_finite(), "{what} is {value}");
    }
}

fn finite32(what: &str, values: &[f32]) {
    for value in values {
        assert!(value.is_finite(), "{what} is {value}");
    }
}

/// Plans for devices, as they lie in memory.
pub fn plan_bytes(data: &[u8]) {
    let mut words = vec![0_u64; data.len() / 8 + 1];
    bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..data.len()].copy_from_slice(data);
    let bytes = &bytemuck::cast_slice::<u64, u8>(&words)[..data.len()];
    if let Ok((plan, points)) = PlanRef::<f64>::from_bytes(bytes) {
        let n = plan.len();
        assert_eq!(points.len(), n);
        let y: Vec<f64> = (0..n).map(|i| (i % 5) as f64).collect();
        let mut scalars = vec![0.0; Workspace::<f64>::len(n, n)];
        let mut indices = vec![0; n];
        if let Ok(work) = Workspace::new(n, &mut scalars, &mut indices) {
            let _ = plan.fit(&y, Stop::count(n / 2), work);
        }
    }
    let _ = PlanRef::<f32>::from_bytes(bytes);
}

fn stop(bytes: &mut Bytes<'_>) -> Stop<f64> {
    let size = bytes.positive();
    let stop = match bytes.below(6) {
        0 => Stop::residual_norm(size),
        1 => Stop::max_residual(size),
        2 => Stop::histogram(size, Reading::EveryStep),
        3 => Stop::count(bytes.below(30)),
        _ => Stop::automatic(),
    };
    if bytes.is() { stop.at_most(bytes.below(30)) } else { stop }
}

fn check_fit<K: Kernel<f64>>(fit: Result<Fit<f64, K>, Error>, n: usize) {
    let Ok(fit) = fit else { return };
    finite("a coefficient", fit.coefficients());
    finite("the bias", &[fit.bias()]);
    finite("a residual", fit.residual());
    finite("a fitted value", fit.fitted());
    // It may be too large for a number where the residuals are not.
    assert!(fit.residual_norm() >= 0.0, "the norm is {}", fit.residual_norm());
    let mut seen = vec![false; n];
    for outlier in fit.outliers() {
        finite("an outlier", &[outlier.value]);
        assert!(!std::mem::replace(&mut seen[outlier.index], true), "an outlier is there twice");
    }
}

/// Plans and single fits, with any kernel, penalty and rule.
pub fn fit(data: &[u8]) {
    let mut bytes = Bytes(data);
    let bytes = &mut bytes;
    let (n, dim) = (bytes.below(24), 1 + bytes.below(3));
    let (width, lambda) = (bytes.positive(), bytes.positive());
    let regularizer = if bytes.is() { Regularizer::rkhs(lambda) } else { Regularizer::l2(lambda) };
    let regularizer = if bytes.is() { regularizer } else { regularizer.without_bias() };
    let stop = stop(bytes);
    let kernel = bytes.below(6);
    let (x, y) = (bytes.numbers(n * dim), bytes.numbers(n));
    let Ok(points) = Points::new(&x, dim) else { return };
    match kernel {
        0 => both(points, &y, Gaussian::new(width), regularizer, stop),
        1 => both(points, &y, Laplacian::new(width), regularizer, stop),
        2 => both(points, &y, Matern32::new(width), regularizer, stop),
        3 => both(points, &y, Polynomial::new(width, 1.0, 3), regularizer, stop),
        4 => both(points, &y, Linear, regularizer, stop),
        _ => both(points, &y, Gaussian::new(width).plus(Linear), regularizer, stop),
    }
}

fn both<K: Kernel<f64> + Clone>(
    points: Points<'_, f64>,
    y: &[f64],
    kernel: K,
    regularizer: Regularizer<'_, f64>,
    stop: Stop<f64>,
) {
    check_fit(kgard::fit(points, y, kernel.clone(), regularizer, stop), y.len());
    if let Ok(plan) = Plan::new(points, kernel, regularizer) {
        check_fit(plan.fit(y, stop), y.len());
        check_fit(plan.ridge(y), y.len());
        check_fit(plan.fit_support(y, &[1, 3]), y.len());
    }
}

/// Long series.
pub fn line(data: &[u8]) {
    let mut bytes = Bytes(data);
    let bytes = &mut bytes;
    let n = bytes.below(40);
    let (width, lambda, stop) = (bytes.positive(), bytes.positive(), stop(bytes));
    let (which, with_deviations, gap) = (bytes.below(3), bytes.is(), bytes.below(41));
    let (x, mut y) = (bytes.numbers(n), bytes.numbers(n));
    let deviations: Vec<f64> = (0..n).map(|_| bytes.positive()).collect();
    if let Some(y) = y.get_mut(gap) {
        *y = f64::NAN;
    }
    macro_rules! check {
        ($line:expr) => {
            let Ok(line) = $line else { return };
            let line = if with_deviations { line.with_deviations(&deviations) } else { Ok(line) };
            let Ok(line) = line else { return };
            let _ = line.fit(&y, stop);
            let Ok(fit) = line.fit_with_gaps(&y, stop) else { return };
            finite("a fitted value", &fit.fitted());
            finite("the bias", &[fit.bias(), fit.slope()]);
            for outlier in fit.outliers() {
                finite("an outlier", &[outlier.value]);
            }
            let _ = (fit.variances(), fit.left_out_errors(), fit.log_likelihood());
            if let Ok(predicted) = fit.predict(0.5) {
                finite("a prediction", &[predicted.mean]);
            }
        };
    }
    match which {
        0 => {
            check!(Line::new(&x, Matern32::new(width).plus(Matern32::new(0.1)), lambda));
        }
        1 => {
            check!(Line::with_trend(&x, Matern32::new(width), lambda));
        }
        _ => {
            check!(Line::without_bias(&x, Matern52::new(width), lambda));
        }
    }
}

/// Streams: samples of any size at any distance come out in order, one for one.
pub fn stream(data: &[u8]) {
    let mut bytes = Bytes(data);
    let bytes = &mut bytes;
    let (which, length) = (bytes.below(4), bytes.positive());
    match which {
        0 => stream_of::<_, 1, 4>(Laplacian::new(length), bytes),
        1 => stream_of::<_, 2, 8>(Matern32::new(length), bytes),
        2 => stream_of::<_, 3, 16>(Matern52::new(length), bytes),
        _ => stream_of::<_, 3, 5>(Matern32::new(length).plus(Laplacian::new(0.3)), bytes),
    }
}

fn stream_of<K: MarkovOf<f64, D>, const D: usize, const L: usize>(
    kernel: K,
    bytes: &mut Bytes<'_>,
) {
    let Ok(mut stream) = FixedLag::<f64, K, D, L>::new(kernel, bytes.positive(), bytes.positive())
    else {
        return;
    };
    for setting in 0..4 {
        if bytes.is() {
            let value = bytes.positive();
            let changed = match setting {
                0 => stream.with_interval(value),
                1 => stream.with_threshold(value),
                2 => stream.with_drift(value),
                _ => stream.with_tracked_noise(value),
            };
            let Ok(changed) = changed else { return };
            stream = changed;
        }
    }
    let mut samples = Vec::new();
    let mut count = 0;
    while !bytes.0.is_empty() {
        let (sample, distance) = (bytes.number(), bytes.positive());
        let out =
            if bytes.is() { Ok(stream.push(sample)) } else { stream.push_after(distance, sample) };
        let Ok(out) = out else { continue };
        samples.push(sample);
        if let Some(cleaned) = out {
            assert_eq!(cleaned.sample.to_bits(), samples[count].to_bits());
            finite("a cleaned sample", &[cleaned.value]);
            count += 1;
        }
        assert!(stream.len() <= L);
    }
    while let Some(cleaned) = stream.drain() {
        assert_eq!(cleaned.sample.to_bits(), samples[count].to_bits());
        finite("a cleaned sample", &[cleaned.value]);
        count += 1;
    }
    assert_eq!(count, samples.len());
}

/// Saved plans, fits, models and settings.
pub fn models(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else { return };
    match kind % 8 {
        0 => {
            if let Ok(fit) = serde_json::from_slice::<Fit<f64, Gaussian<f64>>>(text) {
                let _ = fit.predict(&vec![0.5; fit.points().dim()]);
                let _ = fit.refit(&vec![1.0; fit.fitted().len()], Regularizer::rkhs(0.1));
            }
        }
        1 => {
            if let Ok(plan) = serde_json::from_slice::<Plan<f64, Gaussian<f64>>>(text) {
                check_fit(plan.fit(&vec![1.0; plan.len()], Stop::automatic()), plan.len());
            }
        }
        2 => {
            if let Ok(model) = serde_json::from_slice::<Model<f64, AnyKernel<f64>>>(text) {
                let _ = (model.relevance(), model.slopes(), model.r_squared());
                let _ = model.predict(&[0.5]);
                if let Ok(uncertainty) = model.uncertainty() {
                    let _ = uncertainty.at(&[0.5]);
                }
            }
        }
        3 => {
            if let Ok(grid) = serde_json::from_slice::<Grid>(text) {
                for row in [0, 1, grid.rows() / 2, grid.rows(), usize::MAX] {
                    let rows = grid.covered(row);
                    assert!(rows.start <= rows.end && rows.end <= grid.height());
                }
                if let Ok(plan) = Denoiser::<f32>::new().regions(5, 1).plan() {
                    let _ = plan.pixels_for(&grid, 0..usize::MAX);
                }
            }
        }
        4 => {
            let _ = serde_json::from_slice::<Conditions<f32>>(text);
        }
        5 => {
            if let Ok(bm3d) = serde_json::from_slice::<Bm3d<f32>>(text) {
                let samples: Vec<f32> = (0..120).map(|i| (i * 7 % 50) as f32).collect();
                if let Ok(plane) = Plane::new(&samples, 12, 10) {
                    let _ = bm3d.denoise(plane, 5.0);
                }
            }
        }
        6 => {
            let _ = serde_json::from_slice::<Stop<f64>>(text);
            let _ = serde_json::from_slice::<AnyKernel<f64>>(text);
        }
        _ => {
            let _ = serde_json::from_slice::<Denoiser<f32>>(text).map(|denoiser| denoiser.plan());
        }
    }
}

/// Kernels by their names.
pub fn kernels(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(kernel) = text.parse::<AnyKernel<f64>>() {
        // What it is called is read back as itself.
        let shown = kernel.to_string();
        let again = shown.parse::<AnyKernel<f64>>();
        assert_eq!(again.map(|kernel| kernel.to_string()), Ok(shown));
        let _ = Plan::new(&[0.0, 0.5, 1.0], kernel, Regularizer::rkhs(0.1));
    }
}

/// Views of images, with strides and masks.
pub fn planes(data: &[u8]) {
    let mut bytes = Bytes(data);
    let bytes = &mut bytes;
    let (width, height) = (bytes.below(34), bytes.below(26));
    let (stride, step) = (bytes.below(80), bytes.below(4));
    let peak = [255.0, 1.0, 65535.0, bytes.positive() as f32][bytes.below(4)];
    let (region, core) =
        [(12, 8), (6, 4), (5, 1), (bytes.below(20), bytes.below(20))][bytes.below(4)];
    let stop = match bytes.below(3) {
        0 => PaperStop::Histogram { e0: bytes.positive() as f32, reading: Reading::EveryStep },
        1 => PaperStop::MaxResidual(bytes.positive() as f32),
        _ => PaperStop::Histogram { e0: bytes.positive() as f32, reading: Reading::Once },
    };
    let lambda = bytes.positive() as f32;
    let l2 = bytes.is();
    let (with_bad, with_keep) = (bytes.is(), bytes.is());
    let length = bytes.below(256) * 8;
    let mut samples = Vec::with_capacity(length);
    let base = peak * 0.4;
    // The bytes over and over, so that short ones make images.
    let rest = if bytes.0.is_empty() { &[0][..] } else { bytes.0 };
    for (i, &byte) in rest.iter().cycle().take(length).enumerate() {
        let sample = match byte {
            250.. if i < rest.len() => EXTREMES[usize::from(byte - 240)] as f32,
            byte => base + peak * f32::from(byte) / 512.0,
        };
        samples.push(sample);
    }
    let mask: Vec<bool> = samples.iter().map(|x| x.to_bits() % 7 == 0).collect();
    let Ok(plane) = Plane::strided(&samples, width, height, stride, step) else { return };
    let Ok(mask) = Plane::strided(&mask, width, height, stride, step) else { return };
    let masks = Masks { bad: with_bad.then_some(mask), keep: with_keep.then_some(mask) };
    let penalty = if l2 { Penalty::L2 } else { Penalty::default() };
    let denoiser = Denoiser::new().regions(region, core).penalty(penalty);
    if let Ok(noise) = noise_level(plane, with_bad.then_some(mask)) {
        finite32("the noise", &[noise]);
    }
    let _ = noise_law(plane, Some(mask));
    let _ = metrics::ssim(plane, plane, peak);
    // A bad pixel that is to be left as it is may hold anything.
    let changed = |after: &PlaneBuf<f32>| -> Vec<f32> {
        let pixels = after.samples().iter().zip(plane.to_vec());
        let changed = pixels.filter(|&(after, before)| after.to_bits() != before.to_bits());
        changed.map(|(&after, _)| after).collect()
    };
    if let Ok(denoised) = denoiser.plan().and_then(|plan| plan.denoise(plane, masks)) {
        finite32("a pixel", &changed(&denoised.channels[0]));
        finite32("an outlier", denoised.outliers.values[0].samples());
    }
    let paper =
        PaperKgard::new(peak).regions(region, core).penalty(penalty).lambda(lambda).stop(stop);
    if let Ok(denoised) = PaperKgBm3d::new(peak).kgard(paper).denoise(plane) {
        finite32("a pixel", denoised.channels[0].samples());
        finite32("an outlier", denoised.outliers.values[0].samples());
    }
    if width * height < 400
        && let Ok(denoised) =
            KgBm3d::new(peak).kgard(denoiser).plan().and_then(|plan| plan.denoise(&[plane], masks))
    {
        finite32("a pixel", &changed(&denoised.channels[0]));
        let noise = denoised.report.channels[0].noise.expect("it is estimated");
        finite32("the noise", &[noise]);
    }
}

/// BM3D with any settings.
pub fn bm3d(data: &[u8]) {
    let mut bytes = Bytes(data);
    let bytes = &mut bytes;
    let (width, height) = (1 + bytes.below(30), 1 + bytes.below(24));
    let sigma = bytes.positive() as f32;
    let mut bm3d = Bm3d::for_noise(sigma, 255.0);
    for stage in [&mut bm3d.first, &mut bm3d.second] {
        stage.block = [8, 4, 12, 16, 8, bytes.below(20)][bytes.below(6)];
        stage.step = bytes.below(18);
        stage.radius = [19, 0, 5, 1024, usize::MAX][bytes.below(5)];
        stage.group = [16, 1, 2, 32, 1024, usize::from(bytes.byte())][bytes.below(6)];
        stage.max_distance = bytes.number().abs() as f32 * 100.0;
        stage.beta = bytes.positive() as f32;
        stage.transform = [Transform::Dct, Transform::Bior15][bytes.below(2)];
    }
    bm3d.threshold = bytes.positive() as f32;
    bm3d.wiener = bytes.is();
    let samples: Vec<f32> = (0..width * height).map(|_| 10.0 * bytes.number() as f32).collect();
    let Ok(plane) = Plane::new(&samples, width, height) else { return };
    if let Ok(denoised) = bm3d.denoise(plane, sigma) {
        finite32("a pixel", denoised.samples());
    }
}

/// Directories of TIFF files and of EXIF data.
pub fn tiff(data: &[u8]) {
    let facts = tiff_file::Facts::of(data);
    for page in facts.iter().flat_map(|facts| &facts.pages) {
        tiff_file::show_page(&mut data.to_vec(), page);
    }
    let Some(exif) = tiff_file::metadata(data) else { return };
    assert!(facts.is_some());
    // What was kept is kept again, and added to a file without changing its pages.
    assert_eq!(tiff_file::metadata(&exif).as_ref(), Some(&exif));
    let mut file = data.to_vec();
    if tiff_file::add_metadata(&mut file, &[Some(exif)]) {
        assert_eq!(
            tiff_file::Facts::of(&file).map(|facts| facts.raw),
            facts.map(|facts| facts.raw)
        );
    }
}
