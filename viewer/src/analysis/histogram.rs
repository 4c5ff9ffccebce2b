//! Durations, counted so that any percentile can be told within 0.1 %.
//!
//! A log-linear histogram: values below 1,024 have a bucket each and are exact; every power of two above
//! has 512 buckets of equal width, so a value is off by at most half a bucket, 1/1,024 of itself. Count,
//! total, minimum and maximum are exact; they are kept for large values only, as the buckets of small values tell
//! them. Buckets come into being in chunks where values fall, and up to eight distinct buckets are kept as a list,
//! so that a group of a few events takes a few dozen bytes.

use std::fmt;
use std::str::FromStr;

/// Values of this many bits and fewer have a bucket each.
const EXACT_BITS: u32 = 10;
/// Buckets for each power of two above that.
const PER_OCTAVE: u64 = 1 << (EXACT_BITS - 1);
/// Buckets that come into being together.
const CHUNK: usize = 64;
/// Values from here on are implausible and are never recorded.
pub const IMPLAUSIBLE: u64 = 1 << 63;
/// The most chunks there can be, rounded up so that no index needs to be checked.
const CHUNKS: usize = ((bucket_of(IMPLAUSIBLE - 1) as usize + 1) / CHUNK).next_power_of_two();
/// Up to this many distinct buckets are kept as a list.
const SPARSE_MAX: usize = 8;

/// How durations are distributed.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// What the values add up to that share their buckets with others.
    large: Sums,
    buckets: Buckets,
}

/// What values add up to.
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

#[derive(Clone, Debug)]
enum Buckets {
    Sparse(Vec<(u16, u64)>),
    Dense(Box<Dense>),
}

#[derive(Clone, Debug)]
struct Dense {
    /// For each chunk of buckets 0, or 1 more than its place in `chunks`.
    directory: [u16; CHUNKS],
    chunks: Vec<[u64; CHUNK]>,
}

/// The part of the values that is at or below a percentile, in lowest decimal terms: 999 of 1,000 for the 99.9th.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantile {
    /// The numerator.
    pub part: u32,
    /// The denominator: 100 or a larger power of ten.
    pub of: u32,
}

impl Quantile {
    /// The median.
    pub const P50: Quantile = Quantile { part: 50, of: 100 };
    /// 90 % are at or below.
    pub const P90: Quantile = Quantile { part: 90, of: 100 };
    /// 99 % are at or below.
    pub const P99: Quantile = Quantile { part: 99, of: 100 };
    /// 99.9 % are at or below.
    pub const P999: Quantile = Quantile { part: 999, of: 1000 };

    /// The name that programs know the percentile by: `p50`, `p999` for the 99.9th, `p05` for the 5th. At least two
    /// digits stand before the decimal point that is left out, so no two percentiles have the same name.
    pub fn name(self) -> String {
        let decimals = (self.of / 100).ilog10() as usize;
        format!("p{:0width$}", self.part, width = decimals + 2)
    }
}

/// The percentage: `99.9`.
impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.of / 100;
        let decimals = scale.ilog10() as usize;
        write!(f, "{}", self.part / scale)?;
        if decimals > 0 {
            write!(f, ".{:0decimals$}", self.part % scale)?;
        }
        Ok(())
    }
}

impl FromStr for Quantile {
    type Err = String;

    /// Reads a percentage above 0 and up to 100, with at most six decimals: `99.99`.
    fn from_str(text: &str) -> Result<Quantile, String> {
        let refused =
            || format!("`{text}` is not a percentile: write a number above 0 and up to 100, e.g. 99.9");
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let decimals = decimals.trim_end_matches('0');
        let digits = [whole, decimals].concat();
        let is_number = !whole.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number || whole.len() > 3 || decimals.len() > 6 {
            return Err(refused());
        }
        let quantile = Quantile {
            part: digits.parse().map_err(|_| refused())?,
            of: 10_u32.pow(2 + decimals.len() as u32),
        };
        if quantile.part == 0 || quantile.part > quantile.of { Err(refused()) } else { Ok(quantile) }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { large: Sums::NONE, buckets: Buckets::Sparse(Vec::new()) }
    }
}

impl Histogram {
    /// Takes a value in; it must be below [`IMPLAUSIBLE`].
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if !has_own_bucket(value) {
            self.large.add(Sums::of(value, 1));
        }
        if let Buckets::Dense(dense) = &mut self.buckets
            && let Some(count) = dense.known(bucket)
        {
            *count += 1;
        } else {
            self.add(bucket, 1);
        }
    }

    /// Takes in a value that there are many of; it must be below [`IMPLAUSIBLE`].
    pub fn record_many(&mut self, value: u64, count: u64) {
        if !has_own_bucket(value) {
            self.large.add(Sums::of(value, count));
        }
        self.add(bucket_of(value), count);
    }

    /// Takes in all that another histogram has.
    pub fn merge(&mut self, other: &Histogram) {
        self.large.add(other.large);
        other.each(&mut |bucket, count| self.add(bucket, count));
    }

    /// How many values there are.
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
        self.each(&mut |bucket, count| {
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
            _ => {
                let Bucket { low, high, .. } = self.bucket_at_rank(rank)?;
                Some((low + (high - low).div_ceil(2)).clamp(sums.min, sums.max))
            }
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

    /// The buckets that hold anything, in order.
    pub fn buckets(&self) -> Vec<Bucket> {
        let mut buckets = Vec::new();
        self.each(&mut |index, count| buckets.push(Bucket::new(index, count)));
        buckets.sort_by_key(|bucket| bucket.low);
        buckets
    }

    /// The buckets that hold anything, with how much, in any order.
    fn each(&self, take: &mut dyn FnMut(u16, u64)) {
        match &self.buckets {
            Buckets::Sparse(list) => list.iter().for_each(|&(bucket, count)| take(bucket, count)),
            Buckets::Dense(dense) => dense.each(take),
        }
    }

    #[inline(never)]
    fn add(&mut self, bucket: u16, count: u64) {
        match &mut self.buckets {
            Buckets::Dense(dense) => dense.add(bucket, count),
            Buckets::Sparse(list) => {
                if let Some((_, known)) = list.iter_mut().find(|(known, _)| *known == bucket) {
                    *known += count;
                } else if list.len() < SPARSE_MAX {
                    list.push((bucket, count));
                } else {
                    let mut dense = Box::new(Dense { directory: [0; CHUNKS], chunks: Vec::new() });
                    list.iter().for_each(|&(bucket, count)| dense.add(bucket, count));
                    dense.add(bucket, count);
                    self.buckets = Buckets::Dense(dense);
                }
            }
        }
    }
}

impl Dense {
    /// The count of a bucket in a chunk that came into being.
    #[inline]
    fn known(&mut self, bucket: u16) -> Option<&mut u64> {
        let place = self.directory[usize::from(bucket) / CHUNK % CHUNKS];
        let chunk = self.chunks.get_mut(usize::from(place).wrapping_sub(1))?;
        Some(&mut chunk[usize::from(bucket) % CHUNK])
    }

    fn add(&mut self, bucket: u16, count: u64) {
        let place = &mut self.directory[usize::from(bucket) / CHUNK % CHUNKS];
        if *place == 0 {
            self.chunks.push([0; CHUNK]);
            *place = self.chunks.len() as u16;
        }
        self.chunks[usize::from(*place) - 1][usize::from(bucket) % CHUNK] += count;
    }

    fn each(&self, take: &mut dyn FnMut(u16, u64)) {
        for (chunk, &place) in self.directory.iter().enumerate().filter(|(_, place)| **place > 0) {
            for (offset, &count) in self.chunks[usize::from(place) - 1].iter().enumerate() {
                if count > 0 {
                    take((chunk * CHUNK + offset) as u16, count);
                }
            }
        }
    }
}

/// Values that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest value that falls here.
    pub low: u64,
    /// The largest value that falls here.
    pub high: u64,
    /// The number of values that did.
    pub count: u64,
}

impl Bucket {
    fn new(index: u16, count: u64) -> Self {
        let index = u64::from(index);
        if index < 2 * PER_OCTAVE {
            return Bucket { low: index, high: index, count };
        }
        let shift = index / PER_OCTAVE - 1;
        let low = (index % PER_OCTAVE + PER_OCTAVE) << shift;
        Bucket { low, high: low + (1 << shift) - 1, count }
    }
}

/// Whether a value is so small that it has a bucket to itself, whose number it is.
#[inline]
const fn has_own_bucket(value: u64) -> bool {
    value < 2 * PER_OCTAVE
}

/// The number of the bucket that a value falls into.
#[inline]
const fn bucket_of(value: u64) -> u16 {
    if has_own_bucket(value) {
        return value as u16;
    }
    let shift = u64::BITS - value.leading_zeros() - EXACT_BITS;
    (shift as u64 * PER_OCTAVE + (value >> shift)) as u16
}

#[cfg(test)]
mod tests;
