//! The loop of Algorithm 1, whatever the points are taken out of.

use super::stop::{StopReason, StopRule};
use crate::Real;

/// Data that are solved, and from which one point after the other can be taken
/// out.
///
/// The dense method, with $H$ or its columns at hand
/// ([`greedy`](mod@super::greedy)), and points on a [line](crate::line), where
/// taking out a point changes its neighbourhood only.
pub(crate) trait Removal<T: Real> {
    /// Number of points that can be taken out.
    fn len(&self) -> usize;

    /// Points taken out so far.
    fn removed(&self) -> usize;

    /// The point to leave next, and what it is chosen for: the largest residual,
    /// or the largest in units of its own deviation. None if all are zero.
    fn next(&mut self) -> (Option<usize>, T);

    /// What a rule says to the present state.
    fn check(&mut self, extreme: T, rule: &mut impl StopRule<T>) -> Option<StopReason>;

    /// Makes room for one more outlier, or says that there is none.
    fn reserve(&mut self) -> bool;

    /// Takes point `j` out; false if it is needed to determine the fit.
    fn remove(&mut self, j: usize) -> bool;
}

/// Takes out one point after the other until `rule` says so; tells why it ended.
pub(crate) fn remove_until<T: Real>(
    data: &mut impl Removal<T>,
    rule: &mut impl StopRule<T>,
) -> StopReason {
    let cap = rule.cap().min(data.len());
    loop {
        let (j, extreme) = data.next();
        if let Some(reason) = data.check(extreme, rule) {
            return reason;
        }
        if data.removed() >= cap || !data.reserve() {
            return StopReason::Cap;
        }
        let Some(j) = j else { return StopReason::Exhausted };
        if !data.remove(j) {
            return StopReason::Exhausted;
        }
    }
}
