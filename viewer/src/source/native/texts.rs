//! Texts up to their NULs, one after the other.
//!
//! An event has several texts, mostly short, and where one begins is known only when the one before it has
//! been searched. To search each on its own makes the processor wait for one answer after the other. So 64 bytes
//! are searched at once, into one bit for each, and the ends of all texts in them are read off these bits:
//!
//! ```text
//! bytes   1 2 7 . 0 . 0 . 1 : 9 ␀ g e t ␀ …
//! bits    0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 1 …
//! ```

use wide::u8x16;

/// How many bytes are searched at once.
const SPAN: usize = 64;

/// A place in bytes in which texts are looked for.
pub struct Texts<'a> {
    /// The bytes behind the last text.
    rest: &'a [u8],
    /// Which of the next of these are NUL, the first one in the lowest bit. No bit says nothing: the bytes may not
    /// have been searched.
    nuls: u64,
}

impl<'a> Texts<'a> {
    /// The beginning of bytes.
    #[inline(always)]
    pub fn new(bytes: &'a [u8]) -> Texts<'a> {
        Texts { rest: bytes, nuls: 0 }
    }

    /// The bytes from so many behind the last text on, if there are as many.
    #[inline(always)]
    pub fn behind(&self, at: usize) -> Option<&'a [u8]> {
        self.rest.get(at..)
    }

    /// Takes the text that begins so many bytes behind the last one, and its NUL, if there is one.
    #[inline(always)]
    pub fn take(&mut self, at: usize) -> Option<&'a [u8]> {
        let bytes = self.behind(at)?;
        let nuls = self.nuls_from(at, bytes);
        let length = if nuls == 0 { far_nul(bytes, 1)? } else { nuls.trailing_zeros() as usize };
        self.end_at(bytes, nuls, length)?;
        bytes.get(..length)
    }

    /// Steps over so many texts, of which the first begins so many bytes behind the last one.
    #[inline(always)]
    pub fn skip(&mut self, at: usize, count: usize) -> Option<()> {
        let bytes = self.behind(at)?;
        let mut nuls = self.nuls_from(at, bytes);
        for _ in 1..count {
            // Without its lowest bit.
            nuls &= nuls.wrapping_sub(1);
        }
        let length = if nuls == 0 { far_nul(bytes, count)? } else { nuls.trailing_zeros() as usize };
        self.end_at(bytes, nuls, length)
    }

    /// Which of the bytes, so many behind the last text, are NUL.
    #[inline(always)]
    fn nuls_from(&self, at: usize, bytes: &[u8]) -> u64 {
        match if at < SPAN { self.nuls >> at } else { 0 } {
            0 => bytes.first_chunk().map_or(0, nuls_in),
            nuls => nuls,
        }
    }

    /// Moves on behind the NUL that is there.
    #[inline(always)]
    fn end_at(&mut self, bytes: &'a [u8], nuls: u64, nul: usize) -> Option<()> {
        self.rest = bytes.get(nul + 1..)?;
        // Two shifts, for there is no shift by all 64 bits. Where no bit is left, it does not matter how far.
        self.nuls = nuls >> (nul % SPAN) >> 1;
        Some(())
    }
}

/// Where the `count`th NUL is if it is further away than what was searched, or close to the end of the bytes.
#[cold]
#[inline(never)]
fn far_nul(bytes: &[u8], count: usize) -> Option<usize> {
    memchr::memchr_iter(0, bytes).nth(count - 1)
}

/// Which bytes are NUL, the first one in the lowest bit.
#[inline(always)]
fn nuls_in(bytes: &[u8; SPAN]) -> u64 {
    let (vectors, _) = bytes.as_chunks::<16>();
    vectors.iter().rev().fold(0, |nuls, &vector| {
        let is_nul = u8x16::from(vector).cmp_eq(u8x16::ZERO);
        nuls << 16 | u64::from(is_nul.move_mask() as u16)
    })
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
                let mut texts = Texts::new(&bytes);
                assert_eq!(texts.take(0).map(<[u8]>::len), Some(before));
                assert_eq!(texts.take(0).map(<[u8]>::len), Some(length));
                assert_eq!(texts.take(1), Some(&[][..]));
                assert_eq!(texts.take(0), None, "no NUL ends the last");
                assert_eq!(texts.behind(0), Some(&b"zzzzz"[..]));
                let mut texts = Texts::new(&bytes);
                assert_eq!((texts.skip(0, 2), texts.take(0)), (Some(()), Some(&[][..])));
                assert_eq!((texts.skip(0, 2), texts.skip(0, 1)), (None, Some(())));
                assert_eq!(texts.behind(0), Some(&b"zzzzz"[..]));
            }
        }
    }

    #[test]
    fn bytes_between_texts_are_passed_over() {
        for gap in 0..140 {
            let bytes = [b"a\0".to_vec(), vec![0; gap], b"bc\0".to_vec(), vec![b'-'; 200]].concat();
            let mut texts = Texts::new(&bytes);
            assert_eq!(texts.take(0), Some(&b"a"[..]));
            assert_eq!(texts.take(gap), Some(&b"bc"[..]));
            assert_eq!(texts.behind(200), Some(&[][..]));
            assert_eq!((texts.behind(201), texts.take(201)), (None, None));
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
