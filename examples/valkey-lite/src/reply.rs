//! Replies in RESP2, appended to a client's output.

use std::io::Write;

/// The reply types of RESP2.
pub trait Reply: Write {
    /// A status such as `OK`.
    fn simple(&mut self, text: &str) {
        self.line(format_args!("+{text}"));
    }

    /// The usual status.
    fn ok(&mut self) {
        self.simple("OK");
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
