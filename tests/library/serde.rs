//! To files and back: the same bits, and nothing that is not what it claims to
//! be.
#![cfg(feature = "serde")]
use crate::common;

use common::problem::Problem;
use kgard::baselines::rb_rvm::{RbRvm, RbRvmFit};
use kgard::denoise::bm3d::{Bm3d, Stage};
use kgard::denoise::{
    Conditions, Denoised, Denoiser, Grid, KgBm3d, PaperKgBm3d, PaperKgard, PaperStop, Plane,
    PlaneBuf, Report, rb_rvm,
};
use kgard::kernel::AnyKernel;
use kgard::kernel::{Product, Scaled, Sum};
use kgard::regression::stop::Reading;
use kgard::tune::{self, Model, Tuner};
use kgard::{
    Fit, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Outlier, Penalty, Plan,
    Polynomial, RationalQuadratic, Regularizer, Stop, StopReason, StopRule, theory,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

/// As text and as bytes, there and back.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    // Not even a zero's sign is lost.
    assert_eq!(serde_json::to_string(&serde_json::from_str::<T>(&text).unwrap()).unwrap(), text);
    let bytes = postcard::to_allocvec(value).unwrap();
    assert_eq!(&postcard::from_bytes::<T>(&bytes).unwrap(), value);
}

/// Why a text is refused.
fn refused<T: DeserializeOwned>(value: &Value) -> String {
    match serde_json::from_value::<T>(value.clone()) {
        Ok(_) => panic!("{value} was believed"),
        Err(error) => error.to_string(),
    }
}

fn plan(n: usize, rkhs: bool) -> (Problem, Plan<f64, Gaussian<f64>>) {
    let problem = Problem::new(n, 1, n / 12, 0.1, n as u64);
    let regularizer = if rkhs { Regularizer::rkhs(0.1) } else { Regularizer::l2(0.1) };
    let plan = Plan::new(&problem.x, Gaussian::new(0.25), regularizer).unwrap();
    (problem, plan)
}

fn picture() -> PlaneBuf<f32> {
    let value =
        |i: usize| 90.0 + ((i * 7919) % 13) as f32 + if i.is_multiple_of(37) { 90.0 } else { 0.0 };
    PlaneBuf::new((0..24 * 20).map(value).collect(), 24, 20).unwrap()
}

#[test]
fn plans_and_fits() {
    for (n, rkhs) in [(1, false), (2, true), (17, false), (40, true), (65, true)] {
        let (problem, plan) = plan(n, rkhs);
        round_trip(&plan);
        for stop in [Stop::automatic(), Stop::max_residual(0.5), Stop::count(0)] {
            round_trip(&plan.fit(&problem.y, stop).unwrap());
        }
        let narrow: Plan<f32, _> = plan.cast(Matern52::new(0.25_f32)).unwrap();
        round_trip(&narrow);
        let text = serde_json::to_string(&plan).unwrap();
        let again: Plan<f64, Gaussian<f64>> = serde_json::from_str(&text).unwrap();
        assert_eq!(
            again.fit(&problem.y, Stop::automatic()).unwrap(),
            plan.fit(&problem.y, Stop::automatic()).unwrap()
        );
    }
}

#[test]
fn tikhonov_and_many_dimensions() {
    let problem = Problem::new(30, 3, 2, 0.1, 5);
    let mut psi = vec![0.0; 900];
    for i in 0..30 {
        psi[i * 30 + i] = 0.5;
        psi[i * 30] += 0.1;
    }
    let kernel = Gaussian::new(0.5).plus(Linear).times(Laplacian::new(2.0)).scaled(0.5);
    let points = kgard::Points::new(&problem.x, 3).unwrap();
    let plan = Plan::new(points, kernel, Regularizer::tikhonov(&psi, 0.1)).unwrap();
    round_trip(&plan);
    round_trip(&plan.fit(&problem.y, Stop::count(3)).unwrap());
}

#[test]
fn relevance_vectors() {
    let problem = Problem::new(60, 1, 5, 0.1, 3);
    let fit = RbRvm::new().fit(&problem.x, &problem.y, Gaussian::new(0.3)).unwrap();
    round_trip(&fit);
    let text = serde_json::to_string(&fit).unwrap();
    let again: RbRvmFit<f64, Gaussian<f64>> = serde_json::from_str(&text).unwrap();
    assert_eq!(
        again.predict_with_variance(&[0.3]).unwrap(),
        fit.predict_with_variance(&[0.3]).unwrap()
    );
}

#[test]
fn kernels() {
    round_trip(&Gaussian::new(0.3));
    round_trip(&Laplacian::new(0.3_f32));
    round_trip(&kgard::Matern12::new(0.3));
    round_trip(&Matern32::new(1e-300));
    round_trip(&Matern52::new(2.0));
    round_trip(&RationalQuadratic::new(0.1, 3.0));
    round_trip(&Polynomial::new(0.5, 0.0, 3));
    round_trip(&Linear);
    round_trip(&Sum(Linear, Gaussian::new(0.2)));
    round_trip(&Product(Linear, Sum(Matern32::new(0.2), Linear)));
    round_trip(&Scaled { kernel: Gaussian::new(0.2), by: 4.0 });
    assert_eq!(
        serde_json::to_value(Gaussian::new(0.5)).unwrap(),
        json!({"name": "gaussian", "sigma": 0.5})
    );

    let gaussian = json!({"name": "gaussian", "sigma": 0.3});
    let text = refused::<Laplacian<f64>>(&gaussian);
    assert_eq!(text, "the kernel is Gaussian, but Laplacian is asked for");
    for sigma in [0.0, -1.0] {
        let text = refused::<Gaussian<f64>>(&json!({"name": "gaussian", "sigma": sigma}));
        assert!(text.contains("must be positive and finite"), "{text}");
    }
    refused::<Gaussian<f64>>(&json!({"name": "gaussian", "sigma": null}));
    refused::<Gaussian<f64>>(&json!({"sigma": 0.3}));
    // JSON cannot say these, bytes can.
    for sigma in [f64::NAN, f64::INFINITY] {
        let bytes = postcard::to_allocvec(&Gaussian::new(sigma)).unwrap();
        assert!(postcard::from_bytes::<Gaussian<f64>>(&bytes).is_err());
    }
    let bytes = postcard::to_allocvec(&Gaussian::new(0.3)).unwrap();
    assert!(postcard::from_bytes::<Laplacian<f64>>(&bytes).is_err());
    refused::<Polynomial<f64>>(
        &json!({"name": "polynomial", "gamma": 1, "offset": -1, "degree": 2}),
    );
    refused::<Scaled<Linear, f64>>(
        &json!({"name": "scaled", "kernel": {"name": "linear"}, "by": 0}),
    );
    refused::<Sum<Linear, Linear>>(
        &json!({"name": "product", "of": [{"name": "linear"}, {"name": "linear"}]}),
    );
}

#[test]
fn stopping_rules_and_reasons() {
    for stop in [
        Stop::residual_norm(2.0),
        Stop::max_residual(0.1).at_most(3),
        Stop::max_residual(f64::INFINITY),
        Stop::histogram(40.0, Reading::EveryStep).studentized(),
        Stop::automatic(),
        Stop::count(5),
    ] {
        round_trip(&stop);
    }
    let text = refused::<Stop<f64>>(
        &json!({"rule": {"max_residual": -1}, "at_most": null, "studentized": false}),
    );
    assert!(text.contains("epsilon is -1"), "{text}");
    let reasons = [
        StopReason::ResidualNorm,
        StopReason::MaxResidual,
        StopReason::Histogram,
        StopReason::Automatic,
        StopReason::UserRule,
        StopReason::Cap,
        StopReason::Exhausted,
        StopReason::GivenSupport,
        StopReason::Tolerance,
        StopReason::IterationLimit,
    ];
    for reason in reasons {
        round_trip(&reason);
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
    }
    round_trip(&Outlier { index: 3, value: -0.1 });
}

#[test]
fn tuned_and_theory() {
    let problem = Problem::new(60, 1, 5, 0.1, 3);
    let model = Tuner::new().fit(&problem.x, &problem.y).unwrap();
    round_trip(&model);
    let read: Model<f64, AnyKernel<f64>> =
        serde_json::from_value(serde_json::to_value(&model).unwrap()).unwrap();
    assert_eq!(read.predict(&[0.3]), model.predict(&[0.3]));
    for penalty in [Penalty::Rkhs, Penalty::L2] {
        round_trip(&penalty);
    }
    for trend in [tune::Trend::Automatic, tune::Trend::Free, tune::Trend::None] {
        round_trip(&trend);
    }
    let value = serde_json::to_value(&model).unwrap();
    let with = |part: &str, new: serde_json::Value| {
        let mut value = value.clone();
        value[part] = new;
        refused::<Model<f64, AnyKernel<f64>>>(&value)
    };
    assert!(with("lambda", json!(-1.0)).contains("lambda is -1"));
    assert!(with("alpha", json!([1.0])).contains("coefficients"));
    assert!(with("inside", json!(vec![0; model.fitted().len() - 5])).contains("0"));
    assert!(with("beta", json!([1.0, 2.0, 3.0])).contains("slopes"));
    assert!(with("units", json!([])).contains("units"));
    assert!(with("noise", json!(vec![0.0; 55])).contains("noise"));

    round_trip(&theory::identification(3.0, &[], &[1.0], 0.1).unwrap());
    round_trip(&theory::identification(3.0, &[1.0, 2.0], &[1.0], 9.0).unwrap());
}

#[test]
fn images() {
    let noisy = picture();
    round_trip(&noisy);
    let denoised = Denoiser::new().denoise(noisy.as_plane()).unwrap();
    round_trip(&denoised);
    round_trip(&denoised.report);
    round_trip(&KgBm3d::new(255.0).denoise(noisy.as_plane()).unwrap());
    round_trip(&rb_rvm(noisy.as_plane(), &Gaussian::new(0.3), 12, 8).unwrap());
    let flat = [0.0_f32; 64];
    round_trip(&Denoiser::new().denoise(Plane::new(&flat, 8, 8).unwrap()).unwrap());
    round_trip(&PaperKgBm3d::new(255.0).denoise(noisy.as_plane()).unwrap());

    let value = serde_json::to_value(&noisy).unwrap();
    for (field, wrong) in [("width", json!(25)), ("height", json!(0)), ("samples", json!([1.0]))] {
        let mut value = value.clone();
        value[field] = wrong;
        refused::<PlaneBuf<f32>>(&value);
    }
    let huge = json!({"samples": [], "width": u64::MAX, "height": u64::MAX});
    refused::<PlaneBuf<f32>>(&huge);

    let mut value = serde_json::to_value(&denoised).unwrap();
    value["outliers"]["values"] = json!([{"samples": [0.0], "width": 1, "height": 1}]);
    assert!(refused::<Denoised<f32>>(&value).contains("must be of one size"));
    let mut value = serde_json::to_value(&denoised.report).unwrap();
    value["channels"][0]["conditions"]["noise"] = json!(-0.5);
    assert!(refused::<Report<f32>>(&value).contains("noise is -0.5"));
    refused::<Conditions<f32>>(&json!({}));
    let grey = KgBm3d::new(255.0).denoise(noisy.as_plane()).unwrap();
    let mut value = serde_json::to_value(&grey).unwrap();
    value["outliers"] = json!({"mask": [], "values": []});
    assert!(refused::<Denoised<f32>>(&value).contains("length 0, but 1 is needed"));
}

#[test]
fn settings() {
    let own =
        Denoiser::new().kernel(Gaussian::new(0.3)).regions(8, 4).penalty(Penalty::L2).noise(12.5);
    round_trip(&own);
    let paper = PaperKgard::new(255.0).lambda(0.5).stop(PaperStop::MaxResidual(30.0));
    round_trip(&paper);
    round_trip(&PaperKgBm3d::new(255.0).kgard(paper.clone()).noise(9.0));
    round_trip(&KgBm3d::new(255.0).kgard(own.clone()).refinements(1).noise(3.0));
    for bm3d in [Bm3d::<f64>::normal(), Bm3d::fast(), Bm3d::high_noise().for_range(1.0)] {
        round_trip(&bm3d);
    }
    round_trip(&Grid::new(100, 50, 12, 8).unwrap());

    let value = serde_json::to_value(&own).unwrap();
    for (field, wrong, why) in [
        ("region", json!(9), "larger than its core by an even number"),
        ("noise", json!(-1), "noise is -1"),
    ] {
        let mut value = value.clone();
        value["settings"][field] = wrong;
        let text = refused::<Denoiser<f64, Gaussian<f64>>>(&value);
        assert!(text.contains(why), "{text}");
    }
    let value = serde_json::to_value(&paper).unwrap();
    for (field, wrong, why) in [
        ("lambda", json!(0), "lambda is 0"),
        ("sigma", json!(-1), "sigma is -1"),
        ("core", json!(12), "larger than its core"),
        ("stop", json!({"max_residual": -3}), "epsilon is -3"),
    ] {
        let mut value = value.clone();
        value[field] = wrong;
        let text = refused::<PaperKgard<f64>>(&value);
        assert!(text.contains(why), "{text}");
    }
    let mut stage = serde_json::to_value(Bm3d::<f64>::normal().first).unwrap();
    stage["block"] = json!(7);
    assert!(refused::<Stage<f64>>(&stage).contains("side of a block is 7"));
}

#[test]
fn wrong_plans_and_fits() {
    type P = Plan<f64, Gaussian<f64>>;
    type F = Fit<f64, Gaussian<f64>>;
    let (problem, plan) = plan(12, true);
    let value = serde_json::to_value(&plan).unwrap();
    let check = |change: &dyn Fn(&mut Value), why: &str| {
        let mut value = value.clone();
        change(&mut value);
        let text = refused::<P>(&value);
        assert!(text.contains(why), "{text}");
    };
    check(&|v| v["inputs"]["dim"] = json!(0), "dimension 0");
    check(&|v| v["inputs"]["dim"] = json!(5), "multiple of 5");
    check(&|v| v["inputs"]["dim"] = json!(2), "length 156, but 42 is needed");
    check(&|v| v["inputs"]["coordinates"] = json!([]), "empty");
    check(&|v| v["inputs"]["kernel"]["sigma"] = json!(-1), "sigma is -1");
    check(&|v| v["penalty"]["scaled"]["lambda"] = json!(0), "lambda is 0");
    check(&|v| v["penalty"] = json!({"mapped": {"bias": 1}}), "length 156, but 288 is needed");
    check(&|v| v["matrices"][1] = json!(0.5), "not symmetric");
    check(&|v| drop(v["matrices"].as_array_mut().unwrap().pop()), "length 155");

    let value = serde_json::to_value(plan.fit(&problem.y, Stop::count(2)).unwrap()).unwrap();
    let check = |change: &dyn Fn(&mut Value), why: &str| {
        let mut value = value.clone();
        change(&mut value);
        let text = refused::<F>(&value);
        assert!(text.contains(why), "{text}");
    };
    check(&|v| v["coefficients"] = json!([1.0]), "coefficients has length 1, but 12 is needed");
    check(&|v| v["residual"] = json!([]), "residual has length 0");
    check(&|v| v["fitted"] = json!([]), "fitted values has length 0");
    check(&|v| v["outliers"][0]["index"] = json!(12), "outside of the data");
    check(&|v| v["outliers"][0] = v["outliers"][1].clone(), "given twice");
    check(&|v| v["stop_reason"] = json!("tired"), "unknown variant");
    let text = refused::<Fit<f64, Laplacian<f64>>>(&value);
    assert!(text.contains("the kernel is Gaussian"), "{text}");

    let rvm = RbRvm::new().fit(&problem.x, &problem.y, Gaussian::new(0.3)).unwrap();
    let value = serde_json::to_value(&rvm).unwrap();
    let check = |change: &dyn Fn(&mut Value), why: &str| {
        let mut value = value.clone();
        change(&mut value);
        let text = refused::<RbRvmFit<f64, Gaussian<f64>>>(&value);
        assert!(text.contains(why), "{text}");
    };
    check(&|v| v["prior_variances"][0] = json!(-1), "prior variance is -1");
    check(&|v| v["active"] = json!([13]), "outside of the data");
    check(&|v| v["active"] = json!([3, 1]), "not in order");
    check(&|v| v["factor"] = json!([]), "factor has length 0");
    check(&|v| v["factor"][0] = json!(0), "pivot of the factor is 0");
    check(&|v| v["noise_variance"] = json!(0), "noise variance is 0");
}

/// The places in a document, each as the way to it.
fn places(value: &Value, way: &mut Vec<String>, found: &mut Vec<String>) {
    found.push(way.iter().map(|step| format!("/{step}")).collect());
    let children: Vec<(String, &Value)> = match value {
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), v)).collect(),
        _ => vec![],
    };
    for (step, child) in children {
        way.push(step);
        places(child, way, found);
        way.pop();
    }
}

/// Something else in one place.
fn mutate(value: &mut Value, place: usize, how: usize) {
    let mut found = vec![];
    places(value, &mut vec![], &mut found);
    let at = value.pointer_mut(&found[place % found.len()]).unwrap();
    let numbers = [0.0, -1.0, 1e300, -1e300, 1e-300, 0.5, 3.0];
    let counts = [0, 1, 2, 13, u64::MAX, 1 << 32, 1 << 62];
    match (how % 20, &mut *at) {
        (0..7, at) => *at = json!(numbers[how % 20]),
        (7..14, at) => *at = json!(counts[how % 20 - 7]),
        (14, at) => *at = Value::Null,
        (15, Value::Array(list)) => drop(list.pop()),
        (16, Value::Array(list)) => list.extend(list.first().cloned()),
        (17, Value::Array(list)) => list.reverse(),
        (18, Value::Object(map)) => {
            let first = map.keys().next().cloned();
            first.map(|key| map.remove(&key));
        }
        (_, at) => *at = json!([]),
    }
}

/// Everything a fit can do.
fn use_fit<K: Kernel<f64> + Clone>(fit: &Fit<f64, K>) {
    let y: Vec<f64> = fit.fitted().to_vec();
    let (points, x) = (fit.points(), vec![0.25; fit.points().dim()]);
    let _ = (fit.predict(&x), fit.predict_many(points), fit.residual_norm());
    let _ = (fit.refit(&y, Regularizer::l2(0.1)), fit.refit(&y, Regularizer::rkhs(0.1)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A plan, a fit or an RB-RVM with one or two places changed is refused, or
    /// works without a panic.
    #[test]
    fn changed_documents(
        changes in prop::collection::vec((0_usize..10_000, 0_usize..20), 1..3),
        rkhs: bool,
        kind in 0..3,
    ) {
        let (problem, plan) = plan(13, rkhs);
        let mut value = match kind {
            0 => serde_json::to_value(&plan).unwrap(),
            1 => serde_json::to_value(plan.fit(&problem.y, Stop::count(3)).unwrap()).unwrap(),
            _ => {
                let rvm = RbRvm::new().fit(&problem.x, &problem.y, Gaussian::new(0.3)).unwrap();
                serde_json::to_value(&rvm).unwrap()
            }
        };
        for (place, how) in changes {
            mutate(&mut value, place, how);
        }
        match kind {
            0 => {
                if let Ok(plan) = serde_json::from_value::<Plan<f64, Gaussian<f64>>>(value) {
                    let y = vec![1.0; plan.len()];
                    for y in [&problem.y, &y] {
                        for stop in [Stop::automatic(), Stop::count(20), Stop::max_residual(0.1)] {
                            if let Ok(fit) = plan.fit(y, stop) {
                                use_fit(&fit);
                            }
                        }
                        let _ = (plan.fit_support(y, &[0, 5]), plan.ridge(y));
                    }
                    let _ = (plan.to_bytes(), plan.to_rust_source("title"));
                    let _ = plan.cast(Gaussian::new(0.25_f32));
                }
            }
            1 => {
                if let Ok(fit) = serde_json::from_value::<Fit<f64, Gaussian<f64>>>(value) {
                    use_fit(&fit);
                }
            }
            _ => {
                if let Ok(fit) = serde_json::from_value::<RbRvmFit<f64, Gaussian<f64>>>(value) {
                    use_fit(&fit);
                    let x = vec![0.25; fit.points().dim()];
                    let _ = (fit.predict_with_variance(&x), fit.covariance(), fit.relevant());
                    let _ = (fit.log_likelihood(), fit.prior_variances());
                }
            }
        }
    }

    /// Settings likewise.
    #[test]
    fn changed_settings(place in 0_usize..1000, how in 0_usize..20) {
        let own = Denoiser::new().noise(12.5);
        let mut value = serde_json::to_value(KgBm3d::new(255.0).kgard(own)).unwrap();
        mutate(&mut value, place, how);
        if let Ok(settings) = serde_json::from_value::<KgBm3d<f64>>(value) {
            let pixels = [100.0; 96];
            let _ = settings.denoise(Plane::new(&pixels, 12, 8).unwrap());
        }
        let mut value = serde_json::to_value(PaperKgBm3d::new(255.0)).unwrap();
        mutate(&mut value, place, how);
        if let Ok(settings) = serde_json::from_value::<PaperKgBm3d<f64>>(value) {
            let pixels = [100.0; 96];
            let _ = settings.denoise(Plane::new(&pixels, 12, 8).unwrap());
        }
        let mut value = serde_json::to_value(Bm3d::<f64>::fast()).unwrap();
        mutate(&mut value, place, how);
        if let Ok(bm3d) = serde_json::from_value::<Bm3d<f64>>(value) {
            let pixels = [100.0; 96];
            let _ = bm3d.denoise(Plane::new(&pixels, 12, 8).unwrap(), 5.0);
        }
        let mut value = serde_json::to_value(Stop::histogram(3.0, Reading::Once)).unwrap();
        mutate(&mut value, place, how);
        if let Ok(stop) = serde_json::from_value::<Stop<f64>>(value) {
            prop_assert!(stop.validate().is_ok());
        }
    }

    /// Damaged bytes.
    #[test]
    fn changed_bytes(at in 0_usize..10_000, byte: u8, cut in 0_usize..10_000) {
        let (problem, plan) = plan(13, true);
        let fit = plan.fit(&problem.y, Stop::count(3)).unwrap();
        let mut bytes = postcard::to_allocvec(&fit).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(fit) = postcard::from_bytes::<Fit<f64, Gaussian<f64>>>(&bytes) {
            use_fit(&fit);
        }
        bytes.truncate(cut);
        let _ = postcard::from_bytes::<Fit<f64, Gaussian<f64>>>(&bytes);
    }

    /// Plans and fits of any kind come back as they were.
    #[test]
    fn any_plan(
        n in 1_usize..40,
        dim in 1_usize..4,
        seed: u64,
        lambda in 1e-3..1e3_f64,
        rkhs: bool,
        narrow: bool,
    ) {
        let problem = Problem::new(n, dim, n / 10, 0.1, seed);
        let points = kgard::Points::new(&problem.x, dim).unwrap();
        let regularizer = if rkhs { Regularizer::rkhs(lambda) } else { Regularizer::l2(lambda) };
        let plan = Plan::new(points, Matern32::new(0.4), regularizer).unwrap();
        if narrow {
            let y: Vec<f32> = problem.y.iter().map(|&y| y as f32).collect();
            let plan = plan.cast(Matern32::new(0.4_f32)).unwrap();
            round_trip(&plan);
            round_trip(&plan.fit(&y, Stop::automatic()).unwrap());
        } else {
            round_trip(&plan);
            round_trip(&plan.fit(&problem.y, Stop::automatic()).unwrap());
        }
    }
}

/// Fits of many points in space, in each of the three ways.
#[test]
fn fits_in_space() {
    use kgard::Points;
    use kgard::space::{Regions, Space, SpaceFit};
    let mut random = common::problem::Random(5);
    let x: Vec<f64> = (0..1300).map(|_| random.uniform()).collect();
    let points = Points::new(&x, 2).unwrap();
    let f = |p: &[f64]| (3.0 * p[0]).sin() + p[1];
    let mut y: Vec<f64> = x.chunks(2).map(|p| f(p) + 0.1 * random.normal()).collect();
    y[77] += 4.0;
    let (kernel, lambda) = (Gaussian::new(0.7), 0.05);
    let exact = Space::new(points, kernel, lambda).unwrap();
    let exact = exact.fit(&y, Stop::automatic()).unwrap();
    let regions = Regions::new(points, kernel, lambda).unwrap();
    assert!(regions.count() > 1);
    let regions = regions.fit(&y, Stop::automatic()).unwrap();
    let low_rank = kgard::space::LowRank::new(points, kernel, lambda).unwrap();
    let low_rank = low_rank.fit(&y, Stop::automatic()).unwrap();
    round_trip(&exact);
    round_trip(&regions);
    round_trip(&low_rank);
    assert!(
        [&exact.outliers(), &regions.outliers(), &low_rank.outliers()]
            .iter()
            .all(|outliers| outliers.iter().any(|o| o.index == 77))
    );

    type RegionsFit = kgard::space::RegionsFit<f64, Gaussian<f64>>;
    type LowRankFit = kgard::space::LowRankFit<f64, Gaussian<f64>>;
    let whole = serde_json::to_value(&regions).unwrap();
    let mut damaged = whole.clone();
    damaged["parts"].as_array_mut().unwrap().pop();
    assert!(refused::<RegionsFit>(&damaged).contains("one cell for each region"));
    let mut damaged = whole.clone();
    damaged["parts"][0]["coefficients"].as_array_mut().unwrap().pop();
    assert!(refused::<RegionsFit>(&damaged).contains("coefficients"));
    let mut damaged = whole;
    damaged["lambda"] = json!(0.0);
    assert!(refused::<RegionsFit>(&damaged).contains("lambda"));
    let whole = serde_json::to_value(&low_rank).unwrap();
    let mut damaged = whole.clone();
    damaged["inverse"].as_array_mut().unwrap().pop();
    assert!(refused::<LowRankFit>(&damaged).contains("inverse"));
    let mut damaged = whole;
    damaged["found"]["outliers"][0]["index"] = json!(650);
    assert!(refused::<LowRankFit>(&damaged).contains("650"));
    let mut damaged = serde_json::to_value(&exact).unwrap();
    damaged["lambda"] = json!(-1.0);
    assert!(refused::<SpaceFit<f64, Gaussian<f64>>>(&damaged).contains("lambda"));
}
