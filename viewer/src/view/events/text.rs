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
use super::value::{self, nine_digits};
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
    /// The fields at the beginning that rarely change from event to event of a stream, contexts and enumerations, of which the
    /// first ones are the packet's; and all others.
    steady: Vec<TextField>,
    of_packet: usize,
    others: Vec<TextField>,
    /// The first of the others, if all steady fields that are not the packet's are recorded before it.
    first_other: Option<Field>,
    /// How the last events began, by stream.
    heads: Vec<Head>,
    stacks: Option<ClassStacks>,
    /// What ends them.
    end: Literal,
}

/// How a field is written.
struct TextField {
    /// What comes before it, with what ends the field before it.
    before: Literal,
    value: Field,
    form: FieldForm,
}

#[derive(Clone, Copy)]
enum FieldForm {
    /// A text, between quotes that belong to what is around it.
    Text(Field<[u8]>),
    Other(Base),
}

/// The number of streams whose heads are kept. Others take the place of one of them.
const HEADS: usize = 64;

/// How an event begins: its name and its steady fields.
#[derive(Clone, Default)]
struct Head {
    /// The values of the steady fields.
    values: Vec<Steady>,
    /// The bytes that those were in which are not the packet's, where that is known.
    bytes: Option<Vec<u8>>,
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
        let base = match self.form {
            FieldForm::Text(text) => return value::between_quotes(event.value(text), out),
            FieldForm::Other(base) => base,
        };
        // Most values own nothing: skip the check in their destructor.
        let value = ManuallyDrop::new(event.value(self.value));
        match &*value {
            Value::Unsigned(number) if base == Base::Decimal => value::unsigned(*number, out),
            Value::Signed(number) if base == Base::Decimal => value::signed(*number, out),
            _ => {
                let value = ManuallyDrop::into_inner(value);
                match (stacks.filter(|stacks| stacks.has(self.value)), &value) {
                    (Some(stacks), Value::List(_)) => {
                        value::stack(&all.frames(stacks, event, self.value), out);
                    }
                    _ => value::write(&value, base, out),
                }
            }
        }
    }
}

impl TextClass {
    /// Whether an event begins as the last one of its stream did.
    #[inline(always)]
    fn begins_as(&self, head: &Head, event: &OrderedEvent<'_>) -> bool {
        let Head { values, bytes, text } = head;
        let leading = self.first_other.and_then(|first| event.leading(first));
        let compared = match (leading, bytes) {
            (Some(leading), Some(bytes)) if leading == bytes => self.of_packet,
            (Some(_), _) => return false,
            (None, _) => self.steady.len(),
        };
        let mut pairs = values.iter().zip(&self.steady[..compared]);
        !text.is_empty()
            && values.len() == self.steady.len()
            && pairs.all(|(last, field)| last.is(&event.value(field.value)))
    }

    /// How an event begins.
    #[inline(never)]
    fn head(&self, event: &OrderedEvent<'_>, all: &Stacks) -> Head {
        let mut text = Vec::new();
        self.name.write(&mut text);
        self.steady.iter().for_each(|field| field.write(event, all, None, &mut text));
        let values = self.steady.iter().filter_map(|field| Steady::new(&event.value(field.value)));
        let bytes = self.first_other.and_then(|first| event.leading(first));
        Head { values: values.collect(), bytes: bytes.map(<[u8]>::to_vec), text }
    }
}

impl TextForm {
    pub fn new(screen: Screen, stacks: Rc<Stacks>) -> TextForm {
        TextForm {
            clock: Clock::in_brackets(screen.zone.clone()),
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
        let (mut steady, mut others) = (Vec::new(), Vec::new());
        let (mut last, mut quote, mut of_packet) = (None, "", 0);
        // The indexes of the steady fields that are not the packet's, and of the first other one.
        let (mut in_events, mut first) = (Vec::new(), None);
        for &ShownField { index, value } in shown {
            let field = &class.fields[index];
            if field.scope == Scope::Environment {
                continue;
            }
            let name = escape::text(&field.name);
            let between = match last {
                None => "{ ",
                Some(scope) if scope == field.scope => ", ",
                Some(_) => " }, { ",
            };
            // A packet that is damaged may have no such text.
            let text = value.of_kind(field.kind).filter(|_| field.scope != Scope::Packet);
            let form = text.map_or(FieldForm::Other(field.base), FieldForm::Text);
            let next_quote = if let FieldForm::Text(_) = form { "\"" } else { "" };
            let before = Literal::new(format!("{quote}{between}{name} = {next_quote}"));
            (last, quote) = (Some(field.scope), next_quote);
            let text_field = TextField { before, value, form };
            if others.is_empty() && TextField::is_steady(field) {
                match field.scope {
                    Scope::Packet if in_events.is_empty() => of_packet += 1,
                    _ => in_events.push(index),
                }
                steady.push(text_field);
            } else {
                first = first.or(Some((index, value)));
                others.push(text_field);
            }
        }
        let end = match last {
            None => "{ }",
            Some(Scope::Payload) => " }",
            Some(_) => " }, { }",
        };
        let is_before = |first: usize| {
            in_events.iter().all(|&index| index < first && class.fields[index].scope != Scope::Packet)
        };
        let first_other = first.filter(|(index, _)| is_before(*index)).map(|(_, value)| value);
        let origin = self.origins.get(class.trace).map_or("", String::as_str);
        let pieces = TextClass {
            name: Literal::new(format!("{origin}{}: ", escape::text(&class.name))),
            steady,
            of_packet,
            others,
            first_other,
            heads: vec![Head::default(); HEADS],
            stacks: self.stacks.of_class(class, shown),
            end: Literal::new(format!("{quote}{end}")),
        };
        self.classes.set(class.index, pieces);
    }

    fn body(&mut self, event: &OrderedEvent<'_>, out: &mut Vec<u8>) {
        let Some(pieces) = self.classes.of_mut(event) else { return };
        let place = event.stream() % HEADS;
        if !pieces.begins_as(&pieces.heads[place], event) {
            pieces.heads[place] = pieces.head(event, &self.stacks);
        }
        out.extend_from_slice(&pieces.heads[place].text);
        let stacks = pieces.stacks.as_ref();
        pieces.others.iter().for_each(|field| field.write(event, &self.stacks, stacks, out));
        pieces.end.write(out);
    }

    fn begin(&mut self, line: EventLine, out: &mut Vec<u8>) {
        if self.is_bright(line) {
            out.extend_from_slice(b"\x1b[1m");
        }
        let fraction = nine_digits(self.clock.write_seconds(line.timestamp, out));
        // Most events follow another one within a second: all of that is written at once.
        let passed = line.previous.and_then(|previous| line.timestamp.checked_sub(previous));
        if let Some(passed @ 0..1_000_000_000) = passed {
            let mut text = *b".........] (+0..........) ";
            text[..9].copy_from_slice(&fraction);
            text[15..24].copy_from_slice(&nine_digits(passed.unsigned_abs()));
            return out.extend_from_slice(&text);
        }
        out.extend_from_slice(&fraction);
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
