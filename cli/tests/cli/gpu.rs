//! `--backend gpu` and `kgard devices`, on whatever adapter there is: a program
//! on the processor (Mesa's llvmpipe) will do.

use crate::common::{Folder, Run};
use crate::pictures::{clean, noisy};
use image::{ColorType, DynamicImage};

/// With this a machine without an adapter fails the tests that need one.
const NEEDED: &str = "KGARD_NEEDS_GPU";

/// The loader of Vulkan drivers finds none.
const NO_DRIVER: [(&str, &str); 2] =
    [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];

/// Whether there is something to test on.
pub(crate) fn is_there() -> bool {
    let json = Folder::new().gpu("devices --json").json();
    if json["gpu"].is_null() {
        assert!(std::env::var_os(NEEDED).is_none(), "{NEEDED} is set, and there is no adapter");
        eprintln!("SKIPPED: no adapter");
        return false;
    }
    true
}

impl Folder {
    fn gpu(&self, command: &str) -> Run {
        // Mesa complains on standard error without it.
        let place = self.path("");
        self.kgard_env(command, &[("XDG_RUNTIME_DIR", place.to_str().expect("UTF-8"))])
    }
}

/// Asserts that two files have nearly the same pixels.
#[track_caller]
fn assert_alike(a: &DynamicImage, b: &DynamicImage) {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    assert_eq!(a.len(), b.len());
    let differ = a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 1).count();
    assert!(1000 * differ <= a.len(), "{differ} of {} samples differ", a.len());
}

#[test]
fn devices() {
    let folder = Folder::new();
    let json = folder.gpu("devices --json").json();
    let adapters = json["adapters"].as_array().expect("a list");
    let text = folder.gpu("devices").ok().to_owned();
    for adapter in adapters {
        assert!(text.contains(adapter["name"].as_str().expect("a name")), "{text}");
        assert!(!adapter["backend"].as_str().expect("a name").is_empty());
        assert!(adapter["driver"].is_string());
        assert_eq!(adapter["software"], adapter["kind"] == "software");
    }
    assert_eq!(json["gpu"].as_u64(), (!adapters.is_empty()).then_some(0));
    let hardware = adapters.iter().position(|adapter| adapter["software"] == false);
    assert_eq!(json["auto"].as_u64(), hardware.map(|i| i as u64));
    assert_eq!(text.contains("--backend gpu takes it"), !adapters.is_empty(), "{text}");
}

#[test]
fn the_same_as_the_processor() {
    if !is_there() {
        return;
    }
    for (method, color) in
        [("kgard", ColorType::L8), ("kg-bm3d", ColorType::L8), ("kg-bm3d", ColorType::Rgba8)]
    {
        let folder = Folder::new();
        folder.save("a.png", &noisy(color, 64, 48));
        let on = |backend: &str| {
            let command = "denoise a.png --json --outliers";
            let options = format!("{backend}-map.png -o {backend}.png --method {method}");
            folder.gpu(&format!("{command} {options} --backend {backend}"))
        };
        let (gpu, cpu) = (on("gpu"), on("cpu").json());
        let software = gpu.stderr().contains("note: ");
        assert_eq!(software, gpu.stderr().contains("is a program on the processor"));
        let gpu = gpu.json();
        assert_eq!((&gpu["backend"], &cpu["backend"]), (&"gpu".into(), &"cpu".into()));
        assert!(gpu["adapter"].is_string() && cpu["adapter"].is_null());
        assert!(gpu["fallback"].is_null(), "{gpu}");
        let count = |json: &serde_json::Value| json["outliers"]["count"].as_i64().expect("a count");
        let (found, expected) = (count(&gpu), count(&cpu));
        assert!(expected > 100 && (found - expected).abs() <= 1 + expected / 1000, "{gpu} {cpu}");
        assert_alike(&folder.open("gpu.png"), &folder.open("cpu.png"));
        assert_alike(&folder.open("gpu-map.png"), &folder.open("cpu-map.png"));
        // By a part of its name, which implies the backend.
        let name = gpu["adapter"].as_str().and_then(|name| name.split(' ').next());
        let name = name.expect("a name").to_uppercase();
        let command = format!("denoise a.png -o b.png --method {method} -v --adapter {name}");
        let run = folder.gpu(&command);
        run.ok();
        assert!(run.stderr().contains(", on the gpu "), "{}", run.stderr());
        assert_eq!(folder.bytes("b.png"), folder.bytes("gpu.png"));
    }
}

/// Two pictures are worked on at a time, of different depths and sizes, and one
/// is broken: the same files, and reports in the same order, as one by one.
#[test]
fn a_batch() {
    if !is_there() {
        return;
    }
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).expect("a folder");
    folder.save("in/a.png", &noisy(ColorType::Rgb8, 64, 48));
    folder.save("in/b.png", &noisy(ColorType::L16, 40, 30));
    folder.write("in/c.png", "not a picture");
    folder.save("in/d.png", &noisy(ColorType::L8, 48, 64));
    let run = folder.gpu("denoise in -o out --backend gpu --json --threads 1");
    assert_eq!(run.code(), 1, "{}", run.stderr());
    let json: serde_json::Value = serde_json::from_str(run.stdout()).expect("one JSON value");
    let names: Vec<&str> = (0..3).filter_map(|i| json["pictures"][i]["output"].as_str()).collect();
    assert_eq!(names, ["out/a.png", "out/b.png", "out/d.png"]);
    assert_eq!(json["failed"][0]["input"], "in/c.png");
    for (i, name) in ["a.png", "b.png", "d.png"].into_iter().enumerate() {
        assert_eq!(json["pictures"][i]["backend"], "gpu");
        folder.gpu(&format!("denoise in/{name} -o {name} --backend gpu")).ok();
        assert_eq!(folder.bytes(name), folder.bytes(&format!("out/{name}")), "{name}");
    }
}

#[test]
fn no_driver() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let folder = Folder::new();
    folder.save("a.png", &clean(ColorType::L8, 32, 24));
    let run = |command: &str| folder.kgard_env(command, &NO_DRIVER);
    let texts = ["no adapter: ", "Vulkan", "install the graphics driver"];
    for command in
        ["denoise a.png -o b.png", "denoise a.png a.png -o out", "denoise a.png -o b.png --dry-run"]
    {
        run(&format!("{command} --backend gpu")).fails(1, &texts);
    }
    run("denoise a.png -o b.png --adapter GeForce").fails(1, &["no adapter named `GeForce`"]);
    run("serve --port 0 --backend gpu").fails(1, &texts);
    let auto = run("denoise a.png -o b.png --backend auto --json");
    assert_eq!((&auto.json()["backend"], auto.stderr()), (&"cpu".into(), ""));
    let json = run("devices --json").json();
    assert_eq!(json, serde_json::json!({"adapters": [], "gpu": null, "auto": null}));
    assert!(run("devices").ok().contains("mesa-vulkan-drivers"));
}

#[test]
fn what_makes_no_sense() {
    let folder = Folder::new();
    folder.save("a.png", &clean(ColorType::L8, 32, 24));
    for (options, text) in [
        ("--method bm3d --backend gpu", "the method bm3d has no GPU path"),
        ("--method rb-rvm --adapter llvmpipe", "the method rb-rvm has no GPU path"),
        ("--backend cpu --adapter llvmpipe", "--backend cpu does not use one"),
    ] {
        folder.kgard(&format!("denoise a.png -o b.png {options}")).fails(2, &[text]);
    }
    folder.kgard("serve --backend cpu --adapter x").fails(2, &["--backend cpu"]);
    assert_eq!(folder.names(), ["a.png"]);
}
