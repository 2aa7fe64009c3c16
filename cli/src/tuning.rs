//! Numbers that the command line leaves open, taken from the data.

use crate::args::{KernelArgs, PenaltyArgs};
use crate::error::Result;
use crate::kernel::{AnyKernel, Choice};
use crate::penalty::{Norm, Penalty};
use kgard::tune::{self, Tuner};
use kgard::{Linear, Points};

/// Kernel and penalty, complete.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    pub(crate) kernel: Choice,
    /// With the lambda for the search of outliers.
    pub(crate) penalty: Penalty,
    /// The lambda for the function, where it is another one.
    pub(crate) refit_lambda: Option<f64>,
}

/// What is given is kept, what is not is tuned. `outliers` tells whether the
/// method looks for any: if not, there is only the lambda for the function.
pub(crate) fn choose(
    kernel: &KernelArgs,
    penalty: &PenaltyArgs,
    points: Points<'_, f64>,
    y: &[f64],
    outliers: bool,
) -> Result<Chosen> {
    let family = kernel.family()?;
    let sigma = kernel.sigma();
    let (lambda, norm, border) = penalty.parts()?;
    if let (Some(lambda), true) = (lambda, sigma.is_some() || !family.has_width()) {
        let penalty = Penalty { lambda, norm, border };
        return Ok(Chosen { kernel: Choice { family, sigma }, penalty, refit_lambda: None });
    }
    // A kernel without a width is one and the same for the only width there is.
    let width = if family.has_width() { sigma } else { Some(1.0) };
    let of_width = |width: f64| {
        let choice = Choice { family, sigma: family.has_width().then_some(width) };
        // The tuner asks for positive widths only, which every kernel takes.
        choice.kernel().unwrap_or(AnyKernel::Linear(Linear))
    };
    let tuned_norm = match norm {
        Norm::L2 => tune::Penalty::L2,
        Norm::Rkhs => tune::Penalty::Rkhs,
    };
    let tuner = Tuner::with_grid(
        points,
        of_width,
        tuned_norm,
        width.as_ref().map(std::slice::from_ref),
        lambda.as_ref().map(std::slice::from_ref),
    )?;
    let tuned = tuner.tune(y)?;
    let sigma = family.has_width().then(|| sigma.unwrap_or_else(|| rounded(tuned.width)));
    let fitting = lambda.unwrap_or_else(|| rounded(tuned.lambda));
    let searching = lambda.unwrap_or_else(|| rounded(tuned.search_lambda));
    let first = if outliers { searching } else { fitting };
    Ok(Chosen {
        kernel: Choice { family, sigma },
        penalty: Penalty { lambda: first, norm, border },
        refit_lambda: (first > fitting).then_some(fitting),
    })
}

/// Four digits: as many as the data tell, and few enough to be typed again.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn four_digits() {
        assert_eq!(rounded(0.203_129_38).to_string(), "0.2031");
        assert_eq!(rounded(123_456.0).to_string(), "123500");
    }
}
