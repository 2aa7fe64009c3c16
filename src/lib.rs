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
//! # One screen for each of you
//!
//! **A robust curve, nothing to choose.** Kernel, $\lambda$, noise and outliers
//! come from the data, in any units ([`tune`]):
//!
//! ```
//! use kgard::tune::Tuner;
//! # let x: Vec<f64> = (0..80).map(|i| i as f64 / 80.0).collect();
//! # let noise = |i: usize| 0.05 * ((i * i % 17) as f64 / 8.0 - 1.0);
//! # let mut y: Vec<f64> = x.iter().enumerate().map(|(i, x)| (6.0 * x).sin() + noise(i)).collect();
//! # y[17] += 3.0;
//!
//! let model = Tuner::new().fit(&x, &y)?;
//! for outlier in model.outliers() {
//!     println!("x = {} is off by {:.2}", x[outlier.index], outlier.value);
//! }
//! let (low, high) = model.uncertainty()?.at(&[0.5])?.interval(0.95)?;
//! println!("f(0.5) = {:.2}, a measurement between {low:.2} and {high:.2}", model.predict(&[0.5])?);
//! # assert_eq!(model.outliers()[0].index, 17);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! **A sensor on a microcontroller.** The plan is in flash, the workspace on the
//! stack, and nothing is allocated ([`PlanRef`], [`Workspace`]; `kgard plan`
//! writes the plan):
//!
//! ```
//! use kgard::{PlanRef, Stop, Workspace};
//!
//! const N: usize = 64; // samples
//! const K: usize = 8; // outliers at most
//!
//! fn clean(plan: &PlanRef<'_, f32>, y: &[f32; N], out: &mut [f32; N]) -> Result<usize, kgard::Error> {
//!     let mut scalars = [0.0; Workspace::<f32>::len(N, K)];
//!     let mut indices = [0; K];
//!     let work = Workspace::new(N, &mut scalars, &mut indices)?;
//!     let fit = plan.fit(y, Stop::automatic(), work)?;
//!     fit.fitted(out)?;
//!     Ok(fit.outliers().len())
//! }
//! # use kgard::{Gaussian, Regularizer};
//! # let grid: [f32; N] = core::array::from_fn(|i| i as f32 / 63.0);
//! # let mut memory = [0.0; PlanRef::<f32>::rkhs_len(N)];
//! # let mut scratch = [0.0; PlanRef::<f32>::scratch_len(N)];
//! # let regularizer = Regularizer::rkhs(0.1);
//! # let plan = PlanRef::new(&grid, &Gaussian::new(0.2), regularizer, &mut memory, &mut scratch)?;
//! # let mut y: [f32; N] = core::array::from_fn(|i| grid[i] + 0.01 * ((i * i % 7) as f32 - 3.0));
//! # y[20] += 1.0;
//! # assert_eq!(clean(&plan, &y, &mut [0.0; N])?, 1);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! **A picture in three lines** (feature `image`; [`denoise`] has the methods):
//!
//! ```
//! # #[cfg(feature = "image")] {
//! # let picture = image::DynamicImage::new_rgb8(20, 16);
//! // let picture = image::open("noisy.png")?;
//! let denoised = kgard::interop::image::denoise(&picture)?;
//! // denoised.image.save("clean.png")?;
//! # assert_eq!(denoised.image, picture);
//! # }
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! **On a GPU** (feature `gpu`; its module says what it needs and what it does when
//! something fails):
//!
//! ```no_run
//! # #[cfg(feature = "gpu")] {
//! use kgard::denoise::{Denoiser, Masks, Plane};
//!
//! let gpu = kgard::gpu::Gpu::new()?;
//! let pixels = vec![100.0_f32; 4096 * 4096];
//! let plan = Denoiser::new().plan()?;
//! let image = Plane::new(&pixels, 4096, 4096)?;
//! let (denoised, report) = plan.on(&gpu)?.denoise(image, Masks::default())?;
//! # let _ = (denoised, report);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Your own kernel** is a closure or a type with the trait [`Kernel`]:
//!
//! ```
//! use kgard::{Gaussian, Kernel, Plan, Regularizer, Stop};
//! # let days: Vec<f64> = (0..70).map(|i| i as f64 / 7.0).collect();
//! # let mut y: Vec<f64> = days.iter().map(|t| (core::f64::consts::TAU * t).sin()).collect();
//! # y[33] += 3.0;
//!
//! // What repeats every day, and changes from week to week.
//! let daily = |a: &[f64], b: &[f64]| {
//!     let s = (core::f64::consts::PI * (a[0] - b[0])).sin();
//!     (-2.0 * s * s).exp()
//! };
//! let kernel = Gaussian::new(10.0).times(daily);
//! let plan = Plan::new(&days, kernel, Regularizer::rkhs(0.1))?;
//! let fit = plan.fit(&y, Stop::max_residual(1.0))?;
//! # assert_eq!(fit.outliers()[0].index, 33);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! **Your own scalar** is any type with [`num_traits::Float`]; here one of 31
//! digits:
//!
//! ```
//! use kgard::{Gaussian, Plan, Regularizer, Stop};
//! use twofloat::TwoFloat;
//!
//! let number = |x: f64| TwoFloat::from(x);
//! let x: Vec<TwoFloat> = (0..30).map(|i| number(i as f64 / 30.0)).collect();
//! let mut y = vec![number(1.0); 30];
//! y[7] = number(4.0);
//! let plan = Plan::new(&x, Gaussian::new(number(0.3)), Regularizer::rkhs(number(1e-6)))?;
//! let fit = plan.fit(&y, Stop::max_residual(number(0.5)))?;
//! assert_eq!(fit.outliers()[0].index, 7);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! # Where to go on
//!
//! * many measurements on the same points: [`Plan`]; a single fit:
//!   [`fit`](fn@fit), which is faster once and needs less memory;
//! * very many points: [`line`](mod@line) with one input, [`space`] with several;
//! * no allocator: [`PlanRef`] and [`Workspace`], with lengths from `const fn`s,
//!   and plans that stay in flash ([`PlanBytes`]);
//! * your own stopping rule: the [`StopRule`] trait, or a closure; your own
//!   matrix structure: the [`ResidualMaker`] trait;
//! * the methods the paper compares with: [`baselines`]; what it proves:
//!   [`theory`];
//! * the [guide]: how to choose, what is promised, and
//!   [when to use something else](guide::wrong_tool).
//!
//! # Crate features
//!
//! | feature | default | gives | needs |
//! | --- | --- | --- | --- |
//! | `std` | yes | the instruction set is chosen when the program runs | `alloc` |
//! | `alloc` | yes | the types that own their memory: [`Plan`], [`Fit`], images, tuning | an allocator |
//! | `libm` | no | mathematical functions where there is no `std` | |
//! | `rayon` | no | images on all cores, with the same result | `std` |
//! | `image` | no | pictures of the `image` crate in and out | `std` |
//! | `gpu` | no | images and batches of fits in compute shaders, on a GPU | `std` |
//! | `serde` | no | plans, fits, kernels and settings in files, checked when read | |
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
mod checked;
#[cfg(feature = "alloc")]
pub mod denoise;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(all(any(doc, doctest), feature = "std"))]
pub mod guide;
#[cfg(feature = "alloc")]
mod image;
#[cfg(feature = "image")]
pub mod interop;
pub mod kernel;
pub mod linalg;
pub mod line;
#[cfg(feature = "alloc")]
mod parallel;
mod points;
mod real;
pub mod regression;
#[cfg(feature = "serde")]
mod serial;
#[cfg(feature = "alloc")]
pub mod space;
mod stats;
#[cfg(feature = "alloc")]
pub mod theory;
#[cfg(feature = "alloc")]
pub mod tune;

pub use error::Error;
#[cfg(feature = "alloc")]
pub use kernel::AnyKernel;
pub use kernel::{
    Cosine, Gaussian, Kernel, Laplacian, Linear, Matern12, Matern32, Matern52, PerInput, Periodic,
    Polynomial, RationalQuadratic, Shape, Tunable,
};
pub use points::Points;
pub use real::Real;
#[cfg(feature = "alloc")]
pub use regression::{Fit, HalfPlan, Plan, fit, fit_support};
pub use regression::{
    FitRef, HalfPlanRef, Outlier, Penalty, PlanBytes, PlanRef, Progress, Regularizer,
    ResidualMaker, Stop, StopReason, StopRule, Stored, System, Workspace, border_weights, fit_on,
    predict,
};
