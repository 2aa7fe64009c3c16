//! Long series: cleaned values, flags and intervals.

use crate::common::Folder;
use std::fmt::Write;

/// Rows `t,a,b` with wrong values at some rows, and a gap.
fn series(n: usize, key: &str) -> String {
    let mut text = String::new();
    let mut state = 1_u32;
    for i in 0..n {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = 0.1 * (f64::from(state >> 16) / 32_768.0 - 1.0);
        let t = i as f64 / 10.0;
        let a = (0.5 * t).sin() + noise + if i % 50 == 17 { 4.0 } else { 0.0 };
        let b = if i % 40 == 5 { "NA".to_owned() } else { format!("{}", 100.0 + t.cos() + noise) };
        let _ = writeln!(text, "{key}{t},{a},{b}");
    }
    text
}

/// The cells of the column of this name.
#[track_caller]
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let at = header.iter().position(|n| n == name).expect(name);
    lines.map(|cells| cells[at].clone()).collect()
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().expect("a number")).collect()
}

#[test]
fn wrong_values_are_found_and_gaps_are_filled() {
    let folder = Folder::new();
    folder.write("series.csv", format!("t,a,b\n{}", series(600, "")));
    let run = folder.kgard("clean series.csv -o out.csv");
    assert!(run.ok().contains("a: 12 outliers of 600 values, 0 missing"), "{}", run.stdout());
    let out = folder.read("out.csv");
    let flags = column(&out, "a_outlier");
    for (i, flag) in flags.iter().enumerate() {
        assert_eq!(flag == "1", i % 50 == 17, "row {i}");
    }
    let (raw, clean, smooth) =
        (column(&out, "a"), column(&out, "a_clean"), column(&out, "a_smooth"));
    for i in 0..600 {
        assert_eq!(clean[i], if i % 50 == 17 { &smooth[i] } else { &raw[i] }.as_str());
    }
    let t = numbers(&column(&out, "t"));
    let (low, high) = (numbers(&column(&out, "a_low")), numbers(&column(&out, "a_high")));
    let truth = |i: usize| (0.5 * t[i]).sin();
    let inside = (0..600).filter(|&i| low[i] <= truth(i) && truth(i) <= high[i]).count();
    assert!(inside > 500, "{inside} of 600 in intervals of 95 %");
    // The second column has gaps, and no outliers.
    let filled = numbers(&column(&out, "b_clean"));
    assert!((0..600).all(|i| (filled[i] - 100.0 - t[i].cos()).abs() < 0.2));
    assert!(column(&out, "b_outlier").iter().all(|flag| flag == "0"));
    assert_eq!(column(&out, "b")[5], "NA");
}

#[test]
fn many_series_in_one_file() {
    let folder = Folder::new();
    let one = series(200, "one,");
    let two = series(300, "two,");
    // Row by row from both, and one that is too short.
    let mut rows: Vec<&str> = one.lines().zip(two.lines()).flat_map(|(a, b)| [a, b]).collect();
    rows.extend(two.lines().skip(200));
    rows.push("three,1,2,3");
    folder.write("series.csv", format!("sensor,t,a,b\n{}\n", rows.join("\n")));
    let run = folder.kgard("clean series.csv --by sensor --time t --values a -o out.csv --json");
    let report: serde_json::Value = serde_json::from_str(run.ok()).expect("JSON");
    let series = report["series"].as_array().expect("a list");
    assert_eq!(series.len(), 2);
    assert_eq!((&series[0]["key"], &series[1]["key"]), (&"one".into(), &"two".into()));
    assert_eq!((&series[0]["outliers"], &series[1]["outliers"]), (&4.into(), &6.into()));
    assert!(run.stderr().contains("three, a: left as it is"), "{}", run.stderr());
    // Each as if it stood alone.
    folder.write("one.csv", format!("sensor,t,a,b\n{one}"));
    let alone = folder.kgard("clean one.csv --by sensor --time t --values a");
    let out = folder.read("out.csv");
    let keys = column(&out, "sensor");
    let mine = column(&out, "a_smooth").into_iter().zip(&keys).filter(|(_, key)| *key == "one");
    assert_eq!(mine.map(|(cell, _)| cell).collect::<Vec<_>>(), column(alone.ok(), "a_smooth"));
    assert_eq!(column(&out, "a_clean").last().map(String::as_str), Some("2.0"));
}

#[test]
fn wrong_use_is_refused() {
    let folder = Folder::new();
    folder.write("series.csv", format!("t,a,a_low\n{}", series(60, "")));
    let fails = |command: &str, words: &str| {
        let run = folder.kgard(command);
        assert!(run.code() != 0 && run.stderr().contains(words), "{}", run.stderr());
    };
    fails("clean series.csv", "there is a column \"a_low\" already");
    fails("clean series.csv --values b", "there is no column \"b\"");
    fails("clean series.csv --values t", "asked for twice");
    fails("clean series.csv --interval 1", "between 0 and 1");
    folder.write("bad.csv", "t,a\n0,1\n1,x\n");
    fails("clean bad.csv", "line 3, column 2");
    folder.write("time.csv", "t,a\n0,1\n,2\n");
    fails("clean time.csv", "the cell is empty");
}
