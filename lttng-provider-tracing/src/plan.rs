//! What is recorded of a call site, worked out once, when `tracing` registers it.

use std::sync::atomic::{AtomicU32, Ordering};

use tracing_core::Metadata;
use tracing_core::field::Field;

use crate::generated::{Event, Measured};
use crate::kind::Kind;
use crate::pattern::{matches, same_name};
use crate::warnings::{Place, Warnings};

/// The fields that a call site of `tracing` may have.
const FIELDS_MAX: usize = 32;
/// A field of the call site that no event records.
const UNUSED: u8 = u8::MAX;

/// What is recorded of a call site.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The events that it is recorded as; at least one.
    pub(crate) recordings: Vec<Recording>,
    /// The slot of the captured values for each field of the call site.
    slots: [u8; FIELDS_MAX],
    /// The number of slots.
    pub(crate) slot_count: usize,
    /// Whether the time in which a span is entered is recorded.
    pub(crate) needs_busy: bool,
}

/// An event that a call site is recorded as.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) event: &'static Event,
    /// Where the value of each of its fields comes from.
    pub(crate) sources: Vec<Source>,
    /// The fields, as bits, whose values were once reported not to fit.
    reported: AtomicU32,
}

/// Where the value of a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A field of the call site, captured in this slot.
    Slot(usize),
    /// The time from the first entry to the close.
    Wall,
    /// The time in which the span was entered.
    Busy,
    /// The time in which it was not.
    Idle,
    /// What the call site is called.
    Name,
    /// Its target.
    Target,
    /// Its level.
    Level,
    /// The source file that it is in.
    File,
    /// Its line there.
    Line,
    /// The number of the span; 0 for an event.
    Span,
    /// The number of the recorded span around that.
    Parent,
    /// Nowhere: the field is recorded as 0, false or empty.
    Nowhere,
}

/// Fields that say something about the call site or the span itself, unless the call site has a field of that name.
const ABOUT: [(&str, Source); 9] = [
    ("tracing_name", Source::Name),
    ("tracing_target", Source::Target),
    ("tracing_level", Source::Level),
    ("tracing_file", Source::File),
    ("tracing_line", Source::Line),
    ("tracing_busy", Source::Busy),
    ("tracing_idle", Source::Idle),
    ("tracing_span", Source::Span),
    ("tracing_parent", Source::Parent),
];

impl Plan {
    /// The events that the call site is recorded as.
    pub(crate) fn events(&self) -> impl Iterator<Item = &'static Event> {
        self.recordings.iter().map(|recording| recording.event)
    }

    /// None if the catalog does not name the call site.
    pub(crate) fn new(events: &'static [Event], metadata: &'static Metadata<'static>) -> Option<Plan> {
        let mut plan =
            Plan { recordings: Vec::new(), slots: [UNUSED; FIELDS_MAX], slot_count: 0, needs_busy: false };
        for event in events.iter().filter(|event| matches(event, metadata)) {
            let sources = (0..event.fields.len()).map(|index| plan.source(event, index, metadata)).collect();
            plan.recordings.push(Recording { event, sources, reported: AtomicU32::new(0) });
        }
        let sources = plan.recordings.iter().flat_map(|recording| &recording.sources);
        plan.needs_busy = sources.into_iter().any(|source| matches!(source, Source::Busy | Source::Idle));
        (!plan.recordings.is_empty()).then_some(plan)
    }

    /// Warns of fields that the call site has no value for.
    pub(crate) fn warn_of_missing(&self, metadata: &'static Metadata<'static>, warnings: &Warnings) {
        for recording in &self.recordings {
            recording.warn_of_missing(metadata, warnings);
        }
    }

    /// Whether a session records any of the events right now.
    #[inline]
    pub(crate) fn enabled(&self) -> bool {
        self.recordings.iter().any(|recording| (recording.event.enabled)())
    }

    /// The slot of a field of the call site, if an event records it.
    #[inline]
    pub(crate) fn slot(&self, field: &Field) -> Option<usize> {
        let slot = *self.slots.get(field.index())?;
        (slot != UNUSED).then_some(usize::from(slot))
    }

    fn source(&mut self, event: &Event, index: usize, metadata: &Metadata<'_>) -> Source {
        let name = event.fields[index].name;
        if let Some(field) = metadata.fields().iter().find(|field| same_name(name, field.name())) {
            return self.take_slot(field.index());
        }
        match event.duration {
            Some((duration, Measured::Wall)) if duration == index => return Source::Wall,
            Some((duration, Measured::Busy)) if duration == index => return Source::Busy,
            _ => {}
        }
        let about = ABOUT.iter().find(|(about, _)| *about == name);
        about.map_or(Source::Nowhere, |(_, source)| *source)
    }

    fn take_slot(&mut self, field: usize) -> Source {
        let Some(slot) = self.slots.get_mut(field) else { return Source::Nowhere };
        if *slot == UNUSED {
            *slot = self.slot_count as u8;
            self.slot_count += 1;
        }
        Source::Slot(usize::from(*slot))
    }
}

impl Recording {
    fn warn_of_missing(&self, metadata: &'static Metadata<'static>, warnings: &Warnings) {
        for (field, source) in self.event.fields.iter().zip(&self.sources) {
            let place = Place { metadata, event: self.event, field: field.name };
            if *source == Source::Nowhere {
                warnings.missing_field(&place);
            } else if matches!(field.kind, Kind::List) {
                warnings.list(&place);
            }
        }
    }

    /// Whether this is the first value of this field that does not fit.
    pub(crate) fn is_first_misfit(&self, index: usize) -> bool {
        let bit = 1_u32.checked_shl(index as u32).unwrap_or(0);
        self.reported.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }
}
