//! The methods that the paper compares KGARD with.

pub mod ram;
pub mod rb_rvm;

pub use ram::Ram;
pub use rb_rvm::RbRvm;
