//! Long series: Algorithm 1 exactly, in O(n).
//!
//! Points on a line with a Markov kernel and the RKHS penalty. The Gaussian
//! process of a Matérn kernel has a state of a few numbers that is all the future
//! needs to know of the past ([`Markov`]), so that what all other points say about
//! one of them is in two messages, from the left and from the right. An outlier is
//! a missing sample: it leaves the list of points, and messages are sent anew as
//! far as they change.
//!
//! ```
//! use kgard::line::Line;
//! use kgard::{Matern32, Stop};
//!
//! // Two waves, a little noise, and some wrong values; 20,000 points.
//! let x: Vec<f64> = (0..20_000).map(|i| i as f64 / 1000.0).collect();
//! let mut y: Vec<f64> = x.iter().map(|x| (3.0 * x).sin()).collect();
//! for (i, y) in y.iter_mut().enumerate() {
//!     *y += 0.05 * ((i * i % 101) as f64 / 50.0 - 1.0);
//! }
//! for wrong in (77..20_000).step_by(500) {
//!     y[wrong] += 2.0;
//! }
//!
//! let line = Line::new(&x, Matern32::new(0.5), 0.01)?;
//! let fit = line.fit(&y, Stop::automatic())?;
//! assert_eq!(fit.outliers().len(), 40);
//! let at = fit.predict(1.2345)?;
//! assert!((at.mean - (3.0 * 1.2345f64).sin()).abs() < 0.05);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! A kernel times a [`Cosine`](crate::Cosine) is a cycle whose shape drifts: see [`Markov`].
//! Samples that come one by one are cleaned by a [`FixedLag`], in a fixed amount of memory.
//!
//! # What is solved
//!
//! For inputs $x_i$ on a line and samples $y_i$ with noise of standard deviation
//! proportional to $s_i$ (1 unless given), and outliers $u$ on $S$:
//!
//! $$ \min_{f, c, u} \sum_i \frac{(y_i - f(x_i) - b(x_i)^T c - u_i)^2}{s_i^2} + \lambda \lVert f \rVert_{\mathcal H}^2 , $$
//!
//! the model of [`Regularizer::rkhs`](crate::Regularizer::rkhs) with $b = 1$
//! ([`Line::new`]), without a bias ([`Line::without_bias`]) or with a slope beside it
//! ([`Line::with_trend`]). The point with the largest $|r_i| / s_i$, or the largest of
//! these in units of its own standard deviation, leaves next.
//!
//! # Costs
//!
//! Time O(n) for a fit without outliers, and a few correlation lengths of the
//! smoother per outlier; about 220 bytes a point (`f64`, Matérn 3/2). The window of an outlier
//! grows with the samples to a length: 2000 of them with Matérn 5/2 take a millisecond and a
//! half, 20 with Matérn 3/2 some 20 microseconds.

mod cell;
mod chain;
mod counts;
mod door;
mod evidence;
mod fixed_lag;
mod line_ref;
mod markov;
mod message;
#[cfg(feature = "alloc")]
mod owned;
mod search;
#[cfg(feature = "alloc")]
mod simplex;
mod small;
mod tournament;
#[cfg(feature = "alloc")]
mod tuner;

pub use cell::Cell;
pub use fixed_lag::{Cleaned, FixedLag};
pub use line_ref::{LineFitRef, LineMemory, LineRef, Predicted};
pub use markov::{Join, Markov, MarkovOf, MaternGap, Rotation, Transition};
#[cfg(feature = "alloc")]
pub use owned::{Line, LineFit};
pub use tournament::Node;
#[cfg(feature = "alloc")]
pub use tuner::{LineTuned, LineTuner};
