//! Algorithm 1 on a [`Search`]: the loop's questions, answered by bounds.

use super::bounds::{Notes, Search};
use crate::Real;
use crate::regression::removal::Removal;
use crate::regression::stop::{Progress, StopReason, StopRule, Summary};
use alloc::vec::Vec;

impl<T: Real> Search<'_, T> {
    /// All residuals, their variances if they are asked for, in the units of the data.
    fn write_notes(&mut self) {
        if self.studentized {
            self.renew_leverages();
        } else {
            self.renew();
        }
        let Self { known, notes, units, .. } = self;
        let Notes { residual, variances, scratch } = notes;
        residual.clear();
        residual.extend(known.residual.iter().map(|&r| r * units.scale));
        scratch.resize(residual.len(), T::zero());
        variances.clear();
        if self.studentized {
            let variance = |&h: &T| (T::one() - h * h).max(T::epsilon());
            variances.extend(known.reach.iter().map(variance));
        }
    }

    /// After the search: residuals of all points in the units of the data, zero at
    /// the outliers, from data without them.
    pub(super) fn finish(&mut self) -> Vec<T> {
        self.renew();
        let scale = self.units.scale;
        self.known.residual.iter().map(|&r| r * scale).collect()
    }
}

impl<T: Real> Removal<T> for Search<'_, T> {
    fn len(&self) -> usize {
        self.y.len()
    }

    fn removed(&self) -> usize {
        self.y.len() - self.left
    }

    fn next(&mut self) -> (Option<usize>, T) {
        if self.computed > self.y.len() || self.updates > self.width {
            self.renew();
        }
        loop {
            let (j, extreme, computed) = self.find(self.studentized);
            self.computed += computed;
            // What gross values left of rounding is no residual: they have left.
            let spent = T::epsilon().sqrt() * self.size;
            let size = self.size;
            if extreme < spent && self.known.distance > T::zero() {
                self.renew();
                if self.size < size {
                    continue;
                }
            }
            return (j, extreme);
        }
    }

    fn check(&mut self, extreme: T, rule: &mut impl StopRule<T>) -> Option<StopReason> {
        let looks = rule.looks_at_residuals();
        if looks {
            self.write_notes();
        }
        let mut notes = core::mem::replace(&mut self.notes, Notes::empty());
        let (data, scale) = (self.y, self.units.scale);
        let support = core::mem::take(&mut self.support);
        let met = {
            let mut summary = Kept { search: self, largest: extreme };
            rule.check(&mut Progress {
                residual: if looks { &notes.residual } else { &[] },
                variances: if looks { &notes.variances } else { &[] },
                outliers: &support,
                extreme: extreme * scale,
                data,
                scratch: &mut notes.scratch,
                summary: Some(&mut summary),
            })
        };
        self.support = support;
        self.notes = notes;
        met
    }

    fn reserve(&mut self) -> bool {
        true
    }

    fn remove(&mut self, j: usize) -> bool {
        self.take_out(j)
    }
}

/// A [`Summary`] of a search.
#[derive(Debug)]
struct Kept<'s, 'a, T> {
    search: &'s mut Search<'a, T>,
    largest: T,
}

impl<T: Real> Summary<T> for Kept<'_, '_, T> {
    fn norm(&self) -> T {
        let Search { objective, units, .. } = &*self.search;
        (*objective - self.search.penalty()).max(T::zero()).sqrt() * units.scale
    }

    fn max(&self) -> T {
        let largest =
            if self.search.studentized { self.search.find(false).1 } else { self.largest };
        largest * self.search.units.scale
    }

    fn is_clean(&mut self) -> bool {
        self.search.is_clean(self.largest)
    }
}
