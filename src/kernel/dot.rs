//! Polynomials of the inner product, with an origin and one length per input.

use super::{Kernel, Polynomial, lengths::Lengths};
use crate::real::{constant, count};
use crate::{Error, Real};
use alloc::{vec, vec::Vec};

/// $(c + \gamma \sum_i (a_i - o_i)(b_i - o_i) / \ell_i^2)^p$.
///
/// Unlike a kernel of differences it has a place, the origin $o$, and moves with
/// the inputs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dot<T> {
    pub(super) lengths: Lengths<T, Vec<T>>,
    /// One for all inputs or one for each; nothing is zero.
    pub(super) origin: Vec<T>,
    pub(super) gamma: T,
    pub(super) offset: T,
    pub(super) degree: u32,
}

impl<T: Real> Dot<T> {
    /// A polynomial of the inner product, about zero, in the units of the inputs.
    pub(super) fn new(Polynomial { gamma, offset, degree }: Polynomial<T>) -> Self {
        Self { lengths: Lengths::new(vec![T::one()]), origin: Vec::new(), gamma, offset, degree }
    }

    /// $a^T b$.
    pub(super) fn linear() -> Self {
        Self::new(Polynomial::new(T::one(), T::zero(), 1))
    }

    /// With other lengths and another origin.
    pub(super) fn at(self, lengths: Vec<T>, origin: Vec<T>) -> Self {
        Self { lengths: Lengths::new(lengths), origin, ..self }
    }

    pub(super) fn is_linear(&self) -> bool {
        self.degree == 1 && self.offset == T::zero() && self.gamma == T::one()
    }

    /// What it is of the inputs as they are, if it is that.
    pub(super) fn as_polynomial(&self) -> Option<Polynomial<T>> {
        (self.origin.is_empty() && self.lengths.values() == [T::one()])
            .then(|| Polynomial::new(self.gamma, self.offset, self.degree))
    }

    /// What input `i` adds to the inner product.
    #[inline(always)]
    fn part(&self, i: usize, x: T, y: T) -> T {
        let reciprocals = self.lengths.reciprocals();
        let reciprocal = reciprocals[i.min(reciprocals.len() - 1)];
        let (x, y) = match &self.origin[..] {
            [] => (x, y),
            origin => {
                let origin = origin[i.min(origin.len() - 1)];
                (x - origin, y - origin)
            }
        };
        (x * reciprocal) * (y * reciprocal)
    }

    /// The kernel and its derivatives by the logarithms of the lengths and of the
    /// offset, those that are `learned`, packed.
    pub(super) fn gradient_by(
        &self,
        a: &[T],
        b: &[T],
        learned: impl Fn(usize) -> bool,
        gradient: &mut [T],
    ) -> T {
        let lengths = self.lengths.values().len();
        let mut product = T::zero();
        let mut filled = 0;
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let part = self.part(i, x, y);
            product = product + part;
            if lengths > 1 && learned(i) {
                gradient[filled] = part;
                filled += 1;
            }
        }
        if lengths == 1 && learned(0) {
            gradient[0] = product;
            filled = 1;
        }
        let base = self.gamma * product + self.offset;
        let slope = match self.degree {
            0 => T::zero(),
            degree => count::<T>(degree as usize) * power(base, degree - 1),
        };
        for entry in &mut gradient[..filled] {
            *entry = -constant::<T>(2.0) * self.gamma * *entry * slope;
        }
        if self.offset != T::zero() && learned(lengths) {
            gradient[filled] = slope * self.offset;
        }
        power(base, self.degree)
    }

    /// Moves the origin: nowhere is zero.
    pub(super) fn translate(&mut self, by: &[T]) {
        let origin = |i: usize| match &self.origin[..] {
            [] => T::zero(),
            origin => origin[i.min(origin.len() - 1)],
        };
        self.origin = by.iter().enumerate().map(|(i, &by)| origin(i) + by).collect();
    }

    /// Stretches the origin with its inputs.
    pub(super) fn rescale_origin(&mut self, scales: &[T]) {
        if self.origin.is_empty() {
            return;
        }
        let origin = |i: usize| self.origin[i.min(self.origin.len() - 1)];
        self.origin = scales.iter().enumerate().map(|(i, &scale)| origin(i) * scale).collect();
    }
}

impl<T: Real> Kernel<T> for Dot<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let mut product = T::zero();
        match (self.lengths.reciprocals(), &self.origin[..]) {
            (&[reciprocal], []) => {
                for (&x, &y) in a.iter().zip(b) {
                    product = product + (x * reciprocal) * (y * reciprocal);
                }
            }
            _ => {
                for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
                    product = product + self.part(i, x, y);
                }
            }
        }
        power(self.gamma * product + self.offset, self.degree)
    }

    fn check(&self) -> Result<(), Error> {
        Error::check_positive("gamma", self.gamma)?;
        Error::check_not_negative("offset", self.offset)?;
        Error::check_finite("origin", &self.origin)?;
        self.lengths.check("length")
    }

    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        self.lengths.check_dim(dim)?;
        match self.origin.len() {
            0 | 1 => Ok(()),
            count => Error::check_len("origin", count, dim),
        }
    }
}

#[inline]
fn power<T: Real>(base: T, exponent: u32) -> T {
    match exponent {
        0 => T::one(),
        1 => base,
        // An exponent beyond i32 overflows or vanishes either way.
        _ => base.powi(i32::try_from(exponent).unwrap_or(i32::MAX)),
    }
}
