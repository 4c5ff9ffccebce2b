//! Lists by number, which grow as numbers come.

/// The element with a number; the list grows until it has one.
#[inline(always)]
pub(crate) fn grown<T: Default>(list: &mut Vec<T>, number: usize) -> &mut T {
    if list.len() <= number {
        grow(list, number);
    }
    &mut list[number]
}

/// Rare, and apart: nearly all events find what they need.
#[cold]
fn grow<T: Default>(list: &mut Vec<T>, number: usize) {
    list.resize_with(number + 1, T::default);
}
