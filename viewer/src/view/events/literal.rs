//! Texts that are written often.

use super::value::first;

/// A text that is written often. A short one is padded to a fixed size, which is copied without a call, and the
/// padding is dropped again.
pub enum Literal {
    Short([u8; Literal::SHORT], usize),
    Long(Vec<u8>),
}

impl Literal {
    const SHORT: usize = 48;

    pub fn new(text: impl AsRef<[u8]>) -> Literal {
        let text = text.as_ref();
        let mut bytes = [0; Literal::SHORT];
        match bytes.get_mut(..text.len()) {
            Some(begin) => {
                begin.copy_from_slice(text);
                Literal::Short(bytes, text.len())
            }
            None => Literal::Long(text.into()),
        }
    }

    /// Appends it.
    #[inline(always)]
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Literal::Short(bytes, length) => first(bytes, *length, out),
            Literal::Long(bytes) => out.extend_from_slice(bytes),
        }
    }
}

impl Default for Literal {
    fn default() -> Literal {
        Literal::new("")
    }
}
