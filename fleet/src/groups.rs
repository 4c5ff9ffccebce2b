//! The table of groups: histograms of durations by minute, which can be added up over hosts, hours and groups.
//!
//! A row is a bucket of a histogram, those of `ltt-top`: durations of up to 1,023 ticks of the event's unit are exact, longer ones
//! within 1/1,024. Adding up is SUM by bucket, so that plain SQL merges histograms and finds percentiles.

use bytes::Bytes;
use hashbrown::HashMap;
use ltt_analysis::durations::Bucket;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use crate::column::{Column, Kind, Layout, NULL, Values};
use crate::interner::{Interner, NONE};
use crate::plan::{EventPlan, PID, PROCESS};
use crate::row_group::{RowGroup, row_group};
use crate::rows::{IMPLAUSIBLE, Rows};

const MINUTE_NS: i64 = 60_000_000_000;

/// What events of a bucket have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Since 1970.
    minute: i64,
    event: Bytes,
    group: Option<Bytes>,
    process: Option<Bytes>,
    pid: i64,
    is_repeat: bool,
    is_implausible: bool,
    /// The least duration in the bucket, in nanoseconds; [`NULL`] without one.
    low_ns: i64,
    high_ns: i64,
    /// What stands for all durations in the bucket.
    bucket_ns: i64,
}

/// The durations of a bucket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    count: i64,
    total_ns: i64,
    min_ns: i64,
    max_ns: i64,
}

/// Buckets and their durations.
pub type Cells = HashMap<Key, Cell>;

/// Adds buckets up.
pub fn merge(into: &mut Cells, cells: Cells) {
    for (key, cell) in cells {
        let sum = into.entry(key).or_insert(Cell { min_ns: i64::MAX, ..Cell::default() });
        sum.count += cell.count;
        sum.total_ns = sum.total_ns.saturating_add(cell.total_ns);
        sum.min_ns = sum.min_ns.min(cell.min_ns);
        sum.max_ns = sum.max_ns.max(cell.max_ns);
    }
}

/// The histograms of rows, whose groups are given.
pub fn cells(rows: &Rows, plan: &EventPlan, (groups, texts): &(Values, Vec<ByteArray>)) -> Cells {
    let (Values::Text(numbers), Values::Text(of_processes), Values::Integer(pids)) =
        (groups, &rows.columns[PROCESS], &rows.columns[PID])
    else {
        return Cells::default();
    };
    let mut counted: HashMap<(i64, u32, u32, u32, i64, u64), Cell> = HashMap::new();
    let unit = |class: u32| {
        let duration = plan.classes[class as usize].as_ref().and_then(|class| class.duration);
        // Floats are rounded to nanoseconds.
        duration.map_or(1, |duration| if duration.is_float { 1 } else { duration.unit_ns as i64 })
    };
    for (row, &time) in rows.times.iter().enumerate() {
        let (class, duration) = (rows.classes[row], rows.durations[row]);
        let (low, length) = match duration {
            NULL => (u64::MAX, 0),
            IMPLAUSIBLE => (u64::MAX - 1, 0),
            duration => (Bucket::of((duration / unit(class)) as u64).low, duration),
        };
        let key = (
            time.div_euclid(MINUTE_NS),
            class,
            numbers[row],
            at(of_processes, row, NONE),
            at(pids, row, NULL),
            low,
        );
        let cell = counted.entry(key).or_insert(Cell { min_ns: i64::MAX, ..Cell::default() });
        cell.count += 1;
        cell.total_ns = cell.total_ns.saturating_add(length);
        cell.min_ns = cell.min_ns.min(length);
        cell.max_ns = cell.max_ns.max(length);
    }
    // Each text once, however many buckets have it.
    let shared = |texts: &[ByteArray]| texts.iter().map(bytes).collect::<Vec<Bytes>>();
    let [groups, processes] = [shared(texts), shared(&rows.texts[PROCESS])];
    let events: Vec<_> =
        plan.classes.iter().map(|class| class.as_ref().map(|class| bytes(&class.event))).collect();
    let text = |texts: &[Bytes], number: u32| (number != NONE).then(|| texts[number as usize].clone());
    let mut cells = Cells::with_capacity(counted.len());
    for ((minute, class, group, process, pid, low), cell) in counted {
        let (Some(plan), Some(event)) = (&plan.classes[class as usize], &events[class as usize]) else {
            continue;
        };
        let is_timed = low < u64::MAX - 1;
        let ns =
            |ticks: u64| i64::try_from(ticks).map_or(i64::MAX, |ticks| ticks.saturating_mul(unit(class)));
        let bucket = is_timed.then(|| Bucket::of(low));
        let of_bucket = |ticks: fn(&Bucket) -> u64| bucket.as_ref().map_or(NULL, |bucket| ns(ticks(bucket)));
        let key = Key {
            minute,
            event: event.clone(),
            group: text(&groups, group),
            process: text(&processes, process),
            pid,
            is_repeat: plan.is_repeat,
            is_implausible: low == u64::MAX - 1,
            low_ns: of_bucket(|bucket| bucket.low),
            high_ns: of_bucket(|bucket| bucket.high),
            bucket_ns: of_bucket(Bucket::middle),
        };
        merge(&mut cells, Cells::from_iter([(key, cell)]));
    }
    cells
}

/// The value of a row; those at the end may be missing.
fn at<T: Copy>(values: &[T], row: usize, none: T) -> T {
    values.get(row).copied().unwrap_or(none)
}

fn bytes(text: &ByteArray) -> Bytes {
    Bytes::copy_from_slice(text.data())
}

/// How files of the table are laid out.
pub fn layout() -> Result<Layout> {
    Layout::new(columns(), false)
}

/// The columns of the table.
pub fn columns() -> Vec<Column> {
    vec![
        Column::required("minute", Kind::Time),
        Column::required("event", Kind::Text),
        Column::new("group_name", Kind::Text),
        Column::new("process", Kind::Text),
        Column::new("pid", Kind::Integer),
        Column::required("is_repeat", Kind::Bool),
        Column::required("is_implausible", Kind::Bool),
        Column::new("bucket_ns", Kind::Integer),
        Column::new("low_ns", Kind::Integer),
        Column::new("high_ns", Kind::Integer),
        Column::required("count", Kind::Integer),
        Column::new("total_ns", Kind::Integer),
        Column::new("min_ns", Kind::Integer),
        Column::new("max_ns", Kind::Integer),
    ]
}

/// Encodes buckets, in the order of time.
pub fn encode(layout: &Layout, cells: Cells) -> Result<RowGroup> {
    let mut cells: Vec<(Key, Cell)> = cells.into_iter().collect();
    cells.sort_by(|(one, _), (other, _)| one.cmp(other));
    let text = |part: fn(&Key) -> Option<&Bytes>| {
        let mut interner = Interner::default();
        let numbers = cells.iter().map(|(key, _)| part(key).map_or(NONE, |text| interner.text(text)));
        let numbers = Values::Text(numbers.collect());
        (numbers, interner.take())
    };
    let integer = |part: fn(&Key) -> i64| Values::Integer(cells.iter().map(|(key, _)| part(key)).collect());
    let truth = |part: fn(&Key) -> bool| Values::Bool(cells.iter().map(|(key, _)| Some(part(key))).collect());
    let figure = |part: fn(&Cell) -> i64| {
        let of_timed = |(key, cell): &(Key, Cell)| if key.low_ns == NULL { NULL } else { part(cell) };
        Values::Integer(cells.iter().map(of_timed).collect())
    };
    let [event, group, process] =
        [text(|key| Some(&key.event)), text(|key| key.group.as_ref()), text(|key| key.process.as_ref())];
    let columns = [
        (&integer(|key| key.minute * (MINUTE_NS / 1000)), &[][..]),
        (&event.0, &event.1),
        (&group.0, &group.1),
        (&process.0, &process.1),
        (&integer(|key| key.pid), &[]),
        (&truth(|key| key.is_repeat), &[]),
        (&truth(|key| key.is_implausible), &[]),
        (&integer(|key| key.bucket_ns), &[]),
        (&integer(|key| key.low_ns), &[]),
        (&integer(|key| key.high_ns), &[]),
        (&Values::Integer(cells.iter().map(|(_, cell)| cell.count).collect()), &[]),
        (&figure(|cell| cell.total_ns), &[]),
        (&figure(|cell| cell.min_ns), &[]),
        (&figure(|cell| cell.max_ns), &[]),
    ];
    row_group(layout, &columns, cells.len(), &[])
}
