//! `kgard plan`: points or a recording in, a plan for a device out.

mod recording;

use crate::args::{PlanArgs, Scalar};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::kernel::Choice;
use crate::memory::check_room;
use crate::messages::message;
use crate::number::counted;
use crate::output::Staged;
use crate::penalty::Norm;
use crate::table::Table;
use kgard::kernel::AnyKernel;
use kgard::{Plan, Points, Stored};
use std::path::Path;

/// What the file holds.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Source,
    Bytes,
    Header,
}

/// Runs the command.
pub(crate) fn run(args: &PlanArgs) -> Result<()> {
    match (&args.recording.from, &args.grid) {
        (Some(recording), _) => recording::run(args, recording),
        (None, Some(grid)) => from_grid(args, grid),
        (None, None) => Err(Error::usage("give GRID.csv, or --from RECORDING.csv")),
    }
}

fn from_grid(args: &PlanArgs, grid: &Path) -> Result<()> {
    let form = form(args)?;
    let kernel = args.kernel.given()?;
    let penalty = args.penalty.given()?;
    let table = Table::read(Source::new(grid))?;
    let columns: Vec<usize> = if args.inputs.is_empty() {
        (0..table.width()).collect()
    } else {
        args.inputs.iter().map(|name| table.column(name)).collect::<Result<_>>()?
    };
    let coordinates = table.numbers(&columns)?;
    let points = Points::new(&coordinates, columns.len())?;
    check_room(points.len())?;
    let weights = penalty.weights(points.len());
    let regularizer = penalty.regularizer(weights.as_deref());
    let plan = Plan::new(points, kernel.kernel::<f64>()?, regularizer)?;

    let (n, dim) = (points.len(), points.dim());
    let title = title(n, dim, args.scalar, &kernel, &penalty.to_string());
    let written = write(&plan, &kernel, form, args, &title)?;
    let mut staged = Staged::default();
    staged.add(&args.output, written)?;
    staged.commit()?;

    let model = match penalty.norm {
        Norm::L2 => n * n,
        Norm::Rkhs => n,
    };
    let (shape, flash) = (shape(n, dim, args.scalar), flash(n, dim, model, args));
    message(&format!("{}: a plan for {shape}: {flash} bytes of flash", args.output.display()));
    Ok(())
}

fn shape(n: usize, dim: usize, scalar: Scalar) -> String {
    let scalar = scalar.name();
    format!("{} of {}, {scalar}", counted(n, "point"), counted(dim, "coordinate"))
}

fn title(n: usize, dim: usize, scalar: Scalar, kernel: &Choice, penalty: &str) -> String {
    let shape = shape(n, dim, scalar);
    format!("Made by `kgard plan`: {shape}.\nKernel: {kernel}.\nPenalty: {penalty}.")
}

/// Bytes of the points, H, and what follows it.
fn flash(n: usize, dim: usize, model: usize, args: &PlanArgs) -> usize {
    let (even, odd) = (n - n / 2, n / 2);
    let h = if args.half { even * even + odd * odd } else { n * n };
    (n * dim + h + model) * args.scalar.size()
}

/// What to write, by the extension of the file.
fn form(args: &PlanArgs) -> Result<Form> {
    match args.output.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => Ok(Form::Source),
        Some("bin") => Ok(Form::Bytes),
        Some("h") => Ok(Form::Header),
        _ => Err(Error::usage(format!(
            "-o {}: the name must end in .rs (Rust source), .h (C header) or .bin (bytes)",
            args.output.display()
        ))),
    }
}

/// The plan in `f32`.
fn rounded(plan: &Plan<f64, AnyKernel<f64>>, kernel: &Choice) -> Result<Plan<f32, AnyKernel<f32>>> {
    let narrow = |why: String| Error::failed(format!("{why}; --scalar f64 has room for it"));
    let kernel = kernel.kernel::<f32>().map_err(|error| match error {
        Error::Failed(why) => narrow(why),
        other => other,
    })?;
    plan.cast(kernel).map_err(|error| narrow(error.to_string()))
}

/// The file, in the scalar type of the device.
fn write(
    plan: &Plan<f64, AnyKernel<f64>>,
    kernel: &Choice,
    form: Form,
    args: &PlanArgs,
    title: &str,
) -> Result<Vec<u8>> {
    match args.scalar {
        Scalar::F32 => write_in(&rounded(plan, kernel)?, form, args, title),
        Scalar::F64 => write_in(plan, form, args, title),
    }
}

fn write_in<T: Stored>(
    plan: &Plan<T, AnyKernel<T>>,
    form: Form,
    args: &PlanArgs,
    title: &str,
) -> Result<Vec<u8>> {
    let half = args.half.then(|| plan.half()).transpose()?;
    // The array in C has the name of the file.
    let name = args.output.file_stem().unwrap_or_default().to_string_lossy();
    Ok(match (form, half) {
        (Form::Source, None) => plan.to_rust_source(title).into_bytes(),
        (Form::Source, Some(half)) => half.to_rust_source(title).into_bytes(),
        (Form::Bytes, None) => plan.to_bytes(),
        (Form::Bytes, Some(half)) => half.to_bytes(),
        (Form::Header, None) => plan.to_c_header(&name, title).into_bytes(),
        (Form::Header, Some(half)) => half.to_c_header(&name, title).into_bytes(),
    })
}
