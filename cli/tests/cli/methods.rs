//! `kgard fit --method`: all four, alike in what they read and write.

use crate::common::{Folder, PLANTED, csv, indices, numbers, sine};
use kgard::baselines::{Ram, RbRvm};
use kgard::{Fit, Gaussian, Plan, Regularizer};
use serde_json::Value;

const METHODS: [&str; 4] = ["kgard", "krr", "ram", "rb-rvm"];

fn with_sine() -> (Folder, Vec<f64>, Vec<f64>) {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv("x,y", &[&x, &y]));
    (folder, x, y)
}

#[track_caller]
fn same_function(json: &Value, fit: &Fit<f64, Gaussian<f64>>) {
    assert_eq!(numbers(&json["coefficients"]), fit.coefficients());
    assert_eq!(numbers(&json["fitted"]), fit.fitted());
    assert_eq!(numbers(&json["residual"]), fit.residual());
    assert_eq!(json["bias"].as_f64(), Some(fit.bias()));
    assert_eq!(json["residual_norm"].as_f64(), Some(fit.residual_norm()));
    assert_eq!(json["iterations"].as_u64(), u64::try_from(fit.iterations()).ok());
    assert_eq!(json["stop_reason"], fit.stop_reason().name());
}

#[test]
fn ram_is_the_library_s() {
    let (folder, x, y) = with_sine();
    let command = "fit data.csv --raw --method ram --sigma 0.2 --lambda 0.1 --mu 0.6 --json";
    for (options, regularizer) in [
        ("", Regularizer::rkhs(0.1)),
        ("--regularizer rkhs", Regularizer::rkhs(0.1)),
        ("--regularizer l2", Regularizer::l2(0.1)),
    ] {
        let json = folder.kgard(&format!("{command} {options}")).json();
        let plan = Plan::new(&x, Gaussian::new(0.2), regularizer).expect("a plan");
        let fit = Ram::new(0.6).unit(0.3).fit(&plan, &y).expect("a fit");
        same_function(&json, &fit);
        assert_eq!(&indices(&json)[..3], [77, 50, 13], "the largest first");
        assert_eq!(json["mu"], 0.6);
        assert_eq!(json["refit_lambda"], Value::Null);
        assert_eq!(json["stop_reason"], "tolerance");
        assert!(json["iterations"].as_u64() > Some(1));
    }
    let json = folder.kgard(command).json();
    assert_eq!(json["regularizer"], "rkhs");
    let bordered = folder.kgard(&format!("{command} --regularizer l2 --border 5:5")).json();
    assert_eq!(bordered["border"]["margin"], 5);
}

#[test]
fn rb_rvm_is_the_library_s() {
    let (folder, x, y) = with_sine();
    let json = folder.kgard("fit data.csv --raw --method rb-rvm --sigma 0.2 --json").json();
    let fit = RbRvm::new().fit(&x, &y, Gaussian::new(0.2)).expect("a fit");
    same_function(&json, &fit);
    assert_eq!(&indices(&json)[..3], [77, 50, 13], "the largest first");
    for key in ["lambda", "regularizer", "border", "refit_lambda", "mu"] {
        assert_eq!(json.get(key), Some(&Value::Null), "{key}");
    }
    assert_eq!(json["stop_reason"], "tolerance");
}

#[test]
fn what_is_not_given_is_tuned_in_any_unit() {
    let (folder, x, y) = with_sine();
    let tiny: Vec<f64> = y.iter().map(|y| 1e-6 * y).collect();
    folder.write("tiny.csv", csv("x,y", &[&x, &tiny]));
    for method in METHODS {
        let fit = |data: &str| {
            let command = format!("fit {data} --method {method} --kernel gaussian --json");
            folder.kgard(&command).json()
        };
        let (json, small) = (fit("data.csv"), fit("tiny.csv"));
        assert!(json["sigma"].as_f64() > Some(0.0), "{method}");
        assert_eq!(json["lambda"].is_null(), method == "rb-rvm", "{method}");
        assert_eq!(json["mu"].is_null(), method != "ram", "{method}");
        if method != "krr" {
            let mut found = indices(&json)[..3].to_vec();
            found.sort_unstable();
            assert_eq!(found, PLANTED, "{method}");
            let truth = x.iter().map(|x| (10.0 * x).sin());
            let worst = truth.zip(numbers(&json["fitted"])).map(|(t, f)| (t - f).abs());
            assert!(worst.fold(0.0, f64::max) < 0.1, "{method}");
        }
        assert_eq!(indices(&json), indices(&small), "{method}");
        for (f, small) in numbers(&json["fitted"]).iter().zip(numbers(&small["fitted"])) {
            assert!((f - 1e6 * small).abs() < 1e-3, "{method}: {f} {small}");
        }
    }
}

#[test]
fn tuned_numbers_typed_again_give_the_same() {
    let (folder, ..) = with_sine();
    let json = folder.kgard("fit data.csv --method ram --kernel gaussian --json").json();
    let number = |key: &str| json[key].as_f64().expect("a number");
    let again = folder.kgard(&format!(
        "fit data.csv --method ram --sigma {} --lambda {} --mu {} --json",
        number("sigma"),
        number("lambda"),
        number("mu")
    ));
    assert_eq!(again.json(), json);
}

#[test]
fn models_predictions_and_pictures_of_all() {
    let (folder, ..) = with_sine();
    folder.write("grid.csv", "x\n0.05\n0.512\n0.9\n");
    for method in METHODS {
        let run = folder.kgard(&format!(
            "fit data.csv --method {method} --sigma 0.2 -o model.json --predict grid.csv \
             --predictions direct.csv --plot fit.svg"
        ));
        let text = run.ok();
        assert!(text.contains(&format!("method         {method}\n")), "{text}");
        let predicted = folder.kgard("predict model.json grid.csv");
        assert_eq!(predicted.ok(), folder.read("direct.csv"), "{method}");
        let values = predicted.stdout().lines().skip(1);
        let values = values.filter_map(|line| line.rsplit(',').next()?.parse::<f64>().ok());
        if method != "krr" {
            for (x, value) in [0.05_f64, 0.512, 0.9].iter().zip(values) {
                assert!((value - (10.0 * x).sin()).abs() < 0.1, "{method}: {value} at {x}");
            }
        }
        let svg = folder.read("fit.svg");
        assert!(svg.contains(&format!("{method}: 100 points")), "{method}");
    }
}

#[test]
fn options_of_other_methods() {
    let (folder, ..) = with_sine();
    for (method, option, wanted) in [
        ("kgard", "--mu 1", "ram"),
        ("krr", "--mu 1", "ram"),
        ("krr", "--stop auto", "kgard"),
        ("krr", "--at-most 1", "kgard"),
        ("krr", "--refit-lambda 1", "kgard"),
        ("ram", "--stop auto", "kgard"),
        ("ram", "--at-most 1", "kgard"),
        ("ram", "--refit-lambda 1", "kgard"),
        ("rb-rvm", "--stop auto", "kgard"),
        ("rb-rvm", "--mu 1", "ram"),
        ("rb-rvm", "--lambda 1", "kgard, krr, ram"),
        ("rb-rvm", "--regularizer l2", "kgard, krr, ram"),
        ("rb-rvm", "--border 5:5", "kgard, krr, ram"),
    ] {
        let name = option.split(' ').next().expect("a word");
        folder.kgard(&format!("fit data.csv --method {method} {option}")).fails(
            2,
            &[
                &format!("{name} means nothing to --method {method}"),
                &format!("drop it; it is for {wanted}"),
            ],
        );
    }
    folder.kgard("fit data.csv --method ram --border 5:5").fails(2, &["give that"]);
    folder.kgard("fit data.csv --method ram --mu 0").fails(2, &["--mu"]);
    folder.kgard("fit data.csv --method ram --mu -1").fails(2, &["--mu"]);
}
