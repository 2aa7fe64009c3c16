//! The penalties of the paper.

use crate::{Error, Real};

/// The norm that is penalised, by name; [`Regularizer`] has it with its $\lambda$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Penalty {
    /// The norm of the function, with a free bias: [`Regularizer::rkhs`].
    #[default]
    Rkhs,
    /// The sum of squares of coefficients and bias, the paper's main model:
    /// [`Regularizer::l2`].
    L2,
}

impl Penalty {
    /// The regularizer with this $\lambda$.
    #[must_use]
    pub const fn regularizer<'a, T>(self, lambda: T) -> Regularizer<'a, T>
    where
        T: Copy,
    {
        match self {
            Self::L2 => Regularizer::l2(lambda),
            Self::Rkhs => Regularizer::rkhs(lambda),
        }
    }
}

/// What keeps the kernel expansion smooth.
///
/// * [`l2`](Self::l2): $\lambda \sum_i \alpha_i^2 + \lambda c^2$, the paper's
///   main model (its eq. 4), optionally with a weight per coefficient;
/// * [`rkhs`](Self::rkhs): $\lambda \\, \alpha^T K \alpha$, the norm of the
///   function itself, with a free bias (its eq. 5);
/// * [`tikhonov`](Self::tikhonov): $\lVert \Psi \alpha \rVert^2 + \lambda c^2$
///   (section "Further Improvements").
///
/// All have a bias $c$ unless it is taken away by
/// [`without_bias`](Self::without_bias).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regularizer<'a, T> {
    pub(crate) form: Form<'a, T>,
    pub(crate) weights: Option<&'a [T]>,
    pub(crate) sample_weights: Option<&'a [T]>,
    pub(crate) bias: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form<'a, T> {
    L2 { lambda: T },
    Rkhs { lambda: T },
    Tikhonov { psi: &'a [T], bias_lambda: T },
}

impl<'a, T> Regularizer<'a, T> {
    const fn new(form: Form<'a, T>) -> Self {
        Self { form, weights: None, sample_weights: None, bias: true }
    }

    /// $\lambda \lVert \alpha \rVert^2 + \lambda c^2$.
    pub const fn l2(lambda: T) -> Self {
        Self::new(Form::L2 { lambda })
    }

    /// $\lambda \\, \alpha^T K \alpha$, the squared norm of the function.
    pub const fn rkhs(lambda: T) -> Self {
        Self::new(Form::Rkhs { lambda })
    }

    /// $\lVert \Psi \alpha \rVert^2 + \lambda_c c^2$ for a matrix `psi` of `n`
    /// columns (row-major) whose columns are linearly independent.
    pub const fn tikhonov(psi: &'a [T], bias_lambda: T) -> Self {
        Self::new(Form::Tikhonov { psi, bias_lambda })
    }

    /// Multiplies $\lambda$ by `weights[i]` for the `i`-th coefficient: the
    /// paper's enhancement near the border, see [`border_weights`]. For
    /// [`l2`](Self::l2) only.
    #[must_use]
    pub const fn with_weights(mut self, weights: &'a [T]) -> Self
    where
        T: Copy,
    {
        self.weights = Some(weights);
        self
    }

    /// Known noise for each sample: that of sample `i` has a variance in proportion to
    /// `1 / weights[i]`. The squared residuals are weighted, $\sum_i w_i r_i^2$, and the
    /// search compares residuals in units of their own noise, $\sqrt{w_i} \, r_i$; so do
    /// stopping rules. Results are in the units of the data.
    ///
    /// Takes `n` scalars more in the memory of a plan, and of a
    /// [`Workspace`](crate::Workspace). A factor of all weights divides $\lambda$.
    ///
    /// ```
    /// use kgard::{Gaussian, Plan, Regularizer};
    /// let x = [0.0_f64, 1.0, 2.0];
    /// // The middle one was measured with a hundredth of the variance.
    /// let weights = [1.0_f64, 100.0, 1.0];
    /// let precise = Regularizer::rkhs(0.1).with_sample_weights(&weights);
    /// let fit = Plan::new(&x, Gaussian::new(5.0), precise)?.ridge(&[0.0, 1.0, 0.0])?;
    /// assert!(fit.residual()[1].abs() < fit.residual()[0].abs());
    /// # Ok::<(), kgard::Error>(())
    /// ```
    #[must_use]
    pub const fn with_sample_weights(mut self, weights: &'a [T]) -> Self
    where
        T: Copy,
    {
        self.sample_weights = Some(weights);
        self
    }

    /// Leaves the bias out of the model: $c = 0$.
    #[must_use]
    pub const fn without_bias(mut self) -> Self
    where
        T: Copy,
    {
        self.bias = false;
        self
    }
}

impl<T: Real> Regularizer<'_, T> {
    /// The check at the door, for `n` points.
    pub(crate) fn check(&self, n: usize) -> Result<(), Error> {
        if let Some(weights) = self.sample_weights {
            Error::check_len("sample weights", weights.len(), n)?;
            weights.iter().try_for_each(|&w| Error::check_positive("sample weight", w))?;
        }
        match self.form {
            Form::L2 { lambda } => {
                Error::check_positive("lambda", lambda)?;
                if let Some(weights) = self.weights {
                    Error::check_len("weights", weights.len(), n)?;
                    for &weight in weights {
                        Error::check_positive("weight", weight)?;
                    }
                }
                return Ok(());
            }
            Form::Rkhs { lambda } => Error::check_positive("lambda", lambda)?,
            Form::Tikhonov { psi, bias_lambda } => {
                Error::check_positive("lambda of the bias", bias_lambda)?;
                if !psi.len().is_multiple_of(n) || psi.len() / n < n {
                    let expected = psi.len().div_ceil(n).max(n).saturating_mul(n);
                    return Err(Error::Length {
                        what: "Tikhonov matrix",
                        expected,
                        found: psi.len(),
                    });
                }
                Error::check_finite("Tikhonov matrix", psi)?;
            }
        }
        if self.weights.is_some() { Err(Error::WeightsNeedL2) } else { Ok(()) }
    }
}

/// Writes the weights of the paper's border enhancement: `factor` for the
/// first and the last `margin` points, one for the others.
pub fn border_weights<T: Real>(weights: &mut [T], margin: usize, factor: T) {
    let n = weights.len();
    for (i, weight) in weights.iter_mut().enumerate() {
        *weight = if i < margin || i + margin >= n { factor } else { T::one() };
    }
}
