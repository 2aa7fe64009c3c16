//! The few nearest of many candidates, for many references at once.

use super::lanes::{LANES, add, total};
use crate::Real;
use crate::real::count;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Cells in a row that are computed together: as many as keep the pixels of
/// all displacements in the first-level cache.
pub(super) const TILE: usize = 128;

/// The candidates of the references of a tile.
///
/// Candidates below the limit of their reference are noted down; when its
/// notes are full, all but the nearest are struck out and the limit sinks.
/// Notes stay in the order of their displacements, which decides between
/// equals.
pub(super) struct Nearest<T> {
    wanted: usize,
    /// Notes per reference.
    room: usize,
    limits: Vec<T>,
    lengths: Vec<usize>,
    distances: Vec<T>,
    /// Which of the distances on offer are below their limits: a byte each,
    /// so that eight are one word.
    near: [[u8; LANES]; TILE / LANES],
    /// The numbers of the displacements.
    numbers: Vec<u32>,
    /// The numbers of the nearest of one reference.
    sorted: Vec<u32>,
}

/// Up to here, sorting by counting takes less than anything else.
const FEW: usize = 192;

impl<T: Real> Nearest<T> {
    /// For `rows` of references, `wanted` candidates each.
    pub(super) fn new(rows: usize, wanted: usize) -> Self {
        let room = (3 * wanted + 1).next_multiple_of(LANES);
        Self {
            wanted,
            room,
            limits: vec![T::zero(); rows * TILE],
            lengths: vec![0; rows * TILE],
            distances: vec![T::zero(); rows * TILE * room],
            numbers: vec![0; rows * TILE * room],
            near: [[0; LANES]; TILE / LANES],
            sorted: Vec::with_capacity(room),
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
    pub(super) fn offer(&mut self, first: usize, distances: &[T], number: u32) {
        if self.wanted == 0 {
            return;
        }
        let limits = &self.limits[first..first + distances.len()];
        let near = self.near.as_flattened_mut();
        for ((near, distance), limit) in near.iter_mut().zip(distances).zip(limits) {
            *near = u8::from(distance < limit);
        }
        for k in 0..distances.len() / LANES {
            let mut near = u64::from_le_bytes(self.near[k]);
            while near != 0 {
                let at = k * LANES + near.trailing_zeros() as usize / 8;
                self.note(first + at, distances[at], number);
                near &= near - 1;
            }
        }
    }

    #[inline(always)]
    fn note(&mut self, reference: usize, distance: T, number: u32) {
        let length = &mut self.lengths[reference];
        let at = reference * self.room + *length;
        self.distances[at] = distance;
        self.numbers[at] = number;
        *length += 1;
        if *length == self.room {
            self.strike(reference);
        }
    }

    /// Strikes out notes of which more than wanted are nearer, and lowers the
    /// limit to what all that are left are below.
    ///
    /// The mean is found in one pass and usually leaves about half. Where it
    /// leaves too few or hardly fewer, the exact rank decides.
    #[inline(never)]
    fn strike(&mut self, reference: usize) {
        let notes = reference * self.room..(reference + 1) * self.room;
        let distances = &mut self.distances[notes.clone()];
        let numbers = &mut self.numbers[notes];
        let mut sums = [T::zero(); LANES];
        for chunk in distances.as_chunks::<LANES>().0 {
            sums = add(sums, *chunk);
        }
        let mut limit = total(sums) / count(distances.len());
        let below = distances.iter().map(|&distance| u32::from(distance < limit)).sum::<u32>();
        let below = below as usize;
        // Of those at the limit, this many stay.
        let mut equals = 0;
        if below < self.wanted || below > distances.len() * 3 / 4 {
            let mut ranked = distances.to_vec();
            limit = *ranked.select_nth_unstable_by(self.wanted - 1, order).1;
            let below = distances.iter().filter(|&&distance| distance < limit).count();
            equals = self.wanted - below;
        }
        let mut left = 0;
        for i in 0..distances.len() {
            let distance = distances[i];
            (distances[left], numbers[left]) = (distance, numbers[i]);
            left += usize::from(distance < limit);
            if equals > 0 && distance == limit {
                equals -= 1;
                left += 1;
            }
        }
        self.lengths[reference] = left;
        self.limits[reference] = limit;
    }

    /// The numbers of the nearest candidates, the nearest first.
    #[inline(always)]
    pub(super) fn sorted(&mut self, reference: usize) -> &[u32] {
        let notes = reference * self.room..(reference + 1) * self.room;
        let length = self.lengths[reference];
        let distances = &mut self.distances[notes.clone()];
        let numbers = &self.numbers[notes][..length];
        self.sorted.clear();
        if length > FEW {
            let mut places: Vec<usize> = (0..length).collect();
            places.sort_by(|&a, &b| order(&distances[a], &distances[b]));
            self.sorted.extend(places.iter().map(|&place| numbers[place]));
        } else {
            // Sorting by counting the nearer ones.
            distances[length..].fill(T::infinity());
            let chunks = &distances.as_chunks::<LANES>().0[..length.div_ceil(LANES)];
            self.sorted.resize(length, NOTHING);
            for (&distance, &number) in chunks.as_flattened().iter().zip(numbers) {
                let mut nearer = [0_u32; LANES];
                for chunk in chunks {
                    for l in 0..LANES {
                        nearer[l] += u32::from(chunk[l] < distance);
                    }
                }
                let mut place = merged(nearer) as usize;
                // Equals before this one have taken their places.
                while self.sorted[place] != NOTHING {
                    place += 1;
                }
                self.sorted[place] = number;
            }
        }
        &self.sorted[..length.min(self.wanted)]
    }
}

/// There are no NaNs among the noted.
fn order<T: Real>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

/// The sum of the lanes, by halves.
#[inline(always)]
fn merged<const N: usize>(mut lanes: [u32; N]) -> u32 {
    let mut half = N / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// No number of a displacement.
const NOTHING: u32 = u32::MAX;
