//! Work that is divided, on all cores where there are any.

use alloc::vec::Vec;

/// How many threads there are.
pub(crate) fn threads() -> usize {
    #[cfg(feature = "rayon")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "rayon"))]
    1
}

/// What `work` makes of each item, in order.
#[cfg(feature = "rayon")]
pub(crate) fn each<I: Send, R: Send>(
    items: impl Iterator<Item = I>,
    work: impl Fn(I) -> R + Sync + Send,
) -> Vec<R> {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    items.collect::<Vec<_>>().into_par_iter().map(work).collect()
}

#[cfg(not(feature = "rayon"))]
pub(crate) fn each<I, R>(items: impl Iterator<Item = I>, work: impl Fn(I) -> R) -> Vec<R> {
    items.map(work).collect()
}

/// Passes what `work` makes of each item to `merge`, in order. Items are begun in order as
/// well, so that few results have to wait for one before them.
#[cfg(feature = "rayon")]
pub(crate) fn in_order<I: Send, R: Send>(
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(I) -> R + Sync + Send,
    merge: impl FnMut(R) + Send,
) {
    use alloc::collections::BTreeMap;
    use rayon::iter::{ParallelBridge, ParallelIterator};
    use std::sync::{Mutex, PoisonError};
    let done = Mutex::new((0, BTreeMap::new(), merge));
    items.enumerate().par_bridge().for_each(|(number, item)| {
        let result = work(item);
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, waiting, merge) = &mut *done;
        waiting.insert(number, result);
        while let Some(result) = waiting.remove(next) {
            merge(result);
            *next += 1;
        }
    });
}

#[cfg(not(feature = "rayon"))]
pub(crate) fn in_order<I, R>(
    items: impl Iterator<Item = I>,
    work: impl Fn(I) -> R,
    merge: impl FnMut(R),
) {
    items.map(work).for_each(merge);
}
