//! Plans that leave the machine: bytes and Rust source.
use crate::common;

use common::problem::Problem;
use kgard::{
    Error, Gaussian, HalfPlanRef, Plan, PlanBytes, PlanRef, Regularizer, ResidualMaker, Stop,
    Workspace,
};

fn plans(n: usize) -> Vec<Plan<f64, Gaussian<f64>>> {
    let problem = Problem::new(n, 2, 3, 0.1, 8);
    [Regularizer::l2(0.2), Regularizer::rkhs(0.2), Regularizer::rkhs(0.2).without_bias()]
        .map(|regularizer| Plan::new(problem.points(), Gaussian::new(0.4), regularizer).unwrap())
        .into()
}

/// Bytes at an address that is a multiple of eight, plus `offset`.
fn aligned(bytes: &[u8], offset: usize) -> (Vec<u64>, usize) {
    let mut words = vec![0_u64; bytes.len() / 8 + 2];
    bytemuck::cast_slice_mut::<u64, u8>(&mut words)[offset..][..bytes.len()].copy_from_slice(bytes);
    (words, offset)
}

fn with_bytes<R>(bytes: &[u8], offset: usize, f: impl FnOnce(&[u8]) -> R) -> R {
    let (words, offset) = aligned(bytes, offset);
    f(&bytemuck::cast_slice::<u64, u8>(&words)[offset..][..bytes.len()])
}

#[test]
fn bytes_are_borrowed_as_the_same_plan() {
    for plan in plans(20) {
        with_bytes(&plan.to_bytes(), 0, |bytes| {
            let (borrowed, points) = PlanRef::<f64>::from_bytes(bytes).unwrap();
            assert_eq!(borrowed, plan.as_ref());
            assert_eq!(points, plan.points());
            // Borrowed, not copied.
            let inside = bytes.as_ptr_range();
            assert!(inside.contains(&borrowed.residual_maker().as_ptr().cast()));
        });
        let narrow = plan.cast(Gaussian::new(0.4_f32)).unwrap();
        with_bytes(&narrow.to_bytes(), 0, |bytes| {
            let (borrowed, points) = PlanRef::<f32>::from_bytes(bytes).unwrap();
            assert_eq!(borrowed, narrow.as_ref());
            assert_eq!(points, narrow.points());
        });
    }
}

#[test]
fn a_c_header_has_the_same_bytes() {
    for plan in plans(7) {
        let plan = plan.cast::<f32, _>(Gaussian::new(0.4)).unwrap();
        let header = plan.to_c_header("8-bit plan", "A title\n*/ of two lines");
        assert_eq!(header.matches("*/").count(), 3, "{header}");
        assert!(
            header.contains("#define _8_BIT_PLAN_N 7\n#define _8_BIT_PLAN_DIM 2\n"),
            "{header}"
        );
        let (_, words) = header.split_once("static const uint64_t _8_bit_plan_data[] = {").unwrap();
        let word = |text: &str| {
            let digits = text.trim().strip_prefix("0x").unwrap().strip_suffix('u').unwrap();
            u64::from_str_radix(digits, 16).unwrap()
        };
        let (words, _) = words.split_once("};").unwrap();
        let words = words.split(',').filter(|text| !text.trim().is_empty()).map(word);
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let expected = plan.to_bytes();
        assert!(header.contains(&format!("#define _8_BIT_PLAN_BYTES {}\n", expected.len())));
        assert!(bytes.len() < expected.len() + 8);
        bytes.truncate(expected.len());
        assert_eq!(bytes, expected);
        assert_eq!(PlanBytes::new(&bytes).unwrap().shape(), (7, 2));
    }
}

#[test]
fn bytes_are_checked_once_and_opened_often() {
    for plan in plans(9) {
        with_bytes(&plan.to_bytes(), 0, |bytes| {
            let checked = PlanBytes::new(bytes).unwrap();
            for _ in 0..2 {
                assert_eq!(checked.open::<f64>().unwrap().0, plan.as_ref());
            }
            assert!(checked.open::<f32>().unwrap_err().to_string().contains("scalar type"));
        });
        with_bytes(&plan.to_bytes(), 3, |bytes| {
            let checked = PlanBytes::new(bytes).unwrap();
            assert!(checked.open::<f64>().unwrap_err().to_string().contains("include_plan!"));
        });
    }
}

#[test]
fn wrong_bytes_are_refused() {
    let plan = &plans(6)[0];
    let good = plan.to_bytes();
    let refused = |bytes: &[u8]| {
        with_bytes(bytes, 0, |bytes| match PlanRef::<f64>::from_bytes(bytes) {
            Err(Error::Format { what }) => what,
            other => panic!("{other:?}"),
        })
    };
    assert!(refused(&[]).contains("begin"));
    assert!(refused(b"not a plan at all, but long enough to be one.......").contains("begin"));
    // Cut off anywhere, longer, or with any single bit flipped.
    for len in 0..good.len() {
        refused(&good[..len]);
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(refused(&longer).contains("length"));
    for byte in 0..good.len() {
        for bit in 0..8 {
            let mut damaged = good.clone();
            damaged[byte] ^= 1 << bit;
            refused(&damaged);
        }
    }
    // Sizes that overflow when multiplied.
    let mut hostile = good.clone();
    hostile[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(refused(&hostile).contains("length"));
    hostile[24..32].copy_from_slice(&(1_u64 << 32).to_le_bytes());
    assert!(refused(&hostile).contains("length"));
    // Another scalar type, another version, another alignment.
    with_bytes(&good, 0, |bytes| {
        let error = PlanRef::<f32>::from_bytes(bytes).unwrap_err();
        assert!(error.to_string().contains("scalar type"), "{error}");
    });
    let mut newer = good.clone();
    newer[8] = 2;
    assert!(refused(&newer).contains("version"));
    with_bytes(&good, 1, |bytes| {
        let error = PlanRef::<f64>::from_bytes(bytes).unwrap_err();
        assert!(error.to_string().contains("include_plan!"), "{error}");
    });
}

#[test]
fn casting_to_a_type_that_is_too_small_is_refused() {
    let plan = Plan::new(&[0.0, 1e300], Gaussian::new(1.0), Regularizer::l2(0.1)).unwrap();
    let error = plan.cast(Gaussian::new(1.0_f32)).unwrap_err();
    assert!(matches!(error, Error::Overflow { .. }), "{error:?}");
    let plan = Plan::new(&[0.0, 1.0], Gaussian::new(1.0), Regularizer::rkhs(1e300)).unwrap();
    assert!(matches!(plan.cast(Gaussian::new(1.0_f32)), Err(Error::Overflow { .. })));
}

/// A plan made in f64 and cast is closer to the truth than one made in f32.
#[test]
fn planning_in_a_wider_type_pays() {
    let problem = Problem::new(100, 1, 0, 0.1, 8);
    let wide = Plan::new(&problem.x, Gaussian::new(0.5), Regularizer::rkhs(1e-3)).unwrap();
    let cast = wide.cast(Gaussian::new(0.5_f32)).unwrap();
    let x: Vec<f32> = problem.x.iter().map(|&x| x as f32).collect();
    let made = Plan::new(&x, Gaussian::new(0.5_f32), Regularizer::rkhs(1e-3)).unwrap();
    let error = |plan: PlanRef<'_, f32>| {
        plan.residual_maker()
            .iter()
            .zip(wide.as_ref().residual_maker())
            .map(|(&a, &b)| (f64::from(a) - b).abs())
            .fold(0.0, f64::max)
    };
    assert!(10.0 * error(cast.as_ref()) < error(made.as_ref()));
}

/// The generated source is compiled here, for both penalties.
#[allow(dead_code, unreachable_pub, clippy::unreadable_literal)]
mod generated {
    pub mod mapped {
        include!("../data/plan_mapped.rs");
    }
    pub mod scaled {
        include!("../data/plan_scaled.rs");
    }
}

const SOURCE_POINTS: [f64; 6] = [0.0, 0.2, 0.35, 0.5, 0.8, 1.0];

#[test]
fn rust_source_is_the_plan() {
    let check = |regularizer: Regularizer<'_, f64>, file: &str, included: PlanRef<'_, f32>| {
        let plan = Plan::new(&SOURCE_POINTS, Gaussian::new(0.3), regularizer).unwrap();
        let plan = plan.cast(Gaussian::new(0.3_f32)).unwrap();
        let source = plan.to_rust_source("A plan of six points, for tests/library/flash.rs.");
        let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("KGARD_BLESS").is_some() {
            return std::fs::write(&path, &source).unwrap();
        }
        assert_eq!(source, std::fs::read_to_string(&path).unwrap(), "KGARD_BLESS=1 rewrites it");
        for (a, b) in plan.as_ref().residual_maker().iter().zip(included.residual_maker()) {
            assert!((a - b).abs() < 1e-6);
        }
        let y = [0.0_f32, 0.5, 0.6, 5.0, 0.7, 0.2];
        let mut scalars = [0.0; Workspace::<f32>::len(6, 2)];
        let mut indices = [0; 2];
        let work = Workspace::new(6, &mut scalars, &mut indices).unwrap();
        let fit = included.fit(&y, Stop::max_residual(1.0), work).unwrap();
        assert_eq!(fit.outliers().map(|o| o.index).collect::<Vec<_>>(), [3]);
        let reference = plan.fit(&y, Stop::max_residual(1.0)).unwrap();
        assert!((fit.bias() - reference.bias()).abs() < 1e-5);
    };
    check(Regularizer::l2(0.2), "plan_mapped.rs", generated::mapped::PLAN);
    check(Regularizer::rkhs(0.2), "plan_scaled.rs", generated::scaled::PLAN);
    assert_eq!(generated::scaled::N, 6);
    assert_eq!(generated::mapped::POINTS, SOURCE_POINTS.map(|x| x as f32));
    assert_eq!(generated::mapped::DIM, 1);
}

/// A regular grid.
fn grid(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64 / n as f64).collect()
}

#[test]
fn half_a_plan_is_the_plan() {
    for n in [1, 2, 3, 4, 5, 7, 8, 9, 16, 33] {
        for regularizer in [Regularizer::rkhs(0.05), Regularizer::rkhs(0.05).without_bias()] {
            let plan = Plan::new(&grid(n), Gaussian::new(0.2), regularizer).unwrap();
            let half = plan.half().unwrap();
            let (whole, half) = (plan.as_ref(), half.as_ref());
            let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
            let (mut a, mut b) = (vec![0.0; n], vec![f64::NAN; n]);
            for j in 0..n {
                whole.column(j, &mut a);
                half.column(j, &mut b);
                assert!(near(&a, &b), "column {j} of {n}: {a:?} {b:?}");
            }
            let v: Vec<f64> = (0..n).map(|i| ((i * i + 3) % 7) as f64 - 2.5).collect();
            whole.residual(&v, &mut a);
            half.residual(&v, &mut b);
            assert!(near(&a, &b), "residual of {n}: {a:?} {b:?}");
            whole.diagonal(&mut a, &mut []);
            half.diagonal(&mut b, &mut []);
            assert!(near(&a, &b), "diagonal of {n}: {a:?} {b:?}");
        }
    }
}

#[test]
fn half_a_plan_fits_the_same() {
    const N: usize = 65;
    let plan = Plan::new(&grid(N), Gaussian::new(0.2), Regularizer::rkhs(0.05)).unwrap();
    let half = plan.half().unwrap().cast::<f32>().unwrap();
    let mut y: Vec<f32> =
        (0..N).map(|i| (0.1 * i as f32).sin() + 0.01 * ((i * i % 7) as f32 - 3.0)).collect();
    for (i, by) in [(3, 1.0), (32, -2.0), (60, 1.5)] {
        y[i] += by;
    }
    let fit = |plan: HalfPlanRef<'_, f32>| {
        let mut scalars = [0.0; Workspace::<f32>::len(N, 8)];
        let mut indices = [0; 8];
        let work = Workspace::new(N, &mut scalars, &mut indices).unwrap();
        let fit = plan.fit(&y, Stop::automatic(), work).unwrap();
        let mut coefficients = vec![0.0; N];
        fit.coefficients(&mut coefficients).unwrap();
        (fit.outliers().collect::<Vec<_>>(), fit.bias(), coefficients)
    };
    let expected = plan.cast::<f32, _>(Gaussian::new(0.2)).unwrap();
    let expected = expected.fit(&y, Stop::automatic()).unwrap();
    let (outliers, bias, coefficients) = fit(half.as_ref());
    assert_eq!(outliers.len(), 3);
    for (found, expected) in outliers.iter().zip(expected.outliers()) {
        assert_eq!(found.index, expected.index);
        assert!((found.value - expected.value).abs() < 1e-4, "{found:?} {expected:?}");
    }
    assert!((bias - expected.bias()).abs() < 1e-4);
    for (a, b) in coefficients.iter().zip(expected.coefficients()) {
        assert!((a - b).abs() < 2e-3, "{a} {b}");
    }

    let bytes = half.to_bytes();
    assert_eq!(bytes.len(), 48 + 4 * (N + 33 * 33 + 32 * 32 + N));
    with_bytes(&bytes, 0, |bytes| {
        let checked = PlanBytes::new(bytes).unwrap();
        assert!(checked.is_half());
        let (plan, points) = checked.open_half::<f32>().unwrap();
        assert_eq!(points, half.points());
        assert_eq!(plan, half.as_ref());
        let error = checked.open::<f32>().unwrap_err().to_string();
        assert!(error.contains("open_half"), "{error}");
        // Cut off, and with a byte changed.
        assert!(PlanBytes::new(&bytes[..bytes.len() - 4]).is_err());
        let mut damaged = bytes.to_vec();
        damaged[1000] ^= 1;
        assert!(PlanBytes::new(&damaged).is_err());
    });
    with_bytes(&plan.to_bytes(), 0, |bytes| {
        assert!(PlanBytes::new(bytes).unwrap().open_half::<f64>().is_err());
    });
}

#[test]
fn half_a_plan_takes_symmetric_points_and_the_rkhs_penalty() {
    let refused = |points: &[f64], regularizer: Regularizer<'_, f64>, why: &str| {
        let plan = Plan::new(points, Gaussian::new(0.2), regularizer).unwrap();
        let error = plan.half().unwrap_err();
        assert!(
            matches!(error, Error::Format { .. }) && error.to_string().contains(why),
            "{error}"
        );
    };
    refused(&[0.0, 0.1, 0.3, 0.4, 0.6], Regularizer::rkhs(0.1), "symmetric");
    refused(&grid(8), Regularizer::l2(0.1), "RKHS");
    let weights = [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0];
    refused(&grid(8), Regularizer::rkhs(0.1).with_sample_weights(&weights), "weights");
}
