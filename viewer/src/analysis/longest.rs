//! Single events worth showing: the longest of them, in a heap that never holds more.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::key::{self, Datum};
use super::plan::{Plan, Slots};
use super::selection::Kind;
use ctf_reader::{Event, EventClass, Scope};

/// A single event. The order is that of a list: the longest first, then the earliest, and so on, so that
/// no two different events are equal and the list is the same whatever order events come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How long it took.
    pub duration_ns: u128,
    /// When it ended: nanoseconds since 1970.
    pub timestamp: i64,
    /// The event.
    pub kind: Arc<Kind>,
    /// The keys of its group, as bytes.
    pub(super) key: Box<[u8]>,
    fields: Arc<Vec<Field>>,
    values: Box<[u8]>,
}

/// A field of a [`Record`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    /// The name, as recorded.
    pub name: String,
    /// Whether the field is the event's own, and neither a context nor the duration.
    pub is_detail: bool,
}

impl Record {
    /// The keys of its group.
    pub fn key(&self) -> Vec<Datum> {
        key::decode(&self.key)
    }

    /// The fields with their values.
    pub fn fields(&self) -> impl Iterator<Item = (&Field, Datum)> {
        self.fields.iter().zip(key::decode(&self.values))
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |record: &Self| (Reverse(record.duration_ns), record.timestamp);
        rank(self)
            .cmp(&rank(other))
            .then_with(|| self.kind.cmp(&other.kind))
            .then_with(|| self.values.cmp(&other.values))
            .then_with(|| self.fields.cmp(&other.fields))
    }
}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The fields of a class that a record of it has, and where their values are.
#[derive(Clone, Debug)]
pub(super) struct Details {
    fields: Arc<Vec<Field>>,
    slots: Vec<usize>,
}

impl Details {
    /// All fields, those that say the most first, and of the environment only what tells the process.
    pub fn new(class: &EventClass, plan: &Plan, slots: &mut Slots) -> Self {
        let duration = plan.duration_slot().map(|slot| slots.0[slot]);
        let is_shown = |&index: &usize| {
            let field = &class.fields[index];
            field.scope != Scope::Environment || matches!(&*field.name, "vpid" | "procname")
        };
        let others = (0..class.fields.len()).filter(|index| !plan.leading.contains(index));
        let mut order: Vec<usize> = plan.leading.iter().copied().chain(others).filter(is_shown).collect();
        order.dedup();
        let field = |&index: &usize| {
            let field = &class.fields[index];
            let is_detail = field.scope == Scope::Payload && duration != Some(index);
            Field { name: field.name.to_string(), is_detail }
        };
        Details {
            fields: Arc::new(order.iter().map(field).collect()),
            slots: order.iter().map(|&index| slots.of(index)).collect(),
        }
    }

    /// Makes a record of an event that is worth showing.
    pub fn record(&self, kind: &Arc<Kind>, duration_ns: u128, key: &[u8], event: &Event<'_>) -> Record {
        let mut values = Vec::new();
        self.slots.iter().for_each(|&slot| key::encode(&event.value(slot), &mut values));
        Record {
            duration_ns,
            timestamp: event.timestamp(),
            kind: Arc::clone(kind),
            key: key.into(),
            fields: Arc::clone(&self.fields),
            values: values.into(),
        }
    }
}

/// The first records of the list, at most so many.
#[derive(Clone, Debug)]
pub(super) struct Longest {
    limit: usize,
    heap: BinaryHeap<Record>,
}

impl Longest {
    pub fn new(limit: usize) -> Self {
        Longest { limit, heap: BinaryHeap::new() }
    }

    /// Whether an event may belong to the longest so far.
    #[inline]
    pub fn has_room_for(&self, duration_ns: u128, timestamp: i64) -> bool {
        let is_behind =
            |last: &Record| (Reverse(duration_ns), timestamp) > (Reverse(last.duration_ns), last.timestamp);
        self.heap.len() < self.limit || !self.heap.peek().is_none_or(is_behind)
    }

    pub fn absorb(&mut self, other: Longest) {
        other.heap.into_iter().for_each(|record| self.push(record));
    }

    pub fn into_sorted(self) -> Vec<Record> {
        self.heap.into_sorted_vec()
    }

    /// The same limit, and nothing yet.
    pub fn emptied(&self) -> Self {
        Longest::new(self.limit)
    }

    /// Takes a record in, if it belongs to the longest so far.
    pub fn push(&mut self, record: Record) {
        self.heap.push(record);
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }
}
