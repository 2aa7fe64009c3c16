//! The device against the processor's `f32` path.
//!
//! Without an adapter these tests say so and pass, unless `KGARD_NEEDS_GPU` is
//! set: `cargo xtask test` sets it where it has installed a driver.
#![allow(missing_docs, clippy::pedantic)]
#![cfg(feature = "gpu")]

mod common;

use common::problem::{Problem, Random};
use kgard::denoise::metrics::psnr;
use kgard::denoise::{Denoised, Denoiser, KgBm3d, Masks, Plane, PlaneBuf};
use kgard::gpu::{Backend, DeviceKernel, Gpu, GpuError, adapters};
use kgard::kernel::cross_gram;
use kgard::regression::stop::Reading;
use kgard::{
    Error, Fit, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Penalty, Plan, Points,
    Polynomial, RationalQuadratic, Regularizer, Stop,
};
use std::sync::OnceLock;
use std::time::Duration;

/// The device of all tests but those that destroy theirs.
fn gpu() -> Option<Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    GPU.get_or_init(|| match Gpu::new() {
        Ok(gpu) => Some(gpu),
        Err(error) if std::env::var_os("KGARD_NEEDS_GPU").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            None
        }
    })
    .clone()
}

/// A device of its own, with these limits.
fn device(limits: wgpu::Limits) -> Option<(wgpu::Device, wgpu::Queue)> {
    gpu()?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter =
        pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
            .unwrap();
    let descriptor = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
    Some(pollster::block_on(adapter.request_device(&descriptor)).unwrap())
}

/// A slope, an edge, a wave and a line, with noise and impulses.
fn picture(width: usize, height: usize, noise: f64, impulses: f64, seed: u64) -> PlaneBuf<f32> {
    let mut random = Random(seed);
    let pixel = |i: usize| {
        let (x, y) = ((i % width) as f64, (i / width) as f64);
        let edge = if x + 0.4 * y > 0.5 * width as f64 { 60.0 } else { 0.0 };
        let line = if (x - y).abs() < 1.5 { 50.0 } else { 0.0 };
        let mut value = 60.0 + 0.4 * x + edge + line + 20.0 * (0.35 * y).sin();
        value += noise * random.normal();
        if random.uniform() < impulses {
            value += if random.uniform() < 0.5 { 100.0 } else { -100.0 };
        }
        value as f32
    };
    PlaneBuf::new((0..width * height).map(pixel).collect(), width, height).unwrap()
}

/// The same outliers but for one in a thousand regions, the same pixels but for
/// rounding and near-ties in the choice of smoothers. Regions of the usual size.
fn assert_same(ours: &Denoised<f32>, cpu: &Denoised<f32>, what: &str) {
    assert_same_with_core(8, ours, cpu, what);
}

fn assert_same_with_core(core: usize, ours: &Denoised<f32>, cpu: &Denoised<f32>, what: &str) {
    let [ours_values, values] = [ours, cpu].map(|d| d.outliers.values[0].samples());
    let pairs = ours_values.iter().zip(values);
    let [ours_mask, mask] = [ours, cpu].map(|d| d.outliers.mask[0].samples());
    let differ = ours_mask.iter().zip(mask).filter(|(a, b)| a != b).count();
    let [ours_image, cpu_image] = [ours, cpu].map(|d| &d.channels[0]);
    let regions = ours_image.samples().len().div_ceil(core * core);
    let [a, b] = [ours, cpu].map(|d| d.report.channels[0]);
    assert!(differ <= (regions + 500) / 1000, "{what}: {differ} outliers of {}", b.outliers);
    let relative = |a: f32, b: f32| (a - b).abs() / b.abs().max(1.0);
    let pixels = ours_image.samples().iter().zip(cpu_image.samples());
    let far = pixels.filter(|(a, b)| relative(**a, **b) > 1e-3).count();
    assert!(far <= 144 * (regions / 500 + 1), "{what}: {far} pixels are far");
    let psnr = psnr(ours_image.as_plane(), cpu_image.as_plane(), 255.0).unwrap();
    assert!(psnr > 55.0, "{what}: {psnr} dB apart");
    assert_eq!(a.conditions, b.conditions, "{what}");
    assert_eq!(a.lambda, b.lambda, "{what}");
    if differ == 0 {
        // A near-tie moves the outliers of its region: no more than a few, nor far.
        let off: Vec<f32> =
            pairs.map(|(a, b)| relative(*a, *b)).filter(|&off| off > 1e-3).collect();
        assert!(off.len() <= 5 * (regions / 500 + 1), "{what}: outliers are off by {off:?}");
        assert!(off.iter().all(|&off| off < 0.05), "{what}: outliers are off by {off:?}");
    }
}

#[test]
fn images_are_as_the_processor_makes_them() {
    let Some(gpu) = gpu() else { return };
    let noisy = picture(75, 50, 8.0, 0.1, 1);
    for (region, core) in [(12, 8), (8, 4), (5, 3), (20, 12), (4, 2)] {
        for penalty in [Penalty::Rkhs, Penalty::L2] {
            let plan =
                Denoiser::<f32>::new().regions(region, core).penalty(penalty).plan().unwrap();
            let cpu = plan.denoise(noisy.as_plane(), Masks::default()).unwrap();
            let on = plan.on(&gpu).unwrap();
            let (ours, report) = on.denoise(noisy.as_plane(), Masks::default()).unwrap();
            assert_eq!(report.fallback, None);
            assert!(report.batches > 0);
            let what = format!("{region} {core} {penalty:?}");
            assert_same_with_core(core, &ours, &cpu, &what);
        }
    }
}

#[test]
fn a_photograph_comes_out_as_well() {
    let Some(gpu) = gpu() else { return };
    let crop = |file: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/").to_string() + file;
        let image = image::open(path).unwrap().to_luma8();
        let crop = image::imageops::crop_imm(&image, 60, 40, 130, 101).to_image();
        PlaneBuf::new(crop.iter().map(|&p| f32::from(p)).collect(), 130, 101).unwrap()
    };
    let (clean, noisy) = (crop("camera.png"), crop("camera-noisy.png"));
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let cpu = plan.denoise(noisy.as_plane(), Masks::default()).unwrap();
    let (ours, _) = plan.on(&gpu).unwrap().denoise(noisy.as_plane(), Masks::default()).unwrap();
    assert_same(&ours, &cpu, "camera");
    let quality =
        |d: &Denoised<f32>| psnr(d.channels[0].as_plane(), clean.as_plane(), 255.0).unwrap();
    let (ours, cpu) = (quality(&ours), quality(&cpu));
    assert!((ours - cpu).abs() < 0.01, "{ours} dB, {cpu} dB");
}

#[test]
fn every_workgroup_size_gives_the_same() {
    let Some(gpu) = gpu() else { return };
    let noisy = picture(70, 49, 10.0, 0.15, 2);
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let cpu = plan.denoise(noisy.as_plane(), Masks::default()).unwrap();
    for threads in [8, 16, 32, 64, 128, 256] {
        let on = plan.on(&gpu.clone().with_workgroup(threads).unwrap()).unwrap();
        let (ours, report) = on.denoise(noisy.as_plane(), Masks::default()).unwrap();
        assert_eq!(report.fallback, None);
        assert_same(&ours, &cpu, &format!("{threads} threads"));
    }
    for threads in [0, 4, 48, 512] {
        assert!(gpu.clone().with_workgroup(threads).is_err());
    }
}

#[test]
fn images_of_any_size_and_without_noise() {
    let Some(gpu) = gpu() else { return };
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let on = plan.on(&gpu).unwrap();
    for (width, height) in [(1, 1), (2, 1), (1, 5), (7, 3), (12, 12), (17, 33), (130, 9)] {
        for (noise, impulses) in [(0.0, 0.0), (12.0, 0.05)] {
            let image = picture(width, height, noise, impulses, 3);
            let cpu = plan.denoise(image.as_plane(), Masks::default()).unwrap();
            let (ours, report) = on.denoise(image.as_plane(), Masks::default()).unwrap();
            assert_eq!(report.fallback, None);
            assert_same(&ours, &cpu, &format!("{width} x {height}, {noise}"));
        }
    }
    let flat = PlaneBuf::new(vec![77.0; 40 * 30], 40, 30).unwrap();
    let (ours, _) = on.denoise(flat.as_plane(), Masks::default()).unwrap();
    assert!(ours.channels[0].samples().iter().all(|&p| (p - 77.0).abs() < 1e-4));
    assert_eq!(ours.outliers.count(0), 0);
}

#[test]
fn masks_are_minded() {
    let Some(gpu) = gpu() else { return };
    let mut noisy = picture(60, 44, 6.0, 0.05, 4);
    let mut random = Random(5);
    let bad: Vec<bool> = (0..60 * 44).map(|_| random.uniform() < 0.1).collect();
    let keep: Vec<bool> = (0..60 * 44).map(|i| i % 60 > 50).collect();
    for (pixel, &bad) in noisy.samples_mut().iter_mut().zip(&bad) {
        if bad {
            *pixel = f32::NAN;
        }
    }
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let plane = |mask| Some(Plane::new(mask, 60, 44).unwrap());
    let both = Masks { bad: plane(&bad), keep: plane(&keep) };
    for masks in [both, Masks { keep: None, ..both }] {
        let cpu = plan.denoise(noisy.as_plane(), masks).unwrap();
        let (ours, report) = plan.on(&gpu).unwrap().denoise(noisy.as_plane(), masks).unwrap();
        assert_eq!(report.fallback, None);
        let finite = |d: &Denoised<f32>| {
            let zeroed = |p: &PlaneBuf<f32>| {
                let finite = |&v: &f32| if v.is_finite() { v } else { 0.0 };
                PlaneBuf::new(p.samples().iter().map(finite).collect(), 60, 44).unwrap()
            };
            let mut d = d.clone();
            d.channels[0] = zeroed(&d.channels[0]);
            d.outliers.values[0] = zeroed(&d.outliers.values[0]);
            d
        };
        assert_same(&finite(&ours), &finite(&cpu), "masks");
    }
}

#[test]
fn small_limits_only_mean_more_batches() {
    let limits = wgpu::Limits {
        max_buffer_size: 1 << 20,
        max_storage_buffer_binding_size: 1 << 20,
        ..wgpu::Limits::downlevel_defaults()
    };
    let Some((device, queue)) = device(limits) else { return };
    let noisy = picture(160, 75, 9.0, 0.1, 6);
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let cpu = plan.denoise(noisy.as_plane(), Masks::default()).unwrap();
    let gpu = Gpu::from_device(device, queue);
    let (ours, report) =
        plan.on(&gpu).unwrap().denoise(noisy.as_plane(), Masks::default()).unwrap();
    assert_eq!(report.fallback, None);
    // 200 regions, of which a megabyte holds the columns of 25.
    assert!(report.batches >= 200 / 25, "{}", report.batches);
    assert_same(&ours, &cpu, "small limits");
}

#[test]
fn regions_beyond_the_device_are_refused() {
    let limits = wgpu::Limits {
        max_compute_workgroup_storage_size: 2048,
        ..wgpu::Limits::downlevel_defaults()
    };
    let Some((device, queue)) = device(limits) else { return };
    let gpu = Gpu::from_device(device, queue);
    let plan = Denoiser::<f32>::new().plan().unwrap();
    match plan.on(&gpu) {
        Err(GpuError::Limit { needed, allowed: 2048, .. }) => assert!(needed > 2048),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bands_are_as_the_whole() {
    let Some(gpu) = gpu() else { return };
    let noisy = picture(50, 64, 9.0, 0.1, 7);
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let on = plan.on(&gpu).unwrap();
    let (whole, _) = on.denoise(noisy.as_plane(), Masks::default()).unwrap();
    let band = kgard::denoise::Band {
        rows: noisy.as_plane(),
        masks: Masks::default(),
        top: 0,
        height: 64,
    };
    let conditions = whole.report.channels[0].conditions.unwrap();
    let part = on.process(band, 2..5, &conditions).unwrap().0;
    for (a, b) in part.channels[0].samples().iter().zip(&whole.channels[0].samples()[2 * 8 * 50..])
    {
        assert!((a - b).abs() <= 1e-3, "{a} {b}");
    }
}

#[test]
fn kg_bm3d_with_its_first_half_on_the_device() {
    let Some(gpu) = gpu() else { return };
    let channels: Vec<_> = (0..3).map(|c| picture(64, 48, 9.0, 0.08, 8 + c)).collect();
    let planes: Vec<_> = channels.iter().map(PlaneBuf::as_plane).collect();
    let plan = KgBm3d::new(255.0_f32).plan().unwrap();
    let cpu = plan.denoise(&planes, Masks::default()).unwrap();
    let (ours, report) = plan.on(&gpu).unwrap().denoise(&planes, Masks::default()).unwrap();
    assert_eq!(report.fallback, None);
    for (a, b) in ours.channels.iter().zip(&cpu.channels) {
        assert!(psnr(a.as_plane(), b.as_plane(), 255.0).unwrap() > 50.0);
    }
}

/// Device and processor on the same problems: how many have the same outliers in
/// the same order; their values and residuals must agree then.
fn agreeing<K: Kernel<f32> + Clone>(ours: &[Fit<f32, K>], cpu: &[Fit<f32, K>]) -> usize {
    let mut agreeing = 0;
    for (a, b) in ours.iter().zip(cpu) {
        let order = |fit: &Fit<f32, K>| -> Vec<usize> {
            fit.outliers().iter().map(|outlier| outlier.index).collect()
        };
        if order(a) != order(b) || a.stop_reason() != b.stop_reason() {
            continue;
        }
        agreeing += 1;
        let close = |a: f32, b: f32| (a - b).abs() <= 1e-3 * b.abs().max(1.0);
        assert!(a.outliers().iter().zip(b.outliers()).all(|(a, b)| close(a.value, b.value)));
        assert!(a.residual().iter().zip(b.residual()).all(|(&a, &b)| close(a, b)));
        assert!(a.fitted().iter().zip(b.fitted()).all(|(&a, &b)| close(a, b)));
    }
    agreeing
}

#[test]
fn many_fits_are_as_one_by_one() {
    let Some(gpu) = gpu() else { return };
    for (n, count) in [(16, 40), (61, 40), (144, 30), (400, 6)] {
        let x: Vec<f32> = (0..n).map(|i| i as f32 / n as f32).collect();
        let ys: Vec<f32> = (0..count)
            .flat_map(|seed| Problem::new(n, 1, n / 10, 0.1, seed).y)
            .map(|y| y as f32)
            .collect();
        for regularizer in [Regularizer::l2(0.05), Regularizer::rkhs(0.1)] {
            let plan = Plan::new(&x, Gaussian::new(0.2_f32), regularizer).unwrap();
            let on = plan.on(&gpu).unwrap();
            let rules = [
                Stop::max_residual(1.0),
                Stop::max_residual(1.0).studentized(),
                Stop::residual_norm(0.15 * (n as f32).sqrt()),
                Stop::histogram(1.0, Reading::Once),
                Stop::histogram(1.0, Reading::EveryStep),
                Stop::automatic(),
                Stop::count(0),
                Stop::count(n / 3),
                Stop::max_residual(0.0).at_most(n / 4),
            ];
            for stop in rules {
                let ours = on.fit_many(&ys, stop).unwrap();
                assert_eq!(ours.report.fallback, None);
                let cpu: Vec<_> = ys.chunks(n).map(|y| plan.fit(y, stop).unwrap()).collect();
                let agreeing = agreeing(&ours.fits, &cpu);
                // Once the outliers are out, noise is selected by the last bits.
                let in_noise =
                    [Stop::count(n / 3), Stop::max_residual(0.0).at_most(n / 4)].contains(&stop);
                let least = if in_noise { 0.6 } else { 0.95 };
                let share = agreeing as f64 / count as f64;
                assert!(share >= least, "n = {n}, {stop:?}: {agreeing} of {count}");
            }
        }
    }
}

/// What needs the protection from gross values, or the last digit of the data,
/// is the processor's.
#[test]
fn gross_and_coarse_data_are_as_the_processor_has_them() {
    let Some(gpu) = gpu() else { return };
    let n = 60;
    let x: Vec<f32> = (0..n).map(|i| 6.0 * i as f32 / n as f32).collect();
    let mut ys = Vec::new();
    for size in [1e2_f32, 1e6, 1e12, 1e20, f32::MAX, f32::MIN] {
        let mut y: Vec<f32> = x.iter().map(|x| x.sin() + 0.05 * (97.0 * x).cos()).collect();
        y[23] = size;
        ys.extend(y);
    }
    // A flickering digit, and very small and large units.
    ys.extend((0..n).map(|i| if i % 17 == 3 { 21.0 } else { 20.0 }));
    for unit in [1e-30, 1e30] {
        let noisy = Problem::new(n, 1, 5, 0.1, 3);
        ys.extend(noisy.y.iter().map(|&y| y as f32 * unit));
    }
    for regularizer in [Regularizer::l2(0.05), Regularizer::rkhs(0.1)] {
        let plan = Plan::new(&x, Gaussian::new(1.0_f32), regularizer).unwrap();
        // Only the automatic rule looks for digits.
        for (stop, ys) in [(Stop::automatic(), &ys[..]), (Stop::count(2), &ys[..6 * n])] {
            let ours = plan.on(&gpu).unwrap().fit_many(ys, stop).unwrap();
            for (ours, y) in ours.fits.iter().zip(ys.chunks(n)) {
                assert_eq!(ours, &plan.fit(y, stop).unwrap(), "{stop:?}");
            }
        }
    }
}

#[test]
fn fits_that_need_more_room_are_finished_by_the_processor() {
    let Some(gpu) = gpu() else { return };
    let n = 40;
    let x: Vec<f32> = (0..n).map(|i| i as f32 / n as f32).collect();
    let y: Vec<f32> = Problem::new(n, 1, 4, 0.1, 1).y.into_iter().map(|y| y as f32).collect();
    let plan = Plan::new(&x, Gaussian::new(0.2_f32), Regularizer::l2(0.05)).unwrap();
    let stop = Stop::max_residual(0.0);
    let ours = plan.on(&gpu).unwrap().fit_many(&y, stop).unwrap();
    assert_eq!(ours.fits[0], plan.fit(&y, stop).unwrap());
}

#[test]
fn no_fits_and_wrong_ones() {
    let Some(gpu) = gpu() else { return };
    let plan = Plan::new(&[0.0_f32, 0.5, 1.0], Gaussian::new(0.2), Regularizer::l2(0.05)).unwrap();
    let on = plan.on(&gpu).unwrap();
    let none = on.fit_many(&[], Stop::automatic()).unwrap();
    assert!(none.fits.is_empty() && none.report.batches == 0);
    let wrong = on.fit_many(&[0.0; 4], Stop::automatic());
    assert!(matches!(wrong, Err(Error::Dimension { expected: 3, found: 4 })));
    let wrong = on.fit_many(&[0.0, f32::NAN, 0.0], Stop::automatic());
    assert!(matches!(wrong, Err(Error::NotFinite { index: 1, .. })));
    assert!(on.fit_many(&[0.0; 3], Stop::max_residual(-1.0)).is_err());
}

fn check_gram(gpu: &Gpu, kernel: &impl DeviceKernel, dim: usize) {
    let mut random = Random(dim as u64);
    let mut points = |n: usize| -> Vec<f32> {
        (0..n * dim).map(|_| 2.0 * random.uniform() as f32 - 1.0).collect()
    };
    let (a, b) = (points(37), points(21));
    let (a, b) = (Points::new(&a, dim).unwrap(), Points::new(&b, dim).unwrap());
    let mut cpu = vec![0.0; 37 * 21];
    cross_gram(a, b, kernel, &mut cpu).unwrap();
    let ours = gpu.cross_gram(a, b, kernel).unwrap();
    for (i, (&ours, &cpu)) in ours.iter().zip(&cpu).enumerate() {
        assert!((ours - cpu).abs() <= 2e-5 * cpu.abs().max(1.0), "dim {dim}, {i}: {ours}, {cpu}");
    }
    assert_eq!(ours.len(), cpu.len());
    assert_eq!(gpu.gram(a, kernel).unwrap().len(), 37 * 37);
}

#[test]
fn gram_matrices_of_every_kernel() {
    let Some(gpu) = gpu() else { return };
    for dim in [1, 2, 3, 7] {
        check_gram(&gpu, &Gaussian::new(0.7), dim);
        check_gram(&gpu, &Laplacian::new(0.7), dim);
        check_gram(&gpu, &Matern32::new(0.4), dim);
        check_gram(&gpu, &Matern52::new(0.4), dim);
        check_gram(&gpu, &RationalQuadratic::new(0.5, 1.5), dim);
        check_gram(&gpu, &Linear, dim);
        check_gram(&gpu, &Polynomial::new(0.5, 1.0, 3), dim);
        let mixed = Gaussian::new(0.7).plus(Linear.scaled(0.1)).times(Matern32::new(2.0));
        check_gram(&gpu, &mixed, dim);
    }
    let wrong = gpu.gram(&[0.0, 1.0], &Gaussian::new(-1.0));
    assert!(matches!(wrong, Err(GpuError::Input(Error::NotPositive { .. }))));
}

#[test]
fn a_lost_device_costs_time_only() {
    let noisy = picture(64, 48, 9.0, 0.1, 9);
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let cpu = plan.denoise(noisy.as_plane(), Masks::default()).unwrap();
    let regression =
        Plan::new(&[0.0_f32, 0.5, 1.0], Gaussian::new(0.2), Regularizer::l2(0.05)).unwrap();
    let Some((device, queue)) = device(wgpu::Limits::downlevel_defaults()) else { return };
    let gpu = Gpu::from_device(device, queue);
    let on = plan.on(&gpu).unwrap();
    let fits = regression.on(&gpu).unwrap();
    gpu.device().destroy();
    let (ours, report) = on.denoise(noisy.as_plane(), Masks::default()).unwrap();
    assert!(report.fallback.is_some());
    assert_eq!(ours, cpu);
    let ours = fits.fit_many(&[0.0, 5.0, 0.0], Stop::count(1)).unwrap();
    assert!(ours.report.fallback.is_some());
    assert_eq!(ours.fits, [regression.fit(&[0.0, 5.0, 0.0], Stop::count(1)).unwrap()]);
    // What comes after it is refused.
    assert!(plan.on(&gpu).is_err());
}

#[test]
fn a_device_lost_on_the_way_loses_nothing() {
    let noisy = picture(320, 200, 9.0, 0.1, 10);
    let plan = Denoiser::<f32>::new().plan().unwrap();
    let cpu = plan.denoise(noisy.as_plane(), Masks::default()).unwrap();
    let mut fell_back = 0;
    for wait in [1, 20, 60, 150, 300] {
        let Some((device, queue)) = device(wgpu::Limits::downlevel_defaults()) else { return };
        let gpu = Gpu::from_device(device, queue);
        let on = plan.on(&gpu).unwrap();
        let (ours, report) = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(wait));
                gpu.device().destroy();
            });
            on.denoise(noisy.as_plane(), Masks::default()).unwrap()
        });
        fell_back += usize::from(report.fallback.is_some());
        assert_same(&ours, &cpu, &format!("lost after {wait} ms"));
    }
    assert!(fell_back > 0);
}

#[test]
fn adapters_by_name_and_none() {
    match Gpu::named("no such adapter") {
        Err(error @ GpuError::NoAdapter { .. }) => {
            assert!(error.to_string().contains("no such adapter"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(Backend::Cpu.open(1 << 40).unwrap().is_none());
    // Small jobs are the processor's, and software never stands in unasked.
    assert!(Backend::Auto.open(1000).unwrap().is_none());
    if let Some(gpu) = Backend::Auto.open(1 << 40).unwrap() {
        assert!(!gpu.adapter().software);
    }
    let Some(gpu) = gpu() else { return };
    let all = adapters();
    assert_eq!(&all[0], gpu.adapter());
    assert_eq!(Gpu::named(&gpu.adapter().name).unwrap().adapter(), gpu.adapter());
    assert_eq!(Gpu::hardware().is_ok(), all.iter().any(|adapter| !adapter.software));
}
