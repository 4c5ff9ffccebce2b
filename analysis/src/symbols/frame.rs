//! What is at an address.

use std::fmt;

use serde::Serialize;

use crate::text::escape;

/// What is at a return address of a stack, as far as that is known.
///
/// ```
/// use ltt_analysis::symbols::Frame;
///
/// let unknown = Frame { address: 0x1C, ..Frame::default() };
/// assert_eq!(unknown.to_string(), "0x1C");
/// let function = Some("main".to_owned());
/// let named = Frame { function, offset: Some(0x1C), file: Some("src/server.rs".into()), line: Some(12), ..unknown };
/// assert_eq!(named.to_string(), "main+0x1c (server.rs:12)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Frame {
    /// The return address.
    pub address: u64,
    /// The program or library that it lies in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// Where in the memory of that, from its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary_offset: Option<u64>,
    /// The function, demangled if it is one of Rust's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Where in the function, from its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The calls that were inlined into the function there, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<Call>,
}

/// A call that was inlined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Call {
    /// The function that was inlined.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line of the call within it.
    pub line: Option<u32>,
}

/// `inlined (a.rs:1) in main+0x1c (server.rs:12)`; what is not known is left out, and without a name it is the address.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.inlined {
            f.write_str(&escape::text(call.function.as_deref().unwrap_or("?")))?;
            place(f, call.file.as_deref(), call.line)?;
            f.write_str(" in ")?;
        }
        match &self.function {
            None => write!(f, "0x{:X}", self.address)?,
            Some(function) => {
                f.write_str(&escape::text(function))?;
                self.offset.map_or(Ok(()), |offset| write!(f, "+{offset:#x}"))?;
            }
        }
        match (&self.file, &self.binary, self.binary_offset) {
            (Some(file), _, _) => place(f, Some(file), self.line),
            (None, Some(binary), Some(offset)) if self.function.is_none() => {
                write!(f, " ({}+{offset:#x})", last_part(binary))
            }
            (None, Some(binary), _) => write!(f, " ({})", last_part(binary)),
            (None, None, _) => Ok(()),
        }
    }
}

fn place(f: &mut fmt::Formatter<'_>, file: Option<&str>, line: Option<u32>) -> fmt::Result {
    match (file, line) {
        (Some(file), Some(line)) => write!(f, " ({}:{line})", last_part(file)),
        (Some(file), None) => write!(f, " ({})", last_part(file)),
        (None, _) => Ok(()),
    }
}

fn last_part(path: &str) -> String {
    escape::text(path.rsplit('/').next().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let frame = Frame { address: 0x7F12, ..Frame::default() };
        assert_eq!(frame.to_string(), "0x7F12");
        let frame = Frame { binary: Some("/usr/lib/libc.so.6".into()), binary_offset: Some(0x12), ..frame };
        assert_eq!(frame.to_string(), "0x7F12 (libc.so.6+0x12)");
        let frame = Frame { function: Some("qsort".into()), offset: Some(2), ..frame };
        assert_eq!(frame.to_string(), "qsort+0x2 (libc.so.6)");
        let inlined = vec![Call { function: Some("swap".into()), file: Some("a/b.c".into()), line: Some(7) }];
        let frame = Frame { file: Some("/c/d.c".into()), line: None, inlined, ..frame };
        assert_eq!(frame.to_string(), "swap (b.c:7) in qsort+0x2 (d.c)");
    }

    #[test]
    fn names_cannot_act_on_a_terminal() {
        let frame =
            Frame { function: Some("\u{1b}[2J".into()), binary: Some("/\u{7}".into()), ..Frame::default() };
        assert_eq!(frame.to_string(), "\\u{1b}[2J (\\u{7})");
    }
}
