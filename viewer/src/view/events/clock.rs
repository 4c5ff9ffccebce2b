//! Times, written fast: consecutive events mostly share all but the fraction of a second.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const SECOND: i64 = 1_000_000_000;

/// Writes times to the nanosecond.
pub struct Clock {
    zone: TimeZone,
    /// How whole seconds are written, for `strftime`, and what follows the fraction.
    format: &'static str,
    end: &'static [u8],
    /// The last whole second that was written, since 1970.
    second: Option<i64>,
    /// Its text.
    text: String,
}

impl Clock {
    /// Times of day in a time zone.
    pub fn time_of_day(zone: TimeZone) -> Clock {
        Clock { zone, format: "%H:%M:%S", end: b"", second: None, text: String::new() }
    }

    /// Dates and times as in RFC 3339, in UTC.
    pub fn rfc_3339() -> Clock {
        let (zone, format) = (TimeZone::UTC, "%Y-%m-%dT%H:%M:%S");
        Clock { zone, format, end: b"Z", second: None, text: String::new() }
    }

    /// Appends a time.
    pub fn write(&mut self, nanoseconds: i64, out: &mut Vec<u8>) {
        let (second, fraction) = (nanoseconds.div_euclid(SECOND), nanoseconds.rem_euclid(SECOND));
        if self.second != Some(second) {
            // Every 64-bit number of nanoseconds is within the range of jiff.
            let timestamp = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
            self.text = self.zone.to_datetime(timestamp).strftime(self.format).to_string();
            self.second = Some(second);
        }
        out.extend_from_slice(self.text.as_bytes());
        out.push(b'.');
        nine_digits(fraction.unsigned_abs(), out);
        out.extend_from_slice(self.end);
    }
}

/// Appends the time from one event to the next: seconds with nine decimals, negative if the clock ran backwards.
pub fn delta(from: i64, to: i64, out: &mut Vec<u8>) {
    out.push(if to < from { b'-' } else { b'+' });
    let nanoseconds = from.abs_diff(to);
    let (seconds, fraction) = (nanoseconds / SECOND.unsigned_abs(), nanoseconds % SECOND.unsigned_abs());
    super::value::unsigned(seconds, out);
    out.push(b'.');
    nine_digits(fraction, out);
}

/// Appends a number below 10^9 with leading zeros.
fn nine_digits(number: u64, out: &mut Vec<u8>) {
    // A leading 1, which is dropped, keeps the zeros.
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(&buffer.format(number as u32 + SECOND as u32).as_bytes()[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_to_the_nanosecond() {
        let mut clocks = [Clock::time_of_day(TimeZone::UTC), Clock::rfc_3339()];
        for (nanoseconds, day, time) in [
            (0, "1970-01-01", "00:00:00.000000000"),
            (3_723_000_000_001, "1970-01-01", "01:02:03.000000001"),
            (3_723_999_999_999, "1970-01-01", "01:02:03.999999999"),
            (-1, "1969-12-31", "23:59:59.999999999"),
            (i64::MAX, "2262-04-11", "23:47:16.854775807"),
        ] {
            let written = clocks.each_mut().map(|clock| {
                let mut out = Vec::new();
                clock.write(nanoseconds, &mut out);
                String::from_utf8(out).unwrap()
            });
            assert_eq!(written, [time.to_owned(), format!("{day}T{time}Z")]);
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
