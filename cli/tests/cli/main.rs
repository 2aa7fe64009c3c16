//! The program from the outside: what it reads, prints and writes.

mod bad_input;
mod batch;
mod clean;
mod common;
mod compare;
mod corrupt;
mod denoise;
#[cfg(unix)]
mod examples;
mod files;
mod fit;
#[cfg(feature = "gpu")]
mod gpu;
mod instruction_sets;
mod instruments;
mod manual;
mod methods;
mod metrics;
#[cfg(not(feature = "gpu"))]
mod no_gpu;
mod pages;
mod pictures;
mod plan;
mod plot;
mod predict;
mod random_bytes;
mod reproduce;
mod sensors;
mod serve;
mod tables;
