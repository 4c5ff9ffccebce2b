//! `--since` and `--until`: a moment, absolute or relative to the trace.

use std::ops::RangeInclusive;
use std::str::FromStr;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::unit::parse_duration;

/// A moment as the user gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nanoseconds since 1970.
    Absolute(i64),
    /// A date and time in the user's own time zone.
    Local(DateTime),
    /// A time of day, on the day the trace begins or on the next if the trace is then still going on.
    TimeOfDay(Time),
    /// Nanoseconds after the trace's first event.
    AfterStart(i64),
    /// Nanoseconds before the trace's last event.
    BeforeEnd(i64),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let relative = |rest| parse_duration(rest);
        let moment = if let Some(rest) = text.strip_prefix('+') {
            relative(rest).map(Moment::AfterStart)
        } else if let Some(rest) = text.strip_prefix('-') {
            relative(rest).map(Moment::BeforeEnd)
        } else if let Ok(nanoseconds) = text.parse() {
            Some(Moment::Absolute(nanoseconds))
        } else if let Ok(timestamp) = text.parse::<Timestamp>() {
            i64::try_from(timestamp.as_nanosecond()).ok().map(Moment::Absolute)
        } else if let Ok(time) = text.parse::<Time>() {
            Some(Moment::TimeOfDay(time))
        } else {
            text.parse().ok().map(Moment::Local)
        };
        moment.ok_or_else(|| {
            format!(
                "`{text}` is not a time: write 2026-01-31T23:59:59Z, 23:59:59.5, nanoseconds since 1970, \
                 +2s (after the trace's start) or -500ms (before its end)"
            )
        })
    }
}

impl Moment {
    /// Whether the moment is relative to the trace's span.
    pub fn needs_span(self) -> bool {
        matches!(self, Moment::TimeOfDay(_) | Moment::AfterStart(_) | Moment::BeforeEnd(_))
    }

    /// The moment in nanoseconds since 1970, for a trace of this span.
    pub fn resolve(self, span: &RangeInclusive<i64>, zone: &TimeZone) -> i64 {
        match self {
            Moment::Absolute(nanoseconds) => nanoseconds,
            Moment::Local(datetime) => nanoseconds(datetime, zone),
            Moment::TimeOfDay(time) => {
                let day = Timestamp::from_nanosecond((*span.start()).into())
                    .map(|start| zone.to_datetime(start).date())
                    .unwrap_or_default();
                let same_day = nanoseconds(day.to_datetime(time), zone);
                let next_day = day
                    .checked_add(1.day())
                    .map_or(same_day, |next| nanoseconds(next.to_datetime(time), zone));
                let is_next = same_day < *span.start() && next_day <= *span.end();
                if is_next { next_day } else { same_day }
            }
            Moment::AfterStart(nanoseconds) => span.start().saturating_add(nanoseconds),
            Moment::BeforeEnd(nanoseconds) => span.end().saturating_sub(nanoseconds),
        }
    }
}

/// Times outside the range of a trace's clock become its nearest end.
fn nanoseconds(datetime: DateTime, zone: &TimeZone) -> i64 {
    let end = if datetime.year() < 1970 { i64::MIN } else { i64::MAX };
    let timestamp = zone.to_ambiguous_zoned(datetime).compatible().map(|zoned| zoned.timestamp());
    timestamp.map_or(end, |timestamp| i64::try_from(timestamp.as_nanosecond()).unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    fn resolved(text: &str, span: RangeInclusive<i64>) -> i64 {
        text.parse::<Moment>().unwrap().resolve(&span, &TimeZone::UTC)
    }

    #[test]
    fn absolute_times_need_no_trace() {
        assert_eq!(resolved("1970-01-01T01:00:00Z", 0..=1), HOUR);
        assert_eq!(resolved("1970-01-01T01:00:00+01:00", 0..=1), 0);
        assert_eq!(resolved("1970-01-01T01:00:00", 0..=1), HOUR);
        assert_eq!(resolved("1970-01-01 00:00:00.000000001", 0..=1), 1);
        assert_eq!(resolved("1700000000000000001", 0..=1), 1_700_000_000_000_000_001);
    }

    #[test]
    fn relative_times_count_from_the_start_and_from_the_end() {
        assert_eq!(resolved("+2s", 100..=200), 2_000_000_100);
        assert_eq!(resolved("-150ns", 100..=200), 50);
    }

    #[test]
    fn a_time_of_day_is_on_the_day_of_the_trace() {
        let span = 22 * HOUR..=26 * HOUR;
        assert_eq!(resolved("23:00:00", span.clone()), 23 * HOUR);
        assert_eq!(resolved("01:00", span.clone()), 25 * HOUR, "after midnight");
        assert_eq!(resolved("21:00", span), 21 * HOUR, "before the trace");
    }

    #[test]
    fn what_is_not_a_time_is_refused_with_examples() {
        for text in ["", "yesterday", "+2", "--1s", "25:00", "+2 parsecs"] {
            assert!(text.parse::<Moment>().unwrap_err().contains("+2s"), "{text}");
        }
    }
}
