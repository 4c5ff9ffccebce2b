//! RESP2: requests as they come off a socket or a file, and replies.

use std::io::Write;

/// A binary-safe string: a key, a value, an argument.
pub type Bytes = Vec<u8>;

/// The most arguments of a request, and the most bytes of one.
const LARGEST: usize = 64 << 20;

/// What a client gets.
pub enum Reply {
    /// Such as `OK`.
    Status(&'static str),
    /// Its first word is a code.
    Error(String),
    Integer(i64),
    Bulk(Option<Bytes>),
    Array(Vec<Reply>),
    /// Nothing yet.
    Later,
}

impl Reply {
    /// Appends it as it is sent. Writing to memory cannot fail.
    pub fn write(&self, out: &mut Bytes) {
        let _ = match self {
            Reply::Status(text) => write!(out, "+{text}\r\n"),
            // A line break inside a message would end the reply early and shift all that follow.
            Reply::Error(message) => write!(out, "-{}\r\n", message.replace(['\r', '\n'], " ")),
            Reply::Integer(number) => write!(out, ":{number}\r\n"),
            Reply::Bulk(None) => write!(out, "$-1\r\n"),
            Reply::Bulk(Some(bytes)) => {
                let _ = write!(out, "${}\r\n", bytes.len());
                out.extend_from_slice(bytes);
                write!(out, "\r\n")
            }
            Reply::Array(replies) => {
                let written = write!(out, "*{}\r\n", replies.len());
                replies.iter().for_each(|reply| reply.write(out));
                written
            }
            Reply::Later => Ok(()),
        };
    }
}

/// A request in the form that [`next_request`] reads.
pub fn encode(arguments: &[impl AsRef<[u8]>]) -> Bytes {
    let mut out = Bytes::new();
    let bulk = |argument: &_| Reply::Bulk(Some(AsRef::<[u8]>::as_ref(argument).to_vec()));
    Reply::Array(arguments.iter().map(bulk).collect()).write(&mut out);
    out
}

/// The first whole request of `input`, as words in a line or as RESP has it, and its length. `None`: more bytes are needed.
pub fn next_request(input: &[u8]) -> Result<Option<(Vec<Bytes>, usize)>, String> {
    if input.first().is_some_and(|byte| *byte != b'*') {
        let Some(end) = input.iter().position(|&byte| byte == b'\n') else { return Ok(None) };
        let words = input[..end].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        return Ok(Some((words.map(<[u8]>::to_vec).collect(), end + 1)));
    }
    let Some((count, mut at)) = header(input, 0, b'*')? else { return Ok(None) };
    let mut arguments = Vec::new();
    for _ in 0..count {
        let Some((length, start)) = header(input, at, b'$')? else { return Ok(None) };
        let Some(bulk) = input[start..].get(..length + 2) else { return Ok(None) };
        arguments.push(bulk[..length].to_vec());
        at = start + length + 2;
    }
    Ok(Some((arguments, at)))
}

/// The number in the line at a position, which begins with its kind, and where the next one begins.
fn header(input: &[u8], at: usize, kind: u8) -> Result<Option<(usize, usize)>, String> {
    let Some(end) = input[at..].iter().position(|&byte| byte == b'\n') else { return Ok(None) };
    let number = input[at..at + end].strip_prefix(&[kind]).and_then(|text| number(text.trim_ascii_end()));
    let number = number.and_then(|number| usize::try_from(number).ok()).filter(|number| *number <= LARGEST);
    Ok(Some((number.ok_or("invalid length")?, at + end + 1)))
}

/// A decimal integer.
pub fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
