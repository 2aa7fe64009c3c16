//! Many points in space: both ways beside the exact method, and by themselves.
//!
//! `cargo bench --bench space -- --write`

#[path = "common/measure.rs"]
#[allow(dead_code, unreachable_pub, reason = "other benchmarks share it")]
mod measure;
#[path = "common/publish.rs"]
#[allow(unreachable_pub, reason = "other benchmarks share it")]
mod publish;

use kgard::space::{LowRank, Regions, SpaceTuner, Way};
use kgard::{Matern52, Outlier, Plan, Points, Regularizer, Stop};
use measure::{forget_peak, peak, timed};
use publish::publish;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Share of outliers, and their least size in deviations of the noise.
const SHARE: f64 = 0.095;
const NOISE: f64 = 0.1;

/// Points in the unit cube, a surface with hills, noise and outliers of 4 to 20
/// deviations of the noise.
struct Problem {
    dim: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    truth: Vec<f64>,
    wrong: BTreeSet<usize>,
}

impl Problem {
    fn new(n: usize, dim: usize) -> Self {
        let mut state = 7_u64 + n as u64 + dim as u64;
        let mut uniform = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let x: Vec<f64> = (0..n * dim).map(|_| uniform()).collect();
        let f = |p: &[f64]| (6.0 * p[0]).sin() * (5.0 * p[1]).cos() + p.iter().sum::<f64>();
        let truth: Vec<f64> = x.chunks(dim).map(f).collect();
        let mut wrong = BTreeSet::new();
        let mut y = Vec::with_capacity(n);
        for (i, f) in truth.iter().enumerate() {
            let normal =
                (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            let mut value = f + NOISE * normal;
            if uniform() < SHARE {
                wrong.insert(i);
                let size = NOISE * (4.0 + 16.0 * uniform());
                value += if uniform() < 0.5 { size } else { -size };
            }
            y.push(value);
        }
        Self { dim, x, y, truth, wrong }
    }

    fn points(&self) -> Points<'_, f64> {
        Points::new(&self.x, self.dim).expect("coordinates fit")
    }

    fn row(
        &self,
        name: &str,
        outliers: &[Outlier<f64>],
        fitted: &[f64],
        times: [f64; 2],
    ) -> String {
        let found: BTreeSet<usize> = outliers.iter().map(|o| o.index).collect();
        let right = found.intersection(&self.wrong).count();
        let squares = fitted.iter().zip(&self.truth).map(|(a, b)| (a - b) * (a - b));
        let rmse = (squares.sum::<f64>() / self.y.len() as f64).sqrt();
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        let memory = peak().map_or_else(String::new, |bytes| format!("{:.0} MB", bytes / 1e6));
        forget_peak();
        format!(
            "| {} | {} | {name} | {:.2} s | {:.2} s | {memory} | {:.4} | {:.4} | {:.4} |\n",
            self.y.len(),
            self.dim,
            times[0],
            times[1],
            share(right, self.wrong.len()),
            share(right, found.len()),
            rmse
        )
    }
}

fn set(outliers: &[Outlier<f64>]) -> BTreeSet<usize> {
    outliers.iter().map(|o| o.index).collect()
}

fn main() -> Result<(), kgard::Error> {
    let mut report = String::from(
        "| n | inputs | way | set up | fit | memory | recall | precision | RMSE |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let (kernel, lambda) = (Matern52::new(0.7), 0.02);
    let mut differences = String::new();
    for (n, dim) in [(5_000, 2), (5_000, 3), (100_000, 2), (100_000, 3)] {
        let problem = Problem::new(n, dim);
        let mut sets = vec![];
        if n <= 5000 {
            let (plan, made) =
                timed(|| Plan::new(problem.points(), kernel, Regularizer::rkhs(lambda)));
            let plan = plan?;
            let (fit, fitted) = timed(|| plan.fit(&problem.y, Stop::automatic()));
            let fit = fit?;
            report += &problem.row("exact", fit.outliers(), fit.fitted(), [made, fitted]);
            sets.push(set(fit.outliers()));
        }
        let (solver, made) = timed(|| LowRank::of_rank(problem.points(), kernel, lambda, 1000));
        let solver = solver?;
        let (fit, fitted) = timed(|| solver.fit(&problem.y, Stop::automatic()));
        let fit = fit?;
        let name = format!("rank {}", solver.rank());
        report += &problem.row(&name, fit.outliers(), fit.fitted(), [made, fitted]);
        sets.push(set(fit.outliers()));
        drop(solver);
        let (solver, made) = timed(|| Regions::new(problem.points(), kernel, lambda));
        let solver = solver?;
        let (fit, fitted) = timed(|| solver.fit(&problem.y, Stop::automatic()));
        let fit = fit?;
        let name = format!("{} regions", solver.count());
        report += &problem.row(&name, fit.outliers(), fit.fitted(), [made, fitted]);
        sets.push(set(fit.outliers()));
        for (other, way) in sets[1..].iter().zip(["the next", "the one after"]) {
            let _ = write!(
                differences,
                " n = {n}, {dim} inputs: {} of {} ({way});",
                sets[0].symmetric_difference(other).count(),
                sets[0].len()
            );
        }
        let (tuned, took) = timed(|| SpaceTuner::new().fit(problem.points(), &problem.y));
        let tuned = tuned?;
        let name = match tuned.fit.way() {
            Way::LowRank { rank, .. } => format!("tuned, rank {rank}"),
            Way::Regions { count } => format!("tuned, {count} regions"),
            _ => "tuned, exact".into(),
        };
        report += &problem.row(&name, tuned.fit.outliers(), tuned.fit.fitted(), [0.0, took]);
    }
    let _ = writeln!(
        report,
        "\nOutliers that differ from those of the first way of the same problem:{differences}"
    );
    publish("space", &report);
    Ok(())
}
