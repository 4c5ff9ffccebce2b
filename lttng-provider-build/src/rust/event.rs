//! An event as a type with functions.

use lttng_catalog::{Event, Field, Unit, identifier};

use super::arguments::{Argument, argument};
use super::doc;
use super::list;
use crate::generate::Source;

pub(super) fn event(source: &Source<'_>, event: &Event, tracing: bool) -> String {
    let context = Context::new(source, event, tracing);
    let mut text = context.item();
    if let Some(duration) = context.duration() {
        text.push('\n');
        text.push_str(&duration.items());
    }
    text
}

/// An event with the words that its texts are made of.
struct Context<'c> {
    source: &'c Source<'c>,
    event: &'c Event,
    tracing: bool,
    name: String,
    arguments: Vec<Argument>,
}

impl<'c> Context<'c> {
    fn new(source: &'c Source<'c>, event: &'c Event, tracing: bool) -> Self {
        let arguments = event.fields.iter().map(|field| argument(source.provider, field)).collect();
        Context { source, event, tracing, name: identifier(&event.name), arguments }
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
        let more = self.duration().map(|duration| duration.functions()).unwrap_or_default();
        format!(
            "{doc}pub enum {name} {{}}

impl {name} {{
    /// Whether a session records the event right now{constant}.
    #[inline(always)]
    pub fn enabled() -> bool {{
{enabled}    }}

    /// Emits the event if it is [enabled](Self::enabled). The arguments are evaluated either way;
    /// [`emit!`](lttng_provider::emit) evaluates them only then.
    #[inline]
{emit}
        if Self::enabled() {{
            Self::record({names});
        }}
    }}

    /// Emits the event without asking whether it is enabled; for code that has asked already.
    #[inline]
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
        let tracepoint = format!("lttng_ust_tracepoint_{}___{}", self.source.lttng_name, self.event.name);
        format!(
            "        // SAFETY: {provider}.c defines it, with the type that LTTng-UST gives it.
        unsafe extern \"C\" {{
            safe static {tracepoint}: lttng_provider::ffi::Tracepoint;
        }}
        lttng_provider::tracepoint_enabled!({tracepoint})
",
            provider = self.source.lttng_name
        )
    }

    /// The body of `record`.
    fn record(&self) -> String {
        if !self.tracing {
            return match self.arguments.len() {
                0 => String::new(),
                _ => format!("        let _ = {};\n", tuple(&self.arguments)),
            };
        }
        let function = format!("lttng_provider_emit_{}___{}", self.source.lttng_name, self.event.name);
        let parameters: Vec<_> = self.arguments.iter().map(|a| format!("{}: {}", a.name, a.raw)).collect();
        let values: Vec<_> = self.arguments.iter().map(|a| a.to_raw.clone()).collect();
        format!(
            "        // SAFETY: {provider}.c, from the same catalog, defines it with these types.
        unsafe extern \"C\" {{
{declaration}
        }}
{call}
",
            provider = self.source.lttng_name,
            declaration = list("            ", &format!("safe fn {function}("), &parameters, ");"),
            call = list("        ", &format!("{function}("), &values, ");"),
        )
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

    /// What there is to say about the event's duration, if it has one in a unit of time.
    fn duration(&self) -> Option<Duration<'_>> {
        let name = self.event.meaning.duration.as_ref()?;
        let index = self.event.fields.iter().position(|field| field.name == *name)?;
        let field = &self.event.fields[index];
        let unit = match field.unit? {
            Unit::Nanoseconds => "Nanoseconds",
            Unit::Microseconds => "Microseconds",
            Unit::Milliseconds => "Milliseconds",
            Unit::Seconds => "Seconds",
            Unit::Bytes => return None,
        };
        Some(Duration { context: self, index, field, unit })
    }
}

/// An event that has a duration.
struct Duration<'c> {
    context: &'c Context<'c>,
    /// Where the duration stands among the arguments.
    index: usize,
    field: &'c Field,
    unit: &'static str,
}

impl Duration<'_> {
    /// The arguments beside the duration, with their fields.
    fn details(&self) -> impl Iterator<Item = (&Argument, &Field)> {
        let all = self.context.arguments.iter().zip(&self.context.event.fields).enumerate();
        all.filter(|(index, _)| *index != self.index).map(|(_, both)| both)
    }

    fn has_details(&self) -> bool {
        self.context.arguments.len() > 1
    }

    /// The type of the details and its lifetime, e.g. `CommandCallDetails<'a>`.
    fn details_type(&self, lifetime: &str) -> String {
        if !self.has_details() {
            return "lttng_provider::NoDetails".to_owned();
        }
        let borrows = self.details().any(|(argument, _)| argument.borrows);
        format!(
            "{}{}",
            self.context.event.details_name(),
            if borrows { format!("<{lifetime}>") } else { String::new() }
        )
    }

    /// Functions of the event's type that measure.
    fn functions(&self) -> String {
        let start = "
    /// Begins to measure, if the event is enabled; reads no clock otherwise.
    #[inline]
    pub fn start() -> lttng_provider::Stopwatch<Self> {
        lttng_provider::Stopwatch::start()
    }
";
        if !self.has_details() {
            return format!(
                "{start}
    /// Measures until the guard is dropped, and emits the event then; reads no clock unless the event is
    /// enabled now.
    #[inline]
    pub fn guard() -> lttng_provider::Guard<Self> {{
        lttng_provider::Guard::start()
    }}

    /// Does the work, and emits the event with the time that it took; reads no clock unless the event is
    /// enabled now.
    #[inline]
    pub fn timed<R>(work: impl FnOnce() -> R) -> R {{
        let _guard = Self::guard();
        work()
    }}
"
            );
        }
        let details: Vec<_> = self.details().map(|(argument, _)| argument).collect();
        let borrows = details.iter().any(|argument| argument.borrows);
        let fields: Vec<_> = details
            .iter()
            .map(
                |a| if a.to_field == a.name { a.name.clone() } else { format!("{}: {}", a.name, a.to_field) },
            )
            .collect();
        format!(
            "{start}
    /// What is recorded beside the duration, for [`Stopwatch::finish`](lttng_provider::Stopwatch::finish).
    #[inline]
{signature}
        {name} {{ {fields} }}
    }}
",
            signature = list(
                "    ",
                &format!("pub fn details{}(", if borrows { "<'a>" } else { "" }),
                &parameters(details.iter().copied()),
                &format!(") -> {} {{", self.details_type("'a")),
            ),
            name = self.context.event.details_name(),
            fields = fields.join(", ")
        )
    }

    /// The struct of the details, if there are any, and `DurationEvent` for the event's type.
    fn items(&self) -> String {
        let name = &self.context.name;
        let mut text = String::new();
        if self.has_details() {
            let fields: String = self
                .details()
                .map(|(argument, field)| {
                    let doc = doc::comment(&field.doc, &format!("Recorded as `{}`.", field.name));
                    format!("{doc}pub {}: {},\n", argument.name, argument.field)
                })
                .collect();
            text = format!(
                "/// What [`{name}`] records beside the duration.\n#[derive(Clone, Copy, Debug)]\npub struct {} {{\n{}}}\n\n",
                self.details_type("'a"),
                super::indent(&fields)
            );
        }
        let arguments: Vec<_> = self
            .context
            .arguments
            .iter()
            .enumerate()
            .map(|(index, a)| if index == self.index { self.count() } else { format!("details.{}", a.name) })
            .collect();
        let details = if self.has_details() { "details" } else { "_" };
        text.push_str(&format!(
            "impl lttng_provider::DurationEvent for {name} {{
    const UNIT: lttng_provider::Unit = lttng_provider::Unit::{unit};

    type Details<'a> = {kind};

    #[inline]
    fn record_duration(duration: ::core::time::Duration, {details}: Self::Details<'_>) {{
{record}
    }}
}}
",
            unit = self.unit,
            kind = self.details_type("'a"),
            record = list("        ", &format!("{name}::record("), &arguments, ");"),
        ));
        text
    }

    /// The duration as a number of the recorded type.
    fn count(&self) -> String {
        let count = "Self::UNIT.count(duration)";
        match &self.field.kind {
            lttng_catalog::FieldType::Integer(integer) if integer.rust_name() != "u64" => {
                format!("{count}.try_into().unwrap_or({}::MAX)", integer.rust_name())
            }
            _ => count.to_owned(),
        }
    }
}

fn names(arguments: &[Argument]) -> String {
    arguments.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn parameters<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<String> {
    arguments.into_iter().map(|a| format!("{}: {}", a.name, a.parameter)).collect()
}

/// `(a, b)`, or the value alone.
fn tuple(arguments: &[Argument]) -> String {
    match arguments {
        [argument] => argument.name.clone(),
        _ => format!("({})", names(arguments)),
    }
}

/// `<'a>` if an argument borrows.
fn lifetime(arguments: &[Argument]) -> &'static str {
    if arguments.iter().any(|a| a.borrows) { "<'a>" } else { "" }
}
