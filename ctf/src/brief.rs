//! Short values as numbers of one size.

use crate::{Integer, Value};

/// A value in 16 bytes that differ for different values: an integer, or a text of up to 15 bytes.
///
/// It is made and compared without a loop, and without a branch on the length that a processor would mispredict.
///
/// ```
/// use ctf_reader::{Brief, Value};
///
/// assert_eq!(Brief::from(&Value::Text(b"get")), Brief::text(b"get and more", 3));
/// assert_eq!(Brief::from(&Value::Text(b"longer than 15 bytes")), Brief::OTHER);
/// ```
#[derive(Clone, Copy, Debug, Eq)]
pub struct Brief([u64; 2]);

/// The last byte says what the others are: the length of a text, or one of these.
const LONGEST: usize = 15;
const POSITIVE: u64 = 16;
const NEGATIVE: u64 = 17;
const OTHER: u64 = 18;
const NONE: u64 = 19;

/// For each length of a text the bits that belong to it.
const MASKS: [[u64; 2]; LONGEST + 1] = {
    let mut masks = [[0; 2]; LONGEST + 1];
    let mut length = 0;
    while length <= LONGEST {
        let mask: u128 = (1 << (8 * length)) - 1;
        masks[length] = [mask as u64, (mask >> 64) as u64];
        length += 1;
    }
    masks
};

impl Brief {
    /// Stands for any other value.
    pub const OTHER: Brief = Brief::new(OTHER, [0; 2]);

    /// Stands for no value.
    pub const NONE: Brief = Brief::new(NONE, [0; 2]);

    #[inline(always)]
    const fn new(last: u64, bytes: [u64; 2]) -> Brief {
        Brief([bytes[0], bytes[1] | last << 56])
    }

    /// The text that these bytes begin with. What follows it does not matter, but it is faster if at least 16 bytes are there.
    #[inline(always)]
    pub fn text(bytes: &[u8], length: usize) -> Brief {
        let Some(&[low, high]) = MASKS.get(length) else { return Brief::OTHER };
        let [first, second] = words(bytes).unwrap_or_else(|| padded(bytes));
        Brief::new(length as u64, [first & low, second & high])
    }

    /// The text that these bytes begin with, up to a NUL and at most this long. That is faster if at least 16 bytes are there.
    #[inline(always)]
    pub(crate) fn characters(bytes: &[u8], most: usize) -> Brief {
        let [first, second] = words(bytes).unwrap_or_else(|| padded(bytes));
        let length = match (zeros(first), zeros(second)) {
            (0, 0) => LONGEST + 1,
            (0, second) => 8 + second.trailing_zeros() as usize / 8,
            (first, _) => first.trailing_zeros() as usize / 8,
        };
        Brief::text(bytes, length.min(most))
    }

    /// An integer.
    #[inline(always)]
    pub(crate) fn integer(number: Integer) -> Brief {
        match number {
            Integer::Signed(number) if number < 0 => Brief::new(NEGATIVE, [number as u64, 0]),
            Integer::Signed(number) => Brief::new(POSITIVE, [number as u64, 0]),
            Integer::Unsigned(number) => Brief::new(POSITIVE, [number, 0]),
        }
    }

    /// A value, of a label its number.
    pub(crate) fn stored(value: &Value<'_>) -> Brief {
        match *value {
            Value::Enum(number, _) => Brief::integer(number),
            _ => Brief::from(value),
        }
    }

    /// A number that is likely different for different values.
    #[inline(always)]
    pub fn mix(self) -> u64 {
        let Brief([first, second]) = self;
        (first ^ second.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl PartialEq for Brief {
    /// Word by word: one comparison of 16 bytes would have to wait until both words of a brief that was just made are in
    /// memory.
    #[inline(always)]
    fn eq(&self, other: &Brief) -> bool {
        let (Brief([first, second]), Brief([other_first, other_second])) = (self, other);
        (first ^ other_first) | (second ^ other_second) == 0
    }
}

impl From<&Value<'_>> for Brief {
    fn from(value: &Value<'_>) -> Brief {
        match *value {
            Value::Text(text) => Brief::text(text, text.len()),
            Value::Signed(number) => Brief::integer(Integer::Signed(number)),
            Value::Unsigned(number) => Brief::integer(Integer::Unsigned(number)),
            _ => Brief::OTHER,
        }
    }
}

/// The highest bit of the first zero byte, and bits of others after it.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

/// The first 16 bytes, if there are enough.
#[inline(always)]
fn words(bytes: &[u8]) -> Option<[u64; 2]> {
    let bytes: &[u8; 16] = bytes.first_chunk()?;
    let number = u128::from_le_bytes(*bytes);
    Some([number as u64, (number >> 64) as u64])
}

/// Fewer than 16 bytes, with zeros after them.
#[cold]
#[inline(never)]
fn padded(bytes: &[u8]) -> [u64; 2] {
    [0, 8]
        .map(|from| u64::from_le_bytes(std::array::from_fn(|at| bytes.get(from + at).copied().unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_text_does_not_matter() {
        for length in 0..=LONGEST {
            let text = &b"abcdefghijklmno"[..length];
            for after in ["", "x", "0123456789abcdef"] {
                let bytes = [text, after.as_bytes()].concat();
                assert_eq!(Brief::text(&bytes, length), Brief::from(&Value::Text(text)));
                assert_eq!(Brief::characters(&bytes, length), Brief::from(&Value::Text(text)));
                let ended = [text, b"\0", after.as_bytes()].concat();
                assert_eq!(Brief::characters(&ended, 40), Brief::from(&Value::Text(text)));
            }
        }
    }

    #[test]
    fn only_the_first_nul_ends_a_text() {
        let bytes = [b"\x01\x80\0\x01\0\xff".as_slice(), &[1; 16]].concat();
        assert_eq!(Brief::characters(&bytes, 40), Brief::text(&bytes, 2));
        assert_eq!(Brief::characters(&bytes[3..], 40), Brief::text(&bytes[3..], 1));
        assert_eq!(Brief::characters(&[1; 40], 40), Brief::OTHER);
        assert_eq!(Brief::characters(&[&[1; 16][..], &[0; 4]].concat(), 17), Brief::OTHER);
    }
}
