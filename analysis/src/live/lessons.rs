//! When the watch of the next epoch learns what is usual.
//!
//! While it learns, each event is followed twice. Where little happens, that costs little, and all of it is needed. Where much
//! happens, a second in ten shows what is usual, too; before its epoch begins, the watch follows all events for a minute, so that it
//! knows whom the host is serving:
//!
//! ```text
//!  learns, where much happens  ▌    ▌    ▌    ▌    ▌    ▌██████████┤ counts
//! ```

/// From this number of events on, from one look to the next, much happens.
const MUCH: u64 = 10_000;

/// How long the watch then rests, and for how long it follows all events before its epoch begins; nanoseconds.
const REST: i64 = 9 * SECOND;
const ATTENTION: i64 = 60 * SECOND;
const SECOND: i64 = 1_000_000_000;

/// What a watch takes in of the time before its epoch.
#[derive(Debug, Default)]
pub(super) struct Lessons {
    /// Since when it rests, and until when.
    rest: Option<[i64; 2]>,
    /// The number of events since the last look.
    events: u64,
}

/// A time that a watch has missed: the last one before it, and the first one after it.
pub(super) type Missed = [i64; 2];

impl Lessons {
    /// Whether the watch takes in the next event.
    #[inline(always)]
    pub fn take_in(&mut self) -> bool {
        self.events += 1;
        self.rest.is_none()
    }

    /// Looks at what happened before a time, once a second; the epoch begins at another. Returns what was missed, once that is over.
    pub fn look(&mut self, time: i64, begin: i64) -> Option<Missed> {
        let has_much = std::mem::take(&mut self.events) >= MUCH;
        let attention = begin.saturating_sub(ATTENTION);
        match self.rest {
            Some([since, until]) if time >= until.min(attention) => {
                self.rest = None;
                Some([since, time])
            }
            None if has_much && time < attention => {
                self.rest = Some([time.saturating_sub(1), time.saturating_add(REST)]);
                None
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks once a second at this number of events, for ten minutes before an epoch; returns the seconds that were taken in, and
    /// what was missed.
    fn learn(events: impl Fn(i64) -> u64) -> (Vec<i64>, Vec<Missed>) {
        let mut lessons = Lessons::default();
        let (mut taken_in, mut missed) = (Vec::new(), Vec::new());
        for second in 0..600 {
            missed.extend(lessons.look(second * SECOND, 600 * SECOND));
            let count = (0..events(second)).filter(|_| lessons.take_in()).count() as u64;
            assert!(count == 0 || count == events(second));
            taken_in.extend((count > 0).then_some(second));
        }
        assert_eq!(lessons.look(600 * SECOND, 600 * SECOND), None, "it is awake when its epoch begins");
        (taken_in, missed)
    }

    #[test]
    fn all_is_taken_in_where_little_happens() {
        assert_eq!(learn(|_| MUCH - 1), ((0..600).collect(), Vec::new()));
    }

    #[test]
    fn a_second_in_ten_is_taken_in_where_much_happens_and_the_last_minute() {
        let (taken_in, missed) = learn(|_| MUCH);
        assert_eq!(taken_in.iter().filter(|second| **second < 540).count(), 54);
        assert_eq!(taken_in.iter().filter(|second| **second >= 540).count(), 60);
        // Each second was either taken in, or is known to be missed.
        for second in 0..600 {
            let is_missed = missed
                .iter()
                .any(|[since, until]| (since + 1..*until).contains(&(second * SECOND + SECOND / 2)));
            assert_eq!(is_missed, !taken_in.contains(&second), "{second}");
        }
    }

    #[test]
    fn it_rests_only_after_much_has_happened() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let events: Vec<u64> = (0..600).map(|_| random.u64(1..2 * MUCH)).collect();
        let (taken_in, missed) = learn(|second| events[second as usize]);
        for [since, until] in &missed {
            let before = (since + 1) / SECOND - 1;
            assert!(events[before as usize] >= MUCH && taken_in.contains(&before), "seed {seed}");
            assert!(until - since <= REST + 1 && *until <= 540 * SECOND, "seed {seed}");
        }
        assert!(!missed.is_empty(), "seed {seed}");
    }

    #[test]
    fn a_jump_of_the_clock_ends_a_rest() {
        let mut lessons = Lessons::default();
        (0..MUCH).for_each(|_| assert!(lessons.take_in()));
        assert_eq!(lessons.look(5, 600 * SECOND), None);
        assert!(!lessons.take_in());
        assert_eq!(lessons.look(900 * SECOND, 600 * SECOND), Some([4, 900 * SECOND]));
        assert!(lessons.take_in());
    }
}
