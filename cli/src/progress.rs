//! What is going on, on a terminal, once it has taken a second.

use crate::messages::progress_target;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work of less time passes without a word.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two pictures of a spinner.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// A line with a spinner and the seconds, for as long as this lives.
pub(crate) struct Work {
    bar: ProgressBar,
    /// The waiting thread shows the line when its wait times out.
    done: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Work {
    /// Begins some work, which has a name.
    pub(crate) fn begin(what: String) -> Self {
        let bar = ProgressBar::hidden();
        let target = progress_target();
        if target.is_hidden() {
            return Self { bar, done: None };
        }
        set_style(&bar, "{spinner} {elapsed} {wide_msg}");
        bar.set_message(what);
        let (sender, receiver) = channel();
        let shown = bar.clone();
        let waiting = std::thread::spawn(move || {
            if receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(target);
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, done: Some((sender, waiting)) }
    }

    /// Goes on to other work.
    pub(crate) fn next(&self, what: String) {
        self.bar.set_message(what);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some((sender, waiting)) = self.done.take() {
            drop(sender);
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}

/// A bar of values that are done, with the time that is left.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn begin(total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), progress_target());
        set_style(&bar, "{elapsed} {wide_bar} {pos} of {len} values, {eta} left");
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    pub(crate) fn bar(&self) -> &ProgressBar {
        &self.0
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Gives a bar a style, unless indicatif does not understand it.
pub(crate) fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
