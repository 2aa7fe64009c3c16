//! Pictures as microscopes, cameras and screens give them, held to numbers.

#[path = "../../examples/pictures/material.rs"]
#[allow(dead_code)]
pub(crate) mod material;

use crate::common::Folder;
use material::Material;
use serde_json::Value;

/// A picture on its way through the program.
struct Tried {
    folder: Folder,
    extension: &'static str,
}

impl Tried {
    fn new(material: &Material) -> Self {
        let (folder, extension) = (Folder::new(), material.extension());
        for (name, picture) in [("noisy", &material.noisy), ("clean", &material.clean)] {
            let path = folder.path(&format!("{name}.{extension}"));
            picture.save(path).expect("a picture is written");
        }
        Self { folder, extension }
    }

    /// The report of a run with these options; the result is out.
    fn report(&self, options: &str) -> Value {
        let end = self.extension;
        let command =
            format!("denoise noisy.{end} -o out.{end} --reference clean.{end} --json {options}");
        self.folder.kgard(&command).json()
    }
}

/// PSNR of the result; its peak is that of the container.
fn psnr(report: &Value) -> f64 {
    report["psnr_after"].as_f64().expect("PSNR is a number")
}

/// Noise that grows with the brightness: its gain is found within a tenth, and the result is as
/// good as with the true one to half a decibel, or to a BM3D that is told the truth.
#[test]
fn microscopy() {
    let all = [20, 100].map(|photons| (material::microscopy(photons, 0), 20.0, -7100.0));
    for (picture, gain, floor) in all.into_iter().chain([(material::few_photons(0), 4.0, 4.0)]) {
        let tried = Tried::new(&picture);
        let found = tried.report("");
        let rival =
            tried.report(&format!("--method bm3d --noise-gain {gain} --noise-floor {floor}"));
        let estimate = found["noise"]["gain"].as_f64().expect("the gain is a number");
        assert!((estimate / gain - 1.0).abs() < 0.1, "{}: gain {estimate}", picture.name);
        let (ours, theirs) = (psnr(&found), psnr(&rival));
        assert!(ours > theirs - 0.5, "{}: {ours} dB, {theirs} dB", picture.name);
        assert_eq!(rival["noise"]["gain"].as_f64(), Some(gain));
    }
}

/// White noise and hot pixels have no gain.
#[test]
fn noise_without_a_gain() {
    for picture in [material::white(0), material::dim_photograph(0)] {
        let report = Tried::new(&picture).report("");
        assert_eq!(report["noise"]["gain"].as_f64(), Some(0.0), "{}", picture.name);
    }
}

/// Noise that neighbouring pixels share: at most a quarter of a decibel worse than BM3D told the best
/// single deviation, and with film grain 1.5 dB better.
#[test]
fn correlated_noise() {
    let demosaiced = (material::demosaiced(0), &["14", "20"][..]);
    let jpegs = [70, 85, 95].map(|quality| (material::jpeg(quality, 0), &["14"][..]));
    for (picture, deviations) in jpegs.into_iter().chain([demosaiced]) {
        let tried = Tried::new(&picture);
        let found = tried.report("");
        let rivals = deviations
            .iter()
            .map(|sigma| psnr(&tried.report(&format!("--method bm3d --noise-sigma {sigma}"))));
        let (ours, theirs) = (psnr(&found), rivals.fold(0.0, f64::max));
        assert!(ours > theirs - 0.25, "{}: {ours} dB, {theirs} dB", picture.name);
    }
    let tried = Tried::new(&material::grain(0));
    let (found, rival) = (tried.report(""), tried.report("--method bm3d --noise-sigma 20"));
    assert!(psnr(&found) > psnr(&rival) + 1.5, "{} dB, {} dB", psnr(&found), psnr(&rival));
    let length = found["noise"]["correlation_length"].as_f64().expect("a length");
    assert!((1.4..2.2).contains(&length), "{length}");
    let told = tried.report("--noise-sigma 12 --noise-psd 2");
    assert!(psnr(&told) > psnr(&rival), "{} dB", psnr(&told));
    let run = tried.folder.kgard("denoise noisy.png -o out.png");
    let line = run.stderr();
    assert!(line.contains("correlation length 1."), "{line}");
}

/// Little or nothing is done to pictures in which nothing is wrong.
#[test]
fn clean_pictures() {
    for picture in [material::screenshot(false), material::screenshot(true)] {
        let report = Tried::new(&picture).report("");
        assert!(psnr(&report) > 40.0, "{}: {} dB", picture.name, psnr(&report));
        assert!(report["warnings"].as_array().is_some_and(|all| !all.is_empty()), "{report}");
    }
    for picture in [material::drawing(), material::clean_photograph()] {
        let tried = Tried::new(&picture);
        let report = tried.report("");
        let out = image::open(tried.folder.path("out.png")).expect("a picture");
        assert!(out == picture.noisy, "{}: {} dB", picture.name, psnr(&report));
    }
}
