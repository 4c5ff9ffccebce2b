//! Times of day, written fast: consecutive events mostly share all but the fraction of a second.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const SECOND: i64 = 1_000_000_000;

/// Writes times of day in a time zone.
pub struct TimeOfDay {
    zone: TimeZone,
    /// The last whole second that was written, since 1970, with its text.
    last: Option<(i64, [u8; 8])>,
}

impl TimeOfDay {
    pub fn new(zone: TimeZone) -> TimeOfDay {
        TimeOfDay { zone, last: None }
    }

    /// Appends a time of day, to the nanosecond.
    pub fn time_of_day(&mut self, nanoseconds: i64, out: &mut Vec<u8>) {
        let (second, fraction) = (nanoseconds.div_euclid(SECOND), nanoseconds.rem_euclid(SECOND));
        let text = match self.last {
            Some((last, text)) if last == second => text,
            _ => {
                let text = self.whole_second(nanoseconds);
                self.last = Some((second, text));
                text
            }
        };
        out.extend_from_slice(&text);
        out.push(b'.');
        nine_digits(fraction.unsigned_abs(), out);
    }

    fn whole_second(&self, nanoseconds: i64) -> [u8; 8] {
        // Every 64-bit number of nanoseconds is within the range of jiff.
        let timestamp = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
        let time = self.zone.to_datetime(timestamp).time();
        let digits = |number: i8| [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        let [[a, b], [c, d], [e, f]] = [time.hour(), time.minute(), time.second()].map(digits);
        [a, b, b':', c, d, b':', e, f]
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
        let mut clock = TimeOfDay::new(TimeZone::UTC);
        let mut written = |nanoseconds| {
            let mut out = Vec::new();
            clock.time_of_day(nanoseconds, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(0), "00:00:00.000000000");
        assert_eq!(written(3_723_000_000_001), "01:02:03.000000001");
        assert_eq!(written(3_723_999_999_999), "01:02:03.999999999");
        assert_eq!(written(-1), "23:59:59.999999999");
        assert_eq!(written(i64::MAX), "23:47:16.854775807");
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
