//! `kgard predict`: model and grid in, predictions out.

use crate::args::PredictArgs;
use crate::error::Result;
use crate::input::{Source, not_both_stdin};
use crate::model::Model;
use crate::output::Staged;
use crate::table::Table;

/// Runs the command.
pub(crate) fn run(args: &PredictArgs) -> Result<()> {
    let (model, grid) = (Source::new(&args.model), Source::new(&args.grid));
    not_both_stdin(model, grid)?;
    let model = Model::read(model)?;
    let predictions = model.predictions(&Table::read(grid)?, args.interval)?;
    let mut staged = Staged::default();
    staged.add(&args.output, predictions)?;
    staged.commit()
}
