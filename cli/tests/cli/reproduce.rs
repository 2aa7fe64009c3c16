//! `kgard reproduce`, with few runs.

use crate::common::Folder;
use serde_json::Value;

fn rows(report: &Value) -> &Vec<Value> {
    report["rows"].as_array().expect("rows")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// All that does not depend on the clock.
fn timeless(mut report: Value) -> Value {
    for row in report["rows"].as_array_mut().expect("rows") {
        for key in ["seconds", "plan_seconds"] {
            assert!(row[key].is_null() || number(&row[key]) > 0.0, "{row}");
            row[key] = Value::Null;
        }
    }
    report
}

#[test]
fn table1_is_about_what_the_paper_says() {
    let folder = Folder::new();
    let report = folder.kgard("reproduce table1 --runs 6 --json").json();
    assert_eq!(report["table"], "table1");
    assert_eq!(report["runs"], 6);
    let kgard: Vec<&Value> = rows(&report).iter().filter(|row| row["method"] == "KGARD").collect();
    assert_eq!(kgard.len(), 8);
    for row in kgard {
        let paper = number(&row["paper"]["mse"]);
        let median = number(&row["mse_median"]);
        assert!((0.6..1.5).contains(&(median / paper)), "{row}");
        assert!(number(&row["correct"]) > 97.0 && number(&row["wrong"]) < 1.0, "{row}");
        let found_all = number(&row["mse_complete"]) / paper;
        assert!((0.6..1.5).contains(&found_all) && number(&row["complete"]) > 50.0, "{row}");
        assert!(number(&row["paper"]["seconds"]) > 0.0);
    }
    for row in rows(&report) {
        for key in ["noise", "outliers", "method", "parameters"] {
            assert!(row[key].is_string(), "{key} of {row}");
        }
        assert!(row["paper"].is_object() && number(&row["mse_error"]) > 0.0);
        if row["method"] == "KGARD + refit" {
            assert!(row["paper"]["mse"].is_null());
        }
    }
}

#[test]
fn tables_2_and_3() {
    let folder = Folder::new();
    let report = folder.kgard("reproduce table2 --runs 4 --json").json();
    for row in rows(&report).iter().filter(|row| row["method"] == "KGARD") {
        let ratio = number(&row["mse_median"]) / number(&row["paper"]["mse"]);
        assert!((0.5..1.6).contains(&ratio), "{row}");
    }
    let report = folder.kgard("reproduce table3 --runs 10 --json").json();
    for row in rows(&report).iter().filter(|row| row["method"] == "KGARD") {
        let ratio = number(&row["mse_median"]) / number(&row["paper"]["mse"]);
        assert!((0.5..1.6).contains(&ratio), "{row}");
        assert!(row["correct"].is_null() && row["wrong"].is_null() && row["outliers"].is_null());
        assert!(row["complete"].is_null() && row["mse_complete"].is_null());
    }
}

#[test]
fn theorem_1_has_no_exception() {
    let report = Folder::new().kgard("reproduce figure1 --runs 30 --json").json();
    let mut held = 0.0;
    for row in rows(&report) {
        assert_eq!(row["violations"], 0, "{row}");
        assert!(number(&row["correct"]) > 99.0 && number(&row["wrong"]) < 1.0, "{row}");
        held += number(&row["condition"]);
        match number(&row["u"]) {
            u if u <= 100.0 => assert!(number(&row["condition"]) < 30.0, "{row}"),
            u if u > 600.0 => assert!(number(&row["condition"]) > 90.0, "{row}"),
            _ => {}
        }
    }
    assert!(held > 0.0);
}

#[test]
fn threads_change_nothing() {
    let folder = Folder::new();
    let run = |options: &str| {
        let command = format!("reproduce {options} --json");
        timeless(folder.kgard(&command).json())
    };
    for what in ["table3 --runs 3", "figure1 --runs 4"] {
        let one = run(&format!("{what} --threads 1"));
        assert_eq!(one, run(&format!("{what} --threads 2")));
        assert_ne!(one, run(&format!("{what} --seed 2")));
    }
}

#[test]
fn files() {
    let folder = Folder::new();
    let run = folder.kgard("reproduce all --runs 2 --out new/results --json");
    let reports = run.json();
    let reports = reports.as_array().expect("an array");
    let names: Vec<&str> = reports.iter().map(|r| r["table"].as_str().expect("a name")).collect();
    assert_eq!(names, ["table1", "table2", "table3", "figure1"]);
    assert_eq!(run.stderr(), "", "no bar where there is no terminal");
    for report in reports {
        let name = report["table"].as_str().expect("a name");
        let read = |extension: &str| folder.read(&format!("new/results/{name}.{extension}"));
        let json: Value = serde_json::from_str(&read("json")).expect("JSON");
        assert_eq!(&json, report);
        let table = read("csv");
        let mut csv = csv::Reader::from_reader(table.as_bytes());
        let cells = csv.headers().expect("a header").len();
        let lines: Vec<_> = csv.records().map(|record| record.expect("a record")).collect();
        assert_eq!(lines.len(), rows(report).len());
        assert!(lines.iter().all(|line| line.len() == cells));
        let markdown = read("md");
        let table = markdown.lines().filter(|line| line.starts_with('|')).count();
        assert_eq!(table, rows(report).len() + 2);
    }
    let svg = folder.read("new/results/figure1.svg");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    let png = std::fs::read(folder.path("new/results/figure1.png")).expect("a picture");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let count = std::fs::read_dir(folder.path("new/results")).expect("a folder").count();
    assert_eq!(count, 4 * 3 + 2 + 1, "nothing else");
    // A page with all of it, and with nothing that is elsewhere.
    let page = folder.read("new/results/report.html");
    assert_eq!(page.matches("<tr><th").count(), 4);
    let lines: usize = reports.iter().map(|report| rows(report).len()).sum();
    assert_eq!(page.matches("<tr><td").count(), lines);
    assert!(page.contains(svg.trim()) && page.contains("<dt>seed</dt><dd>1</dd>"));
    let namespace = "xmlns=\"http://www.w3.org/2000/svg\"";
    assert!(!page.replace(namespace, "").contains("://"), "an address on the page");
}

#[test]
fn tables_for_people() {
    let folder = Folder::new();
    let text = folder.kgard("reproduce table3 --runs 2").ok().to_owned();
    for part in ["## Table 3", "| KGARD ", "0.9171", "lambda 0.18", "2 runs, seed 1"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    folder.write("file", "");
    for (options, code, texts) in [
        ("", 2, &["WHAT"][..]),
        ("table9", 2, &["table9", "table1"]),
        ("table1 --runs 0", 2, &["--runs", "0"]),
        ("table1 --runs -5", 2, &["--runs", "-5"]),
        ("table1 --runs 2.5", 2, &["--runs", "2.5"]),
        ("table1 --runs 1e9", 2, &["--runs"]),
        ("table1 --threads 0", 2, &["--threads", "0"]),
        ("table1 --threads 70000", 2, &["--threads"]),
        ("table1 --seed -1", 2, &["--seed"]),
        ("table1 --runs 1 --out file", 1, &["file"]),
        ("table1 --runs 1 --out file/below", 1, &["file/below"]),
    ] {
        let run = folder.kgard(&format!("reproduce {options}"));
        assert_eq!(run.code(), code, "{options}: {}", run.stderr());
        for text in texts {
            assert!(run.stderr().contains(text), "{options}: {}", run.stderr());
        }
    }
}

#[test]
fn table4_on_small_pictures() {
    use crate::pictures::clean;
    use image::ColorType;
    let folder = Folder::new();
    folder.kgard("reproduce table4 --runs 1").fails(2, &["--images"]);
    folder.save("lena.png", &clean(ColorType::L8, 64, 48));
    let command = "reproduce table4 --runs 1 --images . --out results --json";
    folder.kgard(command).fails(1, &["boat_waterloo.png", "boat.png"]);
    // The Waterloo picture goes first; colours become grey.
    folder.save("boat_waterloo.png", &clean(ColorType::Rgb8, 48, 48));
    folder.write("boat.png", "no picture");
    folder.save("barbara.png", &clean(ColorType::L8, 48, 48));
    let report = folder.kgard(command).json();
    assert_eq!((&report["table"], &report["runs"]), (&"table4".into(), &1.into()));
    assert_eq!(rows(&report).len(), 6 * 6 + 2 * 5);
    for row in rows(&report) {
        let psnr = number(&row["psnr"]);
        assert!((20.0..60.0).contains(&psnr), "{row}");
        assert!(number(&row["seconds"]) > 0.0);
        let text = |key: &str| row[key].as_str().expect("a text").to_owned();
        // The paper has no KGARD without BM3D on boat and Barbara.
        let silent = text("method") == "KGARD, the paper's" && !text("noise").starts_with("lena");
        let has_paper = !text("method").contains("automatic") && !silent;
        assert_eq!(row["paper"]["psnr"].is_number(), has_paper, "{row}");
        assert_eq!(row["correct"].is_number(), row["method"] != "BM3D", "{row}");
    }
    let names = std::fs::read_dir(folder.path("results")).expect("a folder");
    assert_eq!(names.count(), 3 + 6 + 1);
    let page = folder.read("results/report.html");
    assert_eq!(page.matches("src=\"data:image/png;base64,iVBORw0").count(), 6);
    assert_eq!(folder.open("results/table4-lena-clean.png").width(), 64);
}
