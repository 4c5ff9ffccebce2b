//! Arrays and sequences of numbers.

use std::marker::PhantomData;
use std::ptr::copy_nonoverlapping;

use super::length::Length;
use super::number::Number;
use super::pack::{Pack, Part};

/// An array of `N` numbers.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a, T, const N: usize>(pub &'a [T; N]);

impl<T: Number, const N: usize> Pack for Array<'_, T, N> {
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

impl<T: Number, const N: usize> Pack for NetworkArray<'_, T, N> {
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

impl<T: Number, L: Length> Pack for List<'_, T, L> {
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

impl<T: Number, L: Length> Pack for NetworkList<'_, T, L> {
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
