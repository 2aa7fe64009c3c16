//! What the tests share.
#![allow(dead_code, missing_docs)]

pub mod oracle;
pub mod problem;
