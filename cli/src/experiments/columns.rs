//! The columns of the tables: what stands in them, and how it is written.

use super::report::{Row, Theorem};

/// A title, and what a row has there.
pub(super) type Column = (&'static str, fn(&Row) -> String);

/// Of regression.
pub(super) const REGRESSION: &[Column] = &[
    ("noise", |row| row.noise.clone()),
    ("outliers", outliers),
    ("method", |row| row.method.to_owned()),
    ("parameters", |row| row.parameters.clone()),
    ("MSE, paper", |row| fixed(row.paper.mse, 4)),
    ("MSE", |row| format!("{} +- {}", fixed(row.mse, 4), fixed(row.mse_error, 4))),
    ("MSE, median", |row| fixed(row.mse_median, 4)),
    ("MSE, all found (% of runs)", complete),
    ("correct - wrong %, paper", |row| support(row.paper.correct, row.paper.wrong)),
    ("correct - wrong %", |row| support(row.correct, row.wrong)),
    ("seconds, paper", |row| fixed(row.paper.seconds, 3)),
    ("seconds", |row| fixed(Some(row.seconds), 5)),
    ("seconds of the plan", |row| fixed(row.plan_seconds, 5)),
];

/// Of pictures.
pub(super) const PICTURES: &[Column] = &[
    ("picture, noise", |row| row.noise.clone()),
    ("impulses", outliers),
    ("method", |row| row.method.to_owned()),
    ("parameters", |row| row.parameters.clone()),
    ("PSNR, paper", |row| fixed(row.paper.psnr, 2)),
    ("PSNR", |row| fixed(row.psnr, 2)),
    ("correct - wrong %", |row| support(row.correct, row.wrong)),
    ("seconds", |row| fixed(Some(row.seconds), 3)),
];

/// Of Theorem 1.
pub(super) const THEOREM: &[Column] = &[
    ("outliers", outliers),
    ("correct - wrong %", |row| support(row.correct, row.wrong)),
    ("outliers first, % of runs", |row| fixed(theorem(row, |t| t.first), 1)),
    ("condition holds, % of runs", |row| fixed(theorem(row, |t| t.condition), 1)),
    ("holds but not first, runs", |row| {
        row.theorem.map_or_else(nothing, |t| t.violations.to_string())
    }),
];

/// Of files for other programs: all numbers in full.
pub(super) const FILE: &[Column] = &[
    ("noise", |row| row.noise.clone()),
    ("outliers", |row| row.outliers.clone().unwrap_or_default()),
    ("method", |row| row.method.to_owned()),
    ("parameters", |row| row.parameters.clone()),
    ("paper_psnr", |row| full(row.paper.psnr)),
    ("psnr", |row| full(row.psnr)),
    ("paper_mse", |row| full(row.paper.mse)),
    ("mse", |row| full(row.mse)),
    ("mse_error", |row| full(row.mse_error)),
    ("mse_median", |row| full(row.mse_median)),
    ("complete", |row| full(row.complete)),
    ("mse_complete", |row| full(row.mse_complete)),
    ("paper_correct", |row| full(row.paper.correct)),
    ("correct", |row| full(row.correct)),
    ("paper_wrong", |row| full(row.paper.wrong)),
    ("wrong", |row| full(row.wrong)),
    ("paper_seconds", |row| full(row.paper.seconds)),
    ("seconds", |row| full(Some(row.seconds))),
    ("plan_seconds", |row| full(row.plan_seconds)),
];

/// What Figure 1 adds to them.
pub(super) const FILE_OF_THEOREM: &[Column] = &[
    ("u", |row| full(theorem(row, |t| t.u))),
    ("condition", |row| full(theorem(row, |t| t.condition))),
    ("first", |row| full(theorem(row, |t| t.first))),
    ("violations", |row| row.theorem.map_or_else(String::new, |t| t.violations.to_string())),
];

fn outliers(row: &Row) -> String {
    row.outliers.clone().unwrap_or_else(nothing)
}

/// The mean error of the runs in which every outlier was found.
fn complete(row: &Row) -> String {
    let share = |share: f64| format!("{} ({share:.1})", fixed(row.mse_complete, 4));
    row.complete.map_or_else(nothing, share)
}

fn theorem(row: &Row, value: fn(Theorem) -> f64) -> Option<f64> {
    row.theorem.map(value)
}

fn nothing() -> String {
    "-".into()
}

fn fixed(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(nothing, |value| format!("{value:.digits$}"))
}

fn full(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:?}"))
}

fn support(correct: Option<f64>, wrong: Option<f64>) -> String {
    match (correct, wrong) {
        (Some(correct), Some(wrong)) => format!("{correct:.2} - {wrong:.2}"),
        _ => nothing(),
    }
}
