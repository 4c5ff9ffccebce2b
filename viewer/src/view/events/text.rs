//! Events as Babeltrace's text, so that habits and scripts survive:
//!
//! ```text
//! [13:03:24.026419220] (+0.000004221) vm hello:greeted: { cpu_id = 1 }, { vpid = 7 }, { name = "Ada" }
//! ```

use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;

use ctf_reader::{
    Base, EventClass, Field, FieldClass, FieldKind, Integer, OrderedEvent, Scope, Trace, Value,
};

use super::clock::{Clock, delta};
use super::form::{ByClass, EventLine, Form, ShownField, put};
use super::literal::Literal;
use super::stacks::{ClassStacks, Stacks};
use super::value;
use crate::view::Screen;
use ltt_analysis::text::escape;

/// Writes events as Babeltrace does.
pub(in crate::view) struct TextForm {
    clock: Clock,
    /// With colours, matches stand out among others.
    screen: Screen,
    /// What comes before the name of the event, for each trace.
    origins: Vec<String>,
    stacks: Rc<Stacks>,
    classes: ByClass<TextClass>,
}

/// How the events of a class are written.
struct TextClass {
    /// Where they come from and what they are called.
    name: Literal,
    fields: Vec<TextField>,
    /// The number of fields at the beginning that rarely change from event to event of a stream: contexts and enumerations.
    steady: usize,
    /// How the last events began, by stream.
    heads: Vec<Head>,
    stacks: Option<ClassStacks>,
    /// What ends them.
    end: &'static [u8],
}

/// How a field is written.
struct TextField {
    /// What comes before it.
    before: Literal,
    value: Field,
    base: Base,
}

/// The number of streams whose heads are kept. Others take the place of one of them.
const HEADS: usize = 64;

/// How an event begins: its name and its steady fields.
#[derive(Clone, Default)]
struct Head {
    /// The values of the steady fields.
    values: Vec<Steady>,
    /// The text, if there is one.
    text: Vec<u8>,
}

/// The value of a steady field.
#[derive(Clone)]
enum Steady {
    Number(Integer),
    Text(Vec<u8>),
}

impl Steady {
    fn new(value: &Value<'_>) -> Option<Steady> {
        match *value {
            Value::Unsigned(number) => Some(Steady::Number(Integer::Unsigned(number))),
            Value::Signed(number) => Some(Steady::Number(Integer::Signed(number))),
            Value::Enum(number, _) => Some(Steady::Number(number)),
            Value::Text(text) => Some(Steady::Text(text.into())),
            _ => None,
        }
    }

    /// Whether a value is the same.
    #[inline(always)]
    fn is(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Steady::Number(Integer::Unsigned(last)), Value::Unsigned(number)) => last == number,
            (Steady::Number(Integer::Signed(last)), Value::Signed(number)) => last == number,
            (Steady::Number(last), Value::Enum(number, _)) => last == number,
            (Steady::Text(last), Value::Text(text)) => last == text,
            _ => false,
        }
    }
}

impl TextField {
    /// Whether it rarely changes: the contexts of a stream's events, and enumerations.
    fn is_steady(field: &FieldClass) -> bool {
        match field.kind {
            FieldKind::Integer | FieldKind::Text => field.scope != Scope::Payload,
            FieldKind::Enum => true,
            _ => false,
        }
    }

    #[inline(always)]
    fn write(&self, event: &OrderedEvent<'_>, all: &Stacks, stacks: Option<&ClassStacks>, out: &mut Vec<u8>) {
        self.before.write(out);
        // Most values own nothing: skip the check in their destructor.
        let value = ManuallyDrop::new(event.value(self.value));
        match &*value {
            Value::Text(text) => value::quoted(text, out),
            Value::Unsigned(number) if self.base == Base::Decimal => value::unsigned(*number, out),
            Value::Signed(number) if self.base == Base::Decimal => value::signed(*number, out),
            _ => {
                let value = ManuallyDrop::into_inner(value);
                match (stacks.filter(|stacks| stacks.has(self.value)), &value) {
                    (Some(stacks), Value::List(_)) => {
                        value::stack(&all.frames(stacks, event, self.value), out);
                    }
                    _ => value::write(&value, self.base, out),
                }
            }
        }
    }
}

impl TextForm {
    pub fn new(screen: Screen, stacks: Rc<Stacks>) -> TextForm {
        TextForm {
            clock: Clock::time_of_day(screen.zone.clone()),
            screen,
            origins: Vec::new(),
            stacks,
            classes: ByClass::default(),
        }
    }

    /// Whether an event stands out among others.
    fn is_bright(&self, line: EventLine) -> bool {
        self.screen.colour && line.is_match == Some(true)
    }
}

/// Where a trace comes from: its host, and with per-process buffers the process.
fn origin(trace: &Trace) -> String {
    let parts = ["hostname", "procname", "vpid"].into_iter().filter_map(|name| trace.environment(name));
    let parts: Vec<String> = parts.map(escape::text).collect();
    if parts.is_empty() { String::new() } else { parts.join(":") + " " }
}

impl Form for TextForm {
    fn trace(&mut self, number: usize, trace: &Trace) {
        put(&mut self.origins, number, origin(trace));
    }

    fn class(&mut self, class: &Arc<EventClass>, shown: &[ShownField]) {
        let mut fields = Vec::new();
        let (mut last, mut steady, mut is_steady) = (None, 0, true);
        for &ShownField { index, value } in shown {
            let field = &class.fields[index];
            if field.scope == Scope::Environment {
                continue;
            }
            let name = escape::text(&field.name);
            let before = match last {
                None => format!("{{ {name} = "),
                Some(scope) if scope == field.scope => format!(", {name} = "),
                Some(_) => format!(" }}, {{ {name} = "),
            };
            last = Some(field.scope);
            let before = Literal::new(&before);
            is_steady &= TextField::is_steady(field);
            steady += usize::from(is_steady);
            fields.push(TextField { before, value, base: field.base });
        }
        let end: &[u8] = match last {
            None => b"{ }",
            Some(Scope::Payload) => b" }",
            Some(_) => b" }, { }",
        };
        let origin = self.origins.get(class.trace).map_or("", String::as_str);
        let name = Literal::new(format!("{origin}{}: ", escape::text(&class.name)));
        let (heads, stacks) = (vec![Head::default(); HEADS], self.stacks.of_class(class, shown));
        self.classes.set(class.index, TextClass { name, fields, steady, heads, stacks, end });
    }

    fn body(&mut self, event: &OrderedEvent<'_>, out: &mut Vec<u8>) {
        let Some(pieces) = self.classes.of_mut(event) else { return };
        let (steady, others) = pieces.fields.split_at(pieces.steady);
        let Head { values, text } = &mut pieces.heads[event.stream() % HEADS];
        let mut pairs = values.iter().zip(steady);
        let is_same = pairs.all(|(last, field)| last.is(&event.value(field.value)));
        if text.is_empty() || values.len() < steady.len() || !is_same {
            text.clear();
            pieces.name.write(text);
            steady.iter().for_each(|field| field.write(event, &self.stacks, None, text));
            values.clear();
            values.extend(steady.iter().filter_map(|field| Steady::new(&event.value(field.value))));
        }
        out.extend_from_slice(text);
        others.iter().for_each(|field| field.write(event, &self.stacks, pieces.stacks.as_ref(), out));
        out.extend_from_slice(pieces.end);
    }

    fn begin(&mut self, line: EventLine, out: &mut Vec<u8>) {
        if self.is_bright(line) {
            out.extend_from_slice(b"\x1b[1m");
        }
        out.push(b'[');
        self.clock.write(line.timestamp, out);
        out.extend_from_slice(b"] (");
        match line.previous {
            Some(previous) => delta(previous, line.timestamp, out),
            None => out.extend_from_slice(b"+?.?????????"),
        }
        out.extend_from_slice(b") ");
    }

    fn end(&self, line: EventLine, out: &mut Vec<u8>) {
        if self.is_bright(line) {
            out.extend_from_slice(b"\x1b[0m");
        }
        out.push(b'\n');
    }

    fn gap(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"--\n");
    }
}
