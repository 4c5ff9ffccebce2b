//! How often each value of each field was seen among the events of a group.

use std::ops::Range;
use std::sync::Arc;

use ctf_reader::{Brief, Event};
use hashbrown::{HashMap, HashTable};

use super::{PERIODS_MAX, VALUES_MAX};
use crate::reading::plan::KeyField;
use crate::reading::{CommonField, grown, key};
use crate::slow::SeenEvent;

/// The most bytes that are compared at once: of a longer text only the beginning is looked at.
const MOST_BESIDE: usize = 64;

/// How often a value was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Among all that are compared: how many, and the sum of the logarithms of their durations, in thousandths.
    pub all: u64,
    pub level: i64,
    pub tenth: u64,
    pub periods: [u64; PERIODS_MAX],
    /// Among those that are not slow, and among the slow ones.
    pub usual: u64,
    pub slow: u64,
}

impl Counts {
    #[inline(always)]
    pub fn add(&mut self, other: &Counts) {
        self.all += other.all;
        self.level += other.level;
        self.tenth += other.tenth;
        self.periods.iter_mut().zip(other.periods).for_each(|(mine, theirs)| *mine += theirs);
        self.usual += other.usual;
        self.slow += other.slow;
    }

    /// What was counted after others.
    fn since(&self, before: &Counts) -> Counts {
        Counts {
            all: self.all - before.all,
            level: self.level - before.level,
            tenth: self.tenth - before.tenth,
            periods: std::array::from_fn(|period| self.periods[period] - before.periods[period]),
            usual: self.usual - before.usual,
            slow: self.slow - before.slow,
        }
    }
}

/// The values of a field, as bytes, and how often each was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    places: HashMap<Box<[u8]>, u32>,
    counts: Vec<Counts>,
}

impl Values {
    /// The place of a value, added if it is new.
    fn place(&mut self, value: &[u8]) -> u32 {
        if let Some(&place) = self.places.get(value) {
            return place;
        }
        let place = self.counts.len() as u32;
        self.counts.push(Counts::default());
        self.places.insert(value.into(), place);
        place
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Counts)> {
        self.places.iter().map(|(value, &place)| (&**value, &self.counts[place as usize]))
    }
}

/// The order and the name of a field.
type FieldName = (usize, Arc<str>);

/// The values of all fields of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// As they were first met. Without values, there were too many.
    pub fields: Vec<(FieldName, Option<Values>)>,
    /// The numbers of the traces, and how many of their events were seen.
    pub traces: Vec<(usize, Counts)>,
    /// By the class: where its events are counted.
    classes: Vec<Option<OfClass>>,
}

/// Where in a table the events of a class are counted.
#[derive(Clone, Debug)]
struct OfClass {
    /// The place of its trace.
    trace: usize,
    /// All of them.
    total: Counts,
    /// The fields, without those that have too many values.
    columns: Vec<Column>,
    /// The number of the first of them that are side by side in all events, and where: most events have the same bytes there as
    /// the one before.
    beside: usize,
    place: Range<usize>,
    /// The bytes of the last event.
    last: Vec<u8>,
}

/// A field of a class.
#[derive(Clone, Debug)]
struct Column {
    field: KeyField,
    /// Its place among the fields of the table.
    place: usize,
    /// The last value, as it is stored, and its place.
    last: (Brief, u32),
    /// All events of the class before the first of those with the last value. Most have the value of the one before, so they are
    /// counted together, when another value comes.
    before: Counts,
    /// All values that are brief, and their places.
    known: HashTable<(Brief, u32)>,
}

impl Table {
    /// All events.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.traces.iter().for_each(|(_, counts)| total.add(counts));
        total
    }

    /// Counts an event. The buffer is for reuse.
    pub fn add(&mut self, seen: &SeenEvent<'_, '_>, with_keys: bool, counts: &Counts, buffer: &mut Vec<u8>) {
        if grown(&mut self.classes, seen.class).is_none() {
            self.classes[seen.class] = Some(self.enter(seen, with_keys));
        }
        let Table { fields, classes, .. } = self;
        let Some(OfClass { total, columns, beside, place, last, .. }) = &mut classes[seen.class] else {
            return;
        };
        let mut next = match seen.event.bytes(place) {
            Some(bytes) if bytes == &**last => *beside,
            bytes => {
                last.clear();
                last.extend_from_slice(bytes.unwrap_or_default());
                0
            }
        };
        while let Some(column) = columns.get_mut(next) {
            let stored = column.field.stored(seen.event);
            if stored == column.last.0
                || column.change(stored, seen, total, &mut fields[column.place].1, buffer)
            {
                next += 1;
            } else {
                columns.remove(next);
                *beside -= usize::from(next < *beside);
            }
        }
        total.add(counts);
    }

    /// Counts the events with the last values, before results are read.
    pub fn settle(&mut self) {
        let Table { fields, traces, classes } = self;
        for OfClass { trace, total, columns, .. } in classes.drain(..).flatten() {
            traces[trace].1.add(&total);
            for mut column in columns {
                let values = &mut fields[column.place].1;
                values.iter_mut().for_each(|values| column.settle(&total, values));
            }
        }
    }

    /// Where the events of a class are counted.
    #[cold]
    fn enter(&mut self, seen: &SeenEvent<'_, '_>, with_keys: bool) -> OfClass {
        let (trace, kept) = seen.kept;
        let mut columns = Vec::new();
        for CommonField { order, name, field, .. } in
            kept.common().iter().filter(|field| with_keys || !field.is_key)
        {
            let place = self.field(*order, name);
            columns.push(Column {
                field: *field,
                place,
                last: (Brief::NONE, 0),
                before: Counts::default(),
                known: HashTable::new(),
            });
        }
        let (beside, place) = set_side_by_side(&mut columns, seen.event);
        let (trace, total) = (self.trace(*trace), Counts::default());
        OfClass { trace, total, columns, beside, place, last: Vec::new() }
    }

    /// The place of a field, added if it is new.
    fn field(&mut self, order: usize, name: &Arc<str>) -> usize {
        let known = self.fields.iter().position(|((known, of), _)| *known == order && of == name);
        known.unwrap_or_else(|| {
            self.fields.push(((order, Arc::clone(name)), Some(Values::default())));
            self.fields.len() - 1
        })
    }

    /// The place of a trace, added if it is new.
    fn trace(&mut self, number: usize) -> usize {
        self.traces.iter().position(|(known, _)| *known == number).unwrap_or_else(|| {
            self.traces.push((number, Counts::default()));
            self.traces.len() - 1
        })
    }

    /// Adds what another part counted.
    pub fn absorb(&mut self, mut other: Table) {
        other.settle();
        for (trace, counts) in other.traces {
            let place = self.trace(trace);
            self.traces[place].1.add(&counts);
        }
        for ((order, name), values) in other.fields {
            let place = self.field(order, &name);
            let mine = &mut self.fields[place].1;
            let (Some(known), Some(values)) = (&mut *mine, values) else {
                *mine = None;
                continue;
            };
            for (value, counts) in values.iter() {
                let place = known.place(value);
                known.counts[place as usize].add(counts);
            }
            if known.counts.len() > VALUES_MAX {
                *mine = None;
            }
        }
    }
}

/// Sets those fields before the others that follow each other without a gap from the first on that has a known place. Returns
/// their number, and where they are in each event of the class.
fn set_side_by_side(columns: &mut [Column], event: &Event<'_>) -> (usize, Range<usize>) {
    let place = |column: &Column| column.field.place(event);
    columns.sort_by_key(|column| place(column).map_or((true, 0), |place| (false, place.start)));
    let mut places = columns.iter().map_while(place).peekable();
    let begin = places.peek().map_or(0, |first| first.start);
    let (mut count, mut all) = (0, begin..begin);
    for next in places {
        if next.start != all.end || next.end - begin > MOST_BESIDE {
            break;
        }
        (count, all.end) = (count + 1, next.end);
    }
    (count, all)
}

impl Column {
    /// Counts the events before one with another value. False if there are too many values.
    #[inline(never)]
    fn change(
        &mut self,
        stored: Brief,
        seen: &SeenEvent<'_, '_>,
        total: &Counts,
        values: &mut Option<Values>,
        buffer: &mut Vec<u8>,
    ) -> bool {
        let Some(known) = values else { return false };
        self.settle(total, known);
        self.last = match self.known.find(hash(stored), |(known, _)| *known == stored) {
            Some(&known) => known,
            None => self.enter(stored, seen, known, buffer),
        };
        if known.counts.len() > VALUES_MAX {
            *values = None;
        }
        values.is_some()
    }

    /// Counts the events with the last value.
    fn settle(&mut self, total: &Counts, values: &mut Values) {
        if let Some(counts) = values.counts.get_mut(self.last.1 as usize) {
            counts.add(&total.since(&self.before));
        }
        self.before = *total;
    }

    /// A value that is not known, or not brief, and its place. What is not brief is like no other value.
    fn enter(
        &mut self,
        stored: Brief,
        seen: &SeenEvent<'_, '_>,
        values: &mut Values,
        buffer: &mut Vec<u8>,
    ) -> (Brief, u32) {
        buffer.clear();
        key::encode_within(&self.field.value(seen.event), buffer, 256);
        let place = values.place(buffer);
        if stored == Brief::OTHER {
            return (Brief::NONE, place);
        }
        self.known.insert_unique(hash(stored), (stored, place), |(known, _)| hash(*known));
        (stored, place)
    }
}

/// The low bits of what is mixed depend on few others.
#[inline(always)]
fn hash(stored: Brief) -> u64 {
    stored.mix().rotate_left(26)
}
