//! Values on their way into a trace: how many bytes each takes there, and how they are written.

use std::ptr::null;

/// A field's value.
pub trait Pack: Copy {
    /// The bytes that it always takes.
    const SIZE: usize;

    /// The most bytes that it takes in addition.
    #[inline(always)]
    fn more(self) -> usize {
        0
    }

    /// Writes the field as it is laid out in a trace. Returns where the next one goes, and what was recorded.
    ///
    /// # Safety
    /// `to` is valid for writes of `SIZE + self.more()` bytes.
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self);

    /// The part of the value that is recorded, for a value that is not packed.
    #[inline(always)]
    fn cut(self) -> Self {
        self
    }

    /// The value for C.
    fn part(self) -> Part;
}

/// `struct lttng_provider_part`: a value for C that needs more than packed bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    value: u64,
    start: *const u8,
    length: usize,
}

impl Part {
    #[inline(always)]
    pub(super) fn number(value: u64) -> Part {
        Part { value, start: null(), length: 0 }
    }

    #[inline(always)]
    pub(super) fn list(start: *const u8, length: usize) -> Part {
        Part { value: 0, start, length }
    }

    /// A number.
    pub(super) fn value(self) -> u64 {
        self.value
    }

    /// Where bytes or elements start.
    pub(super) fn start(self) -> *const u8 {
        self.start
    }

    /// Their number.
    pub(super) fn length(self) -> usize {
        self.length
    }
}

/// A field that filters see and no trace contains.
#[derive(Clone, Copy, Debug)]
pub struct Unrecorded<F>(pub F);

impl<F: Pack> Pack for Unrecorded<F> {
    const SIZE: usize = 0;

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        (to, self)
    }

    #[inline(always)]
    fn part(self) -> Part {
        self.0.cut().part()
    }
}
