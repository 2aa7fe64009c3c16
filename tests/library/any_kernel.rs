//! Kernels by name: values, derivatives, texts, other units.
use crate::common;

use approx::assert_relative_eq;
use common::problem::Random;
use kgard::kernel::{AnyKernel, Product, Role, Scaled, Sum, gram};
use kgard::{
    Cosine, Error, Gaussian, Kernel, Laplacian, Linear, Matern12, Matern32, Matern52, PerInput,
    Periodic, Points, Polynomial, RationalQuadratic, Shape, Tunable,
};
use proptest::prelude::*;

/// One of each kind, with two inputs or any number of them.
const TEXTS: [&str; 20] = [
    "gaussian",
    "laplacian(~0.7)",
    "matern12(0.7)",
    "matern32(~0.7, ~1.3)",
    "matern52(~1.7)[x2]",
    "rational-quadratic(~0.7, ~0.4, alpha=~2.5)",
    "rational-quadratic",
    "periodic(~1.3)",
    "periodic(~1.3, ~0.8, width=0.7)",
    "periodic(2)[x1]",
    "cosine(~1.3)",
    "gaussian(~0.9) * cosine(~1.3, ~0.8)",
    "cosine(2)[x2]",
    "linear",
    "linear(length=~[0.5, 2], origin=[0.3, -1])",
    "polynomial(degree=2, gamma=0.3, offset=~0.6)",
    "polynomial(degree=3, offset=0, length=~[0.9, 1.4], origin=0.5)",
    "matern52(~0.8) + ~0.3 * periodic(1, width=~1.1)",
    "2 * gaussian(~0.9) * linear(origin=2)",
    "~3 * matern32 * (gaussian(~2) + 0.5 * linear[x1] + periodic(~1.5)[x2] * laplacian) * matern12",
];

fn kernel(text: &str) -> AnyKernel<f64> {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The derivatives by the logarithms of all parameters, by differences.
fn differences<K: Tunable<f64>>(kernel: &K, a: &[f64], b: &[f64]) -> Vec<f64> {
    let step = 1e-4;
    let at = |parameter: usize, by: f64| {
        let mut moved = kernel.clone();
        moved.set_parameter(parameter, kernel.parameter(parameter) * by.exp());
        moved.evaluate(a, b)
    };
    // Richardson's extrapolation: what is left is of the fourth order.
    let slope = |p: usize, h: f64| (at(p, h) - at(p, -h)) / (2.0 * h);
    (0..kernel.parameters()).map(|p| (4.0 * slope(p, step) - slope(p, 2.0 * step)) / 3.0).collect()
}

fn check_gradient<K: Tunable<f64> + std::fmt::Debug>(kernel: &K, dim: usize) {
    let mut random = Random(3);
    for _ in 0..50 {
        let a: Vec<f64> = (0..dim).map(|_| random.normal()).collect();
        let b: Vec<f64> = (0..dim).map(|_| random.normal()).collect();
        for b in [&b, &a] {
            let mut gradient = vec![f64::NAN; kernel.parameters()];
            let value = kernel.evaluate_with_gradient(&a, b, &mut gradient);
            assert_relative_eq!(value, kernel.evaluate(&a, b), max_relative = 1e-13);
            let size = value.abs().max(1.0);
            for (p, (ours, theirs)) in gradient.iter().zip(differences(kernel, &a, b)).enumerate() {
                assert!(
                    (ours - theirs).abs() < 1e-8 * size.max(theirs.abs()),
                    "{kernel:?}, parameter {p} at {a:?} {b:?}: {ours} {theirs}"
                );
            }
        }
    }
}

#[test]
fn gradients() {
    for text in TEXTS {
        check_gradient(&kernel(text), 2);
        check_gradient(&kernel(text).with_all_learned(), 2);
        let mut separate = kernel(text).with_all_learned();
        separate.separate_lengths(2);
        check_gradient(&separate, 2);
    }
    for dim in [1, 3] {
        check_gradient(&Matern12::new(0.6), dim);
        check_gradient(&Periodic::new(0.6).with_width(0.8), dim);
    }
    check_gradient(&Periodic::per_input([0.6, 2.0]), 2);
    for dim in [1, 3] {
        check_gradient(&Cosine::new(0.6), dim);
    }
    check_gradient(&Cosine::per_input([0.6, 2.0]), 2);
}

/// Far from each other and at the same place nothing is 0 times infinity.
#[test]
fn gradients_at_the_ends() {
    for text in TEXTS {
        let mut kernel = kernel(text).with_all_learned();
        for scale in [1e-3, 1.0, 1e3] {
            kernel.rescale(&[scale, scale]).unwrap();
            for (a, b) in [([0.0, 0.0], [0.0, 0.0]), ([1e5, 0.0], [-1e5, 1e5])] {
                let mut gradient = vec![f64::NAN; kernel.parameters()];
                let value = kernel.evaluate_with_gradient(&a, &b, &mut gradient);
                assert!(value.is_finite(), "{kernel}");
                assert!(gradient.iter().all(|g| g.is_finite()), "{kernel}: {gradient:?}");
            }
        }
    }
}

#[test]
fn the_same_as_kernels_with_types() {
    fn check(typed: &(impl Kernel<f64> + Into<AnyKernel<f64>> + Clone), text: &str) {
        let any: AnyKernel<f64> = typed.clone().into();
        assert_eq!(any.to_string(), text);
        let mut random = Random(5);
        for _ in 0..20 {
            let a = [random.normal(), random.normal()];
            let b = [random.normal(), random.normal()];
            let expected = typed.evaluate(&a, &b);
            let values = [any.evaluate(&a, &b), kernel(text).evaluate(&a, &b)];
            if text.contains('*') {
                assert_relative_eq!(values[..], [expected; 2][..], max_relative = 1e-14);
            } else {
                // Rounded alike: it is the kernel to the last bit.
                assert_eq!(values, [expected; 2], "{text}");
            }
        }
    }
    check(&Gaussian::new(0.7), "gaussian(~0.7)");
    check(&Laplacian::new(0.7), "laplacian(~0.7)");
    check(&Matern12::new(0.7), "matern12(~0.7)");
    check(&Matern32::new(0.7), "matern32(~0.7)");
    check(&Matern52::new(0.7), "matern52(~0.7)");
    check(&RationalQuadratic::new(0.7, 2.0), "rational-quadratic(~0.7, alpha=~2)");
    check(&PerInput::new(Shape::Matern32, [0.7, 2.0]), "matern32(~0.7, ~2)");
    check(&Periodic::per_input([0.7, 2.0]).with_width(0.5), "periodic(~0.7, ~2, width=~0.5)");
    check(&Cosine::per_input([0.7, 2.0]), "cosine(~0.7, ~2)");
    check(&Linear, "linear");
    check(&Polynomial::new(4.0, 0.5, 3), "polynomial(degree=3, gamma=4, offset=~0.5)");
    check(&Sum(Gaussian::new(0.7), Linear), "gaussian(~0.7) + linear");
    check(
        &Sum(Linear, Gaussian::new(0.7).scaled(3.0)).times(Matern12::new(2.0)),
        "(linear + 3 * gaussian(~0.7)) * matern12(~2)",
    );
    check(
        &Scaled { kernel: Product(Gaussian::new(0.7).scaled(3.0), Linear), by: 0.5 },
        "1.5 * gaussian(~0.7) * linear",
    );
}

#[test]
fn periodic_cosine_and_matern12_are_their_formulas() {
    let (a, b) = ([0.1, -0.4], [0.4, 0.0]);
    assert_relative_eq!(
        Matern12::new(2.0).evaluate(&a, &b),
        (-0.25f64).exp(),
        max_relative = 1e-15
    );
    let s = |d: f64, p: f64| (std::f64::consts::PI * d / p).sin().powi(2);
    assert_relative_eq!(
        Periodic::per_input([0.7, 3.0]).with_width(0.8).evaluate(&a, &b),
        (-2.0 * (s(0.3, 0.7) + s(0.4, 3.0)) / 0.64).exp(),
        max_relative = 1e-13
    );
    let cos = |d: f64, p: f64| (std::f64::consts::TAU * d / p).cos();
    assert_relative_eq!(
        Cosine::per_input([0.7, 3.0]).evaluate(&a, &b),
        cos(0.3, 0.7) * cos(0.4, 3.0),
        max_relative = 1e-13
    );
    // A million periods away it is what it was.
    let far: f64 = Cosine::new(0.5).evaluate(&[0.125], &[500_000.25]);
    assert!(far.abs() < 1e-9, "{far}");
    let far = Periodic::new(0.5).evaluate(&[0.125], &[500_000.25]);
    assert_relative_eq!(far, (-1.0f64).exp(), max_relative = 1e-9);
}

/// Rows of Gram matrices, which have a way of their own, against single entries.
#[test]
fn rows_are_entries() {
    let mut random = Random(7);
    for dim in 1..=5 {
        let n = 150;
        let x: Vec<f64> = (0..n * dim).map(|_| random.normal()).collect();
        let points = Points::new(&x, dim).unwrap();
        for text in TEXTS {
            let kernel = kernel(text);
            if let Err(error) = kernel.check_dim(dim) {
                assert!(dim != 2, "{text}: {error}");
                continue;
            }
            let mut k = vec![0.0; n * n];
            gram(points, &kernel, &mut k).unwrap();
            for (i, a) in points.iter().enumerate() {
                for (j, b) in points.iter().enumerate().take(i + 1) {
                    let entry = kernel.evaluate(a, b);
                    assert_relative_eq!(k[i * n + j], entry, max_relative = 1e-13);
                }
            }
        }
    }
}

#[test]
fn other_units() {
    let (m, s) = ([3.0, -1e3], [0.02, 40.0]);
    let mut random = Random(9);
    for text in TEXTS {
        let original = kernel(text).with_all_learned();
        let mut of_x = original.clone();
        of_x.rescale(&s).unwrap();
        of_x.translate(&m).unwrap();
        let mut back = of_x.clone();
        back.translate(&m.map(|m| -m)).unwrap();
        back.rescale(&s.map(f64::recip)).unwrap();
        for _ in 0..20 {
            let z = [0, 1].map(|_| [random.normal(), random.normal()]);
            let x = z.map(|z| [m[0] + s[0] * z[0], m[1] + s[1] * z[1]]);
            let expected = original.evaluate(&z[0], &z[1]);
            let close = |value: f64| (value - expected).abs() < 1e-9 * expected.abs().max(1.0);
            assert!(close(of_x.evaluate(&x[0], &x[1])), "{text}: {of_x}");
            assert!(close(back.evaluate(&z[0], &z[1])), "{text}: {back}");
        }
        // Equal scales leave one length one length.
        let mut same = original.clone();
        same.rescale(&[2.0, 2.0]).unwrap();
        assert_eq!(same.parameters(), original.parameters(), "{text}");
        assert!(
            original.clone().rescale(&[2.0, 2.0, 2.0]).is_err()
                == (text.contains(", ~") || text.contains("~[")),
            "{text}"
        );
    }
}

#[test]
fn standardised() {
    let (m, s) = ([3.0, -8.0], [0.5, 4.0]);
    for text in TEXTS {
        let of_x = kernel(text);
        let of_z = of_x.standardised(&m, &s).unwrap();
        let (mut random, mut back) = (Random(11), of_z.clone());
        back.rescale(&s).unwrap();
        back.translate(&m).unwrap();
        // Only an origin that was not given has become the centre.
        let centred = text.contains("linear") && !text.contains("origin") || text == TEXTS[15];
        let text = if centred { back.to_string() } else { text.to_string() };
        let of_x = kernel(&text);
        for _ in 0..20 {
            let x = [0, 1].map(|_| [random.normal(), random.normal()]);
            let z = x.map(|x| [(x[0] - m[0]) / s[0], (x[1] - m[1]) / s[1]]);
            let expected = of_x.evaluate(&x[0], &x[1]);
            assert_relative_eq!(of_z.evaluate(&z[0], &z[1]), expected, max_relative = 1e-9);
            assert_relative_eq!(back.evaluate(&x[0], &x[1]), expected, max_relative = 1e-9);
        }
    }
    assert_eq!(
        kernel("linear[x2] * polynomial(degree=2, origin=5)")
            .standardised(&[3.0, -8.0], &[0.5, 4.0])
            .unwrap()
            .to_string(),
        "linear(length=~0.25)[x2] * \
         polynomial(degree=2, length=~[2, 0.25], origin=[4, 3.25])"
    );
}

#[test]
fn roles() {
    use Role::{Length, Pure, SharedLength};
    let roles = |kernel: &AnyKernel<f64>| -> Vec<Role> {
        (0..kernel.parameters()).map(|parameter| kernel.role(parameter)).collect()
    };
    let mut sum = kernel("matern52 + periodic(1) + 2 * linear[x2] * rational-quadratic(3)");
    let shared = [SharedLength, Pure, Pure, Length { input: 1 }, Pure];
    assert_eq!(roles(&sum), shared);
    sum.separate_lengths(2);
    assert_eq!(roles(&sum), [&[Length { input: 0 }, Length { input: 1 }], &shared[1..]].concat());
    assert_eq!(sum.clone().with_all_kept().parameters(), 0);
    assert_eq!(roles(&sum.with_all_learned()).len(), 9);

    let mut kernel = kernel("gaussian + linear * periodic(~2)");
    kernel.set_log_parameters(&[0.0, 1.0, 2.0, 3.0, 4.0].map(|x: f64| (x + 1.0).ln()));
    let mut values = [0.0; 5];
    kernel.log_parameters(&mut values);
    assert_relative_eq!(values[..], [0.0, 1.0, 2.0, 3.0, 4.0].map(|x: f64| (x + 1.0).ln())[..]);
    kernel.set_parameter(2, 0.25);
    let text = kernel.with_all_kept().to_string();
    assert!(text.contains("linear(length=0.25) * periodic("), "{text}");
}

#[test]
fn texts_are_read_back() {
    for text in TEXTS {
        assert_eq!(kernel(text).to_string(), text);
        for other in [kernel(text).with_all_kept(), kernel(text).with_all_learned()] {
            assert_eq!(kernel(&other.to_string()), other, "{other}");
        }
    }
    for (text, canonical) in [
        (" gaussian ( length = 0.50 ) ", "gaussian(0.5)"),
        ("gaussian+1*linear", "gaussian + 1 * linear"),
        ("gaussian +2*linear", "gaussian + 2 * linear"),
        ("1e3*gaussian(1e-7)*2", "2000 * gaussian(1e-7)"),
        ("1 * gaussian", "1 * gaussian"),
        ("~1*gaussian + ~1*linear", "~1 * gaussian + linear"),
        ("(((gaussian)))", "gaussian"),
        ("(gaussian * linear) * matern12", "gaussian * linear * matern12"),
        ("(gaussian + linear) + matern12", "(gaussian + linear) + matern12"),
        ("2 * (3 * gaussian) * (4 * linear)", "24 * gaussian * linear"),
        ("2 * (gaussian + linear)", "2 * (gaussian + linear)"),
        ("(2 * gaussian) + (0.5 * linear)", "2 * gaussian + 0.5 * linear"),
        ("gaussian(length=[1, 2])", "gaussian(1, 2)"),
        ("periodic(width=2, period=~3)", "periodic(~3, width=2)"),
        ("polynomial", "polynomial(degree=3)"),
        ("polynomial(gamma=1)", "polynomial(degree=3)"),
        ("polynomial(degree=1, offset=0)", "linear"),
    ] {
        assert_eq!(kernel(text).to_string(), canonical, "{text}");
        assert_eq!(kernel(canonical).to_string(), canonical);
    }
    let narrow: AnyKernel<f32> = "gaussian(0.1)".parse().unwrap();
    assert_eq!(narrow.to_string(), "gaussian(0.1)");
    assert_eq!(narrow.evaluate(&[0.0], &[0.1]), Gaussian::new(0.1f32).evaluate(&[0.0], &[0.1]));
}

#[test]
fn errors_have_a_place() {
    for (text, place, words) in [
        ("", 0, "at the end: a kernel is missing here: the kernels are gaussian, laplacian"),
        ("matern", 0, "character 1, \"matern\": there is no such kernel: the kernels are"),
        ("2 * gausian(0.3)", 4, "character 5, \"gausian\": there is no such kernel"),
        ("gaussian + ", 11, "at the end: a kernel is missing here"),
        ("gaussian linear", 9, "\"linear\": `+` or `*` is missing"),
        ("gaussian(0.3", 12, "at the end: `,` or `)` is missing"),
        ("gaussian(0.3))", 13, "\")\": there is no opening"),
        ("(gaussian", 9, "at the end: `)` is missing"),
        ("gaussian(0)", 9, "\"0\": a length must be positive and finite"),
        ("gaussian(-1.5)", 9, "\"-1.5\": a length must be positive"),
        ("gaussian(1e999)", 9, "\"1e999\": a length must be positive and finite"),
        ("gaussian(x)", 9, "\"x\": gaussian has length="),
        ("gaussian(1.2.3)", 9, "\"1.2.3\": a length is a number"),
        ("gaussian(alpha=1)", 9, "\"alpha\": gaussian has length="),
        ("gaussian(length 1)", 16, "\"1\": `=` is missing"),
        ("gaussian(length=1, length=2)", 19, "\"length\": it has been given already"),
        ("gaussian(~1, 2)", 13, "\"2\": all lengths of a kernel are learned, or none"),
        ("gaussian[2]", 9, "\"2\": an input is meant"),
        ("gaussian[x0]", 9, "\"x0\": an input is meant"),
        ("gaussian(1, 2)[x1]", 14, "\"[\": one input has one length"),
        ("periodic", 0, "\"periodic\": it needs its period"),
        ("cosine", 0, "\"cosine\": it needs its period"),
        ("cosine(1, width=2)", 10, "\"width\": cosine has period="),
        ("periodic(width=2)", 0, "\"periodic\": it needs its period"),
        ("polynomial(2)", 11, "\"2\": polynomial has degree=, gamma=, offset=, length=, origin="),
        ("polynomial(degree=2.5)", 18, "\"2.5\": a degree is a whole number"),
        ("polynomial(offset=-1)", 18, "\"-1\": it must be zero or more"),
        ("linear(origin=[1, nan])", 18, "\"nan\": it must be finite"),
        ("2", 1, "at the end: a number alone is no kernel"),
        ("2 + gaussian", 2, "\"+\": a number alone is no kernel"),
        ("0 * gaussian", 0, "\"0\": a weight must be positive"),
        ("1e-300 * 1e-300 * gaussian", 9, "\"1e-300\": the product of the numbers is too"),
        ("gaussian - linear", 9, "\"-\": `+` or `*` is missing"),
        ("gäussian", 0, "character 1, \"gäussian\": there is no such kernel"),
        ("linear(ä)*x", 7, "character 8, \"ä\": linear has length=, origin="),
        ("gaussian(\u{1b}[31m)", 9, "\"\\u{1b}\": a length is a number"),
    ] {
        let error = text.parse::<AnyKernel<f64>>().unwrap_err();
        assert_eq!(error.position(), place, "{text}: {error}");
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
    let deep = format!("{}gaussian{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(deep.parse::<AnyKernel<f64>>().is_err());
    let deep = format!("{}gaussian{}", "(".repeat(33), ")".repeat(33));
    assert_eq!(deep.parse::<AnyKernel<f64>>().unwrap_err().position(), 32);
}

#[test]
fn what_is_inside() {
    let radial = |text: &str| kernel(text).as_radial().map(|k| (k.shape(), k.lengths().to_vec()));
    assert_eq!(radial("matern52(1, 2)"), Some((Shape::Matern52, vec![1.0, 2.0])));
    assert_eq!(radial("gaussian").map(|k| k.1), Some(vec![1.0]));
    for none in ["gaussian[x1]", "2 * gaussian", "gaussian * linear", "periodic(1)", "linear"] {
        assert_eq!(radial(none), None, "{none}");
    }
    let polynomial = |text: &str| kernel(text).as_polynomial();
    assert_eq!(polynomial("linear"), Some(Polynomial::new(1.0, 0.0, 1)));
    let text = "polynomial(degree=4, gamma=2, offset=0.5)";
    assert_eq!(polynomial(text), Some(Polynomial::new(2.0, 0.5, 4)));
    for none in ["linear(length=2)", "linear(origin=1)", "linear[x1]", "gaussian"] {
        assert_eq!(polynomial(none), None, "{none}");
    }
}

/// In any unit of the inputs a kernel is what it is, as far as the scalar goes.
#[test]
fn units_of_all_sizes() {
    fn check<T: kgard::Real>(units: &[f64], tolerance: f64) {
        for text in ["gaussian", "laplacian", "matern12", "matern32", "matern52", "periodic(1)"] {
            let kernel: AnyKernel<T> = text.parse().unwrap();
            let number = |x: f64| T::from(x).unwrap();
            let one = kernel.evaluate(&[number(0.0)], &[number(0.75)]);
            for &unit in units {
                let mut scaled = kernel.clone();
                scaled.rescale(&[number(unit)]).unwrap();
                let value = scaled.evaluate(&[number(0.0)], &[number(0.75 * unit)]);
                let off = (value - one).abs().to_f64().unwrap();
                assert!(off <= tolerance, "{scaled}: {value:?} {one:?}");
            }
        }
    }
    check::<f64>(&[1e-300, 1e-160, 1e160, 1e300], 1e-14);
    check::<f32>(&[1e-37, 1e-20, 1e20, 1e37], 1e-6);
}

#[test]
fn points_that_do_not_fit() {
    for (text, fits) in [("gaussian(1, 2)", 2), ("periodic(1, 2)", 2), ("linear(origin=[1, 2])", 2)]
    {
        for dim in 1..=3 {
            assert_eq!(kernel(text).check_dim(dim).is_ok(), dim == fits, "{text} {dim}");
        }
    }
    assert_eq!(
        kernel("linear + gaussian[x3]").check_dim(2),
        Err(Error::TooShort { what: "point", needed: 3, found: 2 })
    );
    let far = kernel("polynomial(degree=400)");
    let mut k = [0.0; 4];
    assert!(matches!(
        gram(&[1.0, 1e3], &far, &mut k),
        Err(Error::Kernel { row: 1, column: 0, .. })
    ));
}

#[cfg(feature = "serde")]
#[test]
fn files() {
    for text in TEXTS {
        let json = serde_json::to_string(&kernel(text)).unwrap();
        assert_eq!(json, format!("{text:?}"));
        assert_eq!(serde_json::from_str::<AnyKernel<f64>>(&json).unwrap(), kernel(text));
        let bytes = postcard::to_allocvec(&kernel(text)).unwrap();
        assert_eq!(postcard::from_bytes::<AnyKernel<f64>>(&bytes).unwrap(), kernel(text));
    }
    let error = serde_json::from_str::<AnyKernel<f64>>("\"gaussian(-1)\"").unwrap_err();
    assert!(error.to_string().contains("a length must be positive"), "{error}");
    let wrong = AnyKernel::from(Gaussian::new(-1.0));
    assert!(serde_json::to_string(&wrong).unwrap_err().to_string().contains("length is -1"));
}

/// Texts of the grammar, with numbers of all sizes.
fn texts() -> impl Strategy<Value = String> {
    let number = (any::<f64>(), any::<bool>()).prop_map(|(x, learned)| {
        let x = if x.is_normal() { x.abs() } else { 0.1 };
        format!("{}{x:?}", if learned { "~" } else { "" })
    });
    let leaf = (0..9usize, number.clone(), number.clone(), any::<bool>()).prop_map(
        |(kind, a, b, input)| {
            let text = match kind {
                0 => "gaussian".into(),
                1 => format!("laplacian({a})"),
                2 => format!("matern12(length={a})"),
                3 => format!("rational-quadratic(alpha={a}, length={b})"),
                4 => format!("rational-quadratic(alpha={a})"),
                5 => format!("periodic({a}, width={b})"),
                6 => format!("linear(length={a}, origin={})", b.trim_start_matches('~')),
                7 => format!("polynomial(degree=2, offset={a})"),
                _ => format!("polynomial(offset={a}, length={b})"),
            };
            if input { text + "[x2]" } else { text }
        },
    );
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let factor = prop_oneof![
            2 => inner.clone().prop_map(|inner| format!("({inner})")),
            // Weights whose products stay in range.
            1 => (0.1..10.0).prop_map(|x: f64| format!("{x:?}")),
            1 => (0.1..10.0).prop_map(|x: f64| format!("~{x:?}")),
        ];
        let product = (inner, prop::collection::vec(factor, 0..3)).prop_map(|(first, factors)| {
            factors.into_iter().fold(format!("({first})"), |text, factor| text + "*" + &factor)
        });
        prop::collection::vec(product, 1..3).prop_map(|terms| terms.join(" + "))
    })
}

proptest! {
    #[test]
    fn any_text_is_read_back(text in texts()) {
        let kernel = kernel(&text);
        let written = kernel.to_string();
        prop_assert_eq!(&written.parse::<AnyKernel<f64>>().unwrap(), &kernel);
        prop_assert_eq!(written.parse::<AnyKernel<f64>>().unwrap().to_string(), written);
        for (parameter, value) in (0..kernel.parameters()).map(|p| (p, kernel.parameter(p))) {
            prop_assert!(value > 0.0);
            let mut moved = kernel.clone();
            moved.set_parameter(parameter, value);
            prop_assert_eq!(&moved, &kernel);
        }
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9.~+*()\\[\\]x=, -]{0,40}") {
        let _ = text.parse::<AnyKernel<f64>>();
    }
}
