//! A histogram of durations that gives any percentile within 0.1 %.
//!
//! A log-linear histogram: values below 1,024 have a bucket each and are exact; every power of two above
//! has 512 buckets of equal width, so a value is off by at most half a bucket, 1/1,024 of itself. Count,
//! total, minimum and maximum are exact; they are kept for large values only, as they follow from the buckets of
//! small values. Buckets are allocated in chunks where values fall, and up to eight distinct buckets are kept as a list,
//! so that a group of a few events takes a few dozen bytes.

mod buckets;

use crate::groups::quantile::Quantile;
use buckets::{Buckets, bucket_of, has_own_bucket};

pub(crate) use buckets::bucket_of_octaves;
pub use buckets::{Bucket, IMPLAUSIBLE};

/// How durations are distributed.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// The sums of the values that share their buckets with others.
    large: Sums,
    buckets: Buckets,
}

/// Sums over values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sums {
    count: u64,
    total: u128,
    min: u64,
    max: u64,
}

impl Sums {
    const NONE: Sums = Sums { count: 0, total: 0, min: u64::MAX, max: 0 };

    fn of(value: u64, count: u64) -> Sums {
        Sums { count, total: u128::from(value) * u128::from(count), min: value, max: value }
    }

    fn add(&mut self, other: Sums) {
        self.count += other.count;
        self.total += other.total;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { large: Sums::NONE, buckets: Buckets::default() }
    }
}

impl Histogram {
    /// Adds a value, which must be below [`IMPLAUSIBLE`].
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if !has_own_bucket(value) {
            self.large.add(Sums::of(value, 1));
        }
        match self.buckets.known(bucket) {
            Some(count) => *count += 1,
            None => self.buckets.add(bucket, 1),
        }
    }

    /// Adds a number of equal values, which must be below [`IMPLAUSIBLE`].
    pub fn record_many(&mut self, value: u64, count: u64) {
        if !has_own_bucket(value) {
            self.large.add(Sums::of(value, count));
        }
        self.buckets.add(bucket_of(value), count);
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.large.add(other.large);
        other.buckets.each(&mut |bucket, count| self.buckets.add(bucket, count));
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.sums().count
    }

    /// Their exact sum.
    pub fn total(&self) -> u128 {
        self.sums().total
    }

    /// The exact smallest.
    pub fn min(&self) -> Option<u64> {
        let sums = self.sums();
        (sums.count > 0).then_some(sums.min)
    }

    /// The exact largest.
    pub fn max(&self) -> Option<u64> {
        let sums = self.sums();
        (sums.count > 0).then_some(sums.max)
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        let sums = self.sums();
        (sums.count > 0).then(|| sums.total as f64 / sums.count as f64)
    }

    fn sums(&self) -> Sums {
        let mut sums = self.large;
        self.buckets.each(&mut |bucket, count| {
            let value = u64::from(bucket);
            if has_own_bucket(value) {
                sums.add(Sums::of(value, count));
            }
        });
        sums
    }

    /// The nearest-rank percentile: the ceil(q·n)-th smallest value, within 0.1 %.
    pub fn percentile(&self, quantile: Quantile) -> Option<u64> {
        let sums = self.sums();
        let rank = (u128::from(sums.count) * u128::from(quantile.part)).div_ceil(quantile.of.into());
        self.near_rank((rank as u64).max(1), sums)
    }

    /// The rank-th smallest value, counted from 1, within 0.1 %.
    pub fn at_rank(&self, rank: u64) -> Option<u64> {
        self.near_rank(rank, self.sums())
    }

    fn near_rank(&self, rank: u64, sums: Sums) -> Option<u64> {
        match rank {
            1 => (sums.count > 0).then_some(sums.min),
            _ if rank == sums.count => Some(sums.max),
            _ => Some(self.bucket_at_rank(rank)?.middle().clamp(sums.min, sums.max)),
        }
    }

    /// The bucket of the rank-th smallest value, counted from 1.
    pub fn bucket_at_rank(&self, rank: u64) -> Option<Bucket> {
        let mut below = 0;
        self.buckets().into_iter().find(|bucket| {
            below += bucket.count;
            rank > 0 && below >= rank
        })
    }

    /// The non-empty buckets, in order.
    pub fn buckets(&self) -> Vec<Bucket> {
        let mut buckets = Vec::new();
        self.buckets.each(&mut |index, count| buckets.push(Bucket::new(index, count)));
        buckets.sort_by_key(|bucket| bucket.low);
        buckets
    }
}

#[cfg(test)]
mod tests;
