//! What `#define` gives names to: numbers and other names.

use std::collections::HashMap;

use super::lex::{Kind, Token, lex};

/// The object-like macros of a file.
#[derive(Default)]
pub struct Constants {
    values: HashMap<String, String>,
}

impl Constants {
    pub fn new(directives: &[String]) -> Constants {
        let mut constants = Constants::default();
        for directive in directives {
            let Some(definition) = directive.strip_prefix("define") else { continue };
            let (source, _) = lex(definition);
            let [name, value @ ..] = &source.tokens[..] else { continue };
            // Only a name for one thing: `#define N 16`, also `(16)` and `-1`.
            let value: String =
                value.iter().filter(|token| !"()".contains(token.text)).map(|token| token.text).collect();
            constants.values.insert(name.text.to_owned(), value);
        }
        constants
    }

    /// The name that a name stands for.
    pub fn name<'s>(&'s self, name: &'s str) -> &'s str {
        let value = self.values.get(name).map(String::as_str);
        value.filter(|value| value.starts_with(|first: char| first.is_alphabetic())).unwrap_or(name)
    }

    /// A number as C writes it, or a name of one.
    pub fn number(&self, tokens: &[Token<'_>]) -> Option<i128> {
        match tokens {
            [first, rest @ .., last] if first.is("(") && last.is(")") => self.number(rest),
            [sign, rest @ ..] if sign.is("-") && !rest.is_empty() => self.number(rest).map(|number| -number),
            [sign, rest @ ..] if sign.is("+") && !rest.is_empty() => self.number(rest),
            [token] if token.kind == Kind::Word => read_number(self.values.get(token.text)?),
            [token] => read_number(token.text),
            _ => None,
        }
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
    if let Some(positive) = text.strip_prefix('-') {
        return read_number(positive).map(|number| -number);
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
            ("-3", Some(-3)),
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
