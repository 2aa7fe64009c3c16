//! The stopping rules: each one's own condition, written out again here.
use crate::common;

use common::problem::Problem;
use kgard::regression::stop::Reading;
use kgard::{Gaussian, Plan, Progress, Regularizer, Stop, StopReason, StopRule};

fn sorted(mut indices: Vec<usize>) -> Vec<usize> {
    indices.sort_unstable();
    indices
}

fn plan(problem: &Problem) -> Plan<f64, Gaussian<f64>> {
    Plan::new(&problem.x, Gaussian::new(0.2), Regularizer::l2(0.1)).unwrap()
}

fn found<K>(fit: &kgard::Fit<f64, K>) -> Vec<usize> {
    sorted(fit.outliers().iter().map(|o| o.index).collect())
}

/// The first step at which `met` holds, and the one before at which not.
fn check(stop: Stop<f64>, reason: StopReason, met: impl Fn(&[f64]) -> bool) {
    let problem = Problem::new(100, 1, 8, 0.1, 5);
    let plan = plan(&problem);
    let fit = plan.fit(&problem.y, stop).unwrap();
    assert_eq!(fit.stop_reason(), reason);
    assert!(met(fit.residual()));
    assert!(!fit.outliers().is_empty());
    let before = plan.fit(&problem.y, Stop::count(fit.outliers().len() - 1)).unwrap();
    assert!(!met(before.residual()));
    assert_eq!(found(&fit), sorted(problem.wrong));
}

#[test]
fn residual_norm() {
    check(Stop::residual_norm(2.5), StopReason::ResidualNorm, |r| {
        r.iter().map(|r| r * r).sum::<f64>().sqrt() <= 2.5
    });
}

#[test]
fn max_residual() {
    check(Stop::max_residual(1.0), StopReason::MaxResidual, |r| r.iter().all(|r| r.abs() <= 1.0));
}

#[test]
fn automatic_finds_the_outliers_and_few_others() {
    let mut extra = 0;
    for seed in 0..40 {
        let problem = Problem::new(120, 1, (seed % 5) as usize * 5, 0.1, 1000 + seed);
        let plan = plan(&problem);
        let fit = plan.fit(&problem.y, Stop::automatic()).unwrap();
        assert_eq!(fit.stop_reason(), StopReason::Automatic);
        let found = found(&fit);
        assert!(problem.wrong.iter().all(|j| found.contains(j)), "seed {seed}");
        extra += found.len() - problem.wrong.len();
        // Without a plan the variances are computed another way.
        let once = kgard::fit(
            &problem.x,
            &problem.y,
            Gaussian::new(0.2),
            Regularizer::l2(0.1),
            Stop::automatic(),
        )
        .unwrap();
        assert_eq!(self::found(&once), found);
    }
    // One good point in ten fits is the chance that the rule is built on, and
    // a few more where the tail is fuller than usual.
    assert!(extra <= 20, "{extra} good points were taken for outliers in 40 fits");
}

/// Noise of heavy tails is cut where it begins to look Gaussian.
#[test]
fn automatic_cuts_heavy_tails() {
    let mut random = common::problem::Random(5);
    let mut problem = Problem::new(200, 1, 0, 0.0, 1);
    for y in &mut problem.y {
        // Cauchy noise.
        *y += 0.1 * (std::f64::consts::PI * (random.uniform() - 0.5)).tan();
    }
    let fit = plan(&problem).fit(&problem.y, Stop::automatic()).unwrap();
    let count = fit.outliers().len();
    assert!((20..80).contains(&count), "{count}");
    assert!(fit.residual().iter().all(|r| r.abs() < 1.0));
}

/// Studentised selection, against its definition.
#[test]
fn studentized_selection() {
    let problem = Problem::new(60, 2, 6, 0.3, 3);
    for regularizer in [Regularizer::l2(0.02), Regularizer::rkhs(0.02)] {
        let plan = Plan::new(problem.points(), Gaussian::new(0.5), regularizer).unwrap();
        let fit = plan.fit(&problem.y, Stop::count(8).studentized()).unwrap();
        let h = plan.as_ref().residual_maker();
        let mut support: Vec<usize> = Vec::new();
        for outlier in fit.outliers() {
            let before = plan.fit_support(&problem.y, &support).unwrap();
            // The residual maker without the support, by the formula
            // H - H_S (H_SS)^-1 H_S^T.
            let k = support.len();
            let block: Vec<f64> =
                support.iter().flat_map(|&a| support.iter().map(move |&b| h[a * 60 + b])).collect();
            let variance = |i: usize| {
                let column: Vec<f64> = support.iter().map(|&s| h[s * 60 + i]).collect();
                let solved = if k == 0 {
                    vec![]
                } else {
                    common::oracle::gauss(block.clone(), column.clone())
                };
                h[i * 60 + i] - column.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>()
            };
            let best = (0..60)
                .filter(|i| !support.contains(i))
                .max_by(|&a, &b| {
                    let z = |i: usize| before.residual()[i].abs() / variance(i).sqrt();
                    z(a).total_cmp(&z(b))
                })
                .unwrap();
            assert_eq!(outlier.index, best);
            support.push(best);
        }
    }
}

#[test]
fn automatic_leaves_half_of_the_points() {
    // Nothing but garbage: no rule can be right, but this one must end.
    let mut problem = Problem::new(40, 1, 0, 0.0, 1);
    for (i, y) in problem.y.iter_mut().enumerate() {
        *y = ((i * i * 37 % 101) as f64).powi(3) * if i % 2 == 0 { 1.0 } else { -1.0 };
    }
    let fit = plan(&problem).fit(&problem.y, Stop::automatic()).unwrap();
    assert!(fit.outliers().len() <= 20);
    // Nothing at all: no residual, nothing to take out.
    problem.y.fill(0.0);
    let fit = plan(&problem).fit(&problem.y, Stop::automatic()).unwrap();
    assert!(fit.outliers().is_empty());
}

#[test]
fn cap_and_exhaustion_are_not_errors() {
    let problem = Problem::new(50, 1, 6, 0.1, 5);
    let plan = plan(&problem);
    let fit = plan.fit(&problem.y, Stop::max_residual(1.0).at_most(4)).unwrap();
    assert_eq!((fit.stop_reason(), fit.outliers().len()), (StopReason::Cap, 4));
    // The rule is looked at before the cap.
    let fit = plan.fit(&problem.y, Stop::max_residual(1.0).at_most(6)).unwrap();
    assert_eq!((fit.stop_reason(), fit.outliers().len()), (StopReason::MaxResidual, 6));
    let fit = plan.fit(&problem.y, Stop::count(0)).unwrap();
    assert_eq!((fit.stop_reason(), fit.outliers().len()), (StopReason::Cap, 0));
    assert_eq!(fit, plan.ridge(&problem.y).unwrap());
    let fit = plan.fit(&[0.0; 50], Stop::count(3)).unwrap();
    assert_eq!((fit.stop_reason(), fit.outliers().len()), (StopReason::Exhausted, 0));
    // With a free bias the last point cannot be taken out.
    let free = Plan::new(&problem.x, Gaussian::new(0.2), Regularizer::rkhs(0.1)).unwrap();
    let fit = free.fit(&problem.y, Stop::count(50)).unwrap();
    assert_eq!((fit.stop_reason(), fit.outliers().len()), (StopReason::Exhausted, 49));
}

#[test]
fn rules_of_the_user() {
    let problem = Problem::new(100, 1, 8, 0.1, 5);
    let plan = plan(&problem);
    // A closure: stop when the sum of squares no longer halves.
    let mut last = f64::INFINITY;
    let rule = |progress: &mut Progress<'_, f64>| {
        let now = progress.norm().powi(2);
        let done = now > 0.95 * last;
        last = now;
        done
    };
    let fit = plan.fit(&problem.y, rule).unwrap();
    assert_eq!(fit.stop_reason(), StopReason::UserRule);
    assert!(fit.outliers().len() >= 8);

    // A type, which sees every step, has scratch memory, and a cap.
    struct Watch(Vec<(usize, f64)>);
    impl StopRule<f64> for &mut Watch {
        fn check(&mut self, progress: &mut Progress<'_, f64>) -> Option<StopReason> {
            assert_eq!(progress.scratch.len(), 100);
            progress.scratch.fill(f64::NAN);
            assert!(progress.outliers.iter().all(|&j| progress.residual[j] == 0.0));
            self.0.push((progress.outliers.len(), progress.max()));
            None
        }
        fn cap(&self) -> usize {
            5
        }
    }
    let mut watch = Watch(Vec::new());
    let fit = plan.fit(&problem.y, &mut watch).unwrap();
    assert_eq!(fit.stop_reason(), StopReason::Cap);
    assert_eq!(watch.0.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        fit.outliers()[0].index,
        plan.fit(&problem.y, Stop::count(1)).unwrap().outliers()[0].index
    );
}

/// The paper's rule, word for word, with a histogram in plain vectors.
fn literal_gap(residual: &[f64]) -> f64 {
    let magnitudes: Vec<f64> = residual.iter().map(|r| r.abs()).collect();
    let low = magnitudes.iter().copied().fold(f64::INFINITY, f64::min);
    let high = magnitudes.iter().copied().fold(0.0, f64::max);
    let bars = residual.len() / 10 + 1;
    let width = (high - low) / bars as f64;
    let mut h = vec![0_i64; bars];
    for m in &magnitudes {
        h[(((m - low) / width) as usize).min(bars - 1)] += 1;
    }
    let least = *h.iter().min().unwrap();
    let e1 = low + width * h.iter().position(|&x| x == least).unwrap() as f64;
    let mut e2 = f64::INFINITY;
    for l in 1..bars {
        if h[l] - h[l - 1] >= 1 && h[l - 1] <= least + 5 {
            e2 = low + width * l as f64;
            break;
        }
    }
    let mean = h.iter().sum::<i64>() as f64 / bars as f64;
    let variance = h.iter().map(|&x| (x as f64 - mean).powi(2)).sum::<f64>() / (bars as f64 - 1.0);
    if variance.sqrt() / mean > 0.9 { e1.min(e2) } else { e1 }
}

#[test]
fn histogram_rule_once() {
    for seed in 0..20 {
        let problem = Problem::new(144, 2, 14, 0.2, seed);
        let plan = Plan::new(problem.points(), Gaussian::new(0.3), Regularizer::rkhs(0.3)).unwrap();
        for e0 in [0.5, 1.5, 40.0] {
            let first = plan.ridge(&problem.y).unwrap();
            let epsilon = f64::min(e0, literal_gap(first.residual()));
            let fit = plan.fit(&problem.y, Stop::histogram(e0, Reading::Once)).unwrap();
            let plain = plan.fit(&problem.y, Stop::max_residual(epsilon)).unwrap();
            assert_eq!(fit.outliers(), plain.outliers());
            assert!(matches!(fit.stop_reason(), StopReason::Histogram | StopReason::Exhausted));
        }
    }
}

#[test]
fn histogram_rule_at_every_step() {
    for seed in 0..20 {
        let problem = Problem::new(144, 2, 14, 0.2, seed);
        let plan = Plan::new(problem.points(), Gaussian::new(0.3), Regularizer::rkhs(0.3)).unwrap();
        let e0 = 1.2;
        let fit = plan.fit(&problem.y, Stop::histogram(e0, Reading::EveryStep)).unwrap();
        let literal = |progress: &mut Progress<'_, f64>| {
            progress.max() <= f64::max(e0, literal_gap(progress.residual))
        };
        assert_eq!(fit.outliers(), plan.fit(&problem.y, literal).unwrap().outliers());
        assert_eq!(fit.stop_reason(), StopReason::Histogram);
    }
}

#[test]
fn histogram_of_equal_residuals() {
    // No spread: nothing to tell apart, nothing to divide by.
    let plan = Plan::new(&[0.5], Gaussian::new(0.1), Regularizer::l2(0.1)).unwrap();
    let fit = plan.fit(&[1.0], Stop::histogram(0.0, Reading::EveryStep)).unwrap();
    assert!(fit.outliers().is_empty());
}

#[test]
fn names_of_reasons() {
    assert_eq!(StopReason::ResidualNorm.to_string(), "residual_norm");
    assert_eq!(StopReason::Cap.name(), "cap");
}
