//! Bounds memory when there are more groups than anyone can read.
//!
//! Up to a cap on distinct keys everything is exact. Beyond it, the first reading goes on with totals for a
//! fixed number of hash buckets instead of groups. A second reading then tracks groups again, but only of
//! keys in the heaviest buckets: buckets are ranked, and whenever more keys than the cap have been seen, the
//! lightest bucket that is still tracked is given up with all its keys. What is not tracked is one folded
//! total, exact, from the first reading.
//!
//! Neither depends on the order of events: totals are sums and maxima, and the buckets that remain are the
//! longest run of heaviest ones whose keys fit the cap.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::durations::histogram::Histogram;
use crate::groups::group::{Figures, Folded, Sort};
use crate::groups::table::Groups;
use crate::reading::{EventKind, grown};

const BUCKETS: usize = 1 << 16;

/// The bucket of a key. The same in every run and on every thread, unlike the hash of [`Groups`].
fn bucket_of(kind: &EventKind, key: &[u8]) -> usize {
    let mut hasher = DefaultHasher::new();
    (&kind.event, &kind.keys, kind.unit).hash(&mut hasher);
    key.hash(&mut hasher);
    hasher.finish() as usize % BUCKETS
}

/// Totals for hash buckets: what the first reading goes on with beyond the cap.
#[derive(Clone, Debug)]
pub(crate) struct Spilled {
    totals: Vec<Folded>,
    /// All keyed events of each kind together.
    pools: Vec<Histogram>,
}

impl Spilled {
    pub fn new() -> Self {
        Spilled { totals: vec![Folded::default(); BUCKETS], pools: Vec::new() }
    }

    /// Adds what is known of a group so far.
    pub fn add(&mut self, kind: &EventKind, kind_index: usize, key: &[u8], figures: &Figures) {
        self.totals[bucket_of(kind, key)].add(figures, kind.unit_ns());
        self.pool(kind_index).merge(&figures.durations);
    }

    pub fn absorb(&mut self, other: Spilled, kinds: &[usize]) {
        for (mine, theirs) in self.totals.iter_mut().zip(&other.totals) {
            mine.absorb(theirs);
        }
        for (pool, &kind) in other.pools.iter().zip(kinds) {
            self.pool(kind).merge(pool);
        }
    }

    fn pool(&mut self, kind: usize) -> &mut Histogram {
        grown(&mut self.pools, kind)
    }

    /// All keyed events of each kind together.
    pub fn into_pools(self) -> Vec<Histogram> {
        self.pools
    }

    /// The rank of each bucket, the heaviest first. A bucket does not tell the mean or percentiles of its keys, but
    /// none exceeds its maximum.
    pub fn ranks(&self, sort: Sort) -> Arc<Vec<u32>> {
        let weight = |bucket: usize| match sort {
            Sort::Total => self.totals[bucket].total_ns,
            Sort::Count => self.totals[bucket].count.into(),
            Sort::Percentile(_) | Sort::Max | Sort::Mean => self.totals[bucket].max_ns,
        };
        let mut order: Vec<usize> = (0..BUCKETS).collect();
        order.sort_by_key(|&bucket| (std::cmp::Reverse(weight(bucket)), bucket));
        let mut ranks = vec![0; BUCKETS];
        (0..).zip(order).for_each(|(rank, bucket)| ranks[bucket] = rank);
        Arc::new(ranks)
    }

    /// The total of the buckets from this rank on.
    pub fn folded(&self, ranks: &[u32], from: u32) -> Folded {
        let mut folded = Folded::default();
        let untracked = self.totals.iter().zip(ranks).filter(|(_, rank)| **rank >= from);
        untracked.for_each(|(totals, _)| folded.absorb(totals));
        folded
    }
}

/// Which buckets the second reading still tracks.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    ranks: Arc<Vec<u32>>,
    /// Buckets of a lower rank than this are tracked.
    pub below: u32,
}

impl Tracked {
    pub fn new(ranks: Arc<Vec<u32>>) -> Self {
        Tracked { ranks, below: BUCKETS as u32 }
    }

    pub fn has(&self, kind: &EventKind, key: &[u8]) -> bool {
        self.rank(kind, key) < self.below
    }

    fn rank(&self, kind: &EventKind, key: &[u8]) -> u32 {
        self.ranks[bucket_of(kind, key)]
    }

    /// Drops buckets, with their groups, until the groups fit the cap.
    pub fn shrink<T: Default>(&mut self, groups: &mut Groups<T>, kinds: &[Arc<EventKind>], cap: usize) {
        let mut keyed = groups.take_keyed();
        keyed.sort_by_cached_key(|(kind, key, _)| self.rank(&kinds[*kind], key));
        if let Some((kind, key, _)) = keyed.get(cap) {
            // The first key beyond the cap takes its whole bucket with it.
            self.below = self.below.min(self.rank(&kinds[*kind], key));
        }
        for (kind, key, tally) in keyed {
            if self.has(&kinds[kind], &key) {
                *groups.entry(kind, &key, T::default) = tally;
            }
        }
    }
}
