//! `kgard reproduce`: the paper's experiments, its figures beside ours.

use crate::error::{Error, Result};
use crate::experiments::html::{Settings, page};
use crate::experiments::report::{Report, json};
use crate::experiments::run::Runs;
use crate::experiments::{Figure1, figure1, table1, table2, table3, table4};
use crate::output::{Staged, to_stdout};
use crate::plot::Format;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  kgard reproduce table1 --runs 10
  kgard reproduce all --runs 4 --out results
  kgard reproduce figure1 --runs 50 --seed 7 --json
  kgard reproduce table4 --runs 1 --images pictures --out results

The paper's 1000 runs are the default, and take minutes.

A rare run, in which outliers side by side at the border pull the function
along, can decide a mean: look at its standard error and at the median, and try
other seeds.

The noise depends on the seed only: not on the machine, nor on the number of
threads. Times are measured beside other runs on all threads; --threads 1 gives
those of an idle machine.";

/// `kgard reproduce`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// The table or figure
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
    /// Independent runs of each setting [default: 1000, and 5 of table4]
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    runs: Option<u32>,
    /// The folder with the pictures of table4: lena, boat and barbara, as PNG
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Seed of the noise
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// Write tables (JSON, CSV, Markdown), figures (SVG, PNG) and a page with
    /// all of them, report.html, to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads to run on [default: all]
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    threads: Option<u16>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// What can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// A sinc with Gaussian noise and outliers
    Table1,
    /// Kernel expansions in the plane
    Table2,
    /// A sinc with alpha-stable noise
    Table3,
    /// Pictures with Gaussian noise and impulses; needs --images
    Table4,
    /// The outliers found, and the condition of Theorem 1
    Figure1,
    /// All of them; table4 if there are --images
    All,
}

/// Runs the command.
pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if let Some(folder) = &args.out {
        // Better now than after the work.
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::failed(format!("{}: cannot be made a folder: {error}", folder.display()))
        })?;
    }
    if args.what == What::Table4 && args.images.is_none() {
        return Err(Error::usage(
            "table4 needs --images DIR: a folder with lena.png, boat.png and barbara.png",
        ));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, usize::from))
        .build()
        .map_err(|error| Error::failed(format!("the threads cannot be started: {error}")))?;
    let reports = pool.install(|| {
        let all = [What::Table1, What::Table2, What::Table3, What::Table4, What::Figure1];
        let wanted = all.iter().filter(|&&what| args.what == what || args.what == What::All);
        wanted.filter_map(|what| what.run(args)).collect::<Result<Vec<Report>>>()
    })?;
    if let Some(folder) = &args.out {
        save(folder, &reports, &args.settings(pool.current_num_threads()))?;
    }
    let text = match (args.json, args.what) {
        (true, What::All) => json(&reports)?,
        (true, _) => reports.iter().map(json).collect::<Result<String>>()?,
        (false, _) => reports.iter().map(Report::markdown).collect::<Vec<_>>().join("\n"),
    };
    to_stdout(text.as_bytes())
}

impl ReproduceArgs {
    /// What is needed to repeat the experiments, for the report.
    fn settings(&self, threads: usize) -> Settings {
        let what = self.what.to_possible_value();
        let runs = |count: u32| count.to_string();
        vec![
            ("experiments", what.map_or_else(String::new, |what| what.get_name().to_owned())),
            ("runs", self.runs.map_or_else(|| "1000, and 5 of table4".into(), runs)),
            ("seed", self.seed.to_string()),
            ("threads", threads.to_string()),
            ("program", concat!("kgard ", env!("CARGO_PKG_VERSION")).to_owned()),
            ("machine", format!("{}, {}", std::env::consts::ARCH, std::env::consts::OS)),
        ]
    }
}

impl What {
    /// `None` if its pictures are missing.
    fn run(self, args: &ReproduceArgs) -> Option<Result<Report>> {
        let runs = |default| Runs { count: args.runs.unwrap_or(default), seed: args.seed };
        Some(match self {
            Self::Table1 => table1::table().run(runs(1000)),
            Self::Table2 => table2::table().run(runs(1000)),
            Self::Table3 => table3::table().run(runs(1000)),
            Self::Table4 => table4::run(runs(5), args.images.as_deref()?),
            Self::Figure1 | Self::All => figure1::run(runs(1000)),
        })
    }
}

/// All files, or none.
fn save(folder: &Path, reports: &[Report], settings: &Settings) -> Result<()> {
    let mut staged = Staged::default();
    staged.add(&folder.join("report.html"), page(reports, settings)?.into_bytes())?;
    for report in reports {
        let mut add = |extension: &str, bytes: Vec<u8>| {
            staged.add(&folder.join(format!("{}.{extension}", report.table)), bytes)
        };
        if report.table == figure1::NAME {
            add("svg", Format::Svg.render(&Figure1(report))?)?;
            add("png", Format::Png.render(&Figure1(report))?)?;
        }
        add("json", json(report)?.into_bytes())?;
        add("csv", report.csv()?)?;
        add("md", report.markdown().into_bytes())?;
        for (name, file) in &report.pictures {
            staged.add(&folder.join(name), file.clone())?;
        }
    }
    staged.commit()
}
