//! Drafts of streams and events to metadata.
//!
//! An event is linked, and its draft dropped, as soon as its stream is known. Until then it waits.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::draft::{Draft, Language, Origin};
use super::link::{Linker, Slots};
use super::model::{Clock, EnvironmentValue, EventLayout, Metadata, StreamClass, Type};
use super::problem::Problems;
use super::surroundings::Outer;

/// Decoding an event takes a step for each field of its stream's context too. All events together may have this many
/// of them, and [more](CONTEXT_FIELDS_PER_BYTE) for a larger text.
const MIN_CONTEXT_FIELDS: usize = 1 << 18;

/// The number of these fields for each byte of the text.
const CONTEXT_FIELDS_PER_BYTE: usize = 2;

/// A stream class that is not linked.
#[derive(Default)]
pub struct StreamDraft {
    pub id: u64,
    pub clock: Option<Arc<Clock>>,
    pub packet_context: Option<Rc<Draft>>,
    pub event_header: Option<Rc<Draft>>,
    pub event_context: Option<Rc<Draft>>,
    pub line: usize,
}

/// An event class that is not linked.
#[derive(Default)]
pub struct EventDraft {
    pub id: Option<u64>,
    /// Not needed where there is one stream only.
    pub stream_id: Option<u64>,
    pub name: String,
    pub log_level: Option<i64>,
    pub model_uri: Option<String>,
    pub context: Option<Rc<Draft>>,
    pub payload: Option<Rc<Draft>>,
    pub line: usize,
}

/// Puts metadata together from drafts.
pub struct Assembler {
    /// What is known so far.
    pub metadata: Metadata,
    linker: Linker,
    /// Whether the packet header is known, or known to be missing.
    has_header: bool,
    /// The ids of all streams, understood or not.
    stream_ids: HashSet<u64>,
    /// The positions of the streams that are linked, by their ids.
    positions: HashMap<u64, usize>,
    /// The ids of all events so far, after their streams'.
    event_ids: HashSet<(u64, u64)>,
    waiting_streams: Vec<StreamDraft>,
    waiting_events: Vec<EventDraft>,
    /// The number of context fields that all events together may still have.
    context_fields: usize,
}

/// Events of a stream that the metadata does not describe.
struct Strays {
    line: usize,
    name: String,
    count: usize,
}

impl Assembler {
    /// An assembler for a text of this size in bytes.
    pub fn new(language: Language, text_size: usize) -> Assembler {
        let context_fields =
            MIN_CONTEXT_FIELDS.saturating_add(text_size.saturating_mul(CONTEXT_FIELDS_PER_BYTE));
        Assembler {
            metadata: Metadata::default(),
            linker: Linker::new(language, text_size),
            has_header: false,
            stream_ids: HashSet::new(),
            positions: HashMap::new(),
            event_ids: HashSet::new(),
            waiting_streams: Vec::new(),
            waiting_events: Vec::new(),
            context_fields,
        }
    }

    /// Sets the packet header, if packets have one.
    pub fn packet_header(&mut self, draft: Option<Rc<Draft>>) -> Result<(), String> {
        self.has_header = true;
        self.metadata.packet_header = self.linker.scope(Origin::PacketHeader, &draft, &[])?;
        Ok(())
    }

    /// Adds a value of the environment.
    pub fn environment(&mut self, name: String, value: EnvironmentValue) {
        let length = match &value {
            EnvironmentValue::Integer(length) => u64::try_from(*length).ok(),
            EnvironmentValue::Text(_) => None,
        };
        if let Some(length) = length {
            self.linker.environment.entry(name.clone()).or_insert(length);
        }
        self.metadata.environment.push((name, value));
    }

    /// Adds a stream.
    pub fn stream(&mut self, draft: StreamDraft, problems: &mut Problems) -> Result<(), String> {
        if !self.stream_ids.insert(draft.id) {
            return Err(format!("duplicate stream id {}", draft.id));
        }
        match self.has_header {
            true => self.link_stream(&draft, problems),
            false => self.waiting_streams.push(draft),
        }
        Ok(())
    }

    /// Adds the stream of metadata that describes none: there is only one, without headers or contexts.
    pub fn add_default_stream(&mut self) {
        if !self.waiting_events.is_empty() {
            self.stream_ids.insert(0);
            self.waiting_streams.push(StreamDraft::default());
        }
    }

    /// Adds an event.
    pub fn event(&mut self, draft: EventDraft, problems: &mut Problems) {
        match draft.stream_id.and_then(|id| self.positions.get(&id)) {
            Some(&position) => self.link_event(draft, position, problems),
            // Which stream an event without an id belongs to is not known before all streams are.
            None => self.waiting_events.push(draft),
        }
    }

    /// Links what is waiting. What does not fit is left out and reported. Also returns what [later events](LaterEvents) need.
    pub fn finish(mut self, problems: &mut Problems) -> (Metadata, LaterEvents) {
        for draft in std::mem::take(&mut self.waiting_streams) {
            self.link_stream(&draft, problems);
        }
        let mut strays: BTreeMap<u64, Strays> = BTreeMap::new();
        for draft in std::mem::take(&mut self.waiting_events) {
            let id = match (draft.stream_id, self.metadata.streams.as_slice()) {
                (None, [only]) => only.id,
                (id, _) => id.unwrap_or(0),
            };
            match self.positions.get(&id) {
                Some(&position) => self.link_event(draft, position, problems),
                None => {
                    let EventDraft { line, name, .. } = draft;
                    strays.entry(id).or_insert(Strays { line, name, count: 0 }).count += 1;
                }
            }
        }
        for (id, Strays { line, name, count }) in strays {
            let events = if count == 1 { String::new() } else { format!(" ({count} events)") };
            problems.add(line, format!("event `{name}`: unknown stream {id}{events}"));
        }
        let Assembler { mut metadata, mut linker, context_fields, .. } = self;
        metadata.streams.sort_by_key(|stream| stream.id);
        for stream in &mut metadata.streams {
            stream.events.sort_by_key(|event| event.id);
            stream.events.shrink_to_fit();
        }
        let slots = linker.settle(&mut metadata);
        metadata.slots = slots.all;
        (metadata, LaterEvents { linker, slots, context_fields })
    }

    fn link_stream(&mut self, draft: &StreamDraft, problems: &mut Problems) {
        match self.linked_stream(draft) {
            Ok(stream) => {
                self.positions.insert(stream.id, self.metadata.streams.len());
                self.metadata.streams.push(stream);
            }
            Err(reason) => problems.add(draft.line, format!("stream {}: {reason}", draft.id)),
        }
    }

    fn linked_stream(&mut self, draft: &StreamDraft) -> Result<StreamClass, String> {
        // The classes of each stream list the environment among their fields.
        self.linker.grow(self.metadata.environment.len())?;
        let header = self.metadata.packet_header.as_ref();
        let mut outer = Vec::from_iter(header.map(|header| (Origin::PacketHeader, header)));
        let packet_context = self.linker.scope(Origin::PacketContext, &draft.packet_context, &outer)?;
        outer.extend(packet_context.as_ref().map(|context| (Origin::PacketContext, context)));
        let event_header = self.linker.scope(Origin::EventHeader, &draft.event_header, &outer)?;
        outer.extend(event_header.as_ref().map(|header| (Origin::EventHeader, header)));
        let event_context = self.linker.scope(Origin::EventContext, &draft.event_context, &outer)?;
        let (id, clock, events) = (draft.id, draft.clock.clone(), Vec::new());
        Ok(StreamClass { id, packet_context, event_header, event_context, clock, events })
    }

    fn link_event(&mut self, draft: EventDraft, position: usize, problems: &mut Problems) {
        let line = draft.line;
        match self.linked_event(&draft, position) {
            Ok((id, context, payload)) => {
                let EventDraft { name, log_level, model_uri, .. } = draft;
                let event = EventLayout { id, name, log_level, model_uri, context, payload };
                self.metadata.streams[position].events.push(event);
            }
            Err(reason) => problems.add(line, format!("event `{}`: {reason}", draft.name)),
        }
    }

    /// The id, the context and the payload of an event.
    fn linked_event(
        &mut self,
        draft: &EventDraft,
        position: usize,
    ) -> Result<(u64, Option<Type>, Option<Type>), String> {
        let stream = &self.metadata.streams[position];
        let id = draft.id.unwrap_or(0);
        if !self.event_ids.insert((stream.id, id)) {
            return Err(format!("duplicate event id {id} in its stream"));
        }
        let fields = stream.event_context.as_ref().map_or(0, |context| context.members().len());
        let left = self.context_fields.checked_sub(fields);
        self.context_fields = left.ok_or("all events together have too many context fields")?;
        let outer = [
            (Origin::PacketHeader, &self.metadata.packet_header),
            (Origin::PacketContext, &stream.packet_context),
            (Origin::EventHeader, &stream.event_header),
            (Origin::EventContext, &stream.event_context),
        ];
        let outer = outer.into_iter().filter_map(|(origin, kind)| Some((origin, kind.as_ref()?)));
        let mut outer: Vec<Outer<'_>> = outer.collect();
        let context = self.linker.scope(Origin::OwnContext, &draft.context, &outer)?;
        outer.extend(context.as_ref().map(|context| (Origin::OwnContext, context)));
        let payload = self.linker.scope(Origin::Payload, &draft.payload, &outer)?;
        Ok((id, context, payload))
    }
}

/// Adds events to metadata that has been put together.
pub struct LaterEvents {
    linker: Linker,
    slots: Slots,
    context_fields: usize,
}

impl LaterEvents {
    /// Makes room for events of this many more bytes of text.
    pub fn extend(&mut self, text_size: usize) {
        self.linker.extend(text_size);
        self.context_fields =
            self.context_fields.saturating_add(text_size.saturating_mul(CONTEXT_FIELDS_PER_BYTE));
    }

    /// Adds an event after the others of its stream. `None` if it cannot be understood alone: it names no known stream, its id
    /// does not follow the others', it refers to something outside of it, or it is wrong.
    pub fn add(&mut self, draft: EventDraft, metadata: &mut Metadata) -> Option<()> {
        let stream_id = draft.stream_id?;
        let position = metadata.streams.binary_search_by_key(&stream_id, |stream| stream.id).ok()?;
        let stream = &mut metadata.streams[position];
        let id = draft.id.filter(|&id| stream.events.last().is_none_or(|last| last.id < id))?;
        let fields = stream.event_context.as_ref().map_or(0, |context| context.members().len());
        self.context_fields = self.context_fields.checked_sub(fields)?;
        let context = self.linker.scope(Origin::OwnContext, &draft.context, &[]).ok()?;
        let outer = Vec::from_iter(context.as_ref().map(|context| (Origin::OwnContext, context)));
        let payload = self.linker.scope(Origin::Payload, &draft.payload, &outer).ok()?;
        let EventDraft { name, log_level, model_uri, .. } = draft;
        let mut event = EventLayout { id, name, log_level, model_uri, context, payload };
        self.linker.settle_event(&mut event, &mut self.slots);
        stream.events.push(event);
        metadata.slots = metadata.slots.max(self.slots.all);
        Some(())
    }
}
