//! The learned parameters of a named kernel.
//!
//! Parameters are numbered as the text has them, from left to right: a term's
//! weight, then its kernel's; lengths before the other number.

use super::{AnyKernel, Node, each_leaf};
use crate::kernel::{Kernel, Role, Tunable};
use crate::{Error, Points, Real};
use alloc::vec;
use alloc::vec::Vec;

impl<T: Real> AnyKernel<T> {
    /// The same kernel with all numbers as they are: nothing is learned.
    #[must_use]
    pub fn with_all_kept(mut self) -> Self {
        self.learn(false);
        self
    }

    /// The same kernel with all numbers learned, except for the weights of first terms, degrees
    /// and origins.
    #[must_use]
    pub fn with_all_learned(mut self) -> Self {
        self.learn(true);
        self
    }

    fn learn(&mut self, learned: bool) {
        each_leaf!(&mut self.0, leaf => leaf.learn([learned; 2]),
            Node::Sum(terms) => for (i, term) in terms.iter_mut().enumerate() {
                term.learned = learned && i > 0;
                term.kernel.learn(learned);
            },
            Node::Product(factors) => factors.iter_mut().for_each(|factor| factor.learn(learned)),
        );
    }

    /// Gives each of `dim` inputs a length of its own, wherever one length for
    /// all inputs is learned. Periods stay as they are.
    pub fn separate_lengths(&mut self, dim: usize) {
        match &mut self.0 {
            Node::Radial(leaf) => leaf.separate(dim),
            Node::Dot(leaf) => leaf.separate(dim),
            Node::Periodic(_) | Node::Cosine(_) => {}
            Node::Sum(terms) => terms.iter_mut().for_each(|t| t.kernel.separate_lengths(dim)),
            Node::Product(factors) => factors.iter_mut().for_each(|f| f.separate_lengths(dim)),
        }
    }

    /// Moves the origins that were given.
    fn move_origins(&mut self, by: &[T]) -> Result<(), Error> {
        match &mut self.0 {
            Node::Dot(leaf) if !leaf.part.origin.is_empty() => leaf.translate(by),
            Node::Sum(terms) => terms.iter_mut().try_for_each(|t| t.kernel.move_origins(by)),
            Node::Product(factors) => factors.iter_mut().try_for_each(|f| f.move_origins(by)),
            _ => Ok(()),
        }
    }

    /// Role and value of a parameter; counts `parameter` down by those of this
    /// kernel if it is none of them.
    fn find(&self, parameter: &mut usize) -> Option<(Role, T)> {
        each_leaf!(&self.0,
            leaf => if *parameter < leaf.parameters() {
                Some(leaf.parameter(*parameter))
            } else {
                *parameter -= leaf.parameters();
                None
            },
            Node::Sum(terms) => terms.iter().find_map(|term| {
                if term.learned {
                    if *parameter == 0 {
                        return Some((Role::Pure, term.weight));
                    }
                    *parameter -= 1;
                }
                term.kernel.find(parameter)
            }),
            Node::Product(factors) => factors.iter().find_map(|factor| factor.find(parameter)),
        )
    }

    /// Replaces the value of a parameter, counted as in [`find`](Self::find);
    /// tells whether it was there.
    fn replace(&mut self, parameter: &mut usize, value: T) -> bool {
        each_leaf!(&mut self.0,
            leaf => {
                let found = *parameter < leaf.parameters();
                if found {
                    leaf.set_parameter(*parameter, value);
                } else {
                    *parameter -= leaf.parameters();
                }
                found
            },
            Node::Sum(terms) => terms.iter_mut().any(|term| {
                if term.learned {
                    if *parameter == 0 {
                        term.weight = value;
                        return true;
                    }
                    *parameter -= 1;
                }
                term.kernel.replace(parameter, value)
            }),
            Node::Product(factors) => {
                factors.iter_mut().any(|factor| factor.replace(parameter, value))
            }
        )
    }

    /// The value; the gradient goes to the front of `out`, and with the value
    /// comes how much of it that is.
    fn gradient(&self, a: &[T], b: &[T], out: &mut [T]) -> (T, usize) {
        each_leaf!(&self.0, leaf => (leaf.gradient(a, b, out), leaf.parameters()),
            Node::Sum(terms) => {
                let (mut sum, mut filled) = (T::zero(), 0);
                for term in terms {
                    let begin = filled + usize::from(term.learned);
                    let (value, count) = term.kernel.gradient(a, b, &mut out[begin..]);
                    let value = term.weight * value;
                    scale(&mut out[begin..begin + count], term.weight);
                    if term.learned {
                        out[filled] = value;
                    }
                    sum = sum + value;
                    filled = begin + count;
                }
                (sum, filled)
            }
            Node::Product(factors) => {
                let (mut product, mut filled) = (T::one(), 0);
                for factor in factors {
                    let (done, rest) = out.split_at_mut(filled);
                    let (value, count) = factor.gradient(a, b, rest);
                    scale(done, value);
                    scale(&mut rest[..count], product);
                    product = product * value;
                    filled += count;
                }
                (product, filled)
            }
        )
    }
}

impl<T: Real> AnyKernel<T> {
    /// The same for a row of points. The gradient of each is `count` numbers of
    /// `gradients`, and that of this kernel begins at the number `first` of these.
    fn gradient_row(
        &self,
        a: &[T],
        points: Points<'_, T>,
        values: &mut [T],
        gradients: &mut [T],
        (count, first): (usize, usize),
    ) {
        if self.parameters() == 0 {
            return self.evaluate_row(a, points, values);
        }
        match &self.0 {
            Node::Radial(leaf) if leaf.input.is_none() => {
                let layout = (count, first, leaf.parameters());
                leaf.part.gradient_row(a, points, leaf.learns(), values, gradients, layout);
            }
            Node::Sum(terms) => {
                let mut own = vec![T::zero(); values.len()];
                values.fill(T::zero());
                let mut filled = first;
                for term in terms {
                    let begin = filled + usize::from(term.learned);
                    let end = begin + term.kernel.parameters();
                    term.kernel.gradient_row(a, points, &mut own, gradients, (count, begin));
                    let rows = gradients.chunks_exact_mut(count);
                    for ((gradient, own), value) in rows.zip(&own).zip(&mut *values) {
                        let own = term.weight * *own;
                        scale(&mut gradient[begin..end], term.weight);
                        if term.learned {
                            gradient[filled] = own;
                        }
                        *value = *value + own;
                    }
                    filled = end;
                }
            }
            Node::Product(factors) => {
                let mut own = vec![T::zero(); values.len()];
                values.fill(T::one());
                let mut filled = first;
                for factor in factors {
                    let end = filled + factor.parameters();
                    factor.gradient_row(a, points, &mut own, gradients, (count, filled));
                    let rows = gradients.chunks_exact_mut(count);
                    for ((gradient, &own), value) in rows.zip(&own).zip(&mut *values) {
                        scale(&mut gradient[first..filled], own);
                        scale(&mut gradient[filled..end], *value);
                        *value = *value * own;
                    }
                    filled = end;
                }
            }
            _ => {
                let rows = gradients.chunks_exact_mut(count);
                for ((b, value), gradient) in points.iter().zip(values).zip(rows) {
                    *value = self.gradient(a, b, &mut gradient[first..]).0;
                }
            }
        }
    }
}

fn scale<T: Real>(entries: &mut [T], by: T) {
    for entry in entries {
        *entry = *entry * by;
    }
}

impl<T: Real> Tunable<T> for AnyKernel<T> {
    /// Moves an origin that was not given to the centre of the points, where polynomials are best
    /// conditioned.
    fn standardised(&self, centres: &[T], scales: &[T]) -> Result<Self, Error> {
        let mut kernel = self.clone();
        let back: Vec<T> = scales.iter().map(|scale| scale.recip()).collect();
        let away: Vec<T> = centres.iter().map(|&centre| -centre).collect();
        kernel.move_origins(&away)?;
        kernel.rescale(&back)?;
        Ok(kernel)
    }

    fn parameters(&self) -> usize {
        each_leaf!(&self.0, leaf => leaf.parameters(),
            Node::Sum(terms) => terms
                .iter()
                .map(|term| usize::from(term.learned) + term.kernel.parameters())
                .sum(),
            Node::Product(factors) => factors.iter().map(Tunable::parameters).sum(),
        )
    }

    fn role(&self, parameter: usize) -> Role {
        assert!(parameter < self.parameters());
        self.find(&mut { parameter }).map_or(Role::Pure, |(role, _)| role)
    }

    fn parameter(&self, parameter: usize) -> T {
        assert!(parameter < self.parameters());
        self.find(&mut { parameter }).map_or_else(T::nan, |(_, value)| value)
    }

    fn set_parameter(&mut self, parameter: usize, value: T) {
        assert!(self.replace(&mut { parameter }, value), "no parameter {parameter}");
    }

    /// As of [`Tunable`]; one length for inputs whose scales differ becomes one
    /// for each.
    fn rescale(&mut self, scales: &[T]) -> Result<(), Error> {
        each_leaf!(&mut self.0, leaf => leaf.rescale(scales),
            Node::Sum(terms) => terms.iter_mut().try_for_each(|term| term.kernel.rescale(scales)),
            Node::Product(factors) => {
                factors.iter_mut().try_for_each(|factor| factor.rescale(scales))
            }
        )
    }

    /// As of [`Tunable`]: moves the origins of linear and polynomial kernels.
    fn translate(&mut self, by: &[T]) -> Result<(), Error> {
        each_leaf!(&mut self.0, leaf => leaf.translate(by),
            Node::Sum(terms) => terms.iter_mut().try_for_each(|term| term.kernel.translate(by)),
            Node::Product(factors) => {
                factors.iter_mut().try_for_each(|factor| factor.translate(by))
            }
        )
    }

    #[inline]
    fn evaluate_with_gradient(&self, a: &[T], b: &[T], gradient: &mut [T]) -> T {
        self.gradient(a, b, gradient).0
    }

    fn evaluate_row_with_gradient(
        &self,
        a: &[T],
        points: Points<'_, T>,
        values: &mut [T],
        gradients: &mut [T],
    ) {
        self.gradient_row(a, points, values, gradients, (self.parameters(), 0));
    }
}
