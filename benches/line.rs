//! Long series: what a search costs beside a pass, hard cases, and rivals.
//!
//! `cargo xtask bench line` installs the rivals and runs this with all of them;
//! `cargo bench --bench line -- --write` leaves them out, and leaves their table as it is.

#[path = "common/measure.rs"]
#[allow(unreachable_pub, reason = "other benchmarks share it")]
mod measure;
#[allow(dead_code, unreachable_pub, clippy::pedantic, reason = "tests share it")]
#[path = "../tests/common/problem.rs"]
mod problem;
#[path = "common/publish.rs"]
#[allow(unreachable_pub, reason = "other benchmarks share it")]
mod publish;

use kgard::line::{Line, LineTuner, MarkovOf, Transition};
use kgard::{Matern32, Matern52, Stop};
use measure::{forget_peak, peak, repeated, timed};
use problem::Random;
use publish::publish;
use std::fmt::Write;
use std::path::{Path, PathBuf};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The variance of the noise over that of the function, and samples to an outlier.
const LAMBDA: f64 = 0.1;
const PER_OUTLIER: usize = 20;

/// Where the outliers are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outliers {
    Scattered,
    /// All of them side by side, in the middle.
    Clump,
}

/// Samples of a Gaussian process with noise, and outliers of 4 to 20 deviations of
/// the noise.
struct Series {
    x: Vec<f64>,
    y: Vec<f64>,
    truth: Vec<f64>,
    wrong: Vec<bool>,
}

impl Series {
    /// `per_length` samples to a unit length: on a grid, or with exponential distances.
    fn new<K, const D: usize>(
        kernel: &K,
        n: usize,
        per_length: f64,
        outliers: Outliers,
        on_grid: bool,
    ) -> Self
    where
        K: MarkovOf<f64, D>,
    {
        let mut random = Random(n as u64);
        let (mut x, mut y, mut truth, mut wrong) = (vec![], vec![], vec![], vec![]);
        let mut state = deviate(&kernel.stationary(), &mut random);
        let mut at = 0.0;
        let clump = n / PER_OUTLIER;
        for i in 0..n {
            let jump = if on_grid { 1.0 } else { -(1.0 - random.uniform()).ln() };
            at += jump / per_length;
            let Transition { phi, q } = kernel.transition(&kernel.gap(jump / per_length));
            let noise = deviate(&q, &mut random);
            state = std::array::from_fn(|k| {
                noise[k] + (0..D).map(|l| phi[k][l] * state[l]).sum::<f64>()
            });
            let is_wrong = match outliers {
                Outliers::Scattered => random.uniform() * PER_OUTLIER as f64 <= 1.0,
                Outliers::Clump => (n / 2..n / 2 + clump).contains(&i),
            };
            let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            let off = if is_wrong { sign * (4.0 + 16.0 * random.uniform()) } else { 0.0 };
            x.push(at);
            y.push(state[0] + LAMBDA.sqrt() * (random.normal() + off));
            truth.push(state[0]);
            wrong.push(is_wrong);
        }
        Self { x, y, truth, wrong }
    }

    /// Precision, recall and RMSE.
    fn judged(&self, support: &[usize], fitted: &[f64]) -> [f64; 3] {
        let right = support.iter().filter(|&&i| self.wrong[i]).count() as f64;
        let wrong = self.wrong.iter().filter(|&&wrong| wrong).count() as f64;
        let squares = fitted.iter().zip(&self.truth).map(|(a, b)| (a - b) * (a - b));
        let rmse = (squares.sum::<f64>() / self.y.len() as f64).sqrt();
        [right / (support.len() as f64).max(1.0), right / wrong, rmse]
    }

    fn write(&self, path: &Path) -> Outcome<()> {
        let mut text = String::from("x,y,truth,wrong\n");
        for i in 0..self.x.len() {
            let (x, y, f) = (self.x[i], self.y[i], self.truth[i]);
            writeln!(text, "{x},{y},{f},{}", u8::from(self.wrong[i]))?;
        }
        Ok(std::fs::write(path, text)?)
    }
}

/// A draw of a covariance, by its Cholesky factor.
fn deviate<const D: usize>(p: &[[f64; D]; D], random: &mut Random) -> [f64; D] {
    let mut l = [[0.0; D]; D];
    let mut drawn = [0.0; D];
    for i in 0..D {
        for j in 0..=i {
            let rest = p[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { f64::max(rest, 0.0).sqrt() } else { rest / l[j][j].max(1e-300) };
        }
    }
    for j in 0..D {
        let z = random.normal();
        for i in j..D {
            drawn[i] += l[i][j] * z;
        }
    }
    drawn
}

/// One pass with the diagonal beside the whole search.
struct Cost {
    pass: f64,
    search: f64,
    removed: usize,
    /// Bytes a point beside the data.
    memory: Option<f64>,
}

impl Cost {
    fn measure<K, const D: usize>(series: &Series, kernel: K) -> Outcome<Self>
    where
        K: MarkovOf<f64, D> + Clone,
    {
        let n = series.y.len() as f64;
        let line = Line::new(&series.x, kernel, LAMBDA)?;
        forget_peak();
        let before = peak();
        let (fit, search) = repeated(|| line.fit(&series.y, Stop::automatic()));
        let memory = peak().zip(before).map(|(after, before)| (after - before) / n);
        let fit = fit?;
        let (clean, pass) = repeated(|| line.fit(&series.y, Stop::count(0)));
        clean?;
        Ok(Self { pass, search, removed: fit.support().len(), memory })
    }
}

/// The exponent of n between two costs.
fn exponent((m, a): (usize, f64), (n, b): (usize, f64)) -> f64 {
    (b / a).ln() / (n as f64 / m as f64).ln()
}

/// A table of costs for series of growing length.
fn table<K, const D: usize>(
    report: &mut String,
    name: &str,
    kernel: &K,
    per_length: f64,
    outliers: Outliers,
    sizes: &[usize],
) -> Outcome<()>
where
    K: MarkovOf<f64, D> + Clone,
{
    let mut before = None;
    for &n in sizes {
        let series = Series::new(kernel, n, per_length, outliers, false);
        let cost = Cost::measure(&series, kernel.clone())?;
        let power = before.map_or_else(String::new, |before| {
            format!("{:.2}", exponent(before, (n, cost.search)))
        });
        writeln!(
            report,
            "| {name} | {n} | {} | {:.3} s | {:.2} s | {:.1} | {:.1} µs | {power} | {} |",
            cost.removed,
            cost.pass,
            cost.search,
            cost.search / cost.pass,
            1e6 * (cost.search - cost.pass) / cost.removed as f64,
            // What the heap has left over from before would hide the rest.
            cost.memory
                .filter(|_| n == 1_000_000)
                .map_or_else(String::new, |bytes| format!("{bytes:.0}")),
        )?;
        eprintln!("{name}, n = {n}: done");
        before = Some((n, cost.search));
    }
    Ok(())
}

fn costs() -> Outcome<String> {
    let mut report = String::from(
        "| series | n | outliers | one pass | whole search | ratio | per outlier | exponent of n | bytes a point |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let (all, hard) = ([10_000, 100_000, 1_000_000], [10_000, 30_000, 100_000, 300_000]);
    let usual = Outliers::Scattered;
    table(
        &mut report,
        "Matérn 3/2, 20 samples to a length",
        &Matern32::new(1.0),
        20.0,
        usual,
        &all,
    )?;
    table(&mut report, "the same, in one clump", &Matern32::new(1.0), 20.0, Outliers::Clump, &all)?;
    table(&mut report, "Matérn 5/2, 2000 to a length", &Matern52::new(1.0), 2000.0, usual, &hard)?;
    let name = "the same, in one clump";
    table(&mut report, name, &Matern52::new(1.0), 2000.0, Outliers::Clump, &hard)?;
    Ok(report)
}

/// The tuned line beside what `line_rivals.py` does with the same series.
fn rivals(python: &str) -> Outcome<String> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/line"));
    std::fs::create_dir_all(&folder)?;
    let mut report = String::from(
        "| n | method | seconds | precision | recall | F1 | RMSE |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let (mut files, mut rows) = (vec![], vec![]);
    for n in [10_000, 100_000, 1_000_000] {
        let series = Series::new(&Matern32::new(1.0), n, 20.0, Outliers::Scattered, true);
        let file = folder.join(format!("{n}.csv"));
        series.write(&file)?;
        files.push(file);
        let (fit, seconds) =
            timed(|| LineTuner::new(&series.x, Matern32::new)?.fit::<_, 2>(&series.y));
        let fit = fit?;
        let [precision, recall, rmse] = series.judged(fit.support(), &fit.fitted());
        let f1 = 2.0 * precision * recall / (precision + recall);
        rows.push(format!(
            "| {n} | kgard, nothing given | {seconds:.2} | {precision:.4} | {recall:.4} | {f1:.4} | {rmse:.4} |"
        ));
        eprintln!("tuned, n = {n}: done");
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/line_rivals.py");
    let output = std::process::Command::new(python)
        .arg(script)
        .args(files)
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{script} failed: {}", output.status).into());
    }
    rows.extend(String::from_utf8(output.stdout)?.lines().map(str::to_owned));
    rows.sort_by_key(|row| row.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()));
    for row in rows {
        report += &row;
        report.push('\n');
    }
    Ok(report)
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--python") {
        let python = arguments.get(at + 1).ok_or("--python: which?")?;
        publish("line rivals", &rivals(python)?);
    }
    publish("line", &costs()?);
    Ok(())
}
