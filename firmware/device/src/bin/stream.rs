//! A series cleaned as it comes.
#![no_std]
#![no_main]

use kgard_device::{Once, clock, flash, program, say, stack_high_water, start_clock};
use kgard_firmware_common::Wrong;
use kgard_firmware_common::stream::{Judge, SAMPLES, Series, Stream, stream};

static STREAM: Once<Option<Stream>> = Once::new(None);

/// Instructions that a sample may take, on average, where there is a floating-point unit.
const MOST_INSTRUCTIONS: u32 = 1500;
/// Bytes that the stream may take.
const MOST_MEMORY: usize = 4096;

program!("stream", run);

fn run() -> Result<(), Wrong> {
    let slot = STREAM.take().ok_or(Wrong::Memory)?;
    // Samples at equal distances, and at distances that change all the time.
    for (name, distances) in [("even", [1.0, 1.0]), ("uneven", [0.98, 1.02])] {
        let stream = slot.insert(stream()?);
        let mean = measure(name, distances, stream)?;
        let is_slow = mean > MOST_INSTRUCTIONS && cfg!(target_abi = "eabihf");
        if is_slow || size_of::<Stream>() > MOST_MEMORY {
            return Err(Wrong::Cost(mean));
        }
    }
    let stack = stack_high_water();
    say!("  bytes: the stream {}, stack {stack}, flash {}", size_of::<Stream>(), flash());
    Ok(())
}

/// Cleans the series; gives the instructions a sample.
fn measure(name: &str, distances: [f32; 2], stream: &mut Stream) -> Result<u32, Wrong> {
    start_clock();
    let start = clock();
    let overhead = clock() - start;
    let mut judge = Judge::new();
    let (mut sum, mut most) = (0, 0);
    for (truth, distance) in Series::new().take(SAMPLES).zip(distances.into_iter().cycle()) {
        let start = clock();
        let cleaned = stream.push_after(distance, truth.sample)?;
        let cost = clock() - start - overhead;
        sum += cost;
        most = most.max(cost);
        if let Some(cleaned) = cleaned {
            judge.see(cleaned);
        }
    }
    while let Some(cleaned) = stream.drain() {
        judge.see(cleaned);
    }
    let mean = u32::try_from(SAMPLES).map_or(sum, |samples| sum / samples);
    say!("  instructions: a sample {mean}, at most {most}, at {name} distances");
    judge.conclude()?;
    Ok(mean)
}
