//! An adapter for the tests that want a GPU: the machine's own, or Mesa's
//! program on the processor.

use crate::steps::{Outcome, Trouble};
use crate::tools::{answer, build_kgard, command, install, kgard};

/// What Debian calls the loader, and the drivers with the program on the
/// processor among them.
const PACKAGES: &str = "libvulkan1 mesa-vulkan-drivers";

/// Makes sure that there is an adapter.
pub(crate) fn adapter() -> Outcome {
    if !is_there()? {
        install(PACKAGES)?;
    }
    installed_adapter()
}

/// The same, and installs nothing.
pub(crate) fn installed_adapter() -> Outcome {
    if is_there()? {
        println!("there is an adapter: no test that wants a GPU may be skipped");
        return Ok(());
    }
    Err(Trouble::Skipped(format!("no adapter: install {PACKAGES} (Debian's names)")))
}

/// Whether the program that is to be tested finds an adapter.
fn is_there() -> Result<bool, Trouble> {
    build_kgard()?;
    let mut program = command(kgard());
    program.args(["devices", "--json"]);
    Ok(answer(program).is_some_and(|json| !json.contains("\"gpu\":null")))
}
