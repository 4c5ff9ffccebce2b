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

use crate::durations::histogram::IMPLAUSIBLE;
use crate::groups::Extra;
use ctf_reader::Sample;

/// The number of events of a group that are compared, and the same number of slow ones.
pub const COMPARED: u32 = 10_000;

/// One event in this number may be a long one, after the first of a group.
const ONE_IN: i64 = 16;

/// This number of long events more may come before fewer count as long: at first, and each time after that.
const FIRST: i64 = 1000;
const MORE: i64 = 64;

/// A group's course, or whatever else is kept of it, and which of its events are looked at later.
#[derive(Clone, Debug)]
pub struct LookingAhead<E> {
    pub inner: E,
    /// The number of plausible durations.
    count: u64,
    /// The sample that all of this number are compared by, and the number with which it is chosen again.
    sample: Sample,
    renewed_at: u64,
    /// Durations that are looked at: the least ever.
    pub least: u64,
    /// How many long events may come, in parts of one.
    credit: i64,
}

impl<E: Default> Default for LookingAhead<E> {
    fn default() -> Self {
        LookingAhead {
            inner: E::default(),
            count: 0,
            sample: Sample::ALL,
            renewed_at: COMPARED.into(),
            least: 0,
            credit: FIRST * ONE_IN,
        }
    }
}

impl<E> LookingAhead<E> {
    /// A long event came.
    #[inline(never)]
    fn pay(&mut self) {
        self.credit -= ONE_IN;
        if self.credit < 0 {
            self.least += 1 + self.least / 8;
            self.credit = MORE * ONE_IN;
        }
    }

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
    fn looks_at(&mut self, ticks: u64, time: i64) -> bool {
        if ticks >= IMPLAUSIBLE {
            return true;
        }
        (self.count, self.credit) = (self.count + 1, self.credit + 1);
        if self.count >= self.renewed_at {
            self.renew();
        }
        let is_long = ticks >= self.least;
        if is_long {
            self.pay();
        }
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
        self.least = self.least.max(other.least);
    }

    fn finish(&mut self, context: &E::Context) {
        self.inner.finish(context);
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
            // As on two threads, of which one may see few.
            let mut workers = [(); 2].map(|()| LookingAhead::<()>::default());
            let share = random.f64();
            let (mut missed, mut plausible, mut slower) = (Vec::new(), 0, 1);
            for event in 0..random.i64(1..200_000) {
                if random.u16(..10_000) == 0 {
                    slower = 20 - slower;
                }
                let ticks = match random.u16(..1000) {
                    0 => u64::MAX - random.u64(..3),
                    1..20 => random.u64(..100),
                    _ => random.u64(..4) * slower,
                };
                plausible += u64::from(ticks < IMPLAUSIBLE);
                let worker = usize::from(random.f64() < share);
                if !workers[worker].looks_at(ticks, event * 1001) {
                    missed.push((ticks, event * 1001));
                }
            }
            let [mut all, other] = workers;
            all.absorb(other);
            let sample = Sample::of(COMPARED, plausible);
            let is_wanted = |&(ticks, time): &(u64, i64)| ticks >= all.least || sample.has(time);
            assert!(!missed.iter().any(is_wanted), "seed {seed}, round {round}");
        }
    }

    #[test]
    fn few_of_many_events_are_looked_at() {
        let mut group = LookingAhead::<()>::default();
        // One in fifty takes longer than ten.
        let looks =
            |event: i64| group.looks_at(if event % 50 == 0 { 11 } else { event as u64 % 7 }, event * 999);
        let looked_at = (0..1_000_000).map(looks).filter(|looks| *looks).count();
        assert!(group.least <= 11 && (30_000..120_000).contains(&looked_at), "{looked_at}, {}", group.least);
    }
}
