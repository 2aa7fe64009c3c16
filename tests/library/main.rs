//! The tests of the library but for pictures, devices and counted allocations.
//! One program: each would compile the generic code that it uses for itself.
#![allow(missing_docs, clippy::pedantic)]

#[path = "../common/mod.rs"]
mod common;

mod algorithm1;
mod any_kernel;
mod bad_input;
mod everyday;
mod examples;
mod fixed_lag;
mod flash;
mod gross;
mod kernel_ridge;
mod kernels;
mod linalg;
mod line;
mod line_literal;
mod line_rules;
mod line_tuner;
mod metrics;
mod modules;
mod noise_free;
mod oracle;
mod properties;
mod ram;
mod rb_rvm;
mod readme;
mod scalars;
mod send_sync;
mod serde;
mod space;
mod stopping;
mod theory;
mod tune;
