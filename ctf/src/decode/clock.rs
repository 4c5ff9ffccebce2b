//! Counts to times.

use std::sync::Arc;

use crate::metadata::Clock;

/// Moves a clock on to the next count with these low bits.
///
/// Event headers have only the low bits of a count, so few that they overflow after a while; the tracer
/// writes all bits when more than one overflow may have passed.
#[inline]
pub fn advance(clock: u64, low: u64, bits: u32) -> u64 {
    clock.wrapping_add(low.wrapping_sub(clock) & (u64::MAX >> (64 - bits)))
}

/// In nanoseconds.
const SECOND: i128 = 1_000_000_000;

/// Turns a clock's counts into nanoseconds since 1970.
#[derive(Clone, Debug)]
pub enum Timebase {
    /// The clock counts nanoseconds, as LTTng's does: the time of count 0.
    Nanoseconds(i64),
    /// The clock counts anything else.
    Clock(Arc<Clock>),
}

impl Timebase {
    /// The times of a clock; without a clock, counts are taken for times.
    pub fn new(clock: Option<&Arc<Clock>>) -> Timebase {
        let Some(clock) = clock else { return Timebase::Nanoseconds(0) };
        let origin = i128::from(clock.offset_seconds) * SECOND + i128::from(clock.offset);
        match i64::try_from(origin) {
            Ok(origin) if clock.frequency == 1_000_000_000 => Timebase::Nanoseconds(origin),
            _ => Timebase::Clock(clock.clone()),
        }
    }

    /// The time of a count, saturated.
    #[inline]
    pub fn time(&self, count: u64) -> i64 {
        match self {
            Timebase::Nanoseconds(origin) => origin.saturating_add_unsigned(count),
            Timebase::Clock(clock) => {
                let counts = i128::from(clock.offset) + i128::from(count);
                let time = i128::from(clock.offset_seconds) * SECOND
                    + (counts * SECOND).div_euclid(i128::from(clock.frequency));
                time.clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_that_went_back_have_overflowed_once() {
        assert_eq!(advance(0x1_0000_0005, 7, 32), 0x1_0000_0007);
        assert_eq!(advance(0x1_0000_0005, 5, 32), 0x1_0000_0005);
        assert_eq!(advance(0x1_0000_0005, 4, 32), 0x2_0000_0004);
        assert_eq!(advance(0x1_0000_0005, 4, 64), 4);
        assert_eq!(advance(u64::MAX, 0, 1), 0);
    }

    #[test]
    fn counts_become_nanoseconds_since_1970() {
        let clock = |frequency, offset_seconds, offset| {
            Timebase::new(Some(&Arc::new(Clock {
                name: String::new(),
                frequency,
                offset_seconds,
                offset,
                uuid: None,
            })))
        };
        assert_eq!(clock(1_000_000_000, 3, 5).time(2), 3_000_000_007);
        assert_eq!(clock(1_000, 3, 5).time(2), 3_007_000_000);
        assert_eq!(clock(3, 0, -1).time(0), -333_333_334);
        assert_eq!(clock(1, i64::MAX, 0).time(0), i64::MAX);
        assert_eq!(clock(1_000_000_000, 0, 0).time(u64::MAX), i64::MAX);
        assert_eq!(Timebase::new(None).time(9), 9);
    }
}
