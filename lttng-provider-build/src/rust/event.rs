//! An event as a type with functions.

use lttng_catalog::{Event, Unit, identifier};

use super::arguments::{Argument, argument, capacity, lifetime, names, parameters};
use super::duration::Duration;
use super::{doc, list};
use crate::generate::Source;

pub(super) fn event(source: &Source<'_>, event: &Event, tracing: bool) -> String {
    let context = Context::new(source, event, tracing);
    let mut text = context.item();
    if let Some(duration) = Duration::of(&context) {
        text.push('\n');
        text.push_str(&duration.items());
    }
    text
}

/// An event with the words that its texts are made of.
pub(super) struct Context<'c> {
    source: &'c Source<'c>,
    tracing: bool,
    pub(super) event: &'c Event,
    /// The name of the Rust type.
    pub(super) name: String,
    /// One for each field.
    pub(super) arguments: Vec<Argument>,
}

impl<'c> Context<'c> {
    fn new(source: &'c Source<'c>, event: &'c Event, tracing: bool) -> Self {
        let arguments = event.fields.iter().map(|field| argument(source.provider, field)).collect();
        Context { source, tracing, event, name: identifier(&event.name), arguments }
    }

    /// The type, its functions, and `Event` for it.
    ///
    /// An enum without variants is a type and no value, so that an argument may be called as an event is.
    fn item(&self) -> String {
        let name = &self.name;
        let lttng_name = doc::literal(&self.source.lttng_name);
        let event_name = doc::literal(&self.event.name);
        let generics = lifetime(&self.arguments);
        let parameters = parameters(&self.arguments);
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

    /// Emits the event if it is [enabled](Self::enabled). The arguments are evaluated either way;
    /// [`emit!`](lttng_provider::emit) evaluates them only then.
    #[inline(always)]
{emit}
        if Self::enabled() {{
            Self::record({names});
        }}
    }}

    /// Emits the event without asking whether it is enabled; for code that has asked already.
    #[inline(always)]
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
}}
",
            doc = self.doc(),
            constant = if self.tracing { "" } else { "; tracing is not built in, so it never is" },
            enabled = self.enabled(),
            emit = function("emit"),
            record = function("record"),
            body = self.record(),
        )
    }

    /// The body of `enabled`: the load is here and not behind a call.
    fn enabled(&self) -> String {
        if !self.tracing {
            return "        false\n".to_owned();
        }
        let full = self.full_name();
        format!("        lttng_provider::tracepoint_enabled!(lttng_ust_tracepoint_{full})\n")
    }

    /// What C's names for the event end in.
    fn full_name(&self) -> String {
        format!("{}___{}", self.source.lttng_name, self.event.name)
    }

    /// The body of `record`.
    fn record(&self) -> String {
        if !self.tracing {
            return match &self.arguments[..] {
                [] => String::new(),
                [argument] => format!("        let _ = {};\n", argument.name),
                arguments => format!("        let _ = ({});\n", names(arguments)),
            };
        }
        let full = self.full_name();
        let mut values = vec![
            capacity(self.source.provider, &self.event.fields),
            format!("lttng_provider_record_{full}"),
            format!("lttng_provider_deliver_{full}"),
        ];
        values.extend(self.arguments.iter().map(|a| a.to_recorded.clone()));
        list("        ", "lttng_provider::record!(", &values, ");") + "\n"
    }

    /// The catalog's documentation, and a table of the arguments.
    fn doc(&self) -> String {
        let title = format!("`{}:{}`", self.source.lttng_name, self.event.name);
        let mut text = doc::comment(&self.event.doc, &format!("The event {title}."));
        text.push_str(&format!("///\n/// Recorded as {title}.\n"));
        if self.event.fields.is_empty() {
            return text;
        }
        text.push_str("///\n/// | argument | recorded as | unit | meaning |\n/// |---|---|---|---|\n");
        for field in &self.event.fields {
            let recorded = match field.recorded {
                true => format!("`{}`", field.name),
                false => format!("not at all; filters see it as `{}`", field.name),
            };
            let unit = field.unit.map(Unit::name).unwrap_or_default();
            let meaning = doc::cell(&field.doc);
            text.push_str(&format!("/// | `{}` | {recorded} | {unit} | {meaning} |\n", field.argument));
        }
        text
    }
}
