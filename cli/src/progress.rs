//! What is going on, on a terminal, once it has taken a second.

use crate::messages::progress_target;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use kgard::denoise::Step;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work of less time passes without a word.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two pictures of a spinner.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// Parts of a bar.
const PARTS: u32 = 1000;
/// A step that takes longer than expected is shown as nearly done.
const NEARLY: f64 = 0.95;

/// A line with a spinner and the seconds, for as long as this lives; and with a bar and the time
/// left, once it is known how far the work has come.
pub(crate) struct Work {
    bar: ProgressBar,
    course: Arc<Mutex<Course>>,
    /// The waiting thread shows the line when its wait times out.
    done: Option<(Sender<()>, JoinHandle<()>)>,
}

/// How far the work has come, and when that was said.
#[derive(Debug, Clone, Copy)]
struct Course {
    start: Instant,
    step: Option<(Step, Instant)>,
}

impl Course {
    /// The share that is done by now, if it can be told: within a step by the time that the steps
    /// before have taken.
    fn share(&self, now: Instant) -> Option<f64> {
        let (step, at) = self.step.filter(|(step, _)| step.done > 0.0)?;
        let expected = (at - self.start).as_secs_f64() * (step.next - step.done) / step.done;
        let part = ((now - at).as_secs_f64() / expected.max(f64::MIN_POSITIVE)).min(NEARLY);
        Some(step.done + part * (step.next - step.done))
    }

    /// The time that is left.
    fn left(&self, now: Instant) -> Option<Duration> {
        let share = self.share(now)?;
        let left = (now - self.start).as_secs_f64() * (1.0 - share) / share;
        Duration::try_from_secs_f64(left).ok()
    }
}

impl Work {
    /// Begins some work, which has a name.
    pub(crate) fn begin(what: String) -> Self {
        let bar = ProgressBar::hidden();
        let course = Arc::new(Mutex::new(Course { start: Instant::now(), step: None }));
        let target = progress_target();
        if target.is_hidden() {
            return Self { bar, course, done: None };
        }
        set_style(&bar, "{spinner} {elapsed} {wide_msg}");
        bar.set_message(what);
        let (sender, receiver) = channel();
        let (shown, followed) = (bar.clone(), Arc::clone(&course));
        let waiting = std::thread::spawn(move || {
            if receiver.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            shown.set_draw_target(target);
            shown.enable_steady_tick(TICK);
            let mut has_bar = false;
            while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let course = *followed.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                let Some(share) = course.share(now) else { continue };
                if !has_bar {
                    shown.set_length(PARTS.into());
                    set_style(&shown, "{spinner} {elapsed} {bar:30} {percent:>3} %{prefix} {msg}");
                    has_bar = true;
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                shown.set_position((f64::from(PARTS) * share) as u64);
                let left = course.left(now).map(|left| format!(", {} left", HumanDuration(left)));
                shown.set_prefix(left.unwrap_or_default());
            }
        });
        Self { bar, course, done: Some((sender, waiting)) }
    }

    /// Goes on to other work.
    pub(crate) fn next(&self, what: String) {
        self.bar.set_message(what);
    }

    /// The work has come so far.
    pub(crate) fn follow(&self, step: Step) {
        let mut course = self.course.lock().unwrap_or_else(PoisonError::into_inner);
        course.step = Some((step, Instant::now()));
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

#[cfg(test)]
mod tests {
    use super::Course;
    use kgard::denoise::{KgBm3d, Masks, Plane, Step, Watch};
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    /// Steps, as the library tells them.
    fn steps() -> Vec<Step> {
        let steps = Mutex::new(Vec::new());
        let tell = |step| steps.lock().expect("the steps").push(step);
        let pixels: Vec<f32> = (0..24 * 24).map(|i| (i * i % 97) as f32).collect();
        let image = Plane::new(&pixels, 24, 24).expect("a plane");
        let plan = KgBm3d::new(255.0).plan().expect("a plan");
        plan.denoise_watched(&[image], Masks::default(), Watch::new(&tell)).expect("an image");
        steps.into_inner().expect("the steps")
    }

    #[test]
    fn shares_grow() {
        let start = Instant::now();
        let mut last = 0.0;
        for (step, number) in steps().into_iter().zip(0..) {
            let at = start + Duration::from_secs(number);
            for wait in [0, 1, 1000] {
                let course = Course { start, step: Some((step, at)) };
                let now = at + Duration::from_millis(wait);
                if let Some(share) = course.share(now) {
                    assert!(share >= last && share <= 1.0, "{step:?}: {share}");
                    assert!(course.left(now).is_some());
                    last = share;
                }
            }
        }
        assert!(last > 0.99);
        let none = Course { start, step: None };
        assert_eq!((none.share(start), none.left(start)), (None, None));
    }
}
