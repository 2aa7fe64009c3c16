//! Table 4: pictures with Gaussian noise and impulses, and the two of the
//! paper's last figure.

use super::Paper;
use super::report::{Report, Row};
use super::run::Runs;
use crate::denoise::rb_rvm_of;
use crate::error::{Error, Result};
use crate::noise::{Random, sigma_at};
use image::{DynamicImage, GrayImage};
use kgard::denoise::bm3d::Bm3d;
use kgard::denoise::metrics::psnr;
use kgard::denoise::{Denoised, Denoiser, KgBm3d, PaperKgBm3d, PaperKgard, PaperStop};
use kgard::denoise::{Plane, PlaneBuf};
use kgard::regression::stop::Reading;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const NAME: &str = "table4";
/// The size of the impulses.
const IMPULSE: f64 = 100.0;
const PEAK: f32 = 255.0;

/// One picture with one kind of noise: parameters, and the paper's figures.
struct Line {
    picture: &'static str,
    decibels: u32,
    percent: u32,
    bm3d: Filter,
    /// sigma and PSNR.
    rb_rvm: Option<(f64, f64)>,
    /// lambda and PSNR.
    kgard: Option<(f32, f64)>,
    kg_bm3d: Filter,
}

/// What BM3D is told about the noise: the paper has tuned it for the best result, and so have we.
/// After the paper's KGARD it is the paper's, where it says so.
struct Filter {
    s: f32,
    /// The paper's, where it says so.
    paper_s: Option<f32>,
    paper: f64,
}

const fn filter(s: f32, paper_s: f32, paper: f64) -> Filter {
    Filter { s, paper_s: Some(paper_s), paper }
}

#[rustfmt::skip]
const LINES: [Line; 8] = [
    Line { picture: "lena", decibels: 25, percent: 5, bm3d: filter(24.0, 30.0, 32.2), rb_rvm: Some((0.3, 31.78)), kgard: Some((1.0, 33.91)), kg_bm3d: filter(7.0, 10.0, 36.2) },
    Line { picture: "lena", decibels: 25, percent: 10, bm3d: filter(32.0, 30.0, 30.84), rb_rvm: Some((0.3, 31.25)), kgard: Some((1.0, 33.49)), kg_bm3d: filter(7.0, 10.0, 35.67) },
    Line { picture: "lena", decibels: 20, percent: 5, bm3d: filter(26.0, 30.0, 31.83), rb_rvm: Some((0.4, 29.3)), kgard: Some((1.0, 32.35)), kg_bm3d: filter(13.0, 15.0, 34.24) },
    Line { picture: "lena", decibels: 20, percent: 10, bm3d: filter(35.0, 35.0, 30.66), rb_rvm: Some((0.4, 29.09)), kgard: Some((1.0, 31.94)), kg_bm3d: filter(13.0, 15.0, 33.81) },
    Line { picture: "lena", decibels: 15, percent: 5, bm3d: filter(33.0, 35.0, 30.87), rb_rvm: Some((0.6, 26.74)), kgard: Some((1.5, 29.12)), kg_bm3d: filter(23.0, 25.0, 31.18) },
    Line { picture: "lena", decibels: 15, percent: 10, bm3d: filter(40.0, 40.0, 29.94), rb_rvm: Some((0.4, 25.85)), kgard: Some((2.0, 28.47)), kg_bm3d: filter(23.0, 25.0, 30.77) },
    Line { picture: "boat", decibels: 20, percent: 10, bm3d: Filter { s: 34.0, paper_s: None, paper: 28.97 }, rb_rvm: None, kgard: None, kg_bm3d: Filter { s: 14.0, paper_s: None, paper: 31.52 } },
    Line { picture: BARBARA, decibels: 20, percent: 10, bm3d: Filter { s: 34.0, paper_s: None, paper: 29.2 }, rb_rvm: None, kgard: None, kg_bm3d: Filter { s: 20.0, paper_s: None, paper: 30.43 } },
];

/// Its fine stripes want cores of 4 pixels and a smaller sigma and lambda: the
/// paper says so, and gives no numbers for the last two.
const BARBARA: &str = "barbara";
const BARBARA_REGIONS: (usize, usize) = (12, 4);
const BARBARA_SIGMA: f32 = 0.1;
const BARBARA_LAMBDA: f32 = 0.2;
const BARBARA_E0: f32 = 50.0;

const NOTES: [&str; 4] = [
    "Noise and impulses (+-100) are added to floating point samples and not clipped. PSNR in dB, \
     of a peak of 255. Correct: percent of the impulses; wrong: percent of all pixels.",
    "KGARD and KG-BM3D, the paper's: Algorithm 2 as printed, with the paper's numbers where it \
     has some; KG-BM3D subtracts the outliers and runs BM3D with s. Automatic: the methods of this \
     program, told nothing. The s of BM3D gives the best PSNR, as the paper's did for its BM3D.",
    "RB-RVM: one run a row, for it is slow; the library's, whose noise has a robust bound.",
    "The paper's pictures are those of the Waterloo repository: `lena_waterloo.png` and so on \
     are taken if they are there, else `lena.png`.",
];

/// A picture with noise.
struct Noisy {
    samples: Vec<f32>,
    width: usize,
    is_impulse: Vec<bool>,
}

/// The result of a method: the picture, and which pixels are outliers if it finds any.
type Cleaned = std::result::Result<(PlaneBuf<f32>, Option<PlaneBuf<bool>>), kgard::Error>;

/// A method on one line of the table.
struct Entry<'a> {
    method: &'static str,
    parameters: String,
    paper: Option<f64>,
    denoise: Box<dyn Fn(&Noisy) -> Cleaned + 'a>,
}

/// Sums over the runs of an entry.
#[derive(Default)]
struct Sums {
    runs: u32,
    psnr: f64,
    /// Percent correct and wrong, where there are outliers.
    found: Option<(f64, f64)>,
    seconds: f64,
}

/// Runs the experiment on the pictures in `folder`.
pub(crate) fn run(runs: Runs, folder: &Path) -> Result<Report> {
    let pictures: Vec<(GrayImage, &Line)> =
        LINES.iter().map(|line| Ok((open(folder, line.picture)?, line))).collect::<Result<_>>()?;
    let progress = runs.progress(NAME, LINES.len());
    let mut report = Report {
        table: NAME,
        title: "Table 4: pictures with Gaussian noise and impulses",
        runs: runs.count,
        seed: runs.seed,
        rows: Vec::new(),
        notes: NOTES.map(str::to_owned).to_vec(),
        pictures: Vec::new(),
    };
    for (index, (picture, line)) in pictures.iter().enumerate() {
        let clean: Vec<f64> = picture.as_raw().iter().map(|&sample| sample.into()).collect();
        let entries = line.entries();
        let mut sums: Vec<Sums> = entries.iter().map(|_| Sums::default()).collect();
        for run in 0..runs.count {
            let stream = (index as u64) << 32 | u64::from(run);
            let noisy = line.corrupt(&clean, picture, &mut Random::new(NAME, runs.seed, stream));
            for (entry, sums) in entries.iter().zip(&mut sums) {
                // RB-RVM takes longer than all others together.
                if run > 0 && entry.method == RB_RVM {
                    continue;
                }
                let image = sums.add(entry, &noisy, picture)?;
                if run == 0 && line.is_shown() && entry.method == KG_BM3D_AUTOMATIC {
                    for (what, samples) in
                        [("noisy", &noisy.samples[..]), ("clean", image.samples())]
                    {
                        let name = format!("{NAME}-{}-{what}.png", line.picture);
                        report.pictures.push((name, png(samples, picture)?));
                    }
                }
            }
            progress.inc(1);
        }
        let rows = entries.iter().zip(&sums).map(|(entry, sums)| line.row(entry, sums));
        report.rows.extend(rows);
    }
    progress.finish_and_clear();
    Ok(report)
}

const RB_RVM: &str = "RB-RVM";
const KGARD_PAPER: &str = "KGARD, the paper's";
const KG_BM3D_AUTOMATIC: &str = "KG-BM3D, automatic";

impl Line {
    /// Whether its pictures are written: those of the paper's figure, and Lena.
    fn is_shown(&self) -> bool {
        self.decibels == 20 && self.percent == 10
    }

    fn corrupt(&self, clean: &[f64], picture: &GrayImage, random: &mut Random) -> Noisy {
        let sigma = sigma_at(self.decibels.into(), clean);
        let mut samples = clean.to_vec();
        random.add_gaussian(&mut samples, sigma);
        let impulses = random.add_outliers(&mut samples, f64::from(self.percent) / 100.0, IMPULSE);
        let mut is_impulse = vec![false; samples.len()];
        for index in impulses {
            is_impulse[index] = true;
        }
        #[allow(clippy::cast_possible_truncation)]
        let samples = samples.into_iter().map(|sample| sample as f32).collect();
        Noisy { samples, width: picture.width() as usize, is_impulse }
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        let bm3d = |noisy: &Noisy| {
            let s = self.bm3d.s;
            Ok((Bm3d::for_noise(s, PEAK).denoise(noisy.plane()?, s)?, None))
        };
        let cleaned = |mut denoised: Denoised<f32>| {
            let image = denoised.channels.swap_remove(0);
            (image, Some(denoised.outliers.mask.swap_remove(0)))
        };
        let automatic = || "none".to_owned();
        let mut entries = vec![Entry {
            method: "BM3D",
            parameters: self.bm3d.parameters(),
            paper: Some(self.bm3d.paper),
            denoise: Box::new(bm3d),
        }];
        if let Some((sigma, paper)) = self.rb_rvm {
            entries.push(Entry {
                method: RB_RVM,
                parameters: format!("sigma = {sigma}"),
                paper: Some(paper),
                denoise: Box::new(move |noisy| {
                    let (image, mut outliers, _) = rb_rvm_of(noisy.plane()?, sigma, 12, 8)?;
                    Ok((image, Some(outliers.mask.swap_remove(0))))
                }),
            });
        }
        let (kgard, lambda) = (self.kgard.map(|(_, paper)| paper), self.kgard.map_or(1.0, |k| k.0));
        let s = self.kg_bm3d.paper_s.unwrap_or(self.kg_bm3d.s);
        entries.extend([
            Entry {
                method: KGARD_PAPER,
                parameters: self.paper_parameters(lambda),
                paper: kgard,
                denoise: Box::new(move |noisy| {
                    Ok(cleaned(self.paper_kgard(lambda).denoise(noisy.plane()?)?))
                }),
            },
            Entry {
                method: "KG-BM3D, the paper's",
                // Of its table: lambda is 1 wherever KG-BM3D is.
                parameters: format!("{}, s = {s}", self.paper_parameters(1.0)),
                paper: Some(self.kg_bm3d.paper),
                denoise: Box::new(move |noisy| {
                    let method = PaperKgBm3d::new(PEAK).kgard(self.paper_kgard(1.0)).noise(s);
                    Ok(cleaned(method.denoise(noisy.plane()?)?))
                }),
            },
            Entry {
                method: "KGARD, automatic",
                parameters: automatic(),
                paper: None,
                denoise: Box::new(move |noisy| {
                    Ok(cleaned(Denoiser::new().denoise(noisy.plane()?)?))
                }),
            },
            Entry {
                method: KG_BM3D_AUTOMATIC,
                parameters: automatic(),
                paper: None,
                denoise: Box::new(move |noisy| {
                    Ok(cleaned(KgBm3d::new(PEAK).denoise(noisy.plane()?)?))
                }),
            },
        ]);
        entries
    }

    /// The paper's numbers; for Barbara's sigma, lambda and E0 it has none.
    fn paper_parameters(&self, lambda: f32) -> String {
        if self.picture != BARBARA {
            return format!("sigma = 0.3, lambda = {lambda}");
        }
        let core = BARBARA_REGIONS.1;
        format!("L = {core}, sigma = {BARBARA_SIGMA}, lambda = {BARBARA_LAMBDA}, E0 = {BARBARA_E0}")
    }

    /// The paper's KGARD.
    fn paper_kgard(&self, lambda: f32) -> PaperKgard<f32> {
        let paper = PaperKgard::new(PEAK);
        if self.picture != BARBARA {
            return paper.lambda(lambda);
        }
        let (region, core) = BARBARA_REGIONS;
        paper
            .regions(region, core)
            .sigma(BARBARA_SIGMA)
            .lambda(BARBARA_LAMBDA)
            .stop(PaperStop::Histogram { e0: BARBARA_E0, reading: Reading::default() })
    }

    fn row(&self, entry: &Entry<'_>, sums: &Sums) -> Row {
        let runs = f64::from(sums.runs);
        Row {
            method: entry.method,
            parameters: entry.parameters.clone(),
            noise: format!("{}, {} dB", self.picture, self.decibels),
            outliers: Some(format!("{} %", self.percent)),
            paper: Paper { psnr: entry.paper, ..Paper::NOTHING },
            psnr: Some(sums.psnr / runs),
            mse: None,
            mse_error: None,
            mse_median: None,
            complete: None,
            mse_complete: None,
            correct: sums.found.map(|found| found.0 / runs),
            wrong: sums.found.map(|found| found.1 / runs),
            seconds: sums.seconds / runs,
            plan_seconds: None,
            theorem: None,
        }
    }
}

impl Filter {
    fn parameters(&self) -> String {
        let s = self.s;
        self.paper_s.map_or_else(|| format!("s = {s}"), |paper| format!("s = {s} (paper: {paper})"))
    }
}

impl Noisy {
    fn plane(&self) -> std::result::Result<Plane<'_, f32>, kgard::Error> {
        Plane::new(&self.samples, self.width, self.samples.len() / self.width)
    }
}

impl Sums {
    /// One run more.
    fn add(
        &mut self,
        entry: &Entry<'_>,
        noisy: &Noisy,
        picture: &GrayImage,
    ) -> Result<PlaneBuf<f32>> {
        let start = Instant::now();
        let (image, outliers) = (entry.denoise)(noisy)?;
        self.seconds += start.elapsed().as_secs_f64();
        let truth: Vec<f32> = picture.as_raw().iter().map(|&sample| sample.into()).collect();
        let truth = Plane::new(&truth, image.width(), image.height())?;
        self.psnr += f64::from(psnr(truth, image.as_plane(), PEAK)?);
        if let Some(outliers) = outliers {
            let flags = outliers.samples().iter().copied().zip(&noisy.is_impulse);
            let right = flags.clone().filter(|&(flag, &is)| flag && is).count() as f64;
            let wrong = flags.filter(|&(flag, &is)| flag && !is).count() as f64;
            let impulses = noisy.is_impulse.iter().filter(|&&is| is).count() as f64;
            let pixels = noisy.is_impulse.len() as f64;
            let (correct_sum, wrong_sum) = self.found.unwrap_or_default();
            self.found = Some((
                correct_sum + 100.0 * right / impulses.max(1.0),
                wrong_sum + 100.0 * wrong / pixels,
            ));
        }
        self.runs += 1;
        Ok(image)
    }
}

/// A picture of the paper, as grey bytes.
fn open(folder: &Path, name: &str) -> Result<GrayImage> {
    let paths = [format!("{name}_waterloo.png"), format!("{name}.png")];
    let paths: Vec<PathBuf> = paths.iter().map(|file| folder.join(file)).collect();
    let Some(path) = paths.iter().find(|path| path.exists()) else {
        return Err(Error::failed(format!(
            "{}: has neither {name}_waterloo.png nor {name}.png; Table 4 needs lena, boat and barbara",
            folder.display()
        )));
    };
    let picture =
        image::open(path).map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
    Ok(picture.into_luma8())
}

/// Samples as a PNG, rounded to bytes.
fn png(samples: &[f32], like: &GrayImage) -> Result<Vec<u8>> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let bytes = samples.iter().map(|&sample| sample.round().clamp(0.0, PEAK) as u8).collect();
    let picture = GrayImage::from_raw(like.width(), like.height(), bytes)
        .ok_or_else(|| Error::failed("a picture has changed its size"))?;
    let mut file = Cursor::new(Vec::new());
    DynamicImage::from(picture)
        .write_to(&mut file, image::ImageFormat::Png)
        .map_err(|error| Error::failed(format!("writing a PNG: {error}")))?;
    Ok(file.into_inner())
}
