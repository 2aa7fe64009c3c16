//! The minimum of a function of two variables without derivatives: Nelder and
//! Mead's simplex.

use crate::Real;
use crate::real::constant;

/// Minimises from `start`, with a first simplex of size `size`, until the values
/// at its corners differ by less than `tolerance` or it was asked for `most`
/// values. Gives the best point and the value there.
pub(super) fn minimise<T: Real>(
    start: [T; 2],
    size: T,
    tolerance: T,
    most: usize,
    mut of: impl FnMut([T; 2]) -> T,
) -> ([T; 2], T) {
    let half = constant::<T>(0.5);
    let mut corners = [start; 3];
    corners[1][0] = corners[1][0] + size;
    corners[2][1] = corners[2][1] + size;
    let mut corners = corners.map(|corner| (corner, of(corner)));
    let mut asked = 3;
    loop {
        corners.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(core::cmp::Ordering::Equal));
        let [(best, least), (middle, second), (worst, largest)] = corners;
        if asked >= most || largest - least <= tolerance {
            return (best, least);
        }
        // The point on the line from the worst corner through the middle of the others.
        let along = |by: T| -> [T; 2] {
            core::array::from_fn(|i| {
                let center = (best[i] + middle[i]) * half;
                center + by * (center - worst[i])
            })
        };
        let mut ask = |point: [T; 2]| (point, of(point));
        let reflected = ask(along(T::one()));
        asked += 1;
        if reflected.1 < least {
            let expanded = ask(along(constant(2.0)));
            asked += 1;
            corners[2] = if expanded.1 < reflected.1 { expanded } else { reflected };
        } else if reflected.1 < second {
            corners[2] = reflected;
        } else {
            let by = if reflected.1 < largest { half } else { -half };
            let contracted = ask(along(by));
            asked += 1;
            if contracted.1 < largest.min(reflected.1) {
                corners[2] = contracted;
            } else {
                for corner in &mut corners[1..] {
                    *corner =
                        ask(core::array::from_fn(|i| best[i] + half * (corner.0[i] - best[i])));
                }
                asked += 2;
            }
        }
    }
}
