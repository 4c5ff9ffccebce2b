//! Lists by number, which grow as numbers come.

/// The element with a number; the list grows until it has one.
#[inline]
pub(crate) fn grown<T: Default>(list: &mut Vec<T>, number: usize) -> &mut T {
    if list.len() <= number {
        list.resize_with(number + 1, T::default);
    }
    &mut list[number]
}
