//! What the tests share.
#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod oracle;
pub mod problem;
pub mod sha256;
