//! Writes `include/kgard.h`; with `--check` compares it with what is there.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().unwrap_or(here);
    let header = root.join("include/kgard.h");
    let written = cbindgen::Config::from_file(root.join("cbindgen.toml"))
        .map_err(|error| format!("cbindgen.toml: {error}"))
        .and_then(|config| {
            let builder = cbindgen::Builder::new().with_config(config);
            let builder = builder.with_src(root.join("src/lib.rs"));
            builder.generate().map_err(|error| format!("cbindgen: {error}"))
        });
    let bindings = match written {
        Ok(bindings) => bindings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if std::env::args().any(|argument| argument == "--check") {
        let mut text = Vec::new();
        bindings.write(&mut text);
        if std::fs::read(&header).ok().as_deref() != Some(text.as_slice()) {
            eprintln!("{} is not what its source says: run kgard-header", header.display());
            return ExitCode::FAILURE;
        }
    } else {
        bindings.write_to_file(&header);
    }
    ExitCode::SUCCESS
}
