//! Numbers as clients write them.

/// A decimal integer in its canonical spelling: no sign but `-`, no leading zeros, no blanks.
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let number: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

/// A number of seconds; not infinite and not NaN.
pub fn parse_float(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
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
}
