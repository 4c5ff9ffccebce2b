//! Requests as they come off a socket or a file: RESP2 arrays of bulk strings, and inline commands.

use crate::number::parse_integer;

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
                    return Ok(Some(split_inline(line)));
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

/// Splits an inline command at blanks.
fn split_inline(line: &[u8]) -> Vec<Bytes> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Appends a request in the form that [`Parser`] reads.
pub fn encode(out: &mut Vec<u8>, arguments: &[impl AsRef<[u8]>]) {
    use crate::reply::Reply;
    out.array(arguments.len());
    for argument in arguments {
        out.bulk(argument);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_all(input: &[u8]) -> Result<Vec<Vec<Bytes>>, ProtocolError> {
        let (mut parser, mut at, mut requests) = (Parser::default(), 0, Vec::new());
        while let Some(request) = parser.next(input, &mut at)? {
            requests.push(request);
        }
        Ok(requests)
    }

    #[test]
    fn requests_cut_anywhere_read_the_same() {
        let input = b"*2\r\n$3\r\nGET\r\n$3\r\nk\r\n\r\nPING  word\r\n*0\r\n*1\r\n$0\r\n\r\n";
        let whole = parse_all(input).unwrap();
        assert_eq!(whole.len(), 4);
        for cut in 0..input.len() {
            let (mut parser, mut at, mut requests) = (Parser::default(), 0, Vec::new());
            for end in [cut, input.len()] {
                while let Some(request) = parser.next(&input[..end], &mut at).unwrap() {
                    requests.push(request);
                }
            }
            assert_eq!(requests, whole, "cut at {cut}");
        }
    }

    #[test]
    fn malformed_requests_are_named() {
        for (input, error) in [
            (&b"*abc\r\n"[..], "invalid multibulk length"),
            (b"*1048577\r\n", "invalid multibulk length"),
            (b"*1\r\n:1\r\n", "expected '$', got ':'"),
            (b"*1\r\n$-1\r\n", "invalid bulk length"),
            (b"*1\r\n$536870913\r\n", "invalid bulk length"),
            (&[b'a'; LONGEST_LINE + 1], "too big inline request"),
        ] {
            assert_eq!(parse_all(input).unwrap_err(), error);
        }
    }
}
