//! Text to tokens.
//!
//! TSDL has C's tokens: identifiers, integers in C's three bases with C's suffixes, strings and characters
//! with C's escapes, comments of both kinds, and a handful of marks, of which `:=` and `...` are its own.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memmem};

use super::super::packets::GAP;

/// A token and its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind<'a>,
    /// The line, from 1.
    pub line: usize,
    /// The position of its first byte.
    pub at: usize,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind<'a> {
    /// An identifier or a keyword.
    Word(&'a str),
    /// An integer without its sign.
    Number(u64),
    /// A string, its escapes resolved.
    Text(Cow<'a, str>),
    /// One of the marks, e.g. `{`.
    Mark(&'static str),
}

/// The keywords of blocks, which do not nest.
pub const BLOCKS: [&str; 6] = ["trace", "env", "clock", "stream", "event", "callsite"];

/// The keywords that a statement about types begins with.
pub const TYPES: [&str; 5] = ["typealias", "typedef", "struct", "variant", "enum"];

/// The longest text in braces that is looked up among those parsed before.
const NEAR: usize = 256;

/// Splits text into tokens, one at a time.
#[derive(Clone)]
pub struct Lexer<'a> {
    pub text: &'a str,
    /// The position of the next byte.
    pub at: usize,
    /// The line of the next byte.
    pub line: usize,
    /// The position after which no `*/` follows: searching for one again and again would take too long.
    open_comment: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, line: 1, open_comment: usize::MAX }
    }

    /// A lexer of the same text at another position, which has this line.
    pub fn at(&self, at: usize, line: usize) -> Lexer<'a> {
        Lexer { at, line, ..self.clone() }
    }

    /// What is written from a brace at this position to the next closing one, if that is near.
    pub fn braces(&self, at: usize) -> Option<&'a str> {
        let near = &self.text.as_bytes()[at..];
        let end = memchr(b'}', &near[..near.len().min(NEAR)])?;
        Some(&self.text[at..=at + end])
    }

    /// Goes on after [these braces](Lexer::braces).
    pub fn skip_braces(&mut self, at: usize) {
        let source = self.braces(at).unwrap_or_default();
        self.line += memchr_iter(b'\n', &source.as_bytes()[1..]).count();
        self.at = at + source.len();
    }

    /// The bytes from the position on.
    pub fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The next token. After an error, the position is anywhere in what is wrong.
    pub fn next(&mut self) -> Result<Option<Token<'a>>, String> {
        self.skip_blanks()?;
        let (line, at) = (self.line, self.at);
        let rest = self.rest();
        let Some(&first) = rest.first() else { return Ok(None) };
        let kind = match first {
            b'L' if rest.get(1) == Some(&b'"') => {
                self.at += 1;
                TokenKind::Text(self.quoted(b'"')?)
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => TokenKind::Word(self.word()),
            b'0'..=b'9' => TokenKind::Number(self.number()?),
            b'"' => TokenKind::Text(self.quoted(b'"')?),
            b'\'' => TokenKind::Number(self.character()?),
            _ => {
                let mark = mark(rest).ok_or_else(|| self.unexpected())?;
                self.at += mark.len();
                TokenKind::Mark(mark)
            }
        };
        Ok(Some(Token { kind, line, at }))
    }

    fn unexpected(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some('\0') if GAP == 0 => "a part of the text is missing".into(),
            character => format!("unexpected character {:?}", character.unwrap_or_default()),
        }
    }

    /// Skips blanks and comments.
    pub fn skip_blanks(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            match rest.first() {
                Some(b' ' | b'\t' | b'\r' | b'\x0c') => self.at += 1,
                Some(b'\n') => {
                    self.at += 1;
                    self.line += 1;
                }
                Some(b'/') if matches!(rest.get(1), Some(b'*' | b'/')) => {
                    if !self.skip_comment() {
                        return Err("unterminated comment".into());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment. Returns whether there is one and it is closed.
    pub fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        let length = match rest.get(1) {
            Some(b'/') => memchr(b'\n', rest).unwrap_or(rest.len()),
            Some(b'*') if self.at < self.open_comment => match memmem::find(&rest[2..], b"*/") {
                Some(end) => end + 4,
                None => {
                    self.open_comment = self.at;
                    return false;
                }
            },
            _ => return false,
        };
        self.line += memchr_iter(b'\n', &rest[..length]).count();
        self.at += length;
        true
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest.iter().position(|&byte| !IN_WORD[usize::from(byte)]).unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + length];
        self.at += length;
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
        u64::from_str_radix(digits, base).map_err(|_| format!("invalid 64-bit integer `{}`", brief(word)))
    }

    fn character(&mut self) -> Result<u64, String> {
        let text = self.quoted(b'\'')?;
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => Ok(u64::from(only)),
            _ => Err("a character constant must have one character".into()),
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<Cow<'a, str>, String> {
        const OPEN: &str = "unterminated string";
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = self.rest();
            let special = |&byte: &u8| byte == quote || matches!(byte, b'\\' | b'\n' | GAP);
            let end = rest.iter().position(special).ok_or(OPEN)?;
            text += &self.text[self.at..self.at + end];
            self.at += end;
            match rest[end] {
                b'\\' => {
                    self.at += 1;
                    text.to_mut().push(self.escape()?);
                }
                byte if byte == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                GAP => return Err(self.unexpected()),
                _ => return Err(OPEN.into()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let rest = &self.text[self.at..];
        let next = rest.chars().next().ok_or("unterminated string")?;
        let (digits, base) = match next {
            '0'..='7' => (3, 8),
            'x' => {
                self.at += 1;
                (2, 16)
            }
            _ => {
                self.at += next.len_utf8();
                self.line += usize::from(next == '\n');
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
        let rest = self.rest();
        let length = rest.iter().take(digits).take_while(|&&byte| char::from(byte).is_digit(base)).count();
        let value = u32::from_str_radix(&self.text[self.at..self.at + length], base);
        self.at += length;
        let value = value.ok().and_then(char::from_u32);
        value.ok_or_else(|| "an escape in a string has no digits".into())
    }
}

/// The bytes of words.
static IN_WORD: [bool; 256] = table(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

/// Which bytes are among these.
pub const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// Whether a byte may be part of an identifier.
pub fn is_part_of_word(byte: u8) -> bool {
    IN_WORD[usize::from(byte)]
}

/// The mark that a text begins with.
fn mark(text: &[u8]) -> Option<&'static str> {
    Some(match text {
        [b'.', b'.', b'.', ..] => "...",
        [b':', b'=', ..] => ":=",
        [b'-', b'>', ..] => "->",
        [b'{', ..] => "{",
        [b'}', ..] => "}",
        [b'[', ..] => "[",
        [b']', ..] => "]",
        [b'(', ..] => "(",
        [b')', ..] => ")",
        [b'<', ..] => "<",
        [b'>', ..] => ">",
        [b';', ..] => ";",
        [b':', ..] => ":",
        [b',', ..] => ",",
        [b'.', ..] => ".",
        [b'=', ..] => "=",
        [b'-', ..] => "-",
        [b'+', ..] => "+",
        [b'*', ..] => "*",
        _ => return None,
    })
}

/// The beginning of a text, for messages.
pub fn brief(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All tokens, and what is wrong after them.
    fn tokens(text: &str) -> (Vec<Token<'_>>, Option<String>) {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::new();
        loop {
            match lexer.next() {
                Ok(Some(token)) => tokens.push(token),
                Ok(None) => return (tokens, None),
                Err(reason) => return (tokens, Some(reason)),
            }
        }
    }

    fn kinds(text: &str) -> Vec<TokenKind<'_>> {
        let (tokens, problem) = tokens(text);
        assert_eq!(problem, None);
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn integers_have_three_bases_and_suffixes() {
        let numbers = [
            TokenKind::Number(10),
            TokenKind::Number(255),
            TokenKind::Number(8),
            TokenKind::Number(0),
            TokenKind::Number(7),
        ];
        assert_eq!(kinds("10 0xFFull 010 0 7UL"), numbers);
    }

    #[test]
    fn strings_resolve_their_escapes() {
        assert_eq!(kinds(r#""a\n\"\x41\101\\""#), [TokenKind::Text("a\n\"AA\\".into())]);
    }

    #[test]
    fn comments_are_blank_and_lines_are_counted() {
        let (tokens, _) = tokens("/* a\n b */ x // y\n := ...");
        let seen: Vec<_> = tokens.into_iter().map(|token| (token.kind, token.line)).collect();
        assert_eq!(
            seen,
            [(TokenKind::Word("x"), 2), (TokenKind::Mark(":="), 3), (TokenKind::Mark("..."), 3)]
        );
    }

    #[test]
    fn what_cannot_be_read_keeps_what_came_before() {
        for text in [
            "x /* y",
            "x \"y",
            "x \"y\nz\"",
            "x 09",
            "x 99999999999999999999",
            "x '",
            "x 'ab'",
            "x \u{e9}",
            "x \0",
        ] {
            let (tokens, problem) = tokens(text);
            assert_eq!((tokens.len(), problem.is_some()), (1, true), "{text:?}");
        }
    }
}
