//! Numbers that the command line leaves open, taken from the data.

use crate::args::FitArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::kernel::Choice;
use crate::many;
use crate::messages::note;
use crate::method::{Method, Recipe, StopArg};
use crate::number::counted;
use crate::penalty::{Norm, Penalty};
use crate::progress::Work;
use kgard::Points;
use kgard::kernel::AnyKernel;
use kgard::tune::{Trend, Tuner};

/// RAM's threshold mu / 2 in standard deviations of the noise: of 1.75, 2.25
/// and 2.75 the best on the data of the paper's tables (20 runs each).
const RAM_THRESHOLD: f64 = 1.75;

/// Kernel and method, complete: what is given is kept, what is not is tuned.
pub(crate) fn choose(
    args: &FitArgs,
    points: Points<'_, f64>,
    data: &Data,
    work: &Work,
) -> Result<(Choice, Recipe)> {
    let y = &data.y;
    let weights = data.weights.as_deref().unwrap_or_default();
    let kernel = args.kernel.parsed()?;
    let own = args.method.norm();
    let (lambda, norm, border) = args.penalty.parts(own)?;
    let needs_kernel = args.kernel.wants_data(&kernel);
    let needs_lambda = lambda.is_none() && args.method != Method::RbRvm;
    let needs_mu = args.mu.is_none() && args.method == Method::Ram;
    let tunes = needs_kernel || needs_lambda || needs_mu;
    if !(weights.is_empty() || tunes && is_automatic(args)) {
        return Err(Error::usage(
            "--weights are for a model that is tuned: leave --sigma or --lambda open, and give \
             none of --stop, --at-most, --refit-lambda and --border, with --method kgard or krr",
        ));
    }
    let with = |lambda| Penalty { lambda, norm, border };
    let stop = || args.stop.unwrap_or(StopArg::Auto).rule(args.at_most);
    if !tunes {
        // The RB-RVM has no penalty.
        crate::memory::check_room(points.len())?;
        let penalty = with(lambda.unwrap_or(1.0));
        return Ok((Choice::new(kernel), recipe(args, penalty, stop(), args.mu)));
    }
    if is_automatic(args) && takes_way_of_many(args, &kernel, points, lambda, weights) {
        let (_, norm, _) = args.penalty.parts(Norm::Rkhs)?;
        if norm == Norm::Rkhs {
            let many = Box::new(many::fit(args, &kernel, points, data, work)?);
            let penalty = Penalty { lambda: many.lambda, norm, border: None };
            return Ok((many.choice(), Recipe::Many { penalty, many }));
        }
    }
    if points.dim() == 1 && points.len() > many::MANY && kernel.as_radial().is_some() {
        note(&format!(
            "{} with the {kernel} kernel take time in proportion to the cube of their number; \
             --kernel matern52, the smoothest that is exact on a line in O(n), takes seconds",
            counted(points.len(), "point")
        ));
    }
    crate::memory::check_room(points.len())?;
    let mut tuner = tuner(args, kernel, points.dim());
    if let Some(lambda) = lambda {
        tuner = tuner.lambda(lambda);
    }
    if is_automatic(args) {
        // The bias is free, unless the paper's penalty is asked for.
        let (_, norm, _) = args.penalty.parts(Norm::Rkhs)?;
        let tuner = tuner.penalty(norm.into()).trend(args.trend()).standardize(!args.raw);
        let model =
            tuner.outliers(args.method == Method::Kgard).fit_weighted(points, y, weights)?;
        let choice = Choice::new(model.kernel().clone());
        let penalty = Penalty { lambda: model.lambda(), norm, border: None };
        let model = Box::new(model);
        return Ok((choice, Recipe::Automatic { method: args.method, penalty, model }));
    }
    // The method that solves has neither a trend nor units of its own.
    let model =
        tuner.penalty(norm.into()).trend(Trend::None).standardize(!args.raw).fit(points, y)?;
    let choice = Choice::new(model.kernel().clone());
    let penalty = with(lambda.unwrap_or_else(|| rounded(model.lambda())));
    let mu = args.mu.or_else(|| Some(rounded(2.0 * RAM_THRESHOLD * model.noise())));
    Ok((choice, recipe(args, penalty, stop(), mu)))
}

fn recipe(args: &FitArgs, penalty: Penalty, stop: kgard::Stop<f64>, mu: Option<f64>) -> Recipe {
    match args.method {
        Method::Kgard => Recipe::Kgard { penalty, stop, refit_lambda: args.refit_lambda },
        Method::Krr => Recipe::Krr { penalty },
        // Data without noise: any threshold above nothing will do.
        Method::Ram => Recipe::Ram { penalty, mu: mu.unwrap_or_default().max(f64::MIN_POSITIVE) },
        Method::RbRvm => Recipe::RbRvm,
    }
}

/// A tuner of the kernel that is asked for, with a length per input where they
/// are open.
fn tuner(args: &FitArgs, mut kernel: AnyKernel<f64>, dim: usize) -> Tuner<f64> {
    if args.kernel.is_open() {
        return Tuner::new();
    }
    kernel.separate_lengths(dim);
    Tuner::with_kernel(kernel)
}

impl From<Norm> for kgard::Penalty {
    fn from(norm: Norm) -> Self {
        match norm {
            Norm::L2 => Self::L2,
            Norm::Rkhs => Self::Rkhs,
        }
    }
}

/// Whether there are so many points, and so little is given, that the fit is not a
/// dense one.
fn takes_way_of_many(
    args: &FitArgs,
    kernel: &AnyKernel<f64>,
    points: Points<'_, f64>,
    lambda: Option<f64>,
    weights: &[f64],
) -> bool {
    let plain = lambda.is_none() && !args.raw;
    let plain = plain && args.trend() == Trend::Automatic && args.method == Method::Kgard;
    plain && many::suits(args, kernel, points, weights)
}

/// Whether the tuner's own model is the result: it finds the outliers itself, and
/// nothing was said of how to look for them.
fn is_automatic(args: &FitArgs) -> bool {
    let search = args.stop.is_some() || args.at_most.is_some() || args.refit_lambda.is_some();
    let has_model = matches!(args.method, Method::Kgard | Method::Krr);
    has_model && !search && !args.penalty.has_border()
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
