//! Texts: strings that end in a NUL, texts with their length, and texts of a fixed size.

use std::marker::PhantomData;

use super::copy::{before_nul, copy_and_check};
use super::length::Length;
use super::pack::{Pack, Part};
use super::unlikely::unlikely;
use crate::text::Text;

/// A string: ends at its first NUL, and is recorded with one.
#[derive(Clone, Copy, Debug)]
pub struct Terminated<'a>(Bytes<'a>);

impl<'a> Terminated<'a> {
    /// A string field.
    #[inline(always)]
    pub fn new(text: Text<'a>) -> Self {
        Terminated(Bytes::new(text, Text::MAX))
    }
}

impl Pack for Terminated<'_> {
    const SIZE: usize = 1;

    #[inline(always)]
    fn more(self) -> usize {
        self.0.length
    }

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        // SAFETY: the bytes are valid, and the caller has room for them; what is packed is apart from them.
        let has_nul = unsafe { copy_and_check(self.0.start, to, self.0.length) };
        let cut = if has_nul && unlikely() { self.cut() } else { self };
        // SAFETY: the room is one byte larger than the length.
        unsafe {
            let end = to.add(cut.0.length);
            end.write(0);
            (end.add(1), cut)
        }
    }

    #[inline(always)]
    fn cut(self) -> Self {
        Terminated(Bytes { length: self.0.before_nul(), ..self.0 })
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part::list(self.0.start, self.0.length)
    }
}

/// Text with its length before it, a number of the type `L`. What follows a NUL is recorded as NULs, as
/// LTTng's own probe does.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a, L> {
    bytes: Bytes<'a>,
    length: PhantomData<L>,
}

impl<'a, L: Length> Counted<'a, L> {
    /// A text field.
    #[inline(always)]
    pub fn new(text: Text<'a>) -> Self {
        let most = if L::MAX < Text::MAX { L::MAX } else { Text::MAX };
        Counted { bytes: Bytes::new(text, most), length: PhantomData }
    }
}

impl<L: Length> Pack for Counted<'_, L> {
    const SIZE: usize = size_of::<L>();

    #[inline(always)]
    fn more(self) -> usize {
        self.bytes.length
    }

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        // SAFETY: the caller has room for the length and the bytes.
        (unsafe { self.bytes.pack_padded(L::pack(self.bytes.length, to), self.bytes.length) }, self)
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part::list(self.bytes.start, self.bytes.length)
    }
}

/// Exactly `N` bytes of text: cut, or filled up with NULs.
#[derive(Clone, Copy, Debug)]
pub struct Characters<'a, const N: usize>(Bytes<'a>);

impl<'a, const N: usize> Characters<'a, N> {
    /// A field of `N` characters.
    #[inline(always)]
    pub fn new(text: Text<'a>) -> Self {
        Characters(Bytes::new(text, N))
    }
}

impl<const N: usize> Pack for Characters<'_, N> {
    const SIZE: usize = N;

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        // SAFETY: the caller has room for `N` bytes, and no more than that is taken from the text.
        (unsafe { self.0.pack_padded(to, N) }, self)
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part::list(self.0.start, self.0.length)
    }
}

/// The bytes of a text that are recorded.
#[derive(Clone, Copy, Debug)]
struct Bytes<'a> {
    start: *const u8,
    length: usize,
    lifetime: PhantomData<&'a [u8]>,
}

impl<'a> Bytes<'a> {
    #[inline(always)]
    fn new(text: Text<'a>, most: usize) -> Self {
        let bytes = text.bytes();
        let length = if bytes.len() > most && unlikely() { most } else { bytes.len() };
        Bytes { start: bytes.as_ptr(), length, lifetime: PhantomData }
    }

    /// The number of bytes before the first NUL.
    #[inline(always)]
    fn before_nul(self) -> usize {
        // SAFETY: they are part of a slice that lives for `'a`.
        unsafe { before_nul(self.start, self.length) }
    }

    /// Writes the bytes before the first NUL, and NULs up to the given size.
    ///
    /// # Safety
    /// `to` is valid for writes of `size` bytes, and `self` has at most as many.
    #[inline(always)]
    unsafe fn pack_padded(self, to: *mut u8, size: usize) -> *mut u8 {
        // SAFETY: the bytes are valid, the caller has room for them, and all that is written is within `size`.
        unsafe {
            let has_nul = copy_and_check(self.start, to, self.length);
            let length = if has_nul && unlikely() { self.before_nul() } else { self.length };
            to.add(length).write_bytes(0, size - length);
            to.add(size)
        }
    }
}
