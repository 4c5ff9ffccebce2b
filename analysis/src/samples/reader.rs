//! Reads samples in time order.

use std::sync::Arc;

use ctf_reader::{EventClass, Field, InOrder, OrderedEvent, Reader, Step, Value, Wanted, Window};

use super::format::{EVENTS, full_name};
use super::{LimitSample, MachineSample, RunnerSample, Sample, ThreadSample};

/// Samples are read this far ahead of events, in nanoseconds: what follows an incident belongs to it.
const AHEAD: i64 = 50_000_000;

/// Samples of a recording, or of several.
pub struct SampleReader<'r> {
    events: InOrder<'r>,
    /// For each class, which event it is, and its fields.
    kinds: Vec<Option<(usize, Vec<Field>)>>,
    hosts: Vec<Option<String>>,
    next: Option<(i64, usize, Sample)>,
}

impl<'r> SampleReader<'r> {
    /// Reads the samples of a window.
    pub fn new(reader: &'r Reader, window: Window) -> Self {
        let want = |class: &Arc<EventClass>| {
            let kind = EVENTS.iter().position(|(name, _)| full_name(name) == class.name)?;
            let mut wanted = Wanted::of(class);
            let fields = EVENTS[kind].1.iter().map(|(name, _)| wanted.field(name)).collect::<Option<_>>()?;
            Some((wanted, (kind, fields)))
        };
        let (wanted, kinds): (Vec<_>, Vec<_>) = reader.classes().map(|class| want(class).unzip()).unzip();
        let want = move |class: &Arc<EventClass>| wanted[class.index].clone();
        let host = |trace: &ctf_reader::Trace| trace.environment("hostname").map(str::to_owned);
        let hosts = reader.traces().iter().map(host).collect();
        let mut samples = SampleReader { events: reader.in_order(window, want), kinds, hosts, next: None };
        samples.advance();
        samples
    }

    /// Whether any are needed to judge events up to this time, which were not handed over.
    #[inline]
    pub fn has_any_around(&self, time: i64) -> bool {
        self.next.as_ref().is_some_and(|(next, ..)| *next <= time.saturating_add(AHEAD))
    }

    /// Hands over the samples that are needed to judge an event of this time: the machine that each is of, its time, and itself.
    pub fn around(&mut self, time: i64, mut take: impl FnMut(Option<&str>, i64, Sample)) {
        let until = time.saturating_add(AHEAD);
        while let Some((time, trace, sample)) = self.next.take_if(|(time, ..)| *time <= until) {
            self.advance();
            take(self.hosts.get(trace).and_then(Option::as_deref), time, sample);
        }
    }

    fn advance(&mut self) {
        while let Step::Event(event) = self.events.next_event() {
            let class = event.class();
            if let Some(Some((kind, fields))) = self.kinds.get(class.index) {
                self.next = Some((event.timestamp(), class.trace, decode(*kind, fields, &event)));
                return;
            }
        }
    }
}

fn decode(kind: usize, fields: &[Field], event: &OrderedEvent<'_>) -> Sample {
    let total = |place: usize| match event.value(fields[place]) {
        Value::Unsigned(number) => number,
        _ => 0,
    };
    let id = |place: usize| match event.value(fields[place]) {
        Value::Signed(number) => i32::try_from(number).unwrap_or(-1),
        _ => -1,
    };
    match kind {
        0 => Sample::Thread(ThreadSample {
            vpid: id(0),
            vtid: id(1),
            since_ns: total(2),
            state: total(3) as u8,
            cpu: id(4),
            on_cpu_ns: total(5),
            queued_ns: total(6),
            voluntary_switches: total(7),
            involuntary_switches: total(8),
            minor_faults: total(9),
            major_faults: total(10),
        }),
        1 => Sample::Runner(RunnerSample {
            pid: id(0),
            tid: id(1),
            cpu: id(2),
            on_cpu_ns: total(3),
            comm: match event.value(fields[4]) {
                Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                _ => String::new(),
            },
        }),
        2 => Sample::Limit(LimitSample { vpid: id(0), throttled_ns: total(1) }),
        _ => Sample::Machine(MachineSample {
            steal_ns: total(0),
            pressure_cpu_us: total(1),
            pressure_memory_us: total(2),
            pressure_io_us: total(3),
            sampler_ns: total(4),
        }),
    }
}
