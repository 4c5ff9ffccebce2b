//! Drafts of streams and events to metadata.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::draft::{Draft, Origin};
use super::link::{Linker, Outer};
use super::model::{Clock, EnvironmentValue, EventLayout, Metadata, StreamClass, Type};
use super::{Language, Problems};
use crate::FieldClass;

/// How many bytes what is said of all events' fields may take, roughly: each event has those of its stream again.
const MAX_FIELD_BYTES: usize = 1 << 28;

/// All that metadata says of a trace.
#[derive(Default)]
pub struct Drafts {
    pub uuid: Option<[u8; 16]>,
    pub environment: Vec<(String, EnvironmentValue)>,
    /// The packet header, and the line that it stands on.
    pub packet_header: Option<(Rc<Draft>, usize)>,
    pub streams: Vec<StreamDraft>,
    pub events: Vec<EventDraft>,
}

#[derive(Default)]
pub struct StreamDraft {
    pub id: u64,
    pub clock: Option<Arc<Clock>>,
    pub packet_context: Option<Rc<Draft>>,
    pub event_header: Option<Rc<Draft>>,
    pub event_context: Option<Rc<Draft>>,
    pub line: usize,
}

#[derive(Default)]
pub struct EventDraft {
    pub id: Option<u64>,
    /// Not needed where there is one stream only.
    pub stream_id: Option<u64>,
    pub name: String,
    pub log_level: Option<i64>,
    pub context: Option<Rc<Draft>>,
    pub payload: Option<Rc<Draft>>,
    pub line: usize,
}

impl Drafts {
    /// Puts it all together. What does not fit is left out and named.
    pub fn assemble(self, language: Language, problems: &mut Problems) -> Metadata {
        let mut assembly =
            Assembly { linker: Linker::new(self.environment), language, shared: Vec::new(), field_bytes: 0 };
        let mut metadata = Metadata { uuid: self.uuid, ..Metadata::default() };
        if let Some((draft, line)) = self.packet_header {
            match assembly.scope(Origin::PacketHeader, &Some(draft), &[]) {
                Ok(header) => metadata.packet_header = header,
                Err(reason) => problems.add(line, reason),
            }
        }
        for draft in self.streams {
            match assembly.stream(&draft, metadata.packet_header.as_ref()) {
                Ok(stream) => metadata.streams.push(stream),
                Err(reason) => problems.add(draft.line, format!("stream {}: {reason}", draft.id)),
            }
        }
        let mut ids = HashSet::new();
        for draft in self.events {
            if let Err(reason) = assembly.event(&draft, &mut metadata, &mut ids) {
                problems.add(draft.line, format!("event `{}`: {reason}", draft.name));
            }
        }
        metadata.streams.sort_by_key(|stream| stream.id);
        for stream in &mut metadata.streams {
            stream.events.sort_by_key(|event| event.id);
        }
        metadata.slots = assembly.linker.settle(metadata.types());
        metadata.environment = assembly.linker.environment;
        metadata
    }
}

impl Metadata {
    /// The layouts of all scopes.
    fn types(&mut self) -> impl Iterator<Item = &mut Type> {
        let streams = self.streams.iter_mut().flat_map(|stream| {
            let events = stream.events.iter_mut().flat_map(|event| [&mut event.context, &mut event.payload]);
            [&mut stream.packet_context, &mut stream.event_header, &mut stream.event_context]
                .into_iter()
                .chain(events)
        });
        std::iter::once(&mut self.packet_header).chain(streams).filter_map(Option::as_mut)
    }
}

struct Assembly {
    linker: Linker,
    language: Language,
    /// For each stream how many bytes its fields take in each of its events' classes.
    shared: Vec<usize>,
    field_bytes: usize,
}

impl Assembly {
    fn stream(&mut self, draft: &StreamDraft, header: Option<&Type>) -> Result<StreamClass, String> {
        let mut outer = Vec::from_iter(header.map(|header| (Origin::PacketHeader, header)));
        let packet_context = self.scope(Origin::PacketContext, &draft.packet_context, &outer)?;
        outer.extend(packet_context.as_ref().map(|context| (Origin::PacketContext, context)));
        let event_header = self.scope(Origin::EventHeader, &draft.event_header, &outer)?;
        outer.extend(event_header.as_ref().map(|header| (Origin::EventHeader, header)));
        let event_context = self.scope(Origin::EventContext, &draft.event_context, &outer)?;
        let environment = self.linker.environment.iter().map(|(name, _)| name.len());
        let contexts = [&packet_context, &event_context].into_iter().flatten().flat_map(Type::members);
        let names = environment.chain(contexts.map(|member| member.label.len()));
        self.shared.push(names.map(|length| size_of::<FieldClass>() + length).sum());
        let (id, clock, events) = (draft.id, draft.clock.clone(), Vec::new());
        Ok(StreamClass { id, packet_context, event_header, event_context, clock, events })
    }

    /// Takes in an event. `ids` are those of all events so far, with their streams'.
    fn event(
        &mut self,
        draft: &EventDraft,
        metadata: &mut Metadata,
        ids: &mut HashSet<(u64, u64)>,
    ) -> Result<(), String> {
        let position = match (draft.stream_id, metadata.streams.as_slice()) {
            (None, [_]) => 0,
            (id, streams) => {
                let id = id.unwrap_or(0);
                let found = streams.iter().position(|stream| stream.id == id);
                found.ok_or_else(|| format!("there is no stream {id}"))?
            }
        };
        let stream = &mut metadata.streams[position];
        let id = draft.id.unwrap_or(0);
        if !ids.insert((stream.id, id)) {
            return Err(format!("another event of its stream has the id {id}"));
        }
        self.field_bytes = self.field_bytes.saturating_add(self.shared[position]);
        if self.field_bytes > MAX_FIELD_BYTES {
            return Err("all events together have too many fields".into());
        }
        let outer = [
            (Origin::PacketHeader, &metadata.packet_header),
            (Origin::PacketContext, &stream.packet_context),
            (Origin::EventHeader, &stream.event_header),
            (Origin::EventContext, &stream.event_context),
        ];
        let outer = outer.into_iter().filter_map(|(origin, kind)| Some((origin, kind.as_ref()?)));
        let mut outer: Vec<Outer<'_>> = outer.collect();
        let context = self.scope(Origin::OwnContext, &draft.context, &outer)?;
        outer.extend(context.as_ref().map(|context| (Origin::OwnContext, context)));
        let payload = self.scope(Origin::Payload, &draft.payload, &outer)?;
        let (name, log_level) = (draft.name.clone(), draft.log_level);
        stream.events.push(EventLayout { id, name, log_level, context, payload });
        Ok(())
    }

    fn scope(
        &mut self,
        origin: Origin,
        draft: &Option<Rc<Draft>>,
        outer: &[Outer<'_>],
    ) -> Result<Option<Type>, String> {
        let Some(draft) = draft else { return Ok(None) };
        let name = match self.language {
            Language::Tsdl => origin.in_tsdl(),
            Language::Json => origin.in_json(),
        };
        let linked = self.linker.link(origin, draft, outer).map_err(|reason| format!("{name}: {reason}"))?;
        match linked {
            Type::Struct(_) => Ok(Some(linked)),
            _ => Err(format!("{name} is no structure")),
        }
    }
}
