//! Ridge regression held to scikit-learn's; `data/kernel_ridge.py` tells how
//! its figures were made.

use kgard::{Fit, Gaussian, Plan, Points, Regularizer, Stop};

const SIGMA: f64 = 0.7;
const LAMBDA: f64 = 0.3;

/// The columns of the file.
struct Table {
    names: Vec<&'static str>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read() -> Self {
        let mut lines = include_str!("../data/kernel_ridge.csv").lines();
        let names = lines.next().unwrap().split(',').collect();
        let rows = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect());
        Self { names, rows: rows.collect() }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|n| *n == name).unwrap();
        self.rows.iter().map(|row| row[at]).collect()
    }
}

#[track_caller]
fn close(ours: &[f64], theirs: &[f64], what: &str) {
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).abs() < 1e-9 * (1.0 + theirs.abs()), "{what}: {ours} {theirs}");
    }
}

/// On a plan and without one.
fn both(table: &Table, regularizer: Regularizer<'_, f64>) -> [Fit<f64, Gaussian<f64>>; 2] {
    let (x1, x2, y) = (table.column("x1"), table.column("x2"), table.column("y"));
    let x: Vec<f64> = x1.into_iter().zip(x2).flat_map(|(a, b)| [a, b]).collect();
    let points = Points::new(&x, 2).unwrap();
    let kernel = Gaussian::new(SIGMA);
    let planned = Plan::new(points, kernel, regularizer).unwrap().ridge(&y).unwrap();
    let alone = kgard::fit(points, &y, kernel, regularizer, Stop::count(0)).unwrap();
    [planned, alone]
}

#[test]
fn without_a_bias() {
    let table = Table::read();
    for (regularizer, name) in [
        (Regularizer::rkhs(LAMBDA).without_bias(), "rkhs_free"),
        (Regularizer::l2(LAMBDA).without_bias(), "l2_free"),
    ] {
        for fit in both(&table, regularizer) {
            close(fit.fitted(), &table.column(name), name);
            close(fit.coefficients(), &table.column(&format!("{name}_alpha")), name);
            assert!(fit.bias().abs() < 1e-15);
        }
    }
}

#[test]
fn with_a_bias() {
    let table = Table::read();
    for (regularizer, name) in
        [(Regularizer::rkhs(LAMBDA), "rkhs"), (Regularizer::l2(LAMBDA), "l2")]
    {
        for fit in both(&table, regularizer) {
            close(fit.fitted(), &table.column(name), name);
            close(&[fit.bias()], &table.column(&format!("{name}_bias"))[..1], name);
        }
    }
    for fit in both(&table, Regularizer::l2(LAMBDA)) {
        close(fit.coefficients(), &table.column("l2_alpha"), "l2");
    }
}
