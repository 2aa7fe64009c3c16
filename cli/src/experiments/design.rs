//! Where an experiment measures, and where it compares with the truth.

use kgard::{Gaussian, Kernel, Points, Regularizer, border_weights};

/// Training points, validation points and a Gaussian kernel.
#[derive(Debug)]
pub(crate) struct Design {
    train: Vec<f64>,
    validate: Vec<f64>,
    dim: usize,
    kernel: Gaussian<f64>,
    /// The kernel between validation points (rows) and training points.
    cross: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Design {
    /// Points of `dim` coordinates.
    pub(crate) fn new(train: Vec<f64>, validate: Vec<f64>, dim: usize, sigma: f64) -> Self {
        let kernel = Gaussian::new(sigma);
        let cross = validate
            .chunks_exact(dim)
            .flat_map(|v| train.chunks_exact(dim).map(move |t| kernel.evaluate(v, t)))
            .collect();
        Self { train, validate, dim, kernel, cross, weights: None }
    }

    /// Multiplies lambda by `factor` at the first and the last `margin`
    /// training points.
    pub(crate) fn with_border(mut self, margin: usize, factor: f64) -> Self {
        let mut weights = vec![1.0; self.len()];
        border_weights(&mut weights, margin, factor);
        self.weights = Some(weights);
        self
    }

    /// The same points with another kernel width.
    pub(crate) fn with_sigma(&self, sigma: f64) -> Self {
        let (train, validate) = (self.train.clone(), self.validate.clone());
        Self { weights: self.weights.clone(), ..Self::new(train, validate, self.dim, sigma) }
    }

    /// How many training points there are.
    pub(crate) fn len(&self) -> usize {
        self.train.len() / self.dim
    }

    /// The training points.
    pub(crate) fn points(&self) -> Result<Points<'_, f64>, kgard::Error> {
        Points::new(&self.train, self.dim)
    }

    /// The coordinates of the training points.
    pub(crate) fn train(&self) -> &[f64] {
        &self.train
    }

    /// The coordinates of the validation points.
    pub(crate) fn validate(&self) -> &[f64] {
        &self.validate
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> Gaussian<f64> {
        self.kernel
    }

    /// The l2 penalty, stronger at the border where that is asked for.
    pub(crate) fn l2(&self, lambda: f64) -> Regularizer<'_, f64> {
        let plain = Regularizer::l2(lambda);
        match &self.weights {
            Some(weights) => plain.with_weights(weights),
            None => plain,
        }
    }

    /// A kernel expansion at the validation points.
    pub(crate) fn predict(&self, coefficients: &[f64], bias: f64) -> Vec<f64> {
        let rows = self.cross.chunks_exact(self.len());
        rows.map(|row| bias + row.iter().zip(coefficients).map(|(k, a)| k * a).sum::<f64>())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Design;
    use kgard::Stop;

    #[test]
    fn predicts_as_the_library_does() {
        let train: Vec<f64> = (0..20).map(f64::from).collect();
        let design = Design::new(train, vec![0.5, 3.5, 18.0, 40.0], 2, 3.0).with_border(2, 5.0);
        let y: Vec<f64> = (0..10).map(|i| f64::from(i * i)).collect();
        let points = design.points().expect("points");
        let fit = kgard::fit(points, &y, design.kernel(), design.l2(0.1), Stop::count(0));
        let fit = fit.expect("a fit");
        let ours = design.predict(fit.coefficients(), fit.bias());
        for (x, ours) in design.validate().chunks_exact(2).zip(ours) {
            assert!((fit.predict(x).expect("a value") - ours).abs() < 1e-9);
        }
    }
}
