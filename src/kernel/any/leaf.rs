//! A named kernel, the input it depends on, and which of its numbers are learned.

use crate::kernel::dot::Dot;
use crate::kernel::lengths::Lengths;
use crate::kernel::{Cosine, Kernel, PerInput, Periodic, Role, Shape};
use crate::{Error, Points, Real};
use alloc::vec::Vec;
use core::slice::from_ref;
use num_traits::Float as _;

/// What all kernels with a name have: lengths, and at most one more number that
/// can be learned.
pub(super) trait Part: Kernel<Self::Scalar> {
    type Scalar: Real;
    /// Whether the lengths are periods.
    const PERIODIC: bool = false;

    fn lengths(&self) -> &Lengths<Self::Scalar, Vec<Self::Scalar>>;
    fn lengths_mut(&mut self) -> &mut Lengths<Self::Scalar, Vec<Self::Scalar>>;
    /// Alpha, width or offset.
    fn number(&self) -> Option<Self::Scalar>;
    fn set_number(&mut self, value: Self::Scalar);
    /// As of [`Tunable::evaluate_with_gradient`](crate::Tunable), by those
    /// parameters that are `learned`, packed.
    fn gradient_by(
        &self,
        a: &[Self::Scalar],
        b: &[Self::Scalar],
        learned: impl Fn(usize) -> bool,
        out: &mut [Self::Scalar],
    ) -> Self::Scalar;
    /// Multiplies coordinates other than lengths by the scales of their inputs.
    fn rescale_origin(&mut self, _scales: &[Self::Scalar]) {}
    /// Moves the kernel with its inputs.
    fn translate(&mut self, _by: &[Self::Scalar]) {}
}

/// A kernel with a name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf<K> {
    pub(super) part: K,
    /// The only input that it looks at; all if there is none.
    pub(super) input: Option<usize>,
    /// Whether the lengths, and whether the other number, are learned.
    pub(super) learned: [bool; 2],
}

impl<K: Part> Leaf<K> {
    /// A kernel that looks at one input, or at all; `learned` are the lengths and
    /// the other number, if there is one.
    pub(super) fn new(part: K, input: Option<usize>, learned: [bool; 2]) -> Self {
        let mut leaf = Self { part, input, learned };
        leaf.learn(learned);
        leaf
    }

    /// A kernel of all inputs, all of whose numbers are learned.
    pub(super) fn learned(part: K) -> Self {
        Self::new(part, None, [true; 2])
    }

    pub(super) fn learn(&mut self, [lengths, number]: [bool; 2]) {
        self.learned = [lengths, number && self.part.number().is_some()];
    }

    /// The coordinates that it looks at.
    #[inline(always)]
    fn seen<'a>(&self, a: &'a [K::Scalar]) -> &'a [K::Scalar] {
        self.input.map_or(a, |input| from_ref(&a[input]))
    }

    /// How many lengths are learned.
    fn learned_lengths(&self) -> usize {
        if self.learned[0] { self.part.lengths().values().len() } else { 0 }
    }

    /// Number of parameters that are learned.
    pub(super) fn parameters(&self) -> usize {
        self.learned_lengths() + usize::from(self.learned[1])
    }

    /// Role and value of a parameter, which there is.
    pub(super) fn parameter(&self, parameter: usize) -> (Role, K::Scalar) {
        let lengths = self.part.lengths();
        if parameter < self.learned_lengths() {
            let role = match self.input {
                _ if K::PERIODIC => Role::Period,
                Some(input) => Role::Length { input },
                None => lengths.role(parameter).unwrap_or(Role::SharedLength),
            };
            (role, lengths.values()[parameter])
        } else {
            (Role::Pure, self.part.number().unwrap_or_else(K::Scalar::nan))
        }
    }

    pub(super) fn set_parameter(&mut self, parameter: usize, value: K::Scalar) {
        if parameter < self.learned_lengths() {
            self.part.lengths_mut().set(parameter, value);
        } else {
            self.part.set_number(value);
        }
    }

    #[inline]
    pub(super) fn evaluate(&self, a: &[K::Scalar], b: &[K::Scalar]) -> K::Scalar {
        self.part.evaluate(self.seen(a), self.seen(b))
    }

    pub(super) fn evaluate_row(
        &self,
        a: &[K::Scalar],
        points: Points<'_, K::Scalar>,
        out: &mut [K::Scalar],
    ) {
        if self.input.is_none() {
            return self.part.evaluate_row(a, points, out);
        }
        for (b, out) in points.iter().zip(out) {
            *out = self.evaluate(a, b);
        }
    }

    #[inline]
    pub(super) fn gradient(
        &self,
        a: &[K::Scalar],
        b: &[K::Scalar],
        out: &mut [K::Scalar],
    ) -> K::Scalar {
        self.part.gradient_by(self.seen(a), self.seen(b), self.learns(), out)
    }

    /// Whether the lengths, and whether the other number behind them, are learned.
    pub(super) fn learns(&self) -> impl Fn(usize) -> bool + Copy + use<'_, K> {
        let lengths = self.part.lengths().values().len();
        move |parameter| self.learned[usize::from(parameter == lengths)]
    }

    pub(super) fn check_dim(&self, dim: usize) -> Result<(), Error> {
        match self.input {
            None => self.part.check_dim(dim),
            Some(input) => {
                Error::check_at_least("point", dim, input + 1)?;
                self.part.check_dim(1)
            }
        }
    }

    /// Gives each of `dim` inputs a length of its own, if lengths are learned.
    pub(super) fn separate(&mut self, dim: usize) {
        if self.learned[0] && self.input.is_none() {
            self.part.lengths_mut().separate(dim);
        }
    }

    /// As of [`Tunable`](crate::Tunable): inputs of different scales get a length
    /// each.
    pub(super) fn rescale(&mut self, scales: &[K::Scalar]) -> Result<(), Error> {
        self.check_dim(scales.len())?;
        let scales = self.seen(scales);
        if scales.iter().any(|scale| scale != &scales[0]) {
            self.part.lengths_mut().separate(scales.len());
        }
        self.part.lengths_mut().rescale(scales)?;
        self.part.rescale_origin(scales);
        Ok(())
    }

    /// As of [`Tunable`](crate::Tunable).
    pub(super) fn translate(&mut self, by: &[K::Scalar]) -> Result<(), Error> {
        self.check_dim(by.len())?;
        self.part.translate(self.seen(by));
        Ok(())
    }
}

impl<T: Real> Part for PerInput<T, Vec<T>> {
    type Scalar = T;

    fn lengths(&self) -> &Lengths<T, Vec<T>> {
        &self.lengths
    }
    fn lengths_mut(&mut self) -> &mut Lengths<T, Vec<T>> {
        &mut self.lengths
    }
    fn number(&self) -> Option<T> {
        match self.shape {
            Shape::RationalQuadratic { alpha } => Some(alpha),
            _ => None,
        }
    }
    fn set_number(&mut self, value: T) {
        if let Shape::RationalQuadratic { alpha } = &mut self.shape {
            *alpha = value;
        }
    }
    #[inline]
    fn gradient_by(&self, a: &[T], b: &[T], learned: impl Fn(usize) -> bool, out: &mut [T]) -> T {
        self.gradient_by(a, b, learned, out)
    }
}

impl<T: Real> Part for Periodic<T, Vec<T>> {
    type Scalar = T;
    const PERIODIC: bool = true;

    fn lengths(&self) -> &Lengths<T, Vec<T>> {
        &self.periods
    }
    fn lengths_mut(&mut self) -> &mut Lengths<T, Vec<T>> {
        &mut self.periods
    }
    fn number(&self) -> Option<T> {
        Some(self.width)
    }
    fn set_number(&mut self, value: T) {
        self.width = value;
    }
    fn gradient_by(&self, a: &[T], b: &[T], learned: impl Fn(usize) -> bool, out: &mut [T]) -> T {
        self.gradient_by(a, b, learned, out)
    }
}

impl<T: Real> Part for Cosine<T, Vec<T>> {
    type Scalar = T;
    const PERIODIC: bool = true;

    fn lengths(&self) -> &Lengths<T, Vec<T>> {
        &self.periods
    }
    fn lengths_mut(&mut self) -> &mut Lengths<T, Vec<T>> {
        &mut self.periods
    }
    fn number(&self) -> Option<T> {
        None
    }
    fn set_number(&mut self, _: T) {}
    fn gradient_by(&self, a: &[T], b: &[T], learned: impl Fn(usize) -> bool, out: &mut [T]) -> T {
        self.gradient_by(a, b, learned, out)
    }
}

impl<T: Real> Part for Dot<T> {
    type Scalar = T;

    fn lengths(&self) -> &Lengths<T, Vec<T>> {
        &self.lengths
    }
    fn lengths_mut(&mut self) -> &mut Lengths<T, Vec<T>> {
        &mut self.lengths
    }
    fn number(&self) -> Option<T> {
        (self.offset != T::zero()).then_some(self.offset)
    }
    fn set_number(&mut self, value: T) {
        // Not zero: the number of parameters would change.
        self.offset = value.max(T::min_positive_value());
    }
    fn gradient_by(&self, a: &[T], b: &[T], learned: impl Fn(usize) -> bool, out: &mut [T]) -> T {
        self.gradient_by(a, b, learned, out)
    }
    fn rescale_origin(&mut self, scales: &[T]) {
        self.rescale_origin(scales);
    }
    fn translate(&mut self, by: &[T]) {
        self.translate(by);
    }
}
