//! Text to tokens.
//!
//! TSDL has C's tokens: identifiers, integers in C's three bases with C's suffixes, strings and characters
//! with C's escapes, comments of both kinds, and a handful of marks, of which `:=` and `...` are its own.

use super::super::Problem;

/// A token and the line it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// The line, from 1.
    pub line: usize,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An identifier or a keyword.
    Word(String),
    /// An integer without its sign.
    Number(u64),
    /// A string, its escapes resolved.
    Text(String),
    /// Any of `MARKS`.
    Mark(&'static str),
}

/// The marks, longest first so that the first that fits is the right one.
const MARKS: [&str; 19] =
    ["...", ":=", "->", "{", "}", "[", "]", "(", ")", "<", ">", ";", ":", ",", ".", "=", "-", "+", "*"];

/// Splits text into tokens. What cannot be read ends them, and says so.
pub fn tokens(text: &str) -> (Vec<Token>, Option<Problem>) {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut tokens = Vec::new();
    loop {
        match lexer.next() {
            Ok(Some(token)) => tokens.push(token),
            Ok(None) => return (tokens, None),
            Err(reason) => return (tokens, Some(Problem { line: lexer.line, reason })),
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Option<Token>, String> {
        self.skip_blanks()?;
        let line = self.line;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let kind = match first {
            'L' if self.rest[1..].starts_with('"') => {
                self.advance(1);
                Kind::Text(self.quoted('"')?)
            }
            'A'..='Z' | 'a'..='z' | '_' => Kind::Word(self.word().to_owned()),
            '0'..='9' => Kind::Number(self.number()?),
            '"' => Kind::Text(self.quoted('"')?),
            '\'' => self.character()?,
            other => {
                let mark = MARKS.into_iter().find(|mark| self.rest.starts_with(mark));
                let mark = mark.ok_or_else(|| format!("unexpected character {other:?}"))?;
                self.advance(mark.len());
                Kind::Mark(mark)
            }
        };
        Ok(Some(Token { kind, line }))
    }

    /// Steps over bytes that end at a character's end.
    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
        self.rest = rest;
    }

    fn skip_blanks(&mut self) -> Result<(), String> {
        loop {
            let blank =
                self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']).len();
            self.advance(blank);
            if self.rest.starts_with("/*") {
                let end = self.rest[2..].find("*/").ok_or("a comment is not closed")?;
                self.advance(end + 4);
            } else if self.rest.starts_with("//") {
                self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> &str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn number(&mut self) -> Result<u64, String> {
        let word = self.word();
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let (digits, base) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
            [b'0', _, ..] => (&digits[1..], 8),
            _ => (digits, 10),
        };
        u64::from_str_radix(digits, base).map_err(|_| format!("`{word}` is no integer of 64 bits"))
    }

    fn character(&mut self) -> Result<Kind, String> {
        let text = self.quoted('\'')?;
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => Ok(Kind::Number(u64::from(only))),
            _ => Err("a character constant must have one character".into()),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        const OPEN: &str = "a string is not closed";
        self.advance(1);
        let mut text = String::new();
        loop {
            let next = self.rest.chars().next().ok_or(OPEN)?;
            self.advance(next.len_utf8());
            match next {
                '\\' => text.push(self.escape()?),
                '\n' => return Err(OPEN.into()),
                _ if next == quote => return Ok(text),
                _ => text.push(next),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let next = self.rest.chars().next().ok_or("a string is not closed")?;
        let (digits, base) = match next {
            '0'..='7' => (3, 8),
            'x' => {
                self.advance(1);
                (2, 16)
            }
            _ => {
                self.advance(next.len_utf8());
                return Ok(match next {
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'v' => '\u{b}',
                    other => other,
                });
            }
        };
        let end = self.rest.bytes().take(digits).take_while(|&byte| char::from(byte).is_digit(base)).count();
        let value = u32::from_str_radix(&self.rest[..end], base);
        self.advance(end);
        let value = value.ok().and_then(char::from_u32);
        value.ok_or_else(|| "an escape in a string has no digits".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let (tokens, problem) = tokens(text);
        assert_eq!(problem, None);
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn integers_have_three_bases_and_suffixes() {
        let numbers =
            [Kind::Number(10), Kind::Number(255), Kind::Number(8), Kind::Number(0), Kind::Number(7)];
        assert_eq!(kinds("10 0xFFull 010 0 7UL"), numbers);
    }

    #[test]
    fn strings_resolve_their_escapes() {
        assert_eq!(kinds(r#""a\n\"\x41\101\\""#), [Kind::Text("a\n\"AA\\".into())]);
    }

    #[test]
    fn comments_are_blank_and_lines_are_counted() {
        let (tokens, _) = tokens("/* a\n b */ x // y\n := ...");
        let seen: Vec<_> = tokens.into_iter().map(|token| (token.kind, token.line)).collect();
        assert_eq!(seen, [(Kind::Word("x".into()), 2), (Kind::Mark(":="), 3), (Kind::Mark("..."), 3)]);
    }

    #[test]
    fn what_cannot_be_read_keeps_what_came_before() {
        for text in
            ["x /* y", "x \"y", "x \"y\nz\"", "x 09", "x 99999999999999999999", "x '", "x 'ab'", "x \u{e9}"]
        {
            let (tokens, problem) = tokens(text);
            assert_eq!((tokens.len(), problem.is_some()), (1, true), "{text:?}");
        }
    }
}
