//! The runs of an experiment.
//!
//! Each run draws from a stream of its own, and averages are taken in the
//! order of the runs: neither the number of threads nor their luck changes a
//! result.

use super::report::{Report, Row};
use super::score::{Average, Score};
use super::{Paper, Table};
use crate::error::Result;
use crate::messages::progress_target;
use crate::noise::Random;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

/// How often, and with which numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs {
    pub(crate) count: u32,
    pub(crate) seed: u64,
}

impl Runs {
    /// Does `one` once per run, on all threads; results in the order of the
    /// runs. `setting` counts the lines of the experiment `name`.
    pub(crate) fn each<T: Send>(
        self,
        name: &str,
        setting: usize,
        progress: &ProgressBar,
        one: impl Fn(&mut Random) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let first = (setting as u64) << 32;
        (0..self.count)
            .into_par_iter()
            .map(|run| {
                let result = one(&mut Random::new(name, self.seed, first | u64::from(run)));
                progress.inc(1);
                result
            })
            .collect()
    }

    /// A bar for `settings` lines on standard error, if that is a terminal.
    pub(crate) fn progress(self, name: &'static str, settings: usize) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(
            Some(settings as u64 * u64::from(self.count)),
            progress_target(),
        );
        let template = "{msg} {wide_bar} {pos}/{len} runs, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(name);
        bar
    }
}

impl Table {
    /// Runs the experiment.
    pub(crate) fn run(&self, runs: Runs) -> Result<Report> {
        let progress = runs.progress(self.name, self.settings.len());
        let mut rows = Vec::new();
        for (index, setting) in self.settings.iter().enumerate() {
            let methods: std::result::Result<Vec<_>, kgard::Error> =
                setting.methods.iter().map(|(m, _)| m.prepare(&self.design)).collect();
            let methods = methods?;
            let scores = runs.each(self.name, index, &progress, |random| {
                let sample = (setting.draw)(&self.design, random);
                let scores: std::result::Result<Vec<Score>, kgard::Error> = methods
                    .iter()
                    .map(|method| Ok(Score::new(&method.estimate(&sample.y)?, &sample)))
                    .collect();
                Ok(scores?)
            })?;
            for (i, &(method, paper)) in setting.methods.iter().enumerate() {
                let scores: Vec<Score> = scores.iter().map(|run| run[i]).collect();
                rows.push(Row {
                    method: method.name(),
                    parameters: method.parameters(),
                    noise: setting.noise.clone(),
                    outliers: setting.outliers.clone(),
                    paper,
                    plan_seconds: methods[i].plan_seconds(),
                    ..Row::measured(Average::of(&scores))
                });
            }
        }
        progress.finish_and_clear();
        Ok(Report {
            table: self.name,
            title: self.title,
            runs: runs.count,
            seed: runs.seed,
            rows,
            notes: self.notes.iter().map(|&note| note.to_owned()).collect(),
            pictures: Vec::new(),
        })
    }
}

impl Row {
    /// What was measured, without saying of what.
    fn measured(average: Average) -> Self {
        Self {
            method: "",
            parameters: String::new(),
            noise: String::new(),
            outliers: None,
            paper: Paper::NOTHING,
            psnr: None,
            mse: Some(average.mse),
            mse_error: Some(average.mse_error),
            mse_median: Some(average.mse_median),
            complete: average.complete,
            mse_complete: average.mse_complete,
            correct: average.correct,
            wrong: average.wrong,
            seconds: average.seconds,
            plan_seconds: None,
            theorem: None,
        }
    }
}
