//! Stopping rules in files.

use super::{Reading, Rule, Stop, StopRule};
use crate::serial::{read_by_shadow, unlimited};
use crate::{Error, Real};
use serde::{Deserialize, Serialize, Serializer};

/// A rule as files have it. Threshold and cap may be absent, which is no limit,
/// and what the histogram rule remembers of one fit is not written.
#[derive(Serialize, Deserialize)]
#[serde(
    rename = "Stop",
    bound(serialize = "T: Real + Serialize", deserialize = "T: Real + Deserialize<'de>")
)]
struct Shadow<T> {
    rule: RuleShadow<T>,
    at_most: Option<usize>,
    studentized: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(
    rename = "Rule",
    rename_all = "snake_case",
    bound(serialize = "T: Real + Serialize", deserialize = "T: Real + Deserialize<'de>")
)]
enum RuleShadow<T> {
    ResidualNorm(#[serde(with = "unlimited")] T),
    MaxResidual(#[serde(with = "unlimited")] T),
    Histogram {
        #[serde(with = "unlimited")]
        e0: T,
        reading: Reading,
    },
    Automatic,
    Never,
}

impl<T: Real> From<Stop<T>> for Shadow<T> {
    fn from(stop: Stop<T>) -> Self {
        let rule = match stop.rule {
            Rule::ResidualNorm(epsilon) => RuleShadow::ResidualNorm(epsilon),
            Rule::MaxResidual(epsilon) => RuleShadow::MaxResidual(epsilon),
            Rule::Histogram { floor: e0, reading, .. } => RuleShadow::Histogram { e0, reading },
            Rule::Automatic => RuleShadow::Automatic,
            Rule::Never => RuleShadow::Never,
        };
        let at_most = (stop.cap != usize::MAX).then_some(stop.cap);
        Self { rule, at_most, studentized: stop.studentized }
    }
}

impl<T: Real> TryFrom<Shadow<T>> for Stop<T> {
    type Error = Error;

    fn try_from(read: Shadow<T>) -> Result<Self, Error> {
        let rule = match read.rule {
            RuleShadow::ResidualNorm(epsilon) => Rule::ResidualNorm(epsilon),
            RuleShadow::MaxResidual(epsilon) => Rule::MaxResidual(epsilon),
            RuleShadow::Histogram { e0, reading } => {
                Rule::Histogram { floor: e0, reading, kept: None }
            }
            RuleShadow::Automatic => Rule::Automatic,
            RuleShadow::Never => Rule::Never,
        };
        let cap = read.at_most.unwrap_or(usize::MAX);
        let stop = Self { rule, cap, studentized: read.studentized };
        stop.validate()?;
        Ok(stop)
    }
}

impl<T: Real + Serialize> Serialize for Stop<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shadow::from(*self).serialize(serializer)
    }
}

read_by_shadow!(Shadow<T> => Stop<T>, T: Real);
