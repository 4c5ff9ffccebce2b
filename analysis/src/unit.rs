//! Units of time, and the parser of durations.

use lttng_catalog::Unit;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeUnit {
    /// `ns`
    Nanoseconds,
    /// `us`
    Microseconds,
    /// `ms`
    Milliseconds,
    /// `s`
    Seconds,
}

impl TimeUnit {
    /// Every unit, the smallest first.
    pub const ALL: [TimeUnit; 4] =
        [TimeUnit::Nanoseconds, TimeUnit::Microseconds, TimeUnit::Milliseconds, TimeUnit::Seconds];

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Microseconds => "us",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Seconds => "s",
        }
    }

    /// Its length in nanoseconds.
    pub fn nanoseconds(self) -> u64 {
        match self {
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Seconds => 1_000_000_000,
        }
    }

    /// How many of it a time has, rounded down. Each division is by a constant, which is fast.
    #[inline]
    pub fn ticks(self, nanoseconds: u64) -> u64 {
        match self {
            TimeUnit::Nanoseconds => nanoseconds,
            TimeUnit::Microseconds => nanoseconds / 1_000,
            TimeUnit::Milliseconds => nanoseconds / 1_000_000,
            TimeUnit::Seconds => nanoseconds / 1_000_000_000,
        }
    }

    /// The unit of a field in a catalog, if it is a unit of time.
    pub fn of(unit: Unit) -> Option<TimeUnit> {
        let nanoseconds = unit.nanoseconds()?;
        TimeUnit::ALL.into_iter().find(|unit| unit.nanoseconds() == nanoseconds)
    }
}

impl std::str::FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "µs" => Ok(TimeUnit::Microseconds),
            _ => TimeUnit::ALL
                .into_iter()
                .find(|unit| unit.name() == text)
                .ok_or_else(|| format!("`{text}` is not a unit of time: use ns, us, ms or s")),
        }
    }
}

/// Parses a duration such as `1.5ms` into nanoseconds; minutes (`m`) and hours (`h`) are allowed too.
pub fn parse_duration(text: &str) -> Option<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let nanoseconds = match unit.trim_start() {
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        unit => unit.parse::<TimeUnit>().ok()?.nanoseconds(),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(nanoseconds as i64)?;
    // Digit by digit, because a float would not give 0.3 s back as exactly 300,000,000 ns.
    let mut place = nanoseconds;
    for digit in fraction.bytes() {
        let digit = (digit as char).to_digit(10)?;
        place /= 10;
        total = total.checked_add(i64::from(digit) * place as i64)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_time_is_read_exactly() {
        for (text, nanoseconds) in [
            ("1ms", 1_000_000),
            ("0.3s", 300_000_000),
            ("1.5us", 1_500),
            ("1.5 µs", 1_500),
            ("250ns", 250),
            ("2m", 120_000_000_000),
            (".5h", 1_800_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Some(nanoseconds), "{text}");
        }
    }

    #[test]
    fn what_is_not_an_amount_of_time_is_refused() {
        for text in ["", "1", "ms", "-1ms", "1.2.3s", "1 parsec", "99999999999999999999s", ".s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
