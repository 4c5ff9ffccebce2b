//! The text of a string field.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::{Path, PathBuf};

/// Text for a field: anything that is bytes, be it UTF-8 or not.
///
/// It is made from `&str`, `&[u8]`, `&CStr`, `&OsStr`, `&Path` and references to their owned types. It takes no heap memory and at
/// most a few hundred bytes of the stack: longer text is written to LTTng's buffers from where it is.
///
/// A `string` is recorded up to its first NUL; in a `text` or a `[char; N]`, everything after the first NUL is
/// recorded as NULs. At most [`Text::MAX`] bytes are recorded, and of a `text` as many as its length can count.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Text<'a> {
    /// Bytes that may not be followed by a NUL.
    Bytes(&'a [u8]),
    /// Bytes that are followed by a NUL.
    Terminated(&'a CStr),
}

impl<'a> Text<'a> {
    /// The most bytes of a text that are recorded: 64 KiB.
    pub const MAX: usize = 64 * 1024;

    /// The bytes, without a NUL after them.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Text::Bytes(bytes) => bytes,
            Text::Terminated(text) => text.to_bytes(),
        }
    }
}

impl Default for Text<'_> {
    /// The empty text.
    fn default() -> Self {
        Text::Terminated(c"")
    }
}

/// Makes a text from a reference to each of these types.
macro_rules! from_bytes {
    ($($type:ty),+) => {
        $(
            impl<'a> From<&'a $type> for Text<'a> {
                #[inline]
                fn from(text: &'a $type) -> Self {
                    Text::Bytes(text.as_ref())
                }
            }
        )+
    };
}

from_bytes!(str, [u8], String, Vec<u8>);

/// Text in the encoding of the system.
macro_rules! from_system {
    ($($type:ty),+) => {
        $(
            impl<'a> From<&'a $type> for Text<'a> {
                #[inline]
                fn from(text: &'a $type) -> Self {
                    let text: &OsStr = text.as_ref();
                    Text::Bytes(text.as_encoded_bytes())
                }
            }
        )+
    };
}

from_system!(OsStr, OsString, Path, PathBuf);

impl<'a, const LENGTH: usize> From<&'a [u8; LENGTH]> for Text<'a> {
    #[inline]
    fn from(text: &'a [u8; LENGTH]) -> Self {
        Text::Bytes(text)
    }
}

impl<'a> From<&'a Cow<'_, str>> for Text<'a> {
    #[inline]
    fn from(text: &'a Cow<'_, str>) -> Self {
        Text::Bytes(text.as_bytes())
    }
}

impl<'a> From<&'a CStr> for Text<'a> {
    #[inline]
    fn from(text: &'a CStr) -> Self {
        Text::Terminated(text)
    }
}

impl<'a> From<&'a CString> for Text<'a> {
    #[inline]
    fn from(text: &'a CString) -> Self {
        Text::Terminated(text)
    }
}
