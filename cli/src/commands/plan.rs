//! `kgard plan`: points in, a plan for a device out.

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

/// What the file holds.
#[derive(Clone, Copy)]
enum Form {
    Source,
    Bytes,
    Header,
}

/// Runs the command.
pub(crate) fn run(args: &PlanArgs) -> Result<()> {
    let form = form(args)?;
    let kernel = args.kernel.given()?;
    let penalty = args.penalty.given()?;
    let table = Table::read(Source::new(&args.grid))?;
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

    let (scalar, size) = match args.scalar {
        Scalar::F32 => ("f32", size_of::<f32>()),
        Scalar::F64 => ("f64", size_of::<f64>()),
    };
    let (n, dim) = (points.len(), points.dim());
    let shape = format!("{} of {}, {scalar}", counted(n, "point"), counted(dim, "coordinate"));
    let title = format!("Made by `kgard plan`: {shape}.\nKernel: {kernel}.\nPenalty: {penalty}.");
    let bytes = match args.scalar {
        Scalar::F32 => write(&rounded(&plan, &kernel)?, form, args, &title),
        Scalar::F64 => write(&plan, form, args, &title),
    };
    let mut staged = Staged::default();
    staged.add(&args.output, bytes)?;
    staged.commit()?;

    let model = match penalty.norm {
        Norm::L2 => n * n,
        Norm::Rkhs => n,
    };
    let flash = (n * dim + n * n + model) * size;
    message(&format!("{}: a plan for {shape}: {flash} bytes of flash", args.output.display()));
    Ok(())
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

fn write<T: Stored>(
    plan: &Plan<T, AnyKernel<T>>,
    form: Form,
    args: &PlanArgs,
    title: &str,
) -> Vec<u8> {
    match form {
        Form::Source => plan.to_rust_source(title).into_bytes(),
        Form::Bytes => plan.to_bytes(),
        Form::Header => {
            // The array has the name of the file.
            let name = args.output.file_stem().unwrap_or_default().to_string_lossy();
            plan.to_c_header(&name, title).into_bytes()
        }
    }
}
