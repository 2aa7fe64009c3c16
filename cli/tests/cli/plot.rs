//! `kgard fit --plot`.

use crate::common::{Folder, PLANTED, Random, csv, sine};
use resvg::usvg::{Options, Tree};

fn with_sine(header: &str) -> Folder {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv(header, &[&x, &y]));
    folder
}

/// The picture is well-formed; gives the texts in it.
fn texts(svg: &str) -> Vec<String> {
    Tree::from_str(svg, &Options::default()).expect("an SVG");
    let inside = |part: &str| part.split_once('>').map(|(_, text)| text.trim().to_owned());
    let ends = svg.split("</text>").filter_map(|part| part.rsplit_once("<text"));
    ends.filter_map(|(_, part)| inside(part)).collect()
}

#[test]
fn one_input() {
    let folder = with_sine("time <s>,a&b");
    let plain = folder.kgard("fit data.csv --sigma 0.2 --lambda 0.1").ok().to_owned();
    let run = folder.kgard("fit data.csv --sigma 0.2 --lambda 0.1 --plot fit.svg");
    assert_eq!(run.ok(), plain, "a picture changes nothing else");
    let texts = texts(&folder.read("fit.svg"));
    let has = |text: &str| texts.iter().any(|t| t == text);
    for text in ["time &lt;s&gt;", "a&amp;b", "data", "fitted function"] {
        assert!(has(text), "no {text:?} in {texts:?}");
    }
    for row in PLANTED {
        assert!(has(&row.to_string()), "no label {row} in {texts:?}");
    }
    assert_eq!(folder.names(), ["data.csv", "fit.svg"]);
}

#[test]
fn png() {
    let folder = with_sine("");
    folder.kgard("fit data.csv --sigma 0.2 --lambda 0.1 --plot FIT.PNG --json").json();
    let bytes = std::fs::read(folder.path("FIT.PNG")).expect("a picture");
    let picture = resvg::tiny_skia::Pixmap::decode_png(&bytes).expect("a PNG");
    assert_eq!((picture.width(), picture.height()), (1920, 1200));
    let dark = picture.pixels().iter().filter(|p| p.red() < 60 && p.green() < 60).count();
    assert!(dark > 2000, "{dark} dark pixels: the curve and the letters");
}

#[test]
fn two_inputs_and_no_outliers() {
    let folder = Folder::new();
    let (x, y) = sine();
    let z: Vec<f64> = x.iter().map(|x| x * x).collect();
    folder.write("data.csv", csv("x,z,load", &[&x, &z, &y]));
    folder.kgard("fit data.csv --sigma 0.3 --lambda 0.1 --plot kgard.svg").ok();
    folder.kgard("fit data.csv --sigma 0.3 --lambda 0.1 --method krr --plot krr.svg").ok();
    for (name, outliers) in [("kgard.svg", true), ("krr.svg", false)] {
        let texts = texts(&folder.read(name));
        assert!(texts.iter().any(|t| t == "load, observed"), "{texts:?}");
        assert!(texts.iter().any(|t| t == "fitted = observed"), "{texts:?}");
        assert_eq!(texts.iter().any(|t| t.starts_with("outliers")), outliers, "{texts:?}");
    }
}

#[test]
fn odd_data() {
    let folder = Folder::new();
    for rows in ["1,2\n", "1,2\n1,2\n1,3\n", "0,0\n1,0\n2,0\n", "0,1e16\n1,1e16\n2,1e16\n"] {
        folder.write("data.csv", rows);
        folder.kgard("fit data.csv --sigma 1 --lambda 0.1 --plot fit.svg").ok();
        texts(&folder.read("fit.svg"));
    }
}

#[test]
fn wrong_usage() {
    let folder = with_sine("x,y");
    let fit = "fit data.csv --sigma 0.2 --lambda 0.1";
    for (options, code, texts) in [
        ("--plot fit.jpg", 2, &["--plot fit.jpg", ".svg"][..]),
        ("--plot -", 2, &[".svg"]),
        ("--plot a.svg -o a.svg", 2, &["--plot"]),
        ("--plot missing/fit.svg", 1, &["missing/fit.svg"]),
    ] {
        folder.kgard(&format!("{fit} {options}")).fails(code, texts);
    }
    assert_eq!(folder.names(), ["data.csv"]);
}

/// Ticks at round dates, and at what is left of large numbers.
#[test]
fn axes_of_dates_and_large_numbers() {
    let folder = Folder::new();
    let (_, y) = sine();
    let row = |i: usize| format!("2024-02-{:02} {:02}:30,{}", 10 + i / 24, i % 24, y[i]);
    let dates: Vec<String> = (0..100).map(row).collect();
    folder.write("data.csv", format!("day,y\n{}\n", dates.join("\n")));
    folder.kgard("fit data.csv --sigma 72000 --lambda 0.1 --plot fit.svg").ok();
    let ticks = texts(&folder.read("fit.svg"));
    for text in ["02-11", "12:00", "day (from 2024-02-10)"] {
        assert!(ticks.iter().any(|t| t == text), "no {text:?} in {ticks:?}");
    }
    let seconds: Vec<f64> = (0..100).map(|i| 1_706_745_600.0 + f64::from(i)).collect();
    let large: Vec<f64> = y.iter().map(|y| y + 1e6).collect();
    folder.write("data.csv", csv("t,y", &[&seconds, &large]));
    folder.kgard("fit data.csv --sigma 20 --lambda 0.1 --regularizer rkhs --plot fit.svg").ok();
    let ticks = texts(&folder.read("fit.svg"));
    for text in ["t - 1706745000", "650", "y - 999990"] {
        assert!(ticks.iter().any(|t| t == text), "no {text:?} in {ticks:?}");
    }
}

/// A long series is drawn as its extent in each column, with its outliers on top.
#[test]
fn long_series() {
    let folder = Folder::new();
    let mut random = Random::new(4);
    let n = 5300;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let off = |i: usize| if i.is_multiple_of(20) { 3.0 } else { 0.0 };
    let value = |(i, x): (usize, &f64)| (0.02 * x).sin() + 0.1 * random.unit() + off(i);
    let y: Vec<f64> = x.iter().enumerate().map(value).collect();
    folder.write("data.csv", csv("t,y", &[&x, &y]));
    folder.kgard("fit data.csv --kernel matern32 --plot fit.svg").ok();
    let picture = folder.read("fit.svg");
    let words = texts(&picture);
    for text in ["data, from least to largest", "fitted function", "95 % interval", "outliers"] {
        assert!(words.iter().any(|t| t == text), "no {text:?} in {words:?}");
    }
    // A dot for each of the 265 outliers and for the legend, none for the data.
    let dots = picture.matches("<circle").count();
    assert!((250..300).contains(&dots), "{dots} dots");
    assert!(picture.len() < 400_000, "{} bytes", picture.len());
}
