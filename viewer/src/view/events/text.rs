//! Events as Babeltrace's text, so that habits and scripts survive:
//!
//! ```text
//! [13:03:24.026419220] (+0.000004221) vm hello:greeted: { cpu_id = 1 }, { vpid = 7 }, { name = "Ada" }
//! ```

use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;

use ctf_reader::{Base, EventClass, Field, OrderedEvent, Scope, Trace, Value};

use super::clock::{Clock, delta};
use super::form::{ByClass, EventLine, Form, ShownField, put};
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
    name: Vec<u8>,
    /// Their fields: what comes before each, its value, and in which base it is written.
    fields: Vec<(Literal, Field, Base)>,
    stacks: Option<ClassStacks>,
    /// What ends them.
    end: &'static [u8],
}

/// A text that is written often. A short one is padded to a fixed size, which is copied without a call, and the
/// padding is dropped again.
enum Literal {
    Short([u8; Literal::SHORT], usize),
    Long(Vec<u8>),
}

impl Literal {
    const SHORT: usize = 32;

    fn new(text: &str) -> Literal {
        let mut bytes = [0; Literal::SHORT];
        match bytes.get_mut(..text.len()) {
            Some(begin) => {
                begin.copy_from_slice(text.as_bytes());
                Literal::Short(bytes, text.len())
            }
            None => Literal::Long(text.into()),
        }
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Literal::Short(bytes, length) => {
                let end = out.len() + length;
                out.extend_from_slice(bytes);
                out.truncate(end);
            }
            Literal::Long(bytes) => out.extend_from_slice(bytes),
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
        let mut last = None;
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
            fields.push((Literal::new(&before), value, field.base));
        }
        let end: &[u8] = match last {
            None => b"{ }",
            Some(Scope::Payload) => b" }",
            Some(_) => b" }, { }",
        };
        let origin = self.origins.get(class.trace).map_or("", String::as_str);
        let name = format!("{origin}{}: ", escape::text(&class.name)).into_bytes();
        self.classes
            .set(class.index, TextClass { name, fields, stacks: self.stacks.of_class(class, shown), end });
    }

    fn body(&self, event: &OrderedEvent<'_>, out: &mut Vec<u8>) {
        let Some(pieces) = self.classes.of(event) else { return };
        out.extend_from_slice(&pieces.name);
        for (before, field, base) in &pieces.fields {
            before.write(out);
            // Most values own nothing: skip the check in their destructor.
            let value = ManuallyDrop::new(event.value(*field));
            match &*value {
                Value::Text(text) => value::quoted(text, out),
                Value::Unsigned(number) if *base == Base::Decimal => value::unsigned(*number, out),
                Value::Signed(number) if *base == Base::Decimal => value::signed(*number, out),
                _ => {
                    let value = ManuallyDrop::into_inner(value);
                    let stacks = pieces.stacks.as_ref().filter(|stacks| stacks.has(*field));
                    match (stacks, &value) {
                        (Some(stacks), Value::List(_)) => {
                            value::stack(&self.stacks.frames(stacks, event, *field), out);
                        }
                        _ => value::write(&value, *base, out),
                    }
                }
            }
        }
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
