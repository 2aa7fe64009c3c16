//! `kgard fit`: data, fit, report; a model and predictions if asked for.

use crate::args::FitArgs;
use crate::error::{Error, Result};
use crate::input::{Source, not_both_stdin};
use crate::messages::{detail, instead_of_stdout, message, warn};
use crate::method::{Method, Recipe, Solution, median};
use crate::model::{Head, Model};
use crate::number::{counted, short};
use crate::output::{Staged, is_stdout, to_stdout};
use crate::parameters::Parameters;
use crate::penalty::Norm;
use crate::plot::Format;
use crate::progress::Work;
use crate::report::Report;
use crate::table::Table;
use crate::tuning::choose;
use kgard::Points;
use kgard::kernel::AnyKernel;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &FitArgs) -> Result<()> {
    check_usage(args)?;
    let picture = args.plot.as_deref().map(|path| Format::of("--plot", path)).transpose()?;
    // Mistakes in the options are better found before the data are read.
    args.kernel.parsed()?;
    args.penalty.parts(args.method.norm())?;

    let data = args.data.read()?;
    // A mistake in the grid is better found before the work than after it.
    let grid = args.predict.as_deref().map(|grid| Table::read(Source::new(grid))).transpose()?;
    let points = Points::new(&data.inputs, data.dim)?;
    let start = Instant::now();
    let size = counted(points.len(), "point");
    let work = Work::begin(format!("choosing parameters for {size}"));
    let (kernel, recipe) = choose(args, points, &data, &work)?;
    // Tuned models have units of their own.
    let centre = (recipe.is_given() && !args.raw).then(|| median(&data.y));
    if centre.is_none() {
        warn_of_offset(&recipe, &data.y);
    }
    if recipe.is_given() {
        warn_of_units(&kernel.kernel()?, points);
    }
    let chosen = Instant::now();
    work.next(format!("fitting {size}"));
    let solution = recipe.solve(points, &data.y, &kernel, centre.unwrap_or(0.0))?;
    drop(work);
    detail(&format!(
        "{} of dimension {}: parameters chosen in {:.3} s, fitted in {:.3} s",
        size,
        points.dim(),
        (chosen - start).as_secs_f64(),
        chosen.elapsed().as_secs_f64()
    ));
    let parameters = Parameters::new(&recipe, kernel, centre);
    let (tuned, many) = match recipe {
        Recipe::Automatic { model, .. } => (Some(model), None),
        Recipe::Many { many, .. } => (None, Some(many)),
        _ => (None, None),
    };
    if points.dim() == 1 && (tuned.is_some() || many.is_some()) {
        warn_of_runs(&data.inputs, &solution);
    }
    if tuned.is_none()
        && many.is_none()
        && let Some((_, option)) = args.tuning_options().into_iter().find(|(given, _)| *given)
    {
        return Err(Error::usage(format!(
            "{option} is for a model that is tuned: leave --sigma or --lambda open, and give none \
             of --stop, --at-most, --refit-lambda and --border, with --method kgard or krr"
        )));
    }

    let report = Report {
        parameters: parameters.clone(),
        data: &data,
        solution: &solution,
        tuned: tuned.as_deref(),
        many: many.as_deref(),
    };
    let text = if args.json { report.json()? } else { report.summary() };

    let model = Model {
        head: Head::current(),
        parameters,
        inputs: data.input_names.clone(),
        target: data.target_name.clone(),
        times: data.times_or_nothing(),
        bias: solution.bias,
        coefficients: if many.is_some() { vec![] } else { solution.coefficients.clone() },
        points: if many.is_some() { vec![] } else { points.iter().map(<[f64]>::to_vec).collect() },
        slopes: tuned.as_ref().map(|tuned| tuned.slopes()).unwrap_or_default(),
        tuned,
        many: many.map(|many| many.saved),
    };
    let mut staged = Staged::default();
    if let Some(path) = &args.output {
        staged.add(path, model.to_bytes()?)?;
    }
    if let (Some(grid), Some(path)) = (&grid, &args.predictions) {
        staged.add(path, model.predictions(grid, args.interval)?)?;
    }
    if let (Some(format), Some(path)) = (picture, &args.plot) {
        staged.add(
            path,
            format.render(&model.plot(
                &data,
                &solution,
                args.interval.unwrap_or(USUAL_LEVEL),
            )?)?,
        )?;
    }
    staged.commit()?;
    if to_stdout_instead(args).is_some() {
        if args.json {
            instead_of_stdout(&text);
        } else {
            message(text.trim_end());
        }
        Ok(())
    } else {
        to_stdout(text.as_bytes())
    }
}

/// Warns that the l2 penalty shrinks the bias of data far from zero that stay as they are.
fn warn_of_offset(recipe: &Recipe, y: &[f64]) {
    let (Recipe::Kgard { penalty, .. } | Recipe::Krr { penalty } | Recipe::Ram { penalty, .. }) =
        recipe
    else {
        return;
    };
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |part: usize| sorted[(y.len() - 1) * part / 4];
    let (centre, spread) = (quantile(2).abs(), quantile(3) - quantile(1));
    if penalty.norm == Norm::L2 && spread > 0.0 && centre > FAR_FROM_ZERO * spread {
        warn(&format!(
            "the target lies around {}, far from zero for its spread of {}, and the l2 penalty \
             shrinks the bias: drop --raw, or give --regularizer rkhs, which leaves the bias free",
            short(quantile(2)),
            short(spread)
        ));
    }
}

/// Warns of inputs of very different ranges with one length for all.
fn warn_of_units(kernel: &AnyKernel<f64>, points: Points<'_, f64>) {
    if kernel.as_radial().is_none_or(|radial| radial.lengths().len() > 1) {
        return;
    }
    let range = |j: usize| {
        let extremes = points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x[j]), high.max(x[j]))
        });
        extremes.1 - extremes.0
    };
    let ranges = (0..points.dim()).map(range).filter(|&range| range > 0.0);
    let (least, most) = ranges
        .fold((f64::INFINITY, 0.0_f64), |(least, most), range| (least.min(range), most.max(range)));
    if most > RANGES_APART * least {
        warn(&format!(
            "inputs with ranges from {} to {} share one length: give each its own, for example \
             --kernel \"gaussian(0.5, 500)\", or leave --sigma open",
            short(least),
            short(most)
        ));
    }
}

/// Warns of outliers side by side: narrow peaks of the function look the same.
fn warn_of_runs(x: &[f64], solution: &Solution) {
    let mut errors = vec![0.0; x.len()];
    for outlier in &solution.outliers {
        errors[outlier.index] = outlier.value;
    }
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let runs = order.chunk_by(|&a, &b| errors[a] * errors[b] > 0.0);
    let lengths: Vec<usize> = runs.map(<[usize]>::len).filter(|&n| n >= LONG_RUN).collect();
    let inside: usize = lengths.iter().sum();
    if 2 * inside > solution.outliers.len()
        && let Some(longest) = lengths.iter().max()
    {
        warn(&format!(
            "{inside} of {} outliers lie side by side, up to {longest} of them on the same side of \
             the function: if these are peaks of the function and no errors, give a kernel of their \
             width with --sigma, or --method krr, which takes every point as it is",
            solution.outliers.len()
        ));
    }
}

/// Largest ratio of the ranges of inputs with one length, without a warning.
const RANGES_APART: f64 = 10.0;
/// Neighbouring outliers on one side that make a run: among independent outliers, a tenth of
/// all points, five in a row on one side are seen once in 1.6 million points.
const LONG_RUN: usize = 5;
/// Default probability of the band in a plot.
const USUAL_LEVEL: f64 = 0.95;
/// Largest median, in interquartile ranges, without a warning of an offset.
const FAR_FROM_ZERO: f64 = 5.0;

/// The option that uses standard output, if any.
fn to_stdout_instead(args: &FitArgs) -> Option<&'static str> {
    let goes = |path: &Option<_>| path.as_deref().is_some_and(is_stdout);
    match (goes(&args.output), goes(&args.predictions)) {
        (true, _) => Some("-o -"),
        (_, true) => Some("--predictions -"),
        _ => None,
    }
}

/// Options that contradict each other.
fn check_usage(args: &FitArgs) -> Result<()> {
    check_method(args)?;
    if let Some(grid) = &args.predict {
        not_both_stdin(Source::new(&args.data.data), Source::new(grid))?;
    }
    if args.output.is_some() && args.output == args.predictions {
        return Err(Error::usage(
            "the model and the predictions cannot go to the same place: \
             give -o and --predictions different names",
        ));
    }
    if args.plot.is_some() && (args.plot == args.output || args.plot == args.predictions) {
        return Err(Error::usage("the picture needs a place of its own: give --plot another name"));
    }
    match to_stdout_instead(args) {
        Some(option) if args.json => Err(Error::usage(format!(
            "--json and {option} both write to standard output: give a file name in place of `-`"
        ))),
        _ => Ok(()),
    }
}

/// Options that the method does not use.
fn check_method(args: &FitArgs) -> Result<()> {
    use Method::{Kgard, Krr, Ram};
    let own = [
        (args.stop.is_some(), "--stop", &[Kgard][..]),
        (args.at_most.is_some(), "--at-most", &[Kgard]),
        (args.refit_lambda.is_some(), "--refit-lambda", &[Kgard]),
        (args.mu.is_some(), "--mu", &[Ram]),
    ];
    let penalty = args.penalty.options();
    let penalty = penalty.map(|(given, option)| (given, option, &[Kgard, Krr, Ram][..]));
    for (given, option, methods) in own.into_iter().chain(penalty) {
        if given && !methods.contains(&args.method) {
            let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
            return Err(Error::usage(format!(
                "{option} means nothing to --method {}: drop it; it is for {}",
                args.method.name(),
                names.join(", ")
            )));
        }
    }
    Ok(())
}
