//! The buckets of a histogram, allocated where values fall.

/// Values of at most this number of bits have a bucket each.
const EXACT_BITS: u32 = 10;
/// Buckets for each power of two above that.
const PER_OCTAVE: u64 = 1 << (EXACT_BITS - 1);
/// Buckets that are allocated together.
pub(super) const CHUNK: usize = 64;
/// Values from here on are implausible and are never recorded.
pub const IMPLAUSIBLE: u64 = 1 << 63;
/// The most chunks, rounded up so that no index needs to be checked.
pub(super) const CHUNKS: usize = ((bucket_of(IMPLAUSIBLE - 1) as usize + 1) / CHUNK).next_power_of_two();
/// Up to this number of distinct buckets are kept as a list.
pub(super) const SPARSE_MAX: usize = 8;

/// The non-empty buckets.
#[derive(Clone, Debug)]
pub enum Buckets {
    Sparse(Vec<(u16, u64)>),
    Dense(Box<Dense>),
}

#[derive(Clone, Debug)]
pub struct Dense {
    /// For each chunk of buckets 0, or 1 more than its place in `chunks`.
    directory: [u16; CHUNKS],
    chunks: Vec<[u64; CHUNK]>,
}

impl Default for Buckets {
    fn default() -> Self {
        Buckets::Sparse(Vec::new())
    }
}

impl Buckets {
    /// The count of a bucket, if it is allocated.
    #[inline]
    pub fn known(&mut self, bucket: u16) -> Option<&mut u64> {
        match self {
            Buckets::Dense(dense) => dense.known(bucket),
            Buckets::Sparse(_) => None,
        }
    }

    /// Visits the non-empty buckets with their counts, in any order.
    pub fn each(&self, take: &mut dyn FnMut(u16, u64)) {
        match self {
            Buckets::Sparse(list) => list.iter().for_each(|&(bucket, count)| take(bucket, count)),
            Buckets::Dense(dense) => dense.each(take),
        }
    }

    /// Counts values in a bucket.
    #[inline(never)]
    pub fn add(&mut self, bucket: u16, count: u64) {
        match self {
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
                    *self = Buckets::Dense(dense);
                }
            }
        }
    }
}

impl Dense {
    /// The count of a bucket, if its chunk is allocated.
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
    /// The bucket of a value below 2^63, empty.
    pub fn of(value: u64) -> Self {
        Bucket::new(bucket_of(value), 0)
    }

    /// The value that stands for all of it.
    pub fn middle(&self) -> u64 {
        self.low + (self.high - self.low).div_ceil(2)
    }

    pub(super) fn new(index: u16, count: u64) -> Self {
        let index = u64::from(index);
        if index < 2 * PER_OCTAVE {
            return Bucket { low: index, high: index, count };
        }
        let shift = index / PER_OCTAVE - 1;
        let low = (index % PER_OCTAVE + PER_OCTAVE) << shift;
        Bucket { low, high: low + (1 << shift) - 1, count }
    }
}

/// Whether a value is small enough to have a bucket to itself, which has its number.
#[inline]
pub const fn has_own_bucket(value: u64) -> bool {
    value < 2 * PER_OCTAVE
}

/// The number of the bucket that a value falls into.
#[inline]
pub const fn bucket_of(value: u64) -> u16 {
    bucket_of_octaves(value, PER_OCTAVE)
}

/// The same for another number of buckets for each power of two, itself a power of two. Twice as many of the smallest values
/// have a bucket each.
#[inline]
pub const fn bucket_of_octaves(value: u64, per_octave: u64) -> u16 {
    if value < 2 * per_octave {
        return value as u16;
    }
    let shift = value.ilog2() - per_octave.ilog2();
    (shift as u64 * per_octave + (value >> shift)) as u16
}
