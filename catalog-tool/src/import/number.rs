//! Numbers as C writes them.

use super::lex::{Kind, Token};

/// A number, perhaps in parentheses or with a sign.
pub fn number(tokens: &[Token<'_>]) -> Option<i128> {
    match tokens {
        [first, rest @ .., last] if first.is("(") && last.is(")") => number(rest),
        [sign, rest @ ..] if sign.is("-") && !rest.is_empty() => number(rest).map(|number| -number),
        [sign, rest @ ..] if sign.is("+") && !rest.is_empty() => number(rest),
        [token] if token.kind != Kind::Word => read_number(token.text),
        _ => None,
    }
}

fn read_number(text: &str) -> Option<i128> {
    if let Some(letter) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let mut bytes = letter.bytes();
        return match (bytes.next(), bytes.next()) {
            (Some(byte), None) if byte.is_ascii() && byte != b'\\' => Some(byte.into()),
            _ => None,
        };
    }
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
        None => (&lower[..], 10),
    };
    let digits = digits.trim_end_matches(['u', 'l']);
    let digits = if digits.is_empty() && radix == 8 { "0" } else { digits };
    u64::from_str_radix(digits, radix).ok().map(i128::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        let cases = [
            ("0", Some(0)),
            ("10", Some(10)),
            ("010", Some(8)),
            ("0xFFul", Some(255)),
            ("0ULL", Some(0)),
            ("'A'", Some(65)),
            ("18446744073709551615", Some(u64::MAX.into())),
            ("18446744073709551616", None),
            ("x", None),
            ("", None),
        ];
        for (text, number) in cases {
            assert_eq!(read_number(text), number, "{text}");
        }
    }
}
