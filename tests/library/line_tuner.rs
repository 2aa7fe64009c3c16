//! Length, lambda and outliers of long series from the data.

use crate::common::problem::Random;
use kgard::line::{LineTuner, Markov, MarkovOf, Transition};
use kgard::{Error, Laplacian, Matern32, Matern52};

/// A Gaussian process of a kernel, drawn state after state, with noise of the
/// variance `lambda` and a share of outliers of 6 to 26 deviations.
struct Drawn {
    x: Vec<f64>,
    y: Vec<f64>,
    wrong: Vec<bool>,
}

impl Drawn {
    fn new<K, const D: usize>(
        kernel: &K,
        n: usize,
        per_length: f64,
        lambda: f64,
        share: f64,
        seed: u64,
    ) -> Self
    where
        K: MarkovOf<f64, D>,
    {
        let mut random = Random(seed);
        let mut drawn = Self { x: Vec::new(), y: Vec::new(), wrong: Vec::new() };
        let mut state = deviate(&kernel.stationary(), &mut random);
        let mut at = 0.0;
        for _ in 0..n {
            let distance = -(1.0 - random.uniform()).ln() / per_length;
            at += distance;
            let Transition { phi, q } = kernel.transition(&kernel.gap(distance));
            let noise = deviate(&q, &mut random);
            state = std::array::from_fn(|k| {
                noise[k] + (0..D).map(|l| phi[k][l] * state[l]).sum::<f64>()
            });
            let wrong = random.uniform() < share;
            let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            let off = if wrong { sign * (6.0 + 20.0 * random.uniform()) } else { 0.0 };
            drawn.x.push(at);
            drawn.y.push(state[0] + lambda.sqrt() * (random.normal() + off));
            drawn.wrong.push(wrong);
        }
        drawn
    }

    /// Recall and precision.
    fn judged(&self, support: &[usize]) -> (f64, f64) {
        let right = support.iter().filter(|&&i| self.wrong[i]).count() as f64;
        let wrong = self.wrong.iter().filter(|&&wrong| wrong).count() as f64;
        (right / wrong, right / support.len() as f64)
    }
}

/// A draw of a covariance, by its Cholesky factor.
fn deviate<const D: usize>(p: &[[f64; D]; D], random: &mut Random) -> [f64; D] {
    let mut l = [[0.0; D]; D];
    let mut drawn = [0.0; D];
    for k in 0..D {
        for m in 0..=k {
            let rest = p[k][m] - (0..m).map(|i| l[k][i] * l[m][i]).sum::<f64>();
            l[k][m] = if k == m { rest.max(0.0).sqrt() } else { rest / l[m][m].max(1e-300) };
        }
    }
    for m in 0..D {
        let u = random.normal();
        (m..D).for_each(|k| drawn[k] += l[k][m] * u);
    }
    drawn
}

fn check<K, const D: usize>(
    family: impl Fn(f64) -> K + Copy,
    lambda: f64,
    per_length: f64,
    seed: u64,
) where
    K: MarkovOf<f64, D> + Markov<f64> + Clone,
{
    let drawn = Drawn::new(&family(1.0), 6000, per_length, lambda, 0.05, seed);
    let tuner = LineTuner::new(&drawn.x, family).unwrap();
    let tuned = tuner.tune(&drawn.y).unwrap();
    let what = format!("D = {D}, lambda {lambda}: {tuned:?}");
    assert!((0.75..1.35).contains(&tuned.length), "{what}");
    assert!((0.75..1.35).contains(&(tuned.lambda / lambda)), "{what}");
    let fit = tuner.fit_tuned(&drawn.y, &tuned).unwrap();
    assert!((fit.noise() / lambda.sqrt() - 1.0).abs() < 0.06, "{what}: noise {}", fit.noise());
    let (recall, precision) = drawn.judged(fit.support());
    assert!(recall > 0.97 && precision > 0.97, "{what}: recall {recall}, precision {precision}");
}

#[test]
fn finds_what_was_drawn() {
    check(Laplacian::new, 0.5, 50.0, 1);
    check(Matern32::new, 0.04, 20.0, 2);
    check(Matern32::new, 1.0, 100.0, 3);
    check(Matern52::new, 0.04, 20.0, 4);
}

/// On more points than the windows have.
#[test]
fn finds_what_was_drawn_from_windows() {
    let drawn = Drawn::new(&Matern32::new(1.0), 40_000, 30.0, 0.1, 0.05, 5);
    let tuner = LineTuner::new(&drawn.x, Matern32::new).unwrap();
    let tuned = tuner.tune(&drawn.y).unwrap();
    assert!(
        (tuned.length - 1.0).abs() < 0.1 && (tuned.lambda / 0.1 - 1.0).abs() < 0.1,
        "{tuned:?}"
    );
    let (recall, precision) = drawn.judged(tuner.fit(&drawn.y).unwrap().support());
    assert!(recall > 0.985 && precision > 0.98, "{recall} {precision}");
}

/// Units, offsets, order, a gross value and missing samples change nothing.
#[test]
fn units_do_not_matter() {
    let drawn = Drawn::new(&Matern32::new(1.0), 3000, 20.0, 0.04, 0.05, 6);
    let tuner = LineTuner::new(&drawn.x, Matern32::new).unwrap();
    let first = tuner.tune(&drawn.y).unwrap();
    let expected = {
        let mut support = tuner.fit_tuned(&drawn.y, &first).unwrap().support().to_vec();
        support.sort_unstable();
        support
    };
    let sorted = |support: &[usize]| {
        let mut support = support.to_vec();
        support.sort_unstable();
        support
    };
    for (stretch, offset) in [(1e6, 1e8), (1e-3, 0.0)] {
        for (size, level) in [(1e-8, 0.0), (1.0, 1e4), (1e5, -3e7)] {
            let x: Vec<f64> = drawn.x.iter().map(|x| stretch * x + offset).collect();
            let y: Vec<f64> = drawn.y.iter().map(|y| size * y + level).collect();
            let tuner = LineTuner::new(&x, Matern32::new).unwrap();
            let tuned = tuner.tune(&y).unwrap();
            assert!((tuned.length / stretch / first.length - 1.0).abs() < 1e-2, "{tuned:?}");
            let fit = tuner.fit_tuned(&y, &tuned).unwrap();
            assert_eq!(sorted(fit.support()), expected, "{stretch} {size}");
        }
    }
    let (mut x, mut y) = (drawn.x.clone(), drawn.y.clone());
    x.reverse();
    y.reverse();
    let reversed = LineTuner::new(&x, Matern32::new).unwrap().tune(&y).unwrap();
    assert!((reversed.length / first.length - 1.0).abs() < 1e-2);
    let mut y = drawn.y.clone();
    y[1000] = 1e20;
    let gross = tuner.tune(&y).unwrap();
    assert!((gross.length / first.length - 1.0).abs() < 0.05, "{gross:?}");
    assert_eq!(tuner.fit_tuned(&y, &gross).unwrap().support()[0], 1000);
    (0..3000).step_by(9).for_each(|i| y[i] = f64::NAN);
    let gaps = tuner.fit(&y).unwrap();
    assert!((gaps.noise() / 0.2 - 1.0).abs() < 0.08);
    assert!(gaps.fitted().iter().all(|f| f.is_finite()));
}

#[test]
fn degenerate_data() {
    let x: Vec<f64> = (0..200).map(f64::from).collect();
    // A constant, a constant with outliers, a straight line, noise alone.
    let tuner = LineTuner::new(&x, Matern32::new).unwrap();
    let fit = tuner.fit(&[3.0; 200]).unwrap();
    assert!(fit.fitted().iter().all(|f| (f - 3.0).abs() < 1e-12) && fit.support().is_empty());
    let mut y = [3.0; 200];
    (y[17], y[101], y[102]) = (9.0, -1.0, 4.0);
    let mut support = tuner.fit(&y).unwrap().support().to_vec();
    support.sort_unstable();
    assert_eq!(support, [17, 101, 102]);
    let line: Vec<f64> = x.iter().map(|x| 3.0 * x - 5.0).collect();
    let fit = tuner.fit(&line).unwrap();
    assert!(fit.fitted().iter().zip(&line).all(|(f, y)| (f - y).abs() < 0.5));
    let mut random = Random(7);
    let noise: Vec<f64> = (0..200).map(|_| random.normal()).collect();
    let fit = tuner.fit(&noise).unwrap();
    assert!(fit.support().len() <= 2 && fit.fitted().iter().all(|f| f.abs() < 0.6));

    assert!(matches!(LineTuner::new(&x[..7], Matern32::<f64>::new), Err(Error::TooShort { .. })));
    assert!(matches!(
        LineTuner::new(&[1.0; 20], Matern32::<f64>::new),
        Err(Error::NotPositive { .. })
    ));
    assert!(matches!(tuner.tune(&x[..9]), Err(Error::Length { .. })));
    assert!(matches!(tuner.tune(&[f64::NAN; 200]), Err(Error::TooShort { .. })));
    y[3] = f64::INFINITY;
    assert!(matches!(tuner.tune(&y), Err(Error::NotFinite { index: 3, .. })));
}
