//! One length per input, or one for all of them.

use super::tunable::{Role, common_scale};
use crate::{Error, Real};
#[cfg(feature = "alloc")]
use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

/// Lengths with their reciprocals, by which differences are multiplied.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lengths<T, L> {
    values: L,
    reciprocals: L,
    scalar: PhantomData<T>,
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Lengths<T, L> {
    pub(super) fn new(values: L) -> Self {
        let mut reciprocals = values.clone();
        for reciprocal in reciprocals.as_mut() {
            *reciprocal = reciprocal.recip();
        }
        Self { values, reciprocals, scalar: PhantomData }
    }

    pub(super) fn values(&self) -> &[T] {
        self.values.as_ref()
    }

    #[inline(always)]
    pub(super) fn reciprocals(&self) -> &[T] {
        self.reciprocals.as_ref()
    }

    pub(super) fn set(&mut self, index: usize, length: T) {
        self.values.as_mut()[index] = length;
        self.reciprocals.as_mut()[index] = length.recip();
    }

    /// What length number `index` is, if there is one.
    pub(super) fn role(&self, index: usize) -> Option<Role> {
        match self.values().len() {
            1 if index == 0 => Some(Role::SharedLength),
            count if index < count => Some(Role::Length { input: index }),
            _ => None,
        }
    }

    /// `what` they are is for the message.
    pub(super) fn check(&self, what: &'static str) -> Result<(), Error> {
        if self.values().is_empty() {
            return Err(Error::Empty { what: "list of lengths" });
        }
        self.values().iter().try_for_each(|&length| Error::check_positive(what, length))
    }

    pub(super) fn check_dim(&self, dim: usize) -> Result<(), Error> {
        match self.values().len() {
            1 => Ok(()),
            count => Error::check_len("list of lengths", count, dim),
        }
    }

    /// Multiplies the lengths by the scales of their inputs.
    pub(super) fn rescale(&mut self, scales: &[T]) -> Result<(), Error> {
        let count = self.values().len();
        if count == 1 {
            let scale = common_scale(scales)?;
            self.set(0, self.values()[0] * scale);
            return Ok(());
        }
        Error::check_len("list of scales", scales.len(), count)?;
        for (index, &scale) in scales.iter().enumerate() {
            self.set(index, self.values()[index] * scale);
        }
        Ok(())
    }
}

#[cfg(feature = "alloc")]
impl<T: Real> Lengths<T, Vec<T>> {
    /// Makes one length for all inputs one for each of `dim`.
    pub(super) fn separate(&mut self, dim: usize) {
        if let &[length] = self.values() {
            *self = Self::new(vec![length; dim]);
        }
    }
}
