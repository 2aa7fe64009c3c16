//! Algorithm 1 on a stream: samples come one by one, and leave a fixed number of
//! samples later.
//!
//! The message from the left carries the whole past, so that a stream needs
//! only a window of the last $L$ samples. The state is
//! $z = (f, f', \dots, c)$ with the components of the kernel's process and the level
//! $c$, a random walk; a sample measures $h^T z = f + c$. In units of the function's
//! variance, sample $i$ is predicted from those before it with error $\nu_i$ and
//! variance $S_i = h^T P h + \lambda$, by the gain $k = P h / S_i$. Backward through
//! the window, with $a = \Phi^T r_{i + 1}$ and $A = \Phi^T N_{i + 1} \Phi$,
//!
//! $$ u_i = \nu_i / S_i - k^T a, \qquad D_i = 1 / S_i + k^T A k, \qquad r_i = a + h u_i, \qquad N_i = A - h k^T A - A k h^T + h h^T D_i , $$
//!
//! are what the dense method calls $(K + \lambda)^{-1} y$ and the diagonal of
//! $(K + \lambda)^{-1}$: the residual is $\lambda u_i$, and taking sample $i$ out
//! lowers $y^T (K + \lambda)^{-1} y$ by $u_i^2 / D_i$. A change of the level
//! from sample $i$ on lowers it by $r_c^2 / N_{cc}$, and is $r_c / N_{cc}$. (P. de Jong
//! and J. Penzer, "Diagnosing Shocks in Time Series", 1998.)

mod state;

use super::cell::Role;
use super::markov::{Markov, MarkovOf, Transition};
use crate::error::as_f64;
use crate::real::{constant, count as counted};
use crate::{Error, Real};
use state::{Left, Right};

/// The threshold of an outlier, in standard deviations: of Gaussian noise one sample in
/// 16,000 exceeds it.
const THRESHOLD: f64 = 4.0;
/// What a step costs, in outliers: up to three outliers in a window are simpler than a step.
const STEP_PRICE: usize = 3;
/// The variance of a level of which nothing is known, in units of the function's:
/// wide enough to be forgotten after a few samples, and small enough for `f32`.
const LEVEL_VARIANCE: f64 = 10.0;
/// Samples in which the level wanders by one standard deviation of the function, unless
/// told otherwise.
const LEVEL_TIME: f64 = 1000.0;
/// The median of the square of a standard normal variable.
const MEDIAN_SQUARE: f64 = 0.454_936_423_119_572_7;
/// Samples over which the noise is averaged when it is tracked: its standard deviation is
/// then estimated to 7 %.
const TRACKED: usize = 64;

/// A sample that has left a [`FixedLag`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Cleaned<T> {
    /// The function there, without noise.
    pub value: T,
    /// The sample as it came.
    pub sample: T,
    /// Whether it is an outlier.
    pub outlier: bool,
    /// Whether there was no sample: it was not finite.
    pub missing: bool,
    /// Whether a new level begins here.
    pub step: bool,
    /// Later samples that were known when this was decided.
    pub lag: usize,
}

/// A stream of samples on a line, cleaned as they come: no plan, no allocator, and a
/// fixed amount of memory.
///
/// A sample comes out with the `L`-th push after its own. It has then been judged with
/// the whole past, and with the $L - \lfloor L / 4 \rfloor$ to $L - 1$ samples after it:
/// for every $\lfloor L / 4 \rfloor$ samples Algorithm 1 runs on the
/// window. `D` is the number of states of the kernel: 1 with
/// [`Laplacian`](crate::Laplacian), 2 with [`Matern32`](crate::Matern32), 3 with
/// [`Matern52`](crate::Matern52).
///
/// ```
/// use kgard::Matern32;
/// use kgard::line::FixedLag;
///
/// // Noise of standard deviation 0.05; the variance of the function is 1 / lambda times
/// // that of the noise. The kernel's length is 20 samples.
/// type Stream = FixedLag<f32, Matern32<f32>, 2, 16>;
/// let mut stream = Stream::new(Matern32::new(20.0), 0.0025, 0.05)?;
///
/// let mut outliers = 0;
/// let mut take = |cleaned: kgard::line::Cleaned<f32>| outliers += usize::from(cleaned.outlier);
/// for i in 0..500 {
///     let noise = 0.05 * ((i * i % 17) as f32 / 8.0 - 1.0);
///     let spike = if i % 50 == 20 { 2.0 } else { 0.0 };
///     if let Some(cleaned) = stream.push((0.1 * i as f32).sin() + noise + spike) {
///         take(cleaned);
///     }
/// }
/// // What is still inside.
/// while let Some(cleaned) = stream.drain() {
///     take(cleaned);
/// }
/// assert_eq!(outliers, 10);
/// # Ok::<(), kgard::Error>(())
/// ```
///
/// # What is an outlier, and what is a step
///
/// In each window, and each time with nothing decided in it, the sample or the step
/// that explains most is taken, until none explains enough. A sample explains the square
/// of its residual in units of its standard deviation, and has to explain more than
/// the square of the threshold ([`with_threshold`](Self::with_threshold)). A step is a
/// change of the level at a sample, of any size; it has to explain more
/// than two more outliers would, and three samples have to follow it. After a step the level is
/// estimated anew from what comes, so that samples on a new level are no outliers, from
/// the first one on.
///
/// Outliers are a minority. If half of a window would have to leave, it is the function that is
/// not what the model says: nothing in the window is an outlier, and the level is estimated
/// anew from its median. So whatever happens to the signal, good samples are never taken
/// for outliers for longer than one window.
///
/// # Time stamps
///
/// [`push`](Self::push) takes samples at the distance
/// [`with_interval`](Self::with_interval), [`push_after`](Self::push_after) at any. Take the
/// difference of time stamps before converting it to `f32`: a time since the start
/// of the program has no milliseconds left after some hours.
///
/// # Numbers
///
/// A NaN or an infinity counts as missing. Samples farther from the median of the first
/// window than about $10^{11}$ times the noise (`f32`) are cut there. In
/// `f32` choose $\lambda \ge 10^{-4}$.
#[derive(Debug, Clone)]
pub struct FixedLag<T: Real, K: Markov<T>, const D: usize, const L: usize> {
    kernel: K,
    lambda: T,
    /// The unit of the data inside, in that of the caller's.
    noise: T,
    /// The square of the threshold.
    threshold: T,
    /// The variance of the noise in these units; other than one only if it is tracked.
    variance: T,
    /// The least of it; `None` if the noise is not tracked.
    floor: Option<T>,
    /// How the variance of the level grows with distance.
    drift: T,
    interval: T,
    /// Subtracted from the data.
    offset: T,
    /// Samples from which the noise was estimated, as far as it matters.
    tracked: usize,
    is_started: bool,
    /// The last sample before the window.
    before: Slot<T, D>,
    slots: [Slot<T, D>; L],
    window: Window,
}

/// Where the samples are in the ring.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    head: usize,
    len: usize,
    /// Decided ones, at the beginning.
    decided: usize,
    /// Samples behind these whose message from the left is right if all before it in the window
    /// are in.
    valid: usize,
}

/// A sample in the window.
#[derive(Debug, Clone, Copy)]
struct Slot<T, const D: usize> {
    sample: T,
    /// The sample in units of the noise, without the offset.
    y: T,
    distance: T,
    /// The transition over this distance.
    from_before: Transition<[[T; D]; D]>,
    left: Left<T, D>,
    /// The change of level here; zero if there is none.
    step: T,
    role: Role,
    /// The role without the step that is being tried.
    kept: Role,
    /// The function, once it is known.
    value: T,
    /// $u_i^2 / D_i$.
    square: T,
    lag: usize,
}

impl<T: Real, const D: usize> Slot<T, D> {
    /// Nothing, at no distance from nothing.
    fn empty(no_distance: Transition<[[T; D]; D]>) -> Self {
        let zero = T::zero();
        Self {
            sample: T::nan(),
            y: zero,
            distance: zero,
            from_before: no_distance,
            left: Left::prior([[zero; D]; D], zero, zero),
            step: zero,
            role: Role::Missing,
            kept: Role::Missing,
            value: zero,
            square: zero,
            lag: 0,
        }
    }
}

/// What a sweep has found.
#[derive(Debug, Clone, Copy)]
struct Sweep<T> {
    /// The sum of $\nu_i^2 / S_i$.
    misfit: T,
    /// The sample that explains most, if that is enough.
    outlier: Option<usize>,
    /// The change of level that explains most, if that is enough.
    shift: Option<(usize, T)>,
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize, const L: usize> FixedLag<T, K, D, L> {
    /// Samples that are decided at a time.
    const STRIDE: usize = {
        assert!(L >= 4, "a window has at least four samples");
        L / 4
    };

    /// A stream at distances of one.
    ///
    /// `lambda` is the variance of the noise over that of the function, and `noise` the
    /// standard deviation of the noise, in units of the data. Both, and the kernel's length, are
    /// what [`LineTuner`](super::LineTuner) and `kgard clean` find from a recording.
    ///
    /// # Errors
    /// If the kernel, `lambda` or `noise` is not positive and finite;
    /// [`Error::NotPositiveDefinite`] if `lambda` is less than the rounding of the variances that
    /// it is added to.
    pub fn new(kernel: K, lambda: T, noise: T) -> Result<Self, Error> {
        kernel.check()?;
        Error::check_positive("lambda", lambda)?;
        Error::check_positive("noise", noise)?;
        // The variances of function and level are added to it.
        if lambda < (T::one() + constant(LEVEL_VARIANCE)) * T::epsilon() {
            return Err(Error::NotPositiveDefinite { pivot: 0, value: as_f64(lambda) });
        }
        let zero = T::zero();
        let threshold = constant::<T>(THRESHOLD);
        let slot = Slot::empty(kernel.transition(&kernel.gap(zero)));
        let mut stream = Self {
            kernel,
            lambda,
            noise,
            threshold: threshold * threshold,
            variance: T::one(),
            floor: None,
            drift: constant::<T>(LEVEL_TIME).recip(),
            interval: T::one(),
            offset: zero,
            tracked: 0,
            is_started: false,
            before: slot,
            slots: [slot; L],
            window: Window::default(),
        };
        stream.before.left = stream.prior(zero);
        Ok(stream)
    }

    /// The distance of samples for [`push`](Self::push); 1 unless given. The level's
    /// default drift is one standard deviation of the function in 1000 of it.
    ///
    /// # Errors
    /// [`Error::NotPositive`]
    pub fn with_interval(mut self, interval: T) -> Result<Self, Error> {
        Error::check_positive("interval", interval)?;
        self.drift = self.drift * self.interval / interval;
        self.interval = interval;
        Ok(self)
    }

    /// The threshold of an outlier in standard deviations; 4 unless given.
    ///
    /// # Errors
    /// [`Error::NotPositive`]
    pub fn with_threshold(mut self, threshold: T) -> Result<Self, Error> {
        Error::check_positive("threshold", threshold)?;
        self.threshold = threshold * threshold;
        Ok(self)
    }

    /// How far the level wanders: the standard deviation of its change over a distance of one,
    /// in units of the data. The variance grows linearly with distance. Zero: the level
    /// changes by steps only.
    ///
    /// # Errors
    /// [`Error::Negative`]
    pub fn with_drift(mut self, deviation: T) -> Result<Self, Error> {
        Error::check_not_negative("drift", deviation)?;
        let relative = deviation / self.noise;
        self.drift = relative * relative * self.lambda;
        Ok(self)
    }

    /// Estimates the noise from the stream: the median of the left-out errors of about the
    /// last 64 samples. $\lambda$ stays. The estimate is never below `floor`, for which a
    /// third of the resolution of the data is a good choice: constant data must not make
    /// the last digit an outlier.
    ///
    /// # Errors
    /// [`Error::NotPositive`]
    pub fn with_tracked_noise(mut self, floor: T) -> Result<Self, Error> {
        Error::check_positive("floor of the noise", floor)?;
        let relative = floor / self.noise;
        self.floor = Some(relative * relative);
        Ok(self)
    }

    /// The standard deviation of the noise, as it was given or as it is tracked.
    #[must_use]
    pub fn noise(&self) -> T {
        self.noise * self.variance.sqrt()
    }

    /// The samples that have not come out yet.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.window.len
    }

    /// Whether all samples have come out.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.window.len == 0
    }

    /// Takes a sample, NaN if it is missing, and gives the one of `L` pushes ago.
    pub fn push(&mut self, sample: T) -> Option<Cleaned<T>> {
        self.insert(self.interval, sample)
    }

    /// The same with the distance from the sample before; of the first one it does not matter.
    ///
    /// # Errors
    /// [`Error::Negative`] or [`Error::NotFinite`] if the distance is; the stream is as it was.
    pub fn push_after(&mut self, distance: T, sample: T) -> Result<Option<Cleaned<T>>, Error> {
        if !(distance >= T::zero() && distance < T::infinity()) {
            Error::check_finite("distance", &[distance])?;
            Error::check_not_negative("distance", distance)?;
        }
        Ok(self.insert(distance, sample))
    }

    /// The oldest sample inside, decided with what there is; nothing if there is none. For the
    /// end of a stream, which may go on afterwards.
    pub fn drain(&mut self) -> Option<Cleaned<T>> {
        if self.window.len == 0 {
            return None;
        }
        if self.window.decided == 0 {
            self.decide(self.window.len);
        }
        Some(self.pop())
    }

    fn insert(&mut self, distance: T, sample: T) -> Option<Cleaned<T>> {
        let mut out = None;
        if self.window.len >= L {
            if self.window.decided == 0 {
                self.decide(Self::STRIDE);
            }
            out = Some(self.pop());
        }
        let (y, role) = if sample.is_finite() {
            (self.inside(sample), Role::Sample)
        } else {
            (T::zero(), Role::Missing)
        };
        let last = if self.window.len == 0 { &self.before } else { self.slot(self.window.len - 1) };
        // On a regular grid all are the same.
        let from_before = if last.distance == distance {
            last.from_before
        } else {
            self.kernel.transition(&self.kernel.gap(distance))
        };
        let at = (self.window.head + self.window.len) % L;
        let slot = &mut self.slots[at];
        (slot.sample, slot.y, slot.role) = (sample, y, role);
        (slot.distance, slot.from_before, slot.step) = (distance, from_before, T::zero());
        self.window.len += 1;
        out
    }

    fn pop(&mut self) -> Cleaned<T> {
        let slot = self.slot(0);
        let cleaned = Cleaned {
            value: slot.value * self.noise + self.offset,
            sample: slot.sample,
            outlier: slot.role == Role::Outlier,
            missing: slot.role == Role::Missing,
            step: slot.step != T::zero(),
            lag: slot.lag,
        };
        self.window.head = (self.window.head + 1) % L;
        self.window.len -= 1;
        self.window.decided -= 1;
        cleaned
    }

    #[inline(always)]
    fn slot(&self, i: usize) -> &Slot<T, D> {
        &self.slots[(self.window.head + i) % L]
    }

    #[inline(always)]
    fn slot_mut(&mut self, i: usize) -> &mut Slot<T, D> {
        &mut self.slots[(self.window.head + i) % L]
    }

    /// A sample in units of the noise, cut where squares would overflow.
    fn inside(&self, sample: T) -> T {
        let limit = T::max_value().sqrt() * constant(1e-8);
        ((sample - self.offset) / self.noise).max(-limit).min(limit)
    }

    fn prior(&self, level: T) -> Left<T, D> {
        Left::prior(self.kernel.stationary(), level, constant(LEVEL_VARIANCE))
    }

    /// The median of the samples in the window, zero if there are none: the lower one of an
    /// even number, by counting.
    fn median(&self) -> T {
        let present =
            || (0..self.window.len).map(|i| self.slot(i)).filter(|s| s.role != Role::Missing);
        let n = present().count();
        let is_median = |y: T| {
            let below = present().filter(|slot| slot.y < y).count();
            let equal = present().filter(|slot| slot.y == y).count();
            below <= (n - 1) / 2 && (n - 1) / 2 < below + equal
        };
        present().map(|slot| slot.y).find(|&y| is_median(y)).unwrap_or(T::zero())
    }

    /// Algorithm 1 on the window, of which the first `count` are then decided.
    fn decide(&mut self, count: usize) {
        let n = self.window.len;
        if !self.is_started {
            self.start();
        }
        let mut present = 0;
        for i in 0..n {
            let slot = self.slot_mut(i);
            slot.step = T::zero();
            if slot.role != Role::Missing {
                slot.role = Role::Sample;
                present += 1;
            }
        }
        self.forward(self.window.valid);
        let mut cost = self.search(count, present, 0);
        for steps in 1.. {
            let Some(at) = self.try_step(count) else { break };
            let with_step = self.search(count, present, steps);
            if !(with_step < cost) {
                self.take_back(at, count);
                break;
            }
            cost = with_step;
        }
        if cost == T::infinity() {
            self.restart(count);
        }
        self.commit(count);
    }

    /// Takes out one sample after the other, and tells what the window costs then: infinity if
    /// half of the samples would have to leave.
    fn search(&mut self, count: usize, present: usize, steps: usize) -> T {
        let is_outlier = |i: &usize| self.slot(*i).role == Role::Outlier;
        let mut outliers = (0..self.window.len).filter(is_outlier).count();
        loop {
            let sweep = self.backward(count, false);
            let Some(at) = sweep.outlier else {
                let price = counted::<T>(outliers + STEP_PRICE * steps) * self.price();
                return sweep.misfit + price;
            };
            outliers += 1;
            if 2 * outliers > present {
                return T::infinity();
            }
            self.slot_mut(at).role = Role::Outlier;
            self.forward(at + 1);
        }
    }

    /// What an outlier has to explain.
    fn price(&self) -> T {
        self.threshold * self.variance / self.lambda
    }

    /// Runs of outliers are in again, with one more step, if one explains enough. A single
    /// outlier is none of a step's, and stays out.
    fn try_step(&mut self, count: usize) -> Option<usize> {
        let n = self.window.len;
        let is_outlier = |i: usize| i < n && self.slot(i).role == Role::Outlier;
        if !(1..n).any(|i| is_outlier(i) && is_outlier(i - 1)) {
            return None;
        }
        let mut before = Role::Sample;
        for i in 0..n {
            let after = if i + 1 < n { self.slot(i + 1).role } else { Role::Sample };
            let slot = self.slot_mut(i);
            slot.kept = slot.role;
            if slot.role == Role::Outlier && (before == Role::Outlier || after == Role::Outlier) {
                slot.role = Role::Sample;
            }
            before = slot.kept;
        }
        self.forward(0);
        let shift = self.backward(count, true).shift;
        if let Some((at, step)) = shift {
            self.slot_mut(at).step = step;
            self.forward(at);
            return Some(at);
        }
        self.take_back(0, count);
        None
    }

    /// As it was before the step at `at` was tried.
    fn take_back(&mut self, at: usize, count: usize) {
        self.slot_mut(at).step = T::zero();
        for i in 0..self.window.len {
            let slot = self.slot_mut(i);
            slot.role = slot.kept;
        }
        self.forward(0);
        let _ = self.backward(count, false);
    }

    /// The first window is full, or all there is: what the data are about.
    fn start(&mut self) {
        let median = self.median();
        self.offset = self.offset + median * self.noise;
        for i in 0..self.window.len {
            if self.slot(i).role != Role::Missing {
                let y = self.inside(self.slot(i).sample);
                self.slot_mut(i).y = y;
                self.is_started = true;
            }
        }
    }

    /// Nothing is an outlier, and nothing before the window says anything about it.
    fn restart(&mut self, count: usize) {
        for i in 0..self.window.len {
            let slot = self.slot_mut(i);
            slot.step = T::zero();
            if slot.role == Role::Outlier {
                slot.role = Role::Sample;
            }
        }
        self.before.role = Role::Missing;
        self.before.left = self.prior(self.median());
        self.forward(0);
        // For the values; what it would take out next stays in.
        let _ = self.backward(count, false);
    }

    /// The first `count` of the window are as they are.
    fn commit(&mut self, count: usize) {
        let n = self.window.len;
        for i in 0..count {
            let slot = self.slot_mut(i);
            slot.lag = n - 1 - i;
            let (role, square) = (slot.role, slot.square);
            if role != Role::Missing {
                self.track(role == Role::Outlier, square);
            }
        }
        self.before = *self.slot(count - 1);
        let as_they_are = |i: &usize| {
            let slot = self.slot(*i);
            slot.step == T::zero() && (*i == count || self.slot(*i - 1).role != Role::Outlier)
        };
        self.window.valid = (count..n).take_while(as_they_are).count();
        self.window.decided = count;
    }

    /// Moves the noise towards where half of the squares are below their median.
    fn track(&mut self, is_outlier: bool, square: T) {
        let Some(floor) = self.floor else { return };
        self.tracked = (self.tracked + 1).min(TRACKED);
        let gain = counted::<T>(self.tracked + 1).recip();
        let median = self.variance * (constant::<T>(MEDIAN_SQUARE) / self.lambda);
        let factor = if is_outlier || square > median { T::one() + gain } else { T::one() - gain };
        self.variance = (self.variance * factor).max(floor);
    }

    /// Messages from the left to the samples of the window from number `from` on.
    fn forward(&mut self, from: usize) {
        let Self { lambda, drift, before, slots, window, .. } = self;
        let level_variance = constant::<T>(LEVEL_VARIANCE);
        let previous = if from == 0 { before } else { &slots[(window.head + from - 1) % L] };
        let (mut left, mut y, mut role) = (previous.left, previous.y, previous.role);
        for i in from..window.len {
            let slot = &mut slots[(window.head + i) % L];
            if role == Role::Sample {
                left.update(y, *lambda);
            }
            left.go(&slot.from_before);
            // The level wanders, but not out of what it may be.
            if left.level_variance < level_variance {
                let wandered = *drift * slot.distance;
                let most = if wandered < level_variance { wandered } else { level_variance };
                left.change_level(T::zero(), most);
            }
            if slot.step != T::zero() {
                left.change_level(slot.step, level_variance);
            }
            slot.left = left;
            (y, role) = (slot.y, slot.role);
        }
    }

    /// Values of the first `count` samples, and what explains most; changes of level only if
    /// asked for.
    fn backward(&mut self, count: usize, with_shifts: bool) -> Sweep<T> {
        let price = self.price();
        let Self { lambda, slots, window, .. } = self;
        let mut sweep = Sweep { misfit: T::zero(), outlier: None, shift: None };
        let mut most = price;
        let mut most_by_shift = price * counted(STEP_PRICE);
        let mut right = Right::nothing();
        for i in (0..window.len).rev() {
            let slot = &mut slots[(window.head + i) % L];
            if slot.role == Role::Sample {
                let said = right.update(&slot.left, slot.y, *lambda);
                sweep.misfit = sweep.misfit + said.misfit;
                slot.square = said.u * said.u / said.precision;
                slot.value = slot.y - *lambda * said.u;
                if slot.square > most {
                    most = slot.square;
                    sweep.outlier = Some(i);
                }
            } else if i < count {
                slot.value = slot.left.value_with(&right);
            }
            if with_shifts && slot.step == T::zero() {
                let step = right.level_slope / right.level_curvature;
                let explained = right.level_slope * step;
                if explained > most_by_shift {
                    most_by_shift = explained;
                    sweep.shift = Some((i, step));
                }
            }
            right.go(&slot.from_before);
        }
        sweep
    }
}
