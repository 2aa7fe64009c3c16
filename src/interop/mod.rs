//! Types of other crates.

pub mod image;
