//! Learns the classifier's weights from pictures: `cargo xtask train [--pictures DIR]`.
//!
//! Pixels that stand alone are impulses or details. Photographs and pictures from formulas are
//! spoiled by noise and impulses of many strengths; from the candidates in them, of which is known
//! what they are, the networks learn to tell both.
#![allow(clippy::pedantic, reason = "numbers of pixels and samples fit into floats")]

mod network;
mod random;
mod spoil;

// Code of the tests and of the library.
#[path = "../../../tests/denoise/candidates.rs"]
#[allow(dead_code, clippy::pedantic)]
mod candidates;
#[path = "../../../tests/common/sha256.rs"]
#[allow(unreachable_pub, clippy::pedantic)]
mod sha256;
#[path = "../../../src/denoise/detect/classifier/weights.rs"]
#[allow(dead_code)]
mod weights;

use image::imageops::{FilterType, resize};
use network::{BATCH, Candidate, Learned, RATE, learn};
use sha256::sha256;
use spoil::{Picture, SIDE, candidates, texture};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use weights::{INPUTS, LARGE, SMALL};

/// The pictures, all in the wheel of scikit-image 0.26.0 (skimage/data): file, SHA-256, licence,
/// and whether it is for validation only.
const PICTURES: [(&str, &str, &str, bool); 8] = [
    (
        "astronaut.png",
        "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
        "public domain (NASA)",
        false,
    ),
    (
        "brick.png",
        "7966caf324f6ba843118d98f7a07746d22f6a343430add0233eca5f6eaaa8fcf",
        "CC0 (CC0Textures, Bricks25)",
        false,
    ),
    (
        "chelsea.png",
        "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
        "CC0 (Stefan van der Walt)",
        true,
    ),
    (
        "clock_motion.png",
        "f029226b28b642e80113d86622e9b215ee067a0966feaf5e60604a1e05733955",
        "public domain (Stefan van der Walt)",
        false,
    ),
    (
        "coffee.png",
        "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
        "CC0 (Rachel Michetti)",
        false,
    ),
    (
        "coins.png",
        "f8d773fc9cfa6f4d8e5942dc34d0a0788fcaed2a4fefbbed0aef5398d7ef4cba",
        "no known copyright restrictions (Brooklyn Museum)",
        false,
    ),
    (
        "grass.png",
        "b6b6022426b38936c43a4ac09635cd78af074e90f42ffa8227ac8b7452d39f89",
        "CC0 (linolafett)",
        false,
    ),
    (
        "gravel.png",
        "c48615b451bf1e606fbd72c0aa9f8cc0f068ab7111ef7d93bb9b0f2586440c12",
        "CC0 (CC0Textures, Gravel04)",
        false,
    ),
];
/// Pictures from formulas; the last is for validation.
const TEXTURES: u64 = 5;
/// Sizes of each picture, and how often it is spoiled at each.
const SCALES: [f64; 3] = [1.0, 0.6, 0.4];
const TIMES: u64 = 40;
const SEED: u64 = 0;
/// Passes over the candidates, of the small network and of the large one.
const EPOCHS: (usize, usize) = (4, 8);
/// The limit of the search falls with the log-odds of an impulse: by this part of it for each
/// unit.
const SLOPE: f32 = 0.15;
/// Taken off the log-odds: some of what missing an impulse costs more.
const CAUTION: f32 = 0.13;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pictures, models] = &arguments[..] else {
        eprintln!("usage: train PICTURES MODELS");
        return ExitCode::from(2);
    };
    match train(Path::new(pictures), Path::new(models)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A picture in a file, in grey.
fn read(file: &Path, hash: &str) -> Result<image::GrayImage, String> {
    let name = file.display();
    let bytes = std::fs::read(file).map_err(|error| {
        format!(
            "{name}: {error}\nThe pictures are in skimage/data of the wheel that \
             `pip download --no-deps scikit-image==0.26.0` fetches; unpack it and name the folder \
             by --pictures."
        )
    })?;
    let found = sha256(&bytes);
    if found != hash {
        return Err(format!("{name}: another picture than expected, SHA-256 {found} for {hash}"));
    }
    let picture = image::load_from_memory(&bytes).map_err(|error| format!("{name}: {error}"))?;
    Ok(picture.into_luma8())
}

/// A picture in all sizes.
fn scaled(whole: &image::GrayImage) -> Vec<Picture> {
    let size = |length: u32, scale: f64| (f64::from(length) * scale) as u32;
    let scaled = |scale| {
        let (width, height) = (size(whole.width(), scale), size(whole.height(), scale));
        let picture = resize(whole, width, height, FilterType::CatmullRom);
        let samples = picture.pixels().map(|p| f64::from(p.0[0])).collect();
        Picture { samples, width: width as usize }
    };
    SCALES.map(scaled).into()
}

/// The candidates of pictures, each spoiled [`TIMES`] times, in one order on any number of
/// threads.
fn all_candidates(pictures: &[Picture], seed: u64) -> Vec<Candidate> {
    let runs = pictures.len() * TIMES as usize;
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<Vec<Candidate>>>> = Mutex::new((0..runs).map(|_| None).collect());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= runs {
                        break;
                    }
                    let picture = &pictures[run / TIMES as usize];
                    let candidates = candidates(picture, (seed << 32) + run as u64);
                    found.lock().expect("no thread panics")[run] = Some(candidates);
                }
            });
        }
    });
    found.into_inner().expect("no thread panics").into_iter().flatten().flatten().collect()
}

fn train(directory: &Path, models: &Path) -> Result<(), String> {
    let start = Instant::now();
    let (mut training, mut validation) = (vec![], vec![]);
    for (name, hash, _, is_for_validation) in PICTURES {
        let pictures = scaled(&read(&directory.join(name), hash)?);
        if is_for_validation { &mut validation } else { &mut training }.extend(pictures);
    }
    training.extend((0..TEXTURES - 1).map(texture));
    validation.push(texture(TEXTURES - 1));
    let mut all = all_candidates(&training, 2 * SEED);
    let validation = all_candidates(&validation, 2 * SEED + 1);
    let (learned_from, validated_on) = (all.len(), validation.len());
    println!(
        "{learned_from} candidates, {validated_on} for validation, after {:.0} s",
        start.elapsed().as_secs_f64()
    );
    let learned = [
        learn::<{ SMALL.0 }, { SMALL.1 }>(&mut all, &validation, EPOCHS.0, SEED),
        learn::<{ LARGE.0 }, { LARGE.1 }>(&mut all, &validation, EPOCHS.1, SEED),
    ];
    let mut bytes = vec![];
    for (Learned { table, .. }, (_, units)) in learned.iter().zip([SMALL, LARGE]) {
        // What the units of the second layer add, as a part of the limit.
        let (hidden, last) = table.split_at(table.len() - units - 1);
        let (bias, weights) = last.split_last().expect("an output has a bias");
        let last = weights.iter().copied().chain([bias - CAUTION]).map(|weight| SLOPE * weight);
        bytes.extend(hidden.iter().copied().chain(last).flat_map(f32::to_le_bytes));
    }

    let mut manifest = String::new();
    let mut line = |text: String| writeln!(manifest, "{text}").expect("a string grows");
    line("# Written by `cargo xtask train`. What classifier.bin was learned from, and how.".into());
    line("file = \"classifier.bin\"".into());
    line(format!("sha256 = \"{}\"", sha256(&bytes)));
    line(
        "format = \"f32, little-endian; of each layer the weights of each input, then biases\""
            .into(),
    );
    for (name, (first, second), epochs, learned) in
        [("small", SMALL, EPOCHS.0, &learned[0]), ("large", LARGE, EPOCHS.1, &learned[1])]
    {
        line(format!("\n[{name}]\nlayers = [{INPUTS}, {first}, {second}, 1]\nepochs = {epochs}"));
        line(format!(
            "loss = {:.5}\nvalidation_loss = {:.5}",
            learned.training, learned.validation
        ));
    }
    line("\n[training]".into());
    line(format!("seed = {SEED}\nbatch = {BATCH}\nrate = {RATE}"));
    line(format!("scales = {SCALES:?}\nspoiled = {TIMES}\nside = {SIDE}"));
    line(format!("slope = {SLOPE}\ncaution = {CAUTION}"));
    line(format!("candidates = {learned_from}\nvalidation_candidates = {validated_on}"));
    for (name, hash, licence, is_for_validation) in PICTURES {
        line(format!(
            "\n[[picture]]\nfile = \"{name}\"\nsource = \"scikit-image 0.26.0, skimage/data\"\n\
             licence = \"{licence}\"\nsha256 = \"{hash}\"\nvalidation = {is_for_validation}"
        ));
    }
    for number in 0..TEXTURES {
        line(format!(
            "\n[[picture]]\nformula = \"texture({number}) of xtask/examples/train/spoil.rs\"\n\
             validation = {}",
            number == TEXTURES - 1
        ));
    }
    let write = |name: &str, bytes: &[u8]| {
        let file = models.join(name);
        std::fs::write(&file, bytes).map_err(|error| format!("{}: {error}", file.display()))
    };
    write("classifier.bin", &bytes)?;
    write("classifier.toml", manifest.as_bytes())?;
    println!("models/classifier.bin written after {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}
