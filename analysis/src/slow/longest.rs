//! The longest single events, in a heap of bounded size.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use ctf_reader::{ClassIndex, Event, EventClass, Wanted};

use crate::datum::Datum;
use crate::reading::{ClassPlan, EventKind, KeptFields, RecordedFields, Roster, grown, key};

/// A single event. Longer events come first, then earlier ones, and so on: no two different events are equal, so the
/// result does not depend on the order in which events arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowEvent {
    /// How long it took.
    pub duration_ns: u128,
    /// When it ended: nanoseconds since 1970.
    pub timestamp: i64,
    /// The event.
    pub kind: Arc<EventKind>,
    /// The keys of its group, as bytes.
    pub(crate) key: Box<[u8]>,
    /// The trace that it is from, as an index into [`Report::traces`](ctf_reader::Report::traces).
    pub(crate) trace: usize,
    /// What was recorded with it.
    pub(crate) fields: RecordedFields,
}

impl SlowEvent {
    /// The keys of its group.
    pub fn key(&self) -> Vec<Datum> {
        key::decode(&self.key)
    }
}

impl Ord for SlowEvent {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |record: &Self| (Reverse(record.duration_ns), record.timestamp);
        rank(self)
            .cmp(&rank(other))
            .then_with(|| self.kind.cmp(&other.kind))
            .then_with(|| self.fields.cmp(&other.fields))
            .then_with(|| self.trace.cmp(&other.trace))
    }
}

impl PartialOrd for SlowEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Makes records of events: what is kept of each class, which the parts of a split collector share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Vec<Option<(usize, KeptFields)>>>);

impl Recorder {
    /// Asks for the fields that are kept of a class, if its events count.
    pub fn want(&mut self, class: &EventClass, roster: &Roster, wanted: &mut Wanted) {
        if let Some(plan) = roster.plan(class.index) {
            let meaning = roster.selection().dictionary.look_up(class);
            let kept = KeptFields::new(class, &meaning, plan, wanted);
            *grown(Arc::make_mut(&mut self.0), class.index) = Some((class.trace, kept));
        }
    }

    /// The trace of a class, and what is kept of its events.
    pub fn kept(&self, class: ClassIndex) -> Option<&(usize, KeptFields)> {
        self.0.get(class)?.as_ref()
    }

    /// The record of an event of a class, which took this many ticks of its kind's unit.
    pub fn record(
        &self,
        class: ClassIndex,
        (plan, kind): (&ClassPlan, &Arc<EventKind>),
        ticks: u64,
        event: &Event<'_>,
    ) -> Option<SlowEvent> {
        let (trace, kept) = self.kept(class)?;
        let mut key = Vec::new();
        plan.encode_key(event, &mut key);
        Some(SlowEvent {
            duration_ns: kind.ns(ticks),
            timestamp: event.timestamp(),
            kind: Arc::clone(kind),
            key: key.into(),
            trace: *trace,
            fields: kept.of(event),
        })
    }
}

/// The first records of the list, up to a limit.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    limit: usize,
    heap: BinaryHeap<SlowEvent>,
}

impl Longest {
    pub fn new(limit: usize) -> Self {
        Longest { limit, heap: BinaryHeap::new() }
    }

    /// Whether an event may be among the longest so far.
    #[inline]
    pub fn has_room_for(&self, duration_ns: u128, timestamp: i64) -> bool {
        let is_after = |last: &SlowEvent| {
            (Reverse(duration_ns), timestamp) > (Reverse(last.duration_ns), last.timestamp)
        };
        self.heap.len() < self.limit || !self.heap.peek().is_none_or(is_after)
    }

    /// The least duration of those that may be among the longest so far, in ticks of a kind's unit.
    pub fn least(&self, kind: &EventKind) -> u64 {
        let last = self.heap.peek().filter(|_| self.heap.len() >= self.limit);
        let ticks = last.map_or(0, |last| last.duration_ns.div_ceil(kind.unit_ns()));
        // Without room for any, no duration is long enough.
        if self.limit == 0 { u64::MAX } else { u64::try_from(ticks).unwrap_or(u64::MAX) }
    }

    /// Keeps more from now on.
    pub fn grow(&mut self, limit: usize) {
        self.limit = self.limit.max(limit);
    }

    pub fn absorb(&mut self, other: Longest) {
        other.heap.into_iter().for_each(|record| self.push(record));
    }

    pub fn into_sorted(self) -> Vec<SlowEvent> {
        self.heap.into_sorted_vec()
    }

    /// The most records.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Adds a record, if it is among the longest so far.
    pub fn push(&mut self, record: SlowEvent) {
        self.heap.push(record);
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }
}
