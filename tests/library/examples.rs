//! The examples hold themselves to what they print; here they are run.
// Each example has the generator of its data as a module of its own.
#![allow(clippy::duplicate_mod)]

#[cfg(feature = "image")]
#[path = "../../examples/denoise_image.rs"]
mod denoise_image;
#[path = "../../examples/interop.rs"]
mod interop;
#[path = "../../examples/own_kernel.rs"]
mod own_kernel;
#[path = "../../examples/own_scalar.rs"]
mod own_scalar;
#[path = "../../examples/robust_curve.rs"]
mod robust_curve;
#[path = "../../examples/sensor.rs"]
mod sensor;
#[path = "../../examples/stream.rs"]
mod stream;
