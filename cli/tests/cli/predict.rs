//! Models: saved, read again, evaluated.

use crate::common::{Folder, csv, sine};
use kgard::{Gaussian, Points, Regularizer, Stop};

const FIT: &str = "fit data.csv --raw --sigma 0.2 --lambda 0.1 -o model.json";

/// The last column of a CSV text, whose header must end in the target's name.
#[track_caller]
fn predictions(text: &str) -> Vec<f64> {
    let mut lines = text.lines().map(|line| line.rsplit(',').next().expect("a cell"));
    let name = lines.next();
    assert!([Some("y"), Some("prediction")].contains(&name), "{name:?}");
    lines.map(|cell| cell.parse().expect("a number")).collect()
}

fn fitted(header: &str) -> (Folder, Vec<f64>) {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv(header, &[&x, &y]));
    folder.kgard(FIT).ok();
    let fit = kgard::fit(&x, &y, Gaussian::new(0.2), Regularizer::l2(0.1), Stop::automatic());
    (folder, fit.expect("a fit").predict_many(&GRID).expect("predictions"))
}

const GRID: [f64; 4] = [0.1, 1.0 / 3.0, 0.77, 2.0];

#[test]
fn equal_to_the_library_to_the_last_bit() {
    let (folder, expected) = fitted("x,y");
    folder.write("grid.csv", csv("x", &[&GRID]));
    folder.write("bare.csv", csv("", &[&GRID]));
    folder.kgard("predict model.json grid.csv -o out.csv").ok();
    assert_eq!(predictions(&folder.read("out.csv")), expected);
    assert!(folder.read("out.csv").starts_with("x,y\n0.1,"));
    let bare = folder.kgard("predict model.json bare.csv");
    assert_eq!(bare.ok(), folder.read("out.csv"));
    let piped = folder.kgard_stdin("predict model.json - -o -", folder.read("grid.csv"));
    assert_eq!(piped.ok(), folder.read("out.csv"));
    let piped = folder.kgard_stdin("predict - grid.csv", folder.read("model.json"));
    assert_eq!(piped.ok(), folder.read("out.csv"));
    let direct = folder.kgard(&format!("{FIT} --predict grid.csv --predictions direct.csv"));
    assert!(direct.ok().contains("outliers"));
    assert_eq!(folder.read("direct.csv"), folder.read("out.csv"));
}

#[test]
fn columns_by_name_and_cells_untouched() {
    let (folder, expected) = fitted("x,y");
    let rows = ["\"a, b\",0.10,7", "c,0.3333333333333333,", "d,+0.77,x", "e,2,y"];
    folder.write("grid.csv", format!("label,x,other\n{}\n", rows.join("\n")));
    let run = folder.kgard("predict model.json grid.csv");
    assert_eq!(predictions(run.ok()), expected);
    for (line, row) in run.ok().lines().skip(1).zip(rows) {
        assert!(line.starts_with(row), "{line}");
    }
}

#[test]
fn without_names() {
    let (folder, expected) = fitted("");
    folder.write("grid.csv", csv("anything", &[&GRID]));
    folder.write("bare.csv", csv("", &[&GRID]));
    assert_eq!(predictions(folder.kgard("predict model.json grid.csv").ok()), expected);
    let run = folder.kgard("predict model.json bare.csv");
    assert_eq!(predictions(run.ok()), expected);
    assert!(run.ok().starts_with("x1,prediction\n"));
}

#[test]
fn several_inputs_in_another_order() {
    let folder = Folder::new();
    let (a, y) = sine();
    let b: Vec<f64> = a.iter().map(|a| (7.0 * a).cos()).collect();
    folder.write("data.csv", csv("a,b,y", &[&a, &b, &y]));
    folder
        .kgard("fit data.csv --raw --kernel matern52 --sigma 0.5 --lambda 0.2 -o model.json")
        .ok();
    folder.write("grid.csv", csv("b,a", &[&[0.5, -0.5], &[0.1, 0.2]]));
    let points: Vec<f64> = a.iter().zip(&b).flat_map(|(&a, &b)| [a, b]).collect();
    let points = Points::new(&points, 2).expect("points");
    let kernel = kgard::Matern52::new(0.5);
    let fit = kgard::fit(points, &y, kernel, Regularizer::l2(0.2), Stop::automatic());
    let expected = fit.expect("a fit").predict_many(&[[0.1, 0.5], [0.2, -0.5]]);
    let run = folder.kgard("predict model.json grid.csv");
    assert_eq!(predictions(run.ok()), expected.expect("predictions"));
}

#[test]
fn all_kernels_survive_the_file() {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv("x,y", &[&x, &y]));
    folder.write("grid.csv", csv("x", &[&GRID]));
    for kernel in [
        "laplacian --sigma 0.3",
        "matern32 --sigma 0.3",
        "rational-quadratic --sigma 0.3 --alpha 2.5",
        "polynomial --degree 4 --gamma 0.7 --offset 0.1",
        "linear",
    ] {
        folder
            .kgard(&format!(
                "fit data.csv --kernel {kernel} --lambda 0.1 -o model.json --predict grid.csv \
                 --predictions direct.csv"
            ))
            .ok();
        let run = folder.kgard("predict model.json grid.csv");
        assert_eq!(run.ok(), folder.read("direct.csv"), "{kernel}");
    }
}

#[test]
fn grids_that_do_not_fit() {
    let (folder, _) = fitted("x,y");
    let check = |grid: &str, texts: &[&str]| {
        folder.write("grid.csv", grid);
        folder.kgard("predict model.json grid.csv").fails(1, texts);
    };
    check("z,y\n1,2\n", &["grid.csv: there is no column \"x\": the columns are \"z\", \"y\""]);
    check("1,2\n", &["grid.csv: line 1: 2 columns, but the model has 1 input"]);
    check("x\n1\nb\n", &["grid.csv: line 3, column 1 (\"x\"): \"b\" is not a number"]);
    check(
        "x,y,y_predicted\n1,2,3\n",
        &["the grid has a column \"y\" and \"y_predicted\" already: rename it"],
    );
    check("x\n", &["grid.csv: line 1: no rows follow the header"]);
}

#[test]
fn damaged_models() {
    let (folder, _) = fitted("x,y");
    folder.write("grid.csv", "x\n1\n");
    let good: serde_json::Value = serde_json::from_str(&folder.read("model.json")).expect("JSON");
    let check = |key: &str, value: serde_json::Value, text: &str| {
        let mut model = good.clone();
        model[key] = value;
        folder.write("bad.json", model.to_string());
        let run = folder.kgard("predict bad.json grid.csv");
        run.fails(1, &["bad.json: is not a usable model: ", text]);
    };
    check("format", "other".into(), "its format is \"other\"");
    check("version", 2.into(), "version 2 of the model format");
    check("points", serde_json::json!([]), "it has no points");
    check("points", serde_json::json!([[1.0]]), "100 coefficients for 1 point");
    check("coefficients", serde_json::json!([1.0]), "1 coefficients for 100 points");
    check("coefficients", serde_json::json!(["a"]), "invalid type: string \"a\"");
    check("inputs", serde_json::json!(["a", "b"]), "it names 2 inputs for 1 coordinates");
    check("sigma", (-1.0).into(), "sigma is -1: it must be positive");
    check("sigma", ().into(), "the gaussian kernel needs a sigma");
    check("kernel", "cubic".into(), "character 1, \"cubic\": there is no such kernel");
    check("lambda", 0.into(), "its lambda is 0");
    check("bias", ().into(), "invalid type: null");
    let mut points = good["points"].clone();
    points[5] = serde_json::json!([1.0, 2.0]);
    check("points", points, "point 5 has 2 coordinates, but point 0 has 1");

    let whole = folder.read("model.json");
    folder.write("bad.json", &whole[..whole.len() / 2]);
    folder
        .kgard("predict bad.json grid.csv")
        .fails(1, &["bad.json", "not a usable model", "line 1 column"]);
    folder.write("bad.json", whole.replace("\"bias\":", "\"bias\":1e999,\"x\":"));
    folder.kgard("predict bad.json grid.csv").fails(1, &["bad.json", "out of range"]);
    folder.write("bad.json", b"\xff\xfe\x00");
    folder.kgard("predict bad.json grid.csv").fails(1, &["bad.json", "not a usable model"]);
    folder.kgard("predict none.json grid.csv").fails(1, &["none.json: cannot be read"]);
    folder.kgard("predict - -").fails(2, &["standard input can be read only once"]);
}
