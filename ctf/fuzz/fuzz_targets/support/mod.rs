//! What the targets share: traces made of any bytes, and a consumer that looks at everything.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{
    Brief, Collect, Collected, Discovery, EventClass, Events, Progress, Reader, Report, TraceFiles, Value, Wanted,
    Window,
};

/// A trace: metadata up to the first NUL, and a stream file after it.
pub fn trace(bytes: &[u8]) -> TraceFiles {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (metadata, stream) = bytes.split_at(end);
    let stream: Arc<[u8]> = stream.get(1..).unwrap_or_default().into();
    TraceFiles::from_bytes(metadata.to_vec(), vec![("stream".into(), stream)])
}

/// Two traces: the first two bytes say how long the first one is.
#[allow(dead_code, reason = "not all targets have two")]
pub fn two_traces(bytes: &[u8]) -> Option<[TraceFiles; 2]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (one, other) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    Some([one, other].map(trace))
}

/// Opens traces, if anything in them can be read.
pub fn open(traces: impl Into<Vec<TraceFiles>>) -> Option<Reader> {
    Reader::open_found(Discovery { traces: traces.into(), damage: Vec::new() }).ok()
}

/// Wants all fields or none, looks at them in every way, and sums up what must not depend on the order of events.
#[derive(Clone)]
pub struct Look {
    all: bool,
    /// The fields of each class.
    fields: Vec<Wanted>,
    /// For each class a sum over its events.
    pub sums: Vec<u64>,
}

impl Look {
    pub fn new(all: bool) -> Look {
        Look { all, fields: Vec::new(), sums: Vec::new() }
    }
}

/// An integer, or a number for anything else.
pub fn integer(value: &Value<'_>) -> u64 {
    value.integer().unwrap_or(u64::MAX)
}

/// What an event adds to its class's sum.
pub fn sum(timestamp: i64, values: impl Iterator<Item = u64>) -> u64 {
    values.fold(timestamp as u64 | 1, |sum, value| sum.wrapping_mul(31).wrapping_add(value))
}

impl Collect for Look {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        assert_eq!(class.index, self.fields.len());
        let wanted = if self.all { Wanted::all(class) } else { Wanted::of(class) };
        self.fields.push(wanted.clone());
        self.sums.push(0);
        self.all.then_some(wanted)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let wanted = &mut self.fields[events.class];
        for (index, field) in wanted.clone().fields().enumerate() {
            let mut briefs = Vec::new();
            events.briefs(field, &mut briefs);
            let values: Vec<Value<'_>> = events.iter().map(|event| event.value(field)).collect();
            assert!(values.iter().map(Brief::from).eq(briefs));
            if let Some(field) = wanted.field_at(index) {
                let mut integers = Vec::new();
                events.integers(field, &mut integers);
                assert!(values.iter().map(integer).eq(integers));
            }
        }
        for event in events.iter() {
            let values = wanted.fields().map(|field| integer(&event.value(field)));
            let sum = sum(event.timestamp(), values);
            self.sums[events.class] = self.sums[events.class].wrapping_add(sum);
        }
        assert!(events.iter().map(|event| event.timestamp()).is_sorted());
        ControlFlow::Continue(())
    }

    fn split(&self) -> Look {
        Look { sums: vec![0; self.sums.len()], ..self.clone() }
    }

    fn absorb(&mut self, other: Look) {
        self.sums.iter_mut().zip(other.sums).for_each(|(mine, theirs)| *mine = mine.wrapping_add(theirs));
    }
}

/// Reads all events with all their fields or with none.
pub fn read(reader: &Reader, all: bool) -> (Vec<u64>, Report) {
    let Collected { collector, report, .. } = reader.read(Window::default(), Look::new(all), &Progress::default());
    (collector.sums, report)
}
