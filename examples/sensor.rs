//! A sensor on a fixed grid: one plan, many measurements, no allocation.
//!
//! The function `clean` is what runs on a device. There the plan comes from
//! flash (`kgard plan`); here it is made on the spot.
//!
//! `cargo run --example sensor`

mod data;

use data::Random;
use kgard::{Error, Gaussian, PlanRef, Regularizer, Stop, Workspace};

/// Points of the sampling grid.
const N: usize = 64;
/// Outliers at most.
const K: usize = 8;

/// Writes the measurement without noise and outliers, and gives a bit for each
/// sample, which is set if it is one.
fn clean(plan: &PlanRef<'_, f32>, y: &[f32; N], out: &mut [f32; N]) -> Result<u64, Error> {
    let mut scalars = [0.0; Workspace::<f32>::len(N, K)];
    let mut indices = [0; K];
    let work = Workspace::new(N, &mut scalars, &mut indices)?;
    let fit = plan.fit(y, Stop::automatic(), work)?;
    fit.fitted(out)?;
    Ok(fit.outliers().fold(0, |bits, outlier| bits | 1 << outlier.index))
}

fn main() -> Result<(), Error> {
    let mut grid = [0.0_f32; N];
    for (x, i) in grid.iter_mut().zip(0_u8..) {
        *x = f32::from(i) / 63.0;
    }
    let mut memory = vec![0.0; PlanRef::<f32>::rkhs_len(N)];
    let mut scratch = vec![0.0; PlanRef::<f32>::scratch_len(N)];
    let kernel = Gaussian::new(0.2);
    let regularizer = Regularizer::rkhs(0.05);
    let plan = PlanRef::new(&grid, &kernel, regularizer, &mut memory, &mut scratch)?;
    let bytes = [PlanRef::<f32>::rkhs_len(N), Workspace::<f32>::len(N, K)].map(|n| 4 * n);
    println!("plan: {} bytes, workspace of a fit: {} bytes", bytes[0], bytes[1]);

    // A thousand measurements of a slowly moving wave; each has up to five
    // samples that a glitch has spoilt.
    let mut random = Random::new(1);
    let (mut spoilt, mut found, mut good) = (0, 0, 0);
    let (mut before, mut after) = (0.0, 0.0);
    for t in 0_u16..1000 {
        let wave = grid.map(|x| (6.0 * x + 0.01 * f32::from(t)).sin());
        let mut y = wave.map(|f| f + 0.05 * narrow(random.normal()));
        let mut glitches = 0_u64;
        for i in 0..usize::from(t % 6) {
            let at = (usize::from(t) + 11 * i) % N;
            y[at] += if i % 2 == 0 { 2.0 } else { -2.0 };
            glitches |= 1 << at;
        }
        let mut cleaned = [0.0; N];
        let outliers = clean(&plan, &y, &mut cleaned)?;
        spoilt += glitches.count_ones();
        found += (outliers & glitches).count_ones();
        good += (outliers & !glitches).count_ones();
        before += mean_square(&y, &wave) / 1000.0;
        after += mean_square(&cleaned, &wave) / 1000.0;
    }
    println!(
        "{found} of {spoilt} spoilt samples found, {good} good ones of {} taken out",
        64_000 - spoilt
    );
    println!("root mean square error: {:.3} before, {:.3} after", before.sqrt(), after.sqrt());
    assert_eq!(found, spoilt);
    assert!(good < 640);
    assert!(after < before / 100.0);
    Ok(())
}

fn mean_square(a: &[f32; N], b: &[f32; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / N as f64
}

#[allow(clippy::cast_possible_truncation)]
fn narrow(x: f64) -> f32 {
    x as f32
}

#[test]
fn runs() -> Result<(), Error> {
    main()
}
