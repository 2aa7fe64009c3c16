//! How far a batch has come, on a terminal.
//!
//! Large pictures take longer: time is reckoned by pixels, which are read from
//! the heads of the files.

use crate::messages::progress_target;
use crate::progress::{TICK, set_style};
use image::ImageReader;
use indicatif::{HumanDuration, MultiProgress, ProgressBar};
use std::path::Path;

/// A line for the picture that is worked on, and one for all.
pub(super) struct Bars {
    both: MultiProgress,
    current: ProgressBar,
    total: ProgressBar,
    /// Pixels of the pictures that are left, the next one last.
    left: Vec<u64>,
    pictures: usize,
}

impl Bars {
    pub(super) fn new<'a>(inputs: impl Iterator<Item = &'a Path>) -> Self {
        let both = MultiProgress::with_draw_target(progress_target());
        let hidden = both.is_hidden();
        // Nobody would see what the files are asked for.
        let mut left: Vec<u64> =
            inputs.map(|input| if hidden { 0 } else { pixels(input) }).collect();
        left.reverse();
        let current = both.add(ProgressBar::new_spinner());
        let total = both.add(ProgressBar::new(left.iter().sum()));
        set_style(&current, "{spinner} {elapsed}{prefix} {wide_msg}");
        set_style(&total, "{wide_bar} {msg} pictures");
        let bars = Self { both, current, total, pictures: left.len(), left };
        bars.count();
        bars.current.enable_steady_tick(TICK);
        bars
    }

    pub(super) fn start(&self, input: &Path) {
        self.current.set_message(input.display().to_string());
        self.current.reset_elapsed();
        // By the pictures so far.
        let done = self.total.position() as f64;
        let next = self.left.last().map_or(0.0, |&pixels| pixels as f64);
        if done > 0.0 {
            set_style(&self.total, "{wide_bar} {msg} pictures, {eta} left");
            let expected = self.total.elapsed().mul_f64(next / done);
            self.current.set_prefix(format!(" of about {}", HumanDuration(expected)));
        }
    }

    pub(super) fn finish_one(&mut self) {
        self.total.inc(self.left.pop().unwrap_or(0));
        self.count();
    }

    /// Says something above the bars.
    pub(super) fn suspend(&self, say: impl FnOnce()) {
        self.both.suspend(say);
    }

    pub(super) fn clear(&self) {
        self.current.finish_and_clear();
        self.total.finish_and_clear();
    }

    fn count(&self) {
        self.total.set_message(format!("{}/{}", self.pictures - self.left.len(), self.pictures));
    }
}

/// None in a file that is no picture.
pub(super) fn pixels(input: &Path) -> u64 {
    let reader = ImageReader::open(input).and_then(ImageReader::with_guessed_format);
    let size = reader.ok().and_then(|reader| reader.into_dimensions().ok());
    size.map_or(0, |(width, height)| u64::from(width) * u64::from(height))
}
