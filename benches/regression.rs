//! The tuner on problems with outliers, beside rivals whose errors are known.
//!
//! `cargo xtask bench regression --problems DIR`, where DIR has a folder a problem
//! with one CSV file a contamination (inputs, y, and whether the row is an
//! outlier), `test.csv` (inputs, y), and beside the folders `rivals.csv`
//! (problem, contamination, method, RMSE / standard deviation of the test's y).

use kgard::Points;
use kgard::tune::Tuner;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;
/// Methods and their errors, by problem and contamination.
type Rivals = BTreeMap<(String, String), Vec<(String, f64)>>;

/// Rivals that are Gaussian processes with outliers of their own, compared apart.
const ROBUST_PROCESSES: [&str; 2] = ["RRP", "StudentT-GP"];
/// kgard itself, as it was.
const OURS: &str = "kgard";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let directory = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            println!("no problems given: cargo xtask bench regression --problems DIR");
            return Ok(());
        }
        ["--problems", directory] => PathBuf::from(directory),
        _ => return Err("usage: cargo xtask bench regression --problems DIR".into()),
    };
    let mut cells = Vec::new();
    for ((problem, contamination), rivals) in rivals(&directory.join("rivals.csv"))? {
        let folder = directory.join(&problem);
        let train = table(&folder.join(format!("{contamination}.csv")))?;
        let test = table(&folder.join("test.csv"))?;
        cells.push(Cell::measure(problem, &train, &test, &rivals)?);
    }
    print(&cells);
    Ok(())
}

/// What came out for one problem with one contamination.
struct Cell {
    problem: String,
    points: usize,
    seconds: f64,
    /// RMSE over the best classical rival's, and over the best robust process's.
    to_best: f64,
    to_processes: Option<f64>,
    /// Among kgard and the classical rivals, from 1.
    rank: usize,
    wrong: usize,
    found: usize,
    false_alarms: usize,
    /// Share of the test's values within the 95 % interval.
    covered: f64,
}

impl Cell {
    fn measure(
        problem: String,
        train: &[Vec<f64>],
        test: &[Vec<f64>],
        rivals: &[(String, f64)],
    ) -> Outcome<Self> {
        let dim = train.first().ok_or("no rows")?.len() - 2;
        let x: Vec<f64> = train.iter().flat_map(|row| &row[..dim]).copied().collect();
        let y: Vec<f64> = train.iter().map(|row| row[dim]).collect();
        let start = Instant::now();
        let model = Tuner::new().fit(Points::new(&x, dim)?, &y)?;
        let seconds = start.elapsed().as_secs_f64();
        let uncertainty = model.uncertainty()?;
        let n = test.len() as f64;
        let mean = test.iter().map(|row| row[dim]).sum::<f64>() / n;
        let (mut error, mut spread, mut covered) = (0.0, 0.0, 0.0);
        for row in test {
            let prediction = uncertainty.at(&row[..dim])?;
            let (low, high) = prediction.interval(0.95)?;
            error += (prediction.value - row[dim]).powi(2);
            spread += (row[dim] - mean).powi(2);
            covered += f64::from(u8::from(low <= row[dim] && row[dim] <= high)) / n;
        }
        let error = (error / spread).sqrt();
        let of = |processes: bool| -> Vec<f64> {
            let wanted = |name: &str| {
                ROBUST_PROCESSES.contains(&name) == processes && !name.starts_with(OURS)
            };
            rivals.iter().filter(|(name, _)| wanted(name)).map(|&(_, error)| error).collect()
        };
        let least = |errors: &[f64]| errors.iter().copied().fold(f64::INFINITY, f64::min);
        let (classical, processes) = (of(false), of(true));
        let is_wrong = |index: usize| train[index][dim + 1] != 0.0;
        let found = model.outliers().iter().filter(|o| is_wrong(o.index)).count();
        Ok(Self {
            problem,
            points: y.len(),
            seconds,
            to_best: error / least(&classical),
            to_processes: (!processes.is_empty()).then(|| error / least(&processes)),
            rank: 1 + classical.iter().filter(|&&rival| rival < error).count(),
            wrong: (0..y.len()).filter(|&i| is_wrong(i)).count(),
            found,
            false_alarms: model.outliers().len() - found,
            covered,
        })
    }
}

fn print(cells: &[Cell]) {
    let mut by_problem: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    for cell in cells {
        by_problem.entry(&cell.problem).or_default().push(cell);
    }
    println!(
        "| problem | n | RMSE / best rival | mean rank | precision | recall | clean, flagged | covered by 95 % | ms a fit |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (problem, cells) in by_problem {
        row(problem, &cells);
    }
    row("**all**", &cells.iter().collect::<Vec<_>>());
    let processes: Vec<f64> = cells.iter().filter_map(|cell| cell.to_processes).collect();
    if !processes.is_empty() {
        println!(
            "\nTo the better of {}: {:.2}",
            ROBUST_PROCESSES.join(" and "),
            mean_ratio(&processes)
        );
    }
}

fn row(name: &str, cells: &[&Cell]) {
    let count = cells.len() as f64;
    let ratios: Vec<f64> = cells.iter().map(|cell| cell.to_best).collect();
    let sum = |of: &dyn Fn(&Cell) -> f64| cells.iter().map(|cell| of(cell)).sum::<f64>();
    let dirty = |of: &dyn Fn(&Cell) -> usize| {
        cells.iter().filter(|cell| cell.wrong > 0).map(|cell| of(cell)).sum::<usize>() as f64
    };
    let found = dirty(&|cell| cell.found);
    let clean: Vec<&&Cell> = cells.iter().filter(|cell| cell.wrong == 0).collect();
    let flagged = clean.iter().map(|c| c.false_alarms as f64 / c.points as f64).sum::<f64>();
    println!(
        "| {name} | {:.0} | {:.2} | {:.1} | {:.3} | {:.3} | {:.1} % | {:.3} | {:.0} |",
        sum(&|cell| cell.points as f64) / count,
        mean_ratio(&ratios),
        sum(&|cell| cell.rank as f64) / count,
        found / (found + dirty(&|cell| cell.false_alarms)),
        found / dirty(&|cell| cell.wrong),
        100.0 * flagged / clean.len().max(1) as f64,
        sum(&|cell| cell.covered) / count,
        1e3 * sum(&|cell| cell.seconds) / count,
    );
}

/// The geometric mean.
fn mean_ratio(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// The numbers of a CSV file below its header.
fn table(path: &Path) -> Outcome<Vec<Vec<f64>>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let rows = text.lines().skip(1).map(|line| line.split(',').map(|c| c.trim().parse()).collect());
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Errors by problem and contamination.
fn rivals(path: &Path) -> Outcome<Rivals> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut rivals = Rivals::new();
    for line in text.lines().skip(1) {
        let [problem, contamination, method, error] = line.split(',').collect::<Vec<_>>()[..]
        else {
            return Err(format!("{}: {line}: four cells are needed", path.display()).into());
        };
        let cell = (problem.to_owned(), contamination.to_owned());
        rivals.entry(cell).or_default().push((method.to_owned(), error.trim().parse()?));
    }
    Ok(rivals)
}
