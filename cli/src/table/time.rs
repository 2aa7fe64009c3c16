//! Dates and times as numbers.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

const DAY: f64 = 86_400.0;

/// What a column of dates or times counts in: the unit of lengths along this
/// input, kept in the model. The epoch is 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum TimeScale {
    /// Dates.
    Days,
    /// Dates with times of the day, which say nothing of a zone.
    Seconds,
    /// Times with an offset from UTC, or a Z.
    SecondsUtc,
}

impl TimeScale {
    const TEXTS: [(Self, &'static str); 3] = [
        (Self::Days, "days since 1970-01-01"),
        (Self::Seconds, "seconds since 1970-01-01T00:00:00"),
        (Self::SecondsUtc, "seconds since 1970-01-01T00:00:00Z"),
    ];

    /// The number that stands for a moment; nothing if it has a zone and the scale
    /// has not, or the other way round.
    pub(super) fn number(self, moment: Moment) -> Option<f64> {
        match (self, moment.kind) {
            (Self::Days, Kind::Day | Kind::Local) => Some(moment.seconds / DAY),
            (Self::Seconds, Kind::Day | Kind::Local)
            | (Self::SecondsUtc, Kind::Day | Kind::Utc) => Some(moment.seconds),
            _ => None,
        }
    }

    /// A number as the date or the time that it stands for, to the second where
    /// it is one.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn show(self, x: f64) -> String {
        let seconds = if self == Self::Days { x * DAY } else { x };
        // To milliseconds: more are not there at the size of today's seconds.
        let moment = (seconds.abs() < 1e12)
            .then(|| SignedDuration::from_millis((seconds * 1e3).round() as i64))
            .and_then(|since| DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(since).ok());
        let Some(moment) = moment else {
            return format!("{x} {}", if self == Self::Days { "days" } else { "seconds" });
        };
        if self == Self::Days && moment == moment.date().to_datetime(jiff::civil::Time::midnight())
        {
            return moment.date().to_string();
        }
        format!("{moment}{}", if self == Self::SecondsUtc { "Z" } else { "" })
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = Self::TEXTS.iter().filter(|(scale, _)| scale == self);
        texts.into_iter().try_for_each(|(_, text)| f.write_str(text))
    }
}

impl From<TimeScale> for String {
    fn from(scale: TimeScale) -> Self {
        scale.to_string()
    }
}

impl TryFrom<String> for TimeScale {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let known = Self::TEXTS.iter().find(|(_, known)| *known == text);
        known.map(|&(scale, _)| scale).ok_or_else(|| format!("times in {text:?} are not known"))
    }
}

/// What a date or a time says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A day, or a month: its first.
    Day,
    /// A time of the day, nobody knows where.
    Local,
    /// A time with an offset.
    Utc,
}

/// A date or a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    /// Since 1970-01-01T00:00:00.
    pub(super) seconds: f64,
    pub(super) kind: Kind,
}

impl Moment {
    /// A date or a time in the form of ISO 8601: 2024-01-31, 2024-01,
    /// 2024-01-31T12:30, 2024-01-31 12:30:00.5, 2024-01-31T12:30:00+01:00.
    pub(super) fn parse(cell: &str) -> Option<Self> {
        let bytes = cell.as_bytes();
        let (year, rest) = bytes.split_at_checked(4)?;
        if !year.iter().all(u8::is_ascii_digit) || rest.first() != Some(&b'-') {
            return None;
        }
        let of_date = |date: Date| Self {
            seconds: seconds(date.to_datetime(jiff::civil::Time::midnight())),
            kind: Kind::Day,
        };
        match bytes.len() {
            7 => format!("{cell}-01").parse().ok().map(of_date),
            0..=10 => cell.parse().ok().map(of_date),
            _ => {
                // The offset is behind the time: dates have a minus of their own.
                if cell.ends_with(['Z', 'z']) || cell.get(11..)?.contains(['+', '-']) {
                    let moment: Timestamp = cell.parse().ok()?;
                    let seconds = moment.as_duration().as_secs_f64();
                    return Some(Self { seconds, kind: Kind::Utc });
                }
                let moment: DateTime = cell.parse().ok()?;
                Some(Self { seconds: seconds(moment), kind: Kind::Local })
            }
        }
    }
}

/// Since 1970-01-01T00:00:00 on the same clock.
fn seconds(moment: DateTime) -> f64 {
    let moment = TimeZone::UTC.to_timestamp(moment);
    moment.map_or(f64::NAN, |moment| moment.as_duration().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::{Kind, Moment, TimeScale};

    #[test]
    fn moments() {
        for (cell, seconds, kind) in [
            ("1970-01-01", 0.0, Kind::Day),
            ("2024-02", 1_706_745_600.0, Kind::Day),
            ("2024-02-29", 1_709_164_800.0, Kind::Day),
            ("0001-01-01", -62_135_596_800.0, Kind::Day),
            ("2024-02-29T12:30", 1_709_209_800.0, Kind::Local),
            ("2024-02-29 12:30:00.25", 1_709_209_800.25, Kind::Local),
            ("2024-02-29T12:30:00Z", 1_709_209_800.0, Kind::Utc),
            ("2024-02-29T12:30:00+01:00", 1_709_206_200.0, Kind::Utc),
            ("2024-02-29 12:30:00-05:30", 1_709_229_600.0, Kind::Utc),
        ] {
            assert_eq!(Moment::parse(cell), Some(Moment { seconds, kind }), "{cell}");
        }
        for cell in [
            "",
            "2024",
            "12:30",
            "2024-13",
            "2024-02-30",
            "2023-02-29",
            "2024-1-1",
            "31/01/2024",
            "2024-02-29T25:00",
            "2024-02-29Tnoon",
            "2024-02-29x",
            "2024-02-29T12:30:00 CET",
            "2024-é1-01",
            "2024-01-0é1T1",
        ] {
            assert_eq!(Moment::parse(cell), None, "{cell}");
        }
    }

    #[test]
    fn shown() {
        for (scale, cells) in [
            (TimeScale::Days, ["2024-02-29", "1900-12-31", "2024-02-29T12:00:00"]),
            (
                TimeScale::Seconds,
                ["2024-02-29T12:30:01", "1969-12-31T23:59:59.5", "1970-01-01T00:00:00"],
            ),
            (
                TimeScale::SecondsUtc,
                ["2024-02-29T12:30:01Z", "1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z"],
            ),
        ] {
            for cell in cells {
                let number = scale.number(Moment::parse(cell).expect("a time")).expect("a number");
                assert_eq!(scale.show(number), cell);
            }
            assert_eq!(TimeScale::try_from(String::from(scale)), Ok(scale));
        }
        assert_eq!(TimeScale::Seconds.show(1e300), format!("{} seconds", 1e300));
        assert!(TimeScale::try_from("weeks".to_owned()).is_err());
    }
}
