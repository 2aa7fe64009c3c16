//! The program from the outside: what it reads, prints and writes.

mod bad_input;
mod common;
mod corrupt;
mod denoise;
mod files;
mod fit;
mod methods;
mod metrics;
mod pictures;
mod plan;
mod plot;
mod predict;
mod random_bytes;
mod reproduce;
