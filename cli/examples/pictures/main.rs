//! Writes test pictures of the kinds that cameras, microscopes, telescopes and screens give:
//! `cargo xtask pictures DIR`. Each kind is a noisy file and a clean one beside it.

mod material;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1) else {
        eprintln!("usage: pictures DIR");
        return ExitCode::from(2);
    };
    let directory = Path::new(&directory);
    if let Err(error) = std::fs::create_dir_all(directory) {
        eprintln!("{}: {error}", directory.display());
        return ExitCode::FAILURE;
    }
    for material in material::all(0) {
        for (kind, picture) in [("noisy", &material.noisy), ("clean", &material.clean)] {
            let path = directory.join(format!("{}-{kind}.{}", material.name, material.extension()));
            if let Err(error) = picture.save(&path) {
                eprintln!("{}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
        println!("{}: {}", material.name, material.what);
    }
    ExitCode::SUCCESS
}
