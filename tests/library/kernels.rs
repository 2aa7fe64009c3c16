//! Kernels against their formulas, and their Gram matrices.
use crate::common;

use approx::assert_relative_eq;
use common::problem::Random;
use kgard::kernel::{cross_gram, gram};
use kgard::{
    Cosine, Gaussian, Kernel, Laplacian, Linear, Matern12, Matern32, Matern52, PerInput, Periodic,
    Points, Polynomial, RationalQuadratic, Shape,
};

const A: [f64; 3] = [0.1, -0.4, 0.7];
const B: [f64; 3] = [0.3, 0.2, 0.4];
// |A - B|^2 = 0.04 + 0.36 + 0.09, |A - B|_1 = 0.2 + 0.6 + 0.3, A.B = 0.03 - 0.08 + 0.28.
const SQUARED: f64 = 0.49;
const MANHATTAN: f64 = 1.1;
const INNER: f64 = 0.23;

#[test]
fn formulas() {
    let d = 0.7;
    let cases: [(f64, f64); 7] = [
        (Gaussian::new(0.5).evaluate(&A, &B), (-SQUARED / 0.25).exp()),
        (Laplacian::new(0.5).evaluate(&A, &B), (-MANHATTAN / 0.5).exp()),
        (
            Matern32::new(0.5).evaluate(&A, &B),
            (1.0 + 3f64.sqrt() * d / 0.5) * (-(3f64.sqrt()) * d / 0.5).exp(),
        ),
        (
            Matern52::new(0.5).evaluate(&A, &B),
            (1.0 + 5f64.sqrt() * d / 0.5 + 5.0 * SQUARED / (3.0 * 0.25))
                * (-(5f64.sqrt()) * d / 0.5).exp(),
        ),
        (
            RationalQuadratic::new(0.5, 2.0).evaluate(&A, &B),
            (1.0 + SQUARED / (2.0 * 2.0 * 0.25)).powf(-2.0),
        ),
        (Polynomial::new(2.0, 1.0, 3).evaluate(&A, &B), (2.0 * INNER + 1.0).powi(3)),
        (Linear.evaluate(&A, &B), INNER),
    ];
    for (ours, formula) in cases {
        assert_relative_eq!(ours, formula, max_relative = 1e-14);
    }
    let sum = Gaussian::new(0.5).plus(Linear).scaled(3.0);
    assert_relative_eq!(sum.evaluate(&A, &B), 3.0 * ((-SQUARED / 0.25).exp() + INNER));
    let product = Gaussian::new(0.5).times(Linear);
    assert_relative_eq!(product.evaluate(&A, &B), (-SQUARED / 0.25).exp() * INNER);
}

#[test]
fn gram_matrices_are_symmetric_and_positive_semi_definite() {
    fn check(kernel: &impl Kernel<f64>) {
        let mut random = Random(1);
        let n = 40;
        let x: Vec<f64> = (0..2 * n).map(|_| random.normal()).collect();
        let points = Points::new(&x, 2).unwrap();
        let mut k = vec![0.0; n * n];
        gram(points, kernel, &mut k).unwrap();
        let mut cross = vec![0.0; n * n];
        cross_gram(points, points, kernel, &mut cross).unwrap();
        assert_eq!(k, cross);
        let matrix = faer::Mat::from_fn(n, n, |i, j| k[i * n + j]);
        assert_eq!(matrix, matrix.transpose());
        let values = matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        assert!(values[0] > -1e-12 * values[n - 1], "{}", values[0]);
    }
    check(&Gaussian::new(0.7));
    check(&Laplacian::new(0.7));
    check(&Matern12::new(0.7));
    check(&Matern32::new(0.7));
    check(&Periodic::per_input([0.7, 3.0]).with_width(0.6));
    check(&Cosine::per_input([0.7, 3.0]));
    check(&PerInput::new(Shape::Matern32, [0.7, 3.0]));
    check(&Matern52::new(0.7));
    check(&RationalQuadratic::new(0.7, 1.5));
    check(&Polynomial::new(0.5, 1.0, 3));
    check(&Linear);
    check(&Gaussian::new(0.7).plus(Linear).times(Matern32::new(2.0)));
}

#[test]
fn many_dimensions() {
    for dim in [1, 2, 5, 64] {
        let a = vec![0.5; dim];
        let b = vec![0.25; dim];
        let expected = (-(dim as f64) * 0.0625 / 4.0).exp();
        assert_relative_eq!(Gaussian::new(2.0).evaluate(&a, &b), expected, max_relative = 1e-14);
    }
}
