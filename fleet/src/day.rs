//! Days, by which tables are divided.

const DAY_NS: i64 = 86_400_000_000_000;

/// The day of a time, in days since 1970.
pub fn date_of(time_ns: i64) -> i64 {
    time_ns.div_euclid(DAY_NS)
}

/// When a day begins, in nanoseconds since 1970.
pub fn begin_of(date: i64) -> i64 {
    date.saturating_mul(DAY_NS)
}

/// The day of now, as engines read it.
pub fn today() -> String {
    written_date(jiff::Timestamp::now().as_second().div_euclid(86_400))
}

/// A day as engines read it.
pub fn written_date(date: i64) -> String {
    let days = jiff::Span::new().try_days(date);
    let date = days.and_then(|days| jiff::civil::date(1970, 1, 1).checked_add(days));
    date.map_or_else(|_| "unknown".to_owned(), |date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight_before_1970_too() {
        assert_eq!((date_of(0), date_of(-1), date_of(DAY_NS - 1), date_of(DAY_NS)), (0, -1, 0, 1));
        assert_eq!((written_date(0), written_date(-1)), ("1970-01-01".into(), "1969-12-31".into()));
        assert_eq!(written_date(20_408), "2025-11-16");
        assert_eq!(written_date(i64::MAX), "unknown");
    }
}
