//! Formatting of kernels as text.

use super::leaf::Leaf;
use super::{AnyKernel, Node, Term};
use crate::Real;
use crate::kernel::dot::Dot;
use crate::kernel::{Cosine, PerInput, Periodic, Shape};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};

/// The names of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Gaussian,
    Laplacian,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    Periodic,
    Cosine,
    Linear,
    Polynomial,
}

impl Name {
    pub(super) const ALL: [(Self, &'static str); 10] = [
        (Self::Gaussian, "gaussian"),
        (Self::Laplacian, "laplacian"),
        (Self::Matern12, "matern12"),
        (Self::Matern32, "matern32"),
        (Self::Matern52, "matern52"),
        (Self::RationalQuadratic, "rational-quadratic"),
        (Self::Periodic, "periodic"),
        (Self::Cosine, "cosine"),
        (Self::Linear, "linear"),
        (Self::Polynomial, "polynomial"),
    ];

    fn of<T: Real>(shape: Shape<T>) -> Self {
        match shape {
            Shape::Gaussian => Self::Gaussian,
            Shape::Laplacian => Self::Laplacian,
            Shape::Matern12 => Self::Matern12,
            Shape::Matern32 => Self::Matern32,
            Shape::Matern52 => Self::Matern52,
            Shape::RationalQuadratic { .. } => Self::RationalQuadratic,
        }
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Self::ALL
            .iter()
            .filter(|(name, _)| name == self)
            .try_for_each(|(_, text)| f.write_str(text))
    }
}

/// The shortest text that reads back as the same number (for `f32` and `f64`).
fn number<T: Real>(value: T) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), String::from)
}

/// A number with `~` if it is learned.
fn marked<T: Real>(value: T, learned: bool) -> String {
    format!("{}{}", if learned { "~" } else { "" }, number(value))
}

/// `0.3` or `[0.3, 20]`.
fn list<T: Real>(values: &[T], learned: bool) -> String {
    match values {
        &[value] => marked(value, learned),
        values => {
            let numbers: Vec<String> = values.iter().map(|&value| number(value)).collect();
            format!("{}[{}]", if learned { "~" } else { "" }, numbers.join(", "))
        }
    }
}

/// Whether a learned number has its default value and can be omitted.
fn is_open<T: Real>(values: &[T], learned: bool) -> bool {
    learned && values == [T::one()]
}

/// The numbers in parentheses, and the index of the input.
fn write<K>(f: &mut Formatter<'_>, name: Name, leaf: &Leaf<K>, numbers: &[String]) -> fmt::Result {
    write!(f, "{name}")?;
    if !numbers.is_empty() {
        write!(f, "({})", numbers.join(", "))?;
    }
    leaf.input.map_or(Ok(()), |input| write!(f, "[x{}]", input + 1))
}

impl<T: Real> Display for Leaf<PerInput<T, Vec<T>>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ([lengths_learned, learned], lengths) = (self.learned, self.part.lengths());
        let mut numbers = Vec::new();
        if !is_open(lengths, lengths_learned) {
            numbers.extend(lengths.iter().map(|&length| marked(length, lengths_learned)));
        }
        if let Shape::RationalQuadratic { alpha } = self.part.shape()
            && !is_open(&[alpha], learned)
        {
            numbers.push(format!("alpha={}", marked(alpha, learned)));
        }
        write(f, Name::of(self.part.shape()), self, &numbers)
    }
}

impl<T: Real> Display for Leaf<Periodic<T, Vec<T>>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [periods_learned, learned] = self.learned;
        let periods = self.part.periods();
        let mut numbers: Vec<String> =
            periods.iter().map(|&period| marked(period, periods_learned)).collect();
        let width = self.part.width();
        if !is_open(&[width], learned) {
            numbers.push(format!("width={}", marked(width, learned)));
        }
        write(f, Name::Periodic, self, &numbers)
    }
}

impl<T: Real> Display for Leaf<Cosine<T, Vec<T>>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let periods = self.part.periods().iter();
        let numbers: Vec<String> = periods.map(|&period| marked(period, self.learned[0])).collect();
        write(f, Name::Cosine, self, &numbers)
    }
}

impl<T: Real> Display for Leaf<Dot<T>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Dot { lengths, origin, gamma, offset, degree } = &self.part;
        let [lengths_learned, learned] = self.learned;
        let mut numbers = Vec::new();
        let name = if self.part.is_linear() { Name::Linear } else { Name::Polynomial };
        if name == Name::Polynomial {
            numbers.push(format!("degree={degree}"));
            if *gamma != T::one() {
                numbers.push(format!("gamma={}", number(*gamma)));
            }
            if learned || *offset != T::one() {
                numbers.push(format!("offset={}", marked(*offset, learned)));
            }
        }
        if !is_open(lengths.values(), lengths_learned) {
            numbers.push(format!("length={}", list(lengths.values(), lengths_learned)));
        }
        if !origin.is_empty() {
            numbers.push(format!("origin={}", list(origin, false)));
        }
        write(f, name, self, &numbers)
    }
}

impl<T: Real> Display for AnyKernel<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Node::Radial(leaf) => leaf.fmt(f),
            Node::Periodic(leaf) => leaf.fmt(f),
            Node::Cosine(leaf) => leaf.fmt(f),
            Node::Dot(leaf) => leaf.fmt(f),
            Node::Sum(terms) => {
                for (i, Term { weight, learned, kernel }) in terms.iter().enumerate() {
                    if i > 0 {
                        f.write_str(" + ")?;
                    }
                    // The first term's weight is kept, the others' are learned,
                    // where nothing is said.
                    let usual = *weight == T::one() && *learned == (i > 0);
                    if !usual || terms.len() == 1 {
                        write!(f, "{} * ", marked(*weight, *learned))?;
                    }
                    kernel.fmt_factor(f)?;
                }
                Ok(())
            }
            Node::Product(factors) => {
                for (i, factor) in factors.iter().enumerate() {
                    if i > 0 {
                        f.write_str(" * ")?;
                    }
                    factor.fmt_factor(f)?;
                }
                Ok(())
            }
        }
    }
}

impl<T: Real> AnyKernel<T> {
    /// With parentheses where it is a sum.
    fn fmt_factor(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if matches!(self.0, Node::Sum(_)) { write!(f, "({self})") } else { self.fmt(f) }
    }
}
