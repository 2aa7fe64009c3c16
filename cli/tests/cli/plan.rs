//! Plans for devices.

use crate::common::{Folder, Random, csv, sine};
use kgard::{Gaussian, Plan, PlanRef, Regularizer, Stop, Stored, Workspace, border_weights};

/// What `kgard plan` wrote for eight points once: it compiles, and is still
/// what it writes.
#[allow(clippy::all, clippy::pedantic, unreachable_pub)]
mod source {
    include!("../data/plan.rs");
}

const SMALL: &str = "plan grid.csv --sigma 0.5 --lambda 0.1 --border 2:5";

fn small() -> Folder {
    let folder = Folder::new();
    let x: Vec<f64> = (0..8).map(|i| f64::from(i) / 8.0).collect();
    folder.write("grid.csv", csv("x", &[&x]));
    folder
}

/// The texts and the numbers of Rust source.
fn taken_apart(source: &str) -> (Vec<&str>, Vec<f64>) {
    let words = source.split_whitespace();
    let number = |word: &str| word.trim_end_matches([',', ')']).parse::<f64>();
    let (numbers, texts): (Vec<_>, Vec<_>) = words.partition(|word| number(word).is_ok());
    (texts, numbers.into_iter().map(|word| number(word).expect("a number")).collect())
}

#[test]
fn rust_source() {
    let folder = small();
    let run = folder.kgard(&format!("{SMALL} -o plan.rs"));
    assert_eq!(run.ok(), "");
    assert_eq!(
        run.stderr(),
        "plan.rs: a plan for 8 points of 1 coordinate, f32: 544 bytes of flash\n"
    );
    let (texts, numbers) = taken_apart(include_str!("../data/plan.rs"));
    let written = folder.read("plan.rs");
    let (new_texts, new_numbers) = taken_apart(&written);
    assert_eq!(new_texts, texts);
    assert_eq!(new_numbers.len(), numbers.len());
    for (new, old) in new_numbers.iter().zip(&numbers) {
        // Another machine may round the last digit in another way.
        assert!((new - old).abs() < 1e-5, "{new} {old}");
    }
}

#[test]
fn a_header_for_c() {
    let folder = small();
    let run = folder.kgard(&format!("{SMALL} -o sensor.h"));
    assert_eq!(run.ok(), "");
    let header = folder.read("sensor.h");
    assert!(
        header.starts_with("/* Made by `kgard plan`: 8 points of 1 coordinate, f32."),
        "{header}"
    );
    assert!(header.contains("#define SENSOR_N 8\n"), "{header}");
    assert!(header.contains("static const uint64_t sensor_data[] = {\n"), "{header}");
}

#[test]
fn rust_source_works() {
    assert_eq!((source::N, source::DIM, source::POINTS.len()), (8, 1, 8));
    let mut weights = [0.0; 8];
    border_weights(&mut weights, 2, 5.0);
    let points = source::POINTS.map(f64::from);
    let regularizer = Regularizer::l2(0.1).with_weights(&weights);
    let plan = Plan::new(&points, Gaussian::new(0.5), regularizer).expect("a plan");
    let y = [0.0, 0.1, 0.2, 9.0, 0.4, 0.5, 0.6, 0.7];
    let expected = plan.fit(&y, Stop::count(1)).expect("a fit");
    let y = [0.0, 0.1, 0.2, 9.0, 0.4, 0.5, 0.6, 0.7_f32];
    let mut scalars = [0.0; Workspace::<f32>::len(8, 1)];
    let mut indices = [0; 1];
    let work = Workspace::new(8, &mut scalars, &mut indices).expect("a workspace");
    let fit = source::PLAN.fit(&y, Stop::count(1), work).expect("a fit");
    let outlier = fit.outliers().next().expect("an outlier");
    assert_eq!(outlier.index, 3);
    assert!((f64::from(outlier.value) - expected.outliers()[0].value).abs() < 1e-3);
}

/// Bytes at an address that is a multiple of eight.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}

/// Reads plan.bin and compares a fit with one by the library's own plan.
fn check_bytes<T: Stored + std::fmt::Debug>(folder: &Folder, plan: &Plan<T, Gaussian<T>>) {
    let bytes = std::fs::read(folder.path("plan.bin")).expect("a file");
    assert_eq!(bytes, plan.to_bytes());
    let words = aligned(&bytes);
    let words: &[u8] = bytemuck::cast_slice(&words);
    let (read, points) = PlanRef::<T>::from_bytes(&words[..bytes.len()]).expect("a plan");
    assert_eq!(points, plan.points());
    let (_, y) = sine();
    let y: Vec<T> = y.iter().map(|&y| T::from(y).expect("a number")).collect();
    let mut scalars = vec![T::zero(); Workspace::<T>::len(y.len(), 8)];
    let mut indices = [0; 8];
    let work = Workspace::new(y.len(), &mut scalars, &mut indices).expect("a workspace");
    let fit = read.fit(&y, Stop::automatic(), work).expect("a fit");
    let expected = plan.fit(&y, Stop::automatic()).expect("a fit");
    assert_eq!(fit.outliers().collect::<Vec<_>>(), expected.outliers());
    assert_eq!(fit.residual(), expected.residual());
    assert_eq!(expected.outliers().len(), 3);
}

#[test]
fn bytes_load_and_fit_the_same() {
    let folder = Folder::new();
    let (x, _) = sine();
    folder.write("grid.csv", csv("", &[&x]));
    let options = "grid.csv --sigma 0.2 --lambda 0.1 -o plan.bin";
    let plan = Plan::new(&x, Gaussian::new(0.2), Regularizer::l2(0.1)).expect("a plan");
    let run = folder.kgard(&format!("plan {options}"));
    assert!(
        run.stderr().contains("100 points of 1 coordinate, f32: 80400 bytes"),
        "{}",
        run.stderr()
    );
    check_bytes(&folder, &plan.cast(Gaussian::new(0.2_f32)).expect("a plan"));
    folder.kgard(&format!("plan {options} --scalar f64")).ok();
    check_bytes(&folder, &plan);
    let plan = Plan::new(&x, Gaussian::new(0.2), Regularizer::rkhs(0.1)).expect("a plan");
    let run = folder.kgard(&format!("plan {options} --regularizer rkhs"));
    assert!(run.stderr().contains("40800 bytes"), "{}", run.stderr());
    check_bytes(&folder, &plan.cast(Gaussian::new(0.2_f32)).expect("a plan"));
}

#[test]
fn several_coordinates() {
    let folder = Folder::new();
    let mut random = Random::new(5);
    let mut column = || (0..10).map(|_| random.unit()).collect::<Vec<f64>>();
    folder.write("grid.csv", csv("a,b,c", &[&column(), &column(), &column()]));
    let run = folder.kgard("plan grid.csv --kernel linear --lambda 1 -o plan.rs");
    run.ok();
    assert!(run.stderr().contains("10 points of 3 coordinates, f32: 920 bytes"));
    let source = folder.read("plan.rs");
    for part in ["const N: usize = 10;", "const DIM: usize = 3;", "POINTS: [f32; N * DIM]", "MAP"] {
        assert!(source.contains(part), "{part}");
    }
}

#[test]
fn wrong_usage() {
    let folder = small();
    let check = |options: &str, code, text: &str| {
        folder.kgard(&format!("plan grid.csv {options}")).fails(code, &[text]);
        assert_eq!(folder.names(), ["grid.csv"]);
    };
    check("--sigma 1 --lambda 1 -o plan.txt", 2, "-o plan.txt: the name must end in .rs");
    check("--sigma 1 --lambda 1 -o -", 2, "the name must end in .rs");
    check("--lambda 1 -o plan.rs", 2, "--sigma is not given");
    check("--sigma 1 -o plan.rs", 2, "--lambda is not given");
    check("--sigma 1e-60 --lambda 1 -o plan.rs", 1, "--scalar f64 has room for it");
    check("--sigma 1 --lambda 1e-60 -o plan.bin", 1, "raise lambda");
}

/// A wave with noise, every 40th value off by 2, and which those are.
fn recording(n: usize) -> [Vec<f64>; 3] {
    let mut random = Random::new(7);
    let is_wrong = |i: usize| i % 40 == 17;
    let value = |i: usize| {
        let noise = 0.1 * (random.unit() + random.unit() + random.unit() - 1.5);
        (0.1 * i as f64).sin() + noise + if is_wrong(i) { 2.0 } else { 0.0 }
    };
    let y = (0..n).map(value).collect();
    let flags = (0..n).map(|i| f64::from(u8::from(is_wrong(i)))).collect();
    [(0..n).map(|i| 0.01 * i as f64).collect(), y, flags]
}

/// The count that belongs to a key in one line of JSON.
fn count(json: &str, key: &str) -> usize {
    let (_, rest) = json.split_once(&format!("\"{key}\":")).expect(key);
    rest.split([',', '}']).next().and_then(|text| text.parse().ok()).expect(key)
}

#[test]
fn from_a_recording() {
    let folder = Folder::new();
    let [time, y, flags] = recording(640);
    folder.write("rec.csv", csv("time,value,wrong", &[&time, &y, &flags]));
    let options = "plan --from rec.csv --target value";
    // Held to the labels, and to a fit of the whole recording.
    for more in ["--labels wrong", ""] {
        for (kind, output) in [
            ("--uniform 64", "plan.rs"),
            ("--uniform 64 --half", "half.h"),
            ("--lag 16", "stream.rs"),
            ("--lag 32 --scalar f64", "stream.h"),
        ] {
            let run = folder.kgard(&format!("{options} {kind} {more} -o {output} --json"));
            let json = run.ok();
            assert_eq!(count(json, "judged"), 640, "{json}");
            assert_eq!(count(json, "outliers"), 16, "{json}");
            assert!(count(json, "false_alarms") + count(json, "misses") <= 1, "{json}");
            assert!(run.stderr().contains("of 16 outliers"), "{}", run.stderr());
        }
    }
    let plan = folder.read("plan.rs");
    assert!(plan.contains("pub static PLAN: kgard::PlanRef<'static, f32>"));
    assert!(plan.contains("// Rule: Stop::"), "{plan}");
    assert!(folder.read("half.h").contains("#define HALF_N 64\n"));
    let stream = folder.read("stream.rs");
    assert!(stream.contains("FixedLag<f32, kgard::Matern32<f32>, 2, 16>;"), "{stream}");
    assert!(folder.read("stream.h").contains("kgard_stream_settings stream_settings = {"));
}

#[test]
fn a_recording_that_cannot_be_used() {
    let folder = Folder::new();
    let [mut time, y, _] = recording(200);
    folder.write("rec.csv", csv("t,y", &[&time, &y]));
    time[100] += 0.005;
    folder.write("uneven.csv", csv("t,y", &[&time, &y]));
    let check = |options: &str, code, text: &str| {
        folder.kgard(&format!("plan --from {options}")).fails(code, &[text]);
    };
    check("rec.csv --lag 7 -o s.rs", 2, "--lag 7: it can be 8, 16, 32 or 64");
    check("rec.csv --lag 16 -o s.bin", 2, "a stream has no plan");
    check("rec.csv --uniform 500 -o p.rs", 1, "record more");
    check("uneven.csv -o p.rs", 1, "not evenly spaced");
    check("rec.csv --sigma 1 -o p.rs", 2, "cannot be used with");
    check("rec.csv --target z -o p.rs", 1, "z");
    folder.kgard("plan --from uneven.csv --lag 16 -o s.rs").ok();
}

#[test]
fn half_a_plan() {
    let folder = small();
    let run =
        folder.kgard("plan grid.csv --sigma 0.5 --lambda 0.1 --regularizer rkhs --half -o p.rs");
    run.ok();
    assert!(run.stderr().contains(": 192 bytes of flash"), "{}", run.stderr());
    assert!(folder.read("p.rs").contains("kgard::HalfPlanRef::new(N, &EVEN, &ODD, &BIAS, 0.1)"));
    folder.kgard(&format!("{SMALL} --half -o p.rs")).fails(1, &["RKHS penalty"]);
}
