//! Kernels chosen at run time.

mod leaf;
mod parse;
#[cfg(feature = "serde")]
mod serial;
mod text;
mod tune;

pub use parse::ParseKernelError;

use super::compose::{Product, Scaled, Sum};
use super::cosine::Cosine;
use super::dot::Dot;
use super::inner::{Linear, Polynomial};
use super::radial::{Gaussian, Laplacian, Matern12, Matern32, Matern52, RationalQuadratic};
use super::{Kernel, PerInput, Periodic, Shape};
use crate::{Error, Points, Real};
use alloc::{vec, vec::Vec};
use core::ops::{Add, Mul};
use leaf::Leaf;

/// Any of the kernels of this crate, of their sums and their products, chosen by
/// a text at run time.
///
/// ```
/// use kgard::kernel::AnyKernel;
/// use kgard::{Kernel, Tunable};
///
/// let kernel: AnyKernel<f64> = "2 * gaussian(0.3) * linear + periodic(24)".parse()?;
/// assert_eq!(kernel.to_string(), "2 * gaussian(0.3) * linear + periodic(24)");
/// let value = kernel.evaluate(&[1.0], &[1.0]);
/// assert_eq!(value, 3.0);
/// // The lengths of the gaussian and the period are given; the length of the
/// // linear kernel, the weight and the width of the periodic one can be learned.
/// assert_eq!(kernel.parameters(), 3);
///
/// let error = "matern + periodic(1)".parse::<AnyKernel<f64>>().unwrap_err();
/// assert!(error.to_string().starts_with("character 1, \"matern\": there is no such kernel"));
/// # Ok::<(), kgard::kernel::ParseKernelError>(())
/// ```
///
/// # Names
///
/// | name | $\kappa(a, b)$, with $z_i = (a_i - b_i) / \ell_i$, $r^2 = \sum_i z_i^2$ | numbers |
/// | --- | --- | --- |
/// | `gaussian` | $\exp(-r^2)$ | `length` |
/// | `laplacian` | $\exp(-\sum_i \lvert z_i \rvert)$ | `length` |
/// | `matern12`, `matern32`, `matern52` | see [`Shape`] | `length` |
/// | `rational-quadratic` | $(1 + r^2 / (2 \alpha))^{-\alpha}$ | `length`, `alpha` |
/// | `periodic` | $\exp(-2 \sum_i \sin^2(\pi (a_i - b_i) / P_i) / w^2)$ | `period`, `width` |
/// | `cosine` | $\prod_i \cos(2 \pi (a_i - b_i) / P_i)$ | `period` |
/// | `linear` | $\sum_i (a_i - o_i)(b_i - o_i) / \ell_i^2$ | `length`, `origin` |
/// | `polynomial` | $(c + \gamma \sum_i (a_i - o_i)(b_i - o_i) / \ell_i^2)^p$ | `degree` ($p$), `gamma`, `offset` ($c$), `length`, `origin` |
///
/// # Grammar
///
/// ```text
/// sum     = product { "+" product }
/// product = factor { "*" factor }
/// factor  = number | name [ "(" numbers ")" ] [ "[" "x" index "]" ] | "(" sum ")"
/// numbers = [ word "=" ] value { "," [ word "=" ] value }
/// value   = number | "[" number { "," number } "]"
/// ```
///
/// * Numbers without a word are lengths, one for all inputs or one for each:
///   `matern52(0.3)`, `matern52(0.3, 20)`. Of `periodic` and `cosine` they are the
///   periods, which must be given. `linear` and `polynomial` want a word with each:
///   `polynomial(degree=2)`.
/// * `[x2]` behind a name: the kernel depends on the second input only.
/// * A number that is given is fixed. One that is omitted starts at 1 and is learned,
///   as is one with `~` before it: `matern52(~0.3)`. The terms of a sum have
///   weights, `0.5 * linear`; that of the first term is fixed unless it has a `~`,
///   because the scale of a kernel is equivalent to $\lambda$. The degree (3), gamma (1),
///   the offset of a polynomial (1) and the origin (0) are fixed; the offset is learned with
///   a `~`.
///
/// What [`Display`](core::fmt::Display) writes is read back as the same kernel.
///
/// Built from kernels of this crate by `From`, `+` and `*`, everything is
/// learned, as in [`Tunable`](super::Tunable):
///
/// ```
/// use kgard::kernel::AnyKernel;
/// use kgard::{Matern52, Periodic};
/// let kernel = AnyKernel::from(Matern52::new(0.3)) + Periodic::new(24.0).into();
/// assert_eq!(kernel.to_string(), "matern52(~0.3) + periodic(~24)");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AnyKernel<T>(Node<T>);

#[derive(Debug, Clone, PartialEq)]
enum Node<T> {
    Radial(Leaf<PerInput<T, Vec<T>>>),
    Periodic(Leaf<Periodic<T, Vec<T>>>),
    Cosine(Leaf<Cosine<T, Vec<T>>>),
    Dot(Leaf<Dot<T>>),
    /// Never empty. One term alone is a kernel times a number.
    Sum(Vec<Term<T>>),
    /// Never empty.
    Product(Vec<AnyKernel<T>>),
}

/// A term of a sum.
#[derive(Debug, Clone, PartialEq)]
struct Term<T> {
    weight: T,
    learned: bool,
    kernel: AnyKernel<T>,
}

/// A number and whether it is learned.
type Marked<T> = (T, bool);
/// The weight of a product, if it has one, and its factors.
type Factors<T> = (Option<Marked<T>>, Vec<AnyKernel<T>>);

/// Entries of a row that are added or multiplied at a time.
const BLOCK: usize = 64;

/// Evaluates the same expression for each kind of leaf.
macro_rules! each_leaf {
    ($node:expr, $leaf:ident => $do:expr, $($rest:tt)+) => {
        match $node {
            Node::Radial($leaf) => $do,
            Node::Periodic($leaf) => $do,
            Node::Cosine($leaf) => $do,
            Node::Dot($leaf) => $do,
            $($rest)+
        }
    };
}
use each_leaf;

impl<T: Real> AnyKernel<T> {
    /// This kernel as a kernel of differences, if it depends on all inputs and is neither a sum nor
    /// a product.
    pub fn as_radial(&self) -> Option<&PerInput<T, Vec<T>>> {
        match &self.0 {
            Node::Radial(leaf) if leaf.input.is_none() => Some(&leaf.part),
            _ => None,
        }
    }

    /// This kernel as a polynomial of the inner product $a^T b$, if it depends on all inputs with
    /// origin 0 and length 1; [`Linear`] has degree 1.
    pub fn as_polynomial(&self) -> Option<Polynomial<T>> {
        match &self.0 {
            Node::Dot(leaf) if leaf.input.is_none() => leaf.part.as_polynomial(),
            _ => None,
        }
    }

    /// The weighted terms of the sum.
    fn into_terms(self) -> Vec<Term<T>> {
        match self.0 {
            Node::Sum(terms) => terms,
            node => vec![Term { weight: T::one(), learned: false, kernel: Self(node) }],
        }
    }

    /// The kernel as one weighted term; an omitted weight is learned.
    fn into_term(self) -> Term<T> {
        match self.0 {
            Node::Sum(mut terms) if terms.len() == 1 => terms.remove(0),
            node => Term { weight: T::one(), learned: true, kernel: Self(node) },
        }
    }

    /// The factors, and the weight, if there is one, with whether it is learned.
    fn into_factors(self) -> Factors<T> {
        match self.0 {
            Node::Product(factors) => (None, factors),
            Node::Sum(mut terms) if terms.len() == 1 => {
                let Term { weight, learned, kernel } = terms.remove(0);
                let (within, factors) = kernel.into_factors();
                (times(Some((weight, learned)), within), factors)
            }
            node => (None, vec![Self(node)]),
        }
    }

    /// The product of a non-empty list of `factors` and a weight.
    fn product(weight: Option<Marked<T>>, mut factors: Vec<Self>) -> Self {
        let kernel =
            if factors.len() == 1 { factors.remove(0) } else { Self(Node::Product(factors)) };
        match weight {
            None => kernel,
            Some((weight, learned)) => Self(Node::Sum(vec![Term { weight, learned, kernel }])),
        }
    }

    /// Writes `term` of a row for each term and gathers them by `with`.
    fn gather<'a, I: Iterator<Item = (T, &'a Self)> + Clone>(
        terms: &I,
        a: &[T],
        points: Points<'_, T>,
        out: &mut [T],
        with: fn(T, T) -> T,
    ) {
        let mut block = [T::zero(); BLOCK];
        let dim = points.dim();
        for (out, points) in out.chunks_mut(BLOCK).zip(points.coordinates().chunks(BLOCK * dim)) {
            let points = Points::of_dim(points, dim);
            for (term, (weight, kernel)) in terms.clone().enumerate() {
                if term == 0 {
                    kernel.evaluate_row(a, points, out);
                    for out in &mut *out {
                        *out = weight * *out;
                    }
                } else {
                    let block = &mut block[..out.len()];
                    kernel.evaluate_row(a, points, block);
                    for (out, &value) in out.iter_mut().zip(&*block) {
                        *out = with(*out, weight * value);
                    }
                }
            }
        }
    }
}

impl<T: Real> Kernel<T> for AnyKernel<T> {
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        each_leaf!(&self.0, leaf => leaf.evaluate(a, b),
            Node::Sum(terms) => terms
                .iter()
                .fold(T::zero(), |sum, term| sum + term.weight * term.kernel.evaluate(a, b)),
            Node::Product(factors) => factors
                .iter()
                .fold(T::one(), |product, factor| product * factor.evaluate(a, b)),
        )
    }

    fn evaluate_row(&self, a: &[T], points: Points<'_, T>, out: &mut [T]) {
        each_leaf!(&self.0, leaf => leaf.evaluate_row(a, points, out),
            Node::Sum(terms) => {
                let terms = terms.iter().map(|term| (term.weight, &term.kernel));
                Self::gather(&terms, a, points, out, |sum, value| sum + value);
            }
            Node::Product(factors) => {
                let factors = factors.iter().map(|factor| (T::one(), factor));
                Self::gather(&factors, a, points, out, |product, value| product * value);
            }
        );
    }

    fn check(&self) -> Result<(), Error> {
        each_leaf!(&self.0, leaf => leaf.part.check(),
            Node::Sum(terms) => terms.iter().try_for_each(|term| {
                Error::check_positive("weight of a kernel", term.weight)?;
                term.kernel.check()
            }),
            Node::Product(factors) => factors.iter().try_for_each(Kernel::check),
        )
    }

    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        each_leaf!(&self.0, leaf => leaf.check_dim(dim),
            Node::Sum(terms) => terms.iter().try_for_each(|term| term.kernel.check_dim(dim)),
            Node::Product(factors) => factors.iter().try_for_each(|factor| factor.check_dim(dim)),
        )
    }
}

/// Kernels of a distance with one length.
macro_rules! from_radial {
    ($($kernel:ident.$length:ident)+) => {$(
        impl<T: Real> From<$kernel<T>> for AnyKernel<T> {
            fn from(kernel: $kernel<T>) -> Self {
                PerInput::new(Shape::$kernel, [kernel.$length]).into()
            }
        }
    )+};
}

from_radial! { Gaussian.sigma Laplacian.sigma Matern12.length Matern32.length Matern52.length }

impl<T: Real> From<RationalQuadratic<T>> for AnyKernel<T> {
    fn from(kernel: RationalQuadratic<T>) -> Self {
        let shape = Shape::RationalQuadratic { alpha: kernel.alpha };
        PerInput::new(shape, [kernel.length]).into()
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> From<PerInput<T, L>> for AnyKernel<T> {
    fn from(kernel: PerInput<T, L>) -> Self {
        Self(Node::Radial(Leaf::learned(PerInput::new(kernel.shape(), kernel.lengths().to_vec()))))
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> From<Periodic<T, L>> for AnyKernel<T> {
    fn from(kernel: Periodic<T, L>) -> Self {
        let periodic = Periodic::per_input(kernel.periods().to_vec()).with_width(kernel.width());
        Self(Node::Periodic(Leaf::learned(periodic)))
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> From<Cosine<T, L>> for AnyKernel<T> {
    fn from(kernel: Cosine<T, L>) -> Self {
        Self(Node::Cosine(Leaf::learned(Cosine::per_input(kernel.periods().to_vec()))))
    }
}

impl<T: Real> From<Linear> for AnyKernel<T> {
    fn from(_: Linear) -> Self {
        Self(Node::Dot(Leaf::learned(Dot::linear())))
    }
}

impl<T: Real> From<Polynomial<T>> for AnyKernel<T> {
    fn from(kernel: Polynomial<T>) -> Self {
        Self(Node::Dot(Leaf::learned(Dot::new(kernel))))
    }
}

impl<T: Real, A: Into<Self>, B: Into<Self>> From<Sum<A, B>> for AnyKernel<T> {
    fn from(Sum(a, b): Sum<A, B>) -> Self {
        a.into() + b.into()
    }
}

impl<T: Real, A: Into<Self>, B: Into<Self>> From<Product<A, B>> for AnyKernel<T> {
    fn from(Product(a, b): Product<A, B>) -> Self {
        a.into() * b.into()
    }
}

impl<T: Real, K: Into<Self>> From<Scaled<K, T>> for AnyKernel<T> {
    fn from(Scaled { kernel, by }: Scaled<K, T>) -> Self {
        kernel.into() * by
    }
}

/// The sum of two kernels; the weight of the second is learned, unless it is a
/// kernel times a number.
impl<T: Real> Add for AnyKernel<T> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let mut terms = self.into_terms();
        terms.push(other.into_term());
        Self(Node::Sum(terms))
    }
}

impl<T: Real> Mul for AnyKernel<T> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let ((a, mut factors), (b, others)) = (self.into_factors(), other.into_factors());
        factors.extend(others);
        Self::product(times(a, b), factors)
    }
}

/// The kernel times a positive number, which is kept.
impl<T: Real> Mul<T> for AnyKernel<T> {
    type Output = Self;

    fn mul(self, by: T) -> Self {
        let (weight, factors) = self.into_factors();
        Self::product(times(weight, Some((by, false))), factors)
    }
}

/// The product of two weights: one that is learned makes it learned.
fn times<T: Real>(a: Option<Marked<T>>, b: Option<Marked<T>>) -> Option<Marked<T>> {
    match (a, b) {
        (Some((a, learned)), Some((b, also))) => Some((a * b, learned || also)),
        _ => a.or(b),
    }
}
