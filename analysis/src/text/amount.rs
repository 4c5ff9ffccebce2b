//! Amounts as people read them.

/// A duration with three significant digits, e.g. `12.9ms`. `space` goes between number and unit.
fn duration_with(nanoseconds: f64, space: &str) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    if nanoseconds == 0.0 {
        return "0".into();
    }
    if nanoseconds >= 999.5e9 {
        let seconds = (nanoseconds / 1e9).round() as u64;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        return match hours {
            0 => format!("{minutes}m{:02}s", seconds % 60),
            _ => format!("{}h{minutes:02}m", grouped(hours.into())),
        };
    }
    let (unit, scale) = UNITS.iter().find(|(_, scale)| nanoseconds < 999.5 * scale).unwrap_or(&UNITS[3]);
    format!("{}{space}{unit}", three_digits(nanoseconds / scale))
}

/// A duration for a table: `12.9ms`.
pub fn duration(nanoseconds: f64) -> String {
    duration_with(nanoseconds, "")
}

/// A duration for a sentence: `12.9 ms`.
pub(crate) fn duration_in_words(nanoseconds: f64) -> String {
    if nanoseconds == 0.0 { "0 µs".into() } else { duration_with(nanoseconds, " ") }
}

/// A number of at most three significant digits, without zeros at the end of a fraction.
fn three_digits(number: f64) -> String {
    let text = match number {
        99.95.. => format!("{number:.0}"),
        9.995.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A whole number with commas between thousands.
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate or another large number in three digits: `3.8k`.
pub fn scaled(number: f64) -> String {
    const SCALES: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let (suffix, scale) = SCALES.iter().find(|(_, scale)| number < 999.5 * scale).unwrap_or(&SCALES[3]);
    format!("{}{suffix}", three_digits(number / scale))
}

/// A part of a whole in percent: `5.05%`.
pub fn share(part: f64) -> String {
    match part * 100.0 {
        percent if percent > 0.0 && percent < 0.005 => "<0.01%".into(),
        percent => format!("{}%", three_digits(percent)),
    }
}

/// A number with what it counts: `1 event`, `2 events`.
pub fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number.into()))
}

/// How often: `once`, `twice`, `3 times`.
pub fn times(number: u64) -> String {
    match number {
        1 => "once".into(),
        2 => "twice".into(),
        _ => format!("{} times", grouped(number.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_a_fitting_unit() {
        for (nanoseconds, text) in [
            (0.0, "0"),
            (1.0, "1ns"),
            (999.0, "999ns"),
            (1_000.0, "1µs"),
            (13_287.4, "13.3µs"),
            (999_499.0, "999µs"),
            (999_999.0, "1ms"),
            (164_374_000.0, "164ms"),
            (15_607_069_279.0, "15.6s"),
            (999.4e9, "999s"),
            (1000e9, "16m40s"),
            (7_384e9, "2h03m"),
        ] {
            assert_eq!(duration(nanoseconds), text);
        }
        assert_eq!(duration_in_words(106e6), "106 ms");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(267_919), "267,919");
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(scaled(3798.0), "3.8k");
        assert_eq!(scaled(999.7), "1k");
        assert_eq!(share(0.0505), "5.05%");
        assert_eq!(share(0.00001), "<0.01%");
        assert_eq!(counted(1, "event"), "1 event");
        assert_eq!(counted(1200, "event"), "1,200 events");
    }
}
