//! The same data as a series: Algorithm 1 on a line, whose memory grows with the
//! number of points and not with its square.

use crate::problem::{BETWEEN, EPSILON, N, OUTLIERS, RKHS_LAMBDA, data, points, truth};
use crate::{CAP, FROM_TRUTH, Wrong, within};
use kgard::line::{Cell, LineMemory, LineRef, Node};
use kgard::{Matern32, Stop};

/// Of two states, with a bias.
type Line<'a> = LineRef<'a, f32, Matern32<f32>, 2, 1>;

/// Length of the kernel: the data are one bump of this width.
const LENGTH: f32 = 0.5;

/// Fits the data as a series, and checks the result.
///
/// # Errors
/// Whatever is wrong with it.
pub fn check_line() -> Result<(), Wrong> {
    let (x, y) = (points::<N>(), data());
    let mut cells = [Cell::default(); N];
    let mut nodes = [Node::default(); Line::nodes(N)];
    let (mut indices, mut scalars) = ([0; CAP], [0.0; Line::scalars(N, CAP)]);
    let memory = LineMemory::new(&mut cells, &mut nodes, &mut indices, &mut scalars);
    let line: Line<'_> = LineRef::new(&x, Matern32::new(LENGTH), RKHS_LAMBDA)?;
    let fit = line.fit(&y, Stop::max_residual(EPSILON), memory)?;

    let is_wrong = |index| OUTLIERS.iter().any(|&(wrong, _)| wrong == index);
    let mut outliers = fit.outliers();
    if outliers.len() != OUTLIERS.len() || !outliers.all(|outlier| is_wrong(outlier.index)) {
        return Err(Wrong::Outliers);
    }
    let mut fitted = [0.0; N];
    fit.fitted(&mut fitted)?;
    for (x, f) in x.into_iter().zip(fitted) {
        within(f, truth(x), FROM_TRUTH).map_err(Wrong::Truth)?;
    }
    within(fit.predict(BETWEEN)?.mean, truth(BETWEEN), FROM_TRUTH).map_err(Wrong::Truth)
}
