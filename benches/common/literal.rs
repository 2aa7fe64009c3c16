//! Algorithm 1 in the regions of an image as the paper prints it: the normal
//! equations of K, the bias and the outliers so far, factored anew at each step.
//!
//! On this crate's linear algebra, and with what does not depend on the pixels
//! computed once, so that only the method is slow.

use kgard::linalg::{cholesky, multiply, self_product, self_product_scratch_len};
use kgard::{Gaussian, Points, kernel};

/// What the regions of an image share.
pub struct Literal {
    n: usize,
    /// The rows of K, then ones for the bias.
    design: Vec<f32>,
    /// The normal matrix without outliers, its lower half.
    normal: Vec<f32>,
}

impl Literal {
    /// Regions of `side` x `side` pixels, the l2 penalty.
    pub fn new(side: usize, sigma: f32, lambda: f32) -> Self {
        let n = side * side;
        let m = n + 1;
        let at = |i: usize| i as f32 / (side - 1) as f32;
        let points: Vec<f32> = (0..n).flat_map(|i| [at(i / side), at(i % side)]).collect();
        let mut design = vec![1.0; m * n];
        let points = Points::new(&points, 2).unwrap();
        kernel::gram(points, &Gaussian::new(sigma), &mut design[..n * n]).unwrap();
        let mut normal = vec![0.0; m * m];
        for i in 0..m {
            normal[i * m + i] = lambda;
        }
        let mut scratch = vec![0.0; self_product_scratch_len::<f32>(n)];
        self_product(&design, m, &mut normal, &mut scratch).unwrap();
        Self { n, design, normal }
    }

    /// How many outliers are taken out of `y` until no residual exceeds
    /// `epsilon`.
    pub fn outliers(&self, y: &[f32], epsilon: f32) -> usize {
        let (n, m) = (self.n, self.n + 1);
        let mut support: Vec<usize> = Vec::new();
        let mut xty = vec![0.0; m];
        multiply(&self.design, y, &mut xty).unwrap();
        loop {
            let size = m + support.len();
            let mut matrix = vec![0.0; size * size];
            for i in 0..m {
                matrix[i * size..][..=i].copy_from_slice(&self.normal[i * m..][..=i]);
            }
            // An outlier's column of X is a unit vector.
            for (t, &j) in support.iter().enumerate() {
                let row = &mut matrix[(m + t) * size..];
                for (x, design) in row.iter_mut().zip(self.design.chunks_exact(n)) {
                    *x = design[j];
                }
                row[m + t] = 1.0;
            }
            let mut scratch = vec![0.0; cholesky::factor_scratch_len::<f32>(size)];
            cholesky::factor(&mut matrix, size, &mut scratch).unwrap();
            let mut z = xty.clone();
            z.extend(support.iter().map(|&j| y[j]));
            cholesky::solve_lower(&matrix, &mut z).unwrap();
            cholesky::solve_upper(&matrix, &mut z).unwrap();
            // K is symmetric, so that its rows are the columns of X as well.
            let mut residual = vec![0.0; n];
            multiply(&self.design[..n * n], &z[..n], &mut residual).unwrap();
            for (r, y) in residual.iter_mut().zip(y) {
                *r = y - *r - z[n];
            }
            for (&j, u) in support.iter().zip(&z[m..]) {
                residual[j] -= u;
            }
            let largest = (0..n)
                .filter(|j| !support.contains(j))
                .max_by(|&a, &b| residual[a].abs().total_cmp(&residual[b].abs()));
            match largest {
                Some(j) if residual[j].abs() > epsilon => support.push(j),
                _ => return support.len(),
            }
        }
    }
}
