//! Numbers as clients write them.

/// A decimal integer in its one canonical spelling: no sign but `-`, no leading zeros, no blanks.
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let canonical = match digits {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if canonical { std::str::from_utf8(text).ok()?.parse().ok() } else { None }
}

/// A float; `inf` and `-inf` are numbers, `nan` is not.
pub fn parse_float(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

/// The shortest spelling that reads back as the same number.
pub fn format_float(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf".into() } else { "-inf".into() };
    }
    number.to_string()
}

/// A size in bytes with an optional unit, as in `maxmemory 64mb`.
pub fn parse_memory(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "b" => 1,
        "k" => 1000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_integers_are_integers() {
        assert_eq!(parse_integer(b"-12"), Some(-12));
        assert_eq!(parse_integer(b"0"), Some(0));
        for refused in [&b""[..], b"-", b"-0", b"007", b"+1", b" 1", b"1 ", b"1.0", b"9223372036854775808"] {
            assert_eq!(parse_integer(refused), None, "{}", refused.escape_ascii());
        }
    }

    #[test]
    fn memory_sizes_take_units_and_refuse_overflow() {
        assert_eq!(parse_memory("64MB"), Some(64 << 20));
        assert_eq!(parse_memory("1k"), Some(1000));
        assert_eq!(parse_memory("99999999999gb"), None);
        assert_eq!(parse_memory("5 apples"), None);
    }
}
