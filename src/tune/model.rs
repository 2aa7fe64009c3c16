//! What tuning gives: the function, the outliers, and how sure both are.

use super::likelihood::Memory;
use super::parameters;
use super::sample::{Sample, features_of, level_of, row};
use super::standard::Unit;
use crate::kernel::Tunable;
use crate::linalg::cholesky;
use crate::real::{constant, count};
use crate::regression::r_squared;
use crate::regression::system::inner_product;
use crate::stats::{ascending, upper_quantile};
use crate::{Error, Outlier, Penalty, Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// A function that [`Tuner`](super::Tuner) has found, with its outliers.
///
/// It is kept in standardised units, in which nothing is lost to a large offset,
/// and speaks in the user's:
///
/// $$ f(x) = \sum_i \alpha_i \\, \kappa(x, x_i) + c + \sum_j b_j x_j . $$
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Model<T, K> {
    /// Units of the inputs, and of the target.
    pub(super) units: Vec<Unit<T>>,
    pub(super) target: Unit<T>,
    /// The kernel of standardised inputs.
    pub(super) standard_kernel: K,
    /// The kernel in the units of the data.
    pub(super) kernel: K,
    pub(super) penalty: Penalty,
    pub(super) lambda: T,
    /// Standardised coordinates of the points that are no outliers.
    pub(super) x: Vec<T>,
    /// Which points these are.
    pub(super) inside: Vec<usize>,
    /// Their coefficients.
    pub(super) alpha: Vec<T>,
    /// Bias, then slopes.
    pub(super) beta: Vec<T>,
    /// What is unpenalised of these, and the prior variance of the others.
    pub(super) free: usize,
    pub(super) slope_variance: T,
    /// Variances of the noise at the points, relative to the others'.
    pub(super) noise: Vec<T>,
    /// $\gamma$ and the means of its features.
    pub(super) gamma: Vec<T>,
    pub(super) feature_means: Vec<T>,
    /// $s^2$.
    pub(super) variance: T,
    /// In the user's units from here on.
    pub(super) outliers: Vec<Outlier<T>>,
    pub(super) residual: Vec<T>,
    pub(super) fitted: Vec<T>,
    pub(super) left_out_error: T,
    pub(super) r_squared: T,
}

/// A value that a model predicts, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction<T> {
    /// $f(x)$.
    pub value: T,
    /// Standard deviation of $f(x)$, given the data.
    pub deviation: T,
    /// Standard deviation of the noise that a measurement at $x$ would have.
    pub noise: T,
}

impl<T: Real> Prediction<T> {
    /// Standard deviation of a measurement at $x$: of the function and the noise.
    #[must_use]
    pub fn total_deviation(&self) -> T {
        self.deviation.hypot(self.noise)
    }

    /// The interval that holds a measurement at $x$ with probability `level`,
    /// unless it is an outlier.
    ///
    /// # Errors
    /// [`Error::NotPositive`] if `level` is not between 0 and 1.
    pub fn interval(&self, level: T) -> Result<(T, T), Error> {
        Error::check_positive("level of an interval", level)?;
        Error::check_positive("one minus the level of an interval", T::one() - level)?;
        let tail = (T::one() - level) * constant(0.5);
        // The quantile's own error may bring it below zero at the middle.
        let half = upper_quantile(tail).max(T::zero()) * self.total_deviation();
        Ok((self.value - half, self.value + half))
    }
}

impl<T: Real, K: Tunable<T>> Model<T, K> {
    /// The model of a sample's points that are not in `support`, at parameters
    /// that have been found.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        memory: &mut Memory<T>,
        sample: &Sample<T>,
        state: parameters::State<T, K>,
        support: &[usize],
        penalty: Penalty,
        units: Vec<Unit<T>>,
        target: Unit<T>,
        y: &[T],
    ) -> Result<Self, Error> {
        let inside = super::chain::complement(sample.len(), support);
        let part = sample.part(&inside).at(&state);
        let lambda = state.lambda();
        let broken = Error::Overflow { what: "the tuned model" };
        let solved = memory.solve(&part, &state.kernel, lambda, penalty, false).ok_or(broken)?;
        let m = part.len();
        memory.residual_maker(m, &solved).ok_or(broken)?;
        let scale = target.scale;
        let errors = (0..m).map(|i| solved.a[i] / memory.matrix[i * m + i]);
        let left_out = (errors.fold(T::zero(), |s, e| s + e * e) / count(m)).sqrt();
        let alpha = match penalty {
            Penalty::Rkhs => solved.a.clone(),
            Penalty::L2 => part.times_gram(&state.kernel, &solved.a),
        };
        let mut users_kernel = state.kernel.clone();
        let scales: Vec<T> = units.iter().map(|u| u.scale).collect();
        let centres: Vec<T> = units.iter().map(|u| u.centre).collect();
        users_kernel.rescale(&scales)?;
        users_kernel.translate(&centres)?;
        let mut model = Self {
            units,
            target,
            kernel: users_kernel,
            penalty,
            lambda,
            alpha,
            beta: solved.beta.clone(),
            free: part.free,
            slope_variance: part.slope_variance,
            variance: solved.variance,
            gamma: state.gamma,
            feature_means: {
                let mut means = super::sample::feature_means(&sample.x, sample.dim);
                means.push(sample.level_mean);
                means
            },
            standard_kernel: state.kernel,
            x: part.x,
            noise: part.noise,
            inside,
            outliers: vec![],
            residual: vec![T::zero(); y.len()],
            fitted: y.to_vec(),
            left_out_error: left_out * scale,
            r_squared: T::zero(),
        };
        for (j, &i) in model.inside.iter().enumerate() {
            let r = scale * lambda * model.noise[j] * solved.a[j];
            model.residual[i] = r;
            model.fitted[i] = y[i] - r;
        }
        for &i in support {
            let f = model.standardised_value(sample.point(i));
            model.fitted[i] = target.restore(f);
            model.outliers.push(Outlier { index: i, value: y[i] - model.fitted[i] });
        }
        let size = |o: &Outlier<T>| o.value.abs();
        model.outliers.sort_by(|a, b| ascending(&size(b), &size(a)));
        // In standardised units, where no offset costs digits.
        let residual = solved.a.iter().zip(&model.noise).map(|(&a, &w)| lambda * w * a);
        model.r_squared = r_squared(&part.v, &residual.collect::<Vec<T>>(), &[])?;
        if !model.fitted.iter().chain(&model.alpha).chain(&model.beta).all(|x| x.is_finite()) {
            return Err(broken);
        }
        Ok(model)
    }

    /// $f$ at a standardised point, in standardised units.
    fn standardised_value(&self, z: &[T]) -> T {
        let points = Points::of_dim(&self.x, self.units.len());
        let terms = points.iter().zip(&self.alpha);
        let f = terms.fold(T::zero(), |s, (p, &a)| s + a * self.standard_kernel.evaluate(z, p));
        row(z, self.beta.len()).zip(&self.beta).fold(f, |s, (h, &b)| s + h * b)
    }

    fn standardised(&self, x: &[T]) -> Result<Vec<T>, Error> {
        if x.len() != self.units.len() {
            return Err(Error::Dimension { expected: self.units.len(), found: x.len() });
        }
        Error::check_finite("coordinate", x)?;
        Ok(x.iter().zip(&self.units).map(|(&x, unit)| unit.apply(x)).collect())
    }

    /// $f(x)$ at one point.
    ///
    /// # Errors
    /// [`Error::Dimension`] or [`Error::NotFinite`] if `x` is no such point,
    /// [`Error::Overflow`] if it is too far from the data.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        let f = self.target.restore(self.standardised_value(&self.standardised(x)?));
        if f.is_finite() { Ok(f) } else { Err(Error::Overflow { what: "a prediction" }) }
    }

    /// $f$ at many points.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_many<'x>(&self, x: impl Into<Points<'x, T>>) -> Result<Vec<T>, Error> {
        x.into().iter().map(|x| self.predict(x)).collect()
    }

    /// How sure predictions are; factors the system anew, in $O(n^3)$, for any
    /// number of points.
    ///
    /// # Errors
    /// If the system cannot be factored.
    pub fn uncertainty(&self) -> Result<Uncertainty<'_, T, K>, Error> {
        let dim = self.units.len();
        let m = self.inside.len();
        let columns = self.beta.len();
        let sample = Sample {
            x: self.x.clone(),
            dim,
            basis: self.x.chunks_exact(dim).flat_map(|p| row(p, columns)).collect(),
            columns,
            free: self.free,
            slope_variance: self.slope_variance,
            // The uncertainty does not depend on the values.
            v: vec![T::zero(); m],
            noise: self.noise.clone(),
            features: vec![],
            is_atom: vec![],
            level_mean: T::zero(),
        };
        let mut memory = Memory::new();
        let solved = memory
            .solve(&sample, &self.standard_kernel, self.lambda, self.penalty, false)
            .ok_or(Error::Overflow { what: "the tuned model" })?;
        let (u, basis_factor) = (solved.u, solved.basis_factor);
        Ok(Uncertainty { model: self, sample, factor: memory.matrix, u, basis_factor })
    }

    /// The kernel, in the units of the data.
    #[must_use]
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The penalty.
    #[must_use]
    pub fn penalty(&self) -> Penalty {
        self.penalty
    }

    /// $\lambda$: the variance of the noise over that of the function.
    #[must_use]
    pub fn lambda(&self) -> T {
        self.lambda
    }

    /// The coefficients $\alpha$ of all points; zero at outliers.
    #[must_use]
    pub fn coefficients(&self) -> Vec<T> {
        let mut all = vec![T::zero(); self.residual.len()];
        for (&i, &alpha) in self.inside.iter().zip(&self.alpha) {
            all[i] = alpha * self.target.scale;
        }
        all
    }

    /// The slopes $b_j$ of the trend; none if there is none.
    #[must_use]
    pub fn slopes(&self) -> Vec<T> {
        let slopes = self.beta.get(1..).unwrap_or_default().iter().zip(&self.units);
        slopes.map(|(&b, unit)| b * self.target.scale / unit.scale).collect()
    }

    /// The bias $c$.
    #[must_use]
    pub fn bias(&self) -> T {
        let at_centre = self.beta.first().copied().unwrap_or_else(T::zero);
        let slopes = self.slopes();
        let moved = slopes.iter().zip(&self.units).map(|(&b, unit)| b * unit.centre);
        moved.fold(self.target.restore(at_centre), |s, b| s - b)
    }

    /// How much each input matters: the relative change of the kernel's argument
    /// over a robust deviation of the input, and of the trend's; the inputs'
    /// shares add up to one.
    #[must_use]
    pub fn relevance(&self) -> Vec<T> {
        let dim = self.units.len();
        let points = Points::of_dim(&self.x, dim);
        let mut moved: Vec<T> = vec![T::zero(); dim];
        // The mean square of the gradient, by differences of a tenth of a deviation.
        let step = constant::<T>(0.1);
        for point in points.iter().step_by((points.len() / RELEVANCE_POINTS).max(1)) {
            let mut z = point.to_vec();
            let here = self.standardised_value(&z);
            for j in 0..dim {
                z[j] = point[j] + step;
                let change = self.standardised_value(&z) - here;
                moved[j] = moved[j] + change * change;
                z[j] = point[j];
            }
        }
        let sum = moved.iter().fold(T::zero(), |s, &x| s + x);
        if sum > T::zero() {
            for x in &mut moved {
                *x = *x / sum;
            }
        }
        moved
    }

    /// The outliers, the largest first.
    #[must_use]
    pub fn outliers(&self) -> &[Outlier<T>] {
        &self.outliers
    }

    /// The residual $y_i - f(x_i)$, zero at the outliers.
    #[must_use]
    pub fn residual(&self) -> &[T] {
        &self.residual
    }

    /// $f(x_i)$ at the points of the data.
    #[must_use]
    pub fn fitted(&self) -> &[T] {
        &self.fitted
    }

    /// Standard deviation of the noise: its root mean square over the points
    /// where it is uneven.
    #[must_use]
    pub fn noise(&self) -> T {
        if self.variance <= T::min_positive_value() {
            return T::zero();
        }
        let mean =
            self.noise.iter().fold(T::zero(), |s, &w| s + w) / count(self.noise.len().max(1));
        (self.variance * self.lambda * mean).sqrt() * self.target.scale
    }

    /// Whether the noise was found to depend on the inputs.
    #[must_use]
    pub fn has_uneven_noise(&self) -> bool {
        !self.gamma.is_empty()
    }

    /// Root mean square of the errors with which each point that is no outlier
    /// is predicted by the others.
    #[must_use]
    pub fn left_out_error(&self) -> T {
        self.left_out_error
    }

    /// $R^2$: the share of the variance that the function explains, outliers
    /// apart.
    #[must_use]
    pub fn r_squared(&self) -> T {
        self.r_squared
    }
}

/// Points at which the relevance of the inputs is measured, at the most.
const RELEVANCE_POINTS: usize = 200;

/// The posterior of a model's function, ready to be asked at any point.
///
/// With $k_i = \kappa(x, x_i)$ and $h$ the basis functions at $x$,
/// $\operatorname{var} f(x) = s^2 \bigl( \kappa(x, x) - k^T C^{-1} k + \lVert L_G^{-1} (h - F^T C^{-1} k) \rVert^2 \bigr)$.
#[derive(Debug, Clone)]
pub struct Uncertainty<'a, T, K> {
    model: &'a Model<T, K>,
    sample: Sample<T>,
    factor: Vec<T>,
    u: Vec<T>,
    basis_factor: Vec<T>,
}

impl<T: Real, K: Tunable<T>> Uncertainty<'_, T, K> {
    /// The prediction at one point.
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn at(&self, x: &[T]) -> Result<Prediction<T>, Error> {
        let model = self.model;
        let value = model.predict(x)?;
        let z = model.standardised(x)?;
        let points = Points::of_dim(&self.sample.x, z.len());
        let m = points.len();
        let mut k = vec![T::zero(); m];
        model.standard_kernel.evaluate_row(&z, points, &mut k);
        let own = match model.penalty {
            Penalty::Rkhs => model.standard_kernel.evaluate(&z, &z),
            Penalty::L2 => {
                let own = inner_product(&k, &k);
                k = self.sample.times_gram(&model.standard_kernel, &k);
                own
            }
        };
        // L_G^-1 (h - F^T C^-1 k), with U = C^-1 F L_G^-T.
        let p = model.beta.len();
        let h: Vec<T> = row(&z, p).collect();
        let mut basis = T::zero();
        let mut known: Vec<T> = vec![];
        for i in 0..p {
            let factor = &self.basis_factor[i * p..][..=i];
            let above = inner_product(&factor[..i], &known);
            known.push((h[i] - above) / factor[i]);
        }
        for (i, &known) in known.iter().enumerate() {
            let along = (0..m).fold(T::zero(), |s, r| s + self.u[r * p + i] * k[r]);
            basis = basis + (known - along) * (known - along);
        }
        cholesky::solve_lower(&self.factor, &mut k)?;
        let variance = own - inner_product(&k, &k) + basis;
        let deviation = (model.variance * variance.max(T::zero())).sqrt() * model.target.scale;
        let noise = (model.variance * model.lambda * self.noise_at(&z)).sqrt() * model.target.scale;
        Ok(Prediction { value, deviation, noise })
    }

    fn noise_at(&self, z: &[T]) -> T {
        let model = self.model;
        let level = level_of(model.standardised_value(z));
        let phi = features_of(z).chain([level]).zip(&model.feature_means);
        let phi = phi.map(|(phi, &mean)| phi - mean);
        phi.zip(&model.gamma).fold(T::zero(), |s, (phi, &g)| s + phi * g).exp()
    }
}
