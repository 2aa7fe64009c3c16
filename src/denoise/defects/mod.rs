//! What is wrong with a sensor: pixels in all of its frames, rows and columns.

mod lines;
mod map;
mod persistent;
mod weak;

pub use lines::dead_lines;
pub use map::{DefectMap, DefectSurvey};
pub use weak::{WrongLine, repair_lines, wrong_lines};
