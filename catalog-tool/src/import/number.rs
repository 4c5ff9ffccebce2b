//! Numbers as C writes them, and constants.

use std::collections::HashMap;

use super::lex::{Kind, Token};

/// The constants of C's `enum { … }` in a file.
#[derive(Default)]
pub struct Constants<'t>(HashMap<&'t str, i128>);

impl<'t> Constants<'t> {
    /// Finds all constants, and skips what has no value here.
    pub fn find(tokens: &[Token<'t>]) -> Constants<'t> {
        let mut constants = Constants::default();
        for (index, _) in tokens.iter().enumerate().filter(|(_, token)| token.is("enum")) {
            let rest = &tokens[index + 1..];
            let rest =
                if rest.first().is_some_and(|next| next.kind == Kind::Word) { &rest[1..] } else { rest };
            let [open, rest @ ..] = rest else { continue };
            let Some(end) = rest.iter().position(|token| token.is("}")).filter(|_| open.is("{")) else {
                continue;
            };
            let mut next = Some(0);
            for each in rest[..end].split(|token| token.is(",")) {
                let value = match each {
                    [_, equals, value @ ..] if equals.is("=") => constants.number(value),
                    _ => next,
                };
                if let Some((name, value)) = each.first().zip(value) {
                    constants.0.insert(name.text, value);
                }
                next = value.map(|value| value + 1);
            }
        }
        constants
    }

    /// A number or a constant, perhaps in parentheses, with a sign, or as one operation on two of them.
    pub fn number(&self, tokens: &[Token<'_>]) -> Option<i128> {
        match tokens {
            [first, rest @ .., last] if first.is("(") && last.is(")") && is_closed(rest) => self.number(rest),
            [sign, token] if sign.is("-") => self.number(&[*token]).map(|number| -number),
            [sign, token] if sign.is("+") => self.number(&[*token]),
            [token] if token.kind == Kind::Word => self.0.get(token.text).copied(),
            [token] => read_number(token.text),
            [left, one, two, right @ ..] if one.is("<") && two.is("<") => {
                let bits = u32::try_from(self.number(right)?).ok().filter(|bits| *bits < 64)?;
                Some(self.number(&[*left])? << bits)
            }
            [left, sign, right @ ..] if !right.is_empty() => {
                let (left, right) = (self.number(&[*left])?, self.number(right)?);
                match sign.text {
                    "+" => Some(left + right),
                    "-" => Some(left - right),
                    "|" => Some(left | right),
                    "*" => left.checked_mul(right),
                    _ => None,
                }
            }
            [sign, rest @ ..] if sign.is("-") && !rest.is_empty() => self.number(rest).map(|number| -number),
            _ => None,
        }
    }
}

/// Whether no parenthesis closes one from before these tokens.
fn is_closed(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0_i64;
    tokens.iter().all(|token| {
        depth += i64::from(token.is("(")) - i64::from(token.is(")"));
        depth >= 0
    })
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
