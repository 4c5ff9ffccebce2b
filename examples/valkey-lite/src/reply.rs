//! Replies in RESP2, appended to a client's output.

use std::io::Write;

/// The reply types of RESP2.
pub trait Reply {
    /// A status such as `OK`.
    fn simple(&mut self, text: &str);
    /// An error; the first word is its code.
    fn error(&mut self, message: &str);
    /// An integer.
    fn integer(&mut self, number: i64);
    /// A binary-safe string.
    fn bulk(&mut self, bytes: impl AsRef<[u8]>);
    /// A binary-safe string, or null in its place.
    fn bulk_or_null(&mut self, bytes: Option<impl AsRef<[u8]>>);
    /// The head of an array; its elements follow as replies of their own.
    fn array(&mut self, length: usize);
    /// Null in the place of an array.
    fn null_array(&mut self);

    /// The usual status.
    fn ok(&mut self) {
        self.simple("OK");
    }
}

impl Reply for Vec<u8> {
    fn simple(&mut self, text: &str) {
        line(self, format_args!("+{text}"));
    }

    fn error(&mut self, message: &str) {
        // A line break inside a message would end the reply early and shift all that follow.
        line(self, format_args!("-{}", message.replace(['\r', '\n'], " ")));
    }

    fn integer(&mut self, number: i64) {
        line(self, format_args!(":{number}"));
    }

    fn bulk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        line(self, format_args!("${}", bytes.len()));
        self.extend_from_slice(bytes);
        self.extend_from_slice(b"\r\n");
    }

    fn bulk_or_null(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        match bytes {
            Some(bytes) => self.bulk(bytes),
            None => self.extend_from_slice(b"$-1\r\n"),
        }
    }

    fn array(&mut self, length: usize) {
        line(self, format_args!("*{length}"));
    }

    fn null_array(&mut self) {
        self.extend_from_slice(b"*-1\r\n");
    }
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments) {
    // Writing to memory cannot fail.
    let _ = out.write_fmt(text);
    out.extend_from_slice(b"\r\n");
}
