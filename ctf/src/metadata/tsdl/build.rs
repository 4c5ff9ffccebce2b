//! Statements to metadata.

use std::sync::Arc;

use super::super::assemble::{Drafts, EventDraft, StreamDraft};
use super::super::model::{ByteOrder, Clock, EnvironmentValue, Metadata};
use super::super::{Language, Problems};
use super::ast::{Statement, Value};
use super::roles;
use super::types::{Drafter, byte_order};
use crate::Uuid;

/// Puts together what the statements say. What does not fit is left out and named.
pub fn build(statements: &[Statement]) -> (Metadata, Problems) {
    let mut builder = Builder::default();
    builder.first_pass(statements);
    let mut drafter = Drafter::new(builder.order.unwrap_or(ByteOrder::Little), builder.clocks.clone());
    builder.second_pass(statements, &mut drafter);
    let Builder { mut drafts, clocks, mut problems, .. } = builder;
    if drafts.streams.is_empty() && !drafts.events.is_empty() {
        drafts.streams.push(StreamDraft::default());
    }
    let mut metadata = drafts.assemble(Language::Tsdl, &mut problems);
    roles::assign(&mut metadata, &clocks);
    (metadata, problems)
}

#[derive(Default)]
struct Builder {
    order: Option<ByteOrder>,
    clocks: Vec<Arc<Clock>>,
    drafts: Drafts,
    problems: Problems,
}

impl Builder {
    /// What types depend on, wherever it stands: byte order, clocks, environment.
    fn first_pass(&mut self, statements: &[Statement]) {
        for statement in statements {
            let Statement::Block { keyword, statements, line } = statement else { continue };
            match keyword.as_str() {
                "trace" => self.trace_attributes(statements),
                "env" => self.environment(statements),
                "clock" => match clock(statements) {
                    Ok(clock) => self.clocks.push(Arc::new(clock)),
                    Err(reason) => self.problems.add(*line, reason),
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
                    _ => self.problems.add(*line, format!("`{word}` is no byte order of a trace")),
                },
                ("uuid", Value::Text(text)) => match Uuid::parse(text) {
                    Some(uuid) => self.drafts.uuid = Some(uuid.0),
                    None => self.problems.add(*line, format!("`{text}` is no UUID")),
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
                self.drafts.environment.push((name.clone(), value));
            }
        }
    }

    /// Types, and the blocks that use them.
    fn second_pass(&mut self, statements: &[Statement], drafter: &mut Drafter) {
        for statement in statements {
            match statement {
                Statement::Types(types) => {
                    if let Err(reason) = drafter.declare(types) {
                        self.problems.add(types.line(), reason);
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
                        self.problems.add(*line, format!("{keyword}: {reason}"));
                    }
                }
                Statement::Assign { line, .. } => {
                    self.problems.add(*line, "a value stands outside of any block")
                }
                Statement::Layout { kind, .. } => {
                    self.problems.add(kind.line, "a layout stands outside of any block");
                }
            }
        }
    }

    fn trace(&mut self, statements: &[Statement], line: usize, drafter: &mut Drafter) -> Result<(), String> {
        for statement in statements {
            match statement {
                Statement::Types(types) => drafter.declare(types)?,
                Statement::Layout { name, kind } if name == "packet.header" => {
                    self.drafts.packet_header = Some((drafter.draft(kind)?, line));
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
        if self.drafts.streams.iter().any(|other| other.id == stream.id) {
            return Err(format!("there is another stream with id {}", stream.id));
        }
        self.drafts.streams.push(stream);
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
        self.drafts.events.push(event);
        Ok(())
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
