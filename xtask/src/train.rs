//! Makes the classifier's weights again: `models/classifier.bin` and its manifest.

use crate::steps::Outcome;
use crate::tools::{cargo, root, run, target_dir, undisturbed};
use std::path::Path;

/// Runs the program `xtask/examples/train` on the pictures in a folder, or in `target/pictures`.
///
/// It is built without `std` in the library, so that no instruction set is chosen at run time, and
/// without flags from outside: the weights are the same on every machine of an architecture.
pub(crate) fn train(pictures: Option<&str>) -> Outcome {
    let mut train = undisturbed(cargo("run --release -p xtask --example train --"));
    match pictures {
        // The command runs in the root of the repository.
        Some(directory) => train.arg(std::path::absolute(directory).unwrap_or(directory.into())),
        None => train.arg(target_dir().join("pictures")),
    };
    train.arg(root().join(Path::new("models")));
    run(train)
}
