//! `kgard fit` against the library called directly.

use crate::common::{Folder, PLANTED, Random, csv, indices, numbers, sine};
use kgard::{
    Fit, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Points, Polynomial,
    RationalQuadratic, Regularizer, Stop, border_weights,
};
use serde_json::Value;

fn with_sine(header: &str) -> (Folder, Vec<f64>, Vec<f64>) {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv(header, &[&x, &y]));
    (folder, x, y)
}

#[track_caller]
fn same_as_library<K: Kernel<f64>>(json: &Value, fit: &Fit<f64, K>) {
    assert_eq!(numbers(&json["coefficients"]), fit.coefficients());
    assert_eq!(numbers(&json["fitted"]), fit.fitted());
    assert_eq!(numbers(&json["residual"]), fit.residual());
    assert_eq!(json["bias"].as_f64(), Some(fit.bias()));
    assert_eq!(json["residual_norm"].as_f64(), Some(fit.residual_norm()));
    let expected: Vec<(usize, f64)> = fit.outliers().iter().map(|o| (o.index, o.value)).collect();
    let values = json["outliers"].as_array().expect("outliers").iter();
    let values = values.map(|o| o["value"].as_f64().expect("a value"));
    assert_eq!(indices(json).into_iter().zip(values).collect::<Vec<_>>(), expected);
}

#[test]
fn planted_outliers_are_found_and_all_keys_are_there() {
    let (folder, x, y) = with_sine("x,y");
    let json = folder.kgard("fit data.csv --raw --sigma 0.2 --lambda 0.1 --json").json();
    let fit = kgard::fit(&x, &y, Gaussian::new(0.2), Regularizer::l2(0.1), Stop::automatic());
    same_as_library(&json, &fit.expect("a fit"));
    let mut found = indices(&json);
    assert_eq!(found, [77, 50, 13], "the worst first");
    found.sort_unstable();
    assert_eq!(found, PLANTED);
    for (key, value) in [
        ("method", Value::from("kgard")),
        ("n", 100.into()),
        ("kernel", "gaussian".into()),
        ("sigma", 0.2.into()),
        ("lambda", 0.1.into()),
        ("regularizer", "l2".into()),
        ("border", Value::Null),
        ("refit_lambda", Value::Null),
        ("centre", Value::Null),
        ("iterations", 3.into()),
        ("stop_reason", "automatic".into()),
        ("inputs", vec!["x"].into()),
        ("target", "y".into()),
    ] {
        assert_eq!(json.get(key), Some(&value), "{key}");
    }
}

#[test]
fn stopping_rules() {
    let (folder, x, y) = with_sine("");
    for (option, stop, reason) in [
        ("--stop norm:2", Stop::residual_norm(2.0), "residual_norm"),
        ("--stop max:1", Stop::max_residual(1.0), "max_residual"),
        ("--stop auto", Stop::automatic(), "automatic"),
        ("--at-most 2", Stop::automatic().at_most(2), "cap"),
        ("--stop max:0 --at-most 4", Stop::count(4), "cap"),
    ] {
        let command = format!("fit data.csv --raw --sigma 0.2 --lambda 0.1 --json {option}");
        let json = folder.kgard(&command).json();
        let fit = kgard::fit(&x, &y, Gaussian::new(0.2), Regularizer::l2(0.1), stop);
        same_as_library(&json, &fit.expect("a fit"));
        assert_eq!(json["stop_reason"], reason, "{option}");
        assert_eq!(json["inputs"], Value::Null);
    }
}

#[test]
fn penalties_refit_and_ridge() {
    let (folder, x, y) = with_sine("");
    let library = |regularizer, stop| {
        kgard::fit(&x, &y, Gaussian::new(0.2), regularizer, stop).expect("a fit")
    };
    let program = |options: &str| {
        folder
            .kgard(&format!("fit data.csv --raw --sigma 0.2 --lambda 0.1 --json {options}"))
            .json()
    };
    let mut weights = [0.0; 100];
    border_weights(&mut weights, 5, 5.0);
    let border = Regularizer::l2(0.1).with_weights(&weights);

    let json = program("--regularizer rkhs");
    same_as_library(&json, &library(Regularizer::rkhs(0.1), Stop::automatic()));
    let json = program("--border 5:5");
    same_as_library(&json, &library(border, Stop::automatic()));
    assert_eq!(json["border"]["margin"], 5);
    assert_eq!(json["border"]["factor"], 5.0);
    let json = program("--method krr");
    same_as_library(&json, &library(Regularizer::l2(0.1), Stop::count(0)));
    assert_eq!(json["iterations"], 0);

    let first = library(border, Stop::automatic());
    let refit = first.refit(&y, Regularizer::l2(0.01).with_weights(&weights)).expect("a fit");
    let json = program("--border 5:5 --refit-lambda 0.01");
    same_as_library(&json, &refit);
    assert_eq!(json["stop_reason"], "automatic", "that of the search");
    assert_eq!(json["refit_lambda"], 0.01);
    assert_eq!(json["lambda"], 0.1);
}

#[test]
fn what_may_be_wrong_is_said() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let mut column = || (0..60).map(|_| random.unit()).collect::<Vec<f64>>();
    let (a, b) = (column(), column());
    let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (5.0 * a).sin() + b).collect();
    let far: Vec<f64> = b.iter().map(|b| 1000.0 * b).collect();
    folder.write("units.csv", csv("a,b,y", &[&a, &far, &y]));
    let word = "share one length: give each its own";
    let run = folder.kgard("fit units.csv --sigma 0.5 --lambda 0.1");
    assert!(run.code() == 0 && run.stderr().contains(word), "{}", run.stderr());
    for kernel in ["gaussian(0.5, 500)", "gaussian"] {
        let run = folder.kgard_args(&["fit", "units.csv", "--kernel", kernel, "--lambda", "0.1"]);
        assert_eq!((run.code(), run.stderr()), (0, ""), "{kernel}");
    }

    // Four narrow peaks on a flat ground look like four bursts of errors.
    let x: Vec<f64> = (0..257).map(|i| f64::from(i) / 256.0).collect();
    let noise = |i: usize| 0.1 * ((i * i % 37) as f64 / 18.0 - 1.0);
    let peak = |x: f64, at: f64| 5.0 * (-((x - at) / 0.01).powi(2)).exp();
    let peaks = |x: f64| [0.2, 0.35, 0.6, 0.83].iter().map(|&at| peak(x, at)).sum::<f64>();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, &x)| peaks(x) + noise(i)).collect();
    folder.write("peaks.csv", csv("x,y", &[&x, &y]));
    let run = folder.kgard("fit peaks.csv");
    let few = run.ok().contains("outliers       0");
    assert!(few || run.stderr().contains("lie side by side"), "{}", run.stderr());
    // What the word recommends helps.
    let json = folder.kgard("fit peaks.csv --method krr --json").json();
    let off = x.iter().zip(numbers(&json["fitted"])).map(|(&x, f)| (f - peaks(x)).powi(2));
    assert!((off.sum::<f64>() / 257.0).sqrt() < 0.1);
    // Single outliers are no peaks.
    let (sine, ..) = with_sine("x,y");
    assert_eq!(sine.kgard("fit data.csv").stderr(), "");
}

/// The same fit wherever the target lies, with any method whose numbers are given.
#[test]
fn an_offset_of_the_target_is_not_shrunk() {
    let (folder, x, y) = with_sine("x,y");
    let far: Vec<f64> = y.iter().map(|y| y + 1000.0).collect();
    folder.write("far.csv", csv("x,y", &[&x, &far]));
    let mut sorted = y.clone();
    sorted.sort_by(f64::total_cmp);
    let median = f64::midpoint(sorted[49], sorted[50]);
    let centred: Vec<f64> = y.iter().map(|y| y - median).collect();
    let library =
        kgard::fit(&x, &centred, Gaussian::new(0.2), Regularizer::l2(0.1), Stop::automatic());
    let library = library.expect("a fit");
    for options in [
        "",
        "--stop max:1",
        "--border 5:5",
        "--refit-lambda 0.01",
        "--regularizer rkhs",
        "--method krr",
        "--method ram --mu 0.6 --regularizer l2",
    ] {
        let fit = |data: &str, more: &str| {
            let numbers = "--sigma 0.2 --lambda 0.1 --json -o model.json";
            folder.kgard(&format!("fit {data} {numbers} {options} {more}"))
        };
        let near = fit("data.csv", "").json();
        if options.is_empty() {
            assert_eq!(numbers(&near["coefficients"]), library.coefficients());
            assert_eq!(near["centre"], median);
            assert_eq!(near["bias"], library.bias() + median);
        }
        let run = fit("far.csv", "");
        assert_eq!(run.stderr(), "", "{options}");
        let shifted = run.json();
        assert_eq!(indices(&near), indices(&shifted), "{options}");
        for (near, far) in numbers(&near["fitted"]).iter().zip(numbers(&shifted["fitted"])) {
            assert!((near + 1000.0 - far).abs() < 1e-8, "{options}: {near} {far}");
        }
        let model: Value = serde_json::from_str(&folder.read("model.json")).expect("a model");
        assert_eq!(model["centre"], shifted["centre"]);
        folder.write("grid.csv", "x\n0.05\n");
        let predicted = folder.kgard("predict model.json grid.csv");
        let value: f64 = predicted.ok().lines().nth(1).unwrap()[5..].parse().expect("a number");
        assert!((value - numbers(&shifted["fitted"])[5]).abs() < 1e-8, "{options}: {value}");
    }
    // The paper's model as printed, and a word about what it does to the bias.
    let raw = folder.kgard("fit far.csv --sigma 0.2 --lambda 0.1 --raw --json");
    assert!(raw.stderr().contains("shrinks the bias: drop --raw"), "{}", raw.stderr());
    let literal = kgard::fit(&x, &far, Gaussian::new(0.2), Regularizer::l2(0.1), Stop::automatic());
    same_as_library(&raw.json(), &literal.expect("a fit"));
    let summary = folder.kgard("fit far.csv --sigma 0.2 --lambda 0.1");
    assert!(summary.ok().contains("(target centred at 1000"), "{}", summary.stdout());
    // No value is too far from the median to be taken out.
    let mut gross = y.clone();
    gross[13] = f64::MAX;
    folder.write("gross.csv", csv("x,y", &[&x, &gross]));
    let json = folder.kgard("fit gross.csv --sigma 0.2 --lambda 0.1 --json").json();
    assert_eq!(indices(&json), [13, 77, 50]);
}

#[test]
fn all_kernels() {
    let (folder, x, y) = with_sine("x,y");
    let check = |options: &str, kernel: &dyn Fn(&[f64], &[f64]) -> f64, sigma: Value| {
        let command = format!("fit data.csv --raw --lambda 0.1 --stop max:1 --json {options}");
        let json = folder.kgard(&command).json();
        let regularizer = Regularizer::l2(0.1);
        let fit = kgard::fit(&x, &y, kernel, regularizer, Stop::max_residual(1.0)).expect("a fit");
        same_as_library(&json, &fit);
        assert_eq!(json["sigma"], sigma);
        let name = options.split([' ', '(']).nth(1).expect("a name");
        assert_eq!(json["kernel"], name);
    };
    macro_rules! check {
        ($options:expr, $kernel:expr, $sigma:expr) => {
            check($options, &|a: &[f64], b: &[f64]| $kernel.evaluate(a, b), Value::from($sigma))
        };
    }
    check!("--kernel gaussian --sigma 0.3", Gaussian::new(0.3), 0.3);
    check!("--kernel laplacian --sigma 0.3", Laplacian::new(0.3), 0.3);
    check!("--kernel matern32 --sigma 0.3", Matern32::new(0.3), 0.3);
    check!("--kernel matern52 --sigma 0.3", Matern52::new(0.3), 0.3);
    let rational = RationalQuadratic::new(0.3, 1.0);
    check!("--kernel rational-quadratic --sigma 0.3", rational, 0.3);
    let rational = RationalQuadratic::new(0.3, 2.5);
    check!("--kernel rational-quadratic --sigma 0.3 --alpha 2.5", rational, 0.3);
    check!("--kernel polynomial --degree 3", Polynomial::new(1.0, 1.0, 3), ());
    let polynomial = Polynomial::new(2.0, 0.0, 4);
    check!("--kernel polynomial --degree 4 --gamma 2 --offset 0", polynomial, ());
    check!("--kernel linear(length=1)", Linear, ());
}

#[test]
fn target_by_name_and_number_among_several_inputs() {
    let folder = Folder::new();
    let mut random = Random::new(3);
    let mut column = || (0..60).map(|_| random.unit()).collect::<Vec<f64>>();
    let (a, b) = (column(), column());
    let mut y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * a - b).collect();
    y[20] -= 6.0;
    folder.write("named.csv", csv("a,the target,b", &[&a, &y, &b]));
    folder.write("numbered.csv", csv("", &[&a, &y, &b]));
    folder.write("last.csv", csv("a,b,y", &[&a, &b, &y]));
    let points: Vec<f64> = a.iter().zip(&b).flat_map(|(&a, &b)| [a, b]).collect();
    let points = Points::new(&points, 2).expect("points");
    let fit = kgard::fit(points, &y, Gaussian::new(1.0), Regularizer::l2(0.1), Stop::automatic());
    let fit = fit.expect("a fit");
    assert_eq!(fit.outliers()[0].index, 20);
    for data in
        ["named.csv --target 2", "numbered.csv --target 2", "last.csv", "last.csv --target y"]
    {
        let json = folder.kgard(&format!("fit {data} --raw --sigma 1 --lambda 0.1 --json")).json();
        same_as_library(&json, &fit);
    }
    let output = assert_cmd::cargo::cargo_bin_cmd!("kgard")
        .args(["fit", "--sigma", "1", "--lambda", "0.1", "--target", "the target"])
        .arg(folder.path("named.csv"))
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("2 inputs (a, b), target the target"), "{text}");
    assert!(text.contains("\n            20  "), "{text}");
}

#[test]
fn the_summary_says_it_all() {
    let (folder, ..) = with_sine("time,level");
    let run = folder.kgard("fit data.csv --sigma 0.2 --lambda 0.1");
    let text = run.ok();
    for part in [
        "100 points, 1 input (time), target level",
        "kgard",
        "gaussian(0.2)",
        "l2, lambda 0.1",
        "residual norm",
        "automatic: no residual stands out any more",
        "outliers       3",
        "row (from 0)  time",
        "77  0.77  ",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    assert_eq!(run.stderr(), "");
}

#[test]
fn standard_input_and_windows_files() {
    let (folder, x, y) = with_sine("x,y");
    let plain = folder.kgard("fit data.csv --sigma 0.2 --lambda 0.1 --json").json();
    let text = format!("\u{feff}{}\n\n", csv("x, y", &[&x, &y])).replace('\n', "\r\n");
    let piped = folder.kgard_stdin("fit - --sigma 0.2 --lambda 0.1 --json", text).json();
    assert_eq!(plain, piped);
}

#[test]
fn a_single_row_and_duplicate_rows_are_no_problem() {
    let folder = Folder::new();
    folder.write("one.csv", "1,2\n");
    folder.write("same.csv", "1,2\n1,2\n1,2\n1,9\n");
    for data in ["one.csv", "same.csv"] {
        for norm in ["l2", "rkhs"] {
            let command = format!("fit {data} --sigma 1 --lambda 0.1 --regularizer {norm} --json");
            assert!(folder.kgard(&command).json()["bias"].is_f64());
        }
    }
}

#[test]
fn kernels_as_formulas() {
    let (folder, x, y) = with_sine("x,y");
    let formula = "matern52(0.4) + 0.5 * periodic(0.7, width=0.9) * gaussian(2)";
    let arguments = ["fit", "data.csv", "--raw", "--kernel", formula, "--lambda", "0.1", "--json"];
    let json = folder.kgard_args(&[&arguments[..], &["-o", "model.json"]].concat()).json();
    let periodic = kgard::Periodic::new(0.7).with_width(0.9);
    let kernel = Matern52::new(0.4).plus(periodic.times(Gaussian::new(2.0)).scaled(0.5));
    let fit = kgard::fit(&x, &y, kernel, Regularizer::l2(0.1), Stop::automatic()).expect("a fit");
    for (ours, theirs) in numbers(&json["fitted"]).iter().zip(fit.fitted()) {
        assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
    }
    assert_eq!(json["kernel"], formula);
    assert_eq!(json["sigma"], Value::Null);
    folder.write("grid.csv", "x\n0.3\n");
    let run = folder.kgard("predict model.json grid.csv");
    let value: f64 = run
        .ok()
        .lines()
        .nth(1)
        .and_then(|row| row.split(',').nth(1))
        .expect("a cell")
        .parse()
        .expect("a number");
    assert!((value - fit.predict(&[0.3]).expect("a prediction")).abs() < 1e-9);

    for (kernel, texts) in [
        ("matern52(0.4) + gausian", "character 17, \"gausian\": there is no such kernel"),
        ("gaussian(0)", "character 10, \"0\": a length must be positive and finite"),
        ("gaussian(1, 2)", "list of lengths has length 2, but 1 is needed"),
        ("gaussian(1)[x2]", "point has length 1: make it at least 2"),
    ] {
        let run = folder.kgard_args(&["fit", "data.csv", "--kernel", kernel, "--lambda", "1"]);
        assert!(run.code() > 0 && run.stderr().contains(texts), "{}", run.stderr());
    }
    // What is open is taken from the data, and what is given stays.
    let open = "gaussian + periodic(1)";
    let json = folder.kgard_args(&["fit", "data.csv", "--kernel", open, "--json"]).json();
    let tuned = json["kernel"].as_str().expect("a kernel");
    assert!(tuned.starts_with("gaussian(") && tuned.contains("periodic(1, "), "{tuned}");
    let run = folder.kgard_args(&["fit", "data.csv", "--kernel", "gaussian(1)", "--sigma", "2"]);
    run.fails(2, &["the gaussian(1) kernel has no --sigma"]);
}

/// Rows of a smooth function of `dim` inputs with noise, every 500th off by 5.
fn many_rows(n: usize, dim: usize) -> String {
    let mut random = Random::new(1);
    let mut columns = vec![Vec::new(); dim + 1];
    for i in 0..n {
        let x: Vec<f64> = if dim == 1 {
            vec![i as f64 / 50.0]
        } else {
            (0..dim).map(|_| 0.5 + 0.5 * random.unit()).collect()
        };
        let f = if dim == 1 { (0.5 * x[0]).sin() } else { x.iter().map(|x| (4.0 * x).sin()).sum() };
        let wrong = if i % 500 == 250 { 5.0 } else { 0.0 };
        let noise = 0.15 * (random.unit() + random.unit() + random.unit());
        for (column, x) in columns.iter_mut().zip(x) {
            column.push(x);
        }
        columns[dim].push(f + noise + wrong);
    }
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    csv(if dim == 1 { "x0,y" } else { "x0,x1,y" }, &columns)
}

#[test]
fn many_points_take_another_way_and_say_which() {
    let folder = Folder::new();
    for (dim, way) in [(1, "exact on a line, in O(n)"), (2, "a kernel matrix of rank")] {
        folder.write("many.csv", many_rows(5500, dim));
        let json = folder.kgard("fit many.csv -o model.json --json").json();
        assert!(json["way"].as_str().unwrap().starts_with(way), "{}", json["way"]);
        let outliers = indices(&json);
        assert!((0..11).all(|k| outliers.contains(&(500 * k + 250))), "{outliers:?}");
        assert!(outliers.len() < 20, "{outliers:?}");
        folder.write("grid.csv", if dim == 1 { "x0\n55.5\n" } else { "x0,x1\n0.3,0.6\n" });
        let run = folder.kgard("predict model.json grid.csv");
        let value: f64 =
            run.ok().lines().nth(1).unwrap().rsplit(',').next().unwrap().parse().unwrap();
        let truth = if dim == 1 { 27.75_f64.sin() } else { 1.2_f64.sin() + 2.4_f64.sin() };
        assert!((value - truth).abs() < 0.1, "{value} for {truth}");
        // The same from the file as at once, with intervals of measurements.
        folder.kgard("fit many.csv --predict grid.csv --predictions at-once.csv --interval").ok();
        let run = folder.kgard("predict model.json grid.csv --interval");
        assert_eq!(run.ok(), folder.read("at-once.csv"));
        let row = run.ok().lines().nth(1).unwrap().to_owned();
        let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [mean, deviation, low, high] = cells[dim..] else { panic!("{row}") };
        assert!(low < truth && truth < high && (mean - low - (high - mean)).abs() < 1e-9, "{row}");
        // The noise is the sum of three uniform numbers in -0.15 to 0.15.
        assert!((deviation - 0.15).abs() < 0.02, "{row}");
        // Half a model is none.
        let text = folder.read("model.json");
        folder.write("half.json", text.replacen("\"many\":", "\"other\":", 1));
        folder.kgard("predict half.json grid.csv").fails(1, &["it has no points"]);
    }
}

/// Weights make the noise of known size: what is far off by its own deviation only counts.
#[test]
fn weights_of_many_points_on_a_line() {
    let folder = Folder::new();
    let mut random = Random::new(7);
    let (mut x, mut y, mut w) = (vec![], vec![], vec![]);
    for i in 0..5200 {
        // Every other sample is ten times as noisy.
        let deviation = if i % 2 == 0 { 0.02 } else { 0.2 };
        x.push(i as f64 / 50.0);
        let off = if i == 2600 { 0.25 } else { 0.0 };
        let noise = random.unit() + random.unit() + random.unit();
        y.push((0.5 * x[i]).sin() + deviation * noise + off);
        w.push(1.0 / (deviation * deviation));
    }
    folder.write("data.csv", csv("t,y,w", &[&x, &y, &w]));
    let json = folder.kgard("fit data.csv --target y --weights w --json").json();
    assert!(json["way"].as_str().unwrap().starts_with("exact on a line"), "{}", json["way"]);
    assert_eq!(indices(&json), [2600]);
    let run = folder.kgard("clean data.csv --weights w -o out.csv --json").json();
    assert_eq!(run["series"][0]["outliers"], 1);
    let noise = run["series"][0]["noise"].as_f64().unwrap();
    assert!((noise - 1.0).abs() < 0.1, "{noise}");
    folder.write("bad.csv", "t,y,w\n1,2,1\n2,3,0\n");
    folder.kgard("clean bad.csv --weights w").fails(1, &["line 3", "weight 0 is not positive"]);
}
