//! A guide: what to choose, what is promised, and when to use something else.
//!
//! * [`choosing`]: kernel, $\lambda$, penalty and stopping rule;
//! * [`promises`]: the paper's theorem, in plain words and as a function;
//! * [`pictures`]: which method for which picture;
//! * [`devices`]: the recipe for a microcontroller;
//! * [`saving`]: plans, fits and settings in files;
//! * [`wrong_tool`]: what kgard cannot do.
//!
//! All of its code runs as tests.

#[doc = include_str!("guide/choosing.md")]
pub mod choosing {}

#[doc = include_str!("guide/promises.md")]
pub mod promises {}

#[doc = include_str!("guide/pictures.md")]
pub mod pictures {}

#[doc = include_str!("guide/devices.md")]
pub mod devices {}

#[doc = include_str!("guide/saving.md")]
pub mod saving {}

#[doc = include_str!("guide/wrong_tool.md")]
pub mod wrong_tool {}
