//! `kgard devices`: what there is to compute on.

use crate::device::{Devices, list};
use crate::error::Result;
use crate::metrics::json;
use crate::output::to_stdout;
use clap::Args;
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  kgard devices
  kgard devices --json

The best comes first. `--backend gpu` takes that one, `--adapter NAME` another;
`--backend auto` takes hardware only, and for jobs of 8 megapixels and more.";

const NOTHING: &str = "\
no GPU: there is no Vulkan, Metal or Direct3D 12 adapter, pictures are computed on
the processor. Install the driver of the graphics card; on Debian and Ubuntu
mesa-vulkan-drivers has those of Intel and AMD, and one that is a program on the
processor, to try things out.
";

/// `kgard devices`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DevicesArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(args: &DevicesArgs) -> Result<()> {
    let devices = list()?;
    let text = if args.json { json(&devices)? } else { described(&devices) };
    to_stdout(text.as_bytes())
}

fn described(devices: &Devices) -> String {
    if devices.adapters.is_empty() {
        return NOTHING.into();
    }
    let mut text = String::new();
    for (i, adapter) in devices.adapters.iter().enumerate() {
        let taken = match (devices.gpu == Some(i), devices.auto == Some(i)) {
            (true, true) => "; --backend gpu takes it, and auto for large jobs",
            (true, false) => "; --backend gpu takes it, auto never does",
            (false, true) => "; auto takes it for large jobs",
            (false, false) => "",
        };
        let kind = if adapter.software { "a program on the processor" } else { adapter.kind };
        let _ = writeln!(text, "{}\n  {kind}, {}{taken}", adapter.name, adapter.backend);
        if !adapter.driver.is_empty() {
            let _ = writeln!(text, "  driver {}", adapter.driver);
        }
    }
    text
}
