//! Which events of a group the second reading will look at, as far as the first one can tell.
//!
//! The second reading looks at events above their group's limit, and at a sample of all. Both are known only at the end, but fewer and
//! fewer events can be among them as more come:
//!
//! ```text
//!  events of the group   1,000           10,000              1,000,000
//!  sample                all             all                 a hundredth
//!  long ones             all             above 3 us          above 4 us       ... and the limit turns out to be 9 us
//! ```
//!
//! Where all events of a group are slow, as scripts are beside other commands, its limit is that of its kind. They are among the
//! longest of the kind then.

use crate::durations::histogram::IMPLAUSIBLE;
use crate::groups::{Extra, LongOfKind, LongOnes};
use ctf_reader::Sample;

/// The number of events of a group that are compared, and the same number of slow ones.
pub const COMPARED: u32 = 10_000;

/// A group's course, or whatever else is kept of it, and which of its events are looked at later.
#[derive(Clone, Debug)]
pub struct LookingAhead<E> {
    pub inner: E,
    /// The number of plausible durations.
    count: u64,
    /// The sample that all of this number are compared by, and the number with which it is chosen again.
    sample: Sample,
    renewed_at: u64,
    long: LongOnes<16>,
    /// All events that took this or longer are looked at, once all have come.
    pub least: u64,
}

impl<E: Default> Default for LookingAhead<E> {
    fn default() -> Self {
        LookingAhead {
            inner: E::default(),
            count: 0,
            sample: Sample::ALL,
            renewed_at: COMPARED.into(),
            long: LongOnes::default(),
            least: 0,
        }
    }
}

impl<E> LookingAhead<E> {
    #[cold]
    fn renew(&mut self) {
        self.sample = Sample::of(COMPARED, self.count);
        self.renewed_at = self.count + self.count / 8;
    }
}

impl<E: Extra> Extra for LookingAhead<E> {
    type Context = E::Context;
    type Moment = E::Moment;

    const IS_TIMED: bool = E::IS_TIMED;
    const LOOKS_AHEAD: bool = true;

    #[inline(always)]
    fn looks_at(&mut self, long_of_kind: &mut LongOfKind, ticks: u64, time: i64) -> bool {
        if ticks >= IMPLAUSIBLE {
            return true;
        }
        self.count += 1;
        if self.count >= self.renewed_at {
            self.renew();
        }
        // Both take each.
        let is_long = self.long.take(ticks) | long_of_kind.take(ticks);
        is_long || self.sample.has(time)
    }

    fn adapt(context: &mut E::Context, groups: usize) {
        E::adapt(context, groups);
    }

    fn alike_until(time: i64, context: &E::Context) -> i64 {
        E::alike_until(time, context)
    }

    fn moment(time: i64, context: &E::Context) -> E::Moment {
        E::moment(time, context)
    }

    #[inline]
    fn take(&mut self, duration: Option<u64>, moment: E::Moment, context: &E::Context) {
        self.inner.take(duration, moment, context);
    }

    fn take_many(&mut self, ticks: u64, count: u64, moment: E::Moment, context: &E::Context) {
        self.inner.take_many(ticks, count, moment, context);
    }

    fn absorb(&mut self, other: Self) {
        self.inner.absorb(other.inner);
        self.long.absorb(other.long);
    }

    fn finish(&mut self, context: &E::Context) {
        self.inner.finish(context);
    }

    fn looked_at(&mut self, long_of_kind: LongOfKind) {
        self.least = self.long.least.min(long_of_kind.least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_long_event_and_none_of_the_sample_is_missed() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..20 {
            // As on two threads, of which one may see few, and of two groups of a kind.
            let mut workers =
                [(); 2].map(|()| ([(); 2].map(|()| LookingAhead::<()>::default()), LongOfKind::default()));
            let (share, share_of_first) = (random.f64(), random.f64());
            let (mut missed, mut plausible, mut slower) = ([vec![], vec![]], [0, 0], 1);
            for event in 0..random.i64(1..200_000) {
                if random.u16(..10_000) == 0 {
                    slower = 20 - slower;
                }
                let group = usize::from(random.f64() > share_of_first);
                let ticks = match random.u16(..1000) {
                    0 => u64::MAX - random.u64(..3),
                    1..20 => random.u64(..100),
                    _ => random.u64(..4) * slower + group as u64 * 5,
                };
                plausible[group] += u64::from(ticks < IMPLAUSIBLE);
                let (groups, of_kind) = &mut workers[usize::from(random.f64() < share)];
                if !groups[group].looks_at(of_kind, ticks, event * 1001) {
                    missed[group].push((ticks, event * 1001));
                }
            }
            let [(all, mut of_kind), (others, of_others)] = workers;
            of_kind.absorb(of_others);
            for (group, (mut all, other)) in all.into_iter().zip(others).enumerate() {
                all.absorb(other);
                all.looked_at(of_kind);
                let sample = Sample::of(COMPARED, plausible[group]);
                let is_wanted = |&(ticks, time): &(u64, i64)| ticks >= all.least || sample.has(time);
                assert!(!missed[group].iter().any(is_wanted), "seed {seed}, round {round}");
            }
        }
    }

    #[test]
    fn few_of_many_events_are_looked_at() {
        let (mut group, mut of_kind) = (LookingAhead::<()>::default(), LongOfKind::default());
        // One in fifty takes longer than ten.
        let looks = |event: i64| {
            group.looks_at(&mut of_kind, if event % 50 == 0 { 11 } else { event as u64 % 7 }, event * 999)
        };
        let looked_at = (0..1_000_000).map(looks).filter(|looks| *looks).count();
        group.looked_at(of_kind);
        assert!(group.least <= 11 && (30_000..150_000).contains(&looked_at), "{looked_at}, {}", group.least);
    }

    #[test]
    fn all_events_of_a_rare_group_are_looked_at_that_is_slow_as_a_whole() {
        let (mut usual, mut slow) = (LookingAhead::<()>::default(), LookingAhead::<()>::default());
        let mut of_kind = LongOfKind::default();
        let mut looked_at = [0, 0];
        for event in 0..1_000_000_i64 {
            let is_slow = event % 100 == 0;
            let (group, ticks) = if is_slow { (&mut slow, 300) } else { (&mut usual, event as u64 % 7) };
            looked_at[usize::from(is_slow)] += i32::from(group.looks_at(&mut of_kind, ticks, event * 999));
        }
        usual.looked_at(of_kind);
        slow.looked_at(of_kind);
        assert!(looked_at[1] == 10_000 && slow.least < 10, "{looked_at:?}, {}", slow.least);
        assert!((10_000..150_000).contains(&looked_at[0]), "{looked_at:?}");
    }
}
