//! Statements to metadata.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::Problem;
use super::ast::{Statement, Value};
use super::draft::{Draft, Drafter, byte_order};
use super::link::{Linker, Outer};
use super::model::{ByteOrder, Clock, EnvironmentValue, EventLayout, Metadata, StreamClass, Type};
use crate::source::discover::Uuid;

/// A problem with at most this many others before it is worth stating.
const MAX_PROBLEMS: usize = 16;

/// Puts together what the statements say. What does not fit is left out and named.
pub fn build(statements: &[Statement]) -> (Metadata, Vec<Problem>) {
    let mut builder = Builder::default();
    builder.first_pass(statements);
    let mut drafter = Drafter::new(builder.order.unwrap_or(ByteOrder::Little), builder.clocks.clone());
    builder.second_pass(statements, &mut drafter);
    builder.link()
}

#[derive(Default)]
struct Builder {
    order: Option<ByteOrder>,
    uuid: Option<[u8; 16]>,
    clocks: Vec<Arc<Clock>>,
    environment: Vec<(String, EnvironmentValue)>,
    packet_header: Option<(Rc<Draft>, usize)>,
    streams: Vec<StreamDraft>,
    events: Vec<EventDraft>,
    problems: Vec<Problem>,
}

#[derive(Default)]
struct StreamDraft {
    id: u64,
    packet_context: Option<Rc<Draft>>,
    event_header: Option<Rc<Draft>>,
    event_context: Option<Rc<Draft>>,
    line: usize,
}

#[derive(Default)]
struct EventDraft {
    id: Option<u64>,
    stream_id: Option<u64>,
    name: String,
    log_level: Option<i64>,
    context: Option<Rc<Draft>>,
    payload: Option<Rc<Draft>>,
    line: usize,
}

impl Builder {
    fn problem(&mut self, line: usize, reason: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { line, reason: reason.into() });
        }
    }

    /// What types depend on, wherever it stands: byte order, clocks, environment.
    fn first_pass(&mut self, statements: &[Statement]) {
        for statement in statements {
            let Statement::Block { keyword, statements, line } = statement else { continue };
            match keyword.as_str() {
                "trace" => self.trace_attributes(statements),
                "env" => self.environment(statements),
                "clock" => match clock(statements) {
                    Ok(clock) => self.clocks.push(Arc::new(clock)),
                    Err(reason) => self.problem(*line, reason),
                },
                _ => {}
            }
        }
    }

    fn trace_attributes(&mut self, statements: &[Statement]) {
        for statement in statements {
            let Statement::Assign { name, value, line } = statement else { continue };
            match (name.as_str(), value) {
                ("byte_order", Value::Word(word)) => match byte_order(word, ByteOrder::Little) {
                    Ok(order) if word != "native" => self.order = Some(order),
                    _ => self.problem(*line, format!("`{word}` is no byte order of a trace")),
                },
                ("uuid", Value::Text(text)) => match Uuid::parse(text) {
                    Some(uuid) => self.uuid = Some(uuid.0),
                    None => self.problem(*line, format!("`{text}` is no UUID")),
                },
                _ => {}
            }
        }
    }

    fn environment(&mut self, statements: &[Statement]) {
        for statement in statements {
            if let Statement::Assign { name, value, .. } = statement {
                let value = match value {
                    Value::Number(number) => EnvironmentValue::Integer(*number),
                    Value::Text(text) | Value::Word(text) => EnvironmentValue::Text(text.clone()),
                };
                self.environment.push((name.clone(), value));
            }
        }
    }

    /// Types, and the blocks that use them.
    fn second_pass(&mut self, statements: &[Statement], drafter: &mut Drafter) {
        for statement in statements {
            match statement {
                Statement::Types(types) => {
                    if let Err(reason) = drafter.declare(types) {
                        self.problem(types.line(), reason);
                    }
                }
                Statement::Block { keyword, statements, line } => {
                    let built = drafter.scoped(|inner| match keyword.as_str() {
                        "trace" => self.trace(statements, *line, inner),
                        "stream" => self.stream(statements, *line, inner),
                        "event" => self.event(statements, *line, inner),
                        _ => Ok(()),
                    });
                    if let Err(reason) = built {
                        self.problem(*line, format!("{keyword}: {reason}"));
                    }
                }
                Statement::Assign { line, .. } => self.problem(*line, "a value stands outside of any block"),
                Statement::Layout { kind, .. } => {
                    self.problem(kind.line, "a layout stands outside of any block");
                }
            }
        }
    }

    fn trace(&mut self, statements: &[Statement], line: usize, drafter: &mut Drafter) -> Result<(), String> {
        for statement in statements {
            match statement {
                Statement::Types(types) => drafter.declare(types)?,
                Statement::Layout { name, kind } if name == "packet.header" => {
                    self.packet_header = Some((drafter.draft(kind)?, line));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn stream(&mut self, statements: &[Statement], line: usize, drafter: &mut Drafter) -> Result<(), String> {
        let mut stream = StreamDraft { line, ..StreamDraft::default() };
        for statement in statements {
            match statement {
                Statement::Types(types) => drafter.declare(types)?,
                Statement::Assign { name, value, .. } if name == "id" => stream.id = identifier(value)?,
                Statement::Layout { name, kind } => {
                    let layout = match name.as_str() {
                        "packet.context" => &mut stream.packet_context,
                        "event.header" => &mut stream.event_header,
                        "event.context" => &mut stream.event_context,
                        _ => continue,
                    };
                    *layout = Some(drafter.draft(kind).map_err(|reason| format!("{name}: {reason}"))?);
                }
                _ => {}
            }
        }
        if self.streams.iter().any(|other| other.id == stream.id) {
            return Err(format!("there is another stream with id {}", stream.id));
        }
        self.streams.push(stream);
        Ok(())
    }

    fn event(&mut self, statements: &[Statement], line: usize, drafter: &mut Drafter) -> Result<(), String> {
        let mut event = EventDraft { line, ..EventDraft::default() };
        for statement in statements {
            match statement {
                Statement::Types(types) => drafter.declare(types)?,
                Statement::Assign { name, value, .. } => match (name.as_str(), value) {
                    ("name", Value::Text(name) | Value::Word(name)) => event.name = name.clone(),
                    ("id", value) => event.id = Some(identifier(value)?),
                    ("stream_id", value) => event.stream_id = Some(identifier(value)?),
                    ("loglevel", Value::Number(level)) => event.log_level = i64::try_from(*level).ok(),
                    _ => {}
                },
                Statement::Layout { name, kind } => {
                    let layout = match name.as_str() {
                        "context" => &mut event.context,
                        "fields" => &mut event.payload,
                        _ => continue,
                    };
                    let draft = drafter.draft(kind);
                    *layout = Some(draft.map_err(|reason| format!("`{}`: {name}: {reason}", event.name))?);
                }
                Statement::Block { .. } => {}
            }
        }
        self.events.push(event);
        Ok(())
    }

    fn link(mut self) -> (Metadata, Vec<Problem>) {
        let mut linker = Linker::new(std::mem::take(&mut self.environment));
        let mut metadata = Metadata { uuid: self.uuid, ..Metadata::default() };
        if let Some((draft, line)) = self.packet_header.take() {
            match linker.link("trace.packet.header", &draft, &[]) {
                Ok(header) => metadata.packet_header = Some(header),
                Err(reason) => self.problem(line, format!("packet.header: {reason}")),
            }
        }
        let mut drafts = std::mem::take(&mut self.streams);
        if drafts.is_empty() && !self.events.is_empty() {
            drafts.push(StreamDraft::default());
        }
        for draft in drafts {
            match link_stream(&mut linker, &draft, metadata.packet_header.as_ref()) {
                Ok(stream) => metadata.streams.push(stream),
                Err(reason) => self.problem(draft.line, format!("stream {}: {reason}", draft.id)),
            }
        }
        let mut ids = HashSet::new();
        for draft in std::mem::take(&mut self.events) {
            if let Err(reason) = link_event(&mut linker, &draft, &mut metadata, &mut ids) {
                self.problem(draft.line, format!("event `{}`: {reason}", draft.name));
            }
        }
        metadata.streams.sort_by_key(|stream| stream.id);
        for stream in &mut metadata.streams {
            stream.events.sort_by_key(|event| event.id);
        }
        metadata.slots = linker.slots();
        metadata.types().for_each(|kind| linker.settle(kind));
        for stream in &mut metadata.streams {
            set_clock(stream, &self.clocks);
        }
        metadata.environment = linker.environment;
        (metadata, self.problems)
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

fn link_stream(
    linker: &mut Linker,
    draft: &StreamDraft,
    header: Option<&Type>,
) -> Result<StreamClass, String> {
    let mut scopes = Scopes(vec![("trace.packet.header", header)]);
    let packet_context = scopes.link(linker, "stream.packet.context", &draft.packet_context)?;
    scopes.0.push(("stream.packet.context", packet_context.as_ref()));
    let event_header = scopes.link(linker, "stream.event.header", &draft.event_header)?;
    scopes.0.push(("stream.event.header", event_header.as_ref()));
    let event_context = scopes.link(linker, "stream.event.context", &draft.event_context)?;
    let (id, clock, events) = (draft.id, None, Vec::new());
    Ok(StreamClass { id, packet_context, event_header, event_context, clock, events })
}

/// Links an event. `ids` are those of all events so far, with their streams'.
fn link_event(
    linker: &mut Linker,
    draft: &EventDraft,
    metadata: &mut Metadata,
    ids: &mut HashSet<(u64, u64)>,
) -> Result<(), String> {
    let stream = match (draft.stream_id, metadata.streams.as_mut_slice()) {
        (None, [only]) => only,
        (id, streams) => {
            let id = id.unwrap_or(0);
            streams.iter_mut().find(|stream| stream.id == id).ok_or(format!("there is no stream {id}"))?
        }
    };
    let id = draft.id.unwrap_or(0);
    if !ids.insert((stream.id, id)) {
        return Err(format!("another event of its stream has the id {id}"));
    }
    let mut scopes = Scopes(vec![
        ("trace.packet.header", metadata.packet_header.as_ref()),
        ("stream.packet.context", stream.packet_context.as_ref()),
        ("stream.event.header", stream.event_header.as_ref()),
        ("stream.event.context", stream.event_context.as_ref()),
    ]);
    let context = scopes.link(linker, "event.context", &draft.context)?;
    scopes.0.push(("event.context", context.as_ref()));
    let payload = scopes.link(linker, "event.fields", &draft.payload)?;
    let (name, log_level) = (draft.name.clone(), draft.log_level);
    stream.events.push(EventLayout { id, name, log_level, context, payload });
    Ok(())
}

/// The scopes that stand before the one that is linked.
struct Scopes<'a>(Vec<(&'static str, Option<&'a Type>)>);

impl Scopes<'_> {
    fn link(
        &self,
        linker: &mut Linker,
        name: &'static str,
        draft: &Option<Rc<Draft>>,
    ) -> Result<Option<Type>, String> {
        let Some(draft) = draft else { return Ok(None) };
        let outer: Vec<Outer<'_>> =
            self.0.iter().filter_map(|(name, outer)| Some((*name, (*outer)?))).collect();
        let linked = linker.link(name, draft, &outer).map_err(|reason| format!("{name}: {reason}"))?;
        match linked {
            Type::Struct(_) => Ok(Some(linked)),
            _ => Err(format!("{name} is no structure")),
        }
    }
}

/// Finds the stream's clock. Where there is one clock only, timestamps count it also without saying so.
fn set_clock(stream: &mut StreamClass, clocks: &[Arc<Clock>]) {
    let layouts = [stream.event_header.as_mut(), stream.packet_context.as_mut()];
    let names = ["timestamp", "timestamp_begin", "timestamp_end"];
    let mut clock = None;
    for layout in layouts.into_iter().flatten() {
        map_timestamps(layout, &names, clocks, &mut clock);
    }
    stream.clock = clock;
}

fn map_timestamps(layout: &mut Type, names: &[&str], clocks: &[Arc<Clock>], clock: &mut Option<Arc<Clock>>) {
    let members = match layout {
        Type::Struct(structure) => &mut structure.members,
        Type::Variant(variant) => &mut variant.members,
        _ => return,
    };
    for member in members {
        match &mut member.kind {
            Type::Integer(integer) => {
                if let [only] = clocks
                    && integer.clock.is_none()
                    && names.contains(&member.name.as_str())
                {
                    integer.clock = Some(only.clone());
                }
                if clock.is_none() {
                    clock.clone_from(&integer.clock);
                }
            }
            other => map_timestamps(other, names, clocks, clock),
        }
    }
}

fn clock(statements: &[Statement]) -> Result<Clock, String> {
    let mut clock = Clock { name: String::new(), frequency: 1_000_000_000, offset_seconds: 0, offset: 0 };
    for statement in statements {
        let Statement::Assign { name, value, .. } = statement else { continue };
        let number = |number: &i128| {
            i64::try_from(*number).map_err(|_| format!("the clock's `{name}` is out of range"))
        };
        match (name.as_str(), value) {
            ("name", Value::Text(name) | Value::Word(name)) => clock.name.clone_from(name),
            ("freq", Value::Number(frequency)) => {
                let frequency = u64::try_from(*frequency).ok().filter(|&frequency| frequency > 0);
                clock.frequency = frequency.ok_or("a clock's frequency must be above 0")?;
            }
            ("offset_s", Value::Number(offset)) => clock.offset_seconds = number(offset)?,
            ("offset", Value::Number(offset)) => clock.offset = number(offset)?,
            // Precision, description and whether it is absolute do not change what a count means.
            _ => {}
        }
    }
    Ok(clock)
}

fn identifier(value: &Value) -> Result<u64, String> {
    match value {
        Value::Number(number) => u64::try_from(*number).map_err(|_| format!("`{number}` is no id")),
        _ => Err("an id must be a number".into()),
    }
}
