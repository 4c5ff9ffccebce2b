//! The units of durations in a trace.

use std::time::Duration;

/// The unit of a duration in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Billionths of a second.
    Nanoseconds,
    /// Millionths of a second.
    Microseconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// The whole units in a duration; saturates.
    #[inline]
    pub fn count(self, duration: Duration) -> u64 {
        let (in_a_second, rest) = match self {
            Unit::Nanoseconds => (1_000_000_000, duration.subsec_nanos()),
            Unit::Microseconds => (1_000_000, duration.subsec_micros()),
            Unit::Milliseconds => (1_000, duration.subsec_millis()),
            Unit::Seconds => (1, 0),
        };
        duration.as_secs().saturating_mul(in_a_second).saturating_add(rest.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_units_are_counted() {
        let duration = Duration::new(2, 345_678_901);
        assert_eq!(Unit::Nanoseconds.count(duration), 2_345_678_901);
        assert_eq!(Unit::Microseconds.count(duration), 2_345_678);
        assert_eq!(Unit::Milliseconds.count(duration), 2_345);
        assert_eq!(Unit::Seconds.count(duration), 2);
        assert_eq!(Unit::Nanoseconds.count(Duration::MAX), u64::MAX);
    }
}
