//! The distinct texts of a column, numbered.

use ctf_reader::Brief;
use hashbrown::HashMap;
use parquet::data_type::ByteArray;

/// The most recent texts; a power of two.
const RECENT: usize = 1024;

/// No text.
pub const NONE: u32 = u32::MAX;

/// Numbers texts in the order in which they first occur.
pub struct Interner {
    texts: Vec<ByteArray>,
    numbers: HashMap<Box<[u8]>, u32>,
    /// The number of a short text is found here without hashing all of it. Different values may have the same text, but
    /// a value must always have the same one.
    recent: Vec<(Brief, u32)>,
    /// The texts that are not UTF-8, as they were recorded.
    invalid: HashMap<u32, Box<[u8]>>,
    /// How many bytes the texts have.
    pub bytes: usize,
}

impl Default for Interner {
    fn default() -> Self {
        let recent = vec![(Brief::NONE, NONE); RECENT];
        Interner { texts: Vec::new(), numbers: HashMap::new(), recent, invalid: HashMap::new(), bytes: 0 }
    }
}

impl Interner {
    /// The number of a text. Parquet's texts are UTF-8: invalid bytes are replaced.
    #[inline]
    pub fn text(&mut self, text: &[u8]) -> u32 {
        let brief = Brief::text(text, text.len());
        self.recall(brief).unwrap_or_else(|| self.enter(brief, text))
    }

    /// The number of a text that is remembered by what is brief of its value.
    #[inline]
    pub fn recall(&self, brief: Brief) -> Option<u32> {
        let (known, number) = self.recent[place(brief)];
        (known == brief && brief != Brief::OTHER).then_some(number)
    }

    /// The number of a value's text, which is remembered by what is brief of the value.
    #[inline(never)]
    pub fn enter(&mut self, brief: Brief, text: &[u8]) -> u32 {
        let number = match self.numbers.get(text) {
            Some(&number) => number,
            None => {
                let number = self.texts.len() as u32;
                self.texts.push(String::from_utf8_lossy(text).into_owned().into_bytes().into());
                if str::from_utf8(text).is_err() {
                    self.invalid.insert(number, text.into());
                }
                self.numbers.insert(text.into(), number);
                self.bytes += 2 * text.len() + 64;
                number
            }
        };
        self.recent[place(brief)] = (brief, number);
        number
    }

    /// What was recorded for a text that is not UTF-8.
    #[inline]
    pub fn invalid(&self, number: u32) -> Option<&[u8]> {
        if self.invalid.is_empty() { None } else { self.invalid.get(&number).map(|bytes| &**bytes) }
    }

    /// Takes the texts out, by their numbers, and begins anew.
    pub fn take(&mut self) -> Vec<ByteArray> {
        self.numbers.clear();
        self.invalid.clear();
        self.recent.fill((Brief::NONE, NONE));
        self.bytes = 0;
        std::mem::take(&mut self.texts)
    }
}

fn place(brief: Brief) -> usize {
    (brief.mix() >> (u64::BITS - RECENT.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use ctf_reader::Value;

    use super::*;

    #[test]
    fn equal_texts_have_one_number_until_they_are_taken() {
        let mut interner = Interner::default();
        let long = "a text that is longer than what is compared at once";
        let numbers: Vec<u32> =
            ["get", "set", long, "get", long, ""].iter().map(|text| interner.text(text.as_bytes())).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 2, 3]);
        let brief = Brief::from(&Value::Signed(-1));
        assert_eq!((interner.recall(brief), interner.enter(brief, b"-1")), (None, 4));
        assert_eq!((interner.recall(brief), interner.text(b"-1")), (Some(4), 4));
        assert_eq!(interner.take().len(), 5);
        assert_eq!(interner.text(b"set"), 0);
        assert_eq!(interner.take()[0].data(), b"set");
    }

    #[test]
    fn texts_that_are_not_utf_8_are_kept_apart_and_made_valid() {
        let mut interner = Interner::default();
        assert_eq!((interner.text(b"a\xff"), interner.text(b"a\xfe"), interner.text(b"a")), (0, 1, 2));
        assert_eq!((interner.invalid(1), interner.invalid(2)), (Some(&b"a\xfe"[..]), None));
        assert!(interner.take()[..2].iter().all(|text| text.data() == "a\u{fffd}".as_bytes()));
    }
}
