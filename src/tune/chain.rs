//! Parameters and outliers in turn, from one start to where both settle.

use super::likelihood::{Memory, Solved};
use super::minimize::{Effort, Function, minimize};
use super::parameters::{State, Variables, cost_of_uneven_noise};
use super::sample::{Sample, features_len};
use super::select::{self, Maker, Setting};
use super::subset;
use crate::Penalty;
use crate::Real;
use crate::kernel::Tunable;
use crate::real::{constant, count};
use crate::regression::system::inner_product;
use alloc::vec;
use alloc::vec::Vec;

/// What an outlier costs in the description: the logarithm of the range of its
/// values, in robust deviations of the target. Beyond this range its density falls with the
/// square of the value, so that it has a sum.
const OUTLIER_RANGE: f64 = 6.0;
/// $\tfrac12 (1 + \log 2 \pi)$: what a good point costs beside its deviation.
const GOOD_POINT: f64 = 1.418_938_533_204_672_7;
/// Rounds of selection and tuning before it has to be enough; fewer where all
/// points are too many to tune to, and only the outliers change.
const ROUNDS: usize = 8;
const ROUNDS_OF_MANY: usize = 3;
/// Rounds in which the scale is the robust one.
pub(super) const ROBUST_ROUNDS: usize = 2;

/// Parameters, outliers, and how long the description of the data is with them.
#[derive(Debug, Clone)]
pub(super) struct Candidate<T, K> {
    pub(super) state: State<T, K>,
    /// Ascending.
    pub(super) support: Vec<usize>,
    pub(super) score: T,
    /// The function at all points, if the noise depends on its level.
    pub(super) level: Vec<T>,
    /// It was found with the usual scale throughout, which clusters of large values are part of.
    pub(super) trusting: bool,
}

impl<T, K> Candidate<T, K> {
    /// Rounds with the robust scale in chains from here.
    pub(super) fn robust_rounds(&self) -> usize {
        if self.trusting { 0 } else { ROBUST_ROUNDS }
    }
}

/// The data of one search, and its memory.
pub(super) struct Engine<'a, T> {
    pub(super) sample: &'a Sample<T>,
    pub(super) penalty: Penalty,
    /// The smallest deviation that means anything: rounding, or the step in which
    /// the target is given.
    pub(super) floor: T,
    /// $\lambda$ is given, and stays.
    pub(super) fixed_lambda: Option<T>,
    /// Points of the likelihood's gradient, at the most; a spread part stands in
    /// for more.
    pub(super) most: usize,
    /// Look for outliers at all.
    pub(super) robust: bool,
    /// Let the noise depend on the inputs.
    pub(super) uneven_noise: bool,
    /// Try slopes that are much steeper than the function.
    pub(super) steep_trend: bool,
    pub(super) memory: Memory<T>,
}

impl<T: Real> Engine<'_, T> {
    /// The points that are not in the support.
    pub(super) fn inside(&self, support: &[usize]) -> Vec<usize> {
        complement(self.sample.len(), support)
    }

    /// Tunes to the points that are not in the support: the most likely
    /// parameters, with weak priors. With `tied`, one length for all inputs.
    /// Gives the value that was minimised, which is that of a part of the points
    /// where there are too many.
    pub(super) fn tune<K: Tunable<T>>(
        &mut self,
        state: &mut State<T, K>,
        support: &[usize],
        tied: bool,
        effort: Effort<T>,
    ) -> Option<T> {
        let inside = self.inside(support);
        if inside.len() <= self.most {
            let part = self.sample.part(&inside);
            return self.climb(state, &part, tied, effort);
        }
        let part = self.sample.part(&inside);
        let few = part.part(&subset::representative(part.points(), self.most));
        self.climb(state, &few, tied, effort)
    }

    /// The minimum for a sample, all of whose points count.
    pub(super) fn climb<K: Tunable<T>>(
        &mut self,
        state: &mut State<T, K>,
        part: &Sample<T>,
        tied: bool,
        effort: Effort<T>,
    ) -> Option<T> {
        let variables =
            Variables::new(state, part.dim, part.len(), tied, self.fixed_lambda.is_some());
        let mut x = variables.start();
        let mut description = Description {
            part,
            variables: &variables,
            penalty: self.penalty,
            memory: &mut self.memory,
            trial: state.clone(),
            sample: part.clone(),
            solved: None,
            by_parameter: vec![T::zero(); state.kernel.parameters() + 1],
            by_gamma: vec![T::zero(); state.gamma.len()],
        };
        let value = minimize(&mut description, &mut x, &variables.bounds(), effort)?;
        variables.write(&x, state);
        Some(value)
    }

    /// What [`climb`](Self::climb) minimises, at these parameters.
    fn value<K: Tunable<T>>(&mut self, state: &State<T, K>, part: &Sample<T>) -> Option<T> {
        let variables =
            Variables::new(state, part.dim, part.len(), false, self.fixed_lambda.is_some());
        let sample = part.at(state);
        let solved =
            self.memory.solve(&sample, &state.kernel, state.lambda(), self.penalty, false)?;
        let x = variables.start();
        Some(solved.f + variables.prior(&x, &mut vec![T::zero(); x.len()]))
    }

    /// $Q$ of all points.
    pub(super) fn maker<K: Tunable<T>>(&mut self, state: &State<T, K>) -> Option<Maker<T>> {
        let sample = self.sample.at(state);
        let lambda = state.lambda();
        let made = Maker::new(&mut self.memory, &sample, &state.kernel, lambda, self.penalty)?;
        Some(made.0)
    }

    /// The outliers with these parameters, from those `known` on.
    pub(super) fn select<K: Tunable<T>>(
        &mut self,
        state: &State<T, K>,
        known: &[usize],
        robust: bool,
    ) -> Option<Vec<usize>> {
        if !self.robust {
            return Some(vec![]);
        }
        let maker = self.maker(state)?;
        let setting = Setting { floor: self.floor, robust };
        let found = select::select(&maker, self.sample, known, setting);
        maker.give_back(&mut self.memory);
        found
    }

    /// The outliers after a second look.
    pub(super) fn second_look<K: Tunable<T>>(
        &mut self,
        state: &State<T, K>,
        known: &[usize],
    ) -> Option<Vec<usize>> {
        let maker = self.maker(state)?;
        let setting = Setting { floor: self.floor, robust: true };
        let found = select::second_look(&maker, self.sample, known, setting);
        maker.give_back(&mut self.memory);
        found
    }

    /// Selection and tuning in turn, from a state and a support, until the
    /// support repeats. In the first rounds the scale is the robust one.
    pub(super) fn chain<K: Tunable<T>>(
        &mut self,
        mut state: State<T, K>,
        mut support: Vec<usize>,
        effort: Effort<T>,
        robust_rounds: usize,
    ) -> Option<Candidate<T, K>> {
        let mut met: Vec<Vec<usize>> = vec![];
        let many = self.sample.len() > self.most;
        for round in 0..if many { ROUNDS_OF_MANY } else { ROUNDS } {
            support = self.select(&state, &support, round < robust_rounds)?;
            if met.contains(&support) {
                break;
            }
            met.push(support.clone());
            self.tune(&mut state, &support, false, effort)?;
        }
        let mut found = self.settle(state, support, false, effort)?;
        found.trusting = robust_rounds == 0;
        Some(found)
    }

    /// Tunes to a support and gives the candidate.
    pub(super) fn settle<K: Tunable<T>>(
        &mut self,
        mut state: State<T, K>,
        support: Vec<usize>,
        tied: bool,
        effort: Effort<T>,
    ) -> Option<Candidate<T, K>> {
        let mut value = self.tune(&mut state, &support, tied, effort)?;
        let inside = self.inside(&support);
        if inside.len() > self.most {
            value = self.value(&state, &self.sample.part(&inside))?;
        }
        let score = self.score(value, &support, state.gamma.len());
        Some(Candidate { state, support, score, level: vec![], trusting: false })
    }

    /// The function of a candidate at all points.
    pub(super) fn function<K: Tunable<T>>(&mut self, c: &Candidate<T, K>) -> Option<Vec<T>> {
        let (sample, state) = (self.sample, &c.state);
        let inside = self.inside(&c.support);
        let part = sample.part(&inside).at(state);
        let lambda = state.lambda();
        let solved = self.memory.solve(&part, &state.kernel, lambda, self.penalty, false)?;
        let mut f = sample.v.clone();
        for (j, &i) in inside.iter().enumerate() {
            f[i] = f[i] - lambda * part.noise[j] * solved.a[j];
        }
        let alpha = match self.penalty {
            Penalty::Rkhs => solved.a,
            Penalty::L2 => part.times_gram(&state.kernel, &solved.a),
        };
        let mut row = vec![T::zero(); part.len()];
        for &i in &c.support {
            state.kernel.evaluate_row(sample.point(i), part.points(), &mut row);
            let basis = &sample.basis[i * sample.columns..][..sample.columns];
            f[i] = inner_product(&row, &alpha) + inner_product(basis, &solved.beta);
        }
        f.iter().all(|f| f.is_finite()).then_some(f)
    }

    /// A chain from a candidate in which the noise depends on inputs and level.
    pub(super) fn uneven<K: Tunable<T>>(
        &mut self,
        c: &Candidate<T, K>,
        effort: Effort<T>,
    ) -> Option<Candidate<T, K>> {
        let state = c.state.with_uneven_noise(features_len(self.sample.dim));
        self.leveled(c, |engine| engine.chain(state, c.support.clone(), effort, c.robust_rounds()))
    }

    /// What `search` finds where the noise may depend on the level of a candidate's function.
    pub(super) fn leveled<K: Tunable<T>>(
        &mut self,
        c: &Candidate<T, K>,
        search: impl FnOnce(&mut Engine<'_, T>) -> Option<Candidate<T, K>>,
    ) -> Option<Candidate<T, K>> {
        let level = self.function(c)?;
        let sample = self.sample.with_level(&level);
        let found = self.of(&sample, search);
        Some(Candidate { level, ..found? })
    }

    /// What `search` finds in another sample.
    pub(super) fn of<R>(
        &mut self,
        sample: &Sample<T>,
        search: impl FnOnce(&mut Engine<'_, T>) -> R,
    ) -> R {
        let memory = core::mem::replace(&mut self.memory, Memory::new());
        let mut other = Engine { sample, memory, ..*self };
        let found = search(&mut other);
        self.memory = other.memory;
        found
    }

    /// The length of the description in which each good point is told by the others.
    /// Gives the errors as well, zero at the outliers.
    pub(super) fn left_out<K: Tunable<T>>(&mut self, c: &Candidate<T, K>) -> Option<(T, Vec<T>)> {
        let inside = self.inside(&c.support);
        let part = self.sample.with_level(&c.level).part(&inside).at(&c.state);
        let (state, m) = (&c.state, part.len());
        let solved =
            self.memory.solve(&part, &state.kernel, state.lambda(), self.penalty, false)?;
        self.memory.residual_maker(m, &solved)?;
        let half = constant::<T>(0.5);
        let mut errors = vec![T::zero(); self.sample.len()];
        let value = (0..m).fold(T::zero(), |s, i| {
            let q = self.memory.matrix[i * m + i];
            errors[inside[i]] = solved.a[i] / q;
            let z2 = solved.a[i] * solved.a[i] / (q * solved.variance);
            s + half * (solved.variance / q).ln() + half * (z2 - T::one())
        });
        Some((self.score(value, &c.support, state.gamma.len()), errors))
    }

    /// The length of the description, in nats: of the good points, by their
    /// likelihood; of which points are outliers; and of their values.
    fn score(&self, value: T, support: &[usize], gammas: usize) -> T {
        let (n, k) = (self.sample.len(), support.len());
        let far = |&i: &usize| {
            let size = self.sample.v[i].abs() / constant(0.5 * OUTLIER_RANGE);
            size.max(T::one()).ln()
        };
        let sizes = support.iter().map(far).fold(T::zero(), |s, cost| s + cost + cost);
        let which = (0..k).fold(T::zero(), |s, i| s + (count::<T>(n - i) / count(i + 1)).ln());
        value
            + constant::<T>(GOOD_POINT) * count(n - k)
            + which
            + constant::<T>(OUTLIER_RANGE).ln() * count(k)
            + sizes
            + cost_of_uneven_noise(gammas, n)
    }
}

/// The length of the description of a sample, as a function of its variables.
struct Description<'a, T, K> {
    part: &'a Sample<T>,
    variables: &'a Variables<T>,
    penalty: Penalty,
    memory: &'a mut Memory<T>,
    trial: State<T, K>,
    /// The part with the noise and the slopes of the trial.
    sample: Sample<T>,
    /// At the last point, until its gradient has used the factor up.
    solved: Option<Solved<T>>,
    by_parameter: Vec<T>,
    by_gamma: Vec<T>,
}

impl<T: Real, K: Tunable<T>> Function<T> for Description<'_, T, K> {
    fn value(&mut self, x: &[T]) -> Option<T> {
        let Self { part, variables, memory, trial, sample, .. } = self;
        variables.write(x, trial);
        sample.noise = part.noise_with(&trial.gamma);
        sample.slope_variance = trial.slope_variance;
        self.solved = memory.solve(sample, &trial.kernel, trial.lambda(), self.penalty, true);
        let prior = variables.prior(x, &mut vec![T::zero(); x.len()]);
        Some(self.solved.as_ref()?.f + prior)
    }

    fn gradient(&mut self, x: &[T], out: &mut [T]) -> Option<()> {
        let solved = self.solved.take()?;
        let Self { variables, memory, trial, sample, by_parameter, by_gamma, .. } = self;
        let lambda = trial.lambda();
        memory.gradient(sample, &solved, lambda, self.penalty, by_parameter)?;
        sample.by_gamma(&memory.weights, lambda, by_gamma);
        variables.gather(by_parameter, by_gamma, out);
        variables.prior(x, out);
        Some(())
    }
}

/// The indices below `n` that are not in `support`.
pub(super) fn complement(n: usize, support: &[usize]) -> Vec<usize> {
    let mut out = vec![false; n];
    for &i in support {
        out[i] = true;
    }
    (0..n).filter(|&i| !out[i]).collect()
}
