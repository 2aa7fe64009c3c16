//! The smoothers of a region: the eigenvectors of its kernel matrix, and a ladder of filters in
//! that basis.

mod basis;
pub(crate) mod ladder;
