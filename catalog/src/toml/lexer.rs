//! The words of a text: spaces, comments, keys, strings, numbers.

use super::SyntaxError;
use super::tree::Value;

pub(super) struct Lexer<'t> {
    text: &'t str,
    pub(super) offset: usize,
    pub(super) errors: Vec<SyntaxError>,
    /// How many arrays, tables and strings that may go on in the next line have begun.
    pub(super) open: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mark = '\u{feff}';
        let offset = if text.starts_with(mark) { mark.len_utf8() } else { 0 };
        Lexer { text, offset, errors: Vec::new(), open: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.offset..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { offset: self.offset, message: format!("invalid TOML: {}", message.into()) })
    }

    /// Whether a text follows, which is skipped.
    pub(super) fn skip(&mut self, text: &str) -> bool {
        let follows = self.rest().starts_with(text);
        if follows {
            self.offset += text.len();
        }
        follows
    }

    /// The longest text of such characters.
    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        self.offset += end;
        &rest[..end]
    }

    pub(super) fn expect(&mut self, wanted: char) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(found) if found == wanted => {
                self.offset += wanted.len_utf8();
                Ok(())
            }
            Some(found) if found.is_ascii_control() => {
                self.fail(format!("expected `{wanted}` before the end of the line"))
            }
            Some(found) => self.fail(format!("expected `{wanted}`, found `{found}`")),
            None => self.fail(format!("expected `{wanted}` before the end of the file")),
        }
    }

    pub(super) fn skip_spaces(&mut self) {
        self.take(|character| matches!(character, ' ' | '\t'));
    }

    fn skip_newline(&mut self) -> bool {
        self.skip("\n") || self.skip("\r\n")
    }

    /// Spaces and a comment.
    fn skip_comment(&mut self) -> Result<(), SyntaxError> {
        self.skip_spaces();
        if self.skip("#") {
            self.take(|character| !character.is_ascii_control() || character == '\t');
        }
        match self.peek() {
            Some(found) if found.is_ascii_control() && found != '\n' && !self.rest().starts_with("\r\n") => {
                self.fail("control character")
            }
            _ => Ok(()),
        }
    }

    /// Spaces, comments and ends of lines.
    pub(super) fn skip_lines(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.skip_comment()?;
            if !self.skip_newline() {
                return Ok(());
            }
        }
    }

    /// Goes to the next key or header; false at the end of the text.
    pub(super) fn skip_blank_lines(&mut self) -> bool {
        while let Err(error) = self.skip_lines() {
            self.recover(error.offset, error);
        }
        self.offset < self.text.len()
    }

    pub(super) fn end_of_line(&mut self) -> Result<(), SyntaxError> {
        self.skip_comment()?;
        match self.offset == self.text.len() || self.skip_newline() {
            true => Ok(()),
            false => self.fail("expected a new line"),
        }
    }

    /// After an error: goes to the next line or, within a value of several lines, to the next header.
    pub(super) fn recover(&mut self, start: usize, error: SyntaxError) {
        let before = if self.open > 0 { "\n[" } else { "\n" };
        self.offset = self.text[start..].find(before).map_or(self.text.len(), |end| start + end + 1);
        self.open = 0;
        self.errors.push(error);
    }

    pub(super) fn key(&mut self) -> Result<String, SyntaxError> {
        if let Some('"' | '\'') = self.peek() {
            if self.rest().starts_with("\"\"\"") || self.rest().starts_with("'''") {
                return self.fail("a key is on one line");
            }
            return self.string();
        }
        match self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            "" => self.fail("expected a key"),
            name => Ok(name.to_owned()),
        }
    }

    /// A text in quotes of one of the four kinds.
    pub(super) fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.offset;
        let unclosed = SyntaxError { offset: start, message: "invalid TOML: unclosed string".to_owned() };
        let Some(quote) = self.peek() else { return Err(unclosed) };
        let is_long = self.skip(if quote == '"' { "\"\"\"" } else { "'''" });
        if !is_long {
            self.offset += 1;
        } else {
            self.open += 1;
            self.skip_newline();
        }
        let mut text = String::new();
        loop {
            let Some(character) = self.peek() else { return Err(unclosed) };
            if character == quote {
                let quotes = self.take(|c| c == quote).len();
                let (most, closing) = if is_long { (5, 3) } else { (1, 1) };
                if quotes >= closing {
                    let before = quotes.min(most) - closing;
                    self.offset -= quotes - quotes.min(most);
                    self.open -= usize::from(is_long);
                    text.extend(std::iter::repeat_n(quote, before));
                    return Ok(text);
                }
                text.extend(std::iter::repeat_n(quote, quotes));
            } else if character == '\\' && quote == '"' {
                self.escape(&mut text, is_long)?;
            } else if is_long && self.skip_newline() {
                text.push('\n');
            } else if matches!(character, '\n' | '\r') && !is_long {
                return Err(unclosed);
            } else if character.is_ascii_control() && character != '\t' {
                return self.fail("control character; write it as `\\u…`");
            } else {
                text.push(character);
                self.offset += character.len_utf8();
            }
        }
    }

    fn escape(&mut self, text: &mut String, is_long: bool) -> Result<(), SyntaxError> {
        let start = self.offset;
        self.offset += 1;
        let letter = self.peek().unwrap_or_default();
        self.offset += letter.len_utf8().min(self.rest().len());
        let (digits, plain) = match letter {
            'b' => (0, Some('\u{8}')),
            't' => (0, Some('\t')),
            'n' => (0, Some('\n')),
            'f' => (0, Some('\u{c}')),
            'r' => (0, Some('\r')),
            'e' => (0, Some('\u{1b}')),
            '"' | '\\' => (0, Some(letter)),
            'x' => (2, None),
            'u' => (4, None),
            'U' => (8, None),
            _ => (0, None),
        };
        let code = self
            .rest()
            .get(..digits)
            .filter(|code| digits > 0 && code.bytes().all(|b| b.is_ascii_hexdigit()));
        let written = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        if let Some(character) = plain.or(written) {
            self.offset += digits;
            text.push(character);
            return Ok(());
        }
        // At the end of a line: up to the next word.
        self.offset = start + 1;
        self.skip_spaces();
        if is_long && self.skip_newline() {
            while self.skip_newline() || !self.take(|c| matches!(c, ' ' | '\t')).is_empty() {}
            return Ok(());
        }
        self.offset = start;
        self.fail("invalid escape sequence")
    }

    /// A number, a boolean or a date.
    pub(super) fn word(&mut self) -> Result<Value, SyntaxError> {
        let start = self.offset;
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '.' | ':');
        let word = self.take(is_part);
        match word {
            "true" => return Ok(Value::Boolean(true)),
            "false" => return Ok(Value::Boolean(false)),
            _ => {}
        }
        if let Some(integer) = integer(word) {
            return Ok(Value::Integer(integer));
        }
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        match word.as_bytes().get(digits) {
            Some(b'-' | b':') if digits == 4 || digits == 2 => {
                // A time may follow the date after a space.
                let rest = self.rest().as_bytes();
                if rest.first() == Some(&b' ') && rest.get(1).is_some_and(u8::is_ascii_digit) {
                    self.offset += 1;
                    self.take(is_part);
                }
                Ok(Value::Date)
            }
            _ if is_fraction(word) => Ok(Value::Number(word.to_owned())),
            _ => {
                self.offset = start;
                match word {
                    "" => self.fail("expected a value"),
                    _ => self.fail(format!("invalid value `{word}`; text is in quotes")),
                }
            }
        }
    }
}

fn integer(word: &str) -> Option<i128> {
    let (radix, digits) = match word.get(..2) {
        Some("0x") => (16, &word[2..]),
        Some("0o") => (8, &word[2..]),
        Some("0b") => (2, &word[2..]),
        _ => (10, word.strip_prefix(['+', '-']).unwrap_or(word)),
    };
    if !are_digits(digits, radix) || (radix == 10 && digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    let sign = if word.starts_with('-') { "-" } else { "" };
    i128::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), radix).ok()
}

/// Digits, with single `_` between them.
fn are_digits(text: &str, radix: u32) -> bool {
    text.split('_').all(|part| !part.is_empty() && part.chars().all(|c| c.is_digit(radix)))
}

/// Whether a word is a number, whatever its size.
fn is_fraction(word: &str) -> bool {
    let plain = word.strip_prefix(['+', '-']).unwrap_or(word);
    if matches!(plain, "inf" | "nan") {
        return true;
    }
    let (number, exponent) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_whole = are_digits(whole, 10) && (whole.len() == 1 || !whole.starts_with('0'));
    is_whole && are_digits(fraction, 10) && are_digits(exponent, 10)
}
