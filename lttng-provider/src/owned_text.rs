//! Text that is kept until it is recorded.

use std::fmt::{self, Display, Write};

use crate::Text;

/// The size of an [`OwnedText`] is 64 bytes: these, the length, and the kind.
const IN_PLACE: usize = 62;

/// Owned text: up to 62 bytes are stored inline, and only longer text takes heap memory.
///
/// [`traced`](crate::traced) keeps text in one while the function runs, and formats `%value` into one.
#[derive(Clone, Debug)]
pub struct OwnedText(Kind);

#[derive(Clone, Debug)]
enum Kind {
    InPlace { length: u8, bytes: [u8; IN_PLACE] },
    Heap(Vec<u8>),
}

impl OwnedText {
    /// A copy of a text.
    #[inline]
    pub fn new(text: Text<'_>) -> Self {
        let mut owned = OwnedText::empty();
        owned.push(text.bytes());
        owned
    }

    /// A value as `Display` prints it.
    pub fn display(value: &(impl Display + ?Sized)) -> Self {
        let mut owned = OwnedText::empty();
        // Writing to it cannot fail; if the value reports a failure, what it has written is kept.
        let _ = write!(owned, "{value}");
        owned
    }

    /// The text.
    #[inline]
    pub fn text(&self) -> Text<'_> {
        Text::Bytes(match &self.0 {
            Kind::InPlace { length, bytes } => &bytes[..usize::from(*length)],
            Kind::Heap(bytes) => bytes,
        })
    }

    fn empty() -> Self {
        OwnedText(Kind::InPlace { length: 0, bytes: [0; IN_PLACE] })
    }

    #[inline]
    fn push(&mut self, more: &[u8]) {
        match &mut self.0 {
            Kind::InPlace { length, bytes } => {
                let start = usize::from(*length);
                let end = start + more.len();
                match bytes.get_mut(start..end) {
                    Some(free) => {
                        free.copy_from_slice(more);
                        *length = end as u8;
                    }
                    None => self.0 = Kind::Heap([&bytes[..start], more].concat()),
                }
            }
            Kind::Heap(bytes) => bytes.extend_from_slice(more),
        }
    }
}

impl Write for OwnedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_kept_in_place_and_long_text_on_the_heap() {
        let full = "x".repeat(IN_PLACE);
        let owned = OwnedText::new(Text::from(&full));
        assert!(matches!(owned.0, Kind::InPlace { length: 62, .. }));
        assert_eq!(owned.text().bytes(), full.as_bytes());
        let owned = OwnedText::display(&format_args!("{full}{}", "yz"));
        assert!(matches!(owned.0, Kind::Heap(_)));
        assert_eq!(owned.text().bytes(), format!("{full}yz").as_bytes());
    }

    #[test]
    fn it_is_as_large_as_said() {
        assert_eq!(size_of::<OwnedText>(), 64);
    }
}
