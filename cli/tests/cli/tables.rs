//! Tables as people have them: every way of writing gives the same fit.

use crate::common::{Folder, PLANTED, Random, csv, indices, numbers, sine};
use serde_json::{Value, json};
use std::fmt::Write;

const NUMBERS: &str = "--sigma 0.2 --lambda 0.1";

/// The sine with outliers as a table of two columns.
fn data() -> (Folder, Vec<f64>, Vec<f64>) {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv("x,y", &[&x, &y]));
    (folder, x, y)
}

#[test]
fn every_dialect_is_the_same_data() {
    let (folder, ..) = data();
    let plain = folder.read("data.csv");
    let expected = folder.kgard(&format!("fit data.csv {NUMBERS} --json")).json();
    let with = |from: &str, to: &str| plain.replace(from, to);
    for (what, text) in [
        ("semicolons", with(",", ";")),
        ("tabs", with(",", "\t")),
        ("decimal commas", with(",", ";").replace('.', ",")),
        ("tabs and decimal commas", with(",", "\t").replace('.', ",")),
        (
            "comments",
            format!("# a sensor, #3; it's \"old\"\n\n{}\n# the end", with("\n0.5,", "\n#,\n0.5,")),
        ),
        ("a mark of the byte order", format!("\u{feff}{plain}")),
        ("quoted names", with("x,y", "\"x\",\"y\"")),
        ("spaces", with(",", " , ")),
        ("old line ends", with("\n", "\r")),
    ] {
        folder.write("other.csv", &text);
        let json = folder.kgard(&format!("fit other.csv {NUMBERS} --json")).json();
        assert_eq!(json, expected, "{what}");
    }
    let json = folder.kgard_stdin(&format!("fit - {NUMBERS} --json"), with("x,y\n", "")).json();
    assert_eq!((&json["fitted"], &json["inputs"]), (&expected["fitted"], &Value::Null));
}

#[test]
fn predictions_are_written_as_the_grid_is() {
    let (folder, ..) = data();
    folder.kgard(&format!("fit data.csv {NUMBERS} -o model.json")).ok();
    folder.write("grid.csv", "x\n0.125\n0.5\n");
    let plain = folder.kgard("predict model.json grid.csv").ok().to_owned();
    assert!(plain.starts_with("x,y\n0.125,"));
    folder.write("grid.csv", "name;x\na;0,125\nb;0,5\n");
    let run = folder.kgard("predict model.json grid.csv");
    let expected = plain.replace("x,y", "name,x,y").replace("\n0.1", "\na,0.1");
    let expected = expected.replace("\n0.5", "\nb,0.5").replace(',', ";").replace('.', ",");
    assert_eq!(run.ok(), expected);
    // Where the grid has the target, its predictions have another name.
    let run = folder.kgard("predict model.json data.csv");
    assert!(run.ok().starts_with("x,y,y_predicted\n"));
}

#[test]
fn columns_are_chosen() {
    let folder = Folder::new();
    let mut random = Random::new(8);
    let mut column = || (0..50).map(|_| random.unit()).collect::<Vec<f64>>();
    let (a, b, c) = (column(), column(), column());
    let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (3.0 * a).sin() + b * b).collect();
    folder.write("plain.csv", csv("b,a,y", &[&b, &a, &y]));
    let expected = folder.kgard(&format!("fit plain.csv {NUMBERS} --json")).json();
    let mut text = "id,a,city,y,b,c\n".to_owned();
    for i in 0..50 {
        let city = ["Paris", "Rome", ""][i % 3];
        let _ = writeln!(text, "n{i},{},{city},{},{},{}", a[i], y[i], b[i], c[i]);
    }
    folder.write("data.csv", &text);
    let fit = |options: &str| folder.kgard(&format!("fit data.csv {NUMBERS} --json {options}"));
    for options in
        ["--target y --inputs b,a", "--target 4 --inputs 5,2", "--target y --inputs b --inputs a"]
    {
        let json = fit(options).json();
        assert_eq!(json["fitted"], expected["fitted"], "{options}");
        assert_eq!(json["inputs"], json!(["b", "a"]));
        assert_eq!(json["dropped"], json!({"count": 0, "rows": []}));
    }
    let json = fit("--target y --ignore id,city,c").json();
    assert_eq!(json["inputs"], json!(["a", "b"]));
    // The last column that has no other use is the target.
    assert_eq!(fit("--ignore id,city,c,b --target y").json()["inputs"], json!(["a"]));
    assert_eq!(fit("--ignore id,city,c").json()["target"], "b");
    assert_eq!(fit("--inputs b,c --ignore id").code(), 2);
    fit("--target y").fails(1, &["column \"id\" has words (\"n0\" in line 2)"]);
    fit("--target y --ignore id").fails(
        1,
        &["column \"city\" has words (\"Paris\" in line 2): leave it out with --ignore city"],
    );
    fit("--target y --inputs a,a").fails(2, &["column 2 of data.csv is given twice"]);
    fit("--target y --inputs y,a").fails(2, &["column 4 of data.csv is given twice"]);
    fit("--target y --inputs d")
        .fails(1, &["there is no column \"d\": the columns are \"id\", \"a\""]);

    // Other columns, another order: by name.
    folder.kgard(&format!("fit data.csv {NUMBERS} --target y --inputs b,a -o model.json")).ok();
    folder.write("grid.csv", "a,other,b\n0.25,x,0.75\n");
    folder.write("same.csv", "b,a\n0.75,0.25\n");
    let value = |grid: &str| {
        let run = folder.kgard(&format!("predict model.json {grid}"));
        run.ok().trim_end().rsplit(',').next().map(str::to_owned)
    };
    assert_eq!(value("grid.csv"), value("same.csv"));
}

#[test]
fn rows_with_missing_values_are_left_out_and_counted() {
    let (folder, x, y) = data();
    let mut text = "x,y\n".to_owned();
    let mut dropped = Vec::new();
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        for cell in ["", "NA", "nan", "NULL", "N/A", "None"].iter().take(i % 7) {
            if i % 21 == 4 {
                dropped.push(text.lines().count() - 1);
                let _ = writeln!(text, "{x},{cell}");
            }
        }
        let _ = writeln!(text, "{x},{y}");
    }
    folder.write("gaps.csv", &text);
    let expected = folder.kgard(&format!("fit data.csv {NUMBERS} --json")).json();
    let run = folder.kgard(&format!("fit gaps.csv {NUMBERS} --json"));
    let json = run.json();
    assert_eq!(json["fitted"], expected["fitted"]);
    assert_eq!(json["dropped"], json!({"count": dropped.len(), "rows": dropped}));
    assert!(dropped.len() > 8);
    let note = format!("note: gaps.csv: {} rows of {}", dropped.len(), 100 + dropped.len());
    assert!(run.stderr().contains(&note), "{}", run.stderr());
    // Rows are those of the file.
    let shifted = |row: usize| {
        let kept: Vec<usize> = (0..100 + dropped.len()).filter(|r| !dropped.contains(r)).collect();
        kept[row]
    };
    let mut found = indices(&json);
    found.sort_unstable();
    assert_eq!(found, PLANTED.map(shifted));
    let run = folder.kgard(&format!("fit gaps.csv {NUMBERS}"));
    assert!(run.ok().contains(&format!("{} rows with missing values left out", dropped.len())));
    assert!(run.ok().contains(&format!("\n  {:>12}  0.77  ", shifted(77))), "{}", run.ok());
    folder
        .kgard(&format!("fit gaps.csv {NUMBERS} --missing error"))
        .fails(1, &[&format!("line {}, column 2 (\"y\"): the cell is empty", dropped[0] + 2)]);

    folder.kgard(&format!("fit data.csv {NUMBERS} -o model.json")).ok();
    folder.write("grid.csv", "x,label\n0.5,a\n,b\n0.5,c\n");
    let run = folder.kgard("predict model.json grid.csv");
    let rows: Vec<&str> = run.ok().lines().collect();
    assert_eq!((rows.len(), rows[2]), (4, ",b,"));
    assert_eq!(rows[1].replace(",a,", ",c,"), rows[3]);
    assert!(
        run.stderr()
            .contains("no prediction for 1 row, because inputs are missing (the first in line 3)")
    );
    let plan = format!("plan grid.csv {NUMBERS} -o plan.rs");
    folder.kgard(&plan).fails(1, &["column \"label\" has words (\"a\" in line 2): it should have"]);
    folder.kgard(&format!("{plan} --inputs x")).fails(1, &["line 3, column 1 (\"x\"): the cell"]);
    folder.write("grid.csv", "label,x\na,0.5\nb,0.75\n");
    folder.kgard(&format!("{plan} --inputs x")).ok();
}

#[test]
fn dates_and_times() {
    let folder = Folder::new();
    let (x, y) = sine();
    // A day is a hundredth; the first is 19 723 days after the epoch.
    let days: Vec<f64> = (0..100).map(|i| 19_723.0 + f64::from(i)).collect();
    folder.write("days.csv", csv("day,y", &[&days, &y]));
    let options = "--kernel gaussian(20) --lambda 0.1";
    let expected = folder.kgard(&format!("fit days.csv {options} --json")).json();
    assert!(indices(&expected).contains(&77) && x.len() == 100);
    let (mut dates, mut times, mut offsets) =
        ("day,y\n".to_owned(), "day,y\n".to_owned(), "day,y\n".to_owned());
    for (i, y) in y.iter().enumerate() {
        let (month, day) =
            [(1, i + 1), (2, i.wrapping_sub(30)), (3, i.wrapping_sub(59)), (4, i.wrapping_sub(90))]
                [usize::from(i >= 31) + usize::from(i >= 60) + usize::from(i >= 91)];
        let _ = writeln!(dates, "2024-{month:02}-{day:02},{y}");
        let _ = writeln!(times, "2024-{month:02}-{day:02} 00:00,{y}");
        let _ = writeln!(offsets, "2024-{month:02}-{day:02}T02:30:00+02:30,{y}");
    }
    folder.write("dates.csv", &dates);
    folder.write("times.csv", &times);
    folder.write("offsets.csv", &offsets);
    let json = folder.kgard(&format!("fit dates.csv {options} --json -o model.json")).json();
    assert_eq!(json["fitted"], expected["fitted"]);
    assert_eq!(json["times"], json!(["days since 1970-01-01"]));
    let seconds = "--kernel gaussian(1728000) --lambda 0.1 --json";
    for (file, unit) in [
        ("times.csv", "seconds since 1970-01-01T00:00:00"),
        ("offsets.csv", "seconds since 1970-01-01T00:00:00Z"),
    ] {
        let json = folder.kgard(&format!("fit {file} {seconds}")).json();
        for (ours, theirs) in numbers(&json["fitted"]).iter().zip(numbers(&expected["fitted"])) {
            assert!((ours - theirs).abs() < 1e-9, "{file}: {ours} {theirs}");
        }
        assert_eq!(json["times"], json!([unit]));
    }
    let run = folder.kgard(&format!("fit dates.csv {options}"));
    assert!(run.ok().contains("77  2024-03-18  "), "{}", run.ok());

    // The model reads dates again, and times of the day.
    folder.write("grid.csv", "day\n2024-03-18\n2024-03-18T12:00\n");
    folder.write("number.csv", "day\n19800\n19800.5\n");
    folder.kgard(&format!("fit days.csv {options} -o plain.json")).ok();
    let values = |command: &str| -> Vec<String> {
        let run = folder.kgard(command);
        run.ok()
            .lines()
            .skip(1)
            .filter_map(|row| row.split(',').nth(1))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(values("predict model.json grid.csv"), values("predict plain.json number.csv"));
    folder
        .kgard("predict model.json number.csv")
        .fails(1, &["line 2, column 1 (\"day\"): \"19800\" is not a date"]);
    folder
        .kgard("predict plain.json grid.csv")
        .fails(1, &["\"2024-03-18\" is not a number but a date"]);
    folder.write("grid.csv", "day\n2024-03-18T12:00Z\n");
    folder
        .kgard("predict model.json grid.csv")
        .fails(1, &["times with an offset or a Z and times without"]);
}

#[test]
fn what_means_two_things_is_refused() {
    let folder = Folder::new();
    let check = |text: &str, words: &str| {
        folder.write("data.csv", text);
        folder.kgard(&format!("fit data.csv {NUMBERS}")).fails(1, &["data.csv: ", words]);
    };
    check(
        "x\ty\n1,234\t5\n2,345\t6\n",
        "\"1,234\" may have a decimal comma or a comma between thousands",
    );
    check(
        "x;y\n1,5;2\n1.250;3\n",
        "line 3, column 1 (\"x\"): \"1.250\" has a point where other numbers have a decimal comma",
    );
    check("x;y\n1,5;2\n1.234,5;3\n", "\"1.234,5\" is not a number");
    check("day,y\n2024-01-01,1\n5,2\n", "\"5\" is not a date or a time such as 2024-01-31");
    check(
        "day,y\n2024-01-01T01:00Z,1\n2024-01-01T02:00,2\n",
        "times with an offset or a Z and times without",
    );
    check("x,y\n1,2024-01-01\n2,2024-01-02\n", "only inputs can be");
    check(
        "x,y\n1,2\n2024-01-01,2\n",
        "line 3, column 1 (\"x\"): \"2024-01-01\" is not a number but a date",
    );
    check("day,y\n31/01/2024,1\n", "\"31/01/2024\" is not a number");
    // Taken for what it most likely is, but not in silence.
    folder.write("data.csv", "a,2\n1,2\n2,3\n");
    let run = folder.kgard(&format!("fit data.csv {NUMBERS}"));
    run.ok();
    assert!(
        run.stderr().contains("line 1 is taken for the names of the columns, though it has \"2\"")
    );
}

#[test]
fn large_inputs_are_shown_with_all_their_digits() {
    let folder = Folder::new();
    let (x, y) = sine();
    let large: Vec<f64> =
        x.iter().map(|x| 1_706_745_600.0 + (x * 1000.0).round() / 1000.0).collect();
    folder.write("data.csv", csv("t,y", &[&large, &y]));
    let run = folder.kgard(&format!("fit data.csv {NUMBERS} -o model.json"));
    assert!(run.ok().contains("  1706745600.77  "), "{}", run.ok());
    let model: Value = serde_json::from_str(&folder.read("model.json")).expect("JSON");
    assert_eq!(model["points"][77][0].as_f64(), Some(large[77]));
}

/// A terminal obeys control characters, and XML has none.
#[test]
fn names_with_control_characters() {
    let (folder, x, y) = data();
    let names = "\u{1b}]0;a\u{7}\u{9b}31mx\u{202e},\u{1b}[2Jy\u{7f}";
    folder.write("data.csv", csv(names, &[&x, &y]));
    let is_raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    for options in ["", "--json", "--plot fit.svg", "--target 3", "--target z", "--inputs z"] {
        let run = folder.kgard(&format!("fit data.csv {NUMBERS} {options}"));
        assert!(!run.stdout().contains(is_raw) && !run.stderr().contains(is_raw), "{options}");
    }
    assert!(!folder.read("fit.svg").contains(is_raw));
    assert!(folder.read("fit.svg").contains("\\u{9b}31mx"));
    // The names themselves are kept.
    let json = folder.kgard(&format!("fit data.csv {NUMBERS} --json -o model.json")).json();
    assert_eq!(json["target"], "\u{1b}[2Jy\u{7f}");
    folder.kgard("predict model.json data.csv -o out.csv").ok();
}

/// Weights are positive numbers of a column of their own.
#[test]
fn weights() {
    let (folder, x, y) = data();
    let weight: Vec<f64> = (0..100).map(|i| if i < 50 { 1.0 } else { 100.0 }).collect();
    folder.write("data.csv", csv("x,w,y", &[&x, &weight, &y]));
    let json = folder.kgard("fit data.csv --weights w --json").json();
    assert_eq!(json["inputs"], json!(["x"]));
    let plain = folder.kgard("fit data.csv --ignore w --json").json();
    assert_ne!(json["fitted"], plain["fitted"]);
    let mut wrong = weight.clone();
    wrong[7] = 0.0;
    folder.write("wrong.csv", csv("x,w,y", &[&x, &wrong, &y]));
    folder
        .kgard("fit wrong.csv --weights w")
        .fails(1, &["line 9, column 2 (\"w\"): the weight 0 is not positive"]);
    folder
        .kgard("fit data.csv --weights y --target y")
        .fails(2, &["column 3 of data.csv is given twice"]);
}
