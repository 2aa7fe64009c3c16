//! Parsing of kernels.

use super::leaf::Leaf;
use super::text::Name;
use super::{AnyKernel, Factors, Marked, Node, Term, times};
use crate::Real;
use crate::kernel::dot::Dot;
use crate::kernel::{Cosine, PerInput, Periodic, Polynomial, Shape};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::{vec, vec::Vec};
use core::fmt;
use core::str::FromStr;

/// Largest depth of nested parentheses.
const DEEPEST: usize = 32;
/// Largest length of a text in bytes; a kernel of a dozen inputs takes a tenth of that.
const LONGEST: usize = 1 << 16;
/// Largest degree of a polynomial: beyond it an `f64` overflows.
const HIGHEST_DEGREE: u32 = 1000;

/// Why a text is no kernel, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseKernelError {
    /// Characters before the place.
    at: usize,
    /// The token there; empty at the end of the text.
    found: String,
    why: String,
}

impl ParseKernelError {
    /// Number of characters before the error.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }
}

impl fmt::Display for ParseKernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.found.is_empty() {
            write!(f, "at the end: {}", self.why)
        } else {
            write!(f, "character {}, {:?}: {}", self.at + 1, self.found, self.why)
        }
    }
}

impl core::error::Error for ParseKernelError {}

/// What is wrong with the token at this place.
struct Wrong {
    /// Bytes before it.
    at: usize,
    why: String,
}

type Parsed<T> = Result<T, Wrong>;

impl<T: Real> FromStr for AnyKernel<T> {
    type Err = ParseKernelError;

    fn from_str(text: &str) -> Result<Self, ParseKernelError> {
        parse(text).map_err(|Wrong { at, why }| ParseKernelError {
            at: text[..at].chars().count(),
            found: token(&text[at..]).to_string(),
            why,
        })
    }
}

fn parse<T: Real>(text: &str) -> Parsed<AnyKernel<T>> {
    if text.len() > LONGEST {
        return Err(Wrong { at: 0, why: format!("a kernel has {LONGEST} bytes at most") });
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let kernel = parser.sum()?;
    match parser.peek() {
        "" => Ok(kernel),
        ")" => Err(parser.wrong("there is no opening parenthesis to this one")),
        _ => Err(parser.wrong("`+` or `*` is missing before it")),
    }
}

/// The token that a text begins with: a word, a number, or one character.
fn token(text: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let end = match text.chars().next() {
        None => 0,
        Some(c) if c.is_alphabetic() => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        Some(c) if c.is_ascii_digit() || matches!(c, '.' | '-') => number(text),
        Some(c) => c.len_utf8(),
    };
    &text[..end]
}

/// The length of a number, or of a minus alone, that a text begins with.
fn number(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = &text[from..];
        from + rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len())
    };
    let signed = |from: usize| from + usize::from(text[from..].starts_with(['+', '-']));
    let end = digits(signed(0));
    if end == signed(0) || !text[end..].starts_with(['e', 'E']) {
        return end;
    }
    let exponent = signed(end + 1);
    if digits(exponent) > exponent { digits(exponent) } else { end }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// The numbers in the parentheses behind a name.
struct Numbers<T> {
    lengths: Option<(Vec<T>, bool)>,
    /// Alpha, width or offset.
    number: Option<Marked<T>>,
    degree: Option<u32>,
    gamma: Option<T>,
    origin: Option<Vec<T>>,
}

impl<'a> Parser<'a> {
    /// The next token, without consuming it.
    fn peek(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        token(rest)
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.at += token.len();
        token
    }

    /// Consumes `token` if it is the next one.
    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.take(token) { Ok(()) } else { Err(self.wrong(&format!("`{token}` is missing"))) }
    }

    /// An error at the next token.
    fn wrong(&mut self, why: &str) -> Wrong {
        self.peek();
        Wrong { at: self.at, why: why.to_string() }
    }

    /// `product { "+" product }`
    fn sum<T: Real>(&mut self) -> Parsed<AnyKernel<T>> {
        let (weight, factors) = self.product()?;
        let first = AnyKernel::product(weight, factors);
        if self.peek() != "+" {
            return Ok(first);
        }
        // A sum in parentheses stays one term.
        let term = |weight: Option<Marked<T>>, factors, learned| {
            let (weight, learned) = weight.unwrap_or((T::one(), learned));
            Term { weight, learned, kernel: AnyKernel::product(None, factors) }
        };
        let (weight, factors) = first.into_factors();
        let mut terms = vec![term(weight, factors, false)];
        while self.take("+") {
            let (weight, factors) = self.product()?;
            terms.push(term(weight, factors, true));
        }
        Ok(AnyKernel(Node::Sum(terms)))
    }

    /// `factor { "*" factor }`
    fn product<T: Real>(&mut self) -> Parsed<Factors<T>> {
        let (mut weight, mut factors) = (None, Vec::new());
        loop {
            let begin = (self.peek(), self.at).1;
            let first = self.peek().as_bytes().first();
            if matches!(first, Some(b'~' | b'0'..=b'9' | b'.' | b'-')) {
                weight = times(weight, Some(self.number("a weight")?));
            } else {
                let (within, more) = self.factor::<T>()?.into_factors();
                weight = times(weight, within);
                factors.extend(more);
            }
            if weight.is_some_and(|(weight, _)| !is_positive(weight)) {
                return Err(Wrong {
                    at: begin,
                    why: "the product of the numbers is too large or too small".into(),
                });
            }
            if !self.take("*") {
                break;
            }
        }
        if factors.is_empty() {
            return Err(self.wrong("a number alone is no kernel: multiply one by it"));
        }
        Ok((weight, factors))
    }

    /// A name with what belongs to it, or a sum in parentheses.
    fn factor<T: Real>(&mut self) -> Parsed<AnyKernel<T>> {
        if self.peek() == "(" {
            if self.depth == DEEPEST {
                return Err(self.wrong(&format!("at most {DEEPEST} parentheses can be open")));
            }
            self.next();
            self.depth += 1;
            let sum = self.sum()?;
            self.depth -= 1;
            self.expect(")")?;
            return Ok(sum);
        }
        let token = self.peek();
        let Some(&(name, _)) = Name::ALL.iter().find(|(_, text)| *text == token) else {
            let names = Name::ALL.map(|(_, text)| text).join(", ");
            return Err(self.wrong(&if token.starts_with(char::is_alphabetic) {
                format!("there is no such kernel: the kernels are {names}")
            } else {
                format!("a kernel is missing here: the kernels are {names}")
            }));
        };
        let begin = self.at;
        self.next();
        let numbers = self.numbers(name)?;
        let input_at = (self.peek(), self.at).1;
        let input = self.input()?;
        let many = |values: &Option<Vec<T>>| values.as_ref().is_some_and(|v| v.len() > 1);
        if input.is_some()
            && (numbers.lengths.as_ref().is_some_and(|(l, _)| l.len() > 1) || many(&numbers.origin))
        {
            let why = "one input has one length, and one origin";
            return Err(Wrong { at: input_at, why: why.into() });
        }
        if matches!(name, Name::Periodic | Name::Cosine) && numbers.lengths.is_none() {
            let why = format!("it needs its period, in the unit of the input: {name}(24)");
            return Err(Wrong { at: begin, why });
        }
        Ok(AnyKernel(node(name, numbers, input)))
    }

    /// `[x2]`
    fn input(&mut self) -> Parsed<Option<usize>> {
        if !self.take("[") {
            return Ok(None);
        }
        let index = self.peek().strip_prefix('x').and_then(|index| index.parse::<usize>().ok());
        let Some(index @ 1..) = index else {
            return Err(self.wrong("an input is meant, x1 or x2 and so on"));
        };
        self.next();
        self.expect("]")?;
        Ok(Some(index - 1))
    }

    /// The arguments in parentheses behind a name, if there are any.
    fn numbers<T: Real>(&mut self, name: Name) -> Parsed<Numbers<T>> {
        let mut numbers =
            Numbers { lengths: None, number: None, degree: None, gamma: None, origin: None };
        if !self.take("(") {
            return Ok(numbers);
        }
        let (words, unnamed): (&[&str], bool) = match name {
            Name::RationalQuadratic => (&["length", "alpha"], true),
            Name::Periodic => (&["period", "width"], true),
            Name::Cosine => (&["period"], true),
            Name::Linear => (&["length", "origin"], false),
            Name::Polynomial => (&["degree", "gamma", "offset", "length", "origin"], false),
            _ => (&["length"], true),
        };
        loop {
            let token = self.peek();
            let begin = self.at;
            let word = words.iter().find(|word| **word == token).copied();
            match word {
                Some(_) => {
                    self.next();
                    self.expect("=")?;
                }
                None if unnamed && !token.starts_with(char::is_alphabetic) => {}
                None => {
                    let words = words.join("=, ");
                    return Err(self.wrong(&format!("{name} has {words}=")));
                }
            }
            let twice = match word.unwrap_or("length") {
                "degree" => numbers.degree.replace(self.degree()?).is_some(),
                "gamma" => numbers.gamma.replace(self.positive("gamma")?).is_some(),
                "origin" => numbers.origin.replace(self.origin()?).is_some(),
                "alpha" | "width" => numbers.number.replace(self.number("it")?).is_some(),
                "offset" => numbers.number.replace(self.offset()?).is_some(),
                // Lengths without a word follow one another.
                _ => {
                    let (more, learned) = self.lengths()?;
                    let plain = word.is_none() && more.len() == 1;
                    match &mut numbers.lengths {
                        Some((lengths, also)) if plain && *also == learned => {
                            lengths.extend(more);
                            false
                        }
                        Some(_) if plain => {
                            let why = "all lengths of a kernel are learned, or none: \
                                       write ~ before all of them, or before none";
                            return Err(Wrong { at: begin, why: why.into() });
                        }
                        lengths => lengths.replace((more, learned)).is_some(),
                    }
                }
            };
            if twice {
                return Err(Wrong { at: begin, why: "it has been given already".into() });
            }
            if self.take(")") {
                return Ok(numbers);
            }
            if !self.take(",") {
                return Err(self.wrong("`,` or `)` is missing before it"));
            }
        }
    }

    /// One number or several in brackets, positive.
    fn lengths<T: Real>(&mut self) -> Parsed<(Vec<T>, bool)> {
        let learned = self.take("~");
        let lengths = self.list(|parser| parser.positive("a length"))?;
        Ok((lengths, learned))
    }

    fn origin<T: Real>(&mut self) -> Parsed<Vec<T>> {
        self.list(|parser| {
            parser.checked("an origin is a number", |x: T| x.is_finite(), "it must be finite")
        })
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        if !self.take("[") {
            return Ok(vec![one(self)?]);
        }
        let mut values = vec![one(self)?];
        while self.take(",") {
            values.push(one(self)?);
        }
        self.expect("]")?;
        Ok(values)
    }

    fn degree(&mut self) -> Parsed<u32> {
        match self.peek().parse() {
            Ok(degree @ 0..=HIGHEST_DEGREE) => {
                self.next();
                Ok(degree)
            }
            _ => Err(self.wrong(&format!("a degree is a whole number of 0 to {HIGHEST_DEGREE}"))),
        }
    }

    /// A number that may be zero, unless it is learned.
    fn offset<T: Real>(&mut self) -> Parsed<Marked<T>> {
        if self.peek() == "~" {
            return self.number("an offset that is learned");
        }
        let is_offset = |x: T| x >= T::zero() && x.is_finite();
        Ok((self.checked("an offset is a number", is_offset, "it must be zero or more")?, false))
    }

    /// A positive number and whether it is learned.
    fn number<T: Real>(&mut self, what: &str) -> Parsed<Marked<T>> {
        let learned = self.take("~");
        Ok((self.positive(what)?, learned))
    }

    fn positive<T: Real>(&mut self, what: &str) -> Parsed<T> {
        self.checked(
            &format!("{what} is a number"),
            is_positive,
            &format!("{what} must be positive and finite"),
        )
    }

    fn checked<T: Real>(
        &mut self,
        is_number: &str,
        check: impl Fn(T) -> bool,
        problem: &str,
    ) -> Parsed<T> {
        match T::from_str_radix(self.peek(), 10) {
            Ok(x) if check(x) => {
                self.next();
                Ok(x)
            }
            Ok(_) => Err(self.wrong(problem)),
            Err(_) => Err(self.wrong(is_number)),
        }
    }
}

fn is_positive<T: Real>(x: T) -> bool {
    x > T::zero() && x.is_finite()
}

/// The kernel of this name; an omitted number is 1 and learned.
fn node<T: Real>(name: Name, numbers: Numbers<T>, input: Option<usize>) -> Node<T> {
    let (lengths, lengths_learned) = numbers.lengths.unwrap_or((vec![T::one()], true));
    let (number, learned) = numbers.number.unwrap_or((T::one(), true));
    let flags = [lengths_learned, learned];
    let shape = match name {
        Name::Gaussian => Shape::Gaussian,
        Name::Laplacian => Shape::Laplacian,
        Name::Matern12 => Shape::Matern12,
        Name::Matern32 => Shape::Matern32,
        Name::Matern52 => Shape::Matern52,
        Name::RationalQuadratic => Shape::RationalQuadratic { alpha: number },
        Name::Periodic => {
            let periodic = Periodic::per_input(lengths).with_width(number);
            return Node::Periodic(Leaf::new(periodic, input, flags));
        }
        Name::Cosine => {
            return Node::Cosine(Leaf::new(Cosine::per_input(lengths), input, flags));
        }
        Name::Linear | Name::Polynomial => {
            let dot = match name {
                Name::Linear => Dot::linear(),
                _ => Dot::new(Polynomial::new(
                    numbers.gamma.unwrap_or_else(T::one),
                    number,
                    numbers.degree.unwrap_or(3),
                )),
            };
            let dot = dot.at(lengths, numbers.origin.unwrap_or_default());
            let flags = [lengths_learned, learned && numbers.number.is_some()];
            return Node::Dot(Leaf::new(dot, input, flags));
        }
    };
    Node::Radial(Leaf::new(PerInput::new(shape, lengths), input, flags))
}
