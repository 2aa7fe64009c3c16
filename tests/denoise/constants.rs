//! The table of constants in docs/experiments.md, held to the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The constants of numbers in a source, by file and name, with their values.
fn constants(source: &str, file: &str, all: &mut BTreeMap<String, String>) {
    let source = source.split("#[cfg(test)]").next().unwrap_or(source);
    for (start, _) in source.match_indices("const ") {
        let declaration = source[start + 6..].split(';').next().unwrap_or_default();
        // A type with brackets has semicolons of its own.
        let declaration = match declaration.split_once('[') {
            Some((before, _)) if !before.contains('=') => {
                let rest = &source[start + 6..];
                let end = rest.match_indices(';').nth(1).map_or(rest.len(), |(end, _)| end);
                &rest[..end]
            }
            _ => declaration,
        };
        let Some((name, rest)) = declaration.split_once(": ") else { continue };
        let Some((kind, value)) = rest.split_once('=') else { continue };
        // Parameters of functions are no constants.
        if kind.contains(['>', '{', ',']) && !kind.starts_with(['(', '[']) {
            continue;
        }
        let is_name =
            name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let kind = kind.trim_start_matches(['(', '[']);
        let is_number =
            ["f64", "f32", "usize", "u64", "u32", "i32"].iter().any(|t| kind.starts_with(t));
        if is_name && is_number {
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            all.insert(format!("{file}::{name}"), value);
        }
    }
}

fn of_folder(folder: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if stem != "bm3d" {
                of_folder(&path, all);
            }
        } else if stem != "tests" {
            constants(&fs::read_to_string(&path).unwrap(), &stem, all);
        }
    }
}

#[test]
fn every_constant_is_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut source = BTreeMap::new();
    of_folder(&root.join("src/denoise"), &mut source);
    assert!(source.len() > 50, "{source:?}");
    let document = fs::read_to_string(root.join("docs/experiments.md")).unwrap();
    let mut table = BTreeMap::new();
    let mut chosen = 0;
    for line in document.lines().filter(|line| line.starts_with("| `") && line.contains("::")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, value, kind, _, why] = cells[..] else { panic!("five cells: {line}") };
        assert!(!why.is_empty(), "{line}");
        assert!(["chosen", "derived", "paper", "size", "bound"].contains(&kind), "{line}");
        chosen += usize::from(kind == "chosen");
        table.insert(name.trim_matches('`').to_owned(), value.trim_matches('`').to_owned());
    }
    for (name, value) in &source {
        assert_eq!(table.get(name), Some(value), "{name} in docs/experiments.md");
    }
    for name in table.keys() {
        assert!(source.contains_key(name), "{name} is in docs/experiments.md only");
    }
    assert!(document.contains(&format!("empirical: {chosen} of them")), "{chosen} are chosen");
}

/// The classifier's file is the one that its manifest describes.
#[test]
fn the_classifier_is_what_its_manifest_says() {
    use crate::common::sha256::sha256;
    use crate::literal::weights::{INPUTS, LARGE, SMALL, numbers};
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let manifest = fs::read_to_string(models.join("classifier.toml")).unwrap();
    let bytes = fs::read(models.join("classifier.bin")).unwrap();
    let has = |line: String| assert!(manifest.lines().any(|l| l == line), "{line}");
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    has(format!("sha256 = \"{}\"", sha256(&bytes)));
    for (first, second) in [SMALL, LARGE] {
        has(format!("layers = [{INPUTS}, {first}, {second}, 1]"));
    }
    assert_eq!(bytes.len(), 4 * (numbers(SMALL) + numbers(LARGE)));
    let weights = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    assert!(weights.clone().all(|weight| weight.abs() < 100.0));
    assert!(weights.map(f32::abs).sum::<f32>() > 100.0);
    let pictures = manifest.matches("[[picture]]").count();
    assert!(pictures > 0 && pictures == manifest.matches("validation = ").count());
    // Neither the paper's pictures nor that of the README are learned from.
    for name in ["lena", "boat", "barbara", "camera", "bsd68"] {
        assert!(!manifest.to_lowercase().contains(name), "{name}");
    }
}
