//! The few nearest of many candidates, for many references at once.

use super::lanes::LANES;
use super::matching::TILE;
use crate::Real;
use crate::real::count;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A block near a reference.
#[derive(Debug, Clone, Copy)]
struct Candidate<T> {
    distance: T,
    /// The number of its displacement.
    number: u32,
}

/// By distance; of equals, the one that was found first.
fn order<T: Real>(a: &Candidate<T>, b: &Candidate<T>) -> Ordering {
    a.distance.partial_cmp(&b.distance).unwrap_or(Ordering::Equal).then(a.number.cmp(&b.number))
}

/// The candidates of the references of a tile.
///
/// Candidates below the limit of their reference are noted down; when its
/// notes are full, all but the nearest are struck out and the limit sinks.
pub(super) struct Nearest<T> {
    wanted: usize,
    /// Notes per reference.
    room: usize,
    limits: Vec<T>,
    lengths: Vec<usize>,
    notes: Vec<Candidate<T>>,
}

impl<T: Real> Nearest<T> {
    /// For `rows` of references, `wanted` candidates each.
    pub(super) fn new(rows: usize, wanted: usize) -> Self {
        let room = 3 * wanted + 1;
        let nothing = Candidate { distance: T::zero(), number: 0 };
        Self {
            wanted,
            room,
            limits: vec![T::zero(); rows * TILE],
            lengths: vec![0; rows * TILE],
            notes: vec![nothing; rows * TILE * room],
        }
    }

    /// Begins with nothing noted, for `tile` references in each row: only
    /// distances below `limit` count.
    pub(super) fn clear(&mut self, tile: usize, limit: T) {
        self.lengths.fill(0);
        for row in self.limits.chunks_exact_mut(TILE) {
            row[..tile].fill(limit);
            row[tile..].fill(T::neg_infinity());
        }
    }

    /// Takes the distances of neighbouring references to displacement `number`.
    #[inline(always)]
    pub(super) fn offer(&mut self, first: usize, distances: &[T; LANES], number: u32) {
        let limits = &self.limits[first..first + LANES];
        let mut any = false;
        for l in 0..LANES {
            any |= distances[l] < limits[l];
        }
        if any {
            self.note(first, distances, number);
        }
    }

    fn note(&mut self, first: usize, distances: &[T; LANES], number: u32) {
        let references = first..first + LANES;
        let limits = &mut self.limits[references.clone()];
        let lengths = &mut self.lengths[references.clone()];
        let notes = self.notes[first * self.room..].chunks_exact_mut(self.room);
        for (((&distance, limit), length), notes) in
            distances.iter().zip(limits).zip(lengths).zip(notes)
        {
            if distance < *limit {
                notes[*length] = Candidate { distance, number };
                *length += 1;
                if *length == self.room {
                    (*length, *limit) = strike(notes, self.wanted);
                }
            }
        }
    }

    /// The numbers of the nearest candidates, the nearest first.
    pub(super) fn sorted(&mut self, reference: usize) -> impl ExactSizeIterator<Item = usize> {
        let notes = &mut self.notes[reference * self.room..][..self.lengths[reference]];
        let wanted = notes.len().min(self.wanted);
        if wanted < notes.len() {
            notes.select_nth_unstable_by(wanted, order);
        }
        notes[..wanted].sort_unstable_by(order);
        notes[..wanted].iter().map(|c| c.number as usize)
    }
}

/// Strikes out notes of which more than `wanted` are nearer; gives how many
/// are left, in their order, and the distance that all of them are below.
///
/// The mean is found in one pass and usually leaves about half. Where it
/// leaves too few or hardly fewer, the exact rank decides.
fn strike<T: Real>(notes: &mut [Candidate<T>], wanted: usize) -> (usize, T) {
    let mut sum = T::zero();
    for note in &*notes {
        sum = sum + note.distance;
    }
    let limit = sum / count(notes.len());
    let below = notes.iter().filter(|note| note.distance < limit).count();
    if below < wanted || below > notes.len() * 3 / 4 {
        let (_, last, _) = notes.select_nth_unstable_by(wanted - 1, order);
        return (wanted, last.distance);
    }
    let mut left = 0;
    for i in 0..notes.len() {
        notes[left] = notes[i];
        left += usize::from(notes[i].distance < limit);
    }
    (left, limit)
}
