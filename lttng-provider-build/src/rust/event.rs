//! An event as a type with functions.

use lttng_catalog::lowered::{Event, Provider};
use lttng_catalog::{FieldType, Unit};

use super::arguments::{capacity, generics, names, parameters};
use super::context::Context;
use super::duration::Duration;
use super::layout::list;
use super::{doc, probe};
use crate::BackEnds;

pub(super) fn event(provider: &Provider<'_>, event: &Event<'_>, back_ends: BackEnds) -> String {
    let context = Context::new(provider, event, back_ends);
    let mut text = context.item();
    if back_ends.usdt {
        text.push_str(&probe::define(&provider.name, event, back_ends));
    }
    if let Some(duration) = Duration::of(&context) {
        text.push('\n');
        text.push_str(&duration.items());
    }
    text
}

impl Context<'_> {
    /// The type, its functions, and `Event` for it.
    ///
    /// An enum without variants is a type but not a value, so that an argument may have the name of an event.
    fn item(&self) -> String {
        let name = &self.event.rust_name;
        let lttng_name = doc::literal(&self.provider.name);
        let event_name = doc::literal(&self.event.source.name);
        let parameters = parameters(&self.arguments);
        let generics = generics(&parameters);
        let function = |name: &str| list("    ", &format!("pub fn {name}{generics}("), &parameters, ") {");
        let names = names(&self.arguments);
        let more = Duration::of(self).map(|duration| duration.functions()).unwrap_or_default();
        format!(
            "{doc}pub enum {name} {{}}

impl {name} {{
    /// Whether a session records the event right now{constant}.
    #[inline(always)]
    pub fn enabled() -> bool {{
{enabled}    }}

    /// The event's run-time switch, which reports when the event goes on or off and can keep it off.
    #[inline(always)]
    pub fn switch() -> &'static lttng_provider::Switch {{
{switch}
        &SWITCH
    }}

    /// Emits the event if it is [enabled](Self::enabled). The arguments are evaluated either way;
    /// [`emit!`](lttng_provider::emit) evaluates them only then.
    #[inline(always)]
{emit}
        if Self::enabled() {{
            Self::record({names});
        }}
    }}

    /// Emits the event without checking whether it is enabled, for code that has checked already.
    #[inline({inline})]
{record}
{body}    }}
{more}}}

impl lttng_provider::Event for {name} {{
    const PROVIDER: &'static str = {lttng_name};
    const NAME: &'static str = {event_name};

    #[inline(always)]
    fn enabled() -> bool {{
        {name}::enabled()
    }}

    fn switch() -> &'static lttng_provider::Switch {{
        {name}::switch()
    }}
}}
",
            doc = self.doc(),
            constant = if self.tracing() { "" } else { ": never, because tracing is not built in" },
            enabled = self.enabled(),
            switch = self.switch(),
            emit = function("emit"),
            // The return addresses are in the frame of the function that takes them.
            inline = if self.tracing() && self.event.has_stack() { "never" } else { "always" },
            record = function("record"),
            body = self.record(),
        )
    }

    /// Whether any back end is on.
    fn tracing(&self) -> bool {
        self.back_ends.any()
    }

    /// The body of `enabled`: the load is inlined, without a call.
    fn enabled(&self) -> String {
        match self.is_traced() {
            Some(check) => format!("        {check}\n            && !Self::switch().is_forced_off()\n"),
            None => "        false\n".to_owned(),
        }
    }

    /// The static that `switch` returns.
    fn switch(&self) -> String {
        let check = self.is_traced().unwrap_or_else(|| "false".to_owned());
        let start = "static SWITCH: lttng_provider::Switch = lttng_provider::Switch::new(";
        list("        ", start, &[format!("|| {check}")], ");")
    }

    /// The expression for whether a tracer wants the event, if a back end is on.
    fn is_traced(&self) -> Option<String> {
        let event = self.event;
        let check = match self.back_ends {
            BackEnds { lttng: true, usdt: false } => format!("tracepoint_enabled!({})", event.tracepoint()),
            BackEnds { lttng: true, usdt: true } => {
                format!("tracepoint_or_probe_enabled!({})", event.tracepoint())
            }
            BackEnds { lttng: false, usdt: true } => format!("probe_enabled!({})", event.semaphore()),
            BackEnds { lttng: false, usdt: false } => return None,
        };
        Some(format!("lttng_provider::__private::{check}"))
    }

    /// The body of `record`.
    fn record(&self) -> String {
        if !self.tracing() {
            return match (self.event.passed().count(), names(&self.arguments)) {
                (0, _) => String::new(),
                (1, name) => format!("        let _ = {name};\n"),
                (_, names) => format!("        let _ = ({names});\n"),
            };
        }
        let fields: Vec<_> = self.arguments.iter().map(|a| a.to_recorded.clone()).collect();
        let mut text = match self.event.has_stack() {
            true => "        let lttng_stack = lttng_provider::__private::Stack::capture();\n".to_owned(),
            false => String::new(),
        };
        text.push_str(&match &fields[..] {
            [only] => format!("        let fields = ({only},);\n"),
            _ => list("        ", "let fields = (", &fields, ");") + "\n",
        });
        let event = self.event;
        if self.back_ends.lttng {
            let (name, values) = match event.inline_size() {
                Some(size) => ("record_numbers", vec![size.to_string(), event.record_function()]),
                None => {
                    let ip = if event.has_stack() { "lttng_stack.caller()" } else { "call_site" };
                    let functions = [event.record_function(), event.deliver_function()];
                    ("record", [vec![ip.to_owned(), capacity(event)], functions.to_vec()].concat())
                }
            };
            let start = format!("lttng_provider::__private::{name}!(");
            let values = [vec!["fields".to_owned()], values].concat();
            text.push_str(&(list("        ", &start, &values, ");") + "\n"));
        }
        if self.back_ends.usdt {
            text.push_str(&probe::fire(event, self.back_ends));
        }
        text
    }

    /// The catalog's documentation, and a table of the arguments.
    fn doc(&self) -> String {
        let title = format!("`{}:{}`", self.provider.name, self.event.source.name);
        let mut text = doc::comment(&self.event.source.doc, &format!("The event {title}."));
        text.push_str(&format!("///\n/// Recorded as {title}.\n"));
        if self.event.source.fields.is_empty() {
            return text;
        }
        text.push_str("///\n/// | argument | recorded as | unit | meaning |\n/// |---|---|---|---|\n");
        for field in &self.event.source.fields {
            let recorded = match field.recorded {
                true => format!("`{}`", field.name),
                false => format!("not recorded; filters see it as `{}`", field.name),
            };
            let unit = field.unit.map(Unit::name).unwrap_or_default();
            let meaning = doc::cell(&field.doc);
            let argument = match field.kind == FieldType::Stack {
                true => "taken automatically".to_owned(),
                false => format!("`{}`", field.argument),
            };
            text.push_str(&format!("/// | {argument} | {recorded} | {unit} | {meaning} |\n"));
        }
        text
    }
}
