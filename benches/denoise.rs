//! Images: KGARD against the literal method, BM3D, KG-BM3D and what can be put
//! together of medians and BM3D. `cargo bench --bench denoise --features rayon`
//! prints the tables of BENCHMARKS.md; `-- --write` puts them there.
#![allow(missing_docs, unreachable_pub, clippy::pedantic)]
#![expect(unsafe_code, reason = "an allocator that counts has to be an allocator")]

#[allow(dead_code)]
mod common;

#[allow(dead_code)]
#[path = "../tests/common/problem.rs"]
mod problem;

use common::literal::Literal;
use common::{contender, pretty, publish, race, ratio};
use kgard::denoise::bm3d::Bm3d;
use kgard::denoise::{DenoisePlan, Denoiser, KgBm3d, KgBm3dPlan, Masks, PaperKgard, PaperPlan};
use kgard::denoise::{PaperStop, Plane, metrics, noise_level};
use problem::Random;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Pixels along an edge, and those of the paper's regions and cores.
const EDGE: usize = 512;
const REGION: usize = 12;
const CORE: usize = 8;
/// 20 dB on this picture, and the impulses.
const DECIBELS: f64 = 20.0;
const IMPULSES: f64 = 0.1;
const AMPLITUDE: f64 = 100.0;
/// The largest residual that is not an outlier's, with the paper's settings.
const EPSILON: f32 = 40.0;
/// Turns of each contender.
const TURNS: usize = 7;
/// One region in so many is solved literally.
const LITERAL_ONE_IN: usize = 32;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes held while `run` runs, its result included, beyond those at
/// the start.
fn memory<R>(run: impl FnOnce() -> R) -> usize {
    let live = LIVE.load(Ordering::Relaxed);
    PEAK.store(live, Ordering::Relaxed);
    black_box(run());
    PEAK.load(Ordering::Relaxed) - live
}

/// The picture, the same with noise and impulses, and the noise's deviation.
struct Pictures {
    clean: Vec<f32>,
    noisy: Vec<f32>,
    sigma: f32,
}

impl Pictures {
    fn new() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bm3d_camera.png");
        let clean: Vec<f32> = image::open(path)
            .expect("the picture of the tests")
            .to_luma8()
            .pixels()
            .map(|pixel| f32::from(pixel.0[0]))
            .collect();
        assert_eq!(clean.len(), EDGE * EDGE);
        let power = clean.iter().map(|&c| f64::from(c * c)).sum::<f64>() / clean.len() as f64;
        let sigma = (power / 10_f64.powf(DECIBELS / 10.0)).sqrt();
        let mut random = Random(1);
        let noisy = clean
            .iter()
            .map(|&c| {
                let mut pixel = f64::from(c) + sigma * random.normal();
                if random.uniform() < IMPULSES {
                    pixel += if random.uniform() < 0.5 { AMPLITUDE } else { -AMPLITUDE };
                }
                pixel as f32
            })
            .collect();
        Self { clean, noisy, sigma: sigma as f32 }
    }

    fn psnr(&self, image: &[f32]) -> f32 {
        metrics::psnr(plane(&self.clean), plane(image), 255.0).unwrap()
    }
}

fn plane<T: Copy>(samples: &[T]) -> Plane<'_, T> {
    Plane::new(samples, EDGE, EDGE).unwrap()
}

fn bm3d(image: &[f32], sigma: f32) -> Vec<f32> {
    Bm3d::for_noise(sigma, 255.0).denoise(plane(image), sigma).unwrap().into_samples()
}

/// Where `noisy` is farther than `limit` from `estimate`, the estimate stands in.
fn replace(noisy: &[f32], estimate: &[f32], limit: f32) -> (Vec<f32>, Vec<bool>) {
    let flags: Vec<bool> = noisy.iter().zip(estimate).map(|(y, e)| (y - e).abs() > limit).collect();
    let repaired = noisy.iter().zip(estimate).zip(&flags);
    (repaired.map(|((&y, &e), &flag)| if flag { e } else { y }).collect(), flags)
}

/// Chain A: a switching median, BM3D, impulses told by its residual, BM3D.
fn median_chain(noisy: &[f32]) -> Vec<f32> {
    let last = EDGE - 1;
    let medians: Vec<f32> = (0..EDGE * EDGE)
        .map(|i| {
            let (x, y) = (i % EDGE, i / EDGE);
            let mut nine: [f32; 9] = std::array::from_fn(|j| {
                let (x, y) =
                    ((x + j % 3).clamp(1, last + 1) - 1, (y + j / 3).clamp(1, last + 1) - 1);
                noisy[y * EDGE + x]
            });
            nine.sort_unstable_by(f32::total_cmp);
            nine[4]
        })
        .collect();
    let filter = |(repaired, flags): (Vec<f32>, Vec<bool>)| {
        let sigma = noise_level(plane(&repaired), Some(plane(&flags))).unwrap();
        (bm3d(&repaired, sigma), sigma)
    };
    let (pilot, sigma) = filter(replace(noisy, &medians, 60.0));
    filter(replace(noisy, &pilot, 3.5 * sigma)).0
}

/// Chain B: a strong BM3D to tell impulses by, then three of the right strength.
fn pilot_chain(noisy: &[f32], sigma: f32) -> Vec<f32> {
    let mut estimate = bm3d(noisy, 30.0);
    for _ in 0..3 {
        estimate = bm3d(&replace(noisy, &estimate, 50.0).0, sigma);
    }
    estimate
}

/// The regions that are solved literally: one in [`LITERAL_ONE_IN`], without
/// those that reach beyond the border.
fn regions(noisy: &[f32]) -> Vec<Vec<f32>> {
    let along = EDGE / CORE;
    (0..along * along)
        .step_by(LITERAL_ONE_IN)
        // One column farther in each row, so that all parts of the image count.
        .map(|r| (r / along, (r + r / along) % along))
        .map(|(row, column)| {
            let start = |at: usize| (at * CORE).saturating_sub(2).min(EDGE - REGION);
            let (top, left) = (start(row), start(column));
            (0..REGION).flat_map(|y| noisy[(top + y) * EDGE + left..][..REGION].to_vec()).collect()
        })
        .collect()
}

fn kgard(plan: &DenoisePlan<f32>, noisy: &[f32]) -> Vec<f32> {
    plan.denoise(plane(noisy), Masks::default()).unwrap().channels.remove(0).into_samples()
}

fn paper(plan: &PaperPlan<f32>, noisy: &[f32]) -> Vec<f32> {
    plan.denoise(plane(noisy)).unwrap().channels.remove(0).into_samples()
}

fn kg_bm3d(plan: &KgBm3dPlan<f32>, noisy: &[f32]) -> Vec<f32> {
    let mut denoised = plan.denoise(&[plane(noisy)], Masks::default()).unwrap();
    denoised.channels.remove(0).into_samples()
}

/// A name, and what makes an image.
type Method<'a> = (&'static str, Box<dyn Fn() -> Vec<f32> + Sync + 'a>);

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn main() {
    let pictures = Pictures::new();
    let Pictures { noisy, sigma, .. } = &pictures;
    let sigma = *sigma;
    let automatic = Denoiser::new().plan().unwrap();
    let printed = PaperKgard::new(255.0)
        .sigma(0.15)
        .lambda(0.3)
        .stop(PaperStop::MaxResidual(EPSILON))
        .plan()
        .unwrap();
    let both = KgBm3d::new(255.0).plan().unwrap();
    let literal = Literal::new(REGION, 0.15, 0.3);
    let literal_regions = regions(noisy);
    let found: usize = literal_regions.iter().map(|y| literal.outliers(y, EPSILON)).sum();

    let methods: [Method<'_>; 6] = [
        ("KGARD, automatic", Box::new(|| kgard(&automatic, noisy))),
        ("KGARD, the paper's", Box::new(|| paper(&printed, noisy))),
        ("BM3D alone", Box::new(|| bm3d(noisy, 30.0))),
        ("KG-BM3D, automatic", Box::new(|| kg_bm3d(&both, noisy))),
        ("chain A", Box::new(|| median_chain(noisy))),
        ("chain B", Box::new(|| pilot_chain(noisy, sigma))),
    ];
    let threads = if cfg!(feature = "rayon") { rayon::current_num_threads() } else { 1 };
    let (one, all) = (&pool(1), &pool(threads));
    let mut contenders = Vec::new();
    for (name, run) in methods.iter().map(|(name, run)| (*name, run)) {
        contenders.push(contender(name, move || drop(black_box(one.install(run)))));
        contenders.push(contender(name, move || drop(black_box(all.install(run)))));
    }
    contenders.push(contender("literal", || {
        black_box(literal_regions.iter().map(|y| literal.outliers(y, EPSILON)).sum::<usize>());
    }));
    let times: Vec<Duration> = race(contenders, TURNS).into_iter().map(|(_, time)| time).collect();

    let mut report = String::new();
    writeln!(
        report,
        "| | PSNR | one thread | times KGARD | {} | speed-up | memory |",
        if threads == 1 { "again".into() } else { format!("{threads} threads") }
    )
    .unwrap();
    report.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for ((name, run), time) in methods.iter().zip(times.chunks_exact(2)) {
        writeln!(
            report,
            "| {name} | {:.2} dB | {} | {:.1} | {} | {:.2} | {:.1} MB |",
            pictures.psnr(&run()),
            pretty(time[0]),
            ratio(time[0], times[0]),
            pretty(time[1]),
            ratio(time[0], time[1]),
            memory(|| all.install(run)) as f64 / 1e6,
        )
        .unwrap();
    }
    let literal_time = times[times.len() - 1] * LITERAL_ONE_IN as u32;
    writeln!(
        report,
        "| literal Algorithm 1 | | {} | {:.0} | | | |",
        pretty(literal_time),
        ratio(literal_time, times[0])
    )
    .unwrap();
    writeln!(
        report,
        "\nThe literal algorithm takes {:.0} times as long as ours with the paper's settings; it \
         took {:.1} pixels out of a region.",
        ratio(literal_time, times[2]),
        found as f64 / literal_regions.len() as f64
    )
    .unwrap();
    publish("denoise", &report);
}
