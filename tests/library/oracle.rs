//! The oracle of the other tests, against solvers that nobody here wrote.
use crate::common;

use common::oracle::{self, Penalty};
use common::problem::{Problem, Random};
use faer::linalg::solvers::Solve;
use kgard::Matern32;

#[test]
fn gaussian_elimination_equals_faer() {
    for n in [1, 2, 7, 40] {
        let mut random = Random(n as u64);
        let a: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
        let b: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let matrix = faer::Mat::from_fn(n, n, |i, j| a[i * n + j]);
        let rhs = faer::Mat::from_fn(n, 1, |i, _| b[i]);
        let theirs = matrix.full_piv_lu().solve(&rhs);
        let ours = oracle::gauss(a, b);
        for i in 0..n {
            assert!((ours[i] - theirs[(i, 0)]).abs() < 1e-9 * (1.0 + theirs[(i, 0)].abs()));
        }
    }
}

/// The minimiser of `|y - X z|^2 + z^T lambda B z` by a least-squares QR of the
/// stacked matrix, from faer, instead of the normal equations.
#[test]
fn one_step_equals_least_squares_of_faer() {
    let problem = Problem::new(25, 2, 3, 0.1, 4);
    let n = problem.n();
    let mut k = vec![0.0; n * n];
    kgard::kernel::gram(problem.points(), &Matern32::new(0.4), &mut k).unwrap();
    let lambda = 0.3_f64;
    let support = [3, 17];
    let mut p = vec![0.0; n * n];
    (0..n).for_each(|i| p[i * n + i] = lambda);
    let penalty = Penalty::Quadratic { p, d_c: lambda };
    let state = oracle::solve_step(&k, &problem.y, &penalty, true, &support);

    let columns = n + 1 + support.len();
    let stacked = faer::Mat::from_fn(n + n + 1, columns, |i, j| {
        if i < n {
            match j {
                j if j < n => k[i * n + j],
                j if j == n => 1.0,
                j => f64::from(support[j - n - 1] == i),
            }
        } else if i - n == j {
            lambda.sqrt()
        } else {
            0.0
        }
    });
    let rhs = faer::Mat::from_fn(n + n + 1, 1, |i, _| if i < n { problem.y[i] } else { 0.0 });
    use faer::linalg::solvers::SolveLstsq;
    let z = stacked.qr().solve_lstsq(&rhs);
    for i in 0..n {
        assert!((state.alpha[i] - z[(i, 0)]).abs() < 1e-9);
    }
    assert!((state.c - z[(n, 0)]).abs() < 1e-9);
    for s in 0..support.len() {
        assert!((state.u[s] - z[(n + 1 + s, 0)]).abs() < 1e-9);
    }
}
