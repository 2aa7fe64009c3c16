//! KGARD: kernel ridge regression alternating with greedy outlier selection.
//!
//! The data flow in one direction:
//!
//! | | |
//! | --- | --- |
//! | [`System`] | points, kernel and [`Regularizer`] become one factored matrix |
//! | [`PlanRef`], `Plan` | its inverse, the residual maker $H$: made once, used for many $y$ |
//! | [`greedy`](mod@greedy) | Algorithm 1 on any [`ResidualMaker`], until a [`StopRule`] is met |
//! | [`FitRef`], `Fit` | outliers, residual, coefficients, bias, predictions |
//!
//! Types ending in `Ref` borrow the caller's memory and need no allocator.

mod fit;
mod flash;
pub mod greedy;
mod gross;
mod half;
#[cfg(feature = "alloc")]
mod owned;
mod plan;
mod regularizer;
pub(crate) mod removal;
pub mod stop;
pub(crate) mod system;
pub(crate) mod workspace;

pub use fit::{FitRef, Outlier, predict, r_squared};
pub use flash::{PlanBytes, Stored};
pub use greedy::ResidualMaker;
#[cfg(feature = "gpu")]
pub(crate) use gross::leaves_traces;
#[cfg(feature = "alloc")]
pub use half::HalfPlan;
pub use half::HalfPlanRef;
#[cfg(feature = "alloc")]
pub(crate) use owned::Found;
#[cfg(feature = "alloc")]
pub use owned::{Fit, Plan, fit, fit_support};
pub use plan::{PlanRef, fit_on};
pub use regularizer::{Penalty, Regularizer, border_weights};
pub use stop::{Progress, Stop, StopReason, StopRule};
pub use system::System;
pub use workspace::Workspace;
