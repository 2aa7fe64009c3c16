//! A sensor read sample by sample: spikes are taken out, and level steps stay.
//!
//! The memory of the stream is one variable of fixed size, as on a device.
//!
//! `cargo run --example stream`

mod data;

use data::Random;
use kgard::line::{Cleaned, FixedLag};
use kgard::{Error, Matern32};

/// Samples between input and output.
const LAG: usize = 16;
type Stream = FixedLag<f32, Matern32<f32>, 2, LAG>;

/// What has come out.
#[derive(Default)]
struct Seen {
    found: usize,
    good: usize,
    steps: usize,
    squares: f64,
    count: usize,
}

impl Seen {
    fn add(&mut self, cleaned: Cleaned<f32>, (value, is_spike): (f32, bool)) {
        self.found += usize::from(cleaned.outlier && is_spike);
        self.good += usize::from(cleaned.outlier && !is_spike);
        self.steps += usize::from(cleaned.step);
        self.squares += f64::from(cleaned.value - value).powi(2);
        self.count += 1;
    }
}

fn main() -> Result<(), Error> {
    // Noise of 0.05, and a function of standard deviation 0.5 that changes within 30 samples.
    let mut stream = Stream::new(Matern32::new(30.0), 0.01, 0.05)?;
    println!("{} bytes", size_of::<Stream>());

    let mut random = Random::new(1);
    let mut truth = Vec::new();
    let mut seen = Seen::default();
    for t in 0_u16..5000 {
        let level = if t < 2000 { 20.0 } else { 23.0 };
        let value = level + (0.05 * f32::from(t)).sin();
        let is_spike = random.uniform() < 0.03;
        let spike = if is_spike { 1.0 } else { 0.0 };
        truth.push((value, is_spike));
        let sample = value + 0.05 * narrow(random.normal()) + spike;
        if let Some(cleaned) = stream.push(sample) {
            seen.add(cleaned, truth[seen.count]);
        }
    }
    while let Some(cleaned) = stream.drain() {
        seen.add(cleaned, truth[seen.count]);
    }

    let spikes = truth.iter().filter(|(_, is_spike)| *is_spike).count();
    let Seen { found, good, steps, squares, count } = seen;
    println!("{found} of {spikes} spikes found, {good} good samples taken out, {steps} step");
    println!("root mean square error: {:.3}", (squares / count as f64).sqrt());
    assert_eq!((found, steps, count), (spikes, 1, 5000));
    assert!(good <= 2 && squares / (count as f64) < 0.03 * 0.03);
    Ok(())
}

#[allow(clippy::cast_possible_truncation)]
fn narrow(x: f64) -> f32 {
    x as f32
}

#[test]
fn runs() -> Result<(), Error> {
    main()
}
