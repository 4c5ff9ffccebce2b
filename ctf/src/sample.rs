//! A sample of all events, by their times.

/// A part of all events, in 2^32nds. Events are chosen by their times, so it does not matter who reads them, and a larger sample
/// has all events of a smaller one.
///
/// ```
/// use ctf_reader::Sample;
///
/// let sample = Sample::of(1000, 64_000);
/// let chosen = (0..64_000).filter(|time| sample.has(*time)).count();
/// assert!((900..1100).contains(&chosen), "{chosen}");
/// assert!(sample < Sample::ALL && (0..64_000).all(|time| Sample::ALL.has(time) && !Sample::NONE.has(time)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample(u64);

impl Sample {
    /// No events.
    pub const NONE: Sample = Sample(0);
    /// All events.
    pub const ALL: Sample = Sample(1 << 32);

    /// About this number of all events, or all if there are not more.
    pub fn of(number: u32, all: u64) -> Sample {
        Sample((u64::from(number) << 32) / all.max(number.into()).max(1))
    }

    /// How many of a number of events it has, on average.
    pub fn share_of(self, events: f64) -> f64 {
        events * self.0 as f64 / Sample::ALL.0 as f64
    }

    /// Whether it has the events of a time.
    #[inline(always)]
    pub fn has(self, time: i64) -> bool {
        // The upper half of the product looks random.
        (time as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 < self.0
    }
}
