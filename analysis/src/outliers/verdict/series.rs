//! A group's durations over time: time bins by octave of duration, in bounded memory.
//!
//! Bins are powers of two of nanoseconds wide and aligned, so that two narrow ones make a wide one. Whenever there are
//! more cells than the limit, bins become twice as wide. The resulting width depends only on the events, not on their
//! order: what is too much for a part is too much for the whole.

use crate::durations::histogram::IMPLAUSIBLE;
use crate::durations::octave::octave_of;
use crate::finding::Span;
use crate::groups::group::Extra;
use crate::source::Source;
use ctf_reader::Error;

/// The number of bits of a cell's key for the octave.
const OCTAVE_BITS: u32 = 6;
/// The number of places for the last cells: of bins, as a thread reads packets of different times in turns, and of octaves.
const RECENT: [usize; 2] = [4, 16];
/// The most bins that a trace is cut into at first.
const BINS: u64 = 1 << 13;

/// The events of an octave of duration in a time bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    key: u64,
    /// The number of events.
    pub count: u64,
    /// The sum of their durations, in the kind's unit.
    pub sum: u64,
}

impl Cell {
    /// The number of the bin.
    pub fn bin(&self) -> u64 {
        self.key >> OCTAVE_BITS
    }

    /// The octave: 0 for a duration of 0, 1 for 1, 2 for 2 and 3, and so on.
    pub fn octave(&self) -> usize {
        (self.key & ((1 << OCTAVE_BITS) - 1)) as usize
    }
}

/// How wide bins are at first, and how many cells a group may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The power of two.
    pub shift: u32,
    /// The most cells.
    pub cells: usize,
}

impl Resolution {
    /// For a trace of this length.
    pub fn new(length_ns: u64) -> Self {
        let shift = u64::BITS - (length_ns / BINS).leading_zeros();
        Resolution { shift: shift.max(OCTAVE_BITS), cells: Resolution::cells(0) }
    }

    /// For all of a source. Events are read for it only if it depends on when exactly the first and the last one were.
    pub fn of<S: Source>(source: &mut S) -> Result<Self, Error> {
        let bounds = source.length().map(|length| [*length.start(), *length.end()].map(Resolution::new));
        match bounds {
            Some([least, most]) if least == most => Ok(least),
            _ => Ok(Resolution::new(source.span()?.map_or(0, |span| span.end().abs_diff(*span.start())))),
        }
    }

    /// The bin that a time is in at first.
    #[inline]
    pub fn bin(&self, time: i64) -> u64 {
        from_epoch(time) >> self.shift
    }

    /// The most cells per group for a number of groups, so that all together take at most about 25 MB.
    pub fn cells(groups: usize) -> usize {
        match groups {
            0..=64 => 1 << 14,
            65..=256 => 1 << 12,
            257..=1024 => 1 << 10,
            1025..=4096 => 1 << 8,
            _ => 1 << 6,
        }
    }
}

/// The cells of a group.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The width of bins is two to the power of this; 0 before the first event.
    shift: u32,
    /// Sorted by key up to `sorted`, and then as events came.
    cells: Vec<Cell>,
    sorted: usize,
    /// Where the last cell of an octave and of some bins probably is: nearly all events belong to it, and a search for it would be mispredicted.
    last: Recent,
}

/// Places of cells.
type Recent = [[u32; RECENT[1]]; RECENT[0]];

/// A time bin: the keys of its cells without their octave, and where the last of them are.
#[derive(Clone, Copy, Debug)]
struct BinPlace {
    key: u64,
    row: usize,
}

impl BinPlace {
    /// The bin that a time is in, if bins are as wide as the power of two of this.
    #[inline]
    fn new(time: i64, shift: u32) -> Self {
        let bin = from_epoch(time) >> shift;
        BinPlace { key: bin << OCTAVE_BITS, row: (bin ^ bin >> 2 ^ bin >> 4) as usize % RECENT[0] }
    }
}

/// A time, and the bin that it is in at first, which nearly all groups still have.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    time: i64,
    shift: u32,
    bin: BinPlace,
}

impl Moment {
    #[inline]
    fn new(time: i64, Resolution { shift, .. }: Resolution) -> Self {
        Moment { time, shift, bin: BinPlace::new(time, shift) }
    }
}

impl Series {
    /// Adds equal durations at times that are in one [bin](Resolution::bin).
    #[inline]
    pub fn record_many(&mut self, time: i64, ticks: u64, count: u64, resolution: Resolution) {
        self.add(Moment::new(time, resolution), ticks, count, &resolution);
    }

    #[inline]
    fn add(&mut self, moment: Moment, ticks: u64, count: u64, resolution: &Resolution) {
        let is_first_width = self.shift == moment.shift;
        let bin = if is_first_width { moment.bin } else { BinPlace::new(moment.time, self.shift) };
        let octave = octave_of(ticks);
        let (key, sum) = (bin.key | octave as u64, ticks.saturating_mul(count));
        match self.cells.get_mut(self.last[bin.row][octave % RECENT[1]] as usize) {
            Some(cell) if cell.key == key => {
                cell.count += count;
                cell.sum = cell.sum.saturating_add(sum);
            }
            _ => self.push(Cell { key, count, sum }, moment.time, resolution),
        }
    }

    #[inline(never)]
    fn push(&mut self, cell: Cell, time: i64, &Resolution { shift, cells: limit }: &Resolution) {
        if self.shift == 0 {
            self.shift = shift;
        }
        if self.cells.len() >= 2 * limit.max(self.sorted) {
            self.compact(limit);
        }
        // Bins may have become wider.
        let (bin, octave) = (BinPlace::new(time, self.shift), cell.octave());
        self.last[bin.row][octave % RECENT[1]] = self.cells.len() as u32;
        self.cells.push(Cell { key: bin.key | octave as u64, ..cell });
    }

    /// Sorts the cells and adds up equal ones; makes bins wider until there are no more than the limit.
    pub fn compact(&mut self, limit: usize) {
        self.merge_equal();
        while self.cells.len() > limit && self.shift < 62 {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.widen_to(self.shift + 1);
        self.merge_equal();
    }

    /// Makes bins as wide as the power of two of this; cells that become equal stay apart.
    fn widen_to(&mut self, shift: u32) {
        let octave = (1 << OCTAVE_BITS) - 1;
        let by = shift - self.shift;
        self.shift = shift;
        if by > 0 {
            self.cells
                .iter_mut()
                .for_each(|cell| cell.key = (cell.key >> by & !octave) | (cell.key & octave));
        }
    }

    fn merge_equal(&mut self) {
        sort(&mut self.cells);
        self.cells.dedup_by(|next, cell| {
            let is_equal = next.key == cell.key;
            if is_equal {
                cell.count += next.count;
                cell.sum = cell.sum.saturating_add(next.sum);
            }
            is_equal
        });
        self.sorted = self.cells.len();
    }

    /// Adds all cells of another series, to be [compacted](Series::compact) afterwards.
    pub fn join(&mut self, mut other: Series) {
        if self.cells.is_empty() {
            *self = other;
        } else if !other.cells.is_empty() {
            let shift = self.shift.max(other.shift);
            self.widen_to(shift);
            other.widen_to(shift);
            self.cells.append(&mut other.cells);
        }
    }

    /// The cells, in the order of time; only after [`compact`](Series::compact).
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The times that it has events in, by its bins; only after [`compact`](Series::compact).
    pub fn times(&self) -> Vec<Span> {
        let span =
            |cell: &Cell| Span { begin_ns: self.begin(cell.bin()), end_ns: self.begin(cell.bin() + 1) };
        Span::merged(self.cells.iter().map(span).collect())
    }

    /// When a bin begins: nanoseconds since 1970.
    pub fn begin(&self, bin: u64) -> i64 {
        let from_epoch = u64::try_from(u128::from(bin) << self.shift).unwrap_or(u64::MAX);
        to_time(from_epoch)
    }

    /// How long a bin is.
    pub fn width_ns(&self) -> u64 {
        1 << self.shift
    }
}

impl Extra for Series {
    type Context = Resolution;
    type Moment = Moment;

    fn adapt(resolution: &mut Resolution, groups: usize) {
        resolution.cells = resolution.cells.min(Resolution::cells(groups));
    }

    fn alike_until(time: i64, resolution: &Resolution) -> i64 {
        to_time(from_epoch(time) | ((1 << resolution.shift) - 1))
    }

    fn moment(time: i64, resolution: &Resolution) -> Moment {
        Moment::new(time, *resolution)
    }

    #[inline]
    fn take(&mut self, duration: Option<u64>, moment: Moment, resolution: &Resolution) {
        if let Some(ticks) = duration.filter(|&ticks| ticks < IMPLAUSIBLE) {
            self.add(moment, ticks, 1, resolution);
        }
    }

    fn take_many(&mut self, ticks: u64, count: u64, moment: Moment, resolution: &Resolution) {
        self.add(moment, ticks, count, resolution);
    }

    fn absorb(&mut self, other: Self) {
        self.join(other);
    }

    fn finish(&mut self, resolution: &Resolution) {
        self.compact(resolution.cells);
    }
}

/// Sorts cells by key. Bins of a trace are close together, so their cells are dealt out to them, and only those of a bin are
/// compared.
fn sort(cells: &mut Vec<Cell>) {
    let bins = || cells.iter().map(Cell::bin);
    let (Some(first), Some(last)) = (bins().min(), bins().max()) else { return };
    if last - first > 4 * cells.len() as u64 {
        return cells.sort_unstable_by_key(|cell| cell.key);
    }
    let bin = |cell: &Cell| (cell.bin() - first) as usize;
    // Where the next cell of each bin goes, and in the end where the bin ends.
    let mut places = vec![0_u32; (last - first) as usize + 2];
    cells.iter().for_each(|cell| places[bin(cell) + 1] += 1);
    (1..places.len()).for_each(|bin| places[bin] += places[bin - 1]);
    let mut sorted = cells.clone();
    for cell in &*cells {
        let place = &mut places[bin(cell)];
        sorted[*place as usize] = *cell;
        *place += 1;
    }
    let mut begin = 0;
    for &end in &places {
        sorted[begin..end as usize].sort_unstable_by_key(|cell| cell.key);
        begin = end as usize;
    }
    *cells = sorted;
}

/// A time as nanoseconds since `i64::MIN`, so that none is negative.
fn from_epoch(time: i64) -> u64 {
    time as u64 ^ (1 << 63)
}

/// The same the other way round.
fn to_time(from_epoch: u64) -> i64 {
    (from_epoch ^ (1 << 63)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times and durations that look random, and some that no clock has.
    fn events() -> Vec<(i64, u64)> {
        let event = |n: u64| {
            let scrambled = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(n | 1);
            ((scrambled >> 24) as i64, scrambled >> (n % 64).max(1))
        };
        let mut events: Vec<(i64, u64)> = (0..20_000).map(event).collect();
        events.extend([(i64::MIN, 0), (i64::MAX, 5), (0, u64::MAX >> 1)]);
        events
    }

    fn series(events: &[(i64, u64)], resolution: Resolution) -> Series {
        let mut series = Series::default();
        events.iter().for_each(|&(time, ticks)| series.record_many(time, ticks, 1, resolution));
        series
    }

    #[test]
    fn result_does_not_depend_on_order_or_parts() {
        let mut events = events();
        for cells in [1 << 6, 1 << 10, 1 << 14] {
            let resolution = Resolution { cells, ..Resolution::new(1 << 40) };
            let mut whole = series(&events, resolution);
            whole.compact(cells);
            // All octaves of the widest four bins remain.
            assert!(whole.cells().len() <= cells.max(4 << OCTAVE_BITS));
            assert_eq!(whole.cells().iter().map(|cell| cell.count).sum::<u64>(), events.len() as u64);
            events.reverse();
            for parts in [2, 7] {
                let mut joined = Series::default();
                // A part knows of fewer groups, and so allows more cells.
                let more = Resolution { cells: 4 * cells, ..resolution };
                for part in events.chunks(events.len() / parts) {
                    joined.join(series(part, more));
                }
                joined.compact(cells);
                assert_eq!((joined.cells(), joined.shift), (whole.cells(), whole.shift));
            }
        }
    }

    #[test]
    fn bins_begin_where_their_events_are() {
        let resolution = Resolution::new(1_000_000_000);
        for time in [i64::MIN, -5, 0, 1_700_000_000_123_456_789, i64::MAX] {
            let series = series(&[(time, 3)], resolution);
            let bin = series.cells()[0].bin();
            assert!(series.begin(bin) <= time && time.abs_diff(series.begin(bin)) < series.width_ns());
            assert!(series.begin(bin + 1) >= time);
            assert_eq!(series.cells()[0].octave(), 2);
        }
    }
}
