//! Table 3: the sinc of Table 1 with symmetric alpha-stable noise.

use super::design::Design;
use super::method::Second;
use super::{Paper, RIVALS_NOTE, SPREAD_NOTE, Sample, Setting, TIME_NOTE, Table, compared, table1};
use crate::noise::Random;

/// The characteristic exponent of the noise.
const ALPHA: f64 = 1.2;

/// One scale of the noise, with the paper's parameters and figures.
struct Line {
    gamma: f64,
    /// lambda and epsilon.
    kgard: (f64, f64),
    kgard_paper: Paper,
    /// lambda and mu.
    ram: (f64, f64),
    ram_paper: Paper,
    rb_rvm_paper: Paper,
    /// The lambda of the second solution.
    refit: f64,
}

#[rustfmt::skip]
const LINES: [Line; 2] = [
    Line {
        gamma: 0.3, kgard: (0.18, 5.0), kgard_paper: Paper::error(0.0261, 0.011),
        ram: (0.04, 0.4), ram_paper: Paper::error(0.0270, 0.017),
        rb_rvm_paper: Paper::error(0.0435, 0.305),
        refit: 0.1,
    },
    Line {
        gamma: 2.0, kgard: (1.2, 32.0), kgard_paper: Paper::error(0.9171, 0.011),
        ram: (0.19, 5.0), ram_paper: Paper::error(0.8978, 0.010),
        rb_rvm_paper: Paper::error(1.7037, 0.295),
        refit: 1.0,
    },
];

/// The experiment.
pub(crate) fn table() -> Table {
    Table {
        name: "table3",
        title: "Table 3: f(x) = 20 sinc(2 pi x), symmetric alpha-stable noise",
        design: table1::design(),
        settings: LINES.iter().map(setting).collect(),
        notes: vec![
            "The points, kernel and penalty of Table 1. Such noise has no outliers proper, so \
             that none are right or wrong.",
            "KGARD + refit: the outliers found with the paper's parameters, after a second \
             look at them solved for with lambda = 0.1 (gamma 0.3) or 1 (gamma 2).",
            RIVALS_NOTE,
            SPREAD_NOTE,
            TIME_NOTE,
        ],
    }
}

fn setting(line: &Line) -> Setting {
    let &Line { gamma, kgard, kgard_paper, refit, ram, ram_paper, rb_rvm_paper } = line;
    let second = Second { sigma: table1::SIGMA, lambda: refit };
    let draw = move |design: &Design, random: &mut Random| {
        let mut y = table1::signal(design.train());
        random.add_stable(&mut y, ALPHA, gamma);
        Sample { y, truth: table1::signal(design.validate()), outliers: None }
    };
    Setting {
        noise: format!("alpha {ALPHA}, gamma {gamma}"),
        outliers: None,
        draw: Box::new(draw),
        methods: compared((kgard, kgard_paper), second, (ram, ram_paper), rb_rvm_paper),
    }
}
