//! What a sensor has lost, beside single pixels.

mod lines;

pub use lines::dead_lines;
