//! From the numbers of what was met where events are read to those of who follows them.

use super::digester::{MOST, NO_CLIENT};
use crate::reading::grown;

/// What a consumer knows, mostly by its own numbers, of what was numbered where it was read. It keeps the last of those numbers,
/// because the digester may forget what they stand for.
#[derive(Clone, Debug)]
pub struct Translation<T = u32> {
    first: u32,
    known: Vec<Option<T>>,
}

impl<T> Default for Translation<T> {
    fn default() -> Self {
        Translation { first: 0, known: Vec::new() }
    }
}

impl<T: Copy> Translation<T> {
    /// What it is, if that is known.
    #[inline(always)]
    pub fn get(&self, number: u32) -> Option<T> {
        *self.known.get(number.wrapping_sub(self.first) as usize)?
    }

    /// Remembers what anything is that has a number.
    #[cold]
    pub fn enter(&mut self, number: u32, known: T) {
        if number == 0 || number == NO_CLIENT || number < self.first {
            return;
        }
        let beyond = (number - self.first).saturating_sub(2 * MOST as u32 - 1);
        if beyond > 0 {
            // Half of them, so that this is rare.
            let passed = beyond + MOST as u32;
            self.known.drain(..self.known.len().min(passed as usize));
            self.first += passed;
        }
        *grown(&mut self.known, (number - self.first) as usize) = Some(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_translation_knows_the_last_numbers_in_bounded_memory() {
        let mut translation = Translation::default();
        let most = MOST as u32;
        for number in (1..10 * most).chain([100 * most]) {
            translation.enter(number, number + 7);
            assert_eq!(translation.get(number), Some(number + 7));
            assert!(translation.known.len() <= 2 * MOST, "{number}");
        }
        assert_eq!(translation.get(10 * most), None);
        for number in 1..10 * most {
            translation.enter(number, 0);
        }
        assert_eq!(translation.get(100 * most), Some(100 * most + 7), "what is too old is not entered");
        translation.enter(NO_CLIENT, 1);
        translation.enter(0, 1);
        assert_eq!((translation.get(NO_CLIENT), translation.get(0)), (None, None));
    }
}
