//! Batcher's odd-even merge sort of several lists at once, lane by lane.
//!
//! The comparisons are written out, so that the places are constants and the values stay in
//! registers.

use crate::Real;

/// Values that are sorted at a time: eight of each have to stay in registers.
pub(super) const LANES: usize = 8;

/// Puts the values of pairs of places in order.
macro_rules! exchange {
    ($v:ident: $(($low:literal, $high:literal))*) => {$(
        for l in 0..LANES {
            let (a, b) = ($v[$low][l], $v[$high][l]);
            $v[$low][l] = if b < a { b } else { a };
            $v[$high][l] = if b < a { a } else { b };
        }
    )*};
}

/// Sorts eight.
#[inline(always)]
pub(super) fn sort_8<T: Real>(v: &mut [[T; LANES]; 8]) {
    exchange!(v: (0, 1) (2, 3) (4, 5) (6, 7));
    exchange!(v: (0, 2) (1, 3) (4, 6) (5, 7));
    exchange!(v: (1, 2) (5, 6) (0, 4) (3, 7));
    exchange!(v: (1, 5) (2, 6));
    exchange!(v: (1, 4) (3, 6));
    exchange!(v: (2, 4) (3, 5));
    exchange!(v: (3, 4));
}

/// Sorts sixteen: both halves, and merges them.
#[inline(always)]
pub(super) fn sort_16<T: Real>(v: &mut [[T; LANES]; 16]) {
    for half in v.as_chunks_mut::<8>().0 {
        sort_8(half);
    }
    exchange!(v: (0, 8) (1, 9) (2, 10) (3, 11) (4, 12) (5, 13) (6, 14) (7, 15));
    exchange!(v: (4, 8) (5, 9) (6, 10) (7, 11));
    exchange!(v: (2, 4) (3, 5) (6, 8) (7, 9) (10, 12) (11, 13));
    exchange!(v: (1, 2) (3, 4) (5, 6) (7, 8) (9, 10) (11, 12) (13, 14));
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A network of comparisons sorts everything if it sorts all lists of zeros and ones.
    #[test]
    fn every_list_of_zeros_and_ones_is_sorted() {
        let lists: Vec<u32> = (0..1 << 16).collect();
        for lists in lists.chunks_exact(LANES) {
            let bit = |place: usize, list: u32| f32::from(u8::from(list >> place & 1 == 1));
            let mut v: [[f32; LANES]; 16] =
                core::array::from_fn(|place| core::array::from_fn(|l| bit(place, lists[l])));
            let mut near: [_; 8] = core::array::from_fn(|place| v[place]);
            sort_8(&mut near);
            sort_16(&mut v);
            for (l, &list) in lists.iter().enumerate() {
                let ones = (list.count_ones(), (list & 255).count_ones());
                let is_sorted = |v: &[[f32; LANES]], ones: u32| {
                    let zeros = v.len() - ones as usize;
                    v.iter().enumerate().all(|(i, v)| (v[l] > 0.5) == (i >= zeros))
                };
                assert!(is_sorted(&v, ones.0) && is_sorted(&near, ones.1), "{list:b}");
            }
        }
    }
}
