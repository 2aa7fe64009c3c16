//! Every command line that the README and `--help` print, run as printed.
//!
//! They are found in the texts, so that a new one is tested by being there.

use crate::common::{Folder, csv, sine};
#[cfg(feature = "gpu")]
use crate::gpu::is_there as has_gpu;
use crate::pictures::{clean, noisy};
use image::ColorType;

/// A folder with the files that the examples read.
fn folder() -> Folder {
    let folder = Folder::new();
    let (x, y) = sine();
    let data = csv("x,temperature", &[&x, &y]);
    for name in ["data.csv", "DATA.csv", "recording.csv", "series.csv"] {
        folder.write(name, &data);
    }
    folder.write("stations.csv", csv("day,wind,city,ozone", &[&x, &y, &x, &y]));
    for name in ["grid.csv", "GRID.csv"] {
        folder.write(name, csv("x", &[&x[..40]]));
    }
    for name in ["examples", "scans", "pictures"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    let (clean, noisy) = (clean(ColorType::L8, 64, 48), noisy(ColorType::L8, 64, 48));
    for name in ["noisy.png", "examples/camera-noisy.png", "scans/a.tif", "scans/b.tif"] {
        folder.save(name, &noisy);
    }
    for name in ["clean.png", "truth.png", "denoised.png", "result.png"] {
        folder.save(name, &clean);
    }
    for name in ["dead.png", "caption.png", "map.png"] {
        folder.save(name, &image::DynamicImage::new_luma8(64, 48));
    }
    for name in ["frames", "dark"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        folder.save(&format!("{name}/a.tif"), &noisy);
        folder.save(&format!("{name}/b.tif"), &clean);
    }
    for name in ["lena", "boat", "barbara"] {
        folder.save(&format!("pictures/{name}.png"), &clean);
    }
    folder.kgard("fit data.csv --sigma 0.3 --lambda 0.1 -o model.json").ok();
    folder
}

/// The lines of the README's blocks for shells, without what a shell would not
/// see.
fn readme() -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in include_str!("../../../README.md").lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => lines.push(line.split("  #").next().unwrap_or("").trim().to_owned()),
            _ => {}
        }
    }
    assert!(lines.len() > 8, "{lines:?}");
    lines
}

/// The indented lines below `Examples:` of all help texts.
fn help() -> Vec<String> {
    let folder = Folder::new();
    let overview = folder.kgard("--help").ok().to_owned();
    let commands = overview.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| line.split_whitespace().next()).filter(|n| *n != "help");
    let mut texts = vec![overview.clone()];
    texts.extend(names.map(|name| folder.kgard(&format!("{name} --help")).ok().to_owned()));
    assert!(texts.len() > 10);
    let mut lines = Vec::new();
    for text in texts {
        let examples = text.lines().skip_while(|line| *line != "Examples:").skip(1);
        let before = lines.len();
        lines.extend(examples.map_while(|line| line.strip_prefix("  ").map(str::to_owned)));
        assert!(lines.len() > before, "no examples in {text}");
    }
    // The overview repeats some.
    lines.sort();
    lines.dedup();
    lines
}

#[cfg(not(feature = "gpu"))]
fn has_gpu() -> bool {
    false
}

/// Runs a line in a folder of its own.
fn check(line: &str) {
    // The tests are what runs here.
    if line == "cargo xtask test" {
        return;
    }
    if (line.contains(" --backend gpu") || line.starts_with("kgard devices")) && !has_gpu() {
        return;
    }
    let folder = folder();
    // What cargo would build is built already. A browser would stay open.
    let command = line.replace("cargo run --release --", "kgard").replace(" --open", "");
    if command.starts_with("kgard serve") {
        // It ends when it is told to, and not by itself; its port may be taken.
        let command = command.replace("kgard serve", "timeout 2 kgard serve --port 0");
        let command = command.replace(" --port 0 --port 0", " --port 0");
        let run = folder.shell(&command);
        assert_eq!(run.code(), 124, "{line}: {}", run.stderr());
        assert!(run.stdout().starts_with("http://127.0.0.1:"), "{}", run.stdout());
        return;
    }
    let run = folder.shell(&command);
    assert_eq!(run.code(), 0, "{line}: {}", run.stderr());
}

#[test]
fn of_the_readme() {
    for line in readme() {
        check(&line);
    }
}

#[test]
fn of_the_help() {
    for line in help() {
        check(&line);
    }
}
