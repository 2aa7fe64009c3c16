//! The program on processors without the vector instructions of this one, emulated by
//! `qemu-x86_64`: the same outliers, and numbers that differ by rounding.
//!
//! `KGARD_EMULATOR` names the emulator; `cargo xtask test` sets it. Without it the test says so and
//! passes.

use crate::common::{Folder, csv, indices, numbers, sine};
use crate::pictures::noisy;
use image::ColorType;
use serde_json::Value;
use std::process::Command;

/// The oldest processor that Rust compiles for, one with AVX2, and all that the emulator has.
const PROCESSORS: [&str; 3] = ["qemu64", "Haswell", "max"];

fn emulated(folder: &Folder, emulator: &str, processor: &str, command: &str) -> Value {
    let output = Command::new(emulator)
        .args(["-cpu", processor])
        .arg(assert_cmd::cargo::cargo_bin!("kgard"))
        .args(command.split_whitespace())
        .current_dir(folder.path(""))
        .output()
        .expect("the emulator starts");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{processor}: {command}: {messages}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn results_do_not_depend_on_the_processor() {
    let Ok(emulator) = std::env::var("KGARD_EMULATOR") else {
        eprintln!("SKIPPED: KGARD_EMULATOR is not set");
        return;
    };
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv("x,y", &[&x, &y]));
    folder.save("noisy.png", &noisy(ColorType::L8, 64, 48));
    let fit = "fit data.csv --json";
    let clean = |name: &str| format!("denoise noisy.png -o {name}.png --backend cpu --json");
    let (model, report) = (folder.kgard(fit).json(), folder.kgard(&clean("here")).json());
    for processor in PROCESSORS {
        let other = emulated(&folder, &emulator, processor, fit);
        assert_eq!(indices(&other), indices(&model), "{processor}");
        for key in ["coefficients", "bias", "sigma", "lambda"] {
            for (a, b) in numbers_of(&model[key]).into_iter().zip(numbers_of(&other[key])) {
                // The tuner stops where the likelihood is flat to rounding.
                assert!((a - b).abs() <= 1e-4 * a.abs().max(1.0), "{processor}: {key}: {a} {b}");
            }
        }
        let other = emulated(&folder, &emulator, processor, &clean(processor));
        let [count, others] =
            [&report, &other].map(|report| report["outliers"]["count"].as_i64().expect("a count"));
        assert!((count - others).abs() <= 2, "{processor}: {count} {others}");
        let same = folder.kgard(&format!("metrics here.png {processor}.png --json")).json();
        let psnr = same["images"][0]["psnr"].as_f64();
        // `null` is infinite.
        assert!(psnr.is_none_or(|psnr| psnr > 60.0), "{processor}: {same}");
    }
}

fn numbers_of(value: &Value) -> Vec<f64> {
    if value.is_array() { numbers(value) } else { value.as_f64().into_iter().collect() }
}
