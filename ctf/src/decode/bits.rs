//! A position in a packet's bytes, counted in bits.
//!
//! CTF counts bits in the direction of the byte order, so that a field that does not begin at a byte's
//! boundary is one run of bits in both:
//!
//! ```text
//! little-endian   byte 0: 7 6 5 4 3 2 1 0   byte 1: 7 6 5 4 3 2 1 0     5 bits at 6 → b1[2..0] b0[7..6]
//!                         └── first bit is bit 0
//! big-endian      byte 0: 7 6 5 4 3 2 1 0   byte 1: 7 6 5 4 3 2 1 0     5 bits at 6 → b0[1..0] b1[7..5]
//!                         └── first bit is bit 7
//! ```

use crate::metadata::ByteOrder;

/// The most elements of no size that are accepted; more would let hostile bytes make a reader hang.
pub const MAX_EMPTY: u32 = 1 << 16;

/// The most list elements of an event that are kept in memory; others are skipped.
pub const MAX_ELEMENTS: u32 = 1 << 16;

/// Why a field cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It extends past the available bytes.
    Short,
    /// A variant's tag selects no member.
    NoChoice,
    /// A sequence has a negative length, or very many elements of no size.
    BadLength,
    /// An integer in LEB128 has more than 64 bits.
    TooLarge,
}

/// A position in bytes.
///
/// Nearly all fields are made of whole bytes, and are taken off the front of `rest` without any arithmetic
/// on bits.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    /// All bytes. They begin at a multiple of every alignment.
    bytes: &'a [u8],
    /// The bytes from the position on.
    rest: &'a [u8],
    /// The number of bits of the first of these that have been read.
    bit: usize,
    /// Where reading must stop, in bits from the beginning of the bytes.
    end: usize,
    /// The number of further elements that may have no size.
    pub empty: u32,
    /// The number of further elements that may be kept in memory.
    elements: u32,
}

impl<'a> Bits<'a> {
    /// The position `at` bits into the bytes, which may be read up to `end`, in bits too.
    pub fn new(bytes: &'a [u8], at: usize, end: usize) -> Bits<'a> {
        let end = end.min(bytes.len().saturating_mul(8));
        let bytes = &bytes[..end.div_ceil(8)];
        let mut bits = Bits { bytes, rest: bytes, bit: 0, end, empty: MAX_EMPTY, elements: MAX_ELEMENTS };
        bits.set(at.min(end));
        bits
    }

    /// The position, in bits from the beginning of the bytes.
    #[inline]
    pub fn at(&self) -> usize {
        (self.bytes.len() - self.rest.len()) * 8 + self.bit
    }

    fn set(&mut self, at: usize) {
        self.rest = &self.bytes[at / 8..];
        self.bit = at % 8;
    }

    /// The number of bits that are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.end.saturating_sub(self.at())
    }

    /// Counts an element that is kept in memory, if there is room for it.
    pub fn take_element(&mut self) -> bool {
        let left = self.elements.checked_sub(1);
        self.elements = left.unwrap_or(0);
        left.is_some()
    }

    /// Counts an element that had no size, and fails when there have been too many of them.
    pub fn check_progress(&mut self, before: usize) -> Result<(), Fault> {
        if self.at() == before {
            self.empty = self.empty.checked_sub(1).ok_or(Fault::BadLength)?;
        }
        Ok(())
    }

    /// Fails if more has been read than may be. Taking whole bytes checks whole bytes only, and the end may lie within
    /// one.
    #[inline]
    pub fn check_end(&self) -> Result<(), Fault> {
        if self.at() <= self.end { Ok(()) } else { Err(Fault::Short) }
    }

    /// Moves on to a multiple of the alignment, a power of two.
    #[inline(always)]
    pub fn align(&mut self, align: u32) -> Result<(), Fault> {
        let padding = self.at().wrapping_neg() & (align as usize - 1);
        if padding == 0 { Ok(()) } else { self.skip(padding as u64) }
    }

    /// Moves on by a number of bits.
    #[inline(always)]
    pub fn skip(&mut self, bits: u64) -> Result<(), Fault> {
        *self = self.advanced(bits)?;
        Ok(())
    }

    /// The position a number of bits further on. Takes and returns it by value, so that a caller can keep it in registers.
    fn advanced(mut self, bits: u64) -> Result<Bits<'a>, Fault> {
        match usize::try_from(bits) {
            Ok(bits) if bits <= self.left() => {
                self.set(self.at() + bits);
                Ok(self)
            }
            _ => Err(Fault::Short),
        }
    }

    /// Takes an integer of 1 to 64 bits.
    pub fn integer(&mut self, size: u32, order: ByteOrder) -> Result<u64, Fault> {
        let (before, shift) = (self.rest, self.bit);
        self.skip(size.into())?;
        // 64 bits that do not begin at a byte's boundary span 9 bytes.
        let spanned = &before[..(shift + size as usize).div_ceil(8)];
        let mut bytes = [0; 16];
        bytes[..spanned.len()].copy_from_slice(spanned);
        let little = || (u128::from_le_bytes(bytes) >> shift) as u64 & (u64::MAX >> (64 - size));
        let big = || (u128::from_be_bytes(bytes) << shift >> (128 - size)) as u64;
        Ok(match order {
            ByteOrder::Little => little(),
            ByteOrder::Big => big(),
            ByteOrder::LittleMirrored => little().reverse_bits() >> (64 - size),
            ByteOrder::BigMirrored => big().reverse_bits() >> (64 - size),
        })
    }

    /// Takes an integer in LEB128, in two's complement, with its size in bits; the position must be at a byte's
    /// boundary.
    pub fn leb128(&mut self, signed: bool) -> Result<(u64, u32), Fault> {
        let (mut value, mut size) = (0, 0_u32);
        loop {
            let byte = self.bytes(1)?[0];
            let seven = u64::from(byte & 0x7F);
            value |= seven.checked_shl(size).unwrap_or(0);
            // Bits from the 64th on may only repeat the sign, or be 0.
            let sign = if signed && value >> 63 == 1 { 0x7F } else { 0 };
            let fits = match size {
                0..=56 => true,
                63 if !signed => seven <= 1,
                _ => seven == sign,
            };
            if !fits {
                return Err(Fault::TooLarge);
            }
            size = size.saturating_add(7);
            if byte & 0x80 == 0 {
                break;
            }
        }
        if signed && size < 64 && value >> (size - 1) & 1 == 1 {
            value |= u64::MAX << size;
        }
        Ok((value, size.min(64)))
    }

    /// Takes whole bytes; the position must be at a byte's boundary.
    #[inline(always)]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes whole bytes up to a NUL, and the NUL; the position must be at a byte's boundary.
    pub fn text(&mut self) -> Result<&'a [u8], Fault> {
        let length = memchr::memchr(0, self.rest).ok_or(Fault::Short)?;
        let text = self.bytes(length)?;
        self.bytes(1)?;
        Ok(text)
    }

    /// The bytes from here on; the position must be at a byte's boundary.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// A signed integer of this size in bits.
#[inline]
pub fn sign_extend(value: u64, size: u32) -> i64 {
    let unused = 64 - size;
    (value << unused) as i64 >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [ByteOrder; 4] =
        [ByteOrder::Little, ByteOrder::Big, ByteOrder::LittleMirrored, ByteOrder::BigMirrored];

    #[test]
    fn integers_of_any_width_are_taken_at_any_bit() {
        let bytes: Vec<u8> = (0..32_u8).map(|i| i.wrapping_mul(151).wrapping_add(37)).collect();
        let bit = |order: ByteOrder, i: usize| match order {
            ByteOrder::Little | ByteOrder::LittleMirrored => u64::from(bytes[i / 8] >> (i % 8) & 1),
            ByteOrder::Big | ByteOrder::BigMirrored => u64::from(bytes[i / 8] >> (7 - i % 8) & 1),
        };
        for size in 1..=64 {
            for at in 0..64 {
                for order in ORDERS {
                    let expected = (0..size as usize).fold(0, |value, i| match order {
                        ByteOrder::Little | ByteOrder::BigMirrored => value | bit(order, at + i) << i,
                        ByteOrder::Big | ByteOrder::LittleMirrored => value << 1 | bit(order, at + i),
                    });
                    let mut bits = Bits::new(&bytes, at, 256);
                    assert_eq!(bits.integer(size, order), Ok(expected), "{size} bits at {at}, {order:?}");
                    assert_eq!(bits.at(), at + size as usize);
                }
            }
        }
    }

    #[test]
    fn nothing_is_taken_from_after_the_end() {
        let mut bits = Bits::new(&[1, 2, 3, 0], 3, 20);
        assert_eq!(bits.integer(18, ByteOrder::Little), Err(Fault::Short));
        assert_eq!(bits.skip(u64::MAX), Err(Fault::Short));
        assert_eq!(bits.align(32), Err(Fault::Short));
        assert_eq!(bits.align(8), Ok(()));
        assert_eq!(bits.bytes(3), Err(Fault::Short));
        assert_eq!(bits.text(), Err(Fault::Short));
        assert_eq!((bits.at(), bits.left()), (8, 12));
        assert_eq!(bits.bytes(1), Ok(&[2][..]));
        assert_eq!(bits.check_end(), Ok(()));
        assert_eq!(bits.bytes(1), Ok(&[3][..]));
        assert_eq!((bits.left(), bits.check_end()), (0, Err(Fault::Short)));
    }

    #[test]
    fn texts_of_any_length_end_at_their_nul() {
        for length in 0..100 {
            let bytes = [vec![b'x'; length], vec![0; 3], vec![b'y'; 20]].concat();
            let mut bits = Bits::new(&bytes, 0, usize::MAX);
            assert_eq!(bits.text().map(<[u8]>::len), Ok(length));
            assert_eq!(bits.at(), (length + 1) * 8);
            assert_eq!(Bits::new(&bytes[..length], 0, usize::MAX).text(), Err(Fault::Short));
        }
    }

    fn leb128(bytes: &[u8], signed: bool) -> Result<(u64, u32), Fault> {
        Bits::new(bytes, 0, usize::MAX).leb128(signed)
    }

    #[test]
    fn leb128_has_seven_bits_a_byte() {
        assert_eq!(leb128(&[0x7F, 9], false), Ok((127, 7)));
        assert_eq!(leb128(&[0x7F, 9], true), Ok((u64::MAX, 7)));
        assert_eq!(leb128(&[0x3F], true), Ok((63, 7)));
        // The two examples of the specification.
        assert_eq!(leb128(&[0xB4, 0xC7, 0x72], false), Ok((1_876_916, 21)));
        assert_eq!(leb128(&[0xB4, 0xC7, 0x72], true), Ok((-220_236_i64 as u64, 21)));
        assert_eq!(leb128(&[0x80, 0x00], false), Ok((0, 14)));
        assert_eq!(leb128(&[0x80, 0x80], false), Err(Fault::Short));
        assert_eq!(leb128(&[], true), Err(Fault::Short));
    }

    #[test]
    fn leb128_of_more_than_64_bits_is_refused_unless_they_repeat_the_sign() {
        let nine = |last: &[u8]| [&[0xFF; 9], last].concat();
        let empty_nine = |last: &[u8]| [&[0x80; 9], last].concat();
        assert_eq!(leb128(&nine(&[0x01]), false), Ok((u64::MAX, 64)));
        assert_eq!(leb128(&nine(&[0x81, 0x80, 0x00]), false), Ok((u64::MAX, 64)));
        assert_eq!(leb128(&nine(&[0x02]), false), Err(Fault::TooLarge));
        assert_eq!(leb128(&nine(&[0x81, 0x01]), false), Err(Fault::TooLarge));
        assert_eq!(leb128(&empty_nine(&[0x7F]), true), Ok((i64::MIN as u64, 64)));
        assert_eq!(leb128(&empty_nine(&[0xFF, 0xFF, 0x7F]), true), Ok((i64::MIN as u64, 64)));
        assert_eq!(leb128(&nine(&[0x00]), true), Ok((i64::MAX as u64, 64)));
        assert_eq!(leb128(&nine(&[0x01]), true), Err(Fault::TooLarge));
        assert_eq!(leb128(&empty_nine(&[0xFF, 0x00]), true), Err(Fault::TooLarge));
    }

    #[test]
    fn signs_are_extended() {
        assert_eq!(sign_extend(0b111, 3), -1);
        assert_eq!(sign_extend(0b011, 3), 3);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
        assert_eq!(sign_extend(1, 1), -1);
    }
}
