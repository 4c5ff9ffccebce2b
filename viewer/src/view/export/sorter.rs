//! Sorts more records than fit into memory: sorted runs in temporary files, merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The most bytes of records in memory before they are written to a file.
const RUN: usize = 64 << 20;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Of a thread.
    Slice,
    /// Of a request, on any thread.
    Async,
    /// Of a client, on any thread.
    Client,
    Instant,
    Counter,
}

const SHAPES: [Shape; 5] = [Shape::Slice, Shape::Async, Shape::Client, Shape::Instant, Shape::Counter];

/// A record: when, on which track, and the rest of it as it will be written. Times are nanoseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub begin: i64,
    pub end: i64,
    pub shape: Shape,
    pub track: u32,
    /// Which ones are kept where there is not room for all.
    pub level: u16,
    /// Later ones of the same time come first: what contains another one ends after it.
    pub order: u64,
    pub body: Vec<u8>,
}

/// What records are sorted by.
pub type Rank = (i64, Reverse<i64>, Reverse<u64>);

impl Shape {
    /// Whether those of a track nest.
    pub fn nests(self) -> bool {
        matches!(self, Shape::Slice | Shape::Async | Shape::Client)
    }
}

impl Entry {
    /// By the begin; what begins at the same time, the longest first.
    pub fn rank(&self) -> Rank {
        (self.begin, Reverse(self.end), Reverse(self.order))
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.begin.to_le_bytes())?;
        out.write_all(&self.end.to_le_bytes())?;
        out.write_all(&[self.shape as u8])?;
        out.write_all(&self.level.to_le_bytes())?;
        out.write_all(&self.track.to_le_bytes())?;
        out.write_all(&self.order.to_le_bytes())?;
        out.write_all(&(self.body.len() as u64).to_le_bytes())?;
        out.write_all(&self.body)
    }

    /// The next record of a run; none at its end.
    fn read(run: &mut impl Read) -> io::Result<Option<Entry>> {
        let mut begin = [0; 8];
        match run.read_exact(&mut begin) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let end = i64::from_le_bytes(array(run)?);
        let [shape] = array(run)?;
        let level = u16::from_le_bytes(array(run)?);
        let track = u32::from_le_bytes(array(run)?);
        let order = u64::from_le_bytes(array(run)?);
        let mut body = vec![0; u64::from_le_bytes(array(run)?) as usize];
        run.read_exact(&mut body)?;
        let begin = i64::from_le_bytes(begin);
        Ok(Some(Entry { begin, end, shape: SHAPES[usize::from(shape)], track, level, order, body }))
    }
}

fn array<const N: usize>(run: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    run.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Takes records in any order, and returns them in theirs.
pub struct Sorter {
    folder: PathBuf,
    runs: Vec<File>,
    current: Vec<Entry>,
    bytes: usize,
    /// The most bytes in memory.
    run: usize,
}

impl Sorter {
    /// Temporary files are in this folder; they have no name.
    pub fn new(folder: &Path) -> Self {
        Sorter { folder: folder.into(), runs: Vec::new(), current: Vec::new(), bytes: 0, run: RUN }
    }

    pub fn push(&mut self, record: Entry) -> io::Result<()> {
        self.bytes += record.body.capacity() + size_of::<Entry>();
        self.current.push(record);
        if self.bytes > self.run {
            self.current.sort_by_key(Entry::rank);
            let mut run = BufWriter::new(tempfile::tempfile_in(&self.folder)?);
            self.current.drain(..).try_for_each(|record| record.write(&mut run))?;
            self.runs.push(run.into_inner().map_err(io::IntoInnerError::into_error)?);
            self.bytes = 0;
        }
        Ok(())
    }

    /// All records in their order.
    pub fn sorted(mut self, mut take: impl FnMut(Entry) -> io::Result<()>) -> io::Result<()> {
        self.current.sort_by_key(Entry::rank);
        let mut current = self.current.into_iter();
        let mut runs = Vec::new();
        for mut run in self.runs {
            run.rewind()?;
            runs.push(BufReader::new(run));
        }
        let files = runs.len();
        // The run in memory is the last.
        let mut next = |number: usize| match runs.get_mut(number) {
            Some(run) => Entry::read(run),
            None => Ok(current.next()),
        };
        let mut heads = BinaryHeap::new();
        for number in 0..=files {
            heads.extend(next(number)?.map(|head| Reverse(Head { head, number })));
        }
        while let Some(Reverse(Head { head, number })) = heads.pop() {
            take(head)?;
            if let Some(head) = next(number)? {
                heads.push(Reverse(Head { head, number }));
            }
        }
        Ok(())
    }
}

/// The first record of a run that was not taken yet.
struct Head {
    head: Entry,
    number: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.head.rank().cmp(&other.head.rank())
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_out_in_order_however_many_files_they_needed() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for run in [0, 1000, usize::MAX] {
            let mut sorter = Sorter { run, ..Sorter::new(&std::env::temp_dir()) };
            let mut expected = Vec::new();
            for order in 0..100 {
                let begin = random.i64(0..50);
                let body = vec![7; random.usize(0..100)];
                let (end, shape) = (begin + random.i64(0..5), SHAPES[random.usize(0..5)]);
                let record =
                    Entry { begin, end, shape, track: random.u32(..), level: random.u16(..), order, body };
                expected.push(record.clone());
                sorter.push(record).unwrap();
            }
            expected.sort_by_key(Entry::rank);
            let mut sorted = Vec::new();
            let take = |record| {
                sorted.push(record);
                Ok(())
            };
            sorter.sorted(take).unwrap();
            assert_eq!(sorted, expected, "in runs of {run} bytes");
        }
    }
}
