//! Pictures that wait, and the memory that they take.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Pictures that may wait or be worked on at a time.
pub(super) const PLACES: usize = 9;
/// Files that may be in memory at a time, in units of the largest file allowed.
const FILES: u64 = 4;

/// The pictures that wait for the one that is worked on.
pub(super) struct Queue {
    /// One picture at a time: each is worked on by all cores.
    work: Arc<Semaphore>,
    waiting: Rc<Cell<usize>>,
    /// Bytes that clients have sent.
    held: Rc<Cell<u64>>,
    capacity: u64,
}

impl Queue {
    /// For files of at most `limit` bytes.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            work: Arc::new(Semaphore::new(1)),
            waiting: Rc::default(),
            held: Rc::default(),
            capacity: FILES * limit,
        }
    }

    /// Whether no place is free.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.get() >= PLACES
    }

    /// A place, if one is free. It is given back when it is dropped, as it is
    /// when the client leaves.
    pub(super) fn place(&self) -> Option<Place> {
        if self.is_full() {
            return None;
        }
        self.waiting.set(self.waiting.get() + 1);
        Some(Place { work: Arc::clone(&self.work), waiting: Rc::clone(&self.waiting) })
    }

    /// Memory for a file that arrives.
    pub(super) fn upload(&self) -> Upload {
        let (held, capacity) = (Rc::clone(&self.held), self.capacity);
        Upload { bytes: Vec::new(), counted: 0, held, capacity }
    }
}

/// A place in the queue.
pub(super) struct Place {
    work: Arc<Semaphore>,
    waiting: Rc<Cell<usize>>,
}

impl Place {
    /// Waits for its turn. First come, first served.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // Never closed, so never an error.
        Arc::clone(&self.work).acquire_owned().await.ok()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.waiting.set(self.waiting.get() - 1);
    }
}

/// A file as it arrives. Its bytes count as held until it is dropped.
pub(super) struct Upload {
    bytes: Vec<u8>,
    counted: u64,
    held: Rc<Cell<u64>>,
    capacity: u64,
}

impl Upload {
    /// Bytes so far.
    pub(super) fn len(&self) -> u64 {
        self.counted
    }

    /// Adds bytes, unless there is no room for them.
    pub(super) fn add(&mut self, more: &[u8]) -> bool {
        let held = self.held.get() + more.len() as u64;
        if held > self.capacity || self.bytes.try_reserve(more.len()).is_err() {
            return false;
        }
        self.held.set(held);
        self.counted += more.len() as u64;
        self.bytes.extend_from_slice(more);
        true
    }

    /// The bytes, which count as held as long as this lives.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.held.set(self.held.get() - self.counted);
    }
}

#[cfg(test)]
mod tests {
    use super::{FILES, PLACES, Queue};

    #[test]
    fn the_queue_has_an_end() {
        let queue = Queue::new(1);
        let mut places: Vec<_> = (0..PLACES).map(|_| queue.place()).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(queue.is_full() && queue.place().is_none());
        places.pop();
        assert!(queue.place().is_some());
    }

    #[test]
    fn files_share_a_bounded_memory() {
        let queue = Queue::new(10);
        let mut uploads: Vec<_> = (0..FILES).map(|_| queue.upload()).collect();
        assert!(uploads.iter_mut().all(|upload| upload.add(&[0; 10])));
        let mut late = queue.upload();
        assert!(!late.add(&[0]));
        // What is worked on still counts.
        assert_eq!(uploads[0].take().len(), 10);
        assert!(!late.add(&[0]));
        uploads.pop();
        assert!(late.add(&[0; 10]) && !late.add(&[0]));
        assert_eq!(late.len(), 10);
    }
}
