//! Pseudo-random numbers for tests.

/// A xorshift generator. Its numbers follow from the seed alone, so a test that fails fails again.
///
/// ```
/// use lttng_testing::Random;
///
/// let (mut one, mut other) = (Random::new(7), Random::new(7));
/// assert_eq!(one.number(), other.number());
/// assert!(one.below(10) < 10);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; neighbouring seeds give unrelated numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number from 0 up to, but not including, the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.number() % limit
    }

    /// An index into something of this length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}
