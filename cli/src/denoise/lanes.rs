//! Several pictures at a time, whose results come in order all the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Works on `items` in so many threads, each on one at a time, and gives `report`
/// the results in the order of the items. If `report` returns early, nothing
/// more is begun.
pub(super) fn in_order<T: Sync, R: Send, O>(
    lanes: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    report: impl FnOnce(&mut dyn Iterator<Item = R>) -> O,
) -> O {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(lanes);
        for _ in 0..lanes {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    // Nobody listens any more.
                    if sender.send((i, work(item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // A picture can overtake one that is larger.
        let mut early = HashMap::new();
        report(&mut (0..items.len()).map_while(|i| {
            while !early.contains_key(&i) {
                // Without senders: a thread has panicked, which the scope passes on.
                let (done, result) = receiver.recv().ok()?;
                early.insert(done, result);
            }
            early.remove(&i)
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn results_come_in_order() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |&i: &u64| {
            most.fetch_max(1 + now.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            // Every other one is overtaken.
            std::thread::sleep(Duration::from_millis(20 * (1 - i % 2)));
            now.fetch_sub(1, Ordering::SeqCst);
            i
        };
        let items: Vec<u64> = (0..20).collect();
        for lanes in [1, 2] {
            let results: Vec<u64> = in_order(lanes, &items, work, |results| results.collect());
            assert_eq!(results, items);
        }
        assert_eq!(most.into_inner(), 2);
    }

    #[test]
    fn nothing_is_begun_in_vain() {
        let begun = AtomicUsize::new(0);
        let work = |_: &usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
        };
        let items: Vec<usize> = (0..1000).collect();
        in_order(2, &items, work, |results| assert_eq!(results.next(), Some(())));
        assert!(begun.into_inner() < 100);
    }
}
