//! How far KG-BM3D has come: KGARD of each channel, then pilots, of which nobody knows beforehand
//! how many it takes, and the last BM3D.

use super::super::watch::Watch;

/// Time of the steps for a channel, in units of that of a pilot, measured on photographs.
pub(super) const COST_OF_KGARD: f64 = 0.5;
pub(super) const COST_OF_PILOT: f64 = 1.0;
const COST_OF_LAST: f64 = 2.0;

/// The steps that are done, and those that are expected.
pub(super) struct Course<'p> {
    progress: Watch<'p>,
    /// Pilots that are expected.
    usual: usize,
    done: f64,
    /// The step that goes on.
    step: f64,
    /// Channels whose last step is still to come.
    channels: usize,
    /// Channels without KGARD.
    waiting: usize,
    /// Pilots of the channels that are worked on.
    pilots: usize,
}

impl<'p> Course<'p> {
    /// Of so many channels, each of which usually has so many pilots.
    pub(super) fn new(channels: usize, usual: usize, progress: Watch<'p>) -> Self {
        Self { progress, usual, done: 0.0, step: 0.0, channels, waiting: channels, pilots: 0 }
    }

    /// The same from the end of KGARD on.
    pub(super) fn after_kgard(self) -> Self {
        let done = COST_OF_KGARD * self.waiting as f64;
        Self { done, waiting: 0, ..self }
    }

    /// Begins a step of so many channels.
    pub(super) fn begin(&mut self, channels: usize, cost: f64) {
        if cost == COST_OF_KGARD {
            self.waiting = self.waiting.saturating_sub(channels);
        } else {
            self.pilots += 1;
        }
        let pilots = self.usual.saturating_sub(self.pilots) * channels.min(self.channels);
        let others = self.channels.saturating_sub(channels) * self.usual;
        let pilots = if self.pilots > 0 { pilots + others } else { self.channels * self.usual };
        self.tell(
            cost * channels as f64,
            pilots as f64 * COST_OF_PILOT + self.channels as f64 * COST_OF_LAST,
        );
    }

    /// Begins the last step of so many channels.
    pub(super) fn last(&mut self, channels: usize) {
        self.channels = self.channels.saturating_sub(channels);
        self.pilots = 0;
        let rest = self.usual as f64 * COST_OF_PILOT + COST_OF_LAST;
        self.tell(COST_OF_LAST * channels as f64, self.channels as f64 * rest);
    }

    /// The end.
    pub(super) fn end(mut self) {
        self.tell(0.0, 0.0);
    }

    /// Says that a step begins, and how much is to come after it.
    fn tell(&mut self, step: f64, later: f64) {
        self.done += self.step;
        self.step = step;
        let later = later + COST_OF_KGARD * self.waiting as f64;
        self.progress.at(self.done, self.done + step, self.done + step + later);
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::super::super::watch::{Step, Watch};
    use super::{COST_OF_KGARD, COST_OF_PILOT, Course};
    use alloc::vec::Vec;
    use std::sync::Mutex;

    #[test]
    fn never_backwards() {
        for (channels, together, pilots) in [(1, 1, 3), (3, 3, 3), (3, 3, 6), (2, 1, 5)] {
            let steps = Mutex::new(Vec::new());
            let tell = |step: Step| steps.lock().expect("the steps").push(step);
            let mut course = Course::new(channels, 3, Watch::new(&tell));
            (0..channels).for_each(|_| course.begin(1, COST_OF_KGARD));
            let mut course = Course::new(channels, 3, Watch::new(&tell)).after_kgard();
            for _ in 0..channels / together {
                (0..pilots).for_each(|_| course.begin(together, COST_OF_PILOT));
                course.last(together);
            }
            course.end();
            let steps = steps.into_inner().expect("the steps");
            assert!(steps.is_sorted_by(|a, b| a.done <= b.done), "{steps:?}");
            assert!(steps.iter().all(|step| step.done <= step.next), "{steps:?}");
            assert_eq!((steps[0].done, steps[steps.len() - 1].done), (0.0, 1.0));
        }
    }
}
