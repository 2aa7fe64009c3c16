//! Axes: where their ticks are, and what stands at them.
//!
//! Dates and times have ticks at round ones. Numbers whose first digits are all
//! the same, as of a pressure or a count of seconds, are shown less a round
//! number, which is told in the name of the axis.

use crate::number::exact;
use crate::table::TimeScale;
use jiff::civil::{DateTime, Time};
use jiff::{SignedDuration, Span};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// An axis: its name, the ends, and what it counts in if that is a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) range: (f64, f64),
    pub(crate) time: Option<TimeScale>,
}

/// Digits of a number at a tick, at most.
const DIGITS: f64 = 6.0;
/// Ticks of a time axis, at most: their labels are long.
const TIMES: usize = 9;
const DAY: f64 = 86_400.0;

impl Axis {
    /// An axis of numbers.
    pub(crate) fn new(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self { name: name.into(), range: (low, high), time: None }
    }

    /// The round number that is taken off those at the ticks: zero unless they
    /// would have too many digits.
    fn offset(&self) -> f64 {
        let (low, high) = self.range;
        let size = high - low;
        let digits = (low.abs().max(high.abs()) / size).log10() + 2.0;
        if self.time.is_some() || digits < DIGITS || !size.is_normal() {
            return 0.0;
        }
        let unit = 10.0_f64.powf(size.log10().ceil());
        let offset = (low / unit).floor() * unit;
        if offset.is_finite() { offset } else { 0.0 }
    }

    /// The name, with what is not said at the ticks.
    pub(super) fn title(&self) -> String {
        let offset = self.offset();
        if offset != 0.0 {
            let sign = if offset < 0.0 { '+' } else { '-' };
            return format!("{} {sign} {}", self.name, exact(offset.abs()));
        }
        match (self.time, self.times()) {
            (Some(scale), Some((step, ticks))) if step.within_a_day() => {
                let first = ticks.first().and_then(|&x| self.moment(x));
                let first = first.map_or_else(String::new, |moment| moment.date().to_string());
                let zone = if scale == TimeScale::SecondsUtc { ", UTC" } else { "" };
                format!("{} (from {first}{zone})", self.name)
            }
            _ => self.name.clone(),
        }
    }

    /// What stands at a tick.
    pub(super) fn label(&self, x: f64) -> String {
        if let (Some((step, _)), Some(moment)) = (self.times(), self.moment(x)) {
            return step.label(moment);
        }
        let ((low, high), offset) = (self.range, self.offset());
        let x = x - offset;
        let largest = (low - offset).abs().max((high - offset).abs());
        plain(if x.abs() < 1e-9 * (high - low) { 0.0 } else { x }, largest)
    }

    /// The moment that a number on a time axis stands for, to the second.
    #[allow(clippy::cast_possible_truncation)]
    fn moment(&self, x: f64) -> Option<DateTime> {
        let seconds = if self.time? == TimeScale::Days { x * DAY } else { x };
        let since =
            (seconds.abs() < 1e12).then(|| SignedDuration::from_secs(seconds.round() as i64))?;
        DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(since).ok()
    }

    /// The number of a moment.
    fn number(&self, moment: DateTime) -> Option<f64> {
        let seconds =
            moment.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_secs_f64();
        Some(if self.time? == TimeScale::Days { seconds / DAY } else { seconds })
    }

    /// Round moments on a time axis, and how far they are apart; nothing if they
    /// would be less than a second or more than thousands of years apart.
    fn times(&self) -> Option<(Step, Vec<f64>)> {
        let (low, high) = (self.moment(self.range.0)?, self.moment(self.range.1)?);
        let seconds = high.duration_since(low).as_secs_f64();
        let step = Step::ALL.into_iter().find(|step| seconds / step.seconds() <= TIMES as f64)?;
        if seconds < 3.0 {
            return None;
        }
        let mut ticks = Vec::new();
        let mut moment = step.round_down(low)?;
        while moment <= high && ticks.len() <= 2 * TIMES {
            ticks.extend(self.number(moment).filter(|x| (self.range.0..=self.range.1).contains(x)));
            moment = moment.checked_add(step.span()).ok()?;
        }
        Some((step, ticks))
    }

    /// The axis as the library of plots takes it.
    pub(super) fn coordinates(&self) -> Coordinates {
        let ticks = self.times().map(|(_, ticks)| ticks);
        Coordinates { numbers: (self.range.0..self.range.1).into(), ticks }
    }
}

/// Seven digits at most, and no zeros behind the last; `largest` on the axis tells
/// whether with an exponent.
fn plain(x: f64, largest: f64) -> String {
    let text = format!("{x:.6e}");
    let rounded: f64 = text.parse().unwrap_or(x);
    if x == 0.0 || (1e-4..1e7).contains(&largest) {
        return exact(rounded);
    }
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}

/// How far ticks of time are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Seconds(i32),
    Days(i32),
    Months(i32),
    Years(i32),
}

impl Step {
    const ALL: [Self; 34] = {
        use Step::{Days, Months, Seconds, Years};
        [
            Seconds(1),
            Seconds(2),
            Seconds(5),
            Seconds(10),
            Seconds(15),
            Seconds(30),
            Seconds(60),
            Seconds(120),
            Seconds(300),
            Seconds(600),
            Seconds(900),
            Seconds(1800),
            Seconds(3600),
            Seconds(7200),
            Seconds(10_800),
            Seconds(21_600),
            Seconds(43_200),
            Days(1),
            Days(2),
            Days(5),
            Days(10),
            Months(1),
            Months(2),
            Months(3),
            Months(6),
            Years(1),
            Years(2),
            Years(5),
            Years(10),
            Years(20),
            Years(50),
            Years(100),
            Years(200),
            Years(500),
        ]
    };

    fn seconds(self) -> f64 {
        match self {
            Self::Seconds(count) => f64::from(count),
            Self::Days(count) => f64::from(count) * DAY,
            Self::Months(count) => f64::from(count) * 30.4 * DAY,
            Self::Years(count) => f64::from(count) * 365.25 * DAY,
        }
    }

    fn within_a_day(self) -> bool {
        matches!(self, Self::Seconds(_))
    }

    fn span(self) -> Span {
        match self {
            Self::Seconds(count) => Span::new().seconds(count),
            Self::Days(count) => Span::new().days(count),
            Self::Months(count) => Span::new().months(count),
            Self::Years(count) => Span::new().years(count),
        }
    }

    /// The last round moment not after this one.
    fn round_down(self, moment: DateTime) -> Option<DateTime> {
        let date = moment.date();
        let begin = match self {
            Self::Seconds(count) => {
                let midnight = date.to_datetime(Time::midnight());
                let seconds = moment.duration_since(midnight).as_secs();
                let count = i64::from(count);
                return midnight
                    .checked_add(SignedDuration::from_secs(seconds / count * count))
                    .ok();
            }
            Self::Days(_) => date.first_of_month(),
            Self::Months(_) => date.first_of_year(),
            Self::Years(count) => {
                let year = i32::from(date.year()).div_euclid(count) * count;
                jiff::civil::Date::new(i16::try_from(year.max(1)).ok()?, 1, 1).ok()?
            }
        };
        Some(begin.to_datetime(Time::midnight()))
    }

    fn label(self, moment: DateTime) -> String {
        let date = moment.date();
        match self {
            Self::Years(_) => date.year().to_string(),
            Self::Months(_) => format!("{}-{:02}", date.year(), date.month()),
            Self::Days(_) => date.to_string(),
            Self::Seconds(_) if moment.time() == Time::midnight() => {
                format!("{:02}-{:02}", date.month(), date.day())
            }
            Self::Seconds(count) => {
                let time = moment.time();
                let text = format!("{:02}:{:02}", time.hour(), time.minute());
                if count < 60 { format!("{text}:{:02}", time.second()) } else { text }
            }
        }
    }
}

/// A range of numbers with ticks of our own, if there are any.
#[derive(Clone)]
pub(crate) struct Coordinates {
    numbers: RangedCoordf64,
    ticks: Option<Vec<f64>>,
}

impl Ranged for Coordinates {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn range(&self) -> Range<f64> {
        self.numbers.range()
    }

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.numbers.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match &self.ticks {
            Some(ticks) => ticks.clone(),
            None => self.numbers.key_points(hint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, TimeScale};

    fn labels(axis: &Axis) -> Vec<String> {
        let (_, ticks) = axis.times().expect("a time axis");
        ticks.into_iter().map(|x| axis.label(x)).collect()
    }

    fn time(low: f64, high: f64, scale: TimeScale) -> Axis {
        Axis { time: Some(scale), ..Axis::new("t", low, high) }
    }

    #[test]
    fn round_dates() {
        let days = |low, high| time(low, high, TimeScale::Days);
        // From 2024-01-01.
        assert_eq!(
            labels(&days(19_723.0, 19_733.0)),
            ["2024-01-01", "2024-01-03", "2024-01-05", "2024-01-07", "2024-01-09", "2024-01-11"]
        );
        let year = labels(&days(19_722.5, 20_090.0));
        assert_eq!(year[..3], ["2024-01", "2024-03", "2024-05"]);
        let decades = labels(&days(-20_000.0, 20_000.0));
        assert_eq!(decades[..2], ["1920", "1940"]);
        let seconds = time(1_709_200_000.0, 1_709_220_000.0, TimeScale::SecondsUtc);
        assert_eq!(labels(&seconds)[..2], ["10:00", "11:00"]);
        assert_eq!(seconds.title(), "t (from 2024-02-29, UTC)");
        let midnight = time(1_709_200_000.0, 1_709_300_000.0, TimeScale::Seconds);
        assert!(labels(&midnight).contains(&"03-01".to_owned()));
        assert_eq!(days(0.0, 1e6).title(), "t");
    }

    #[test]
    fn any_range_of_times_has_an_axis() {
        for size in [1e-9, 0.5, 3.0, 17.0, 1e3, 1e5, 1e7, 1e9, 1e11, 1e13, 1e300] {
            for low in [0.0, -1e10, 1.7e9, -6e10] {
                let axis = time(low, low + size, TimeScale::Seconds);
                if let Some((_, ticks)) = axis.times() {
                    assert!((1..12).contains(&ticks.len()), "{low} {size}: {ticks:?}");
                    assert!(ticks.iter().all(|x| (low..=low + size).contains(x)));
                }
                assert!(!axis.label(low).is_empty() && !axis.title().is_empty());
            }
        }
    }

    #[test]
    fn numbers_with_the_same_first_digits() {
        let axis = Axis::new("t", 1_706_745_603.0, 1_706_745_687.0);
        assert_eq!(axis.title(), "t - 1706745600");
        assert_eq!(axis.label(1_706_745_660.0), "60");
        let pressure = Axis::new("p", 1001.0, 1013.0);
        assert_eq!((pressure.title().as_str(), pressure.label(1005.0).as_str()), ("p", "1005"));
        for (x, largest, text) in [
            (0.1 + 0.2, 1.0, "0.3"),
            (1_000_150.0, 1.0002e6, "1000150"),
            (1.02e7, 3e7, "1.02e7"),
            (5e6, 3e7, "5e6"),
            (0.0, 1e9, "0"),
            (-2.5e-7, 1e-6, "-2.5e-7"),
            (2024.5, 2030.0, "2024.5"),
        ] {
            assert_eq!(super::plain(x, largest), text);
        }
    }
}
