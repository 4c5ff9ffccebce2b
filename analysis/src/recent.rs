//! The last of many, in bounded memory.

use std::collections::VecDeque;

/// Adds an element to a queue that keeps at most this number of the last ones.
#[inline]
pub(super) fn remember<T>(queue: &mut VecDeque<T>, most: usize, element: T) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(element);
}

/// Drops the first elements of a queue, and the memory that it no longer needs.
pub(super) fn drop_first<T>(queue: &mut VecDeque<T>, count: usize) {
    queue.drain(..count.min(queue.len()));
    if queue.len() < queue.capacity() / 4 {
        queue.shrink_to_fit();
    }
}
