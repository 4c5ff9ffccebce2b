//! RESP2: requests as they come off a socket or a file, and replies.

use std::io::Write;

/// A binary-safe string: a key, a value, an argument.
pub type Bytes = Vec<u8>;

/// The longest inline command or header line.
const LONGEST_LINE: usize = 64 * 1024;
/// The longest argument.
const LONGEST_BULK: i64 = 512 << 20;
/// The most arguments that a request may announce.
const MOST_ARGUMENTS: i64 = 1024 * 1024;

/// What is wrong with a request; worded as Valkey words it.
pub type ProtocolError = String;

/// Takes requests off a stream of bytes, however it is cut into pieces.
///
/// Memory is allocated for bytes that have arrived, not for what a client announces.
#[derive(Default)]
pub struct Parser {
    arguments: Vec<Bytes>,
    missing: usize,
    bulk: Option<usize>,
}

impl Parser {
    /// The next whole request of `input`, which `at` is moved past; an empty one is to be ignored.
    /// `None`: more bytes are needed; what was consumed up to `at` is remembered.
    pub fn next(&mut self, input: &[u8], at: &mut usize) -> Result<Option<Vec<Bytes>>, ProtocolError> {
        if self.missing == 0 {
            match input.get(*at) {
                None => return Ok(None),
                Some(b'*') => {
                    let Some(line) = next_line(input, at, "too big mbulk count string")? else {
                        return Ok(None);
                    };
                    self.missing = parse_integer(&line[1..])
                        .filter(|&count| count <= MOST_ARGUMENTS)
                        .ok_or("invalid multibulk length")?
                        .max(0) as usize;
                }
                Some(_) => {
                    let Some(line) = next_line(input, at, "too big inline request")? else { return Ok(None) };
                    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                    return Ok(Some(words.map(<[u8]>::to_vec).collect()));
                }
            }
        }
        while self.missing > 0 {
            let Some(argument) = self.argument(input, at)? else { return Ok(None) };
            self.arguments.push(argument);
            self.missing -= 1;
        }
        Ok(Some(std::mem::take(&mut self.arguments)))
    }

    fn argument(&mut self, input: &[u8], at: &mut usize) -> Result<Option<Bytes>, ProtocolError> {
        let length = match self.bulk {
            Some(length) => length,
            None => {
                let Some(line) = next_line(input, at, "too big bulk count string")? else { return Ok(None) };
                let Some((b'$', length)) = line.split_first() else {
                    let found = line.first().copied().unwrap_or(b'\r');
                    return Err(format!("expected '$', got '{}'", found.escape_ascii()));
                };
                let length = parse_integer(length)
                    .filter(|length| (0..=LONGEST_BULK).contains(length))
                    .ok_or("invalid bulk length")?;
                *self.bulk.insert(length as usize)
            }
        };
        let Some(bulk) = input[*at..].get(..length + 2) else { return Ok(None) };
        let argument = bulk[..length].to_vec();
        *at += length + 2;
        self.bulk = None;
        Ok(Some(argument))
    }
}

/// The line at `at` without its end, moving `at` past it.
fn next_line<'a>(input: &'a [u8], at: &mut usize, too_long: &str) -> Result<Option<&'a [u8]>, ProtocolError> {
    let rest = &input[*at..];
    match rest.iter().take(LONGEST_LINE).position(|&byte| byte == b'\n') {
        Some(end) => {
            *at += end + 1;
            Ok(Some(rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end])))
        }
        None if rest.len() >= LONGEST_LINE => Err(too_long.into()),
        None => Ok(None),
    }
}

/// A decimal integer in its canonical spelling: no sign but `-`, no leading zeros, no blanks.
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let number: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

/// Appends a request in the form that [`Parser`] reads.
pub fn encode(out: &mut Vec<u8>, arguments: &[impl AsRef<[u8]>]) {
    out.array(arguments.len());
    for argument in arguments {
        out.bulk(argument);
    }
}

/// The reply types of RESP2.
pub trait Reply: Write {
    /// A status such as `OK`.
    fn simple(&mut self, text: &str) {
        self.line(format_args!("+{text}"));
    }

    /// An error; the first word is its code.
    fn error(&mut self, message: &str) {
        // A line break inside a message would end the reply early and shift all that follow.
        self.line(format_args!("-{}", message.replace(['\r', '\n'], " ")));
    }

    /// An integer.
    fn integer(&mut self, number: i64) {
        self.line(format_args!(":{number}"));
    }

    /// A binary-safe string.
    fn bulk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.line(format_args!("${}", bytes.len()));
        let _ = self.write_all(bytes);
        let _ = self.write_all(b"\r\n");
    }

    /// A binary-safe string, or null.
    fn bulk_or_null(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        match bytes {
            Some(bytes) => self.bulk(bytes),
            None => self.line(format_args!("$-1")),
        }
    }

    /// The head of an array; its elements follow as further replies.
    fn array(&mut self, length: usize) {
        self.line(format_args!("*{length}"));
    }

    /// Null instead of an array.
    fn null_array(&mut self) {
        self.line(format_args!("*-1"));
    }

    /// A line of the protocol. Writing to memory cannot fail.
    fn line(&mut self, text: std::fmt::Arguments) {
        let _ = write!(self, "{text}\r\n");
    }
}

impl Reply for Vec<u8> {}
