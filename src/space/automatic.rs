//! The automatic rule ([`Stop::automatic`](crate::Stop::automatic)), by bounds.

use super::bounds::{Known, Search};
use crate::Real;
use crate::real::{constant, count};
use crate::regression::stop::{TAIL, common_step, extreme_deviation, least_noise_of, usual_tail};
use crate::stats::{DEVIATION_PER_MEDIAN, median};
use alloc::vec::Vec;

impl<T: Real> Search<'_, T> {
    /// Whether no studentised residual stands out from the noise. `largest` is the largest of them.
    pub(super) fn is_clean(&mut self, largest: T) -> bool {
        let (n, left) = (self.y.len(), self.left);
        // With half of the points gone the median means nothing any more.
        if 2 * left <= n {
            return true;
        }
        let least = least_noise_of(self.size, self.penalty(), n);
        let clean = 'decided: {
            if self.stands_out(largest, least) {
                break 'decided false;
            }
            for attempt in 0..3 {
                match attempt {
                    0 => {}
                    1 => self.renew(),
                    _ => self.renew_leverages(),
                }
                if let Some(clean) = self.decide(largest, least) {
                    break 'decided clean;
                }
            }
            true
        };
        clean || self.coarse && self.is_last_digit(largest)
    }

    /// Whether the largest residual or the tail is surely too much, with what is
    /// known of the scale.
    fn stands_out(&self, largest: T, least: T) -> bool {
        let left = self.left;
        let per = constant::<T>(DEVIATION_PER_MEDIAN);
        let tail = constant::<T>(TAIL);
        let by_largest = largest / extreme_deviation(left);
        let scale = self.scale * constant(1.01);
        let (mut below_largest, mut below_scale, mut beyond) = (0, 0, 0);
        let Known { residual, reach, weight, distance, .. } = &self.known;
        for i in (0..residual.len()).filter(|&i| !self.is_out[i]) {
            let (r, by) = (residual[i].abs(), reach[i] * *distance);
            let most = (r + by) * weight[i] * per;
            below_largest += usize::from(most < by_largest);
            below_scale += usize::from(most < scale);
            beyond += usize::from(r - by > scale * tail);
        }
        let half = left / 2;
        let tail_is_heavy =
            below_scale > half && least < scale && count::<T>(beyond) > usual_tail(left);
        below_largest > half && least < by_largest || tail_is_heavy
    }

    /// The same from bounds of all residuals; none where they leave it open.
    fn decide(&mut self, largest: T, least: T) -> Option<bool> {
        let left = self.left;
        let (mut low, mut high): (Vec<T>, Vec<T>) = self.bounds().unzip();
        let per = constant::<T>(DEVIATION_PER_MEDIAN);
        let scale_low = (per * median(&mut low, 0)).max(least);
        let scale_high = (per * median(&mut high, 0)).max(least);
        self.scale = scale_high;
        let (limit, tail) = (extreme_deviation::<T>(left), constant::<T>(TAIL));
        let beyond = |scores: &[T], scale: T| {
            count::<T>(scores.iter().filter(|&&z| z > scale * tail).count())
        };
        let allowed = usual_tail(left);
        if largest > scale_high * limit || beyond(&low, scale_high) > allowed {
            return Some(false);
        }
        let quiet = largest <= scale_low * limit && beyond(&high, scale_low) <= allowed;
        quiet.then_some(true)
    }

    /// Whether nothing stands out from noise of half of the data's resolution.
    fn is_last_digit(&mut self, largest: T) -> bool {
        let left = self.left;
        let needed = largest / extreme_deviation(left) * self.units.scale;
        let within = || self.y.iter().zip(&self.is_out).filter(|(_, out)| !**out).map(|(&y, _)| y);
        let size = within().fold(T::zero(), |size, y| size.max(y.abs()));
        let two = constant::<T>(2.0);
        let step = common_step(within(), size, two * needed * (T::one() - T::epsilon())) / two;
        if !(step > T::zero() && step >= needed) {
            return false;
        }
        self.renew_leverages();
        let step = step / self.units.scale;
        let (low, _): (Vec<T>, Vec<T>) = self.bounds().unzip();
        let mut sorted = low.clone();
        let scale = constant::<T>(DEVIATION_PER_MEDIAN) * median(&mut sorted, 0);
        let beyond = low.iter().filter(|&&z| z > step * constant(TAIL)).count();
        step > scale && count::<T>(beyond) <= usual_tail(left)
    }
}
