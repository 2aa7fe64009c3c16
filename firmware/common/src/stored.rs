//! What the build script made, in read-only memory.

use kgard::{Error, PlanBytes, PlanRef, Points};

/// The plan with the RKHS penalty, as Rust source.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod rkhs {
    include!(concat!(env!("OUT_DIR"), "/rkhs.rs"));
}

/// Half a plan for twice as many points, as Rust source.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod half {
    include!(concat!(env!("OUT_DIR"), "/half.rs"));
}

static L2_BYTES: PlanBytes<'static> = kgard::include_plan!(concat!(env!("OUT_DIR"), "/l2.bin"));

/// The plan with the l2 penalty, and its points, from a file of bytes.
///
/// # Errors
/// If the bytes are damaged.
pub fn l2() -> Result<(PlanRef<'static, f32>, Points<'static, f32>), Error> {
    L2_BYTES.open()
}

/// What the same fit gives in `f64`.
pub struct Expected {
    /// Function values at the points.
    pub fitted: [f32; crate::problem::N],
    /// The outliers, in order of selection.
    pub outliers: &'static [(usize, f32)],
    /// The function value at `problem::BETWEEN`.
    pub between: f32,
}

/// Results in `f64`, one for each penalty.
#[allow(clippy::unreadable_literal, clippy::excessive_precision)]
pub mod expected {
    use super::Expected;
    include!(concat!(env!("OUT_DIR"), "/expected.rs"));
}
