//! The size of batches.

use core::time::Duration;

/// Target duration of a batch: far below the limit of a system's watchdog.
const TARGET: Duration = Duration::from_millis(100);
/// Problems of the first batch, before anything is known about the device.
const FIRST: usize = 128;

/// Adapts the size of batches to the duration of the last ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    most: usize,
    next: usize,
}

impl Pace {
    /// At most `most` problems in a batch.
    pub(super) fn new(most: usize) -> Self {
        Self { most, next: FIRST.min(most) }
    }

    /// Problems of the next batch.
    pub(super) fn batch(&self) -> usize {
        self.next
    }

    /// Updates the size after a batch, by a factor of four at most: the next problems may take
    /// longer.
    pub(super) fn learn(&mut self, problems: usize, took: Duration) {
        let share = TARGET.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let next = (problems as f64 * share.clamp(0.05, 4.0)).max(1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let next = next as usize;
        self.next = next.min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_to_the_target_and_shrink_from_beyond_it() {
        let per_problem = Duration::from_micros(300);
        let mut pace = Pace::new(100_000);
        for _ in 0..10 {
            let batch = pace.batch();
            pace.learn(batch, per_problem * u32::try_from(batch).unwrap());
        }
        assert!((300..=340).contains(&pace.batch()), "{}", pace.batch());
        pace.learn(pace.batch(), Duration::from_secs(30));
        assert!(pace.batch() <= 17 && pace.batch() >= 1, "{}", pace.batch());
        for _ in 0..30 {
            pace.learn(pace.batch(), Duration::ZERO);
        }
        assert_eq!(pace.batch(), 100_000);
    }
}
