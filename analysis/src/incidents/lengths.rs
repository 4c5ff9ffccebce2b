//! How long intervals took: what is usual for each name, what those of a kind come to, and their courses over time.
//!
//! Most intervals are like one shortly before: of the same name, and equally long. Such are only counted at first, and then
//! recorded at once.

use super::costs::UsualCosts;
use super::periods::IntervalCourses;
use super::usual::UsualLengths;
use crate::intervals::{Interval, IntervalKinds, IntervalName};
use crate::reading::grown;

/// The number of places for intervals that are alike.
const PLACES: usize = 256;

/// The lengths of all intervals.
#[derive(Default)]
pub struct Lengths {
    /// Intervals of at least this length, in nanoseconds, do not tell what others usually cost.
    pub long: i64,
    /// The last ones, which are not recorded yet, each in the place that its name and length have.
    last: Vec<Alike>,
    /// For each kind the number of intervals, and the longest.
    pub kinds: Vec<KindFigures>,
    pub costs: UsualCosts,
    pub usual: UsualLengths,
    /// The courses of intervals and of sums, if they are noted.
    pub courses: Option<IntervalCourses>,
}

/// Intervals of a name that are equally long, end in the same bin of time, and are of one nature.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    pub name: IntervalName,
    /// Nanoseconds.
    pub length: i64,
    bin: u64,
    nature: Nature,
    /// When one of them ended.
    pub end: i64,
    /// How many there are; none in a place that is free.
    pub count: u64,
}

/// What tells apart intervals of one name and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// They are of threads without an event loop: which of them are improbable is told by their lengths.
    Judged,
    /// They are turns of an event loop, or within these.
    InLoop,
    /// They are sums of pieces, and no intervals.
    Sums,
}

/// Figures of all intervals of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct KindFigures {
    pub count: u64,
    pub longest: i64,
}

impl Lengths {
    /// Those of `long` nanoseconds do not tell what others usually cost.
    pub fn new(long: i64) -> Self {
        Lengths { long, ..Lengths::default() }
    }

    /// Adds an interval, or a sum.
    #[inline(always)]
    pub fn take(&mut self, interval: &Interval, nature: Nature, kinds: &IntervalKinds) {
        let Interval { end, name, .. } = *interval;
        let length = interval.length();
        let bin = self.courses.as_ref().map_or(0, |courses| courses.bin(end));
        // Those of a few microseconds have places side by side: 213 times the 125 eighths of one is one of 256.
        let place = (name.key << 2).wrapping_add(((length >> 3) as u32).wrapping_mul(213)) as usize % PLACES;
        if let Some(like) = self.last.get_mut(place)
            && (like.name, like.length, like.bin, like.nature) == (name, length, bin, nature)
        {
            like.count += 1;
            return;
        }
        self.replace(place, Alike { name, length, bin, nature, end, count: 1 }, kinds);
    }

    #[inline(never)]
    fn replace(&mut self, place: usize, new: Alike, kinds: &IntervalKinds) {
        if self.last.is_empty() {
            self.last = vec![Alike { count: 0, ..new }; PLACES];
        }
        let old = std::mem::replace(&mut self.last[place], new);
        self.record(&old, kinds);
    }

    /// Records all that were taken so far.
    pub fn settle(&mut self, kinds: &IntervalKinds) {
        let mut last = std::mem::take(&mut self.last);
        for alike in last.iter_mut().filter(|alike| alike.count > 0) {
            self.record(alike, kinds);
            alike.count = 0;
        }
        self.last = last;
    }

    fn record(&mut self, alike: &Alike, kinds: &IntervalKinds) {
        let &Alike { name, length, nature, count, .. } = alike;
        if count == 0 {
            return;
        }
        if let Some(courses) = &mut self.courses {
            courses.record(alike, kinds);
        }
        if nature == Nature::Sums {
            return;
        }
        let figures = grown(&mut self.kinds, name.kind as usize);
        figures.count += count;
        figures.longest = figures.longest.max(length);
        if length < self.long {
            self.costs.take(name, length, count);
        }
        if nature == Nature::Judged {
            self.usual.take(name, length, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Passes;

    #[test]
    fn intervals_that_are_recorded_together_count_as_one_by_one() {
        let (seed, long) = (fastrand::u64(..), 5000);
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut lengths, kinds) = (Lengths::new(long), IntervalKinds::default());
        let (mut costs, mut usual, mut figures) =
            (UsualCosts::default(), UsualLengths::default(), [KindFigures::default(); 3]);
        for number in 0..20_000 {
            let name = IntervalName { kind: random.u32(..3), key: random.u32(..40) };
            let length = random.i64(0..9) * [1, 1000][random.usize(..2)];
            let end = number * 100;
            let interval = Interval { begin: end - length, end, name, client: None, passes: Passes::ALL };
            let nature = [Nature::Judged, Nature::InLoop, Nature::Sums][random.usize(..3)];
            lengths.take(&interval, nature, &kinds);
            if random.u32(..1000) == 0 {
                lengths.settle(&kinds);
            }
            if nature == Nature::Sums {
                continue;
            }
            let of_kind = &mut figures[name.kind as usize];
            *of_kind =
                KindFigures { count: of_kind.count + 1, longest: of_kind.longest.max(interval.length()) };
            if length < long {
                costs.take(name, length, 1);
            }
            if nature == Nature::Judged {
                usual.take(name, length, 1);
            }
        }
        lengths.settle(&kinds);
        lengths.settle(&kinds);
        let counted =
            |of: &[KindFigures]| of.iter().map(|kind| (kind.count, kind.longest)).collect::<Vec<_>>();
        assert_eq!(counted(&lengths.kinds), counted(&figures), "seed {seed}");
        for name in (0..3).flat_map(|kind| (0..40).map(move |key| IntervalName { kind, key })) {
            assert_eq!(lengths.costs.mean(name), costs.mean(name), "seed {seed}");
            assert_eq!(lengths.usual.limit(name), usual.limit(name), "seed {seed}");
            assert!(usual.limit(name).is_some());
        }
    }
}
