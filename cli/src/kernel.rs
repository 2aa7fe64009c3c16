//! The kernel that the command line or a model file names.

use crate::error::{Error, Result};
use crate::number::{not_negative, positive};
use clap::Args;
use kgard::kernel::{AnyKernel, Role};
use kgard::{Kernel, Real, Shape, Tunable};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kernel with all its numbers known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub(crate) struct Choice(AnyKernel<f64>);

impl Choice {
    /// This kernel, with its numbers as they are.
    pub(crate) fn new(kernel: AnyKernel<f64>) -> Self {
        Self(kernel.with_all_kept())
    }

    /// The kernel in any scalar type.
    pub(crate) fn kernel<T: Real>(&self) -> Result<AnyKernel<T>> {
        let kernel: AnyKernel<T> =
            self.0.to_string().parse().map_err(|why| Error::failed(format!("{self}: {why}")))?;
        kernel.check()?;
        Ok(kernel)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether this is a kernel of the distance whose one length is still to be
/// chosen.
fn has_open_length(kernel: &AnyKernel<f64>) -> bool {
    kernel.as_radial().is_some() && kernel.parameters() > 0 && kernel.role(0) == Role::SharedLength
}

/// Refuses a sum or a product whose numbers are not all given, where there are no
/// data to take them from.
fn check_complete(kernel: &AnyKernel<f64>) -> Result<()> {
    if kernel.parameters() == 0 || !kernel.to_string().contains(['+', '*']) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "--kernel \"{kernel}\": not all of its numbers are given: write them down, for example \
         \"gaussian(0.3) + 1 * periodic(24, width=1)\""
    )))
}

/// What the name `polynomial` alone stands for.
const POLYNOMIAL: &str = "polynomial(degree=3)";

/// Numbers that stand beside a kernel's name, not in parentheses behind it: each
/// an option of the command line and a key of model files and JSON.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Args)]
struct Numbers {
    /// The length of a kernel of the distance [default of fit: from the data]
    #[arg(long, value_name = "S", value_parser = positive, allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Of the rational-quadratic kernel [default: 1 with --sigma, else from the data]
    #[arg(long, value_name = "A", value_parser = positive, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    /// Of the polynomial kernel (gamma a.b + offset)^degree [default: 3]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    degree: Option<u32>,
    /// Of the polynomial kernel [default: 1]
    #[arg(long, value_name = "G", value_parser = positive, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    /// Of the polynomial kernel [default: 1]
    #[arg(long, value_name = "C", value_parser = not_negative, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<f64>,
}

impl Numbers {
    /// These numbers, and those that belong to them, as `--help` says.
    fn with_defaults(&self) -> Self {
        let mut numbers = self.clone();
        if self.degree.is_some() || self.gamma.is_some() || self.offset.is_some() {
            numbers.degree.get_or_insert(3);
            numbers.gamma.get_or_insert(1.0);
            numbers.offset.get_or_insert(1.0);
        }
        numbers
    }

    /// The kernel of a text with these numbers, which only a name alone can have;
    /// `mark` stands before the number's name in messages.
    fn put_into(
        &self,
        kernel: &AnyKernel<f64>,
        mark: &str,
    ) -> std::result::Result<AnyKernel<f64>, String> {
        let text = kernel.to_string();
        let is_distance = has_open_length(kernel) && !text.contains('(');
        let is_polynomial = text == POLYNOMIAL;
        let name = if is_polynomial { "polynomial" } else { &text };
        let number = |x: Option<f64>, word: &str| x.map(|x| format!("{word}={x:?}"));
        let mut numbers = Vec::new();
        for (number, word, allowed) in [
            (number(self.sigma, "length"), "sigma", is_distance),
            (number(self.alpha, "alpha"), "alpha", name == "rational-quadratic"),
            (self.degree.map(|degree| format!("degree={degree}")), "degree", is_polynomial),
            (number(self.gamma, "gamma"), "gamma", is_polynomial),
            (number(self.offset, "offset"), "offset", is_polynomial),
        ] {
            if number.is_some() && !allowed {
                return Err(format!(
                    "the {text} kernel has no {mark}{word}: drop it, or write all numbers into the \
                     kernel, such as \"matern52(0.3) + 0.5 * periodic(24, width=1)\""
                ));
            }
            numbers.extend(number);
        }
        if numbers.is_empty() {
            return Ok(kernel.clone());
        }
        if is_polynomial {
            // Gamma stands in its place.
            numbers.push("length=1".into());
        }
        let text = format!("{name}({})", numbers.join(", "));
        text.parse().map_err(|why| format!("{text}: {why}"))
    }

    /// The name alone of a kernel that has one, and its numbers.
    fn taken_out_of(kernel: &AnyKernel<f64>) -> Option<(String, Self)> {
        let text = kernel.to_string();
        let name = text.split('(').next()?.to_owned();
        if let Some(radial) = kernel.as_radial()
            && let &[length] = radial.lengths()
        {
            let alpha = match radial.shape() {
                Shape::RationalQuadratic { alpha } => Some(alpha),
                _ => None,
            };
            return Some((name, Self { sigma: Some(length), alpha, ..Self::default() }));
        }
        let polynomial = kernel.as_polynomial()?;
        if name == "linear" {
            return Some((name, Self::default()));
        }
        let (degree, gamma) = (Some(polynomial.degree()), Some(polynomial.gamma()));
        Some((name, Self { degree, gamma, offset: Some(polynomial.offset()), ..Self::default() }))
    }
}

/// A kernel as it stands in a model file and in JSON: a name with its numbers
/// beside it if they have names there, else the whole text.
#[derive(Serialize, Deserialize)]
struct Written {
    kernel: String,
    #[serde(flatten)]
    numbers: Numbers,
}

impl From<Choice> for Written {
    fn from(Choice(kernel): Choice) -> Self {
        let (kernel, numbers) = Numbers::taken_out_of(&kernel)
            .unwrap_or_else(|| (kernel.to_string(), Numbers::default()));
        Self { kernel, numbers }
    }
}

impl TryFrom<Written> for Choice {
    type Error = String;

    fn try_from(Written { kernel: text, numbers }: Written) -> std::result::Result<Self, String> {
        for (what, number) in [("sigma", numbers.sigma), ("alpha", numbers.alpha)] {
            if let Some(why) = number.and_then(|number| positive(&format!("{number:?}")).err()) {
                return Err(format!("{what} is {}: {why}", number.unwrap_or_default()));
            }
        }
        let read = text.parse().map_err(|why| format!("its kernel {text:?}: {why}"))?;
        let kernel = numbers.put_into(&read, "")?;
        let missing = match text.as_str() {
            "linear" => false,
            "polynomial" => numbers.degree.is_none(),
            _ if has_open_length(&kernel) => {
                return Err(format!("the {text} kernel needs a sigma: fit it anew"));
            }
            _ => kernel.parameters() > 0,
        };
        if missing {
            return Err(format!("its kernel {text:?} lacks numbers: fit it anew"));
        }
        Ok(Self::new(kernel))
    }
}

/// What `--kernel` takes, for `--help`.
const KERNEL_HELP: &str = "\
The kernel: a name, or names with `+`, `*`, numbers and parentheses, such as
\"matern52 + 0.2 * periodic(24, width=1)\"

  gaussian            exp(-|a-b|^2 / length^2)
  laplacian           exp(-|a-b|_1 / length)
  matern12            continuous
  matern32            once differentiable
  matern52            twice differentiable
  rational-quadratic  (1 + |a-b|^2 / (2 alpha length^2))^-alpha
  periodic            the same after each period
  cosine              waves of one period: cos(2 pi (a-b) / period)
  linear              a.b / length^2
  polynomial          (gamma a.b / length^2 + offset)^degree

Numbers in parentheses are lengths in the unit of the input, one for all inputs
or one for each: matern52(0.3, 20). Others have a word: periodic(24, width=0.5),
polynomial(degree=2). [x2] behind a name: of the second input only. What is given
is kept; what is not, or has a ~ before it, is taken from the data.";

/// The kernel and its parameters.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArgs {
    /// The kernel: a name such as gaussian or matern52, or a formula such as
    /// "matern52 + periodic(24)" [default: gaussian; where fit tunes it, gaussian,
    /// matern52, or with one input gaussian * cosine, whichever suits the data]
    #[arg(long, value_name = "KERNEL", long_help = KERNEL_HELP)]
    kernel: Option<AnyKernel<f64>>,
    #[command(flatten)]
    numbers: Numbers,
}

impl KernelArgs {
    /// The kernel, with the numbers that have options of their own.
    pub(crate) fn parsed(&self) -> Result<AnyKernel<f64>> {
        let kernel = match &self.kernel {
            Some(kernel) => kernel.clone(),
            None => "gaussian".parse().map_err(|why| Error::usage(format!("gaussian: {why}")))?,
        };
        let mut numbers = self.numbers.with_defaults();
        if numbers.sigma.is_some() && kernel.to_string() == "rational-quadratic" {
            numbers.alpha.get_or_insert(1.0);
        }
        numbers.put_into(&kernel, "--").map_err(Error::usage)
    }

    /// Whether nothing was said of the kernel.
    pub(crate) fn is_open(&self) -> bool {
        self.kernel.is_none() && self.numbers.sigma.is_none()
    }

    /// Whether numbers of this kernel are to be taken from the data. A name alone
    /// stands for the usual numbers, except for a length.
    pub(crate) fn wants_data(&self, parsed: &AnyKernel<f64>) -> bool {
        let is_formula = |kernel: &AnyKernel<f64>| {
            let text = kernel.to_string();
            text != POLYNOMIAL && text.contains(['(', '+', '*'])
        };
        let is_name = !self.kernel.as_ref().is_some_and(is_formula) && !has_open_length(parsed);
        self.is_open() || parsed.parameters() > 0 && !is_name
    }

    /// The kernel, with a length that must have been given if it has one.
    pub(crate) fn given(&self) -> Result<Choice> {
        let kernel = self.parsed()?;
        if has_open_length(&kernel) {
            return Err(Error::usage(
                "--sigma is not given, and a grid without data has nothing to tune it by: give \
                 the length of the kernel, for example --sigma 0.3",
            ));
        }
        check_complete(&kernel)?;
        Ok(Choice::new(kernel))
    }
}
