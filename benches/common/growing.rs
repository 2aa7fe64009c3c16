//! The implementation that the paper proposes ("Efficient Implementations"),
//! on this crate's linear algebra: one Cholesky factor of the normal matrix
//! of size n + 1, which grows by a row with each outlier.
//!
//! As fast as it goes: the forward substitution of the right-hand side is
//! carried along instead of being repeated.

use kgard::linalg::{cholesky, multiply, self_product, self_product_scratch_len};
use kgard::{Gaussian, kernel};

/// The indices of `k` outliers, in order of selection.
pub fn fit(
    x: &[f64],
    y: &[f64],
    kernel: &Gaussian<f64>,
    lambda: f64,
    rkhs: bool,
    k: usize,
) -> Vec<usize> {
    let n = y.len();
    let m = n + 1;
    // X_0^T = [K; 1^T], as rows.
    let mut design = vec![1.0; m * n];
    kernel::gram(x, kernel, &mut design[..n * n]).unwrap();
    // M_0 = X_0^T X_0 + lambda B.
    let mut factor = vec![0.0; m * m];
    for i in 0..n {
        for j in 0..=i {
            factor[i * m + j] = match (rkhs, i == j) {
                (true, _) => lambda * design[i * n + j],
                (false, true) => lambda,
                (false, false) => 0.0,
            };
        }
    }
    if !rkhs {
        factor[m * m - 1] = lambda;
    }
    let scratch_len =
        self_product_scratch_len::<f64>(n).max(cholesky::factor_scratch_len::<f64>(m));
    let mut scratch = vec![0.0; scratch_len];
    self_product(&design, m, &mut factor, &mut scratch).unwrap();
    if rkhs {
        // A Gaussian Gram matrix is singular to rounding, and so is M_0.
        for i in 0..n {
            factor[i * m + i] += 1e-10;
        }
    }
    cholesky::factor(&mut factor, m, &mut scratch).unwrap();

    // p = L^-1 X^T y, z = L^-T p, r = y - X z.
    let mut p = vec![0.0; m];
    multiply(&design, y, &mut p).unwrap();
    cholesky::solve_lower(&factor, &mut p).unwrap();
    let mut rows: Vec<Vec<f64>> = Vec::new(); // the rows [d^T b] below L_0
    let mut support = Vec::new();
    let mut z = vec![0.0; m + k];
    let mut r = vec![0.0; n];
    loop {
        let size = m + support.len();
        z[..size].copy_from_slice(&p);
        for t in (0..support.len()).rev() {
            let row: &Vec<f64> = &rows[t];
            z[m + t] /= row[m + t];
            let u = z[m + t];
            for (z, l) in z.iter_mut().zip(&row[..m + t]) {
                *z -= l * u;
            }
        }
        cholesky::solve_upper(&factor, &mut z[..m]).unwrap();
        // K is symmetric, so its rows are the columns of X_0.
        multiply(&design[..n * n], &z[..n], &mut r).unwrap();
        for (r, y) in r.iter_mut().zip(y) {
            *r = y - *r - z[n];
        }
        for (t, &s) in support.iter().enumerate() {
            r[s] -= z[m + t];
        }
        if support.len() == k {
            return support;
        }
        let j = (0..n)
            .filter(|j| !support.contains(j))
            .max_by(|&a, &b| r[a].abs().total_cmp(&r[b].abs()))
            .unwrap();
        // L d = X^T e_j, b = sqrt(1 - |d|^2).
        let mut d = vec![0.0; size + 1];
        for (d, row) in d.iter_mut().zip(design.chunks_exact(n)) {
            *d = row[j];
        }
        cholesky::solve_lower(&factor, &mut d[..m]).unwrap();
        for t in 0..support.len() {
            let row = &rows[t];
            let known: f64 = row[..m + t].iter().zip(&d).map(|(l, d)| l * d).sum();
            d[m + t] = -known / row[m + t];
        }
        let b = (1.0 - d.iter().map(|d| d * d).sum::<f64>()).sqrt();
        let known: f64 = d.iter().zip(&p).map(|(d, p)| d * p).sum();
        p.push((y[j] - known) / b);
        d[size] = b;
        rows.push(d);
        support.push(j);
    }
}
