//! Figures of a group for each second of the last minute, and for each ten seconds of the last ten minutes.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::groups::group::Figures;

/// The number of slices of each length.
pub const SLICES: usize = 60;

/// The lengths of slices, in nanoseconds.
pub const FINE: i64 = 1_000_000_000;
const COARSE: i64 = 10 * FINE;

/// How far back figures go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookBack {
    /// Ten seconds.
    Seconds,
    /// A minute.
    Minute,
    /// Ten minutes.
    Minutes,
    /// To the beginning.
    #[default]
    All,
}

impl LookBack {
    /// The next longer one, and after the longest the shortest.
    pub fn next(self) -> LookBack {
        match self {
            LookBack::Seconds => LookBack::Minute,
            LookBack::Minute => LookBack::Minutes,
            LookBack::Minutes => LookBack::All,
            LookBack::All => LookBack::Seconds,
        }
    }

    /// Its length in nanoseconds, unless it goes back to the beginning.
    pub fn length_ns(self) -> Option<u64> {
        let slices = self.slices();
        (self != LookBack::All).then_some(slices.count as u64 * slices.length as u64)
    }

    /// Its slices; for all of the time, those that are kept.
    pub(super) fn slices(self) -> SliceSpan {
        match self {
            LookBack::Seconds => SliceSpan { length: FINE, count: 10 },
            LookBack::Minute => SliceSpan { length: FINE, count: SLICES },
            LookBack::Minutes | LookBack::All => SliceSpan { length: COARSE, count: SLICES },
        }
    }
}

impl fmt::Display for LookBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LookBack::Seconds => "10s",
            LookBack::Minute => "1m",
            LookBack::Minutes => "10m",
            LookBack::All => "all",
        })
    }
}

impl FromStr for LookBack {
    type Err = String;

    fn from_str(text: &str) -> Result<LookBack, String> {
        let all = [LookBack::Seconds, LookBack::Minute, LookBack::Minutes, LookBack::All];
        let named = all.into_iter().find(|window| window.to_string() == text);
        named.ok_or_else(|| "write 10s, 1m, 10m or all".to_owned())
    }
}

impl Serialize for LookBack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Slices of one length, up to now.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceSpan {
    /// In nanoseconds.
    pub length: i64,
    pub count: usize,
}

impl SliceSpan {
    /// The number of the slice that a time is in.
    pub fn number(self, time: i64) -> i64 {
        time.div_euclid(self.length)
    }

    /// When the oldest slice begins.
    pub fn begin(self, now: i64) -> i64 {
        (self.number(now) - self.count as i64 + 1).saturating_mul(self.length)
    }

    /// The place of a slice among those up to now, the oldest first.
    pub fn place(self, number: i64, now: i64) -> Option<usize> {
        let age = usize::try_from(self.number(now).saturating_sub(number)).ok()?;
        self.count.checked_sub(age + 1)
    }
}

/// A `T` for each slice that has events.
#[derive(Clone, Debug, Default)]
pub(super) struct Slices<T> {
    fine: VecDeque<(i64, T)>,
    coarse: VecDeque<(i64, T)>,
}

impl<T: Default> Slices<T> {
    /// Changes the slices that a time is in.
    pub fn at(&mut self, time: i64, mut change: impl FnMut(&mut T)) {
        for (slices, length) in [(&mut self.fine, FINE), (&mut self.coarse, COARSE)] {
            if let Some(slice) = slice(slices, time.div_euclid(length)) {
                change(slice);
            }
        }
    }

    /// The number of slices.
    pub fn len(&self) -> usize {
        self.fine.len() + self.coarse.len()
    }

    /// Visits the slices of a span that have events, with their places.
    pub fn each<'s>(&'s self, span: SliceSpan, now: i64, mut visit: impl FnMut(usize, &'s T)) {
        let slices = if span.length == FINE { &self.fine } else { &self.coarse };
        for (number, slice) in slices {
            if let Some(place) = span.place(*number, now) {
                visit(place, slice);
            }
        }
    }
}

impl Slices<Figures> {
    /// The figures of a window.
    pub fn sum(&self, window: LookBack, now: i64) -> Figures {
        let mut sum = Figures::default();
        self.each(window.slices(), now, |_, figures| sum.merge(figures));
        sum
    }

    /// How much happened in the last minute: the sum of the durations, and the number of events.
    pub fn weight(&self, now: i64) -> (u128, u64) {
        let mut weight = (0, 0);
        self.each(LookBack::Minute.slices(), now, |_, figures| {
            weight.0 += figures.durations.total();
            weight.1 += figures.count();
        });
        weight
    }
}

/// The slice with a number, added if it is new; none if it is too old.
#[inline]
fn slice<T: Default>(slices: &mut VecDeque<(i64, T)>, number: i64) -> Option<&mut T> {
    // Nearly always it is the last.
    let is_last = slices.back().is_some_and(|(newest, _)| *newest == number);
    let place = if is_last { slices.len() - 1 } else { place(slices, number)? };
    Some(&mut slices[place].1)
}

/// Where the slice with a number is, which is added if it is new; none if it is too old.
#[cold]
fn place<T: Default>(slices: &mut VecDeque<(i64, T)>, number: i64) -> Option<usize> {
    let newest = slices.back().map_or(number, |(newest, _)| number.max(*newest));
    if newest.saturating_sub(number) >= SLICES as i64 {
        return None;
    }
    while slices.front().is_some_and(|(oldest, _)| newest.saturating_sub(*oldest) >= SLICES as i64) {
        slices.pop_front();
    }
    // Hosts do not wait for each other, so events may come late.
    Some(slices.binary_search_by_key(&number, |(known, _)| *known).unwrap_or_else(|place| {
        slices.insert(place, (number, T::default()));
        place
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_the_events_of_its_last_slices_and_no_others() {
        let mut slices = Slices::<Figures>::default();
        // One event a second for twenty minutes, each as long as its number.
        for second in 0..1200 {
            slices.at(second * FINE + 5, |figures| figures.record(Some(second as u64)));
        }
        let now = 1199 * FINE + 7;
        let longest_and_count = |window: LookBack, now| {
            let sum = slices.sum(window, now);
            (sum.durations.min(), sum.count())
        };
        assert_eq!(longest_and_count(LookBack::Seconds, now), (Some(1190), 10));
        assert_eq!(longest_and_count(LookBack::Minute, now), (Some(1140), 60));
        assert_eq!(longest_and_count(LookBack::Minutes, now), (Some(600), 600));
        // Time goes on without events.
        assert_eq!(longest_and_count(LookBack::Seconds, now + 4 * FINE).1, 6);
        assert_eq!(longest_and_count(LookBack::Seconds, now + 100 * FINE).1, 0);
        assert_eq!((slices.fine.len(), slices.coarse.len()), (SLICES, SLICES));
    }

    #[test]
    fn late_events_go_to_their_slice_or_nowhere() {
        let mut slices = Slices::<Figures>::default();
        for second in [0, 2, 100, 98, 99, 1] {
            slices.at(second * FINE, |figures| figures.record(Some(1)));
        }
        // 98 and 99 came late, and 1 is long past.
        assert_eq!(slices.sum(LookBack::Minute, 100 * FINE).count(), 3);
        assert_eq!(slices.fine.iter().map(|(second, _)| *second).collect::<Vec<_>>(), [98, 99, 100]);
        slices.at(100 * FINE, |figures| figures.record(None));
        assert_eq!(slices.sum(LookBack::Minute, 100 * FINE).count(), 4);
    }
}
