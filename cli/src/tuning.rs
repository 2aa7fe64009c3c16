//! Numbers that the command line leaves open, taken from the data.

use crate::args::FitArgs;
use crate::error::Result;
use crate::kernel::{Choice, check_complete, has_open_length, with_length};
use crate::method::{Method, Recipe, StopArg};
use crate::penalty::{Norm, Penalty};
use kgard::tune::{self, Tuned, Tuner};
use kgard::{Points, Tunable};

/// RAM's threshold mu / 2 in standard deviations of the noise: of 1.75, 2.25
/// and 2.75 the best on the data of the paper's tables (20 runs each).
const RAM_THRESHOLD: f64 = 1.75;

/// Kernel and method, complete: what is given is kept, what is not is tuned.
pub(crate) fn choose(
    args: &FitArgs,
    points: Points<'_, f64>,
    y: &[f64],
) -> Result<(Choice, Recipe)> {
    let kernel = args.kernel.parsed()?;
    check_complete(&kernel)?;
    let (lambda, norm, border) = args.penalty.parts(args.method.norm())?;
    let needs_width = has_open_length(&kernel);
    let needs_lambda = lambda.is_none() && args.method != Method::RbRvm;
    let needs_mu = args.mu.is_none() && args.method == Method::Ram;
    let tuned = if needs_width || needs_lambda || needs_mu {
        // A kernel without an open width is one and the same for the only width there is.
        let width = (!needs_width).then_some(1.0);
        let of_width = |width: f64| {
            let mut kernel = kernel.clone();
            if needs_width {
                kernel.set_parameter(0, width);
            }
            kernel.with_all_kept()
        };
        let norm = match norm {
            Norm::L2 => tune::Penalty::L2,
            Norm::Rkhs => tune::Penalty::Rkhs,
        };
        let widths = width.as_ref().map(std::slice::from_ref);
        let lambdas = lambda.as_ref().map(std::slice::from_ref);
        Some(Tuner::with_grid(points, of_width, norm, widths, lambdas)?.tune(y)?)
    } else {
        None
    };
    let from_data =
        |of: fn(&Tuned<f64>) -> f64| tuned.as_ref().map_or(f64::NAN, |tuned| rounded(of(tuned)));
    let choice =
        if needs_width { with_length(kernel, from_data(|t| t.width)) } else { Choice::new(kernel) };
    let fitting = lambda.unwrap_or_else(|| from_data(|t| t.lambda));
    let penalty = Penalty { lambda: fitting, norm, border };
    let recipe = match args.method {
        Method::Kgard if is_open(args) && points.len() <= tune::SUBSET => {
            Recipe::Tuned { penalty, outliers: tuned.map_or_else(Vec::new, |t| t.outliers) }
        }
        Method::Kgard => {
            let searching = lambda.unwrap_or_else(|| from_data(|t| t.search_lambda));
            Recipe::Kgard {
                penalty: penalty.with_lambda(searching),
                stop: args.stop.unwrap_or(StopArg::Auto).rule(args.at_most),
                refit_lambda: args.refit_lambda.or((searching > fitting).then_some(fitting)),
            }
        }
        Method::Krr => Recipe::Krr { penalty },
        Method::Ram => {
            let mu = args.mu.unwrap_or_else(|| from_data(|t| 2.0 * RAM_THRESHOLD * t.noise));
            // Data without noise: any threshold above nothing will do.
            Recipe::Ram { penalty, mu: mu.max(f64::MIN_POSITIVE) }
        }
        Method::RbRvm => Recipe::RbRvm,
    };
    Ok((choice, recipe))
}

/// Whether everything about the search for outliers is left to the tuner,
/// which has then found them.
fn is_open(args: &FitArgs) -> bool {
    let search = args.stop.is_some() || args.at_most.is_some() || args.refit_lambda.is_some();
    let given = |&(given, option): &(bool, &str)| given && option != "--regularizer";
    !search && !args.penalty.options().iter().any(given)
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
