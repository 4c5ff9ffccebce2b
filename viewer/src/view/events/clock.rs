//! Times, written fast: consecutive events mostly share all but the fraction of a second.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::literal::Literal;
use super::value::{nine_digits, unsigned};

const SECOND: i64 = 1_000_000_000;

/// Writes times to the nanosecond.
pub struct Clock {
    zone: TimeZone,
    /// How whole seconds are written, for `strftime`.
    format: &'static str,
    /// When the last whole second began that was written, in nanoseconds since 1970.
    second: Option<i64>,
    /// Its text.
    text: Literal,
}

impl Clock {
    /// Times of day in a time zone, after a bracket.
    pub fn in_brackets(zone: TimeZone) -> Clock {
        Clock { zone, format: "[%H:%M:%S.", second: None, text: Literal::default() }
    }

    /// Dates and times as in RFC 3339, in UTC, without the letter at their end.
    pub fn rfc_3339() -> Clock {
        Clock { format: "%Y-%m-%dT%H:%M:%S.", ..Clock::in_brackets(TimeZone::UTC) }
    }

    /// Appends a time.
    #[inline(always)]
    pub fn write(&mut self, nanoseconds: i64, out: &mut Vec<u8>) {
        let fraction = self.write_seconds(nanoseconds, out);
        out.extend_from_slice(&nine_digits(fraction));
    }

    /// Appends a time up to its point, and returns the nanoseconds that are to follow.
    #[inline(always)]
    pub fn write_seconds(&mut self, nanoseconds: i64, out: &mut Vec<u8>) -> u64 {
        let fraction = match self.second.and_then(|second| nanoseconds.checked_sub(second)) {
            Some(fraction @ 0..SECOND) => fraction,
            _ => self.begin_second(nanoseconds),
        };
        self.text.write(out);
        fraction.unsigned_abs()
    }

    /// Begins the second that a time is in, and returns the fraction of it.
    #[cold]
    fn begin_second(&mut self, nanoseconds: i64) -> i64 {
        let fraction = nanoseconds.rem_euclid(SECOND);
        // Every 64-bit number of nanoseconds is within the range of jiff.
        let timestamp = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
        self.text = Literal::new(self.zone.to_datetime(timestamp).strftime(self.format).to_string());
        self.second = nanoseconds.checked_sub(fraction);
        fraction
    }
}

/// Appends the time from one event to the next: seconds with nine decimals, negative if the clock ran backwards.
#[inline(always)]
pub fn delta(from: i64, to: i64, out: &mut Vec<u8>) {
    out.push(if to < from { b'-' } else { b'+' });
    let nanoseconds = from.abs_diff(to);
    // Most are so short that there is nothing to divide.
    let second = SECOND.unsigned_abs();
    let (seconds, fraction) =
        if nanoseconds < second { (0, nanoseconds) } else { (nanoseconds / second, nanoseconds % second) };
    unsigned(seconds, out);
    out.push(b'.');
    out.extend_from_slice(&nine_digits(fraction));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_to_the_nanosecond() {
        let mut clocks = [Clock::in_brackets(TimeZone::UTC), Clock::rfc_3339()];
        for (nanoseconds, day, time) in [
            (0, "1970-01-01", "00:00:00.000000000"),
            (3_723_000_000_001, "1970-01-01", "01:02:03.000000001"),
            (3_723_999_999_999, "1970-01-01", "01:02:03.999999999"),
            (-1, "1969-12-31", "23:59:59.999999999"),
            (i64::MAX, "2262-04-11", "23:47:16.854775807"),
            (i64::MIN, "1677-09-21", "00:12:43.145224192"),
        ] {
            let written = clocks.each_mut().map(|clock| {
                let mut out = Vec::new();
                clock.write(nanoseconds, &mut out);
                String::from_utf8(out).unwrap()
            });
            assert_eq!(written, [format!("[{time}"), format!("{day}T{time}")]);
        }
    }

    #[test]
    fn deltas_have_a_sign() {
        let written = |from, to| {
            let mut out = Vec::new();
            delta(from, to, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(1, 4_222), "+0.000004221");
        assert_eq!(written(2_000_000_001, 1), "-2.000000000");
        assert_eq!(written(i64::MIN, i64::MAX), "+18446744073.709551615");
    }
}
