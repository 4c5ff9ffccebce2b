//! Values on their way into a trace: how many bytes each takes there, and how it is written.

use std::marker::PhantomData;
use std::ptr::{copy_nonoverlapping, null};

use super::copy::copy_and_check;
use super::unlikely;
use crate::Text;

/// A field's value.
pub trait Field: Copy {
    /// The bytes that it takes whatever its value is.
    const SIZE: usize;

    /// The bytes that it takes beside those, at most.
    #[inline(always)]
    fn more(self) -> usize {
        0
    }

    /// Writes the field as it lies in a trace. Returns where the next one goes, and what was recorded.
    ///
    /// # Safety
    /// `to` is valid for writes of `SIZE + self.more()` bytes.
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self);

    /// What is recorded of a value that is not packed.
    #[inline(always)]
    fn cut(self) -> Self {
        self
    }

    /// The value for C.
    fn part(self) -> Part;
}

/// `struct lttng_provider_part`: a value for what needs more than packed bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Part {
    value: u64,
    start: *const u8,
    length: usize,
}

impl Part {
    #[inline(always)]
    fn number(value: u64) -> Part {
        Part { value, start: null(), length: 0 }
    }

    #[inline(always)]
    fn list(start: *const u8, length: usize) -> Part {
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

    /// How many there are.
    pub(super) fn length(self) -> usize {
        self.length
    }
}

/// A number of Rust that is recorded as it is.
pub trait Number: Field {
    /// The bits, in the order of the machine.
    fn bits(self) -> u64;

    /// The number with its bytes in network order.
    fn to_network(self) -> Self;
}

macro_rules! numbers {
    ($($type:ty: $value:ident => $bits:expr, $network:expr;)+) => {
        $(
            impl Field for $type {
                const SIZE: usize = size_of::<$type>();

                #[inline(always)]
                unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
                    // SAFETY: the caller keeps the contract; no alignment is needed.
                    unsafe { to.cast::<$type>().write_unaligned(self) };
                    // SAFETY: within the bytes that the caller vouches for, or at their end.
                    (unsafe { to.add(Self::SIZE) }, self)
                }

                #[inline(always)]
                fn part(self) -> Part {
                    Part::number(self.bits())
                }
            }

            impl Number for $type {
                #[inline(always)]
                fn bits(self) -> u64 {
                    let $value = self;
                    $bits
                }

                #[inline(always)]
                fn to_network(self) -> Self {
                    let $value = self;
                    $network
                }
            }
        )+
    };
}

numbers! {
    u8: value => value.into(), value;
    u16: value => value.into(), value.to_be();
    u32: value => value.into(), value.to_be();
    u64: value => value, value.to_be();
    i8: value => value as u64, value;
    i16: value => value as u64, value.to_be();
    i32: value => value as u64, value.to_be();
    i64: value => value as u64, value.to_be();
    f32: value => value.to_bits().into(), value;
    f64: value => value.to_bits(), value;
    bool: value => value.into(), value;
}

/// A number in network order. C gets it in the order of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Network<T>(pub T);

impl<T: Number> Field for Network<T> {
    const SIZE: usize = T::SIZE;

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        // SAFETY: the caller keeps the contract, and the size is the same.
        (unsafe { self.0.to_network().pack(to) }.0, self)
    }

    #[inline(always)]
    fn part(self) -> Part {
        self.0.part()
    }
}

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

impl Field for Terminated<'_> {
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

impl<L: Length> Field for Counted<'_, L> {
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

impl<const N: usize> Field for Characters<'_, N> {
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

/// An array of `N` numbers.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a, T, const N: usize>(pub &'a [T; N]);

impl<T: Number, const N: usize> Field for Array<'_, T, N> {
    const SIZE: usize = size_of::<[T; N]>();

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        // SAFETY: the array is valid, the caller has room for it, and bytes need no alignment.
        unsafe {
            copy_nonoverlapping(self.0.as_ptr().cast(), to, Self::SIZE);
            (to.add(Self::SIZE), self)
        }
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part::list(self.0.as_ptr().cast(), N)
    }
}

/// An array of `N` numbers in network order.
#[derive(Clone, Copy, Debug)]
pub struct NetworkArray<'a, T, const N: usize>(pub &'a [T; N]);

impl<T: Number, const N: usize> Field for NetworkArray<'_, T, N> {
    const SIZE: usize = size_of::<[T; N]>();

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        // SAFETY: the caller has room for `N` numbers.
        (unsafe { pack_network(self.0, to) }, self)
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part::list(self.0.as_ptr().cast(), N)
    }
}

/// Numbers with their count before them, a number of the type `L`.
#[derive(Clone, Copy, Debug)]
pub struct List<'a, T, L> {
    elements: &'a [T],
    length: PhantomData<L>,
}

impl<'a, T: Number, L: Length> List<'a, T, L> {
    /// A sequence; more elements than the recorded length can tell would make the rest of a packet unreadable.
    #[inline(always)]
    pub fn new(elements: &'a [T]) -> Self {
        List { elements: elements.get(..L::MAX).unwrap_or(elements), length: PhantomData }
    }
}

impl<T: Number, L: Length> Field for List<'_, T, L> {
    const SIZE: usize = size_of::<L>();

    #[inline(always)]
    fn more(self) -> usize {
        size_of_val(self.elements)
    }

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        let size = size_of_val(self.elements);
        // SAFETY: the elements are valid, the caller has room for them, and bytes need no alignment.
        unsafe {
            let to = L::pack(self.elements.len(), to);
            copy_nonoverlapping(self.elements.as_ptr().cast(), to, size);
            (to.add(size), self)
        }
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part::list(self.elements.as_ptr().cast(), self.elements.len())
    }
}

/// Numbers in network order with their count before them.
#[derive(Clone, Copy, Debug)]
pub struct NetworkList<'a, T, L>(List<'a, T, L>);

impl<'a, T: Number, L: Length> NetworkList<'a, T, L> {
    /// A sequence, as [`List::new`].
    #[inline(always)]
    pub fn new(elements: &'a [T]) -> Self {
        NetworkList(List::new(elements))
    }
}

impl<T: Number, L: Length> Field for NetworkList<'_, T, L> {
    const SIZE: usize = size_of::<L>();

    #[inline(always)]
    fn more(self) -> usize {
        self.0.more()
    }

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        let elements = self.0.elements;
        // SAFETY: the caller has room for the length and the elements.
        (unsafe { pack_network(elements, L::pack(elements.len(), to)) }, self)
    }

    #[inline(always)]
    fn part(self) -> Part {
        self.0.part()
    }
}

/// A field that filters see and no trace has.
#[derive(Clone, Copy, Debug)]
pub struct Unrecorded<F>(pub F);

impl<F: Field> Field for Unrecorded<F> {
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

/// The type of a length in a trace.
pub trait Length: Copy {
    /// The largest length.
    const MAX: usize;

    /// Writes a length, and returns where what follows goes.
    ///
    /// # Safety
    /// `to` is valid for writes of a `Self`.
    unsafe fn pack(length: usize, to: *mut u8) -> *mut u8;
}

macro_rules! lengths {
    ($($type:ty)+) => {
        $(
            impl Length for $type {
                const MAX: usize =
                    if size_of::<$type>() < size_of::<usize>() { <$type>::MAX as usize } else { usize::MAX };

                #[inline(always)]
                unsafe fn pack(length: usize, to: *mut u8) -> *mut u8 {
                    // SAFETY: the caller keeps the contract.
                    unsafe { Field::pack(length as $type, to).0 }
                }
            }
        )+
    };
}

lengths!(u8 u16 u32 u64);

/// Bytes of a text, no more than may be recorded.
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

    /// How many bytes there are before the first NUL.
    #[cold]
    #[inline(never)]
    fn before_nul(self) -> usize {
        // SAFETY: they are part of a slice that lives for `'a`.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.length) };
        bytes.iter().position(|byte| *byte == 0).unwrap_or(self.length)
    }

    /// Writes the bytes before the first NUL, and NULs up to the given size.
    ///
    /// # Safety
    /// `to` is valid for writes of `size` bytes, and there are no more bytes than that.
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

/// Writes numbers in network order, and returns where what follows goes.
///
/// # Safety
/// `to` is valid for writes of all of them.
#[inline(always)]
unsafe fn pack_network<T: Number>(elements: &[T], mut to: *mut u8) -> *mut u8 {
    for element in elements {
        // SAFETY: the caller has room for it.
        to = unsafe { element.to_network().pack(to) }.0;
    }
    to
}
