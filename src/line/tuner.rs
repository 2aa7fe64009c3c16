//! Length, $\lambda$ and outliers of a long series from the data.
//!
//! Length and $\lambda$ are those of the largest restricted likelihood, with the
//! variance of the function and the bias at their best. The outliers among the
//! points, which it does not know of, are found in turn:
//!
//! 1. On whole windows of consecutive points (never on every k-th point, which
//!    hides short lengths), a grid of lengths and $\lambda$s is judged by the
//!    smaller part of the leave-one-out errors, which the outliers are not among:
//!    the best for short, middling and long lengths are starts.
//! 2. From each start, search and likelihood alternate until the outliers stay
//!    the same. The search is made with $\lambda$ and with a larger one, which sees
//!    clusters better. The shortest description wins: likelihood of the samples
//!    that are in, and for each outlier the logarithm of the range it could have
//!    been anywhere in.
//! 3. The same on all points, from there.

use super::evidence::{Evidence, Profile};
use super::markov::{Markov, MarkovOf};
use super::message::{Left, Matrix, Sample};
use super::owned::{Line, LineFit};
use super::simplex::minimise;
use crate::linalg::simd::{Routine, dispatch};
use crate::real::{constant, count};
use crate::stats::{DEVIATION_PER_MEDIAN, median};
use crate::{Error, Real, Stop, StopReason};
use alloc::vec;
use alloc::vec::Vec;

/// Samples without which there is nothing to leave out.
const FEWEST: usize = 8;
/// Windows, and points in each.
const WINDOWS: usize = 4;
const WINDOW: usize = 4096;
/// Lengths on the first grid, by which factor they grow at most, and $\lambda$s.
const LENGTHS: usize = 16;
const LAMBDAS: [f64; 6] = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0];
/// Bounds of $\lambda$.
const LAMBDA_BOUNDS: (f64, f64) = (1e-10, 1e6);
/// Parts of the grid, by length, from each of which a search starts.
const STARTS: usize = 3;
/// Share of the errors that count while the outliers are not known.
const TRIMMED_SHARE: f64 = 0.7;
/// By what the search's $\lambda$ is larger than the likelihood's.
const SHIFTS: [f64; 2] = [1.0, 10.0];
/// Rounds of searching and judging on windows and on all points.
const ROUNDS: usize = 6;
const LAST_ROUNDS: usize = 3;
/// Values of the likelihood that a round may ask for.
const VALUES: usize = 40;
/// First steps in $\ln \ell$ and $\ln \lambda$: of a start, and near the best.
const FIRST_STEP: f64 = 0.7;
const NEAR_STEP: f64 = 0.05;
/// The likelihood is known well enough when its logarithm is, to this: a tenth
/// changes $\ln \ell$ by less than half of its standard deviation.
const ENOUGH: f64 = 0.1;
/// Outliers are searched for anew if $\ln \ell$ or $\ln \lambda$ has changed by more.
const SETTLED: f64 = 0.02;
/// What an outlier could be: a range of so many robust deviations of the data.
const OUTLIER_RANGE: f64 = 5.0;
/// Rounding of residuals, in units of that of the data.
const ROUNDING: f64 = 64.0;
/// A weak belief, of so many units of $\ln \lambda$ around $\ln 0.1$, where the data say
/// nothing.
const BELIEF: f64 = 5.0;

/// What was tuned on a line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LineTuned<T> {
    /// The length of the kernel, in the units of the points.
    pub length: T,
    /// $\lambda$ of the fit.
    pub lambda: T,
    /// $\lambda$ with which the outliers were searched for; at least `lambda`.
    pub search_lambda: T,
    /// The outliers, in order of selection.
    pub outliers: Vec<usize>,
    /// The length of the description that was chosen by: minus the logarithm of the
    /// likelihood and the cost of the outliers, on windows of the data. Only for
    /// comparing kernels on the same data.
    pub score: T,
}

/// Tunes a kernel on a line: length, $\lambda$ and outliers.
///
/// `B` is the number of unpenalised columns (1: a bias). NaN stands for a sample
/// that is missing.
///
/// ```
/// use kgard::Matern32;
/// use kgard::line::LineTuner;
/// let x: Vec<f64> = (0..3000).map(|i| i as f64 / 100.0).collect();
/// let mut y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin()).collect();
/// for (i, y) in y.iter_mut().enumerate() {
///     *y += 0.1 * ((i * i % 101) as f64 / 50.0 - 1.0);
/// }
/// y[1717] += 3.0;
/// let fit = LineTuner::new(&x, Matern32::new)?.fit(&y)?;
/// assert_eq!(fit.support(), [1717]);
/// assert!((fit.predict(3.3)?.mean - 6.6f64.sin()).abs() < 0.1);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LineTuner<'a, T, F, const B: usize> {
    x: &'a [T],
    deviations: Option<&'a [T]>,
    family: F,
}

impl<'a, T: Real, F> LineTuner<'a, T, F, 1> {
    /// A tuner for points `x`; `family` makes a kernel of a given length.
    ///
    /// # Errors
    /// If there are fewer than eight points, one is not finite, or all are the
    /// same.
    pub fn new(x: &'a [T], family: F) -> Result<Self, Error> {
        Self::with_columns(x, family)
    }
}

/// Some consecutive points, with `y` in robust units.
struct Window<T> {
    x: Vec<T>,
    y: Vec<T>,
    deviations: Vec<T>,
    /// Residuals of this size are rounding.
    rounding: T,
}

/// Length, $\lambda$ and outliers of each window, and the description.
#[derive(Debug, Clone)]
struct Choice<T> {
    length: T,
    lambda: T,
    /// By what the search's $\lambda$ is larger.
    shift: T,
    /// In order of selection.
    support: Vec<Vec<usize>>,
    score: T,
}

impl<'a, T: Real, F, const B: usize> LineTuner<'a, T, F, B> {
    /// The same with any number `B` of unpenalised columns, at most two.
    ///
    /// # Errors
    /// As [`new`](LineTuner::new).
    pub fn with_columns(x: &'a [T], family: F) -> Result<Self, Error> {
        Error::check_at_least("list of points to tune with", x.len(), FEWEST)?;
        Error::check_finite("coordinate", x)?;
        let ends = |(low, high): (T, T), &x: &T| (low.min(x), high.max(x));
        let (low, high) = x.iter().fold((T::infinity(), T::neg_infinity()), ends);
        Error::check_positive("extent of the points", high - low)?;
        Ok(Self { x, deviations: None, family })
    }

    /// With noise of known standard deviations, relative to each other.
    ///
    /// # Errors
    /// If there are not as many as points, or one is not positive.
    pub fn with_deviations(mut self, deviations: &'a [T]) -> Result<Self, Error> {
        Error::check_len("deviations", deviations.len(), self.x.len())?;
        for &deviation in deviations {
            Error::check_positive("deviation of the noise", deviation)?;
        }
        self.deviations = Some(deviations);
        Ok(self)
    }

    /// Chooses length and $\lambda$, finds the outliers and fits the function.
    ///
    /// # Errors
    /// If `y` has the wrong length, an infinity, or fewer than eight samples.
    pub fn fit<K, const D: usize>(&self, y: &[T]) -> Result<LineFit<T, K, D, B>, Error>
    where
        K: MarkovOf<T, D> + Clone,
        F: Fn(T) -> K,
    {
        let tuned = self.tune(y)?;
        self.fit_tuned(y, &tuned)
    }

    /// Fits the function with what was tuned.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_tuned<K, const D: usize>(
        &self,
        y: &[T],
        tuned: &LineTuned<T>,
    ) -> Result<LineFit<T, K, D, B>, Error>
    where
        K: MarkovOf<T, D> + Clone,
        F: Fn(T) -> K,
    {
        let mut line = Line::with_columns(self.x, (self.family)(tuned.length), tuned.lambda)?;
        if let Some(deviations) = self.deviations {
            line = line.with_deviations(deviations)?;
        }
        let fit = line.fit_support(y, &tuned.outliers)?;
        Ok(fit.with_reason(StopReason::Automatic))
    }

    /// Chooses length and $\lambda$ for `y`.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn tune<K, const D: usize>(&self, y: &[T]) -> Result<LineTuned<T>, Error>
    where
        K: MarkovOf<T, D> + Clone,
        F: Fn(T) -> K,
    {
        Error::check_len("y", y.len(), self.x.len())?;
        if let Some(index) = y.iter().position(|y| y.is_infinite()) {
            let value = crate::error::as_f64(y[index]);
            return Err(Error::NotFinite { what: "y", index, value });
        }
        let (all, order) = self.sorted(y)?;
        let extent = all.x[all.x.len() - 1] - all.x[0];
        let windows = all.windows();
        let is_all = windows.len() == 1;
        let chosen = Judge::<T, F, B>::new(&self.family, windows).choose::<K, D>()?;
        // A constant says nothing: any length will do.
        let nothing = Choice {
            length: extent / constant(10.0),
            lambda: T::one(),
            shift: T::one(),
            support: vec![Vec::new()],
            score: T::zero(),
        };
        let mut choice = chosen.unwrap_or(nothing);
        let score = choice.score;
        if !is_all {
            let judge = Judge::<T, F, B>::new(&self.family, vec![all]);
            choice = judge.settle(&choice, constant(NEAR_STEP), LAST_ROUNDS)?;
        }
        let Choice { length, lambda, shift, support, .. } = choice;
        let outliers = support[0].iter().map(|&i| order[i]).collect();
        Ok(LineTuned { length, lambda, search_lambda: lambda * shift, outliers, score })
    }

    /// The samples there are, from left to right, `y` less its median in units of
    /// its median absolute deviation; and which they are.
    fn sorted(&self, y: &[T]) -> Result<(Window<T>, Vec<usize>), Error> {
        let mut order: Vec<usize> = (0..y.len()).filter(|&i| !y[i].is_nan()).collect();
        Error::check_at_least("samples to tune with", order.len(), FEWEST)?;
        if !self.x.is_sorted() {
            let by_x = |a: &usize, b: &usize| self.x[*a].partial_cmp(&self.x[*b]);
            order.sort_by(|a, b| by_x(a, b).unwrap_or(core::cmp::Ordering::Equal));
        }
        let units = Units::of(y);
        let Units { center, scale } = units;
        let deviations =
            self.deviations.map_or_else(Vec::new, |all| order.iter().map(|&i| all[i]).collect());
        let window = Window {
            x: order.iter().map(|&i| self.x[i]).collect(),
            y: order.iter().map(|&i| (y[i] - center) / scale).collect(),
            deviations,
            rounding: units.rounding() / scale,
        };
        Ok((window, order))
    }
}

/// The median of samples, and their median absolute deviation.
#[derive(Debug, Clone, Copy)]
struct Units<T> {
    center: T,
    scale: T,
}

impl<T: Real> Units<T> {
    fn of(y: &[T]) -> Self {
        let mut values: Vec<T> = y.iter().copied().filter(|y| !y.is_nan()).collect();
        let center = median(&mut values, 0);
        for y in &mut values {
            *y = (*y - center).abs();
        }
        let mut scale = median(&mut values, 0);
        if !(scale > T::zero()) {
            // More than half are the same.
            values.retain(|&distance| distance > T::zero());
            scale = median(&mut values, 0);
        }
        Self { center, scale: if scale > T::zero() { scale } else { T::one() } }
    }

    /// Residuals of this size are rounding of the data.
    fn rounding(&self) -> T {
        constant::<T>(ROUNDING) * T::epsilon() * (self.center.abs() + self.scale)
    }
}

impl<T: Real> Window<T> {
    /// Whole windows of consecutive points, or all of them.
    fn windows(&self) -> Vec<Self> {
        let n = self.x.len();
        let part = |from: usize, to: usize| {
            let of = |all: &[T]| if all.is_empty() { Vec::new() } else { all[from..to].to_vec() };
            let (x, y, deviations) = (of(&self.x), of(&self.y), of(&self.deviations));
            Self { x, y, deviations, rounding: self.rounding }
        };
        if n <= WINDOWS * WINDOW {
            return vec![part(0, n)];
        }
        // In the middle of each quarter.
        let starts = (0..WINDOWS).map(|i| (2 * i + 1) * n / (2 * WINDOWS) - WINDOW / 2);
        let windows = starts.map(|start| part(start, start + WINDOW));
        // Points that are all in one place say nothing.
        windows.filter(|w| w.x[w.x.len() - 1] > w.x[0]).collect()
    }

    fn line<K, const D: usize, const B: usize>(
        &self,
        kernel: K,
        lambda: T,
    ) -> Result<Line<T, K, D, B>, Error>
    where
        K: MarkovOf<T, D>,
    {
        let line = Line::with_columns(&self.x, kernel, lambda)?;
        if self.deviations.is_empty() { Ok(line) } else { line.with_deviations(&self.deviations) }
    }
}

/// Judges lengths and $\lambda$s by some windows.
struct Judge<'f, T, F, const B: usize> {
    family: &'f F,
    windows: Vec<Window<T>>,
    /// The shortest and the longest length.
    bounds: (T, T),
}

impl<'f, T: Real, F, const B: usize> Judge<'f, T, F, B> {
    /// Lengths from the usual distance of neighbours to ten times the extent.
    fn new(family: &'f F, windows: Vec<Window<T>>) -> Self {
        let mut extent = T::zero();
        let mut distances = Vec::new();
        for window in &windows {
            let n = window.x.len();
            extent = extent.max(window.x[n - 1] - window.x[0]);
            let between = window.x.windows(2).map(|pair| pair[1] - pair[0]);
            distances.extend(between.filter(|&distance| distance > T::zero()));
        }
        let usual = median(&mut distances, 0);
        Self { family, windows, bounds: (usual, extent * constant(10.0)) }
    }

    /// The best of all starts. None if there is nothing to choose.
    fn choose<K, const D: usize>(&self) -> Result<Option<Choice<T>>, Error>
    where
        K: MarkovOf<T, D> + Clone,
        F: Fn(T) -> K,
    {
        let mut values = self.windows.iter().flat_map(|window| &window.y);
        let first = values.next();
        if values.all(|y| Some(y) == first) {
            return Ok(None);
        }
        let mut best: Option<Choice<T>> = None;
        for [length, lambda] in self.starts()? {
            for shift in SHIFTS {
                let (support, score) = (Vec::new(), T::infinity());
                let start = Choice { length, lambda, shift: constant(shift), support, score };
                let choice = self.settle(&start, constant(FIRST_STEP), ROUNDS)?;
                if best.as_ref().is_none_or(|best| choice.score < best.score) {
                    best = Some(choice);
                }
            }
        }
        Ok(best)
    }

    /// The grid points with the smallest trimmed leave-one-out errors among the
    /// short, the middling and the long lengths.
    fn starts<K, const D: usize>(&self) -> Result<Vec<[T; 2]>, Error>
    where
        K: MarkovOf<T, D> + Clone,
        F: Fn(T) -> K,
    {
        // From twice the distance of neighbours to the extent.
        let (shortest, longest) = self.bounds;
        let first = shortest + shortest;
        let span = (longest / constant::<T>(10.0) / first).max(T::one()).ln();
        let mut best = [(T::infinity(), [T::zero(); 2]); STARTS];
        for i in 0..LENGTHS {
            let length = first * (span * count(i) / count(LENGTHS - 1)).exp();
            let part = &mut best[i * STARTS / LENGTHS];
            for lambda in LAMBDAS {
                let lambda = constant(lambda);
                let mut errors = Vec::new();
                for window in &self.windows {
                    let line = window.line::<K, D, B>((self.family)(length), lambda)?;
                    let fit = line.fit(&window.y, Stop::count(0))?;
                    let noise = &window.deviations;
                    let scaled =
                        |(i, e): (usize, T)| e.abs() / noise.get(i).copied().unwrap_or_else(T::one);
                    errors.extend(fit.left_out_errors().into_iter().enumerate().map(scaled));
                }
                let score = trimmed(&mut errors);
                if score < part.0 {
                    *part = (score, [length, lambda]);
                }
            }
        }
        Ok(best.into_iter().filter(|(score, _)| score.is_finite()).map(|(_, at)| at).collect())
    }

    /// Outliers and likelihood in turn, until they stay the same; or no outliers, if
    /// that is the shorter description.
    fn settle<K, const D: usize>(
        &self,
        start: &Choice<T>,
        mut step: T,
        rounds: usize,
    ) -> Result<Choice<T>, Error>
    where
        K: MarkovOf<T, D> + Clone,
        F: Fn(T) -> K,
    {
        let mut choice = start.clone();
        for _ in 0..rounds {
            let support = self.search(choice.length, choice.lambda * choice.shift)?;
            let before = [choice.length.ln(), choice.lambda.ln()];
            choice = self.likeliest(&choice, support, step);
            step = constant(NEAR_STEP);
            let moved = (choice.length.ln() - before[0]).abs();
            if moved.max((choice.lambda.ln() - before[1]).abs()) < constant(SETTLED) {
                break;
            }
        }
        let none = vec![Vec::new(); self.windows.len()];
        let at = [choice.length.ln(), choice.lambda.ln()];
        if self.cost(at, &none) < choice.score {
            choice = self.likeliest(&choice, none, constant(FIRST_STEP));
        }
        Ok(choice)
    }

    /// The most likely length and $\lambda$ for a support, sought from those of
    /// another choice.
    fn likeliest<K, const D: usize>(
        &self,
        from: &Choice<T>,
        support: Vec<Vec<usize>>,
        step: T,
    ) -> Choice<T>
    where
        K: MarkovOf<T, D>,
        F: Fn(T) -> K,
    {
        let start = [from.length.ln(), from.lambda.ln()];
        let mut sorted = support.clone();
        for support in &mut sorted {
            support.sort_unstable();
        }
        let ([length, lambda], cost) =
            minimise(start, step, constant(ENOUGH), VALUES, |at| self.cost(at, &sorted));
        let score = cost + self.cost_of_outliers(&support);
        Choice { length: length.exp(), lambda: lambda.exp(), shift: from.shift, support, score }
    }

    /// The outliers of each window, in order of selection.
    fn search<K, const D: usize>(&self, length: T, lambda: T) -> Result<Vec<Vec<usize>>, Error>
    where
        K: MarkovOf<T, D> + Clone,
        F: Fn(T) -> K,
    {
        let search = |window: &Window<T>| {
            let line = window.line::<K, D, B>((self.family)(length), lambda)?;
            Ok(line.fit(&window.y, Stop::automatic())?.support().to_vec())
        };
        self.windows.iter().map(search).collect()
    }

    /// Minus the logarithm of the likelihood at $(\ln \ell, \ln \lambda)$; the support
    /// in ascending order.
    fn cost<K, const D: usize>(&self, [length, lambda]: [T; 2], support: &[Vec<usize>]) -> T
    where
        K: MarkovOf<T, D>,
        F: Fn(T) -> K,
    {
        let (shortest, longest) = self.bounds;
        let (least, most) = LAMBDA_BOUNDS;
        let belief = (lambda - constant::<T>(0.1).ln()) / constant(BELIEF);
        let (length, lambda) = (length.exp(), lambda.exp());
        let is_inside = length >= shortest
            && length <= longest
            && lambda >= constant(least)
            && lambda <= constant(most);
        if !is_inside {
            return T::infinity();
        }
        let kernel = (self.family)(length);
        let profiles = self.windows.iter().zip(support).map(|(window, support)| {
            dispatch(Sweep::<T, K, D, B> { kernel: &kernel, lambda, window, support })
        });
        let profile = profiles.reduce(Profile::plus);
        // The noise is no less than rounding.
        let rounding = self.windows.iter().fold(T::zero(), |max, window| max.max(window.rounding));
        let floor = rounding * rounding / lambda;
        let likelihood = profile.map_or(T::infinity(), |profile| -profile.log_likelihood(floor));
        likelihood + belief * belief / constant(2.0)
    }

    /// What it takes to say which points are outliers, and what they are.
    fn cost_of_outliers(&self, support: &[Vec<usize>]) -> T {
        let n: usize = self.windows.iter().map(|window| window.y.len()).sum();
        let k: usize = support.iter().map(Vec::len).sum();
        // ln of n over k, by Stirling's formula.
        let entropy =
            |m: usize| if m == 0 { T::zero() } else { count::<T>(m) * count::<T>(m).ln() };
        let which = entropy(n) - entropy(k) - entropy(n - k);
        // Robust deviations are of the median absolute deviation's size.
        let range = constant::<T>(OUTLIER_RANGE * DEVIATION_PER_MEDIAN);
        count::<T>(k) * range.ln() + which
    }
}

/// The mean of the squares of the smaller errors.
fn trimmed<T: Real>(errors: &mut [T]) -> T {
    let kept = (count::<T>(errors.len()) * constant(TRIMMED_SHARE)).to_usize().unwrap_or(0).max(1);
    let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal);
    errors.select_nth_unstable_by(kept - 1, order);
    errors[..kept].iter().fold(T::zero(), |sum, &e| sum + e * e)
}

/// The likelihood of a window without its outliers: messages from the left that
/// nobody keeps.
struct Sweep<'a, T, K, const D: usize, const B: usize> {
    kernel: &'a K,
    lambda: T,
    window: &'a Window<T>,
    /// In ascending order.
    support: &'a [usize],
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> Routine for Sweep<'_, T, K, D, B> {
    type Output = Profile<T>;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Profile<T> {
        let Self { kernel, lambda, window, support } = self;
        let Window { x, y, deviations, .. } = window;
        let basis = super::cell::Basis::<T, B>::new(x[0], x[x.len() - 1]);
        let mut evidence = Evidence::new();
        let mut left: Left<T, D, B> = Left::prior(kernel.stationary());
        let mut last: Option<(T, Sample<T, B>)> = None;
        let mut known: Option<(T, <K as Markov<T>>::Gap)> = None;
        let mut outliers = support.iter().peekable();
        for i in 0..x.len() {
            if outliers.next_if(|&&outlier| outlier == i).is_some() {
                continue;
            }
            let s = if deviations.is_empty() { T::one() } else { deviations[i] };
            let sample = Sample { y: y[i], basis: basis.at(x[i]), noise: lambda * s * s };
            if let Some((before, of)) = last {
                let distance = x[i] - before;
                let gap = super::chain::gap_of(kernel, distance, &mut known);
                let step: super::markov::Transition<Matrix<T, D>> = kernel.transition(&gap);
                left = left.forward::<FUSED>(&of, &step);
            }
            evidence.add(&left.innovation(&sample));
            last = Some((x[i], sample));
        }
        evidence.profile()
    }
}
