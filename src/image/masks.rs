//! What is known of single pixels, and parts of large images.

use super::Plane;

/// What is known about single pixels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Masks<'a> {
    /// Pixels known to be bad: outliers, whatever their values, which may be
    /// NaN.
    pub bad: Option<Plane<'a, bool>>,
    /// Pixels to be left as they are; they are no outliers either.
    pub keep: Option<Plane<'a, bool>>,
}

/// Some rows of a large image.
#[derive(Debug, Clone, Copy)]
pub struct Band<'a, T> {
    /// The rows.
    pub rows: Plane<'a, T>,
    /// What is known of their pixels; as large as `rows`.
    pub masks: Masks<'a>,
    /// The number of the first row in the image.
    pub top: usize,
    /// Rows of the whole image.
    pub height: usize,
}
