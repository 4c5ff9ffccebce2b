//! What is counted of a group for monitors.

use super::steps::step_start;
use crate::groups::group::Figures;

/// The upper bounds of the buckets that durations are counted in, in nanoseconds: 1, 2 and 5 of each power of ten.
pub const BOUNDS: [u64; 22] = {
    let mut bounds = [0; 22];
    let mut place = 0;
    while place < bounds.len() {
        bounds[place] = step_start(10 + place);
        place += 1;
    }
    bounds
};

/// What is counted of a group: events, those with a duration, their total in nanoseconds, and the number in each bucket.
pub const GROUP_COUNTERS: usize = 3 + BOUNDS.len();

/// What is counted of figures whose durations have this unit.
pub fn group_counters(figures: &Figures, unit_ns: u128) -> [u64; GROUP_COUNTERS] {
    let mut counters = [0; GROUP_COUNTERS];
    let durations = &figures.durations;
    counters[0] = figures.count();
    counters[1] = durations.count();
    counters[2] = nanoseconds(durations.total().saturating_mul(unit_ns));
    for bucket in durations.buckets() {
        // All of a bucket is in the one that its upper end is in.
        let longest = nanoseconds(u128::from(bucket.high) * unit_ns);
        let place = BOUNDS.partition_point(|&bound| bound < longest);
        if let Some(counter) = counters[3..].get_mut(place) {
            *counter += bucket.count;
        }
    }
    counters
}

/// Adds counters.
pub fn add<const N: usize>(sum: &mut [u64; N], more: &[u64; N]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
}

/// A number of nanoseconds, as far as counters reach.
pub fn nanoseconds(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_in_the_bucket_of_their_bound() {
        assert_eq!((BOUNDS[0], BOUNDS[2], BOUNDS[3], BOUNDS[21]), (1_000, 5_000, 10_000, 10_000_000_000));
        let mut figures = Figures::default();
        // Microseconds, as Valkey's are.
        for ticks in [0, 1, 2, 3, 5, 9_000_000, 20_000_000] {
            figures.record(Some(ticks));
        }
        figures.record(None);
        let counters = group_counters(&figures, 1_000);
        assert_eq!(counters[..3], [8, 7, 29_000_011_000]);
        assert_eq!(counters[3..6], [2, 1, 2], "up to 1 µs, up to 2, up to 5");
        assert_eq!(counters[3..].iter().sum::<u64>(), 6, "20 s are beyond all bounds");
    }
}
