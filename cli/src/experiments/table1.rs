//! Table 1: a sinc, Gaussian noise and outliers of +-15.

use super::design::Design;
use super::method::Second;
use super::{Paper, RIVALS_NOTE, SPREAD_NOTE, Sample, Setting, TIME_NOTE, Table, compared};
use crate::noise::{Random, sigma_at};
use std::f64::consts::PI;

/// The width of the kernel.
pub(super) const SIGMA: f64 = 0.15;
/// That of the second solution, with lambda in units of the noise's deviation.
/// A wider kernel cuts the frequencies off more sharply where the function has
/// no more of them. Both were chosen for all rows at once, on one seed: widths
/// from 0.17 to 0.2 differ by some 3 %, twice the lambda by some 10 % at 20 dB.
/// Leave-one-out over a grid of lambdas loses 2 % to the choice, over widths as
/// well 4 %.
const SECOND_SIGMA: f64 = 0.18;
const LAMBDA_PER_NOISE: f64 = 0.1;
/// The size of the outliers.
const OUTLIERS: f64 = 15.0;

/// One noise level and fraction of outliers, with the paper's parameters and
/// figures.
struct Line {
    db: f64,
    percent: f64,
    /// lambda and epsilon.
    kgard: (f64, f64),
    kgard_paper: Paper,
    /// lambda and mu.
    ram: (f64, f64),
    ram_paper: Paper,
    rb_rvm_paper: Paper,
}

#[rustfmt::skip]
const LINES: [Line; 8] = [
    Line {
        db: 20.0, percent: 5.0, kgard: (0.2, 10.0), kgard_paper: Paper::new(0.0285, 100.0, 0.0, 0.004),
        ram: (0.07, 2.5), ram_paper: Paper::new(0.0345, 100.0, 0.2, 0.005),
        rb_rvm_paper: Paper::error(0.0851, 0.298),
    },
    Line {
        db: 20.0, percent: 10.0, kgard: (0.2, 10.0), kgard_paper: Paper::new(0.0305, 100.0, 0.0, 0.008),
        ram: (0.07, 2.5), ram_paper: Paper::new(0.0372, 100.0, 0.1, 0.007),
        rb_rvm_paper: Paper::error(0.0912, 0.298),
    },
    Line {
        db: 20.0, percent: 15.0, kgard: (0.3, 10.0), kgard_paper: Paper::new(0.0330, 100.0, 0.0, 0.012),
        ram: (0.07, 2.0), ram_paper: Paper::new(0.0393, 100.0, 0.6, 0.008),
        rb_rvm_paper: Paper::error(0.0994, 0.299),
    },
    Line {
        db: 20.0, percent: 20.0, kgard: (1.0, 10.0), kgard_paper: Paper::new(0.0626, 100.0, 0.0, 0.017),
        ram: (0.07, 2.0), ram_paper: Paper::new(0.0422, 100.0, 0.4, 0.01),
        rb_rvm_paper: Paper::error(0.1184, 0.305),
    },
    Line {
        db: 15.0, percent: 5.0, kgard: (0.3, 15.0), kgard_paper: Paper::new(0.0862, 100.0, 0.1, 0.005),
        ram: (0.15, 5.0), ram_paper: Paper::new(0.1036, 100.0, 0.7, 0.005),
        rb_rvm_paper: Paper::error(0.3631, 0.327),
    },
    Line {
        db: 15.0, percent: 10.0, kgard: (0.3, 15.0), kgard_paper: Paper::new(0.0925, 100.0, 0.0, 0.008),
        ram: (0.15, 5.0), ram_paper: Paper::new(0.1118, 100.0, 0.4, 0.006),
        rb_rvm_paper: Paper::error(0.3830, 0.319),
    },
    Line {
        db: 15.0, percent: 15.0, kgard: (0.3, 15.0), kgard_paper: Paper::new(0.1003, 100.0, 0.0, 0.012),
        ram: (0.15, 5.0), ram_paper: Paper::new(0.1186, 100.0, 0.3, 0.007),
        rb_rvm_paper: Paper::error(0.4166, 0.317),
    },
    Line {
        db: 15.0, percent: 20.0, kgard: (0.7, 15.0), kgard_paper: Paper::new(0.1349, 100.0, 0.0, 0.016),
        ram: (0.15, 4.0), ram_paper: Paper::new(0.1282, 100.0, 1.4, 0.008),
        rb_rvm_paper: Paper::error(0.4798, 0.312),
    },
];

/// The experiment.
pub(crate) fn table() -> Table {
    Table {
        name: "table1",
        title: "Table 1: f(x) = 20 sinc(2 pi x), Gaussian noise and outliers of +-15",
        design: design(),
        settings: LINES.iter().map(setting).collect(),
        notes: vec![
            "199 points in [-0.99, 1), validated half way between; sigma = 0.15, l2 penalty, \
             lambda times 5 at the first and last 5 points.",
            "KGARD + refit: the outliers found with the paper's parameters, after a second \
             look at them solved for with sigma = 0.18 and a tenth of the noise's deviation as \
             lambda.",
            RIVALS_NOTE,
            SPREAD_NOTE,
            TIME_NOTE,
        ],
    }
}

/// 398 points in [-0.99, 1): the odd ones to train, the even ones to validate.
pub(super) fn design() -> Design {
    let x = |i: u32| -0.99 + 0.005 * f64::from(i);
    let every_other = |first: u32| (first..398).step_by(2).map(x).collect::<Vec<f64>>();
    Design::new(every_other(0), every_other(1), 1, SIGMA).with_border(5, 5.0)
}

/// f(x) = 20 sinc(2 pi x), where sinc(t) = sin(pi t) / (pi t).
pub(super) fn signal(x: &[f64]) -> Vec<f64> {
    let sinc = |t: f64| if t == 0.0 { 1.0 } else { libm::sin(PI * t) / (PI * t) };
    x.iter().map(|x| 20.0 * sinc(2.0 * PI * x)).collect()
}

fn setting(line: &Line) -> Setting {
    let &Line { db, percent, kgard, kgard_paper, ram, ram_paper, rb_rvm_paper } = line;
    let second = Second {
        sigma: SECOND_SIGMA,
        lambda: LAMBDA_PER_NOISE * sigma_at(db, &signal(design().train())),
    };
    let draw = move |design: &Design, random: &mut Random| {
        let mut y = signal(design.train());
        let noise = sigma_at(db, &y);
        random.add_gaussian(&mut y, noise);
        let outliers = random.add_outliers(&mut y, percent / 100.0, OUTLIERS);
        Sample { y, truth: signal(design.validate()), outliers: Some(outliers) }
    };
    Setting {
        noise: format!("{db} dB"),
        outliers: Some(format!("{percent} %")),
        draw: Box::new(draw),
        methods: compared((kgard, kgard_paper), second, (ram, ram_paper), rb_rvm_paper),
    }
}
