//! Statements to metadata.
//!
//! The text is read twice. Types depend on the byte order and on the clocks, wherever they are described, so the first
//! pass reads those blocks alone. The second pass reads all statements, one after the other. Events that come later, where
//! metadata grows, are [added](Tail) to the others.

use std::sync::Arc;

use super::super::assemble::{Assembler, EventDraft, LaterEvents, StreamDraft};
use super::super::draft::Language;
use super::super::model::{ByteOrder, Clock, EnvironmentValue, Metadata};
use super::super::problem::Problems;
use super::lex::brief;
use super::parse::{Broken, Parser, Statement, StatementKind};
use super::roles;
use super::types::{AssignedValue, Drafter, byte_order};
use crate::Uuid;

const NO_HEADER: &str = "no packet can be read without the description of its header";

/// Reads the text of metadata. What cannot be understood is skipped and reported. Also returns what is needed to continue,
/// if there are streams.
pub fn read(text: &str, problems: &mut Problems) -> (Metadata, Option<Tail>) {
    let mut builder = Builder {
        order: None,
        clocks: Vec::new(),
        assembler: Assembler::new(Language::Tsdl, text.len()),
        problems,
        has_stream: false,
        has_trace: false,
        may_have_lost_trace: false,
        may_have_lost_stream: false,
        end: (0, 1),
    };
    builder.first_pass(text);
    let mut drafter = Drafter::new(builder.order.unwrap_or(ByteOrder::Little), builder.clocks.clone());
    if builder.second_pass(text, &mut drafter).is_err() {
        return (Metadata::default(), None);
    }
    let Builder { mut assembler, clocks, problems, has_stream, may_have_lost_stream, end, .. } = builder;
    if !has_stream && !may_have_lost_stream {
        assembler.add_default_stream();
    }
    let (mut metadata, events) = assembler.finish(problems);
    roles::assign(&mut metadata, &clocks);
    let tail = (has_stream && !metadata.streams.is_empty()).then_some(Tail { drafter, events, end });
    (metadata, tail)
}

/// What is needed to add events to metadata that has been read.
pub struct Tail {
    drafter: Drafter,
    events: LaterEvents,
    /// Where the statements that have been read end in their text: a position, and its line in all of the text.
    end: Place,
}

/// A position in a text, and its line.
type Place = (usize, usize);

impl Tail {
    /// Where in the text that was read last its whole statements end.
    pub fn end(&self) -> usize {
        self.end.0
    }

    /// Adds the events in the text that follows what was read, up to its last whole statement. `None` if there is anything
    /// else, which may change the meaning of what was read: all of it must be read again.
    pub fn add(&mut self, text: &str, metadata: &mut Metadata, problems: &mut Problems) -> Option<()> {
        self.events.extend(text.len());
        let mut parser = Parser::new(text, self.end.1, &mut self.drafter);
        self.end.0 = 0;
        loop {
            // The semicolon of a block that was complete without it.
            while parser.take_mark(";") {}
            self.end = parser.place();
            let Statement { line, kind } = match parser.statement() {
                None => return Some(()),
                Some(Ok(statement)) => statement,
                Some(Err(Broken { is_cut: true, line, reason, .. })) => {
                    problems.cut_statement(line, reason);
                    return Some(());
                }
                Some(Err(Broken { line, reason, keyword: Some("event") | None, .. })) => {
                    problems.add(line, reason);
                    continue;
                }
                Some(Err(_)) => return None,
            };
            match kind {
                StatementKind::Types(Ok(())) => {}
                StatementKind::Types(Err(reason)) => problems.add(line, reason),
                StatementKind::Block { keyword: "event", statements } => {
                    self.events.add(event_draft(statements, line).ok()?, metadata)?;
                }
                _ => return None,
            }
        }
    }
}

struct Builder<'p> {
    order: Option<ByteOrder>,
    clocks: Vec<Arc<Clock>>,
    assembler: Assembler,
    problems: &'p mut Problems,
    /// Whether there is a stream block, understood or not.
    has_stream: bool,
    /// Whether a trace block was understood.
    has_trace: bool,
    /// Whether a statement that was not understood may have been the trace block.
    may_have_lost_trace: bool,
    /// Whether a statement that was not understood may have been a stream block.
    may_have_lost_stream: bool,
    /// Where the last whole statement ends.
    end: Place,
}

/// The header of packets cannot be understood, so no packet can be read. The reason has been reported.
struct NoHeader;

impl Builder<'_> {
    /// Reads what types depend on: byte order, clocks, environment. The second pass reports what cannot be parsed.
    fn first_pass(&mut self, text: &str) {
        let mut drafter = Drafter::new(ByteOrder::Little, Vec::new());
        let mut parser = Parser::new(text, 1, &mut drafter);
        while let Some(Statement { line, kind }) = parser.block(&["trace", "env", "clock"]) {
            let StatementKind::Block { keyword, statements } = kind else { continue };
            match keyword {
                "trace" => self.trace_attributes(&statements),
                "env" => self.environment(&statements),
                _ => match clock(&statements) {
                    Ok(clock) => self.clocks.push(Arc::new(clock)),
                    Err(reason) => self.problems.add(line, reason),
                },
            }
        }
    }

    fn trace_attributes(&mut self, statements: &[Statement<'_>]) {
        for Statement { line, kind } in statements {
            let StatementKind::Assign { name, value } = kind else { continue };
            match (&**name, value) {
                ("byte_order", AssignedValue::Word(word)) => match byte_order(word, ByteOrder::Little) {
                    Ok(order) if word != "native" => self.order = Some(order),
                    _ => self.problems.add(*line, format!("invalid byte order `{word}` of a trace")),
                },
                ("uuid", AssignedValue::Text(text)) => match Uuid::parse(text) {
                    Some(uuid) => self.assembler.metadata.uuid = Some(uuid),
                    None => self.problems.add(*line, format!("invalid UUID `{text}`")),
                },
                _ => {}
            }
        }
    }

    fn environment(&mut self, statements: &[Statement<'_>]) {
        for statement in statements {
            if let StatementKind::Assign { name, value } = &statement.kind {
                let value = match value {
                    AssignedValue::Number(number) => EnvironmentValue::Integer(*number),
                    AssignedValue::Text(text) | AssignedValue::Word(text) => {
                        EnvironmentValue::Text(text.clone().into_owned())
                    }
                };
                self.assembler.environment(name.clone().into_owned(), value);
            }
        }
    }

    /// Reads types, and the blocks that use them.
    fn second_pass(&mut self, text: &str, drafter: &mut Drafter) -> Result<(), NoHeader> {
        let mut parser = Parser::new(text, 1, drafter);
        while let Some(statement) = parser.statement() {
            let is_cut = matches!(statement, Err(Broken { is_cut: true, .. }));
            match statement {
                Ok(statement) => self.statement(statement)?,
                Err(broken) => self.broken(broken)?,
            }
            if !is_cut {
                self.end = parser.place();
            }
        }
        if self.may_have_lost_trace && !self.has_trace {
            self.problems.add(1, format!("the trace block is missing or damaged; {NO_HEADER}"));
            return Err(NoHeader);
        }
        Ok(())
    }

    fn broken(&mut self, broken: Broken) -> Result<(), NoHeader> {
        let Broken { line, reason, keyword, is_cut } = broken;
        let is_unknown = keyword.is_none() && !is_cut;
        self.has_stream |= keyword == Some("stream");
        self.may_have_lost_stream |= is_unknown;
        self.may_have_lost_trace |= is_unknown && !self.has_stream;
        let is_trace = keyword == Some("trace");
        let reason = if is_trace { format!("{reason}; {NO_HEADER}") } else { reason };
        match is_cut {
            true => self.problems.cut_statement(line, reason),
            false => self.problems.add(line, reason),
        }
        if is_trace { Err(NoHeader) } else { Ok(()) }
    }

    fn statement(&mut self, Statement { line, kind }: Statement<'_>) -> Result<(), NoHeader> {
        match kind {
            StatementKind::Types(Ok(())) => {}
            StatementKind::Types(Err(reason)) => self.problems.add(line, reason),
            StatementKind::Block { keyword: "trace", statements } => {
                return self.trace(statements).map_err(|reason| {
                    self.problems.add(line, format!("trace: {reason}; {NO_HEADER}"));
                    NoHeader
                });
            }
            StatementKind::Block { keyword, statements } => {
                let name = statements.iter().find_map(Statement::name).cloned();
                let built = match keyword {
                    "stream" => self.stream(statements, line),
                    "event" => {
                        event_draft(statements, line).map(|event| self.assembler.event(event, self.problems))
                    }
                    _ => Ok(()),
                };
                if let Err(reason) = built {
                    let name = name.map(|name| format!(" `{}`", brief(&name))).unwrap_or_default();
                    self.problems.add(line, format!("{keyword}{name}: {reason}"));
                }
            }
            StatementKind::Assign { .. } => self.problems.add(line, "a value outside of any block"),
            StatementKind::Layout { .. } => self.problems.add(line, "a layout outside of any block"),
        }
        Ok(())
    }

    fn trace(&mut self, statements: Vec<Statement<'_>>) -> Result<(), String> {
        let mut header = None;
        for statement in statements {
            match statement.kind {
                StatementKind::Types(declared) => declared?,
                StatementKind::Layout { name, draft } if name == "packet.header" => header = Some(draft?),
                _ => {}
            }
        }
        self.has_trace = true;
        self.assembler.packet_header(header)
    }

    fn stream(&mut self, statements: Vec<Statement<'_>>, line: usize) -> Result<(), String> {
        self.has_stream = true;
        let mut stream = StreamDraft { line, ..StreamDraft::default() };
        for statement in statements {
            match statement.kind {
                StatementKind::Types(declared) => declared?,
                StatementKind::Assign { name, value } if name == "id" => stream.id = identifier(&value)?,
                StatementKind::Layout { name, draft } => {
                    let layout = match &*name {
                        "packet.context" => &mut stream.packet_context,
                        "event.header" => &mut stream.event_header,
                        "event.context" => &mut stream.event_context,
                        _ => continue,
                    };
                    *layout = Some(draft.map_err(|reason| format!("{name}: {reason}"))?);
                }
                _ => {}
            }
        }
        self.assembler.stream(stream, self.problems)
    }
}

/// What an event block says.
fn event_draft(statements: Vec<Statement<'_>>, line: usize) -> Result<EventDraft, String> {
    let mut event = EventDraft { line, ..EventDraft::default() };
    for statement in statements {
        match statement.kind {
            StatementKind::Types(declared) => declared?,
            StatementKind::Assign { name, value } => match (&*name, value) {
                ("name", AssignedValue::Text(name) | AssignedValue::Word(name)) => {
                    event.name = name.into_owned()
                }
                ("id", value) => event.id = Some(identifier(&value)?),
                ("stream_id", value) => event.stream_id = Some(identifier(&value)?),
                ("model.emf.uri", AssignedValue::Text(uri)) => event.model_uri = Some(uri.into_owned()),
                ("loglevel", AssignedValue::Number(level)) => event.log_level = i64::try_from(level).ok(),
                _ => {}
            },
            StatementKind::Layout { name, draft } => {
                let layout = match &*name {
                    "context" => &mut event.context,
                    "fields" => &mut event.payload,
                    _ => continue,
                };
                *layout = Some(draft.map_err(|reason| format!("{name}: {reason}"))?);
            }
            StatementKind::Block { .. } => {}
        }
    }
    Ok(event)
}

fn clock(statements: &[Statement<'_>]) -> Result<Clock, String> {
    let mut clock =
        Clock { name: String::new(), frequency: 1_000_000_000, offset_seconds: 0, offset: 0, uuid: None };
    for statement in statements {
        let StatementKind::Assign { name, value } = &statement.kind else { continue };
        let number = |number: &i128| {
            i64::try_from(*number).map_err(|_| format!("the clock's `{name}` is out of range"))
        };
        match (&**name, value) {
            ("name", AssignedValue::Text(name) | AssignedValue::Word(name)) => {
                clock.name = name.clone().into_owned()
            }
            ("freq", AssignedValue::Number(frequency)) => {
                let frequency = u64::try_from(*frequency).ok().filter(|&frequency| frequency > 0);
                clock.frequency = frequency.ok_or("a clock's frequency must be above 0")?;
            }
            ("offset_s", AssignedValue::Number(offset)) => clock.offset_seconds = number(offset)?,
            ("offset", AssignedValue::Number(offset)) => clock.offset = number(offset)?,
            ("uuid", AssignedValue::Text(uuid)) => clock.uuid = Uuid::parse(uuid),
            // Precision, description and whether it is absolute do not change what a count means.
            _ => {}
        }
    }
    Ok(clock)
}

fn identifier(value: &AssignedValue<'_>) -> Result<u64, String> {
    match value {
        AssignedValue::Number(number) => u64::try_from(*number).map_err(|_| format!("invalid id `{number}`")),
        _ => Err("an id must be a number".into()),
    }
}
