//! The linear algebra against faer and nalgebra.
use crate::common;

use common::problem::Random;
use kgard::linalg::{cholesky, eigen, multiply, self_product, self_product_scratch_len};
use kgard::{Error, Real};
use proptest::prelude::*;

/// Sizes around every boundary of the blocked code: lanes 4, 8, 16, tiles of
/// four rows, blocks of 128, bands of 64.
const SIZES: [usize; 22] =
    [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 144, 200, 257, 300];

/// A random symmetric positive definite matrix whose smallest eigenvalue is
/// about `floor` and whose largest is about one.
fn positive_definite(n: usize, floor: f64, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    let g: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum();
            a[i * n + j] = sum / (4 * n) as f64 + if i == j { floor } else { 0.0 };
            a[j * n + i] = a[i * n + j];
        }
    }
    a
}

fn narrow<T: Real>(a: &[f64]) -> Vec<T> {
    a.iter().map(|&x| T::from(x).unwrap()).collect()
}

fn factor<T: Real>(a: &[T], n: usize) -> Result<Vec<T>, Error> {
    let mut l = a.to_vec();
    let mut scratch = vec![T::nan(); cholesky::factor_scratch_len::<T>(n)];
    cholesky::factor(&mut l, n, &mut scratch)?;
    Ok(l)
}

#[test]
fn factor_equals_faer_and_nalgebra() {
    for n in SIZES {
        let a = positive_definite(n, 0.1, n as u64);
        let ours = factor(&a, n).unwrap();
        let faer = faer::Mat::from_fn(n, n, |i, j| a[i * n + j]).llt(faer::Side::Lower).unwrap();
        let nalgebra = nalgebra::DMatrix::from_row_slice(n, n, &a).cholesky().unwrap().unpack();
        let single = factor(&narrow::<f32>(&a), n).unwrap();
        for i in 0..n {
            for j in 0..=i {
                let x = ours[i * n + j];
                assert!((x - faer.L()[(i, j)]).abs() < 1e-13, "n = {n} ({i}, {j})");
                assert!((x - nalgebra[(i, j)]).abs() < 1e-13, "n = {n} ({i}, {j})");
                assert!((x - f64::from(single[i * n + j])).abs() < 3e-5, "n = {n} ({i}, {j})");
            }
            // The strictly upper triangle is not touched.
            for j in i + 1..n {
                assert_eq!(ours[i * n + j], a[i * n + j]);
            }
        }
    }
}

/// With a condition number near 1/epsilon the factors differ, but each must
/// reproduce the matrix to rounding.
#[test]
fn ill_conditioned_matrices_are_reproduced() {
    fn check<T: Real>(a: &[f64], n: usize, tolerance: f64) {
        let a = narrow::<T>(a);
        let l = factor(&a, n).unwrap();
        for i in 0..n {
            for j in 0..=i {
                let sum = (0..=j).fold(T::zero(), |s, k| s + l[i * n + k] * l[j * n + k]);
                let error = (sum - a[i * n + j]).abs().to_f64().unwrap();
                assert!(error < tolerance, "n = {n} ({i}, {j}): {error:e}");
            }
        }
    }
    for n in [5, 20, 64, 200] {
        // A Gaussian Gram matrix is singular to rounding; lambda lifts it.
        let gram = |lambda: f64| -> Vec<f64> {
            (0..n * n)
                .map(|e| {
                    let d = ((e / n) as f64 - (e % n) as f64) / 8.0;
                    (-d * d).exp() + if e / n == e % n { lambda } else { 0.0 }
                })
                .collect()
        };
        check::<f64>(&gram(1e-12), n, 1e-14 * n as f64);
        check::<f32>(&gram(1e-4), n, 1e-6 * n as f64);
    }
}

#[test]
fn solves_and_inverse_equal_faer() {
    for n in SIZES {
        let a = positive_definite(n, 0.1, 100 + n as u64);
        let l = factor(&a, n).unwrap();
        use faer::linalg::solvers::DenseSolveCore;
        let llt = faer::Mat::from_fn(n, n, |i, j| a[i * n + j]).llt(faer::Side::Lower).unwrap();
        let theirs = llt.inverse();
        let mut inverse = l.clone();
        let mut scratch = vec![f64::NAN; cholesky::invert_scratch_len::<f64>(n)];
        cholesky::invert(&mut inverse, n, &mut scratch).unwrap();
        let mut single = factor(&narrow::<f32>(&a), n).unwrap();
        let mut scratch = vec![f32::NAN; cholesky::invert_scratch_len::<f32>(n)];
        cholesky::invert(&mut single, n, &mut scratch).unwrap();
        for j in 0..n {
            let mut unit = vec![0.0; n];
            cholesky::solve_unit(&l, j, &mut unit).unwrap();
            let mut solved = vec![0.0; n];
            solved[j] = 1.0;
            cholesky::solve(&l, &mut solved).unwrap();
            let mut halves = vec![0.0; n];
            halves[j] = 1.0;
            cholesky::solve_lower(&l, &mut halves).unwrap();
            cholesky::solve_upper(&l, &mut halves).unwrap();
            for i in 0..n {
                let expected = theirs[(i, j)];
                for x in [inverse[i * n + j], unit[i], solved[i], halves[i]] {
                    assert!((x - expected).abs() < 1e-12, "n = {n} ({i}, {j})");
                }
                assert!((f64::from(single[i * n + j]) - expected).abs() < 1e-3);
                assert_eq!(inverse[i * n + j], inverse[j * n + i], "exactly symmetric");
            }
        }
        let mut diagonal = vec![0.0; n];
        let mut scratch = vec![f64::NAN; cholesky::inverse_diagonal_scratch_len::<f64>(n)];
        cholesky::inverse_diagonal(&l, &mut diagonal, &mut scratch).unwrap();
        for i in 0..n {
            assert!((diagonal[i] - theirs[(i, i)]).abs() < 1e-12, "n = {n} ({i}, {i})");
        }
    }
}

#[test]
fn extension_equals_the_factor_of_the_whole() {
    fn check<T: Real>(a: &[f64], n: usize, tolerance: f64) {
        let a = narrow::<T>(a);
        let whole = factor(&a, n).unwrap();
        let mut memory = vec![T::nan(); cholesky::Extending::<T>::len(n)];
        let mut extending = cholesky::Extending::new(&mut memory);
        for k in 0..n {
            let column: Vec<T> = (0..k).map(|i| a[i * n + k]).collect();
            extending.push(&column, a[k * n + k]).unwrap();
        }
        assert_eq!(extending.size(), n);
        let mut x = vec![T::one(); n];
        extending.solve(&mut x).unwrap();
        let mut y = vec![T::one(); n];
        cholesky::solve(&whole, &mut y).unwrap();
        let largest = y.iter().fold(T::one(), |m, y| m.max(y.abs()));
        for i in 0..n {
            assert!(((x[i] - y[i]) / largest).abs().to_f64().unwrap() < tolerance);
            for j in 0..=i {
                let entry = memory[cholesky::Extending::<T>::len(i) + j];
                assert!((entry - whole[i * n + j]).abs().to_f64().unwrap() < tolerance);
            }
        }
    }
    for n in [1, 2, 8, 33, 60] {
        for floor in [0.1, 1e-3] {
            let a = positive_definite(n, floor, n as u64);
            check::<f64>(&a, n, 1e-11);
            check::<f32>(&a, n, 2e-3);
        }
    }
}

#[test]
fn extension_refuses_what_is_not_positive_definite() {
    let mut memory = [0.0; 3];
    let mut factor = cholesky::Extending::new(&mut memory);
    factor.push(&[], 4.0).unwrap();
    // A dependent column: the Schur complement is zero.
    let error = factor.push(&[4.0], 4.0).unwrap_err();
    assert_eq!(error, Error::NotPositiveDefinite { pivot: 1, value: 0.0 });
    assert_eq!(factor.size(), 1, "the factor stays as it was");
    factor.push(&[2.0], 10.0).unwrap();
    let full = factor.push(&[0.0, 0.0], 1.0).unwrap_err();
    assert_eq!(full, Error::TooShort { what: "memory of the factor", needed: 6, found: 3 });
}

#[test]
fn a_bad_pivot_is_named() {
    for n in [3, 20, 150, 300] {
        for bad in [0, n / 2, n - 1] {
            let mut a = positive_definite(n, 0.5, 3);
            a[bad * n + bad] = -1.0;
            match factor(&a, n) {
                Err(Error::NotPositiveDefinite { pivot, value }) => {
                    assert_eq!(pivot, bad);
                    assert!(value <= -1.0);
                }
                other => panic!("{other:?}"),
            }
            a[bad * n + bad] = f64::NAN;
            match factor(&a, n) {
                Err(Error::NotPositiveDefinite { pivot, value }) => {
                    assert_eq!(pivot, bad);
                    assert!(value.is_nan());
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let message = Error::NotPositiveDefinite { pivot: 17, value: -0.25 }.to_string();
    assert!(message.contains("pivot 17") && message.contains("raise lambda"), "{message}");
}

#[test]
fn products() {
    for (n, depth) in [(1, 1), (5, 3), (17, 40), (70, 300), (33, 512)] {
        let mut random = Random(9);
        let a: Vec<f64> = (0..n * depth).map(|_| random.normal()).collect();
        let mut out = vec![1.0; n * n];
        let mut scratch = vec![f64::NAN; self_product_scratch_len::<f64>(depth)];
        self_product(&a, n, &mut out, &mut scratch).unwrap();
        let row = |i: usize| &a[i * depth..][..depth];
        for i in 0..n {
            for j in 0..n {
                let sum: f64 = row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum();
                let expected = if j <= i { 1.0 + sum } else { 1.0 };
                assert!((out[i * n + j] - expected).abs() < 1e-11 * depth as f64);
            }
        }
        let x: Vec<f64> = (0..depth).map(|_| random.normal()).collect();
        let mut y = vec![0.0; n];
        multiply(&a, &x, &mut y).unwrap();
        for i in 0..n {
            let sum: f64 = row(i).iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((y[i] - sum).abs() < 1e-12 * depth as f64);
        }
    }
}

#[test]
fn eigenvalues_equal_faer() {
    for n in SIZES {
        let a = positive_definite(n, 0.0, 7 * n as u64);
        let mut vectors = a.clone();
        let mut values = vec![0.0; n];
        let mut scratch = vec![f64::NAN; eigen::symmetric_scratch_len(n)];
        eigen::symmetric(&mut vectors, n, &mut values, &mut scratch).unwrap();
        let theirs = faer::Mat::from_fn(n, n, |i, j| a[i * n + j])
            .self_adjoint_eigenvalues(faer::Side::Lower)
            .unwrap();
        for i in 0..n {
            assert!((values[i] - theirs[n - 1 - i]).abs() < 1e-13 * n as f64, "n = {n}");
            let v = &vectors[i * n..][..n];
            for r in 0..n {
                let av: f64 = (0..n).map(|c| a[r * n + c] * v[c]).sum();
                assert!((av - values[i] * v[r]).abs() < 1e-12 * n as f64, "n = {n}");
            }
            for j in 0..=i {
                let dot: f64 = v.iter().zip(&vectors[j * n..][..n]).map(|(x, y)| x * y).sum();
                assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-12 * n as f64);
            }
        }
    }
}

#[test]
fn eigenvalues_of_awkward_matrices() {
    let decompose = |mut a: Vec<f64>, n: usize| {
        let mut values = vec![0.0; n];
        let mut scratch = vec![0.0; eigen::symmetric_scratch_len(n)];
        eigen::symmetric(&mut a, n, &mut values, &mut scratch).map(|()| values)
    };
    assert_eq!(decompose(vec![0.0; 25], 5).unwrap(), vec![0.0; 5]);
    let identity: Vec<f64> = (0..36).map(|e| f64::from(u8::from(e / 6 == e % 6))).collect();
    assert_eq!(decompose(identity, 6).unwrap(), vec![1.0; 6]);
    // Rank one, of huge and of tiny entries.
    for scale in [1e150, 1e-150] {
        let values = decompose(vec![scale; 100], 10).unwrap();
        assert!((values[0] / (10.0 * scale) - 1.0).abs() < 1e-14);
        assert!(values[1..].iter().all(|v| v.abs() < 1e-14 * scale));
    }
    let mut bad = vec![1.0; 9];
    bad[4] = f64::INFINITY;
    assert!(matches!(decompose(bad, 3), Err(Error::NotFinite { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_systems_are_solved(n in 1usize..180, floor in 1e-4..1.0f64, seed in any::<u64>()) {
        let a = positive_definite(n, floor, seed);
        let l = factor(&a, n).unwrap();
        let mut random = Random(seed ^ 1);
        let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mut b: Vec<f64> =
            (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
        cholesky::solve(&l, &mut b).unwrap();
        for i in 0..n {
            prop_assert!((b[i] - x[i]).abs() < 1e-8, "n = {}", n);
        }
    }
}
