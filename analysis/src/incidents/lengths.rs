//! How long intervals took: what is usual for each name, what those of a kind come to, and their courses over time.
//!
//! Most intervals are like one shortly before: of the same name, and equally long. Such are only counted at first, and then
//! recorded at once.

use super::costs::UsualCosts;
use super::periods::IntervalCourses;
use super::usual::UsualLengths;
use crate::intervals::{Interval, IntervalKinds, IntervalName};
use crate::reading::grown;

/// The number of places for intervals of a nature that are alike.
const PLACES: usize = 256;

/// The number of natures.
const NATURES: usize = 3;

/// The lengths of all intervals.
pub struct Lengths {
    /// Intervals of at least this length, in nanoseconds, do not tell what others usually cost.
    pub long: i64,
    /// The last ones, which are not recorded yet, each in the place that its name and length have among those of its nature.
    last: Box<[Alike; PLACES * NATURES]>,
    /// At most this number of those that are judged are not recorded yet.
    unsettled: u64,
    /// For each kind the number of intervals, and the longest.
    pub kinds: Vec<KindFigures>,
    pub costs: UsualCosts,
    usual: UsualLengths,
    /// The courses of intervals and of sums, if they are noted.
    pub courses: Option<IntervalCourses>,
}

/// Intervals of a name that are equally long, end in the same bin of time, and are of one nature.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alike {
    pub name: IntervalName,
    /// Nanoseconds.
    pub length: i64,
    bin: u64,
    /// A time in that bin: mostly when one of them ended.
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

impl Nature {
    const ALL: [Nature; NATURES] = [Nature::Judged, Nature::InLoop, Nature::Sums];
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths {
            long: 0,
            last: Box::new([Alike::default(); PLACES * NATURES]),
            unsettled: 0,
            kinds: Vec::new(),
            costs: UsualCosts::default(),
            usual: UsualLengths::default(),
            courses: None,
        }
    }
}

impl Lengths {
    /// Those of `long` nanoseconds do not tell what others usually cost.
    pub fn new(long: i64) -> Self {
        Lengths { long, ..Lengths::default() }
    }

    /// The bin of time that what ends at a time is in.
    #[inline(always)]
    pub fn bin(&self, end: i64) -> u64 {
        self.courses.as_ref().map_or(0, |courses| courses.bin(end))
    }

    /// Adds an interval, or a sum.
    #[inline(always)]
    pub fn take(&mut self, interval: &Interval, nature: Nature, kinds: &IntervalKinds) {
        self.take_in(self.bin(interval.end), interval, nature, kinds);
    }

    /// Adds an interval, or a sum, that ends in a bin of time.
    #[inline(always)]
    pub fn take_in(&mut self, bin: u64, interval: &Interval, nature: Nature, kinds: &IntervalKinds) {
        let Interval { end, name, .. } = *interval;
        let length = interval.length();
        if nature == Nature::Judged {
            self.unsettled += 1;
        }
        // Those of a few microseconds have places side by side: 213 times the 125 eighths of one is one of 256.
        let place = (name.key << 2).wrapping_add(((length >> 3) as u32).wrapping_mul(213)) as usize % PLACES;
        let like = &mut self.last[nature as usize * PLACES + place];
        if (like.name, like.length, like.bin) == (name, length, bin) {
            like.count += 1;
            return;
        }
        self.replace(place, nature, Alike { name, length, bin, end, count: 1 }, kinds);
    }

    #[inline(never)]
    fn replace(&mut self, place: usize, nature: Nature, new: Alike, kinds: &IntervalKinds) {
        let old = std::mem::replace(&mut self.last[nature as usize * PLACES + place], new);
        self.record(&old, nature, kinds);
    }

    /// The length above which an interval of a name is improbable, as far as it is known; see [`UsualLengths::limit_so_far`].
    pub fn limit_so_far(&mut self, name: IntervalName, kinds: &IntervalKinds) -> Option<i64> {
        if self.usual.may_change(name, self.unsettled) {
            self.settle(kinds);
        }
        self.usual.limit_so_far(name)
    }

    /// The same of all that were taken, which are [settled](Lengths::settle).
    pub fn limit(&self, name: IntervalName) -> Option<i64> {
        self.usual.limit(name)
    }

    /// Records all that were taken so far.
    pub fn settle(&mut self, kinds: &IntervalKinds) {
        self.unsettled = 0;
        for place in 0..self.last.len() {
            if self.last[place].count > 0 {
                let alike = self.last[place];
                self.last[place].count = 0;
                self.record(&alike, Nature::ALL[place / PLACES], kinds);
            }
        }
    }

    fn record(&mut self, alike: &Alike, nature: Nature, kinds: &IntervalKinds) {
        let &Alike { name, length, count, .. } = alike;
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
        // A key is of one kind.
        let name = |key: u32| IntervalName { kind: key % 3, key };
        for number in 0..20_000 {
            if random.u32(..20) == 0 {
                let asked = name(random.u32(..50));
                let expected = usual.limit_so_far(asked);
                assert_eq!(lengths.limit_so_far(asked, &kinds), expected, "seed {seed}");
            }
            let name = name(random.u32(..40));
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
        for name in (0..40).map(name) {
            assert_eq!(lengths.costs.mean(name), costs.mean(name), "seed {seed}");
            assert_eq!(lengths.usual.limit(name), usual.limit(name), "seed {seed}");
            assert!(usual.limit(name).is_some());
        }
    }
}
