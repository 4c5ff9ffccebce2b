//! Texts up to their NULs, one after the other.
//!
//! An event has several texts, mostly short, and where one begins is known only when the one before it has
//! been searched. Searching each one separately makes the processor wait for one result after the other. So 64 bytes
//! are searched at once, into one bit for each, and the ends of all texts in them are read off these bits:
//!
//! ```text
//! bytes   1 2 7 . 0 . 0 . 1 : 9 ␀ g e t ␀ …
//! bits    0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 1 …
//! ```

use wide::u8x16;

/// The number of bytes that are searched at once.
const SPAN: usize = 64;

/// A position in bytes, from which texts are searched.
pub struct Texts<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the bytes that were searched begin.
    searched: usize,
    /// Which of these are NUL and not yet passed, the first one in the lowest bit.
    nuls: u64,
}

impl<'a> Texts<'a> {
    /// Starts at a position.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], at: usize) -> Texts<'a> {
        Texts { bytes, at, searched: at, nuls: 0 }
    }

    /// Moves on by bytes that are not text, and returns where that is.
    #[inline(always)]
    pub fn pass(&mut self, count: usize) -> usize {
        self.at += count;
        if self.nuls != 0 && count > 0 {
            let passed = self.at - self.searched;
            self.nuls = if passed < SPAN { self.nuls & u64::MAX << passed } else { 0 };
        }
        self.at
    }

    /// Moves on past the NUL that ends a text, if there is one, and returns where that is.
    #[inline(always)]
    pub fn end(&mut self) -> Option<usize> {
        if self.nuls == 0 {
            let rest = self.bytes.get(self.at..)?;
            self.searched = self.at;
            self.nuls = rest.first_chunk().map_or(0, nuls_in);
            if self.nuls == 0 {
                self.at += far_nul(rest)? + 1;
                return Some(self.at);
            }
        }
        self.at = self.searched + self.nuls.trailing_zeros() as usize + 1;
        // Without its lowest bit.
        self.nuls &= self.nuls - 1;
        Some(self.at)
    }
}

/// Finds the ends of texts with nothing between them, the first of which begins at this position, and returns where the
/// last one ends. `None` if they are not all close to it: then [`Texts`] may still find them.
#[inline(always)]
pub fn adjacent_ends(bytes: &[u8], at: usize, ends: &mut [u32]) -> Option<usize> {
    let nuls = nuls_in(bytes.get(at..)?.first_chunk()?);
    // Most events have few texts: a few instructions without a loop.
    let end = match ends {
        [one] => read_off(nuls, at, [one]),
        [one, two] => read_off(nuls, at, [one, two]),
        [one, two, three] => read_off(nuls, at, [one, two, three]),
        [one, two, three, four] => read_off(nuls, at, [one, two, three, four]),
        _ => read_off(nuls, at, ends),
    };
    // Without a bit left, the number of trailing zeros is 64.
    (end <= at + SPAN).then_some(end)
}

/// Reads the ends of texts off the bits of their NULs, and returns the last one. The first text begins at `at`.
#[inline(always)]
fn read_off<'e>(mut nuls: u64, at: usize, ends: impl IntoIterator<Item = &'e mut u32>) -> usize {
    let mut last = at;
    for end in ends {
        last = at + nuls.trailing_zeros() as usize + 1;
        *end = last as u32;
        // Without its lowest bit.
        nuls &= nuls.wrapping_sub(1);
    }
    last
}

/// The position of a NUL beyond what was searched at once, or close to the end of the bytes.
#[cold]
#[inline(never)]
fn far_nul(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(0, bytes)
}

/// Which bytes are NUL, the first one in the lowest bit.
#[inline(always)]
fn nuls_in(bytes: &[u8; SPAN]) -> u64 {
    let in_vector = |number: usize| {
        let vector = <[u8; 16]>::try_from(&bytes[16 * number..][..16]).unwrap_or_default();
        let is_nul = u8x16::from(vector).cmp_eq(u8x16::ZERO);
        u64::from(is_nul.move_mask() as u16)
    };
    // In pairs, to shorten the chain of dependent instructions.
    (in_vector(0) | in_vector(1) << 16) | (in_vector(2) | in_vector(3) << 16) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_end_at_their_nul_wherever_they_begin() {
        for before in 0..140 {
            for length in 0..140 {
                let bytes =
                    [vec![b'x'; before], vec![0], vec![b'y'; length], vec![0; 3], vec![b'z'; 5]].concat();
                let mut texts = Texts::new(&bytes, 0);
                assert_eq!(texts.end(), Some(before + 1));
                let second = before + 1 + length + 1;
                assert_eq!(texts.end(), Some(second));
                assert_eq!(texts.pass(1), second + 1);
                assert_eq!(texts.end(), Some(second + 2));
                assert_eq!(texts.end(), None, "no NUL ends the last");
                assert_eq!(texts.pass(100), second + 102);
                assert_eq!(texts.end(), None, "after the bytes");
            }
        }
    }

    #[test]
    fn bytes_between_texts_are_passed_over() {
        for gap in 0..140 {
            let bytes = [b"a\0".to_vec(), vec![0; gap], b"bc\0".to_vec(), vec![b'-'; 200]].concat();
            let mut texts = Texts::new(&bytes, 0);
            assert_eq!(texts.end(), Some(2));
            texts.pass(gap);
            assert_eq!(texts.end(), Some(2 + gap + 3));
        }
    }

    #[test]
    fn every_nul_has_its_bit() {
        for place in 0..SPAN {
            let mut bytes = [0xff; SPAN];
            bytes[place] = 0;
            assert_eq!(nuls_in(&bytes), 1 << place);
        }
    }
}
