//! A source of synthetic events, for tests: it can split its collector in any way and feed the parts in any order.

use std::convert::Infallible;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use crate::meaning::Dictionary;
use crate::source::Source;
use ctf_reader::{
    Base, Collect, Decoded, Error, EventClass, FieldClass, FieldKind, NotedEvents, Progress, Report, Scope,
    Value, Window,
};

use crate::{Selection, SourceWindow};

/// Events in memory.
pub struct SyntheticSource {
    pub classes: Vec<Arc<EventClass>>,
    pub events: Vec<(i64, usize, Vec<Value<'static>>)>,
    /// The number of collectors that events are distributed over; they are merged in reverse order.
    pub parts: usize,
}

impl SyntheticSource {
    /// A source of no events of one class.
    pub fn new(class: EventClass) -> Self {
        SyntheticSource { classes: vec![Arc::new(class)], events: Vec::new(), parts: 1 }
    }

    /// Adds an event of the first class, one nanosecond after the last.
    pub fn add(&mut self, values: Vec<Value<'static>>) {
        self.events.push((self.events.len() as i64, 0, values));
    }

    /// Runs an analysis.
    pub fn analyse<T>(&mut self, analyse: impl FnOnce(&mut SourceWindow<'_, SyntheticSource>) -> T) -> T {
        let progress = Progress::default();
        analyse(&mut SourceWindow { source: self, window: Window::default(), progress: &progress })
    }
}

/// A class of these fields, all the event's own.
pub fn class(name: &str, fields: &[(&str, FieldKind)]) -> EventClass {
    let field = |&(name, kind): &(&str, FieldKind)| FieldClass {
        name: name.into(),
        scope: Scope::Payload,
        kind,
        base: Base::Decimal,
    };
    EventClass {
        index: 0,
        name: name.into(),
        log_level: None,
        model_uri: None,
        fields: fields.iter().map(field).collect(),
        trace: 0,
    }
}

/// Everything, with Valkey's meanings, grouped by these fields.
pub fn by(fields: &[&str]) -> Arc<Selection> {
    Arc::new(Selection {
        dictionary: Dictionary { catalogs: vec![lttng_catalog::valkey()], duration: None },
        by: Some(fields.iter().map(ToString::to_string).collect()),
        ..Selection::default()
    })
}

impl Source for SyntheticSource {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        let times = || self.events.iter().map(|(time, ..)| *time);
        Ok(times().min().zip(times().max()).map(|(first, last)| first..=last))
    }

    fn read_noted<C: Collect<Stop = Infallible>>(
        &mut self,
        _: &mut NotedEvents,
        _: Window,
        mut collector: C,
        _: &Progress,
    ) -> Result<(C, Report), Error> {
        let wanted: Vec<_> = self.classes.iter().map(|class| collector.want(class)).collect();
        let mut parts: Vec<C> = (0..self.parts).map(|_| collector.split()).collect();
        for (index, (timestamp, class, values)) in self.events.iter().enumerate() {
            if let Some(fields) = &wanted[*class] {
                let values: Vec<_> = fields.indexes().iter().map(|&field| values[field].clone()).collect();
                let decoded = Decoded { timestamp: *timestamp, values: &values };
                let ControlFlow::Continue(()) = parts[index % self.parts].events(&decoded.events(*class));
            }
        }
        parts.into_iter().rev().for_each(|part| collector.absorb(part));
        let mut report = Report::default();
        (report.events, report.span) = (self.events.len() as u64, self.span()?);
        Ok((collector, report))
    }
}
