//! Makes the slices of each track nest.
//!
//! Durations are truncated to whole units and events are recorded a little late, so slices that lay within each other may
//! seem to cross by some microseconds. The one that loses less is clipped. Slices that cross by more are from threads
//! that the trace does not tell apart, and get another lane of their track.

use std::collections::{BTreeMap, HashMap};

use super::sorter::{Entry, Rank, Shape};

/// The most that is clipped; nanoseconds.
const MOST_CLIPPED: i64 = 100_000;

/// The most lanes of a track. What fits on none of them ends with what it crosses on the last.
const MOST_LANES: u32 = 64;

/// The most records that are held back; only a clock with a coarse tick gives so many the same time.
const MOST_HELD: usize = 1 << 12;

/// Receives records in their order, and hands them on in their order with all slices of a lane nested.
#[derive(Default)]
pub struct Nest {
    /// Those that one which begins a little later may still clip.
    held: BTreeMap<Rank, Placed>,
    /// The ends of the slices of each lane that are open, the outermost first.
    open: HashMap<(Shape, u32, u32), Vec<i64>>,
    /// With more lanes than this, those without open slices are forgotten: every request has a track.
    most_open: usize,
    /// The number of slices that were clipped.
    pub clipped: u64,
}

/// A record with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub record: Entry,
    pub lane: u32,
    /// How much of it was clipped; nanoseconds.
    pub clipped: i64,
}

impl Nest {
    /// Takes a record, which begins no earlier than the one before, and hands on those that are settled.
    pub fn push<E>(&mut self, record: Entry, mut take: impl FnMut(Placed) -> Result<(), E>) -> Result<(), E> {
        let settled = record.begin.saturating_sub(MOST_CLIPPED);
        self.held.insert(record.rank(), Placed { record, lane: 0, clipped: 0 });
        let is_settled = |first: &Rank| first.0 < settled;
        while self.held.len() > MOST_HELD || self.held.keys().next().is_some_and(is_settled) {
            self.settle(&mut take)?;
        }
        Ok(())
    }

    /// Hands on the rest.
    pub fn finish<E>(&mut self, mut take: impl FnMut(Placed) -> Result<(), E>) -> Result<(), E> {
        while !self.held.is_empty() {
            self.settle(&mut take)?;
        }
        Ok(())
    }

    /// Hands on the first record, or holds it again if it was clipped and begins later.
    fn settle<E>(&mut self, mut take: impl FnMut(Placed) -> Result<(), E>) -> Result<(), E> {
        let Some((_, mut placed)) = self.held.pop_first() else { return Ok(()) };
        if !placed.record.shape.nests() {
            return take(placed);
        }
        self.forget_closed(placed.record.begin);
        if let Some(begin) = self.outer_begin(&placed.record) {
            self.clip(placed, begin);
            return Ok(());
        }
        let (begin, end) = (placed.record.begin, placed.record.end);
        for lane in placed.lane..MOST_LANES {
            let open = self.open.entry((placed.record.shape, placed.record.track, lane)).or_default();
            while open.pop_if(|end| *end <= begin).is_some() {}
            let Some(&within) = open.last().filter(|within| **within < end) else {
                open.push(end);
                return take(Placed { lane, ..placed });
            };
            if within - begin <= MOST_CLIPPED {
                self.clip(Placed { lane, ..placed }, within);
                return Ok(());
            }
            if lane == MOST_LANES - 1 {
                self.clipped += u64::from(placed.clipped == 0);
                placed.clipped += end - within;
                placed.record.end = within;
                open.push(within);
                return take(Placed { lane, ..placed });
            }
        }
        Ok(())
    }

    /// The begin of a slice that seems to cross this one, but contains the larger part of it.
    fn outer_begin(&self, inner: &Entry) -> Option<i64> {
        let last = inner.begin.saturating_add(MOST_CLIPPED).min(inner.end);
        let after = self.held.values().map(|placed| &placed.record).take_while(|outer| outer.begin <= last);
        let mut outer = after.filter(|outer| {
            outer.shape == inner.shape
                && outer.track == inner.track
                && (inner.begin + 1..inner.end).contains(&outer.begin)
                && outer.end > inner.end
                && outer.begin - inner.begin <= inner.end - outer.begin
        });
        outer.next().map(|outer| outer.begin)
    }

    fn forget_closed(&mut self, now: i64) {
        if self.open.len() > self.most_open.max(MOST_HELD) {
            self.open.retain(|_, ends| ends.iter().any(|end| *end > now));
            self.most_open = 2 * self.open.len();
        }
    }

    /// Lets a slice begin later.
    fn clip(&mut self, mut placed: Placed, begin: i64) {
        self.clipped += u64::from(placed.clipped == 0);
        placed.clipped += begin - placed.record.begin;
        placed.record.begin = begin;
        self.held.insert(placed.record.rank(), placed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The begins, ends and lanes of slices of one track.
    fn nested(slices: &[(i64, i64)]) -> (Vec<(i64, i64, u32)>, u64) {
        let record = |(order, &(begin, end)): (usize, &(i64, i64))| Entry {
            begin,
            end,
            shape: Shape::Slice,
            track: 0,
            level: 0,
            order: order as u64,
            body: Vec::new(),
        };
        let mut records: Vec<Entry> = slices.iter().enumerate().map(record).collect();
        records.sort_by_key(Entry::rank);
        let (mut nest, mut placed) = (Nest::default(), Vec::new());
        let mut take = |one: Placed| -> Result<(), ()> {
            placed.push((one.record.begin, one.record.end, one.lane));
            Ok(())
        };
        records.into_iter().try_for_each(|record| nest.push(record, &mut take)).unwrap();
        nest.finish(&mut take).unwrap();
        (placed, nest.clipped)
    }

    #[test]
    fn slices_that_cross_by_truncation_lose_the_smaller_part() {
        let turn = (1_000, 90_000);
        assert_eq!(nested(&[turn, (2_000, 3_000)]), (vec![(1_000, 90_000, 0), (2_000, 3_000, 0)], 0));
        let (inner, before) = ((400, 50_000), (0, 1_400));
        assert_eq!(nested(&[turn, inner]), (vec![(1_000, 90_000, 0), (1_000, 50_000, 0)], 1));
        assert_eq!(nested(&[turn, before]), (vec![(0, 1_400, 0), (1_400, 90_000, 0)], 1));
    }

    #[test]
    fn slices_that_cross_by_more_get_another_lane_and_keep_their_times() {
        let crossing = [(0, 1_000_000), (500_000, 1_500_000), (800_000, 2_000_000)];
        let lanes = crossing.iter().zip(0..).map(|(&(begin, end), lane)| (begin, end, lane)).collect();
        assert_eq!(nested(&crossing), (lanes, 0));
    }

    #[test]
    fn whatever_comes_nests_in_order() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..300 {
            let reach = [10, 1_000, 30_000, 1_000_000][random.usize(0..4)];
            let count = random.usize(0..200);
            let slice = |_| {
                let begin = random.i64(0..reach);
                (begin, begin + random.i64(0..reach))
            };
            let slices: Vec<(i64, i64)> = (0..count).map(slice).collect();
            let (placed, _) = nested(&slices);
            assert_eq!(placed.len(), count);
            assert!(placed.is_sorted_by_key(|(begin, end, _)| (*begin, -end)), "{placed:?}");
            let mut open: HashMap<u32, Vec<i64>> = HashMap::new();
            for (begin, end, lane) in placed {
                let open = open.entry(lane).or_default();
                open.retain(|end| *end > begin);
                assert!(begin <= end && open.iter().all(|outer| *outer >= end), "{begin} to {end}");
                open.push(end);
            }
        }
    }
}
