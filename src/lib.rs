//! Robust non-linear regression in the presence of outliers.
//!
//! Data are often a smooth function plus noise plus a few values that are
//! simply wrong. **KGARD** (kernel greedy algorithm for robust denoising) fits
//! the function by kernel ridge regression and takes the wrong values out one
//! by one, the worst first, refitting exactly after each:
//!
//! $$ y = \underbrace{K \alpha + c \mathbf 1}\_{\text{function}} + \underbrace{u}\_{\text{outliers}} + \underbrace{\eta}\_{\text{noise}} . $$
//!
//! ```
//! use kgard::{Gaussian, Plan, Regularizer, Stop};
//!
//! // A sine, measured at 100 points, with three wrong values.
//! let x: Vec<f64> = (0..100).map(|i| i as f64 / 100.0).collect();
//! let mut y: Vec<f64> = x.iter().map(|x| (10.0 * x).sin()).collect();
//! for wrong in [13, 50, 77] {
//!     y[wrong] += 4.0;
//! }
//!
//! let plan = Plan::new(&x, Gaussian::new(0.2), Regularizer::l2(0.1))?;
//! let fit = plan.fit(&y, Stop::max_residual(1.0))?;
//!
//! let mut found: Vec<usize> = fit.outliers().iter().map(|o| o.index).collect();
//! found.sort();
//! assert_eq!(found, [13, 50, 77]);
//! assert!((fit.predict(&[0.5])? - 5.0_f64.sin()).abs() < 0.05);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! # Where to start
//!
//! * nothing to choose: [`tune::Tuner`] takes kernel width, $\lambda$ and the
//!   outliers from the data;
//! * many measurements on the same points: [`Plan`];
//! * a single fit: [`fit`](fn@fit), which is faster once and needs less memory;
//! * no allocator: [`PlanRef`] and [`Workspace`], with lengths from `const fn`s,
//!   and plans that stay in flash ([`PlanRef::from_bytes`], `kgard plan`);
//! * the methods the paper compares with: [`baselines`]; what it proves:
//!   [`theory`];
//! * your own kernel: the [`Kernel`] trait, or a closure;
//! * your own stopping rule: the [`StopRule`] trait, or a closure;
//! * your own matrix structure: the [`ResidualMaker`] trait;
//! * your own scalar: any type with [`num_traits::Float`] is a [`Real`].
//!
//! # Crate features
//!
//! * `std` (default): the instruction set is chosen when the program runs;
//!   implies `alloc`.
//! * `alloc`: the types that own their memory, [`Plan`] and [`Fit`].
//! * `rayon`: images on all cores.
//! * `image`: pictures of the `image` crate in and out.
//! * `libm`: mathematical functions where there is no `std`.
//!
//! Without `std` and `alloc` the crate works on slices of the caller, and
//! never allocates.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(feature = "std", feature = "libm")))]
compile_error!(
    "kgard needs mathematical functions: enable the feature `std`, or `libm` without it"
);

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

/// The README's examples are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "alloc")]
pub mod baselines;
#[cfg(feature = "alloc")]
pub mod denoise;
mod error;
#[cfg(feature = "image")]
pub mod interop;
pub mod kernel;
pub mod linalg;
mod points;
mod real;
pub mod regression;
#[cfg(feature = "serde")]
mod serial;
#[cfg(feature = "alloc")]
pub mod theory;
#[cfg(feature = "alloc")]
pub mod tune;

pub use error::Error;
pub use kernel::{
    Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Polynomial, RationalQuadratic,
};
pub use points::Points;
pub use real::Real;
#[cfg(feature = "alloc")]
pub use regression::{Fit, Plan, fit, fit_support};
pub use regression::{
    FitRef, Outlier, PlanRef, Progress, Regularizer, ResidualMaker, Stop, StopReason, StopRule,
    Stored, System, Workspace, border_weights, predict,
};
