//! Octaves: durations from one power of two to the next.

/// The number of octaves: one for 0 and one for each power of two below 2^63.
pub(crate) const OCTAVES: usize = 64;

/// The octave of a duration: 0, 1, 2 to 3, 4 to 7, …
#[inline]
pub(crate) fn octave_of(ticks: u64) -> usize {
    (u64::BITS - ticks.leading_zeros()) as usize
}

/// Where an octave begins.
pub(crate) fn octave_start(octave: usize) -> u64 {
    if octave == 0 { 0 } else { 1 << (octave - 1) }
}
