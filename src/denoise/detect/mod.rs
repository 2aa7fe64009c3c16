//! Which pixels are impulses: what the neighbours say, what a classifier makes of the pattern
//! around a pixel, and the search for outliers in a region, which decides.

pub(crate) mod classifier;
pub(crate) mod neighbourhood;
pub(crate) mod rows;
pub(crate) mod search;
mod sort;
pub(crate) mod window;
